package delta

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/engine/record"
	"assay/engine/stats"
)

// fewAttempts is under how many attempts a task pass@k and pass^k say little: a task's
// rate then has four values or fewer. Convention, untested.
const fewAttempts = 4

// PassOptions say what to read.
type PassOptions struct {
	// AllTasks adds the training tasks; of those, a run in rl mode gives its probes alone,
	// since what it did after them depends on how they went.
	AllTasks bool
	Mode     record.Mode
}

// Pass says what a run came to, from its tasks' rates (one a task and eval run, all
// graded by one scorer version): pass@1 is the mean over tasks of c/n, with n the
// graded rollouts of the task over all eval runs and c the passes; pass@k and pass^k
// (Chen et al. 2021, Yao et al. 2024) are means over the tasks with n of k or more. k
// is the run's repeats; under 1, the commonest group size is taken. Intervals resample
// situations. A run without held-out tasks is a [record.Problem] unless AllTasks is set.
func Pass(rates []record.TaskRate, k int, o PassOptions) (PassReport, error) {
	if k < 1 {
		k = commonestGroup(rates)
	}
	r := PassReport{Scope: ScopeHeldOut, K: k, Interval: intervalSays(), Warnings: []record.Warning{}}
	if o.AllTasks {
		r.Scope = ScopeAllTasks
	}
	tasks := tally(rates, o)
	if len(tasks) == 0 {
		return r, record.Problemf("no_held_out", "add --all-tasks to read the training tasks, or run with a larger holdout",
			"none of the run's tasks is held out, so there is no number that counts")
	}
	r.count(tasks)
	r.estimate(tasks)
	r.warn(tasks)
	return r, nil
}

// taskTally is one task over all eval runs.
type taskTally struct {
	id, unit           string
	n, c               int // graded rollouts that count, passes among them
	rows               int
	done, graded, lost int
	partial            int
}

func (t *taskTally) rate() float64 { return float64(t.c) / float64(t.n) }

// tally adds up the eval runs of each task in scope, ordered by task id.
func tally(rates []record.TaskRate, o PassOptions) []taskTally {
	family := lineage{}
	for i := range rates {
		family.add(rates[i].SituationID, rates[i].Parent)
	}
	index := map[string]int{}
	var tasks []taskTally
	for i := range rates {
		rate := &rates[i]
		if !rate.HeldOut && !o.AllTasks {
			continue
		}
		at, ok := index[rate.TaskID]
		if !ok {
			at = len(tasks)
			index[rate.TaskID] = at
			tasks = append(tasks, taskTally{id: rate.TaskID, unit: family.root(rate.SituationID)})
		}
		t := &tasks[at]
		t.done += rate.Done
		t.graded += rate.Graded
		t.lost += rate.Lost
		t.partial += rate.Partial
		if !rate.HeldOut && o.Mode == record.ModeRL {
			t.n, t.c, t.rows = t.n+rate.ProbesGraded, t.c+rate.ProbesPassed, t.rows+rate.ProbesGraded
			continue
		}
		t.n, t.c, t.rows = t.n+rate.Graded, t.c+rate.Passed, t.rows+rate.Done
	}
	slices.SortFunc(tasks, func(a, b taskTally) int { return strings.Compare(a.id, b.id) })
	return tasks
}

// commonestGroup is how many rollouts most tasks have in one eval run, the smaller of
// two that are as common; at least 1.
func commonestGroup(rates []record.TaskRate) int {
	sizes := map[int]int{}
	for i := range rates {
		sizes[rates[i].Done+rates[i].Lost]++
	}
	best := 1
	for size, count := range sizes {
		if size >= 1 && (count > sizes[best] || count == sizes[best] && size < best) {
			best = size
		}
	}
	return best
}

func (r *PassReport) count(tasks []taskTally) {
	seen := map[string]bool{}
	for i := range tasks {
		t := &tasks[i]
		r.Rows += t.rows
		r.Unjudged += t.done - t.graded
		r.Partial += t.partial
		r.Lost += t.lost
		if t.n > 0 {
			r.Tasks++
			seen[t.unit] = true
		}
	}
	r.Units = len(seen)
}

func (r *PassReport) estimate(tasks []taskTally) {
	r.PassAt1 = r.over("pass_at_1", tasks, 1, func(t *taskTally) float64 { return t.rate() })
	if r.K == 1 { // both are pass@1, and one number has one interval
		r.PassAtK, r.PassPowK = r.PassAt1, r.PassAt1
		if r.PassAt1.Value != nil {
			r.Headroom = new(float64)
		}
		return
	}
	r.PassAtK = r.over("pass_at_k", tasks, r.K, func(t *taskTally) float64 { return stats.PassAtK(t.n, t.c, r.K) })
	r.PassPowK = r.over("pass_pow_k", tasks, r.K, func(t *taskTally) float64 { return stats.PassPowK(t.n, t.c, r.K) })
	if r.PassAtK.Value == nil {
		return
	}
	atOne := 0.0
	for i := range tasks {
		if t := &tasks[i]; t.n >= r.K {
			atOne += t.rate()
		}
	}
	headroom := *r.PassAtK.Value - atOne/float64(r.PassAtK.N)
	r.Headroom = &headroom
}

// over is the mean of a value over the tasks with at least so many graded rollouts.
func (r *PassReport) over(name string, tasks []taskTally, least int, value func(*taskTally) float64) stats.Estimate {
	var u units
	n, first, varies := 0, math.NaN(), false
	for i := range tasks {
		t := &tasks[i]
		if t.n < least {
			continue
		}
		v := value(t)
		if n == 0 {
			first = v
		}
		varies = varies || v != first
		u.add(t.unit, v)
		n++
	}
	if n == 0 {
		return stats.Estimate{}
	}
	mean := stats.UnitMean(u.list)
	if !varies {
		if len(u.list) >= stats.MinUnits {
			r.warnf("no_variation", "", "%s: all %d tasks came to %.2f, so the data show no spread to take an interval from; up to %.0f%% of such tasks could be otherwise",
				name, n, mean, 100*unseen(len(u.list)))
		}
		return stats.Point(mean, n)
	}
	lo, hi, ok := interval(u.list, 0, 1, name)
	if !ok {
		return stats.Point(mean, n)
	}
	return stats.NewEstimate(mean, lo, hi, n)
}

func (r *PassReport) warnf(code, fix, format string, args ...any) {
	r.Warnings = append(r.Warnings, record.Warning{Code: code, Text: fmt.Sprintf(format, args...), Fix: fix})
}

func (r *PassReport) warn(tasks []taskTally) {
	if r.Tasks == 0 {
		r.warnf("no_reward", "name a marker, a verifier or a judge under grade.reward, then assay grade", "none of the %d rollouts has a reward, so there is no pass rate", r.Rows)
	}
	if r.Tasks > 0 && r.Units < stats.MinUnits {
		r.warnf("few_tasks", "hold out more tasks", "%s: too few for an interval", record.Counted(r.Units, "situation"))
	}
	if r.Unjudged > 0 {
		r.warnf("unjudged", "assay grade --only-missing", "%s of %d without a usable verdict: left out, not counted as failures", record.Counted(r.Unjudged, "rollout"), r.Rows)
	}
	if r.Lost > 0 {
		r.warnf("lost", "assay resume makes again what infrastructure lost; what the agent lost is its result", "%s lost: what is missing is not missing at random", record.Counted(r.Lost, "rollout"))
	}
	if r.K < fewAttempts {
		r.warnf("small_k", "raise simulate.repeats", "k is %d: pass@k and pass^k of so few attempts say little", r.K)
	}
	if short := shortOf(tasks, r.K); len(short) > 0 {
		r.warnf("ragged", "assay resume tops groups up", "%s fewer than k = %d graded rollouts and stand outside pass@k and pass^k: %s",
			have(len(short)), r.K, named(short))
	}
	if allOneWay(tasks) {
		r.warnf("one_verdict", "read a few rollouts and check the judge", "every graded rollout got the same verdict")
	}
	if r.Scope == ScopeAllTasks {
		r.warnf("all_tasks", "leave out --all-tasks for the number that counts", "training tasks are in this number")
	}
}

// shortOf names the graded tasks with fewer than k graded rollouts.
func shortOf(tasks []taskTally, k int) []string {
	var short []string
	for i := range tasks {
		if t := &tasks[i]; t.n < k {
			short = append(short, t.id)
		}
	}
	return short
}

// allOneWay is true where no verdict differs from another over enough of them to look
// odd.
func allOneWay(tasks []taskTally) bool {
	n, c := 0, 0
	for i := range tasks {
		n += tasks[i].n
		c += tasks[i].c
	}
	return n >= minPaired && (c == 0 || c == n)
}

func have(tasks int) string {
	if tasks == 1 {
		return "1 task has"
	}
	return fmt.Sprintf("%d tasks have", tasks)
}

// namesShown is how many ids a sentence can carry. Convention.
const namesShown = 5

// named lists the first few ids.
func named(ids []string) string {
	if len(ids) <= namesShown {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:namesShown], ", "), len(ids)-namesShown)
}
