package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// BinomialSD is the standard deviation over tasks of the paired difference of two
// pass rates, base and base+effect, from k attempts a task and side, as if all
// tasks had one chance: sqrt((p(1-p)+q(1-q))/k), q at most 1 (Miller 2024, section 5).
// It bounds nothing: tasks that differ in their chance have less within a task, as the
// mean of p(1-p) over tasks is that of the mean less the variance of p, and tasks that
// differ in their gain have more between them.
func BinomialSD(base, effect float64, k int) float64 {
	q := math.Min(1, math.Max(0, base+effect))
	return math.Sqrt((base*(1-base) + q*(1-q)) / float64(k))
}

// SampleSize is how many paired tasks show an effect at two-sided level alpha with
// the given power: ceil(((z_{1-alpha/2}+z_power) sd/effect)^2) (Miller 2024). It is at
// least 1, and 0 where the effect is 0 and no number is enough.
func SampleSize(effect, sd, alpha, power float64) int {
	if effect == 0 {
		return 0
	}
	n := math.Pow((NormalQuantile(1-alpha/2)+NormalQuantile(power))*sd/effect, 2)
	// A size is the next whole number up, but rounding in the last bits is no task.
	return max(1, int(math.Ceil(n-1e-9)))
}

// Power is the chance that n paired tasks with the given standard deviation show an
// effect at two-sided level alpha, the normal approximation's near tail.
func Power(effect, sd float64, n int, alpha float64) float64 {
	if sd == 0 {
		if effect == 0 {
			return alpha / 2
		}
		return 1
	}
	return NormalCDF(math.Abs(effect)/(sd/math.Sqrt(float64(n))) - NormalQuantile(1-alpha/2))
}

// DetectableEffect is the smallest effect that n paired tasks show with the given
// power where sd(effect) is the standard deviation at that effect. It is +Inf where no
// effect up to limit is shown.
func DetectableEffect(n int, alpha, power, limit float64, sd func(effect float64) float64) float64 {
	z := NormalQuantile(1-alpha/2) + NormalQuantile(power)
	short := func(effect float64) bool { return effect*math.Sqrt(float64(n)) < z*sd(effect) }
	if n < 1 || short(limit) {
		return math.Inf(1)
	}
	lo, hi := 0.0, limit
	for range 60 { // halvings: beyond a double's resolution
		if mid := (lo + hi) / 2; short(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// SDInterval is the interval of a normal sample's standard deviation on df degrees of
// freedom at the given level, from chi-squared quantiles. df is at least 1.
func SDInterval(sd float64, df int, level float64) (lo, hi float64) {
	chi := distuv.ChiSquared{K: float64(df)}
	tail := (1 - level) / 2
	return sd * math.Sqrt(float64(df)/chi.Quantile(1-tail)), sd * math.Sqrt(float64(df)/chi.Quantile(tail))
}
