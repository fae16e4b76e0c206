package search

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"assay/engine/record"
)

func number(v float64) *float64 { return &v }

// outcome is a rollout of a task that called tools and was graded.
func outcome(task *record.Task, behavior string, reward *float64, steps ...record.Step) record.Outcome {
	o := record.Outcome{Rollout: record.Rollout{Key: record.Key{TaskID: task.ID}, Status: record.StatusDone, Behavior: behavior, Steps: steps, EndedBy: record.EndedByAgent}}
	if reward != nil {
		o.Judgment = &record.Judgment{Status: record.JudgeOK, Reward: reward}
	}
	return o
}

func call(tool, fault string) record.Step {
	return record.Step{Kind: record.StepTool, Tool: tool, Fault: fault}
}

func weightsOf(a *arms) []int {
	var out []int
	for _, arm := range a.list {
		out = append(out, arm.weight)
	}
	return out
}

func TestArmsMoveByYield(t *testing.T) {
	a := newArms(nil)
	a.move(map[string]yield{record.ArmStructured: {news: 10, rollouts: 10}, record.ArmLLMGuided: {news: 0, rollouts: 10}})
	// The arms that did not run move with the mean yield of 0.5: by 1.25. Before
	// bounds the weights are 630, 420, 125, 37.5 and 37.5 thousand, of 1,250; an
	// open-ended share of exactly 0.1 is within its cap.
	if got, want := weightsOf(a), []int{504_000, 336_000, 100_000, 30_000, 30_000}; !slices.Equal(got, want) {
		t.Errorf("weights %v, want %v", got, want)
	}
	before := weightsOf(a)
	a.move(nil)
	if !slices.Equal(weightsOf(a), before) {
		t.Errorf("weights moved without a rollout: %v", weightsOf(a))
	}
	pinned := newArms(map[string]float64{record.ArmStructured: 3, record.ArmOpenEnded: 1})
	pinned.move(map[string]yield{record.ArmStructured: {news: 10, rollouts: 1}})
	if got, want := weightsOf(pinned), []int{750_000, 0, 250_000, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("pinned weights %v, want %v", got, want)
	}
}

func TestArmsStayWithinTheirBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := newArms(nil)
		for range rapid.IntRange(1, 30).Draw(t, "batches") {
			yields := map[string]yield{}
			for _, name := range armNames() {
				yields[name] = yield{news: rapid.IntRange(0, 40_000).Draw(t, name), rollouts: rapid.IntRange(0, 4096).Draw(t, "rollouts")}
			}
			a.move(yields)
			total := 0
			for _, arm := range a.list {
				total += arm.weight
				// rounding, at most one millionth an arm, goes to the first
				if arm.weight < arm.floor || arm.weight > arm.cap+len(a.list) {
					t.Fatalf("%s at %d is outside %d to %d", arm.name, arm.weight, arm.floor, arm.cap)
				}
			}
			if total != ppm {
				t.Fatalf("the weights add up to %d", total)
			}
		}
	})
}

// A yield raises its arm and lowers the others: the sign is right.
func TestYieldHasTheRightSign(t *testing.T) {
	for i, name := range armNames()[:2] {
		a := newArms(nil)
		yields := map[string]yield{record.ArmStructured: {rollouts: 10}, record.ArmLLMGuided: {rollouts: 10}}
		yields[name] = yield{news: 5, rollouts: 10}
		a.move(yields)
		if w := weightsOf(a); w[i] <= 420_000 || w[1-i] >= 420_000 {
			t.Errorf("%s found more, and the weights are %v", name, w)
		}
	}
}

func TestNoveltyHasTheRightSign(t *testing.T) {
	a := newArchive()
	near := sketchOf([]shape{{"get_runbook", outcomeOK}, {"restart_service", outcomeOK}}, "agent")
	if a.novelty(near) != ppm {
		t.Error("in an empty archive everything is novel")
	}
	for i := range 20 {
		a.add(sketchOf([]shape{{"get_runbook", outcomeOK}, {"restart_service", fmt.Sprint("code", i)}}, "agent"))
	}
	far := sketchOf([]shape{{"page_human", "timeout"}, {"page_human", "timeout"}}, "user_left")
	if n, f := a.novelty(near), a.novelty(far); n >= f {
		t.Errorf("a behaviour like those seen is at %d, an unlike one at %d", n, f)
	}
	again := a.sketches[0]
	if a.add(again) || len(a.sketches) != 20 {
		t.Error("a behaviour was kept twice")
	}
}

// novelty agrees with sorting all distances.
func TestNoveltyAgainstSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := newArchive()
		draw := func(label string) sketch {
			var s []shape
			for range rapid.IntRange(0, 4).Draw(t, label) {
				s = append(s, shape{rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "tool"), rapid.SampledFrom([]string{"ok", "timeout"}).Draw(t, "outcome")})
			}
			return sketchOf(s, "agent")
		}
		for range rapid.IntRange(1, 40).Draw(t, "seen") {
			a.add(draw("calls"))
		}
		s := draw("candidate")
		if got, want := a.novelty(s), byComparing(a, s); got != want {
			t.Fatalf("novelty %d, by sorting %d", got, want)
		}
	})
}

func TestParentsOfMutation(t *testing.T) {
	task := &record.Task{ID: "t"}
	partly := outcome(task, "", number(1))
	partly.Judgment.Criteria = []record.Criterion{{Name: "a", Score: number(1)}, {Name: "b", Score: number(0)}}
	third := outcome(task, "", number(0.667))
	for name, test := range map[string]struct {
		outcome record.Outcome
		want    string
	}{
		"a pass":                       {outcome(task, "", number(1)), ""},
		"a fail":                       {outcome(task, "", number(0)), aimFailure},
		"two thirds of a rubric":       {third, aimFailure},
		"a pass with a failed part":    {partly, aimFailure},
		"a fault of the world":         {outcome(task, "", number(1), call("get_runbook", "timeout")), aimWorldFault},
		"a fail under a fault":         {outcome(task, "", number(0), call("get_runbook", "timeout")), aimFailure},
		"ungraded":                     {outcome(task, "", nil), ""},
		"ungraded, with a world fault": {outcome(task, "", nil, call("get_runbook", "stale_result")), aimWorldFault},
	} {
		if got := aimOf(&test.outcome, 1); got != test.want {
			t.Errorf("%s: aim %q, want %q", name, got, test.want)
		}
	}
}

// searched runs a search in which an agent fails on the named tool, and gives all
// that was posed with the states after each batch.
func searched(t *testing.T, in Input, observeLate bool) ([]record.Posed, []string) {
	t.Helper()
	p := mustNew(t, in)
	var posed []record.Posed
	var states []string
	var waiting [][]record.Outcome
	observed := 0
	for b := 0; ; b++ {
		for observeLate && observed < b-1 || !observeLate && observed < b {
			p.Observe(observed, waiting[observed])
			observed++
		}
		batch, ok := p.Next(context.Background())
		if !ok {
			return posed, states
		}
		posed = append(posed, batch...)
		states = append(states, string(p.State()))
		waiting = append(waiting, outcomesOf(batch))
	}
}

func outcomesOf(batch []record.Posed) []record.Outcome {
	var out []record.Outcome
	for i, d := range batch {
		reward, steps := 1.0, []record.Step{call("get_runbook", "")}
		if d.Task.Axes[record.AxisTool] == "restart_service" {
			reward, steps = 0, []record.Step{call("restart_service", "")}
		}
		if d.Task.Fault != nil {
			steps = append(steps, call(d.Task.Fault.Tool, d.Task.Fault.Condition))
		}
		out = append(out, outcome(d.Task, fmt.Sprint(len(steps), reward, i%7), &reward, steps...))
	}
	return out
}

// Whether a fast machine tells of a batch before the next is planned, or a slow
// one at the last moment, the plan is the same.
func TestFeedbackDoesNotDependOnSpeed(t *testing.T) {
	in := oncallInput(t)
	in.Mode, in.Holdout, in.Batch, in.Situations = record.ModeExplore, 0.25, 40, 400
	early, statesEarly := searched(t, in, false)
	late, statesLate := searched(t, in, true)
	if diff := cmp.Diff(statesEarly, statesLate); diff != "" {
		t.Errorf("the states differ:\n%s", diff)
	}
	if len(early) != len(late) {
		t.Fatalf("%d tasks posed early, %d late", len(early), len(late))
	}
	for i := range early {
		if early[i].Task.ID != late[i].Task.ID || early[i].Arm != late[i].Arm {
			t.Fatalf("task %d is %s of %s early and %s of %s late", i, early[i].Task.ID, early[i].Arm, late[i].Task.ID, late[i].Arm)
		}
	}
}

func TestSearchUsesWhatItSaw(t *testing.T) {
	in := oncallInput(t)
	in.Mode, in.Holdout, in.Batch, in.Situations = record.ModeExplore, 0.25, 40, 400
	posed, states := searched(t, in, false)
	if len(posed) != 400 {
		t.Fatalf("%d posed of 400", len(posed))
	}
	tasks := map[string]*record.Task{}
	arms := byArm(posed)
	for _, d := range posed {
		tasks[d.Task.SituationID] = d.Task
		if d.Batch < 2 && (d.Arm == record.ArmFailureMutation || d.Arm == record.ArmBehaviorTargeted) {
			t.Errorf("batch %d has an arm that needs feedback", d.Batch)
		}
	}
	if arms[record.ArmFailureMutation] == 0 || arms[record.ArmFailureMutation] > 400*8/100 {
		t.Errorf("arms posed %v", arms)
	}
	for _, d := range posed {
		if d.Task.Origin != record.OriginMutated {
			continue
		}
		parent := tasks[d.Task.Parent]
		switch {
		case d.Arm != record.ArmFailureMutation || parent == nil:
			t.Errorf("mutation %s of arm %s has parent %q", d.Task.ID, d.Arm, d.Task.Parent)
		case d.HeldOut:
			t.Errorf("mutation of %s is held out", d.Task.Parent)
		case d.Task.Ask == parent.Ask || d.Task.SituationID != record.AskSituationID(d.Task.Ask, parent.SituationID):
			t.Errorf("mutation %q of %q", d.Task.Ask, parent.Ask)
		case cmp.Diff(d.Task.World, parent.World) != "" || cmp.Diff(d.Task.Fault, parent.Fault) != "":
			t.Errorf("a mutation has another world than its parent")
		}
	}
	var state struct {
		Search struct {
			Aims map[string]int `json:"mutations_by_aim"`
		} `json:"search"`
		Weights map[string]int `json:"weights_ppm"`
	}
	if err := json.Unmarshal([]byte(states[len(states)-1]), &state); err != nil {
		t.Fatal(err)
	}
	if state.Search.Aims[aimFailure]+state.Search.Aims[aimWorldFault] != arms[record.ArmFailureMutation] || len(state.Weights) != 5 {
		t.Errorf("the journal says %+v of %v", state, arms)
	}
}

// Held-out tasks teach the search nothing: other outcomes for them leave the plan
// as it is.
func TestHeldOutTeachesNothing(t *testing.T) {
	in := oncallInput(t)
	in.Mode, in.Holdout, in.Batch, in.Situations = record.ModeExplore, 0.5, 40, 200
	plan := func(spoil bool) []string {
		p := mustNew(t, in)
		var ids []string
		for b := 0; ; b++ {
			batch, ok := p.Next(context.Background())
			if !ok {
				return ids
			}
			outcomes := outcomesOf(batch)
			for i, d := range batch {
				ids = append(ids, d.Task.ID)
				if d.HeldOut && spoil {
					outcomes[i] = outcome(d.Task, fmt.Sprint("spoilt", i), number(0), call("page_human", "timeout"), call("page_human", "not_found"))
				}
			}
			p.Observe(b, outcomes)
		}
	}
	if diff := cmp.Diff(plan(false), plan(true)); diff != "" {
		t.Errorf("held-out outcomes moved the plan:\n%s", diff)
	}
}

func TestTargetsAimAtUnseenCalls(t *testing.T) {
	in := oncallInput(t)
	in.Mode, in.Holdout, in.Batch, in.Situations = record.ModeExplore, 0, 40, 400
	p := mustNew(t, in)
	p.hunt.shapes[shape{"get_runbook", outcomeOK}] = true
	p.hunt.targets.aim()
	s, ok := p.hunt.targets.next()
	if !ok {
		t.Fatal("no target")
	}
	if s.axes[record.AxisTool] != record.ToolMulti {
		t.Errorf("the first target brings about one unseen call, where some bring two: %v", s.axes)
	}
	for _, pt := range p.hunt.targets.queue {
		if !slices.ContainsFunc(expected(pt), func(c shape) bool { return !p.hunt.shapes[c] }) {
			t.Errorf("%v aims at nothing new", pt.axes)
		}
	}
}

func TestObserveOutOfOrderPanics(t *testing.T) {
	p := mustNew(t, oncallInput(t))
	defer func() {
		if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "batch 1") {
			t.Errorf("got %v", r)
		}
	}()
	p.Observe(1, nil)
}

// near, which looks only where word pairs are shared, finds what comparing with
// everything finds.
func TestNearDuplicatesAgainstAll(t *testing.T) {
	words := []string{"please", "restart", "the", "billing", "service", "now", "thanks", "it", "fails", "again"}
	rapid.Check(t, func(t *rapid.T) {
		s := newSeenTasks()
		var added []seenAsk
		for i := range rapid.IntRange(2, 25).Draw(t, "asks") {
			base := rapid.SliceOfN(rapid.SampledFrom(words), 0, 12).Draw(t, "ask")
			if len(added) > 0 && rapid.Bool().Draw(t, "like the last") {
				base = append(strings.Fields("please restart the billing service now thanks it fails"), base[:min(1, len(base))]...)
			}
			task := &record.Task{ID: fmt.Sprint(i), SituationID: fmt.Sprint("s", i%9), Origin: record.OriginOpenEnded, Ask: record.Text(strings.Join(base, " "))}
			ask, want := askOf(task), false
			for _, other := range added {
				want = want || other.situation != ask.situation && jaccard(ask.pairs, other.pairs) >= nearShare
			}
			if got := s.near(task); got != want {
				t.Fatalf("%q: near = %v, against all %v", task.Ask, got, want)
			}
			s.add(task)
			added = append(added, ask)
		}
	})
}

// behaviours are n different behaviours of an agent with so many tools: calls
// drawn with a preference for the first tools and for success, as agents have.
func behaviours(n, tools int) []sketch {
	r := record.Stream("test behaviours", tools)
	outcomes := []string{outcomeOK, outcomeOK, outcomeOK, "timeout", "not_found", "malformed_result", "stale_result", "already_done"}
	seen := map[sketch]bool{}
	var out []sketch
	for len(out) < n {
		var calls []shape
		for range 1 + r.IntN(7) {
			calls = append(calls, shape{fmt.Sprint("tool", min(r.IntN(tools), r.IntN(tools))), outcomes[r.IntN(len(outcomes))]})
		}
		if s := sketchOf(calls, []string{"agent", "user", "turn_limit"}[min(r.IntN(3), r.IntN(3))]); !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// byComparing is novelty without an index: all distances, sorted.
func byComparing(a *archive, s sketch) int {
	all := make([]int, len(a.sketches))
	for i := range a.sketches {
		all[i] = distance(&s, &a.sketches[i])
	}
	slices.Sort(all)
	all = all[:min(len(all), neighbours)]
	sum := 0
	for _, d := range all {
		sum += d
	}
	return sum / len(all)
}

// With many behaviours, near ones and far ones, the archive answers as comparing
// with all does.
func TestArchiveIsExact(t *testing.T) {
	for _, tools := range []int{2, 12, 100} {
		all := behaviours(3000, tools)
		a := newArchive()
		for i, s := range all {
			if i%50 == 1 {
				if got, want := a.novelty(s), byComparing(a, s); got != want {
					t.Fatalf("novelty among %d behaviours of %d tools is %d, by comparing with all %d", i, tools, got, want)
				}
			}
			a.add(s)
		}
	}
}

// The archive is asked at 100,000 behaviours, beside comparing with all of them.
func BenchmarkArchive100k(b *testing.B) {
	for _, tools := range []int{5, 50} {
		all := behaviours(101_000, tools)
		a := newArchive()
		for _, s := range all[:100_000] {
			a.add(s)
		}
		for name, ask := range map[string]func(sketch) int{"archive": a.novelty, "comparing": func(s sketch) int { return byComparing(a, s) }} {
			b.Run(fmt.Sprintf("%d tools/%s", tools, name), func(b *testing.B) {
				i := 0
				for b.Loop() {
					ask(all[100_000+i%1000])
					i++
				}
				b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "novelties/s")
			})
		}
	}
}

// Whatever the arms do, a run with room for the whole array has posed it in the
// end; in mode explore at its default size, all that the array asks about.
func TestFeedbackLeavesNoRowOut(t *testing.T) {
	for _, situations := range []int{0, 146, 200} {
		if testing.Short() && situations == 200 {
			continue // 146 has room beyond the array too
		}
		for _, mode := range []record.Mode{record.ModeExplore, record.ModeRL} {
			in := oncallInput(t)
			in.Mode, in.Holdout, in.Batch, in.Situations, in.HardShare = mode, 0.25, 16, situations, 0.4
			posed, _ := searched(t, in, true)
			if c := mustNew(t, in).Coverage(posed); c.Covered != c.Planned || c.Posed != len(in.Array.Rows) && !(mode == record.ModeExplore && situations == 0) {
				t.Errorf("%s, %d situations: %d of %d rows, %d of %d pairs", mode, situations, c.Posed, c.Rows, c.Covered, c.Planned)
			}
		}
	}
}

// An explore run of the default size is as long as the array and asks about all
// that it does, and the rows that would ask twice make room for what the weights
// prefer. Only training tasks give way: what is held out is what the array holds
// out, whatever is found.
func TestExploreGivesRepeatsAway(t *testing.T) {
	in := oncallInput(t)
	in.Mode, in.Holdout, in.Batch, in.HardShare = record.ModeExplore, 0.25, 16, 0.4
	posed, _ := searched(t, in, false)
	p := mustNew(t, in)
	still := all(t, p)
	if r := p.Report(); r.Released == 0 || r.Asked != r.Situations {
		t.Errorf("%d rows gave way; %d of %d situations posed", r.Released, r.Situations, r.Asked)
	}
	heldOut := func(posed []record.Posed) map[string]bool {
		out := map[string]bool{}
		for _, d := range posed {
			if d.HeldOut && d.Task.Origin == record.OriginGrid {
				out[d.Task.SituationID] = true
			}
		}
		return out
	}
	if diff := cmp.Diff(heldOut(still), heldOut(posed)); diff != "" {
		t.Errorf("what was found moved what is held out:\n%s", diff)
	}
	beyond := 0
	rows := map[string]bool{}
	for _, row := range in.Array.Rows {
		rows[rowKey(row)] = true
		if axes := in.Array.Model.Axes(row); p.heldOut(pointKey(axes)) && !heldOut(posed)[p.pointOf(axes).id] {
			t.Errorf("the held-out row %v was not posed", axes)
		}
	}
	for _, d := range posed {
		if d.Task.Origin == record.OriginGrid && d.Task.Axes[record.AxisTool] == "restart_service" && !rows[rowKey(in.Array.Model.Point(d.Task.Axes))] {
			beyond++
		}
	}
	if beyond < 5 {
		t.Errorf("%d points beyond the array are of the tool that fails", beyond)
	}
}

// BenchmarkLearn is what a batch's outcomes cost with 100,000 behaviours in the
// archive: each of a situation and a behaviour of its own, and worth going near.
func BenchmarkLearn(b *testing.B) {
	in := oncallInput(b)
	in.Mode, in.Holdout = record.ModeExplore, 0
	p := mustNew(b, in)
	first, _ := p.Next(b.Context())
	for _, s := range behaviours(100_000, 20) {
		p.hunt.archive.add(s)
	}
	rollouts := 0
	for b.Loop() {
		var outcomes []record.Outcome
		for range 2 * DefaultBatch {
			task := *first[rollouts%len(first)].Task
			task.ID, task.SituationID = fmt.Sprint("t", rollouts), fmt.Sprint("s", rollouts)
			p.hunt.poses[task.ID] = pose{task: &task, arm: record.ArmStructured, row: p.rows[0]}
			outcomes = append(outcomes, outcome(&task, fmt.Sprint("behaviour", rollouts), number(0), call("get_runbook", fmt.Sprint("code", rollouts)), call("restart_service", "timeout")))
			rollouts++
		}
		p.hunt.observe(outcomes)
	}
	b.ReportMetric(float64(rollouts)/b.Elapsed().Seconds(), "rollouts/s")
	b.ReportMetric(float64(len(p.hunt.archive.sketches)), "behaviours")
}
