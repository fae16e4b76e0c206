package delta

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"assay/engine/record"
)

// Attempt is what one rollout of a compared task came to.
type Attempt struct {
	RolloutID    string
	Key          record.Key
	Status       record.Status // done or lost
	Cause        record.Cause  // of a lost one
	Reward       *float64      // as graded, nil where it was not
	JudgeStatus  record.JudgeStatus
	FailureClass string
	// Values are by [Changes.Metrics], NaN where the rollout has none: for pass_at_1
	// whether it passed, for a marker what it said.
	Values []float64
}

// Pair is one task that both sides finished rollouts of.
type Pair struct {
	Task          *record.Task
	HeldOut       bool
	Before, After []Attempt     // by (eval run, k)
	means         [2][]float64  // by side and metric, NaN where there is none
	posed         *record.Posed // what slices read
}

// Changes are the tasks behind a report's numbers.
type Changes struct {
	Metrics []string // pass_at_1 first, then markers by name
	// Threshold makes a reward a pass, on both sides.
	Threshold float64
	Pairs     []Pair // by task id
}

// Tasks are the tasks that [Compare] compares, with what every rollout came to. Target,
// guards and the like do not matter to it.
func Tasks(in Input) Changes {
	t := newTable(&in, markerNames(&in))
	paired, _ := t.paired()
	c := Changes{Metrics: t.metrics, Threshold: passThreshold(&in), Pairs: make([]Pair, len(paired))}
	index := make(map[string]*Pair, len(paired))
	for i, task := range paired {
		p := t.tasks[task]
		c.Pairs[i] = Pair{Task: p.Task, HeldOut: p.HeldOut, posed: p}
		for side := range t.sides {
			c.Pairs[i].means[side] = t.sides[side].means(task)
		}
		index[p.Task.ID] = &c.Pairs[i]
	}
	for _, s := range []struct {
		side *Side
		to   func(*Pair) *[]Attempt
	}{
		{&in.Before, func(p *Pair) *[]Attempt { return &p.Before }},
		{&in.After, func(p *Pair) *[]Attempt { return &p.After }},
	} {
		for i := range s.side.Samples {
			sample := &s.side.Samples[i]
			if pair := index[sample.Task.ID]; pair != nil && !s.side.unread(sample) {
				list := s.to(pair)
				*list = append(*list, c.attempt(sample))
			}
		}
	}
	for i := range c.Pairs {
		for _, list := range [][]Attempt{c.Pairs[i].Before, c.Pairs[i].After} {
			slices.SortFunc(list, func(a, b Attempt) int { return a.Key.Compare(b.Key) })
		}
	}
	return c
}

// means are a task's means, by metric.
func (st *sideTable) means(task int) []float64 {
	out := make([]float64, len(st.kinds))
	for m := range out {
		v, ok := st.value(m, task)
		if out[m] = v; !ok {
			out[m] = math.NaN()
		}
	}
	return out
}

func (c *Changes) attempt(s *record.Sample) Attempt {
	a := Attempt{RolloutID: s.Rollout.ID, Key: s.Rollout.Key, Status: s.Rollout.Status, Cause: s.Rollout.Cause, Reward: s.Reward(), Values: make([]float64, len(c.Metrics))}
	if s.Judgment != nil {
		a.JudgeStatus, a.FailureClass = s.Judgment.Status, s.Judgment.FailureClass
	}
	for i, name := range c.Metrics {
		a.Values[i] = math.NaN()
		switch {
		case s.Rollout.Status != record.StatusDone:
		case i == 0 && a.Reward != nil:
			a.Values[0] = 0
			if *a.Reward >= c.Threshold {
				a.Values[0] = 1
			}
		case i > 0:
			if v := s.Marker(name); v != nil && !math.IsInf(*v, 0) {
				a.Values[i] = *v
			}
		}
	}
	return a
}

// In keeps the tasks of one slice of a report.
func (c Changes) In(by, value string) Changes {
	field, ok := sliceFields[by]
	if !ok {
		c.Pairs = nil
		return c
	}
	if value == unlabelledValue {
		value = ""
	}
	kept := make([]Pair, 0, len(c.Pairs))
	for _, p := range c.Pairs {
		if is := field(p.posed); is == value || value == "" && is == unlabelledValue {
			kept = append(kept, p)
		}
	}
	c.Pairs = kept
	return c
}

// Move is what one metric did on one task.
type Move struct {
	Pair          *Pair
	Before, After float64 // means over the attempts that have the metric
	Change        float64 // after minus before
	// Unstable says that attempts of one side differ from each other: repeated, the task
	// may come out otherwise without any change of the agent.
	Unstable bool
}

// Queues are a metric's tasks in the order in which they are worth reading.
type Queues struct {
	// Regressed and Improved moved for the worse and for the better, the farthest first,
	// among equals those that are not unstable first.
	Regressed, Improved []Move
	// Unstable are those whose attempts differ on a side, the most uneven first, whether
	// they moved or not: a task may stand here and in one of the others.
	Unstable []Move
	// Same counts the tasks that did not move and are not unstable, Unmeasured those that
	// have the metric on no side or on one only.
	Same, Unmeasured int
}

// Queues sorts the tasks by what a metric did. ok is false where there is no such
// metric.
func (c *Changes) Queues(metric string, lowerIsBetter bool) (q Queues, ok bool) {
	at := slices.Index(c.Metrics, metric)
	if at < 0 {
		return Queues{}, false
	}
	sign := good
	if lowerIsBetter {
		sign = bad
	}
	uneven := map[*Pair]float64{}
	for i := range c.Pairs {
		p := &c.Pairs[i]
		b, a := p.means[before][at], p.means[after][at]
		if math.IsNaN(b) || math.IsNaN(a) {
			q.Unmeasured++
			continue
		}
		spread := math.Max(spreadOf(p.Before, at), spreadOf(p.After, at))
		m := Move{Pair: p, Before: b, After: a, Change: a - b, Unstable: spread > rounding}
		switch moved := sign * m.Change; {
		case moved < -rounding:
			q.Regressed = append(q.Regressed, m)
		case moved > rounding:
			q.Improved = append(q.Improved, m)
		case !m.Unstable:
			q.Same++
		}
		if m.Unstable {
			uneven[p] = spread
			q.Unstable = append(q.Unstable, m)
		}
	}
	for _, list := range [][]Move{q.Regressed, q.Improved} {
		slices.SortStableFunc(list, func(a, b Move) int {
			return cmp.Or(farther(math.Abs(a.Change), math.Abs(b.Change)), cmp.Compare(boolRank(a.Unstable), boolRank(b.Unstable)), byTask(a, b))
		})
	}
	slices.SortStableFunc(q.Unstable, func(a, b Move) int { return cmp.Or(farther(uneven[a.Pair], uneven[b.Pair]), byTask(a, b)) })
	return q, true
}

// rounding is under what two means count as one.
const rounding = 1e-9

// settled is a mean of changes without what only rounding left of changes that cancel.
func settled(change float64) float64 {
	if math.Abs(change) < rounding {
		return 0
	}
	return change
}

// farther puts the larger first; what differs by rounding alone is equal.
func farther(a, b float64) int { return cmp.Compare(math.Round(b/rounding), math.Round(a/rounding)) }

func byTask(a, b Move) int { return strings.Compare(a.Pair.Task.ID, b.Pair.Task.ID) }

// spreadOf is the standard deviation of the attempts that have the metric, 0 where
// fewer than two do.
func spreadOf(attempts []Attempt, metric int) float64 {
	var n, mean, squares float64 // Welford 1962
	for i := range attempts {
		v := attempts[i].Values[metric]
		if math.IsNaN(v) {
			continue
		}
		n++
		d := v - mean
		mean += d / n
		squares += d * (v - mean)
	}
	if n < 2 {
		return 0
	}
	return math.Sqrt(squares / n)
}
