package stats

import (
	"math"
	"slices"
)

// Holm adjusts p-values so that the chance of any false alarm among them is at most
// the level (Holm 1979). The result is in the order of ps; NaN stays NaN and does not
// count as a test.
func Holm(ps []float64) []float64 {
	adjusted := make([]float64, len(ps))
	order := make([]int, 0, len(ps))
	for i, p := range ps {
		adjusted[i] = math.NaN()
		if !math.IsNaN(p) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case ps[a] < ps[b]:
			return -1
		case ps[a] > ps[b]:
			return 1
		}
		return 0
	})
	largest := 0.0
	for rank, i := range order {
		largest = math.Max(largest, math.Min(1, float64(len(order)-rank)*ps[i]))
		adjusted[i] = largest
	}
	return adjusted
}

// FamilyWise is the chance of at least one false alarm among tests at level alpha
// were they independent: 1-(1-alpha)^tests, and at most tests x alpha whatever they
// are (Bonferroni). It is given as that bound, at most 1.
func FamilyWise(tests int, alpha float64) float64 {
	return math.Min(1, float64(tests)*alpha)
}
