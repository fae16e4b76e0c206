package stats

import (
	"fmt"
	"math"
)

// Rating is one row that both gold and the judge gave a verdict on.
type Rating struct {
	Gold, Judge bool // true is a pass
	// Task names what rows share that stand or fall together: the task, or the
	// situation of which it is a phrasing. Intervals are clustered by it.
	Task string
	// Inclusion is the chance, above 0 and at most 1, with which the row was drawn for
	// labelling. A row without one cannot be counted.
	Inclusion float64
}

// Ratings are rows of one judge, ready to be estimated from. Every estimate is
// weighted by inverse inclusion chances whose sum is taken as the size of the whole
// (Hajek 1971), so only their ratios matter. Every interval is linearised over tasks
// (Binder 1983) and widened for few of them. With one row a task and equal chances they are
// those of [Confusion]. The zero value holds nothing.
type Ratings struct {
	rows []Rating
	task []int // of each row, by first appearance
	// weight of each row, over all rows 1 on average, and of each task.
	weight, tasks []float64
}

// NewRatings takes rows as they are. It refuses an inclusion chance outside (0, 1].
func NewRatings(rows []Rating) (Ratings, error) {
	r := Ratings{rows: rows, task: make([]int, len(rows)), weight: make([]float64, len(rows))}
	total := 0.0
	for i, row := range rows {
		if !(row.Inclusion > 0 && row.Inclusion <= 1) {
			return Ratings{}, fmt.Errorf("rating %d of task %q: inclusion chance %v is not above 0 and at most 1", i, row.Task, row.Inclusion)
		}
		// Chances relative to the first: where all are equal every weight is 1, free of
		// rounding.
		r.weight[i] = rows[0].Inclusion / row.Inclusion
		total += r.weight[i]
	}
	seen := make(map[string]int, len(rows))
	for i, row := range rows {
		task, known := seen[row.Task]
		if !known {
			task = len(r.tasks)
			seen[row.Task] = task
			r.tasks = append(r.tasks, 0)
		}
		r.weight[i] *= float64(len(rows)) / total
		r.task[i] = task
		r.tasks[task] += r.weight[i]
	}
	return r, nil
}

// N is how many rows there are.
func (r Ratings) N() int { return len(r.rows) }

// Tasks is how many tasks they are of.
func (r Ratings) Tasks() int { return len(r.tasks) }

// Confusion counts the rows, unweighted.
func (r Ratings) Confusion() Confusion {
	var c Confusion
	for _, row := range r.rows {
		c.Add(row.Gold, row.Judge)
	}
	return c
}

// Agreement is the weighted share of rows with equal verdicts. Its interval is the
// score interval at the effective number of rows. N counts rows.
func (r Ratings) Agreement(z float64) Estimate {
	return r.share(z, func(row Rating) bool { return row.Gold == row.Judge })
}

// PassWhenGoldFails is the weighted share of gold failures that the judge passes. N
// counts those.
func (r Ratings) PassWhenGoldFails(z float64) Estimate {
	return r.where(false).share(z, func(row Rating) bool { return row.Judge })
}

// FailWhenGoldPasses is the weighted share of gold passes that the judge fails. N
// counts those.
func (r Ratings) FailWhenGoldPasses(z float64) Estimate {
	return r.where(true).share(z, func(row Rating) bool { return !row.Judge })
}

func (r Ratings) where(gold bool) Ratings {
	var rows []Rating
	for _, row := range r.rows {
		if row.Gold == gold {
			rows = append(rows, row)
		}
	}
	of, _ := NewRatings(rows) // its rows were taken before
	return of
}

// Kappa is Cohen's kappa of the weighted table, its interval that of [Confusion.Kappa]
// at the effective number of rows. N counts rows.
func (r Ratings) Kappa(z float64) Estimate {
	if r.N() == 0 {
		return Estimate{}
	}
	table := r.shares()
	value, ok := table.kappaValue()
	if !ok {
		return Estimate{N: r.N()}
	}
	_, _, _, expected := table.margins()
	size, ok := r.effective(z, 1/(1-expected), func(row Rating) float64 { return table.kappaInfluence(value, row) })
	if !ok {
		return Point(value, r.N())
	}
	return table.kappa(size, r.N(), z)
}

// AC1 is Gwet's AC1 of the weighted table, its interval that of [Confusion.AC1] at the
// effective number of rows. N counts rows.
func (r Ratings) AC1(z float64) Estimate {
	if r.N() == 0 {
		return Estimate{}
	}
	table := r.shares()
	value, expected := table.ac1Value()
	size, ok := r.effective(z, 1/(1-expected), table.ac1Influence)
	if !ok {
		return Point(value, r.N())
	}
	return table.ac1(size, r.N(), z)
}

// share is the weighted share of the rows that hit says yes to.
func (r Ratings) share(z float64, hit func(Rating) bool) Estimate {
	if r.N() == 0 {
		return Estimate{}
	}
	value := 0.0
	for i, row := range r.rows {
		value += r.weight[i] * one(hit(row))
	}
	value = math.Min(1, value/float64(r.N()))
	size, ok := r.effective(z, 1, func(row Rating) float64 { return one(hit(row)) - value })
	if !ok {
		return Point(value, r.N())
	}
	lo, hi := WilsonShare(value, size, z)
	return NewEstimate(value, lo, hi, r.N())
}

// effective is how many independent rows of equal weight would give the estimate whose
// influence values are given the variance that it has over tasks: the rows over the
// design effect (Kish 1965), at most the rows, and fewer again by the squared ratio of
// Student's t for so many rows and for so many tasks (Korn and Graubard 1998).
//
// A few tasks that happen to agree understate the design effect: without help the trust
// rule erred in up to 7% of samples of twenty tasks of ten rows each. So it is taken with
// one task more, of the usual weight, whose rows are all off by unit, the influence of a
// disagreement. Where nothing varies at all, rows of a task count as one row. ok is false
// for tasks too few to show a spread, under [MinUnits].
func (r Ratings) effective(z, unit float64, influence func(Rating) float64) (size float64, ok bool) {
	n, m := float64(r.N()), float64(r.Tasks())
	usual := 0.0 // the weight of the task that a row is of, on average
	for _, weight := range r.tasks {
		usual += weight * weight / n
	}
	if usual == 1 {
		return n, true // of one row each, all of one weight
	}
	if r.Tasks() < MinUnits {
		return 0, false
	}
	within := r.meanSquare(influence)
	if within == 0 {
		return n / usual, true
	}
	clustered := r.variance(influence) + m/(m-1)*unit*unit*usual*usual/(n*n)
	independent := (within + unit*unit*usual/n) / (n - 1)
	tail := NormalCDF(-z)
	t := TQuantile(1-tail, n-1) / TQuantile(1-tail, m-1)
	return n * math.Min(1, independent/clustered) * math.Min(1, t*t), true
}

// variance is that of the estimate whose influence values are given, linearised over
// tasks that were drawn independently.
func (r Ratings) variance(influence func(Rating) float64) float64 {
	n, m := float64(r.N()), float64(r.Tasks())
	sums, squares := make([]float64, r.Tasks()), 0.0
	for i, row := range r.rows {
		sums[r.task[i]] += r.weight[i] / n * influence(row)
	}
	for _, sum := range sums {
		squares += sum * sum
	}
	return m / (m - 1) * squares
}

// meanSquare is the weighted mean of the squared influence values.
func (r Ratings) meanSquare(influence func(Rating) float64) float64 {
	sum := 0.0
	for i, row := range r.rows {
		v := influence(row)
		sum += r.weight[i] * v * v
	}
	return sum / float64(r.N())
}

// shares is the weighted table.
func (r Ratings) shares() shares {
	var s shares
	for i, row := range r.rows {
		s[cell(row.Gold, row.Judge)] += r.weight[i]
	}
	for i := range s {
		s[i] /= float64(r.N())
	}
	return s
}
