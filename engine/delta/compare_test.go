package delta_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assay/engine/delta"
	"assay/engine/record"
)

func TestHeadlines(t *testing.T) {
	one, zero := 1.0, 0.0
	// guarded adds marker g to every rollout, at these values.
	guarded := func(w *world, b, a float64) *world {
		for side, v := range []float64{b, a} {
			for i := range w.samples[side] {
				value := v
				if i%7 == 0 { // some variation, the same on both sides
					value = 1 - v
				}
				w.samples[side][i].Markers = []record.Marker{marker("g", value)}
			}
		}
		return w
	}
	for _, c := range []struct {
		name   string
		world  *world
		change func(*delta.Input)
		want   delta.Headline
		line   string
	}{
		{"four tasks", shifted(1, 4, 3, 4, 0.2, 0.9), nil, delta.InsufficientData, "4 situations"},
		{"insufficient comes before not comparable", shifted(1, 4, 3, 4, 0.2, 0.9),
			func(in *delta.Input) { in.After.Scorer = "judge:x@2" }, delta.InsufficientData, ""},
		{"two scorers", shifted(1, 30, 3, 4, 0.2, 0.9),
			func(in *delta.Input) { in.After.Scorer = "judge:x@2" }, delta.NotComparable, "assay grade before --judge judge:x@2"},
		{"another world", shifted(1, 30, 3, 4, 0.2, 0.9),
			func(in *delta.Input) { in.After.Conditions = map[string]string{"world version": "2"} }, delta.NotComparable, "world version"},
		{"target nobody has", shifted(1, 30, 3, 4, 0.2, 0.9), func(in *delta.Input) {
			in.Target = "m"
			in.Before.Samples[0].Markers = []record.Marker{marker("m", 1)}
		}, delta.TargetNotMeasured, "m on both sides"},
		{"guard falls though the target rises", guarded(shifted(1, 30, 3, 4, 0.3, 0.8), 1, 0),
			func(in *delta.Input) { in.MustNotRegress = []string{"g"} }, delta.Fail, "guard g"},
		{"target falls", shifted(1, 30, 3, 4, 0.8, 0.3), nil, delta.Fail, "pass_at_1 0.789"},
		{"target falls, lower is better", shifted(1, 30, 3, 4, 0.8, 0.3),
			func(in *delta.Input) { in.LowerIsBetter = []string{"pass_at_1"} }, delta.Passed, "lower is better"},
		{"one eval run a side, however pretty", shifted(1, 30, 1, 4, 0.1, 0.9), nil, delta.Inconclusive, "--runs 3"},
		{"one eval run a side and the target falls", shifted(1, 30, 1, 4, 0.9, 0.1), nil, delta.Inconclusive, ""},
		{"one training seed", shifted(1, 30, 3, 4, 0.1, 0.9),
			func(in *delta.Input) { in.After.Model, in.After.TrainingSeeds = "m@1", []string{"7"} }, delta.Unresolved, "seed (7)"},
		{"one training seed, but only the prompt changed", shifted(1, 30, 3, 4, 0.1, 0.9), func(in *delta.Input) {
			in.Before.Model, in.Before.TrainingSeeds = "m@1", []string{"7"}
			in.After.Model, in.After.TrainingSeeds = "m@1", []string{"7"}
		}, delta.Passed, ""},
		{"two training seeds", shifted(1, 30, 3, 4, 0.1, 0.9),
			func(in *delta.Input) { in.After.Model, in.After.TrainingSeeds = "m", []string{"7", "8"} }, delta.Passed, ""},
		{"nothing changed", shifted(1, 30, 3, 4, 0.5, 0.5), nil, delta.NoDifference, "is not excluded"},
		{"a real gain", shifted(1, 30, 3, 4, 0.3, 0.8), nil, delta.Passed, "pass_at_1 0.3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := c.world.compare(t, c.change)
			if r.Headline != c.want || !strings.Contains(r.Line, c.line) {
				t.Errorf("headline %q, line %q; want %q with %q", r.Headline, r.Line, c.want, c.line)
			}
			if r.OK != (c.want == delta.Passed) {
				t.Errorf("ok = %v under %q", r.OK, r.Headline)
			}
			if text := r.Text(); !strings.HasPrefix(text, string(r.Headline)+"  ") {
				t.Errorf("text begins %.60q", text)
			}
		})
	}

	t.Run("two changed of nineteen", func(t *testing.T) {
		w := newWorld()
		for i := range 19 {
			name := fmt.Sprint("t", i)
			w.rate(before, name, 2, 2, 1)
			w.rate(after, name, 2, 2, 1)
		}
		for _, name := range []string{"t3", "t4"} {
			w.add(after, name, 0, 9, &one)
		}
		r := w.compare(t, nil)
		if r.Headline != delta.InsufficientData || !strings.Contains(r.Line, "2 of 19") {
			t.Errorf("headline %q, line %q", r.Headline, r.Line)
		}
	})
	t.Run("within eval noise", func(t *testing.T) {
		// Every task gains a little, the same everywhere, but whole eval runs swing by more.
		w := newWorld()
		for i := range 40 {
			for run, swing := range []float64{-0.2, 0, 0.2} {
				for k := range 10 {
					b, a := zero, zero
					if float64(k) < 10*(0.5+swing) {
						b = 1
					}
					if float64(k) < 10*(0.5+swing)+float64(1+i%2) {
						a = 1
					}
					w.add(before, fmt.Sprint("t", i), run, k, &b)
					w.add(after, fmt.Sprint("t", i), run, k, &a)
				}
			}
		}
		r := w.compare(t, nil)
		if r.Headline != delta.WithinNoise || metric(t, r, delta.PassAt1).Verdict != delta.VerdictWithinNoise {
			t.Errorf("headline %q, line %q", r.Headline, r.Line)
		}
	})
	t.Run("never varied over many tasks", func(t *testing.T) {
		w := newWorld()
		for i := range 25 {
			w.rate(before, fmt.Sprint("t", i), 2, 2, 2)
			w.rate(after, fmt.Sprint("t", i), 2, 2, 2)
		}
		r := w.compare(t, nil)
		m := metric(t, r, delta.PassAt1)
		if r.Headline != delta.NoDifference || m.Verdict != delta.VerdictDegenerate || m.Lo != nil || !strings.Contains(r.Line, "everywhere") {
			t.Errorf("headline %q, line %q, metric %+v", r.Headline, r.Line, m)
		}
	})
	t.Run("everything changed alike", func(t *testing.T) {
		w := newWorld()
		for i := range 12 {
			w.rate(before, fmt.Sprint("t", i), 2, 2, 0)
			w.rate(after, fmt.Sprint("t", i), 2, 2, 2)
		}
		r := w.compare(t, nil)
		if r.Headline != delta.Passed || !warned(r.Warnings, "no_spread") {
			t.Errorf("headline %q, warnings %v", r.Headline, r.Warnings)
		}
	})
}

func TestProxyRule(t *testing.T) {
	build := func(proxyAfter float64, targetUp bool) *world {
		q := 0.5
		if targetUp {
			q = 0.9
		}
		w := shifted(3, 30, 3, 4, 0.5, q)
		for side, v := range []float64{0.2, proxyAfter} {
			for i := range w.samples[side] {
				w.samples[side][i].Markers = []record.Marker{marker("proxy", v+0.01*float64(i%5))}
			}
		}
		return w
	}
	proxy := func(in *delta.Input) { in.Proxy = "proxy" }
	if r := build(0.9, false).compare(t, proxy); r.Headline != delta.Fail || !strings.Contains(r.Line, "over-optimised") {
		t.Errorf("proxy far up, target still: %q %q", r.Headline, r.Line)
	}
	if r := build(0.5, true).compare(t, proxy); r.Headline != delta.Passed {
		t.Errorf("proxy up by less than the target: %q %q", r.Headline, r.Line)
	}
	// The proxy rose by less than chance can put the target off: a warning, no failure.
	if r := build(0.24, false).compare(t, proxy); r.Headline != delta.NoDifference || !warned(r.Warnings, "proxy") {
		t.Errorf("proxy a little up, target still: %q %q %v", r.Headline, r.Line, r.Warnings)
	}
}

func TestGuardsThatCannotFail(t *testing.T) {
	w := shifted(4, 30, 3, 4, 0.3, 0.8)
	for side := range w.samples {
		for i := range w.samples[side] {
			w.samples[side][i].Markers = append(w.samples[side][i].Markers, marker("constant", 1))
		}
	}
	w.samples[before][0].Markers = append(w.samples[before][0].Markers, marker("onesided", 1))
	r := w.compare(t, func(in *delta.Input) { in.MustNotRegress = []string{"constant", "onesided"} })
	if r.Headline != delta.Passed {
		t.Fatalf("headline %q", r.Headline)
	}
	for _, want := range []string{"constant cannot tell (degenerate)", "onesided cannot tell (not_measured)"} {
		if !strings.Contains(r.Line, want) {
			t.Errorf("line %q does not say %q", r.Line, want)
		}
	}
	cannot := 0
	for _, w := range r.Warnings {
		if w.Code == "guard_cannot_fail" {
			cannot++
		}
	}
	if cannot != 2 {
		t.Errorf("%d of 2 guards warned of: %v", cannot, r.Warnings)
	}
}

func TestHoldingGuardSaysWhatItCouldMiss(t *testing.T) {
	w, rng := shifted(5, 30, 3, 4, 0.3, 0.8), rand.New(rand.NewPCG(5, 1))
	for side := range w.samples {
		for i := range w.samples[side] {
			w.samples[side][i].Markers = []record.Marker{marker("g", float64(rng.IntN(2)))}
		}
	}
	r := w.compare(t, func(in *delta.Input) { in.MustNotRegress = []string{"g"} })
	g := metric(t, r, "g")
	if g.CouldMiss == nil || math.Abs(*g.CouldMiss-math.Max(0, -*g.Lo)) > 1e-12 || !strings.Contains(r.Line, "could have missed") {
		t.Errorf("guard %+v, line %q", g, r.Line)
	}
}

func TestUnknownNamesAreErrors(t *testing.T) {
	for name, change := range map[string]func(*delta.Input){
		"target":           func(in *delta.Input) { in.Target = "nosuch" },
		"proxy":            func(in *delta.Input) { in.Proxy = "nosuch" },
		"must_not_regress": func(in *delta.Input) { in.MustNotRegress = []string{"nosuch"} },
		"lower_is_better":  func(in *delta.Input) { in.LowerIsBetter = []string{"nosuch"} },
		"by":               func(in *delta.Input) { in.By = "nosuch" },
	} {
		in := shifted(1, 6, 2, 2, 0.2, 0.9).input()
		change(&in)
		_, err := delta.Compare(in)
		var problem *record.Problem
		if !errors.As(err, &problem) || !strings.Contains(problem.Message, name) || problem.Fix == "" {
			t.Errorf("%s: error %v names no fix", name, err)
		}
	}
}

// Phrasings of one situation share what makes them hard: they are one unit, so that
// more wordings are not more evidence.
func TestPhrasingsAreOneUnit(t *testing.T) {
	w := shifted(6, 40, 3, 4, 0.3, 0.8)
	for i := range 40 {
		w.tasks[fmt.Sprintf("t%03d", i)].SituationID = fmt.Sprint("s", i/10)
	}
	r := w.compare(t, nil)
	if r.Paired != 40 || r.Units != 4 || r.Headline != delta.InsufficientData {
		t.Errorf("40 wordings of 4 situations: %d tasks, %d units, %q", r.Paired, r.Units, r.Headline)
	}
	// A mutation is of the unit of the ask it was made from.
	w.tasks["t000"].SituationID, w.tasks["t000"].Parent = "mutant", "s3"
	if r := w.compare(t, nil); r.Units != 4 {
		t.Errorf("a mutation made %d units", r.Units)
	}
}

func TestPairing(t *testing.T) {
	w := shifted(7, 20, 2, 2, 0.4, 0.6)
	one := 1.0
	w.add(before, "only-before", 0, 0, &one)
	w.add(after, "only-after", 0, 0, &one)
	r := w.compare(t, func(in *delta.Input) { in.Trained = map[string]bool{"t003": true} })
	if r.Paired != 19 || r.Unpaired != 2 || r.Trained != 1 || !slices.Equal(r.UnpairedTasks, []string{"only-after", "only-before"}) {
		t.Errorf("paired %d, unpaired %d %v, trained %d", r.Paired, r.Unpaired, r.UnpairedTasks, r.Trained)
	}
	for i := range 30 {
		w.add(before, fmt.Sprint("extra", i), 0, 0, &one)
	}
	if r := w.compare(t, nil); r.Headline != delta.NotComparable || !strings.Contains(r.Line, "20 of 52") {
		t.Errorf("20 of 52 paired: %q %q", r.Headline, r.Line)
	}
}

func TestTrainingTasksStayOut(t *testing.T) {
	w := shifted(8, 20, 2, 4, 0.5, 0.5)
	one := 1.0
	for i := range 20 {
		for k := range 4 {
			s := w.add(after, fmt.Sprint("train", i), 0, k, &one)
			s.HeldOut = false
			s = w.add(before, fmt.Sprint("train", i), 0, k, &one)
			s.HeldOut = false
		}
	}
	if r := w.compare(t, nil); r.Paired != 20 || r.Scope != delta.ScopeHeldOut {
		t.Errorf("held-out scope read %d tasks", r.Paired)
	}
	r := w.compare(t, func(in *delta.Input) { in.AllTasks = true })
	if r.Paired != 40 || r.Scope != delta.ScopeAllTasks || !warned(r.Warnings, "all_tasks") {
		t.Errorf("all tasks read %d, scope %s", r.Paired, r.Scope)
	}
	// In rl what follows the probes depends on how they went: of training tasks the
	// probes alone count.
	for i := range w.samples[before] {
		if s := &w.samples[before][i]; !s.HeldOut && s.Rollout.Key.K >= 2 {
			s.Judgment = &record.Judgment{Status: record.JudgeOK, Reward: new(float64)}
		}
	}
	r = w.compare(t, func(in *delta.Input) { in.AllTasks, in.Before.Run.Mode = true, record.ModeRL })
	if m := metric(t, r, delta.PassAt1); *m.Before < 0.7 {
		t.Errorf("pass@1 before = %.2f: rollouts after the probes were read", *m.Before)
	}
}

func TestUnequalLossIsNotComparable(t *testing.T) {
	w := shifted(9, 30, 3, 4, 0.5, 0.6)
	for i := range w.samples[after] {
		if s := &w.samples[after][i]; s.Rollout.Key.K == 0 {
			s.Rollout.Status, s.Judgment = record.StatusLost, nil
		}
	}
	if r := w.compare(t, nil); r.Headline != delta.NotComparable || !strings.Contains(r.Line, "after 75.0%") {
		t.Errorf("a quarter lost on one side: %q %q", r.Headline, r.Line)
	}
	for i := range w.samples[before] {
		if s := &w.samples[before][i]; s.Rollout.Key.K == 1 {
			s.Rollout.Status, s.Judgment = record.StatusLost, nil
		}
	}
	r := w.compare(t, nil)
	if r.Headline != delta.Inconclusive || !strings.Contains(r.Line, "25.0% of rollouts were lost before and 25.0% after") || !warned(r.Warnings, "lost") {
		t.Errorf("a quarter lost on both sides: %q %q %v", r.Headline, r.Line, r.Warnings)
	}
	if math.Abs(r.LossBound-2*0.25/0.75) > 1e-9 {
		t.Errorf("loss bound %v", r.LossBound)
	}
}

// lose loses the rollouts of both sides that are chosen.
func (w *world) lose(cause record.Cause, chosen func(i int, s *record.Sample) bool) *world {
	for side := range w.samples {
		for i := range w.samples[side] {
			if s := &w.samples[side][i]; chosen(i, s) {
				s.Rollout.Status, s.Rollout.Cause, s.Judgment = record.StatusLost, cause, nil
			}
		}
	}
	return w
}

func TestLossThatCouldUndoTheChange(t *testing.T) {
	third := func(i int, s *record.Sample) bool { return i%3 == 0 }
	for _, c := range []struct {
		name  string
		world *world
		want  delta.Headline
		fix   string
	}{
		{"a third of both sides, lost alike", shifted(1, 30, 3, 4, 0.3, 0.8).lose(record.CauseAgent, third), delta.Inconclusive, "the agent's own"},
		{"a third of the tasks, of which nothing came back on either side", shifted(1, 45, 3, 4, 0.3, 0.8).lose(record.CauseInfrastructure,
			func(_ int, s *record.Sample) bool { return s.Task.ID < "t015" }), delta.Inconclusive, "assay resume before makes"},
		{"a few, under the share", shifted(1, 30, 3, 4, 0.3, 0.8).lose(record.CauseAgent, func(i int, s *record.Sample) bool { return i%40 == 0 }), delta.Passed, "the agent's own"},
		{"an eighth, which the change outweighs", shifted(1, 30, 3, 4, 0.1, 0.9).lose(record.CauseAgent, func(i int, s *record.Sample) bool { return i%8 == 0 }), delta.Passed, ""},
		{"no change, which the loss may hide", shifted(1, 30, 3, 4, 0.5, 0.5).lose(record.CauseAgent, third), delta.Inconclusive, ""},
		{"a fall says so all the same", shifted(1, 30, 3, 4, 0.8, 0.3).lose(record.CauseAgent, third), delta.Fail, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := c.world.compare(t, nil)
			if r.Headline != c.want || r.OK != (c.want == delta.Passed) {
				t.Errorf("%q %q, want %q", r.Headline, r.Line, c.want)
			}
			at := slices.IndexFunc(r.Warnings, func(w record.Warning) bool { return w.Code == "lost" })
			if at < 0 || !strings.Contains(r.Warnings[at].Fix, c.fix) {
				t.Errorf("warnings %v, want lost with the fix %q", r.Warnings, c.fix)
			}
		})
	}
}

func TestWhatNothingChangedIn(t *testing.T) {
	w := newWorld()
	for i := range 25 {
		for side := range w.samples {
			w.rate(side, fmt.Sprint("t", i), 3, 2, i%3)
			for j := range w.samples[side] {
				w.samples[side][j].Markers = []record.Marker{marker("number", float64(j))}
			}
		}
	}
	r := w.compare(t, func(in *delta.Input) { in.MustNotRegress = []string{"number"} })
	m := metric(t, r, delta.PassAt1)
	if m.Verdict != delta.VerdictNoDifference || m.Lo == nil || *m.Lo != -*m.Hi || *m.Hi < 0.1 || *m.Hi > 0.2 || *m.CouldMiss != *m.Hi {
		t.Errorf("an interval without width claims that nothing could change: %+v", m)
	}
	if !strings.Contains(r.Line, "changed in none of 25") {
		t.Errorf("line %q", r.Line)
	}
	if m := metric(t, r, "number"); m.Lo != nil || m.Verdict != delta.VerdictNoDifference {
		t.Errorf("a number that nobody knows the most of: %+v", m)
	}
	for _, s := range r.Slices {
		if s.Lo != nil && *s.Lo == *s.Hi {
			t.Errorf("slice %+v has an interval without width", s)
		}
	}
}

func TestUndecidedAmongMany(t *testing.T) {
	w := shifted(4, 30, 3, 4, 0.5, 0.58)
	for side := range w.samples {
		for i := range w.samples[side] {
			for m := range 12 {
				w.samples[side][i].Markers = append(w.samples[side][i].Markers, marker(fmt.Sprintf("m%02d", m), float64((i+m)%7)/7))
			}
		}
	}
	r := w.compare(t, nil)
	m := metric(t, r, delta.PassAt1)
	if *m.P >= 0.05 || *m.PHolm < 0.05 || m.Verdict != delta.VerdictImproved {
		t.Fatalf("the sample does not show what is tested: %+v p %v holm %v", m, *m.P, *m.PHolm)
	}
	if !warned(r.Warnings, "p_holm_disagrees") || !strings.Contains(r.Text(), "p_holm disagrees") {
		t.Errorf("improved, and undecided among %d metrics: no word of it in\n%s", len(r.Metrics), r.Text())
	}
}

func TestUngradedRollouts(t *testing.T) {
	w := shifted(10, 30, 3, 4, 0.3, 0.8)
	for i := range w.samples[after] {
		if i%10 == 0 {
			w.samples[after][i].Judgment = &record.Judgment{Status: record.JudgeInvalidResult}
		}
	}
	r := w.compare(t, nil)
	if !warned(r.Warnings, "graded_share") || math.Abs(r.SelectionBound-0.1/0.9) > 1e-9 {
		t.Errorf("a tenth ungraded: bound %v, warnings %v", r.SelectionBound, r.Warnings)
	}
	if m := metric(t, r, delta.PassAt1); *m.After < 0.7 {
		t.Errorf("after = %.3f: ungraded rollouts were counted as failures", *m.After)
	}
}

func TestWarningsOfRuns(t *testing.T) {
	w := shifted(11, 30, 3, 4, 0.93, 0.97)
	for i := range w.samples[after] {
		w.samples[after][i].Rollout.Sampling = json.RawMessage(`{"temperature":0.7}`)
		if i%9 == 0 {
			w.samples[after][i].Rollout.FinishReason = record.FinishLength
		}
	}
	r := w.compare(t, func(in *delta.Input) {
		in.After.Run.Repeats = 8
		in.After.Run.Hollow = true
		in.After.Run.StoppedBecause = record.StoppedBudget
	})
	for _, code := range []string{"k", "temperature", "truncation", "ceiling", "hollow", "incomplete"} {
		if !warned(r.Warnings, code) {
			t.Errorf("no warning %s in %v", code, r.Warnings)
		}
	}
	if r.Headline == delta.NotComparable {
		t.Error("what is only warned of stopped the comparison")
	}
}

func TestMarkersOfOtherVersions(t *testing.T) {
	w := shifted(12, 30, 3, 4, 0.3, 0.8)
	for side := range w.samples {
		for i := range w.samples[side] {
			m := marker("m", float64(i%2))
			m.Scorer = fmt.Sprint("marker:m@", side)
			w.samples[side][i].Markers = []record.Marker{m}
		}
	}
	r := w.compare(t, nil)
	if slices.ContainsFunc(r.Metrics, func(m delta.Metric) bool { return m.Name == "m" }) {
		t.Error("a marker whose expression changed was compared")
	}
	r = w.compare(t, func(in *delta.Input) { in.MustNotRegress = []string{"m"} })
	if r.Headline != delta.NotComparable {
		t.Errorf("a guard whose expression changed: %q", r.Headline)
	}
}

func TestSlices(t *testing.T) {
	w := shifted(13, 30, 3, 4, 0.3, 0.8)
	for i := range 30 {
		task := w.tasks[fmt.Sprintf("t%03d", i)]
		task.Axes = record.Axes{record.AxisTool: "refund", record.AxisStance: []string{"hurried", "ordinary", ""}[i%3]}
		if i < 4 {
			task.Fault = &record.Fault{Tool: "refund", Condition: "timeout"}
		}
	}
	r := w.compare(t, nil)
	var got []string
	for _, s := range r.Slices {
		got = append(got, fmt.Sprintf("%s=%s %d %v", s.By, s.Value, s.Paired, s.LowN))
		if s.LowN != (s.Lo == nil) {
			t.Errorf("slice %+v: a low one shows an interval, or another none", s)
		}
	}
	slices.Sort(got)
	want := []string{"fault=none 26 false", "fault=timeout 4 true", "stance=hurried 10 false", "stance=ordinary 10 false", "stance=unlabelled 10 false"}
	if !slices.Equal(got, want) { // tool has one value and says nothing
		t.Errorf("slices %v, want %v", got, want)
	}
	for i := 1; i < len(r.Slices); i++ {
		if a, b := r.Slices[i-1], r.Slices[i]; a.By == b.By && *a.After > *b.After {
			t.Errorf("slice %s before the weaker %s", a.Value, b.Value)
		}
	}
	if !warned(r.Warnings, "unlabelled") {
		t.Error("a third of the tasks without a stance is not warned of")
	}
}

// The report is a function of what was measured: not of the order of rows, nor of
// markers that nobody asked about.
func TestReportDoesNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		w := shifted(seed, 12, 2, 2, 0.4, 0.6)
		first := fmt.Sprintf("%+v", text(t, w.compare(t, nil)))
		for side := range w.samples {
			shuffled := rapid.Permutation(w.samples[side]).Draw(rt, "order")
			w.samples[side] = shuffled
		}
		if again := text(t, w.compare(t, nil)); again != first {
			rt.Fatalf("%s\nafter shuffling\n%s", first, again)
		}
	})
}

func text(t *testing.T, r delta.Report) string {
	t.Helper()
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestAMarkerMovesNoOtherNumber(t *testing.T) {
	w := shifted(14, 25, 3, 4, 0.4, 0.6)
	alone := metric(t, w.compare(t, nil), delta.PassAt1)
	for side := range w.samples {
		for i := range w.samples[side] {
			w.samples[side][i].Markers = []record.Marker{marker("another", float64(i%3)/2)}
		}
	}
	beside := metric(t, w.compare(t, nil), delta.PassAt1)
	if *alone.Lo != *beside.Lo || *alone.Hi != *beside.Hi || *alone.P != *beside.P {
		t.Errorf("[%v, %v] became [%v, %v]", *alone.Lo, *alone.Hi, *beside.Lo, *beside.Hi)
	}
}

func TestReportMembers(t *testing.T) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text(t, shifted(1, 30, 3, 4, 0.3, 0.8).compare(t, nil))), &members); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"before", "after", "headline", "ok", "scope", "n_paired", "n_unpaired", "metrics", "slices", "noise", "not_comparable", "warnings"} {
		if _, ok := members[name]; !ok {
			t.Errorf("the report has no %s", name)
		}
	}
	for _, name := range []string{"not_comparable", "warnings", "slices", "metrics"} {
		if string(members[name]) == "null" {
			t.Errorf("%s is null, not a list", name)
		}
	}
	var metrics []map[string]json.RawMessage
	if err := json.Unmarshal(members["metrics"], &metrics); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"name", "kind", "before", "after", "delta", "lo", "hi", "p", "p_holm", "n_paired", "verdict", "guard", "lower_is_better"} {
		if _, ok := metrics[0][name]; !ok {
			t.Errorf("a metric has no %s", name)
		}
	}
}

func TestCommonScorer(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after delta.Grading
		want          string
		ok            bool
	}{
		{"one already", delta.Grading{Own: "a"}, delta.Grading{Own: "a"}, "a", true},
		{"after's, where before is complete in it", delta.Grading{Own: "a", Complete: []string{"a", "b"}}, delta.Grading{Own: "b", Complete: []string{"a", "b"}}, "b", true},
		{"else before's", delta.Grading{Own: "a", Complete: []string{"a"}}, delta.Grading{Own: "b", Complete: []string{"a", "b"}}, "a", true},
		{"neither", delta.Grading{Own: "a", Complete: []string{"a"}}, delta.Grading{Own: "b", Complete: []string{"b"}}, "", false},
		{"no reward on one side", delta.Grading{Own: "a", Complete: []string{"a"}}, delta.Grading{}, "", false},
	} {
		if got, ok := delta.CommonScorer(c.before, c.after); got != c.want || ok != c.ok {
			t.Errorf("%s: %q %v, want %q %v", c.name, got, ok, c.want, c.ok)
		}
	}
}
