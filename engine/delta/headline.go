package delta

import (
	"fmt"
	"math"
	"strings"

	"assay/engine/record"
)

// decide finds the headline: the first rule that holds, in this order.
func (c *comparison) decide() {
	for _, rule := range []func() (Headline, string){
		c.tooFewPaired, c.notComparable, c.notMeasured, c.failed, c.tooFewChanged, c.unresolved, c.tooManyLost, c.inconclusive, c.withinNoise, c.passed,
	} {
		if headline, line := rule(); headline != "" {
			c.report.Headline, c.report.Line, c.report.OK = headline, line, headline == Passed
			return
		}
	}
	c.report.Headline, c.report.Line = NoDifference, c.noDifference()
}

func (c *comparison) tooFewPaired() (Headline, string) {
	if c.report.Units >= minPaired {
		return "", ""
	}
	return InsufficientData, fmt.Sprintf("%s on both sides, %d are needed: hold out more tasks", record.Counted(c.report.Units, "situation"), minPaired)
}

func (c *comparison) notComparable() (Headline, string) {
	if len(c.report.NotComparable) == 0 {
		return "", ""
	}
	return NotComparable, strings.Join(c.report.NotComparable, "; ")
}

func (c *comparison) notMeasured() (Headline, string) {
	if c.target.Paired > 0 {
		return "", ""
	}
	return TargetNotMeasured, fmt.Sprintf("no paired task has %s on both sides: grade both runs, or name another target", c.target.Name)
}

func (c *comparison) failed() (Headline, string) {
	var why []string
	for i := range c.report.Metrics {
		if m := &c.report.Metrics[i]; m.Guard && m.wholly(bad) {
			why = append(why, "guard "+moved(m))
		}
	}
	if t := c.target; t.wholly(bad) && t.Band != nil && math.Abs(*t.Delta) > *t.Band {
		why = append(why, moved(t))
	}
	if o := c.optimised; o.fails {
		why = append(why, fmt.Sprintf("%s gained %+.3f [%.3f, %.3f] more than %s: over-optimised", c.plan.proxy, o.difference, o.lo, o.hi, c.plan.target))
	}
	if len(why) == 0 {
		return "", ""
	}
	return Fail, strings.Join(why, "; ")
}

func (c *comparison) tooFewChanged() (Headline, string) {
	t := c.target
	switch {
	case t.Units < minPaired:
		return InsufficientData, fmt.Sprintf("%s was measured on both sides in %s, %d are needed", t.Name, record.Counted(t.Units, "situation"), minPaired)
	case t.Units < fewPaired && t.Changed <= fewChanged:
		return InsufficientData, fmt.Sprintf("%d of %d situations changed on %s: with fewer than %d, that says nothing", t.Changed, t.Units, t.Name, fewPaired)
	}
	return "", ""
}

// unresolved: training is itself a draw, and an arm with one training seed is one draw.
func (c *comparison) unresolved() (Headline, string) {
	b, a := &c.in.Before, &c.in.After
	if b.Model == a.Model && strings.Join(b.TrainingSeeds, ",") == strings.Join(a.TrainingSeeds, ",") {
		return "", "" // the same weights: what changed is a prompt, tools or code
	}
	for side, s := range []*Side{b, a} {
		if len(s.TrainingSeeds) == 1 {
			return Unresolved, fmt.Sprintf("%s was trained with one seed (%s): a difference between trainings is not told from luck; train with more", sideName(side), s.TrainingSeeds[0])
		}
	}
	return "", ""
}

// tooManyLost: what was lost is not missing at random, not even where both sides lose
// alike, so a change that it could have made is none to build on.
func (c *comparison) tooManyLost() (Headline, string) {
	if !c.report.undoneByLoss() {
		return "", ""
	}
	return Inconclusive, fmt.Sprintf("%s; %s: mend what loses them", moved(c.target), c.report.saysLost())
}

func (c *comparison) inconclusive() (Headline, string) {
	if c.report.Noise != nil {
		return "", ""
	}
	return Inconclusive, moved(c.target) + "; neither side has two eval runs, so the noise between runs is not known: run with --runs 3"
}

func (c *comparison) withinNoise() (Headline, string) {
	t := c.target
	if !(t.wholly(good) || t.wholly(bad)) || math.Abs(*t.Delta) > *t.Band {
		return "", ""
	}
	return WithinNoise, fmt.Sprintf("%s; eval runs of one agent differ by up to %s", moved(t), number(t, *t.Band))
}

func (c *comparison) passed() (Headline, string) {
	t := c.target
	if !t.wholly(good) {
		return "", ""
	}
	line := moved(t)
	for i := range c.report.Metrics {
		m := &c.report.Metrics[i]
		if m.Guard {
			line += "; guard " + held(m)
		}
	}
	return Passed, line
}

// held says of a guard that did not fail what that is worth.
func held(m *Metric) string {
	switch {
	case m.Verdict == VerdictNoDifference && m.Lo == nil:
		return fmt.Sprintf("%s changed in none of %d situations", m.Name, m.Units)
	case m.CouldMiss == nil || m.Verdict == VerdictInsufficient:
		return fmt.Sprintf("%s cannot tell (%s)", m.Name, m.Verdict)
	case *m.CouldMiss == 0:
		return m.Name + " holds"
	}
	return fmt.Sprintf("%s holds, could have missed a turn for the worse of up to %s", m.Name, number(m, *m.CouldMiss))
}

// noDifference names the change that is not excluded.
func (c *comparison) noDifference() string {
	t := c.target
	switch {
	case t.Verdict == VerdictDegenerate:
		return fmt.Sprintf("%s is %s everywhere on both sides; up to %.0f%% of such situations could be otherwise", t.Name, number(t, *t.Before), 100*unseen(t.Units))
	case t.Changed == 0:
		return fmt.Sprintf("%s changed in none of %d situations; up to %.0f%% of such situations could change", t.Name, t.Units, 100*unseen(t.Units))
	}
	return fmt.Sprintf("%s; a change from %s to %s is not excluded", moved(t), signed(t, *t.Lo), signed(t, *t.Hi))
}

// moved says a metric's change with its interval.
func moved(m *Metric) string {
	s := fmt.Sprintf("%s %s -> %s (%s", m.Name, number(m, *m.Before), number(m, *m.After), signed(m, *m.Delta))
	if m.Lo != nil {
		s += fmt.Sprintf(" [%s, %s]", signed(m, *m.Lo), signed(m, *m.Hi))
	}
	if m.LowerIsBetter {
		s += ", lower is better"
	}
	return s + fmt.Sprintf(", %s)", record.Counted(m.Paired, "task"))
}

// number writes a value of a metric: rates with three decimals, other numbers with
// four digits.
func number(m *Metric, v float64) string {
	if m.Kind == KindNumber {
		return fmt.Sprintf("%.4g", v)
	}
	return fmt.Sprintf("%.3f", v)
}

// signed writes a change with its sign, and one that rounds to nothing without.
func signed(m *Metric, v float64) string {
	s := number(m, v)
	switch {
	case strings.Trim(s, "-0.") == "":
		return strings.TrimPrefix(s, "-")
	case v > 0:
		return "+" + s
	}
	return s
}
