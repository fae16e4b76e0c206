package delta

import (
	"fmt"
	"math"

	"assay/engine/record"
	"assay/engine/stats"
)

const (
	// intervalMethod is the one whose coverage holds on the populations of this
	// package's coverage test: pass chances uniform, Beta(2,2) and a base of 0.9, null
	// and shifted, at 10, 20 and 30 tasks. Percentile and BCa cover 0.88 to 0.95 there,
	// studentised has ends without bound at 10 tasks.
	intervalMethod = stats.Expanded

	// draws of every bootstrap and of sign flips beyond the exact ones. 2,000 put the
	// Monte Carlo error of a p of 0.05 at 0.005, and of an end at a twentieth of the
	// interval's width.
	draws = 2000

	level = 0.95 // of every interval
	alpha = 0.05 // of every test; the interval's complement
)

// intervalSays is how a report names the method.
func intervalSays() string {
	return fmt.Sprintf("%s bootstrap over situations, %.0f%%, %d draws", intervalMethod, 100*level, draws)
}

// lineage finds the unit of a task: its situation, or the first ancestor's of a
// mutated one as far as the tasks at hand tell.
type lineage map[string]string // situation to the situation it was made from

func (l lineage) add(situation, parent string) {
	if parent != "" && parent != situation {
		l[situation] = parent
	}
}

func (l lineage) root(situation string) string {
	// A situation's id is a hash over its parent's, so a chain is finite; the bound is
	// for imported files that say otherwise.
	for range len(l) {
		parent, ok := l[situation]
		if !ok {
			break
		}
		situation = parent
	}
	return situation
}

// units collects per-task values into independent units, in the order in which their
// first tasks come.
type units struct {
	index map[string]int
	list  []stats.Unit
}

func (u *units) add(unit string, value float64) {
	if u.index == nil {
		u.index = map[string]int{}
	}
	at, ok := u.index[unit]
	if !ok {
		at = len(u.list)
		u.index[unit] = at
		u.list = append(u.list, stats.Unit{})
	}
	u.list[at].Sum += value
	u.list[at].Size++
}

// interval of the mean of the values, within [least, most]. What it is of names the
// stream of its draws, so that no other number moves it.
func interval(list []stats.Unit, least, most float64, of ...any) (lo, hi float64, ok bool) {
	rng := record.Stream(append([]any{"delta", "interval"}, of...)...)
	lo, hi, ok = stats.MeanInterval(list, intervalMethod, level, draws, rng)
	return math.Max(least, lo), math.Min(most, hi), ok
}

// changed counts the units that are not 0 but for rounding.
func changed(list []stats.Unit) int {
	n := 0
	for _, u := range list {
		if math.Abs(u.Sum) > rounding {
			n++
		}
	}
	return n
}

// unseen is the largest share of units that could be otherwise though none of n is
// (the score interval's upper end).
func unseen(n int) float64 {
	_, hi := stats.Wilson(0, n, stats.Z95)
	return hi
}
