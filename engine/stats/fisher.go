package stats

import "math"

// FisherGreater is the one-sided p of Fisher's exact test that the first of two groups
// has the larger share: the chance, both margins fixed, of as many as hits of n in it
// or more, where the second has otherHits of otherN. 1 where either is empty.
func FisherGreater(hits, n, otherHits, otherN int) float64 {
	if n <= 0 || otherN <= 0 {
		return 1
	}
	all, allHits := n+otherN, hits+otherHits
	whole := logChoose(all, allHits)
	p := 0.0
	for k := hits; k <= min(n, allHits); k++ {
		if allHits-k > otherN {
			continue
		}
		p += math.Exp(logChoose(n, k) + logChoose(otherN, allHits-k) - whole)
	}
	return math.Min(p, 1)
}
