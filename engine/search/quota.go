package search

import (
	"fmt"

	"assay/engine/record"
)

// openEndedEvery is the open-ended share: one situation in ten. Convention,
// untested.
const openEndedEvery = 10

// quota is how many situations each kind is to have.
type quota struct {
	given int
	open  int
	grid  int  // array rows and, beyond them, points of the grid
	array bool // the grid ends with the array: the default, but in mode explore
}

// rest is what comes beside the given asks.
func (q quota) rest() int { return q.open + q.grid }

// total is every situation to be posed.
func (q quota) total() int { return q.given + q.rest() }

// quotaOf is the arithmetic of "how many": given asks first, then open-ended
// ones (a tenth, rounded down), the rest rows of the array and points of the
// grid. Without a number: as many as the array has rows and one open-ended ask for
// each nine. The rows are then all that is posed of the grid, but in mode explore,
// where a row that asks about nothing new gives its place away.
func quotaOf(in Input, given, rows int) (quota, error) {
	if in.Situations == 0 {
		open := rows / (openEndedEvery - 1)
		if weight, ok := in.ArmWeights[record.ArmOpenEnded]; ok {
			open = pinnedOpen(in.ArmWeights, weight, rows)
		}
		return quota{given: given, open: open, grid: rows, array: in.Mode != record.ModeExplore}, nil
	}
	if given > in.Situations {
		return quota{}, fmt.Errorf("situations: %d cannot hold the %d given asks, which always run: give at least %d, or fewer seeds (%d - %d = %d)",
			in.Situations, given, given, in.Situations, given, in.Situations-given)
	}
	q := quota{given: given, open: in.Situations / openEndedEvery}
	if weight, ok := in.ArmWeights[record.ArmOpenEnded]; ok {
		q.open = int(int64(in.Situations) * share(in.ArmWeights, weight) / ppm)
	}
	q.open = min(q.open, in.Situations-given)
	q.grid = in.Situations - given - q.open
	return q, nil
}

// pinnedOpen is how many open-ended asks stand beside so many rows when their
// share is pinned.
func pinnedOpen(weights map[string]float64, weight float64, rows int) int {
	part := share(weights, weight)
	if part >= ppm {
		return rows
	}
	return int(int64(rows) * part / (ppm - part))
}

// turn says which kind the n-th situation beside the given asks is: open-ended
// ones are spread evenly, so that a run that is stopped early has its share.
func (q quota) turn(n int) string {
	if rest := q.rest(); rest > 0 && (n+1)*q.open/rest > n*q.open/rest {
		return record.ArmOpenEnded
	}
	return record.ArmStructured
}
