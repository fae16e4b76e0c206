package stats

import "math"

// Graded is one row with the judge's verdict on it and, where it was labelled, gold.
type Graded struct {
	// Judge is the judge's verdict, 0 to 1: 1 a pass.
	Judge float64
	// Gold is what the label says, 0 to 1; it means nothing unless Labelled.
	Gold     float64
	Labelled bool
	// Inclusion is the chance, above 0 and at most 1, with which the row was drawn for
	// labelling. It may rest on what was known of every row, such as the judge's verdict,
	// and on nothing else. It is read of labelled rows alone.
	Inclusion float64
}

// GradedTask is one task with all its judged rows. Its rate is their mean.
type GradedTask struct {
	// Unit names what tasks share that stand or fall together, such as the situation that
	// they are phrasings of; an empty one is a unit by itself.
	Unit string
	Rows []Graded
}

// MinCorrectedTasks is how many tasks must have a label drawn at random before a
// corrected rate has an interval, and in each arm before there is a corrected delta:
// from where means of two-valued things are usually taken for normal. Convention; what
// the intervals come to there is in the package's documentation.
const MinCorrectedTasks = 30

// Corrected is one number three ways: with the judge's errors corrected by the labels,
// from the judge alone, and from the labels alone. N counts tasks, for gold those with a
// label.
type Corrected struct {
	Corrected Estimate `json:"corrected"`
	JudgeOnly Estimate `json:"judge_only"`
	GoldOnly  Estimate `json:"gold_only"`
	// Lambda is how much the judge counts: 0 not at all, 1 as much as if it were gold. It
	// is nil where there is no corrected number.
	Lambda *float64 `json:"lambda"`
	// Missing is how many more tasks need a label before a corrected rate has an interval.
	Missing int `json:"missing"`
}

// CorrectedRate is the mean over tasks of their rates by prediction-powered inference
// (Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023) with the tuned weight of PPI++
// (Angelopoulos, Duchi and Zrnic 2023), with intervals at the normal quantile z. It is
// about the population from which the tasks were drawn. No row is left out: a task
// whose rows have no verdict must be, by the caller, who says so.
//
// With F the judge's mean over all tasks, and G and H the means of gold and of the judge
// over labelled rows, weighted by inverse inclusion chances (Hajek 1971), it is
// G + lambda (F - H), kept within 0 and 1. The labelled rows are among all rows, so
// lambda is that of PPI++ times 1 + n/N, and the estimate is the regression estimator of
// double sampling (Cochran 1977, section 12.6). lambda is what makes the variance least,
// kept within 0 and 1.
//
// It helps as far as the judge tells what gold will say: with few labels among many
// tasks the interval shrinks to about sqrt(1 - rho^2) of that of gold alone, rho being the
// correlation of the two. A judge that never varies, guesses or contradicts gold has a
// lambda near 0, and gold alone is what is left; so it is where all rows are labelled.
func CorrectedRate(tasks []GradedTask, z float64) (Corrected, error) {
	units := unitNumbers{}
	a := newArm(len(tasks))
	for i, task := range tasks {
		units.add(task.Unit)
		if err := a.add(i, task.Rows); err != nil {
			return Corrected{}, err
		}
	}
	a.finish(units)
	c := Corrected{Missing: max(0, MinCorrectedTasks-a.labelled.tasks)}
	if len(tasks) == 0 {
		return c, nil
	}
	c.JudgeOnly = units.rate(a.judge, a.all, z)
	if a.labelled.tasks == 0 {
		return c, nil
	}
	c.GoldOnly = units.rate(a.gold, a.labelled, z)
	help := a.judgeLabelled.minus(a.judge)
	lambda := units.tune(a.gold, help)
	c.Lambda = &lambda
	c.Corrected = units.rate(a.gold.minus(help.times(lambda)), a.labelled, z)
	c.Corrected.N = len(tasks)
	if c.Missing > 0 {
		c.Corrected.Lo, c.Corrected.Hi = nil, nil
	}
	return c, nil
}

// rate is the estimate of a mean of things from 0 to 1: the score interval at the
// effective number of independent tasks, with Student's t for so many units. The variance
// counts one disagreement that no label has shown: without it a judge that agrees on all
// of few labels passes for gold, and its interval for as good as certain.
func (u unitNumbers) rate(m moment, s sample, z float64) Estimate {
	value := math.Min(1, math.Max(0, m.mean))
	if s.units < MinUnits {
		return Point(value, s.tasks)
	}
	variance := u.variance(m, s) + s.unseen()
	size := (value*(1-value) + 1/s.size) / variance
	lo, hi := WilsonShare(value, size, s.t(z))
	return NewEstimate(value, lo, hi, s.tasks)
}
