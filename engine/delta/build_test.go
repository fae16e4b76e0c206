package delta_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"assay/engine/delta"
	"assay/engine/record"
)

// world builds the two sides of a comparison rollout by rollout.
type world struct {
	threshold float64
	samples   [2][]record.Sample
	tasks     map[string]*record.Task
}

const (
	before = 0
	after  = 1
	judge  = "marker:ok@1"
)

func newWorld() *world { return &world{threshold: 1, tasks: map[string]*record.Task{}} }

// task is the task of a name, its own situation unless told otherwise.
func (w *world) task(name string) *record.Task {
	if t, ok := w.tasks[name]; ok {
		return t
	}
	t := &record.Task{ID: name, SituationID: "s-" + name, Axes: record.Axes{record.AxisTool: "refund", record.AxisStance: "ordinary"}}
	w.tasks[name] = t
	return t
}

// add puts one graded rollout on a side; reward is nil where it was not graded.
func (w *world) add(side int, task string, evalRun, k int, reward *float64, markers ...record.Marker) *record.Sample {
	s := record.Sample{
		Posed: record.Posed{Task: w.task(task), HeldOut: true},
		Outcome: record.Outcome{
			Rollout: record.Rollout{Key: record.Key{TaskID: task, EvalRun: evalRun, K: k}, Status: record.StatusDone},
			Markers: markers,
		},
	}
	if reward != nil {
		s.Judgment = &record.Judgment{Scorer: judge, Status: record.JudgeOK, Reward: reward}
	}
	w.samples[side] = append(w.samples[side], s)
	return &w.samples[side][len(w.samples[side])-1]
}

// rate puts n rollouts an eval run on a side, of which passes pass.
func (w *world) rate(side int, task string, runs, n, passes int) {
	for run := range runs {
		for k := range n {
			reward := 0.0
			if k < passes {
				reward = 1
			}
			w.add(side, task, run, k, &reward)
		}
	}
}

func (w *world) input() delta.Input {
	return delta.Input{
		Before: delta.Side{Run: &record.Run{ID: "before", PassThreshold: w.threshold, Repeats: 4}, Samples: w.samples[before], Scorer: judge},
		After:  delta.Side{Run: &record.Run{ID: "after", PassThreshold: w.threshold, Repeats: 4}, Samples: w.samples[after], Scorer: judge},
	}
}

func (w *world) compare(t *testing.T, change func(*delta.Input)) delta.Report {
	t.Helper()
	in := w.input()
	if change != nil {
		change(&in)
	}
	r, err := delta.Compare(in)
	if err != nil {
		t.Fatal(err)
	}
	explained(t, r)
	return r
}

// explained checks that a report's rules lead to its headline, and to no other.
func explained(t *testing.T, r delta.Report) {
	t.Helper()
	rules := r.Rules()
	for i, rule := range rules {
		if last := i == len(rules)-1; rule.Holds != last || rule.Says == "" || last && rule.Headline != r.Headline {
			t.Errorf("rule %d of %d under %q: %+v", i+1, len(rules), r.Headline, rule)
		}
	}
	if len(rules) == 0 {
		t.Errorf("no rule leads to %q", r.Headline)
	}
	if len(r.Causes) != len(r.NotComparable) {
		t.Errorf("%d causes of %d reasons", len(r.Causes), len(r.NotComparable))
	}
	for i, c := range r.Causes {
		if c.Text == "" || c.Fix == "" || r.NotComparable[i] != c.Text+": "+c.Fix {
			t.Errorf("cause %+v of %q", c, r.NotComparable[i])
		}
	}
}

func marker(name string, value float64) record.Marker {
	return record.Marker{Name: name, Scorer: "marker:" + name + "@1", Status: record.MarkerOK, Value: &value}
}

func metric(t *testing.T, r delta.Report, name string) delta.Metric {
	t.Helper()
	at := slices.IndexFunc(r.Metrics, func(m delta.Metric) bool { return m.Name == name })
	if at < 0 {
		t.Fatalf("no metric %q in %+v", name, r.Metrics)
	}
	return r.Metrics[at]
}

func warned(r []record.Warning, code string) bool {
	return slices.ContainsFunc(r, func(w record.Warning) bool { return w.Code == code })
}

// shifted poses n tasks, runs eval runs of k a side, with chance p before and q after.
func shifted(seed uint64, n, runs, k int, p, q float64) *world {
	w, rng := newWorld(), rand.New(rand.NewPCG(seed, 0))
	for i := range n {
		for run := range runs {
			for j := range k {
				for side, chance := range []float64{p, q} {
					reward := 0.0
					if rng.Float64() < chance {
						reward = 1
					}
					w.add(side, fmt.Sprintf("t%03d", i), run, j, &reward)
				}
			}
		}
	}
	return w
}
