package stats

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Unit is one independent thing that was measured: the sum of the values of its
// tasks, and how many those are. What is resampled and sign-flipped is the unit.
type Unit struct {
	Sum  float64
	Size float64
}

// UnitMean is the mean over all tasks of all units, NaN where there are none.
func UnitMean(units []Unit) float64 {
	sum, size := 0.0, 0.0
	for _, u := range units {
		sum += u.Sum
		size += u.Size
	}
	return sum / size
}

// Method is a way to get an interval of a mean from bootstrap draws.
type Method string

// Interval methods. All resample units with replacement (Efron 1979).
const (
	// Percentile takes the draws' own quantiles. It is too narrow for few units.
	Percentile Method = "percentile"
	// BCa corrects those quantiles for bias and skew (Efron 1987).
	BCa Method = "BCa"
	// Studentised takes the quantiles of the draws' t values (Efron and Tibshirani
	// 1993, section 12.5).
	Studentised Method = "studentised"
	// Expanded takes wider quantiles of the draws, so that the interval is to the
	// percentile one as a t interval is to a normal one with n in the denominator
	// (Hesterberg 2015, section 5.3), and moves both ends out by up to half a step where
	// the values lie on steps, as rates of few attempts do; see [fullStepUnits].
	Expanded Method = "expanded"
)

// Methods lists the methods.
func Methods() []Method { return []Method{Percentile, BCa, Studentised, Expanded} }

// MinUnits is how many units an interval needs: below it any method covers by luck
// alone. Convention, as 3 groups are the fewest that show a spread of their own.
const MinUnits = 3

// MeanInterval is the interval at the given level (0.95) of the mean over all tasks,
// by the method, from so many draws. ok is false for fewer than [MinUnits] units.
// Units without spread give an interval without width. It keeps one number a draw and
// nothing that grows with draws times units.
func MeanInterval(units []Unit, method Method, level float64, draws int, rng *rand.Rand) (lo, hi float64, ok bool) {
	if len(units) < MinUnits || draws < 1 {
		return math.NaN(), math.NaN(), false
	}
	mean := UnitMean(units)
	if standardError(units, mean) == 0 {
		return mean, mean, true
	}
	tail := (1 - level) / 2
	if method == Studentised {
		se := standardError(units, mean)
		ts := studentisedDraws(units, mean, draws, rng)
		return mean - se*sortedQuantile(ts, 1-tail), mean - se*sortedQuantile(ts, tail), true
	}
	means := meanDraws(units, draws, rng)
	below, above, widen := tail, 1-tail, 0.0
	switch method {
	case BCa:
		below, above = bcaTails(units, mean, means, tail)
	case Expanded:
		below = expandedTail(len(units), tail)
		above, widen = 1-below, halfStep(units)*math.Min(1, fullStepUnits/float64(len(units)))
	}
	return sortedQuantile(means, below) - widen, sortedQuantile(means, above) + widen, true
}

// meanDraws are the sorted means of resampled units.
func meanDraws(units []Unit, draws int, rng *rand.Rand) []float64 {
	means := make([]float64, draws)
	for i := range means {
		sum, size := 0.0, 0.0
		for left := len(units); left > 0; left -= 2 {
			first, second := twoOf(len(units), rng)
			sum += units[first].Sum
			size += units[first].Size
			if left > 1 {
				sum += units[second].Sum
				size += units[second].Size
			}
		}
		means[i] = sum / size
	}
	slices.Sort(means)
	return means
}

// studentisedDraws are the sorted (mean* - mean)/se* of resampled units. A draw
// without spread is as far off as can be, on the side on which its mean lies.
func studentisedDraws(units []Unit, mean float64, draws int, rng *rand.Rand) []float64 {
	ts := make([]float64, draws)
	resample := make([]Unit, len(units)+1) // one over, where a pair ends past an odd number
	for i := range ts {
		for j := 0; j < len(units); j += 2 {
			first, second := twoOf(len(units), rng)
			resample[j], resample[j+1] = units[first], units[second]
		}
		drawn := UnitMean(resample[:len(units)])
		if t := (drawn - mean) / standardError(resample[:len(units)], drawn); !math.IsNaN(t) {
			ts[i] = t
		}
	}
	slices.Sort(ts)
	return ts
}

// twoOf draws two indices under n from 64 random bits. The share of each is off by
// less than n/2^32.
func twoOf(n int, rng *rand.Rand) (first, second uint64) {
	bits := rng.Uint64()
	return (bits & math.MaxUint32) * uint64(n) >> 32, (bits >> 32) * uint64(n) >> 32
}

// standardError is the linearised standard error of a ratio of sums (Cochran 1977,
// section 6.3), which for units of one size is the usual one of a mean.
func standardError(units []Unit, mean float64) float64 {
	n, squares, size := float64(len(units)), 0.0, 0.0
	for _, u := range units {
		d := u.Sum - mean*u.Size
		squares += d * d
		size += u.Size
	}
	// Rounding leaves specks where there is no spread at all.
	if se := math.Sqrt(n/(n-1)*squares) / size; se > 1e-12*math.Abs(mean) {
		return se
	}
	return 0
}

// StandardError is the standard error of [UnitMean], NaN for fewer than two units.
func StandardError(units []Unit) float64 {
	if len(units) < 2 {
		return math.NaN()
	}
	return standardError(units, UnitMean(units))
}

// bcaTails are the levels that BCa reads off the sorted draws (Efron 1987): z0 from
// where the estimate lies among them, the acceleration from the jackknife.
func bcaTails(units []Unit, mean float64, means []float64, tail float64) (below, above float64) {
	first, _ := slices.BinarySearch(means, mean)
	last := first
	for last < len(means) && means[last] == mean {
		last++
	}
	rank := (float64(first) + float64(last-first)/2) / float64(len(means))
	edge := 1 / float64(len(means)+1) // keeps z0 finite where every draw is on one side
	z0 := NormalQuantile(math.Min(1-edge, math.Max(edge, rank)))
	a := acceleration(units)
	level := func(z float64) float64 {
		return NormalCDF(z0 + (z0+z)/(1-a*(z0+z)))
	}
	return level(NormalQuantile(tail)), level(NormalQuantile(1 - tail))
}

func acceleration(units []Unit) float64 {
	sum, size := 0.0, 0.0
	for _, u := range units {
		sum += u.Sum
		size += u.Size
	}
	left := make([]float64, len(units))
	for i, u := range units {
		left[i] = (sum - u.Sum) / (size - u.Size)
	}
	centre, squares, cubes := Mean(left), 0.0, 0.0
	for _, v := range left {
		d := centre - v
		squares += d * d
		cubes += d * d * d
	}
	if squares == 0 {
		return 0
	}
	return cubes / (6 * math.Pow(squares, 1.5))
}

// expandedTail is the level whose quantile makes up for what few units hide:
// Phi(-sqrt(n/(n-1)) t_{tail, n-1}).
func expandedTail(n int, tail float64) float64 {
	t := TQuantile(1-tail, float64(n-1))
	return NormalCDF(-math.Sqrt(float64(n)/float64(n-1)) * t)
}

// fullStepUnits is up to how many units the half step counts whole; beyond, it fades
// with their number. Measured on the populations of this program's self-check: up to
// 30 units the expanded quantiles alone cover 0.93 to 0.95 of the time where the truth
// lies between two steps, with the half step 0.94 to 0.97; above they need no help.
const fullStepUnits = 30

// halfStep is half of the smallest step by which the mean can move: the least gap
// between two units' sums, or of one from 0, over the number of tasks. Values of no
// lattice have next to none.
func halfStep(units []Unit) float64 {
	sums, size, largest := make([]float64, 0, len(units)+1), 0.0, 0.0
	for _, u := range units {
		sums = append(sums, u.Sum)
		size += u.Size
		largest = math.Max(largest, math.Abs(u.Sum))
	}
	sums = append(sums, 0)
	slices.Sort(sums)
	step := math.Inf(1)
	for i := 1; i < len(sums); i++ {
		// Thirds and sixths that should be equal differ in their last bits.
		if gap := sums[i] - sums[i-1]; gap > 1e-9*largest {
			step = math.Min(step, gap)
		}
	}
	if math.IsInf(step, 1) {
		return 0
	}
	return step / size / 2
}

// sortedQuantile is the quantile at p of sorted values, the p(n+1)-th with linear
// interpolation (type 6 of Hyndman and Fan 1996), at most the extremes.
func sortedQuantile(sorted []float64, p float64) float64 {
	h := p*float64(len(sorted)+1) - 1
	i := int(math.Floor(h))
	switch {
	case i < 0:
		return sorted[0]
	case i >= len(sorted)-1:
		return sorted[len(sorted)-1]
	case sorted[i] == sorted[i+1] || math.IsInf(sorted[i], -1):
		return sorted[i]
	case math.IsInf(sorted[i+1], 1):
		return sorted[i+1]
	}
	return sorted[i] + (h-float64(i))*(sorted[i+1]-sorted[i])
}

// SignFlipExact is how many values are still flipped in every way: 2^16 ways.
const SignFlipExact = 16

// SignFlip is the two-sided permutation p that the paired differences have mean 0:
// the share of the ways to flip their signs that give a sum at least as far from 0
// (Fisher 1935). Up to [SignFlipExact] values every way is tried; beyond, so many
// draws, and p is (count+1)/(draws+1), never 0 (Phipson and Smyth 2010). It is 1 where
// there is nothing to flip.
func SignFlip(differences []float64, draws int, rng *rand.Rand) float64 {
	observed, scale := 0.0, 0.0
	for _, d := range differences {
		observed += d
		scale += math.Abs(d)
	}
	if scale == 0 {
		return 1
	}
	// Sums in another order differ in their last bits; equal ones must still count.
	reach := math.Abs(observed) - 1e-9*scale
	if len(differences) <= SignFlipExact {
		return signFlipExact(differences, observed, reach)
	}
	count := 0
	for range draws {
		if math.Abs(flippedSum(differences, rng)) >= reach {
			count++
		}
	}
	return float64(count+1) / float64(draws+1)
}

// signFlipExact walks through all sign patterns in Gray code order, one flip at a
// time. The first sign stays: a pattern and its mirror image count alike.
func signFlipExact(differences []float64, sum, reach float64) float64 {
	positive := make([]bool, len(differences))
	for i := range positive {
		positive[i] = true
	}
	patterns := 1 << (len(differences) - 1)
	count := 1 // the pattern that was observed
	for i := 1; i < patterns; i++ {
		at := 1 + bits.TrailingZeros(uint(i))
		if positive[at] {
			sum -= 2 * differences[at]
		} else {
			sum += 2 * differences[at]
		}
		positive[at] = !positive[at]
		if math.Abs(sum) >= reach {
			count++
		}
	}
	return float64(count) / float64(patterns)
}

// flippedSum is the sum with each sign flipped by a fair coin, without a branch.
func flippedSum(differences []float64, rng *rand.Rand) float64 {
	sum := 0.0
	for len(differences) > 0 {
		coins := rng.Uint64()
		block := differences[:min(64, len(differences))]
		for _, d := range block {
			sum += math.Float64frombits(math.Float64bits(d) ^ coins<<63)
			coins >>= 1
		}
		differences = differences[len(block):]
	}
	return sum
}
