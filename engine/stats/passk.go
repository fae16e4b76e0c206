package stats

import "math"

// PassAtK is the unbiased estimate of the chance that at least one of k attempts
// passes, from c passes in n: 1 - C(n-c,k)/C(n,k) (Chen et al. 2021). NaN where n is
// under k or k under 1.
func PassAtK(n, c, k int) float64 {
	return 1 - drawn(n, n-c, k)
}

// PassPowK is the unbiased estimate of the chance that all of k attempts pass, from
// c passes in n: C(c,k)/C(n,k) (Yao et al. 2024). NaN where n is under k or k under 1.
func PassPowK(n, c, k int) float64 {
	return drawn(n, c, k)
}

// drawn is the chance that k drawn from n without replacement all fall among m of
// them: C(m,k)/C(n,k).
func drawn(n, m, k int) float64 {
	if k < 1 || n < k || m < 0 || m > n {
		return math.NaN()
	}
	p := 1.0
	for i := range k {
		p *= float64(max(0, m-i)) / float64(n-i)
	}
	return p
}
