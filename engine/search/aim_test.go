package search

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/engine/record"
)

// tracesOf are what an agent that fails where fails says leaves behind of a run.
func tracesOf(posed []record.Posed, fails func(record.Axes) bool) []Trace {
	var out []Trace
	for _, d := range posed {
		if d.Task.Axes == nil || d.HeldOut {
			continue
		}
		t := Trace{SituationID: d.Task.SituationID, Axes: d.Task.Axes, Rollouts: 2}
		if fails(d.Task.Axes) {
			t.Failures = 2
		}
		out = append(out, t)
	}
	return out
}

// exploringRunbooks lies where the search expects no failure by itself.
func exploringRunbooks(axes record.Axes) bool {
	return axes[record.AxisTool] == "get_runbook" && axes[record.AxisStance] == "exploratory"
}

func firstBatch(t *testing.T, in Input) []record.Posed {
	t.Helper()
	posed, _ := mustNew(t, in).Next(t.Context())
	return posed
}

func firstPoints(posed []record.Posed, n int) []record.Axes {
	var out []record.Axes
	for _, d := range posed {
		if d.Task.Axes != nil && !d.HeldOut && len(out) < n {
			out = append(out, d.Task.Axes)
		}
	}
	return out
}

// shared is how many coordinates two points have in common.
func shared(a, b record.Axes) int {
	n := 0
	for axis, value := range a {
		if b[axis] == value {
			n++
		}
	}
	return n
}

func count(axes []record.Axes, fits func(record.Axes) bool) int {
	n := 0
	for _, a := range axes {
		if fits(a) {
			n++
		}
	}
	return n
}

// A run that is aimed by an earlier one's failures asks in their region first.
func TestAimPutsTheRegionFirst(t *testing.T) {
	for _, mode := range []record.Mode{record.ModeExplore, record.ModeRL, record.ModeSFT} {
		in := oncallInput(t)
		in.Mode, in.Holdout = mode, 0.25
		earlier := in
		earlier.Situations = 60
		in.Aim = tracesOf(all(t, mustNew(t, earlier)), exploringRunbooks)
		in.Situations, in.Batch = 400, 40
		aimed := firstPoints(firstBatch(t, in), 20)
		failed := slices.Clone(in.Aim)
		for i := range failed {
			failed[i].Failures = 0
		}
		in.Aim = failed
		unaimed := firstPoints(firstBatch(t, in), 20)
		near := func(a record.Axes) bool {
			return slices.ContainsFunc(in.Aim, func(t Trace) bool { return exploringRunbooks(t.Axes) && shared(a, t.Axes) >= 2 })
		}
		if got, without := count(aimed, near), count(unaimed, near); got < 15 || without > 8 {
			t.Errorf("%s: %d of the first 20 lie next to a failure, %d where nothing failed", mode, got, without)
		}
	}
}

// A log that names no more than the tools that its failures called aims at those.
func TestAimByPartsOfCoordinates(t *testing.T) {
	in := oncallInput(t)
	in.Mode, in.Holdout, in.Situations = record.ModeExplore, 0.25, 40
	in.Aim = []Trace{
		{Axes: record.Axes{record.AxisTool: "page_human"}, Rollouts: 9, Failures: 7},
		{Axes: record.Axes{record.AxisTool: "get_runbook"}, Rollouts: 30, Failures: 1},
		{Axes: record.Axes{record.AxisTool: "of_another_recipe"}, Rollouts: 5, Failures: 5},
	}
	p := mustNew(t, in)
	first := firstPoints(all(t, p), 12)
	if n := count(first, func(a record.Axes) bool { return a[record.AxisTool] == "page_human" }); n < 10 {
		t.Errorf("%d of the first 12 are for the tool that failed: %v", n, first)
	}
	if got, want := p.Report().Aim, (AimReport{Traces: 3, Failures: 8, Off: 1}); got != want {
		t.Errorf("the report says %+v, want %+v", got, want)
	}
	in.Aim = in.Aim[2:]
	p = mustNew(t, in)
	all(t, p)
	if !hasWarning(p.Report(), "aim_off") {
		t.Errorf("an aim beside the grid is not said: %v", p.Report().Warnings)
	}
}

// A later run covers what is missing first: with as many situations as are left
// of the array, the two together have posed all of it.
func TestAimCoversWhatIsMissing(t *testing.T) {
	for _, mode := range []record.Mode{record.ModeEval, record.ModeSFT, record.ModeExplore} {
		in := oncallInput(t)
		in.Mode, in.Situations, in.HardShare, in.Batch = mode, 70, 0.4, 24
		if mode != record.ModeEval {
			in.Holdout = 0.25
		}
		first := all(t, mustNew(t, in))
		var traces []Trace
		for _, d := range first {
			if d.Task.Axes != nil {
				traces = append(traces, Trace{SituationID: d.Task.SituationID, Axes: d.Task.Axes, Rollouts: 4, Failures: len(traces) % 3})
			}
		}
		in.Aim = traces
		left := len(in.Array.Rows) - len(traces)
		in.Situations = left*10/9 + 1
		second := all(t, mustNew(t, in))
		known := pastOf(traces)
		for i, d := range second {
			if known[d.Task.SituationID] && i < left {
				t.Errorf("%s: task %d of the second run was posed by the first", mode, i)
			}
		}
		both := mustNew(t, in).Coverage(append(slices.Clone(first), second...))
		if both.Covered != both.Planned || both.Posed != len(in.Array.Rows) {
			t.Errorf("%s: the two runs cover %d of %d pairs with %d of %d rows", mode, both.Covered, both.Planned, both.Posed, len(in.Array.Rows))
		}
	}
}

// What is held out is the same whatever failed before.
func TestAimMovesNoHeldOutTask(t *testing.T) {
	in := oncallInput(t)
	in.Mode, in.Holdout, in.Situations = record.ModeRL, 0.3, 60
	traces := tracesOf(all(t, mustNew(t, in)), exploringRunbooks)
	heldOut := func(traces []Trace) []string {
		in.Aim = traces
		var ids []string
		for _, d := range all(t, mustNew(t, in)) {
			if d.HeldOut {
				ids = append(ids, d.Task.ID)
			}
		}
		return ids
	}
	none := slices.Clone(traces)
	for i := range none {
		none[i].Failures = 0
	}
	if diff := cmp.Diff(heldOut(none), heldOut(traces)); diff != "" {
		t.Errorf("failures moved what is held out:\n%s", diff)
	}
}
