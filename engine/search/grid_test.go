package search

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/engine/cover"
	"assay/engine/record"
)

func TestThinning(t *testing.T) {
	in := oncallInput(t)
	full := all(t, mustNew(t, in))
	in.FaultRate = 0.5
	half := mustNew(t, in)
	thinned := all(t, half)
	in.FaultRate = 0
	none := all(t, mustNew(t, in))

	faults := func(posed []record.Posed) map[string]bool {
		out := map[string]bool{}
		for _, d := range posed {
			if d.Task.Fault != nil {
				out[d.Task.SituationID] = true
			}
		}
		return out
	}
	kept, whole := faults(thinned), faults(full)
	for id := range kept {
		if !whole[id] {
			t.Errorf("thinning made a fault situation %s of its own", id)
		}
	}
	if len(kept) == 0 || len(kept) == len(whole) || len(faults(none)) != 0 {
		t.Errorf("faults kept at rate 1, 0.5, 0: %d, %d, %d", len(whole), len(kept), len(faults(none)))
	}
	ids := map[string]bool{}
	for _, d := range thinned {
		if ids[d.Task.SituationID] {
			t.Errorf("situation %s posed twice", d.Task.SituationID)
		}
		ids[d.Task.SituationID] = true
		if d.Task.Axes == nil {
			continue
		}
		if clean := d.Task.Fault == nil; clean != (d.Task.Axes[record.AxisToolCondition] == record.ConditionSuccess) {
			t.Errorf("fault %v under tool_condition %s", d.Task.Fault, d.Task.Axes[record.AxisToolCondition])
		}
		if d.Task.SituationID != record.SituationID(d.Task.Axes, d.Task.Fault) {
			t.Errorf("situation id of %v is not that of its point", d.Task.Axes)
		}
	}
	report, coverage := half.Report(), half.Coverage(thinned)
	if report.ThinnedRows != len(whole)-len(kept) {
		t.Errorf("%d rows thinned by the report, %d faults lost", report.ThinnedRows, len(whole)-len(kept))
	}
	if coverage.Thinned == 0 || coverage.Planned+coverage.Thinned != in.Array.Planned || coverage.Covered != coverage.Planned {
		t.Errorf("coverage after thinning: %+v of %d planned", coverage, in.Array.Planned)
	}
}

// The wanted share of hard points holds at every moment of a part of the array, and
// in the end where points beyond it follow; what cannot be had is said where it
// was asked for.
func TestDifficultyMix(t *testing.T) {
	for _, test := range []struct {
		situations int
		share      float64
		said       bool
	}{{30, 0.4, false}, {100, 0.2, false}, {1200, 0.4, false}, {1200, 0.7, false}, {0, 0.4, false}, {0, 0.05, true}} {
		if testing.Short() {
			test.situations = min(test.situations, 400) // still thrice the array
		}
		in := oncallInput(t)
		in.Situations, in.HardShare, in.HardAsked, in.FaultRate = test.situations, test.share, true, 0.5
		p := mustNew(t, in)
		hard, points := 0, 0
		for _, d := range all(t, p) {
			if d.Task.Axes == nil {
				continue
			}
			points++
			if p.tiers.hard(d.Task.Axes) {
				hard++
			}
			if want := test.share * float64(points); test.situations > 0 && (points < 60 || len(p.rows) == points) && math.Abs(float64(hard)-want) > 1 {
				t.Fatalf("%d situations at a share of %v: %d of the first %d are hard", test.situations, test.share, hard, points)
			}
		}
		r := p.Report()
		if r.Mix != (Mix{Hard: hard, Points: points, Wanted: test.share}) {
			t.Errorf("the report says %v of %d hard of %d", r.Mix, hard, points)
		}
		if said := hasWarning(r, "hard_share"); said != test.said {
			t.Errorf("%d situations at a share of %v came to %v; said: %v", test.situations, test.share, r.Mix, said)
		}
		if !test.said {
			continue // what is not said of a share asked for is not of a default
		}
		in.HardAsked = false
		p = mustNew(t, in)
		all(t, p)
		if hasWarning(p.Report(), "hard_share") {
			t.Errorf("a default of %v is warned about", test.share)
		}
	}
}

func hasWarning(r Report, code string) bool {
	return slices.ContainsFunc(r.Warnings, func(w record.Warning) bool { return w.Code == code })
}

// Of an array as it comes with half the faults, some two fifths are hard; axes
// that cannot be hard do not count.
func TestHardTier(t *testing.T) {
	in := oncallInput(t)
	in.FaultRate = 0.5
	p := mustNew(t, in)
	all(t, p)
	if share := p.Report().Mix.share(); share < 0.35 || share > 0.5 {
		t.Errorf("%v in an array of the generated axes", p.Report().Mix)
	}
	easy := axesOf("get_runbook", oncallRules[0], "ordinary", record.EntityExists, "fresh")
	with := func(axes record.Axes, changes ...string) record.Axes {
		axes = maps.Clone(axes)
		for i := 0; i < len(changes); i += 2 {
			axes[changes[i]] = changes[i+1]
		}
		return axes
	}
	for _, test := range []struct {
		axes record.Axes
		want bool
	}{
		{easy, false},
		{with(easy, record.AxisStance, "adversarial", record.AxisToolCondition, "timeout"), false},
		{with(easy, record.AxisStance, "adversarial", record.AxisToolCondition, "timeout", record.AxisHistory, "prior_failure"), true},
		{with(easy, record.AxisStance, "unsure", record.AxisWorldState, "unknown", record.AxisHistory, "prior_failure"), false},
	} {
		if got := p.tiers.hard(test.axes); got != test.want {
			t.Errorf("hard(%v) = %v", test.axes, got)
		}
	}
	one := tiersOf(cover.Model{Parameters: []cover.Parameter{{Name: record.AxisStance, Values: []string{"ordinary", "adversarial"}}, {Name: record.AxisHistory, Values: []string{"fresh"}}}})
	if !one.hard(record.Axes{record.AxisStance: "adversarial"}) || one.hard(record.Axes{record.AxisStance: "ordinary"}) {
		t.Error("where only the stance varies, the stance decides")
	}
}

func TestPartOfTheArrayIsSaid(t *testing.T) {
	in := oncallInput(t)
	in.Situations = 40
	p := mustNew(t, in)
	posed := all(t, p)
	r := p.Report()
	want := fmt.Sprintf("36 of %d rows, %d%% of pairs", len(in.Array.Rows), 100*r.Plan.Covered/r.Plan.Planned)
	if !slices.ContainsFunc(r.Warnings, func(w record.Warning) bool { return w.Text == want }) {
		t.Errorf("no %q in %v", want, r.Warnings)
	}
	if diff := cmp.Diff(r.Plan, p.Coverage(posed)); diff != "" {
		t.Errorf("the plan's coverage is not that of its rows:\n%s", diff)
	}
	if lost := p.Coverage(posed[:20]); lost.Covered >= r.Plan.Covered || len(lost.Missing) != lost.Planned-lost.Covered {
		t.Errorf("half of the rows cover %d of %d, %d missing", lost.Covered, lost.Planned, len(lost.Missing))
	}
}

// A fault is of a tool that the ask needs, and an ask for none has none.
func TestFaultsAreOfTheAsksTools(t *testing.T) {
	in := Input{Array: arrayOf(t, modelOf(airlineTools(), airlineRules)), Tools: airlineTools(), Mode: record.ModeExplore, FaultRate: 1}
	p := mustNew(t, in)
	several := map[string]bool{}
	for _, d := range all(t, p) {
		if d.Task.Axes == nil {
			continue
		}
		name, fault := d.Task.Axes[record.AxisTool], d.Task.Fault
		switch {
		case fault == nil:
			continue
		case name == record.ToolUnrelated:
			t.Errorf("an unrelated ask has the fault %v", fault)
		case name == record.ToolMulti:
			needed := p.toolsOf(name, pointKey(d.Task.Axes))
			if len(needed) != 2 || !slices.ContainsFunc(needed, func(s *toolSense) bool { return s.tool.Name == fault.Tool }) {
				t.Errorf("fault %v in an ask for %d tools", fault, len(needed))
			}
			several[fault.Tool] = true
		case fault.Tool != name:
			t.Errorf("fault %v in an ask for %s", fault, name)
		}
		if fault.Condition != d.Task.Axes[record.AxisToolCondition] {
			t.Errorf("fault %v at %v", fault, d.Task.Axes)
		}
	}
	if len(several) < 3 {
		t.Errorf("asks for two tools meet faults of %v only", several)
	}
}

// Editing one clause leaves every other clause's situations and tasks as they
// are.
func TestEditingAClauseKeepsTheOthers(t *testing.T) {
	edited := slices.Clone(oncallRules)
	edited[3] = "Keep the restart reason under ten words"
	ids := func(rules []string) map[string]string {
		out := map[string]string{}
		in := Input{Array: arrayOf(t, modelOf(oncallTools(), rules)), Tools: oncallTools(), Mode: record.ModeSFT, FaultRate: 0.5}
		for _, d := range all(t, mustNew(t, in)) {
			if d.Task.Axes != nil {
				out[d.Task.ID] = d.Task.Axes[record.AxisRule]
			}
		}
		return out
	}
	before, after := ids(oncallRules), ids(edited)
	for id, rule := range before {
		if _, still := after[id]; !still && rule != oncallRules[3] {
			t.Errorf("a task of %q is gone", rule)
		}
	}
	for id, rule := range after {
		if _, was := before[id]; !was && rule != edited[3] {
			t.Errorf("a task of %q is new", rule)
		}
	}
}
