package stats

import "math"

// StandardErrors are those over tasks of agreement, kappa and AC1, before they become
// intervals.
func (r Ratings) StandardErrors() (agreement, kappa, ac1 float64) {
	table := r.shares()
	share := table[0] + table[3]
	value, _ := table.kappaValue()
	return math.Sqrt(r.variance(func(row Rating) float64 { return one(row.Gold == row.Judge) - share })),
		math.Sqrt(r.variance(func(row Rating) float64 { return table.kappaInfluence(value, row) })),
		math.Sqrt(r.variance(table.ac1Influence))
}
