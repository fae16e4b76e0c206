package grade

import (
	"fmt"

	"assay/engine/stats"
)

// Best is the place of the best of several judges measured on the same gold, by the lower
// end of kappa's interval and then of agreement's, and whether it is trusted. Where none
// is, the best is still named, and says that none clears the floors. It is -1 of none.
func Best(reports []TrustReport) (at int, says string) {
	at = -1
	for i := range reports {
		if at < 0 || better(&reports[i], &reports[at]) {
			at = i
		}
	}
	switch {
	case at < 0:
		return at, "no judge was measured"
	case reports[at].Headline == Trusted:
		return at, fmt.Sprintf("the best of %d judges is %s, and it clears the floors; on gold that chose it, it looks better than it is", len(reports), reports[at].Judge)
	}
	return at, fmt.Sprintf("none of %d judges clears the floors; the best of them is %s", len(reports), reports[at].Judge)
}

func better(a, b *TrustReport) bool {
	if trusted := a.Headline == Trusted; trusted != (b.Headline == Trusted) {
		return trusted
	}
	if x, y := lowerEnd(a.Kappa), lowerEnd(b.Kappa); x != y {
		return x > y
	}
	return lowerEnd(a.Agreement) > lowerEnd(b.Agreement)
}

// lowerEnd sorts what has no interval behind everything.
func lowerEnd(e stats.Estimate) float64 {
	if e.Lo == nil {
		return -2
	}
	return *e.Lo
}
