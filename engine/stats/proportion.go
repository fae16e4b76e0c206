package stats

import "math"

// Wilson is the score interval of a proportion of k in n independent trials at the
// normal quantile z (Wilson 1927). It is [0, 1] where n is 0.
func Wilson(k, n int, z float64) (lo, hi float64) {
	if n <= 0 {
		return 0, 1
	}
	return WilsonShare(float64(k)/float64(n), float64(n), z)
}

// WilsonShare is the score interval of a share, 0 to 1, that rests on as much as n
// independent trials; n need not be whole, as where it is the effective size of a
// sample of clusters (Korn and Graubard 1998). It is [0, 1] where n is not above 0.
func WilsonShare(share, n, z float64) (lo, hi float64) {
	if !(n > 0) {
		return 0, 1
	}
	denominator := 1 + z*z/n
	centre := (share + z*z/(2*n)) / denominator
	half := z / denominator * math.Sqrt(share*(1-share)/n+z*z/(4*n*n))
	lo, hi = math.Max(0, centre-half), math.Min(1, centre+half)
	if share == 0 {
		lo = 0 // the formula's own value, free of rounding
	}
	if share == 1 {
		hi = 1
	}
	return lo, hi
}

// WilsonEstimate is k in n with its 95% score interval.
func WilsonEstimate(k, n int) Estimate {
	if n == 0 {
		return Estimate{}
	}
	lo, hi := Wilson(k, n, Z95)
	return NewEstimate(float64(k)/float64(n), lo, hi, n)
}

// TwoProportions is the two-sided p of the pooled z test that k1 of n1 and k2 of n2
// are of one rate (Fleiss, Levin and Paik 2003, section 3.1, without continuity
// correction). It is 1 where there is nothing to tell them apart by.
func TwoProportions(k1, n1, k2, n2 int) float64 {
	if n1 <= 0 || n2 <= 0 {
		return 1
	}
	pooled := float64(k1+k2) / float64(n1+n2)
	variance := pooled * (1 - pooled) * (1/float64(n1) + 1/float64(n2))
	if variance <= 0 {
		return 1
	}
	z := (float64(k1)/float64(n1) - float64(k2)/float64(n2)) / math.Sqrt(variance)
	return 2 * NormalCDF(-math.Abs(z))
}

// McNemarExact is the two-sided exact p that b and c discordant pairs are of one
// rate: twice the smaller binomial tail at one half, at most 1 (McNemar 1947).
func McNemarExact(b, c int) float64 {
	n, k := b+c, min(b, c)
	if n == 0 {
		return 1
	}
	// Summed from the largest term down, each from the one before, so that large n
	// neither overflows nor loses its tail.
	logTerm := logChoose(n, k) - float64(n)*math.Ln2
	tail, term := 0.0, math.Exp(logTerm)
	for i := k; i >= 0; i-- {
		tail += term
		term *= float64(i) / float64(n-i+1)
	}
	return math.Min(1, 2*tail)
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}
