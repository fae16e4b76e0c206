package stats

import (
	"cmp"
	"math"
	"slices"
)

// Holm adjusts p-values so that the chance of any false alarm among them is at most
// the level (Holm 1979). The result is in the order of ps; NaN stays NaN and does not
// count as a test.
func Holm(ps []float64) []float64 {
	adjusted, order := rising(ps)
	largest := 0.0
	for rank, i := range order {
		largest = math.Max(largest, math.Min(1, float64(len(order)-rank)*ps[i]))
		adjusted[i] = largest
	}
	return adjusted
}

// FalseDiscovery adjusts p-values so that among those at most q the expected share of
// false alarms is at most q, for independent tests and for those that lean the same
// way (Benjamini and Hochberg 1995; Benjamini and Yekutieli 2001, theorem 1.2). The
// result is in the order of ps; NaN stays NaN and does not count as a test.
func FalseDiscovery(ps []float64) []float64 {
	adjusted, order := rising(ps)
	least := 1.0
	for rank, i := range slices.Backward(order) {
		least = math.Min(least, float64(len(order))/float64(rank+1)*ps[i])
		adjusted[i] = least
	}
	return adjusted
}

// rising gives room for adjusted p-values, NaN until they are there, and the indices
// of the tests from the smallest p on.
func rising(ps []float64) (adjusted []float64, order []int) {
	adjusted = make([]float64, len(ps))
	order = make([]int, 0, len(ps))
	for i, p := range ps {
		adjusted[i] = math.NaN()
		if !math.IsNaN(p) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	return adjusted, order
}

// FamilyWise is the chance of at least one false alarm among tests at level alpha
// were they independent: 1-(1-alpha)^tests, and at most tests x alpha whatever they
// are (Bonferroni). It is given as that bound, at most 1.
func FamilyWise(tests int, alpha float64) float64 {
	return math.Min(1, float64(tests)*alpha)
}
