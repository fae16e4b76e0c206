package stats

import (
	"fmt"
	"math"
)

// GradedPair is one task with its judged rows in both arms.
type GradedPair struct {
	Unit          string // see [GradedTask]
	Before, After []Graded
}

// CorrectedChange is a paired delta three ways, see [Corrected]. The corrected number and
// lambda are nil unless both arms have [MinCorrectedTasks] tasks with a label.
type CorrectedChange struct {
	Corrected Estimate `json:"corrected"`
	JudgeOnly Estimate `json:"judge_only"`
	GoldOnly  Estimate `json:"gold_only"`
	Lambda    *float64 `json:"lambda"`
	// Paired is how many tasks have a label on both sides. N of the gold number counts
	// tasks with a label on either.
	Paired int `json:"paired"`
	// MissingBefore and MissingAfter are how many more tasks need a label in each arm.
	MissingBefore int `json:"missing_before"`
	MissingAfter  int `json:"missing_after"`
}

// CorrectedDelta is the mean over tasks of after less before, corrected for the judge as
// [CorrectedRate] is, with one lambda for both arms, as one judge graded both.
//
// The variance is that of the difference of both arms' influence values, task by task.
// Where both sides of a task are labelled that is the variance of the paired rectifier:
// what gold and judge disagree by on both sides cancels. Where one side is, the
// two arms' variances add up. The judge's part is paired in either case.
func CorrectedDelta(pairs []GradedPair, z float64) (CorrectedChange, error) {
	units := unitNumbers{}
	before, after := newArm(len(pairs)), newArm(len(pairs))
	for i, pair := range pairs {
		units.add(pair.Unit)
		if err := before.add(i, pair.Before); err != nil {
			return CorrectedChange{}, fmt.Errorf("before: %w", err)
		}
		if err := after.add(i, pair.After); err != nil {
			return CorrectedChange{}, fmt.Errorf("after: %w", err)
		}
	}
	before.finish(units)
	after.finish(units)
	c := CorrectedChange{
		MissingBefore: max(0, MinCorrectedTasks-before.labelled.tasks),
		MissingAfter:  max(0, MinCorrectedTasks-after.labelled.tasks),
	}
	if len(pairs) == 0 {
		return c, nil
	}
	c.JudgeOnly = units.change(after.judge.minus(before.judge), after.all, before.all, z)
	c.JudgeOnly.N = len(pairs)
	if before.labelled.tasks == 0 || after.labelled.tasks == 0 {
		return c, nil
	}
	either := 0
	for i := range pairs {
		switch {
		case before.weights[i] > 0 && after.weights[i] > 0:
			c.Paired++
			either++
		case before.weights[i] > 0 || after.weights[i] > 0:
			either++
		}
	}
	gold := after.gold.minus(before.gold)
	c.GoldOnly = units.change(gold, after.labelled, before.labelled, z)
	c.GoldOnly.N = either
	if c.MissingBefore > 0 || c.MissingAfter > 0 {
		return c, nil
	}
	help := after.judgeLabelled.minus(after.judge).minus(before.judgeLabelled.minus(before.judge))
	lambda := units.tune(gold, help)
	c.Lambda = &lambda
	c.Corrected = units.change(gold.minus(help.times(lambda)), after.labelled, before.labelled, z)
	c.Corrected.N = len(pairs)
	return c, nil
}

// change is the estimate of a difference of two means, with Student's t for the arm of
// fewer units. As in [unitNumbers.rate], the variance counts one disagreement in each arm
// that no label has shown.
func (u unitNumbers) change(m moment, after, before sample, z float64) Estimate {
	fewer := after
	if before.units < after.units {
		fewer = before
	}
	value := math.Min(1, math.Max(-1, m.mean))
	if fewer.units < MinUnits {
		return Point(value, fewer.tasks)
	}
	variance := u.variance(m, fewer) + after.unseen() + before.unseen()
	half := fewer.t(z) * math.Sqrt(variance)
	return NewEstimate(value, math.Max(-1, value-half), math.Min(1, value+half), fewer.tasks)
}
