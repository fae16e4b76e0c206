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

// RateErrors are lambda and the standard errors of the corrected and the gold-only rate,
// before they become intervals.
func RateErrors(tasks []GradedTask) (lambda, corrected, gold float64, err error) {
	units, a := unitNumbers{}, newArm(len(tasks))
	for i, task := range tasks {
		units.add(task.Unit)
		if err := a.add(i, task.Rows); err != nil {
			return 0, 0, 0, err
		}
	}
	a.finish(units)
	help := a.judgeLabelled.minus(a.judge)
	lambda = units.tune(a.gold, help)
	return lambda, math.Sqrt(units.variance(a.gold.minus(help.times(lambda)), a.labelled)), math.Sqrt(units.variance(a.gold, a.labelled)), nil
}

// DeltaErrors are lambda and the standard errors of the corrected and the gold-only
// change, and gold's in each arm, before they become intervals.
func DeltaErrors(pairs []GradedPair) (lambda, corrected, gold, goldBefore, goldAfter float64, err error) {
	units, before, after := unitNumbers{}, newArm(len(pairs)), newArm(len(pairs))
	for i, pair := range pairs {
		units.add(pair.Unit)
		if err := before.add(i, pair.Before); err != nil {
			return 0, 0, 0, 0, 0, err
		}
		if err := after.add(i, pair.After); err != nil {
			return 0, 0, 0, 0, 0, err
		}
	}
	before.finish(units)
	after.finish(units)
	both := after.gold.minus(before.gold)
	help := after.judgeLabelled.minus(after.judge).minus(before.judgeLabelled.minus(before.judge))
	lambda = units.tune(both, help)
	of := func(m moment) float64 { return math.Sqrt(units.variance(m, after.labelled)) }
	return lambda, of(both.minus(help.times(lambda))), of(both), of(before.gold), of(after.gold), nil
}
