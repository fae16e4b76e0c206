package delta_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"assay/engine/delta"
	"assay/engine/record"
)

// motley is a pair of runs with everything that a comparison must bear: tasks on one
// side only, lost and ungraded rollouts, markers that do not apply, uneven repeats.
func motley(seed uint64) *world {
	w, rng := newWorld(), rand.New(rand.NewPCG(seed, 1))
	stances := []string{"ordinary", "adversarial", ""}
	for i := range 2 + rng.IntN(14) {
		name := fmt.Sprintf("t%02d", i)
		w.task(name).Axes = record.Axes{record.AxisTool: []string{"refund", "cancel"}[rng.IntN(2)], record.AxisStance: stances[rng.IntN(3)]}
		for side := range 2 {
			if rng.IntN(8) == 0 {
				continue
			}
			for run := range 1 + rng.IntN(3) {
				for k := range 1 + rng.IntN(4) {
					var markers []record.Marker
					if rng.IntN(3) > 0 {
						markers = append(markers, marker("m", float64(rng.IntN(3))/2))
					}
					if rng.IntN(2) > 0 {
						markers = append(markers, marker("steps", float64(rng.IntN(9))))
					}
					reward := float64(rng.IntN(3)) / 2
					s := w.add(side, name, run, k, &reward, markers...)
					switch rng.IntN(9) {
					case 0:
						s.Rollout.Status, s.Rollout.Cause, s.Judgment = record.StatusLost, record.CauseAgent, nil
					case 1:
						s.Judgment = nil
					case 2:
						s.Rollout.Status = record.StatusAborted
					}
				}
			}
		}
	}
	return w
}

// The queues hold what the report's numbers are made of: their changes add up to its
// delta, and every task is somewhere.
func TestQueuesAddUpToTheReport(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := motley(rapid.Uint64().Draw(rt, "seed"))
		r := w.compare(t, nil)
		changes := delta.Tasks(w.input())
		if len(changes.Pairs) != r.Paired {
			rt.Fatalf("%d pairs, the report has %d", len(changes.Pairs), r.Paired)
		}
		for _, m := range r.Metrics {
			checkQueues(rt, changes, m.Name, m.Paired, m.Delta)
		}
		for _, s := range r.Slices {
			checkQueues(rt, changes.In(s.By, s.Value), r.Target, s.Paired, s.Delta)
		}
	})
}

func checkQueues(t *rapid.T, c delta.Changes, metric string, paired int, want *float64) {
	for _, lower := range []bool{false, true} {
		q, ok := c.Queues(metric, lower)
		if !ok {
			t.Fatalf("no metric %s", metric)
		}
		sum, steady := 0.0, 0
		for _, m := range q.Regressed {
			if (m.Change > 0) != lower {
				t.Fatalf("%s regressed by %g, lower is better: %v", metric, m.Change, lower)
			}
			sum += m.Change
		}
		for _, m := range q.Improved {
			if (m.Change < 0) != lower {
				t.Fatalf("%s improved by %g, lower is better: %v", metric, m.Change, lower)
			}
			sum += m.Change
		}
		for _, m := range q.Unstable {
			if math.Abs(m.Change) < 1e-9 {
				steady++
			}
		}
		if n := len(q.Regressed) + len(q.Improved) + steady + q.Same; n != paired || n+q.Unmeasured != len(c.Pairs) {
			t.Fatalf("%s: %d tasks in the queues and %d unmeasured, %d are paired of %d", metric, n, q.Unmeasured, paired, len(c.Pairs))
		}
		if want != nil && math.Abs(sum/float64(paired)-*want) > 1e-9 {
			t.Fatalf("%s: the queues come to %g, the report to %g", metric, sum/float64(paired), *want)
		}
		for _, list := range [][]delta.Move{q.Regressed, q.Improved} {
			if !slices.IsSortedFunc(list, func(a, b delta.Move) int {
				return int(math.Round(1e6 * (math.Abs(b.Change) - math.Abs(a.Change))))
			}) {
				t.Fatalf("%s: the farthest is not first", metric)
			}
		}
	}
}

func TestAttemptsOfATask(t *testing.T) {
	w := newWorld()
	half, zero, one := 0.5, 0.0, 1.0
	w.add(before, "a", 1, 0, &one)
	w.add(before, "a", 0, 1, &half, marker("m", 0.25))
	w.add(before, "a", 0, 0, nil)
	lost := w.add(before, "a", 0, 2, nil)
	lost.Rollout.Status, lost.Rollout.Cause = record.StatusLost, record.CauseAgent
	w.add(after, "a", 0, 0, &zero)
	w.add(after, "alone", 0, 0, &zero)
	c := delta.Tasks(w.input())
	if len(c.Pairs) != 1 || !slices.Equal(c.Metrics, []string{delta.PassAt1, "m"}) {
		t.Fatalf("%d pairs, metrics %v", len(c.Pairs), c.Metrics)
	}
	var keys []string
	for _, a := range c.Pairs[0].Before {
		keys = append(keys, a.Key.String())
	}
	if !slices.Equal(keys, []string{"a#0", "a#1", "a#2", "a#1.0"}) {
		t.Errorf("attempts in the order %v", keys)
	}
	b := c.Pairs[0].Before
	if !math.IsNaN(b[0].Values[0]) || b[1].Values[0] != 0 || b[1].Values[1] != 0.25 || !math.IsNaN(b[2].Values[0]) || b[2].Cause != record.CauseAgent || b[3].Values[0] != 1 {
		t.Errorf("attempts %+v", b)
	}
	q, _ := c.Queues(delta.PassAt1, false)
	if len(q.Regressed) != 1 || !q.Regressed[0].Unstable || q.Regressed[0].Change != -0.5 {
		t.Errorf("queues %+v", q)
	}
	if q, _ := c.Queues("m", false); q.Unmeasured != 1 || len(q.Regressed)+len(q.Improved)+q.Same != 0 {
		t.Errorf("a marker of one side: %+v", q)
	}
	if _, ok := c.Queues("nothing", false); ok {
		t.Error("queues of a metric that nothing has")
	}
}

func TestSteadyTasksComeFirst(t *testing.T) {
	w := newWorld()
	w.rate(before, "uneven", 1, 4, 3)
	w.rate(after, "uneven", 1, 4, 1)
	w.rate(before, "steady", 1, 2, 2)
	w.rate(after, "steady", 1, 2, 1)
	w.rate(before, "zz", 1, 2, 2)
	w.rate(after, "zz", 1, 2, 0)
	w.rate(before, "even", 1, 2, 1)
	w.rate(after, "even", 1, 2, 1)
	changes := delta.Tasks(w.input())
	q, _ := changes.Queues(delta.PassAt1, false)
	var names []string
	for _, m := range q.Regressed {
		names = append(names, m.Pair.Task.ID)
	}
	if !slices.Equal(names, []string{"zz", "steady", "uneven"}) {
		t.Errorf("regressed %v", names)
	}
	names = nil
	for _, m := range q.Unstable {
		names = append(names, m.Pair.Task.ID)
	}
	if !slices.Equal(names, []string{"even", "steady", "uneven"}) {
		t.Errorf("unstable %v", names)
	}
}

// Of an rl run's training tasks only the probes count, here as in the numbers.
func TestQueuesReadOnlyProbesOfTrainingTasks(t *testing.T) {
	w := newWorld()
	for side := range 2 {
		for k := range 4 {
			v := float64(k / 2)
			w.add(side, "train", 0, k, &v).HeldOut = false
		}
	}
	in := w.input()
	in.AllTasks = true
	in.Before.Run.Mode, in.After.Run.Mode = record.ModeRL, record.ModeRL
	c := delta.Tasks(in)
	if len(c.Pairs) != 1 || len(c.Pairs[0].Before) != 2 || len(c.Pairs[0].After) != 2 {
		t.Fatalf("pairs %+v", c.Pairs)
	}
}
