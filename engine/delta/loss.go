package delta

import (
	"fmt"
	"math"

	"assay/engine/record"
)

// muchLost is the share of lost rollouts, on either side, from which on a change has to
// outweigh what they could have done to it before it is called one. Under it, their bound
// stands in a warning. Convention, untested.
const muchLost = 0.1

// lose fills in what was lost, over all tasks in scope: one of which nothing came back is
// not even paired.
func (c *comparison) lose() {
	all := make([]int, len(c.table.tasks))
	for i := range all {
		all[i] = i
	}
	b, a := c.table.sides[before].rowsOf(all), c.table.sides[after].rowsOf(all)
	c.lost = [2]rowCount{b, a}
	c.report.LostBefore, c.report.LostAfter = 1-b.answered(), 1-a.answered()
	c.report.LossBound = oddsMissing(b.answered()) + oddsMissing(a.answered())
}

// undoneByLoss is true where much was lost and the target's change is not certain to
// have outlived it. Of a number no bound is known, so none outlives it.
func (r Report) undoneByLoss() bool {
	t := r.target()
	if math.Max(r.LostBefore, r.LostAfter) < muchLost || t.Delta == nil {
		return false
	}
	if t.Lo == nil || t.Kind == KindNumber {
		return true
	}
	return *t.Lo <= r.LossBound && *t.Hi >= -r.LossBound
}

// saysLost says what was lost, and what that could do.
func (r Report) saysLost() string {
	if r.LossBound == 0 {
		return "no rollout was lost"
	}
	return fmt.Sprintf("%.1f%% of rollouts were lost before and %.1f%% after, not at random, which alone could move a rate by up to %.3f",
		100*r.LostBefore, 100*r.LostAfter, r.LossBound)
}

// warnOfLoss says what was lost and what can be had back.
func (c *comparison) warnOfLoss() {
	b, a := c.lost[before], c.lost[after]
	if b.lost+a.lost == 0 {
		return
	}
	c.warnf("lost", c.lossFix(), "%s lost before, %d after: what is missing is not missing at random, and alone could move a rate by up to %.3f",
		record.Counted(b.lost, "rollout"), a.lost, c.report.LossBound)
}

// lossFix: what infrastructure lost is made again by a resume, what an agent lost is its
// result.
func (c *comparison) lossFix() string {
	fix := ""
	for side, run := range []*record.Run{c.in.Before.Run, c.in.After.Run} {
		if n := c.lost[side].retried; n > 0 {
			if fix != "" {
				fix += "; "
			}
			fix += fmt.Sprintf("assay resume %s makes %d of them again", run.ID, n)
		}
	}
	if c.lost[before].retried+c.lost[after].retried < c.lost[before].lost+c.lost[after].lost {
		if fix != "" {
			fix += "; "
		}
		fix += "the agent's own losses end with its faults: see assay show"
	}
	return fix
}
