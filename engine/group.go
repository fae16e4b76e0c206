package engine

import (
	"assay/engine/record"
)

// group is the rollouts of one task in one eval run, and which of them to make.
type group struct {
	posed   *record.Posed
	evalRun int
	repeats int
	// probing is mode rl on a training task: k=0 and 1 go first, and the rest only
	// unless both are graded and on one side of the threshold.
	probing bool
	// made marks the rollouts that are on disk already, by k.
	made []bool
	// probes are the rewards of k=0 and 1; nil where ungraded.
	probes [probeCount]*float64
	open   int // probes that have not come back
}

// probeCount is how many rollouts of a training task in mode rl only find out
// whether its group is worth making.
const probeCount = 2

// newGroup is a group of which nothing is made yet.
func newGroup(p *record.Posed, evalRun int, s Settings) *group {
	g := &group{posed: p, evalRun: evalRun, repeats: s.Repeats, made: make([]bool, s.Repeats)}
	g.probing = s.Mode == record.ModeRL && !p.HeldOut
	if g.probing {
		g.open = min(probeCount, s.Repeats)
	}
	return g
}

// take notes a rollout that is on disk or has come back. It reports whether that
// was the last open probe.
func (g *group) take(k int, reward *float64) bool {
	if k >= len(g.made) || g.made[k] {
		return false
	}
	g.made[k] = true
	if !g.probing || k >= probeCount {
		return false
	}
	g.probes[k] = reward
	g.open--
	return g.open == 0
}

// goesOn reports whether the rollouts after the probes are to be made.
func (g *group) goesOn(threshold float64) bool {
	if !g.probing {
		return true
	}
	if g.open > 0 {
		return false
	}
	passes := 0
	for _, r := range g.probes {
		if r == nil {
			return true // an ungraded probe settles nothing
		}
		if *r >= threshold {
			passes++
		}
	}
	return passes != 0 && passes != probeCount
}

// next are the ks to make now: the probes, or what follows once they are back.
func (g *group) next(threshold float64) []int {
	switch {
	case !g.probing:
		return g.missing(0, g.repeats)
	case g.open > 0:
		return g.missing(0, probeCount)
	case g.goesOn(threshold):
		return g.missing(probeCount, g.repeats)
	}
	return nil
}

// wants is how many rollouts the group is known to come to, made ones included.
func (g *group) wants(threshold float64) int {
	if g.probing && !g.goesOn(threshold) {
		return min(probeCount, g.repeats)
	}
	return g.repeats
}

func (g *group) missing(from, to int) []int {
	var ks []int
	for k := from; k < min(to, g.repeats); k++ {
		if !g.made[k] {
			ks = append(ks, k)
		}
	}
	return ks
}
