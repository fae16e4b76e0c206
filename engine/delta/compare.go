package delta

import (
	"math"

	"assay/engine/record"
	"assay/engine/stats"
)

// Compare says whether after differs from before, on the held-out tasks that both
// have. It is an error when a name in the input is no metric or field of either run;
// everything else that is wrong with the runs is in the report.
func Compare(in Input) (Report, error) {
	markers := markerNames(&in)
	plan, err := newPlan(&in, markers)
	if err != nil {
		return Report{}, err
	}
	c := newComparison(&in, &plan, markers)
	c.measure()
	c.lose()
	c.slice()
	c.optimised = c.proxyRule()
	c.warn()
	c.decide()
	return *c.report, nil
}

// comparison is one report in the making.
type comparison struct {
	in     *Input
	plan   *plan
	table  *table
	report *Report
	paired []int // tasks

	target *Metric
	lost   [2]rowCount // by side, over all tasks in scope
	// values are the measured metrics' task values, by name.
	values    map[string]pair
	optimised overOptimised
}

func newComparison(in *Input, plan *plan, markers []string) *comparison {
	t := newTable(in, markers)
	paired, alone := t.paired()
	r := &Report{Before: in.Before.Run.ID, After: in.After.Run.ID, Scope: ScopeHeldOut, Target: plan.target,
		Paired: len(paired), Unpaired: len(alone), Units: t.unitsOf(paired), Trained: t.trained, UnpairedTasks: []string{},
		Interval: intervalSays(), Metrics: []Metric{}, Slices: []Slice{}, Warnings: []record.Warning{}}
	if in.AllTasks {
		r.Scope = ScopeAllTasks
	}
	if in.Before.Scorer == in.After.Scorer {
		r.Scorer = in.After.Scorer
	}
	for _, task := range alone {
		r.UnpairedTasks = append(r.UnpairedTasks, t.tasks[task].Task.ID)
	}
	r.Causes = t.reasons(in, plan, paired, alone)
	r.NotComparable = sentences(r.Causes)
	return &comparison{in: in, plan: plan, table: t, report: r, paired: paired, values: map[string]pair{}}
}

// measure makes the metrics that both sides share, and those that were asked for.
func (c *comparison) measure() {
	for at, name := range c.table.metrics {
		asked := name == c.plan.target || name == c.plan.proxy || c.plan.guards[name]
		if !asked && (!c.table.sameScorers(at) || !c.table.shared(at, c.paired)) {
			continue
		}
		m, p, noise := c.table.measure(at, c.paired, c.plan)
		c.report.Metrics = append(c.report.Metrics, m)
		c.values[name] = p
		if name == c.plan.target {
			c.report.Noise = noise
		}
	}
	c.adjust()
	c.target = c.metric(c.plan.target)
}

// metric is the measured metric of a name; the pointer stays good.
func (c *comparison) metric(name string) *Metric {
	for i := range c.report.Metrics {
		if c.report.Metrics[i].Name == name {
			return &c.report.Metrics[i]
		}
	}
	return nil
}

// adjust fills in the Holm-adjusted p-values and the bound over the family.
func (c *comparison) adjust() {
	ps, tests := make([]float64, len(c.report.Metrics)), 0
	for i := range c.report.Metrics {
		ps[i] = math.NaN()
		if p := c.report.Metrics[i].P; p != nil {
			ps[i] = *p
			tests++
		}
	}
	for i, p := range stats.Holm(ps) {
		if !math.IsNaN(p) {
			c.report.Metrics[i].PHolm = &p
		}
	}
	c.report.FamilyWise = stats.FamilyWise(tests, alpha)
}

func (c *comparison) slice() {
	for at, name := range c.table.metrics {
		if name == c.plan.target {
			c.report.Slices = c.table.slicesOf(at, c.paired, c.plan)
		}
	}
}

// overOptimised is the paired difference of gains, proxy minus target.
type overOptimised struct {
	fails      bool
	difference float64
	lo, hi     float64
}

// proxyRule compares the gain of the training reward with the target's, task by task:
// where the proxy gained more with its interval above 0, it was optimised at the
// target's cost (Gao, Schulman and Hilton 2023 name the effect).
func (c *comparison) proxyRule() overOptimised {
	if c.plan.proxy == "" || c.plan.proxy == c.plan.target {
		return overOptimised{}
	}
	proxy, target := c.values[c.plan.proxy], c.values[c.plan.target]
	gain := make(map[int]float64, len(target.tasks))
	for i, task := range target.tasks {
		gain[task] = c.plan.good(c.plan.target) * (target.after[i] - target.before[i])
	}
	var u units
	for i, task := range proxy.tasks {
		if g, ok := gain[task]; ok {
			u.add(c.table.unit[task], c.plan.good(c.plan.proxy)*(proxy.after[i]-proxy.before[i])-g)
		}
	}
	if len(u.list) < minPaired {
		return overOptimised{}
	}
	lo, hi, ok := interval(u.list, math.Inf(-1), math.Inf(1), c.plan.proxy, "minus", c.plan.target)
	return overOptimised{fails: ok && lo > 0, difference: stats.UnitMean(u.list), lo: lo, hi: hi}
}
