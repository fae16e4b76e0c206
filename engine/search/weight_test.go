package search

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"assay/engine/cover"
	"assay/engine/record"
)

func exploring(t testing.TB) *Planner {
	t.Helper()
	in := oncallInput(t)
	in.Mode, in.Holdout, in.Situations = record.ModeExplore, 0.25, 400
	return mustNew(t, in)
}

func TestRisk(t *testing.T) {
	p := exploring(t)
	risk := func(tool, stance, condition string) int {
		axes := axesOf(tool, oncallRules[0], stance, record.EntityExists, "fresh")
		axes[record.AxisToolCondition] = condition
		pt := p.pointOf(axes)
		return riskOf(&pt)
	}
	for _, test := range []struct {
		tool, stance, condition string
		want                    int
	}{
		{"restart_service", "adversarial", record.ConditionSuccess, ppm},
		{"restart_service", "ordinary", record.ConditionTimeout, ppm},
		{"restart_service", "hurried", record.ConditionTimeout, ppm},
		{"restart_service", "unsure", record.ConditionSuccess, ppm / 2},
		{"page_human", "boundary", record.ConditionSuccess, ppm / 2},
		{"page_human", "ordinary", record.ConditionSuccess, ppm / 4},
		{"get_runbook", "ordinary", record.ConditionStale, ppm / 4},
		{"get_runbook", "ordinary", record.ConditionSuccess, ppm / 8},
		{record.ToolUnrelated, "adversarial", record.ConditionSuccess, 0},
	} {
		if got := risk(test.tool, test.stance, test.condition); got != test.want {
			t.Errorf("%v: risk %d, want %d", test, got, test.want)
		}
	}
	if several := risk(record.ToolMulti, "ordinary", record.ConditionTimeout); several < ppm/4 {
		t.Errorf("two tools, one failing: %d", several)
	}
}

// Every reason pulls in its own direction: the one point that has it is heavier.
func TestReasonsHaveTheRightSign(t *testing.T) {
	at := func(p *Planner, changes ...string) *point {
		axes := axesOf("get_runbook", oncallRules[0], "ordinary", record.EntityExists, "fresh")
		for i := 0; i < len(changes); i += 2 {
			axes[changes[i]] = changes[i+1]
		}
		pt := p.pointOf(axes)
		return &pt
	}
	for name, test := range map[string]struct {
		dials   dials
		prepare func(*hunt, *point)
		heavy   []string // what sets the heavy point apart
	}{
		"undercoverage": {dials{undercoverage: 1}, func(h *hunt, light *point) { h.regions.pose(light.row) }, []string{record.AxisStance, "unsure"}},
		"risk":          {dials{risk: 1}, func(*hunt, *point) {}, []string{record.AxisTool, "restart_service"}},
		"gap":           {dials{gap: 1}, func(h *hunt, _ *point) { h.shapes[shape{"get_runbook", outcomeOK}] = true }, []string{record.AxisToolCondition, record.ConditionTimeout}},
		"novelty":       {dials{novelty: 1}, func(h *hunt, light *point) { h.archive.add(sketchOf(expected(light), record.EndedByAgent)) }, []string{record.AxisTool, "page_human"}},
		"suspicion":     {dials{suspicion: 1}, func(h *hunt, light *point) { h.regions.learn(light.row, 4, 1) }, []string{record.AxisHistory, "repeat_visit"}},
	} {
		p := exploring(t)
		h := p.hunt
		h.dials = test.dials
		light, heavy := at(p), at(p, test.heavy...)
		test.prepare(h, light)
		if name == "suspicion" {
			h.regions.learn(heavy.row, 4, 3)
		}
		if l, hv := h.weigh(light).weight, h.weigh(heavy).weight; l >= hv {
			t.Errorf("%s: weighs %d with the reason and %d without", name, hv, l)
		}
		if w := h.weigh(heavy).weight; w < 0 || w > ppm {
			t.Errorf("%s: the weight %d is no share", name, w)
		}
	}
}

// A cell that n situations had counts 1/(1+n)^2.
func TestUndercoverageIsQuadratic(t *testing.T) {
	r := newRegions(cover.Model{Parameters: []cover.Parameter{{Values: []string{"a", "b"}}, {Values: []string{"c", "d"}}}})
	row := []int{0, 1}
	for _, want := range []int{ppm, ppm / 4, ppm / 9, ppm / 16} {
		if got := r.undercoverage(row); got != want {
			t.Errorf("undercoverage %d, want %d", got, want)
		}
		r.pose(row)
	}
	if got := r.undercoverage([]int{1, 1}); got != ppm {
		t.Errorf("a pair that was never posed is at %d", got)
	}
}

// Regions count what counting all posed rows over again counts.
func TestRegionsAgainstCounting(t *testing.T) {
	m := narrow(modelOf(oncallTools(), oncallRules), 3)
	rapid.Check(t, func(t *rapid.T) {
		r := newRegions(m)
		row := func(label string) []int {
			out := make([]int, len(m.Parameters))
			for i, p := range m.Parameters {
				out[i] = rapid.IntRange(-1, len(p.Values)-1).Draw(t, label)
			}
			return out
		}
		type lesson struct {
			row         []int
			tried, fail int
		}
		var lessons []lesson
		for range rapid.IntRange(0, 12).Draw(t, "lessons") {
			l := lesson{row: row("learnt"), tried: rapid.IntRange(1, 4).Draw(t, "tried")}
			l.fail = rapid.IntRange(0, l.tried).Draw(t, "failed")
			r.learn(l.row, l.tried, l.fail)
			lessons = append(lessons, l)
		}
		asked, want := row("asked"), 0
		for mask := 1; mask < 1<<len(asked); mask++ {
			var in []int
			for i := range asked {
				if mask>>i&1 == 1 {
					in = append(in, i)
				}
			}
			if len(in) > 3 || slices.ContainsFunc(in, func(i int) bool { return asked[i] < 0 }) {
				continue
			}
			tried, failed := 0, 0
			for _, l := range lessons {
				if !slices.ContainsFunc(in, func(i int) bool { return l.row[i] != asked[i] }) {
					tried, failed = tried+l.tried, failed+l.fail
				}
			}
			if failed > 0 {
				want = max(want, failed*ppm/(tried+2))
			}
		}
		if got := r.suspicion(asked); got != want {
			t.Fatalf("suspicion of %v is %d, counted %d", asked, got, want)
		}
	})
}

// A grid too wide for triples is known by its pairs.
func TestRegionsOfAWideGrid(t *testing.T) {
	var m cover.Model
	for range 3 {
		p := cover.Parameter{}
		for v := range 200 {
			p.Values = append(p.Values, string(rune('A'+v)))
		}
		m.Parameters = append(m.Parameters, p)
	}
	r := newRegions(m)
	if len(r.posed) > maxCells || len(r.subsets) != 6 {
		t.Fatalf("%d cells of %d subsets", len(r.posed), len(r.subsets))
	}
	r.pose([]int{1, 2, 3})
	if got := r.undercoverage([]int{1, 2, 4}); got != (ppm/4+2*ppm)/3 {
		t.Errorf("undercoverage %d", got)
	}
}

// The heaviest point that a pool deals is the heaviest of all of them, whatever
// was posed, learnt and taken in between.
func TestHeaviestAgainstAll(t *testing.T) {
	in := oncallInput(t)
	in.Array, in.Mode, in.Holdout, in.HardShare = arrayOf(t, narrow(modelOf(oncallTools(), oncallRules), 4)), record.ModeExplore, 0.25, 0.4
	rapid.Check(t, func(t *rapid.T) {
		p, err := New(in)
		if err != nil {
			t.Fatal(err)
		}
		h := p.hunt
		for range rapid.IntRange(1, 40).Draw(t, "turns") {
			tier := p.grid.array.next(rapid.Bool().Draw(t, "hard"))
			if tier == nil {
				return
			}
			var want *candidate
			for _, pt := range tier.points {
				if pt.gone || pt.heldOut {
					continue
				}
				if c := h.weigh(pt); want == nil || c.outweighs(want) {
					want = c
				}
			}
			got := tier.heaviest(h)
			switch {
			case got == nil || want == nil:
				if got != nil || want != nil {
					t.Fatalf("the pool deals %v, all of it %v", got, want)
				}
				return
			case got.point != want.point:
				t.Fatalf("the pool deals %v at %d, of all the heaviest is %v at %d", got.axes, got.weight, want.axes, want.weight)
			}
			p.grid.take(got.point)
			h.regions.pose(got.row)
			h.posed++
			if rapid.IntRange(0, 3).Draw(t, "lesson") == 0 {
				h.regions.learn(got.row, 2, rapid.IntRange(0, 2).Draw(t, "failures"))
				h.epoch++
			}
		}
	})
}

// What is held out is the same, in the same order, whatever the search finds: only
// what may teach changes places.
func TestFindingsMoveNoHeldOutTask(t *testing.T) {
	in := oncallInput(t)
	in.Mode, in.Holdout, in.Batch, in.Situations = record.ModeExplore, 0.25, 32, 120
	// The rare arms would take points out of the grid: without them its order shows.
	in.ArmWeights = map[string]float64{record.ArmStructured: 1}
	run := func(fails func(record.Axes) bool) (heldOut, training []string) {
		p := mustNew(t, in)
		for b := 0; ; b++ {
			batch, ok := p.Next(t.Context())
			if !ok {
				return heldOut, training
			}
			var outcomes []record.Outcome
			for _, d := range batch {
				reward := 1.0
				if fails(d.Task.Axes) {
					reward = 0
				}
				outcomes = append(outcomes, outcome(d.Task, "", &reward))
				if d.HeldOut {
					heldOut = append(heldOut, d.Task.ID)
				} else {
					training = append(training, d.Task.ID)
				}
			}
			p.Observe(b, outcomes)
		}
	}
	heldOut, training := run(func(a record.Axes) bool { return a[record.AxisTool] == "page_human" })
	others, moved := run(func(a record.Axes) bool { return a[record.AxisStance] == "unsure" })
	if slices.Equal(training, moved) {
		t.Error("other failures, and the same plan")
	}
	n := min(len(heldOut), len(others))
	if n < 15 || !slices.Equal(heldOut[:n], others[:n]) {
		t.Errorf("what failed moved the held-out tasks: %d of one plan, %d of the other", len(heldOut), len(others))
	}
}
