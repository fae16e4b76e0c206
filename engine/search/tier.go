package search

import (
	"slices"

	"assay/engine/cover"
	"assay/engine/record"
)

// hardValue says whether a value makes a situation harder: a person who
// pushes or is wrong, a world that is not as they say, a tool that fails, a past
// that weighs. Convention, untested.
func hardValue(axis, value string) bool {
	switch axis {
	case record.AxisStance:
		return slices.Contains([]string{"adversarial", "conflicting", "mistaken", "boundary", "ambiguous"}, value)
	case record.AxisWorldState:
		state, ok := stateOf(value)
		return ok && state != record.EntityExists && state != record.EntityUnknown
	case record.AxisToolCondition:
		return value != "" && value != record.ConditionSuccess
	case record.AxisHistory:
		return value != "" && value != "fresh" && value != record.Unspecified
	}
	return false
}

// pressing says whether a person of this stance presses for something.
func pressing(stance string) bool {
	return slices.Contains([]string{"adversarial", "boundary", "conflicting", "hurried"}, stance)
}

// tiers tells the hard tier of a grid from the rest.
type tiers struct{ axes []string }

// tiersOf finds the axes on which a situation of the grid can be hard.
func tiersOf(m cover.Model) tiers {
	var t tiers
	for _, p := range m.Parameters {
		if slices.ContainsFunc(p.Values, func(v string) bool { return hardValue(p.Name, v) }) {
			t.axes = append(t.axes, p.Name)
		}
	}
	return t
}

// hard says whether a point is of the hard tier: it has a hard value on more than
// half of the axes that have one. Of the generated axes that is three of four; an
// evenly drawn point has 2.4 of them at half the faults, and 45% of the points
// have three.
func (t tiers) hard(axes record.Axes) bool {
	n := 0
	for _, axis := range t.axes {
		if hardValue(axis, axes[axis]) {
			n++
		}
	}
	return 2*n > len(t.axes)
}

// mix deals points from two tiers so that at any moment as near as can be to the
// wanted share of them are hard: a run that is cut short has the mix too.
type mix struct {
	share int // wanted, in millionths; below 0 leaves the mix as it falls
	hard  int // dealt
	dealt int
}

func mixOf(share float64) mix {
	if share <= 0 {
		return mix{share: -1}
	}
	return mix{share: int(share*ppm + 0.5)}
}

// wantsHard says which tier the next point is to be of.
func (m *mix) wantsHard() bool { return m.hard*ppm < m.share*(m.dealt+1) }

func (m *mix) deal(hard bool) {
	m.dealt++
	if hard {
		m.hard++
	}
}
