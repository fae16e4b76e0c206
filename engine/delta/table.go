package delta

import (
	"math"
	"slices"
	"strings"

	"assay/engine/record"
)

// table holds both sides' values by task: all that a comparison needs, and no more
// than tasks times metrics times eval runs of it.
type table struct {
	metrics []string // pass_at_1 first, then markers by name
	tasks   []*record.Posed
	unit    []string // of each task
	sides   [2]sideTable
	trained int // tasks left out
}

// sideTable is one run's part.
type sideTable struct {
	runs  []int      // eval runs, ascending
	cells [][][]cell // by run, metric, task
	rows  []rowCount // by task
	ended []rowCount // by run: done and lost alone
	// writer and user are the models behind each task's ask and user, by task.
	writer, user []string
	sampling     map[string]bool // the distinct sampling settings, as they were kept
	kinds        []string        // by metric
	// scorers are the versions that gave each metric, by metric.
	scorers []map[string]bool
	// notFinite counts values that are no numbers and were left out.
	notFinite int
}

// cell is the values of one metric of one task in one eval run.
type cell struct {
	sum float64
	n   int
}

// rowCount counts the rollouts of one task.
type rowCount struct {
	done, graded, lost, cut int // cut: the reply ran into its length limit
	retried                 int // of the lost: a resume makes them again
}

const before, after = 0, 1

// newTable reads both sides, tasks ordered by id.
func newTable(in *Input, markers []string) *table {
	t := &table{metrics: append([]string{PassAt1}, markers...)}
	index := t.index(in)
	metric := make(map[string]int, len(t.metrics))
	for i, name := range t.metrics {
		metric[name] = i
	}
	threshold := passThreshold(in)
	for side, s := range []*Side{&in.Before, &in.After} {
		t.sides[side] = newSideTable(s, len(t.metrics), len(t.tasks))
		t.sides[side].read(s, in, index, metric, threshold)
	}
	return t
}

// index finds the tasks in scope, and the unit of each.
func (t *table) index(in *Input) map[string]int {
	family, posed, trained := lineage{}, map[string]*record.Posed{}, map[string]bool{}
	for _, side := range []*Side{&in.Before, &in.After} {
		for i := range side.Samples {
			p := &side.Samples[i].Posed
			if _, seen := posed[p.Task.ID]; seen {
				continue
			}
			family.add(p.Task.SituationID, p.Task.Parent)
			switch {
			case !p.HeldOut && !in.AllTasks:
			case in.Trained[p.Task.ID]:
				trained[p.Task.ID] = true
			default:
				posed[p.Task.ID] = p
			}
		}
	}
	t.trained = len(trained)
	for _, p := range posed {
		t.tasks = append(t.tasks, p)
	}
	slices.SortFunc(t.tasks, func(a, b *record.Posed) int { return strings.Compare(a.Task.ID, b.Task.ID) })
	index := make(map[string]int, len(t.tasks))
	t.unit = make([]string, len(t.tasks))
	for i, p := range t.tasks {
		index[p.Task.ID] = i
		t.unit[i] = family.root(p.Task.SituationID)
	}
	return index
}

func newSideTable(s *Side, metrics, tasks int) sideTable {
	seen := map[int]bool{}
	for i := range s.Samples {
		seen[s.Samples[i].Rollout.Key.EvalRun] = true
	}
	st := sideTable{rows: make([]rowCount, tasks), writer: make([]string, tasks), user: make([]string, tasks), sampling: map[string]bool{},
		kinds: make([]string, metrics), scorers: make([]map[string]bool, metrics)}
	for run := range seen {
		st.runs = append(st.runs, run)
	}
	slices.Sort(st.runs)
	st.ended = make([]rowCount, len(st.runs))
	st.cells = make([][][]cell, len(st.runs))
	for r := range st.cells {
		st.cells[r] = make([][]cell, metrics)
		for m := range st.cells[r] {
			st.cells[r][m] = make([]cell, tasks)
		}
	}
	for m := range st.kinds {
		st.kinds[m] = KindRate
		st.scorers[m] = map[string]bool{}
	}
	st.kinds[0] = KindReward
	return st
}

// read adds up a side's rollouts.
func (st *sideTable) read(s *Side, in *Input, index, metric map[string]int, threshold float64) {
	run := make(map[int]int, len(st.runs))
	for i, r := range st.runs {
		run[r] = i
	}
	for i := range s.Samples {
		sample := &s.Samples[i]
		task, ok := index[sample.Task.ID]
		if !ok || s.unread(sample) {
			continue
		}
		r := run[sample.Rollout.Key.EvalRun]
		if sample.Rollout.Status == record.StatusLost {
			st.ended[r].lost++
			st.rows[task].lost++
			if sample.Rollout.Cause.Retried() {
				st.rows[task].retried++
			}
			continue
		}
		st.ended[r].done++
		st.add(sample, st.cells[r], task, metric, threshold)
	}
}

// unread is true of a rollout that no number is made of: one that has not ended, and
// of an rl run's training tasks all but the probes.
func (s *Side) unread(sample *record.Sample) bool {
	if sample.Rollout.Status != record.StatusDone && sample.Rollout.Status != record.StatusLost {
		return true
	}
	return s.Run != nil && s.Run.Mode == record.ModeRL && !sample.HeldOut && sample.Rollout.Key.K >= probes
}

// probes is how many rollouts of a training group an rl run makes before it looks at
// their grades.
const probes = 2

func (st *sideTable) add(sample *record.Sample, cells [][]cell, task int, metric map[string]int, threshold float64) {
	count := &st.rows[task]
	count.done++
	st.writer[task], st.user[task] = sample.Rollout.WriterModel, sample.Rollout.UserModel
	if raw := sample.Rollout.Sampling; len(raw) > 0 && !st.sampling[string(raw)] {
		st.sampling[string(raw)] = true
	}
	if sample.Rollout.FinishReason == record.FinishLength {
		count.cut++
	}
	if reward := sample.Reward(); reward != nil {
		count.graded++
		pass := 0.0
		if *reward >= threshold {
			pass = 1
		}
		cells[0][task].add(pass)
	}
	for i := range sample.Markers {
		marker := &sample.Markers[i]
		m, ok := metric[marker.Name]
		if !ok || marker.Status != record.MarkerOK || marker.Value == nil {
			continue
		}
		v := *marker.Value
		if math.IsNaN(v) || math.IsInf(v, 0) {
			st.notFinite++
			continue
		}
		if v < 0 || v > 1 {
			st.kinds[m] = KindNumber
		}
		if !st.scorers[m][marker.Scorer] {
			st.scorers[m][marker.Scorer] = true
		}
		cells[m][task].add(v)
	}
}

func (c *cell) add(v float64) {
	c.sum += v
	c.n++
}

// value is the mean of a metric over all rollouts of a task, over all eval runs.
func (st *sideTable) value(metric, task int) (mean float64, ok bool) {
	var all cell
	for r := range st.cells {
		c := st.cells[r][metric][task]
		all.sum += c.sum
		all.n += c.n
	}
	return all.sum / float64(all.n), all.n > 0
}

// runMeans are the means of a metric over the given tasks, one an eval run that has
// any of them.
func (st *sideTable) runMeans(metric int, tasks []int) []float64 {
	var means []float64
	for r := range st.cells {
		var all cell
		for _, task := range tasks {
			if c := st.cells[r][metric][task]; c.n > 0 {
				all.add(c.sum / float64(c.n))
			}
		}
		if all.n > 0 {
			means = append(means, all.sum/float64(all.n))
		}
	}
	return means
}

// answeredRuns are the shares of rollouts that ended, one an eval run.
func (st *sideTable) answeredRuns() []float64 {
	var shares []float64
	for _, e := range st.ended {
		if e.done+e.lost > 0 {
			shares = append(shares, e.answered())
		}
	}
	return shares
}

// paired are the tasks that both sides finished rollouts of, alone those that only one
// did.
func (t *table) paired() (paired, alone []int) {
	for task := range t.tasks {
		b, a := t.sides[before].rows[task].done > 0, t.sides[after].rows[task].done > 0
		switch {
		case a && b:
			paired = append(paired, task)
		case a || b:
			alone = append(alone, task)
		}
	}
	return paired, alone
}

// shared is true where a paired task has the metric on both sides.
func (t *table) shared(metric int, paired []int) bool {
	for _, task := range paired {
		_, b := t.sides[before].value(metric, task)
		_, a := t.sides[after].value(metric, task)
		if a && b {
			return true
		}
	}
	return false
}

// unitsOf counts the units among tasks.
func (t *table) unitsOf(tasks []int) int {
	seen := make(map[string]bool, len(tasks))
	for _, task := range tasks {
		seen[t.unit[task]] = true
	}
	return len(seen)
}

// rowsOf adds up a side's rollouts of the given tasks.
func (st *sideTable) rowsOf(tasks []int) rowCount {
	var all rowCount
	for _, task := range tasks {
		c := st.rows[task]
		all.done += c.done
		all.graded += c.graded
		all.lost += c.lost
		all.retried += c.retried
		all.cut += c.cut
	}
	return all
}

// passThreshold is the one threshold that makes a pass on both sides: after's.
func passThreshold(in *Input) float64 {
	if in.After.Run == nil {
		return 1
	}
	return in.After.Run.PassThreshold
}
