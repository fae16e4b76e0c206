package stats

import (
	"errors"
	"fmt"
	"math"
)

// moment is a mean over tasks, and by how much each task moves it: the influence values
// sum to 0, and their squares over the squared number of tasks are its variance.
type moment struct {
	mean      float64
	influence []float64
}

// ratioOf is the moment of a ratio of two sums over tasks. Its mean is NaN where the
// weights are all 0.
func ratioOf(sums, weights []float64) moment {
	sum, weight := 0.0, 0.0
	for i := range sums {
		sum += sums[i]
		weight += weights[i]
	}
	m := moment{mean: sum / weight, influence: make([]float64, len(sums))}
	if weight == 0 {
		return m
	}
	for i := range sums {
		m.influence[i] = (sums[i] - m.mean*weights[i]) * float64(len(sums)) / weight
	}
	return m
}

func (m moment) minus(other moment) moment {
	d := moment{mean: m.mean - other.mean, influence: make([]float64, len(m.influence))}
	for i := range d.influence {
		d.influence[i] = m.influence[i] - other.influence[i]
	}
	return d
}

func (m moment) times(factor float64) moment {
	s := moment{mean: factor * m.mean, influence: make([]float64, len(m.influence))}
	for i := range s.influence {
		s.influence[i] = factor * m.influence[i]
	}
	return s
}

// sample is what a moment rests on.
type sample struct {
	tasks, units int
	// size is the number of tasks of equal weight that are worth as much (Kish 1965).
	size float64
}

// t is Student's t for so many units where the normal's quantile is z.
func (s sample) t(z float64) float64 {
	return TQuantile(1-NormalCDF(-z), float64(s.units-1))
}

// unseen is the variance of one task in the sample that is off by one, as half an
// observation in each cell of a matched table adds it (Agresti and Min 2005).
func (s sample) unseen() float64 { return 1 / (s.size * s.size) }

// unitNumbers gives each task the number of its unit, by first appearance.
type unitNumbers struct {
	of    []int
	count int
	names map[string]int
}

func (u *unitNumbers) add(name string) {
	unit, known := u.names[name]
	if !known || name == "" {
		unit = u.count
		u.count++
		if u.names == nil {
			u.names = map[string]int{}
		}
		u.names[name] = unit
	}
	u.of = append(u.of, unit)
}

// sums adds up values over the tasks of each unit.
func (u unitNumbers) sums(values []float64) []float64 {
	sums := make([]float64, u.count)
	for i, unit := range u.of {
		sums[unit] += values[i]
	}
	return sums
}

// variance is that of a moment, linearised over units that were drawn independently.
func (u unitNumbers) variance(m moment, s sample) float64 {
	squares, tasks, units := 0.0, float64(len(u.of)), float64(s.units)
	for _, sum := range u.sums(m.influence) {
		squares += sum * sum
	}
	return units / (units - 1) * squares / (tasks * tasks)
}

// tune is how much of help to take off gold so that the variance of what is left is
// least, within 0 and 1.
func (u unitNumbers) tune(gold, help moment) float64 {
	product, square := 0.0, 0.0
	g, h := u.sums(gold.influence), u.sums(help.influence)
	for i := range g {
		product += g[i] * h[i]
		square += h[i] * h[i]
	}
	if square == 0 {
		return 0
	}
	return math.Min(1, math.Max(0, product/square))
}

// arm is the tasks of one run, each reduced to a few sums.
type arm struct {
	rates                     []float64 // the judge's, over all rows of a task
	weights, goldSums, judged []float64 // over its labelled rows

	// judge is over all rows; gold and judgeLabelled over labelled rows.
	judge, gold, judgeLabelled moment
	all, labelled              sample
}

func newArm(tasks int) *arm {
	return &arm{rates: make([]float64, tasks), weights: make([]float64, tasks), goldSums: make([]float64, tasks), judged: make([]float64, tasks)}
}

var errNoRows = errors.New("it has no rows")

// add takes the rows of task i.
func (a *arm) add(i int, rows []Graded) error {
	if len(rows) == 0 {
		return fmt.Errorf("task %d: %w", i, errNoRows)
	}
	n := float64(len(rows))
	for j, row := range rows {
		if !(row.Judge >= 0 && row.Judge <= 1) {
			return fmt.Errorf("task %d, row %d: the judge says %v, not 0 to 1", i, j, row.Judge)
		}
		a.rates[i] += row.Judge / n
		if !row.Labelled {
			continue
		}
		if !(row.Gold >= 0 && row.Gold <= 1) {
			return fmt.Errorf("task %d, row %d: gold says %v, not 0 to 1", i, j, row.Gold)
		}
		if !(row.Inclusion > 0 && row.Inclusion <= 1) {
			return fmt.Errorf("task %d, row %d: inclusion chance %v is not above 0 and at most 1", i, j, row.Inclusion)
		}
		w := 1 / row.Inclusion / n
		a.weights[i] += w
		a.goldSums[i] += w * row.Gold
		a.judged[i] += w * row.Judge
	}
	return nil
}

// finish reduces the sums to moments.
func (a *arm) finish(units unitNumbers) {
	ones := make([]float64, len(a.rates))
	for i := range ones {
		ones[i] = 1
	}
	a.judge = ratioOf(a.rates, ones)
	a.gold = ratioOf(a.goldSums, a.weights)
	a.judgeLabelled = ratioOf(a.judged, a.weights)
	a.all = sampleOf(units, ones)
	a.labelled = sampleOf(units, a.weights)
}

func sampleOf(units unitNumbers, weights []float64) sample {
	s := sample{}
	for _, w := range weights {
		if w > 0 {
			s.tasks++
		}
	}
	total, squares := 0.0, 0.0
	for _, w := range units.sums(weights) {
		if w > 0 {
			s.units++
		}
		total += w
		squares += w * w
	}
	s.size = total * total / squares
	return s
}
