package delta

import (
	"fmt"
	"math"

	"assay/engine/record"
)

// warn says what a reader of the numbers must know.
func (c *comparison) warn() {
	c.warnOfRuns()
	c.warnOfRows()
	c.warnOfGuards()
	c.warnOfTests()
	c.warnOfProxy()
	c.warnOfSlices()
}

func (c *comparison) warnf(code, fix, format string, args ...any) {
	c.report.Warnings = append(c.report.Warnings, record.Warning{Code: code, Text: fmt.Sprintf(format, args...), Fix: fix})
}

// warnOfRuns: settings of the two runs that differ.
func (c *comparison) warnOfRuns() {
	b, a := c.in.Before.Run, c.in.After.Run
	if b.Repeats != a.Repeats {
		c.warnf("k", "repeat both sides alike", "k is %d before and %d after", b.Repeats, a.Repeats)
	}
	if b.PassThreshold != a.PassThreshold {
		c.warnf("threshold", "", "a pass was %g before and is %g after; both sides are read at %g", b.PassThreshold, a.PassThreshold, a.PassThreshold)
	}
	if was, is := temperatures(c.table.sides[before].sampling), temperatures(c.table.sides[after].sampling); was != is {
		c.warnf("temperature", "", "temperature is %s before and %s after", was, is)
	}
	for side, run := range []*record.Run{b, a} {
		name := sideName(side)
		if run.Hollow {
			c.warnf("hollow", "see assay show "+run.ID, "%s is hollow: no rollout called a tool", name)
		}
		if run.StoppedBecause != "" && run.StoppedBecause != record.StoppedComplete {
			c.warnf("incomplete", "assay resume "+run.ID, "%s ended %s, not situations_complete", name, run.StoppedBecause)
		}
	}
	if c.report.Scope == ScopeAllTasks {
		c.warnf("all_tasks", "leave out --all-tasks for the number that counts", "training tasks are in these numbers")
	}
	if c.report.Trained > 0 {
		c.warnf("trained", "", "%s left out on both sides: exported for training", record.Counted(c.report.Trained, "task"))
	}
	if c.report.Unpaired > 0 {
		c.warnf("unpaired", "run after with --tasks "+b.ID, "%s dropped, being on one side only: %s", record.Counted(c.report.Unpaired, "task"), named(c.report.UnpairedTasks))
	}
}

func sideName(side int) string {
	if side == before {
		return "before"
	}
	return "after"
}

// warnOfRows: rollouts that are missing from the numbers, and replies cut short.
func (c *comparison) warnOfRows() {
	b, a := c.table.sides[before].rowsOf(c.paired), c.table.sides[after].rowsOf(c.paired)
	c.warnOfLoss()
	if math.Abs(a.cutShare()-b.cutShare()) > truncatedGap {
		c.warnf("truncation", "raise agent.max_tokens on both sides", "replies cut at their length limit: %.1f%% before, %.1f%% after", 100*b.cutShare(), 100*a.cutShare())
	}
	if m := c.metric(PassAt1); m == nil || m.Paired == 0 {
		return
	}
	if gb, ga := b.gradedShare(), a.gradedShare(); gb < 1 || ga < 1 {
		c.report.SelectionBound = oddsMissing(gb) + oddsMissing(ga)
		c.warnf("graded_share", "assay grade --only-missing", "%.1f%% of rollouts graded before, %.1f%% after: their selection alone could move the delta by up to %.3f",
			100*gb, 100*ga, c.report.SelectionBound)
	}
	for side := range c.table.sides {
		if n := c.table.sides[side].notFinite; n > 0 {
			c.warnf("not_finite", "", "%d marker values %s are no finite numbers and were left out", n, sideName(side))
		}
	}
}

// oddsMissing is d/(1-d) for an ungraded share d: how far the mean of the graded can be
// from the mean of all, relative to the graded.
func oddsMissing(graded float64) float64 {
	if graded <= 0 {
		return 1
	}
	return math.Min(1, (1-graded)/graded)
}

func (c rowCount) cutShare() float64 {
	if c.done == 0 {
		return 0
	}
	return float64(c.cut) / float64(c.done)
}

// warnOfGuards: a guard that could not have failed did not hold.
func (c *comparison) warnOfGuards() {
	for i := range c.report.Metrics {
		m := &c.report.Metrics[i]
		if !m.Guard {
			continue
		}
		switch m.Verdict {
		case VerdictNotMeasured:
			c.warnf("guard_cannot_fail", "", "guard %s cannot fail: no paired task has it on both sides", m.Name)
		case VerdictDegenerate:
			c.warnf("guard_cannot_fail", "", "guard %s cannot fail on these tasks: it is %s everywhere on both sides", m.Name, number(m, *m.Before))
		case VerdictInsufficient:
			c.warnf("guard_low", "pose more held-out tasks", "guard %s rests on %s, of which %d changed: too few to say that it holds", m.Name, record.Counted(m.Units, "situation"), m.Changed)
		}
	}
}

// warnOfTests: where p and the interval disagree, how many metrics were looked at, and
// what the noise rests on.
func (c *comparison) warnOfTests() {
	tests := 0
	var many []string // decided alone, and not among as many
	for i := range c.report.Metrics {
		m := &c.report.Metrics[i]
		if m.P == nil || m.Lo == nil {
			continue
		}
		tests++
		switch outside := m.wholly(good) || m.wholly(bad); m.disputed() {
		case "p":
			c.warnf("p_disagrees", "read it as undecided", "%s is called %s by its interval [%s, %s], which %s 0, and the sign-flip p is %.3g",
				m.Name, m.Verdict, signed(m, *m.Lo), signed(m, *m.Hi), excludes(outside), *m.P)
		case "p_holm":
			many = append(many, m.Name)
		}
		if *m.Lo == *m.Hi && *m.Delta != 0 {
			c.warnf("no_spread", "", "%s: every situation moved by exactly %s, so its interval has no width; that is the data's, not certainty", m.Name, signed(m, *m.Delta))
		}
	}
	if len(many) > 0 {
		c.warnf("p_holm_disagrees", "read it as undecided unless it was the one question asked", "decided by their own intervals, undecided among %d metrics (p_holm is %.2f or more): %s", tests, alpha, named(many))
	}
	if tests > 1 {
		c.warnf("family", "read p_holm", "%d metrics at %.2f: the chance of one false alarm among them is at most %.2f", tests, alpha, c.report.FamilyWise)
	}
	if n := c.report.Noise; n != nil && n.DF == 1 {
		c.warnf("rough_noise", "give both sides three eval runs", "the noise between eval runs rests on two runs: rough")
	}
	if t := c.target; t != nil && t.Before != nil && t.Kind != KindNumber && !t.LowerIsBetter && *t.Before >= ceiling {
		c.warnf("ceiling", "pose harder situations", "%s was %.3f before: at most %.3f is left to gain", t.Name, *t.Before, 1-*t.Before)
	}
}

func excludes(outside bool) string {
	if outside {
		return "excludes"
	}
	return "includes"
}

// warnOfProxy: the training reward rose and the target did not follow.
func (c *comparison) warnOfProxy() {
	if c.plan.proxy == "" || c.plan.proxy == c.plan.target {
		return
	}
	m := c.metric(c.plan.proxy)
	if m.wholly(good) && c.target.Verdict != VerdictImproved && !c.optimised.fails {
		c.warnf("proxy", "label rollouts where the two disagree", "the proxy %s rose by %s while %s is %s", m.Name, signed(m, *m.Delta), c.target.Name, c.target.Verdict)
	}
}

// warnOfSlices: groups that went down under a pooled rise, and tasks whose stance is
// not known.
func (c *comparison) warnOfSlices() {
	sign, unlabelled := c.plan.good(c.plan.target), 0
	var down []string
	for _, s := range c.report.Slices {
		if s.By == record.AxisStance && s.Value == unlabelledValue {
			unlabelled = s.Paired
		}
		if s.Delta != nil && !s.LowN && sign**s.Delta < 0 {
			down = append(down, fmt.Sprintf("%s %s (%+.3f)", s.By, s.Value, *s.Delta))
		}
	}
	if c.target.Delta != nil && sign**c.target.Delta > 0 && len(down) > 0 {
		c.warnf("slices_down", "see slices", "%s rose, and went down on %s", c.target.Name, named(down))
	}
	if float64(unlabelled) > unlabelledShare*float64(c.report.Paired) {
		c.warnf("unlabelled", "", "%d of %d tasks have no stance: they count as unlabelled, not as ordinary", unlabelled, c.report.Paired)
	}
}
