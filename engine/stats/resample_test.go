package stats_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"assay/engine/stats"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func single(values ...float64) []stats.Unit {
	units := make([]stats.Unit, len(values))
	for i, v := range values {
		units[i] = stats.Unit{Sum: v, Size: 1}
	}
	return units
}

// Fisher 1935, The Design of Experiments, section 21: Darwin's fifteen pairs of cross-
// and self-fertilised plants, differences in eighths of an inch. Of the 32,768 ways to
// sign them, 1,726 give a sum as large in size as 314.
func TestSignFlipFishersDarwin(t *testing.T) {
	darwin := []float64{49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48}
	near(t, "p", stats.SignFlip(darwin, 2000, seeded(1)), 1726.0/32768, 1e-12)
}

func TestSignFlipExactAgainstRecursion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Whole numbers sum without rounding, so that ties are exact on both sides.
		ints := rapid.SliceOfN(rapid.IntRange(-4, 4), 1, 10).Draw(t, "differences")
		values, observed := make([]float64, len(ints)), 0
		for i, v := range ints {
			values[i] = float64(v)
			observed += v
		}
		var reach func(rest []int, sum int) int
		reach = func(rest []int, sum int) int {
			if len(rest) == 0 {
				if sum*sum >= observed*observed {
					return 1
				}
				return 0
			}
			return reach(rest[1:], sum+rest[0]) + reach(rest[1:], sum-rest[0])
		}
		want := float64(reach(ints, 0)) / math.Pow(2, float64(len(ints)))
		if got := stats.SignFlip(values, 2000, seeded(1)); math.Abs(got-want) > 1e-12 {
			t.Fatalf("p = %v, want %v", got, want)
		}
	})
}

func TestSignFlipMonteCarlo(t *testing.T) {
	// 17 values are one more than are flipped in every way. All equal: only the two
	// patterns of one sign reach, 2 in 2^17, so the draws find none.
	same := slices.Repeat([]float64{1}, stats.SignFlipExact+1)
	if got, want := stats.SignFlip(same, 2000, seeded(1)), 1.0/2001; got != want {
		t.Errorf("p = %v, want %v: never 0", got, want)
	}
	// The draws against the binomial: of 30 signs, as far as 20 to 10.
	values := slices.Concat(slices.Repeat([]float64{1}, 20), slices.Repeat([]float64{-1}, 10))
	near(t, "p", stats.SignFlip(values, 50_000, seeded(2)), stats.McNemarExact(20, 10), 0.004)
	if p := stats.SignFlip(make([]float64, 20), 2000, seeded(1)); p != 1 {
		t.Errorf("nothing changed, p = %v", p)
	}
}

func TestSignFlipFalseAlarms(t *testing.T) {
	rng := seeded(3)
	const trials = 2000
	for _, n := range []int{12, 24} {
		alarms := 0
		for range trials {
			values := make([]float64, n)
			for i := range values {
				values[i] = rng.NormFloat64()
			}
			if stats.SignFlip(values, 500, rng) <= 0.05 {
				alarms++
			}
		}
		if rate := float64(alarms) / trials; rate > 0.05+0.015 {
			t.Errorf("n = %d: false alarms %.3f, over 0.05 by more than three Monte Carlo errors", n, rate)
		}
	}
}

// everyResample is what the draws of five single-task units stand for: the mean and the
// t value of each of the 5^5 resamples, each list sorted.
func everyResample(values []float64) (means, ts []float64) {
	centre := stats.Mean(values)
	for code := range int(math.Pow(5, 5)) {
		resample := make([]float64, 0, 5)
		for c := code; len(resample) < 5; c /= 5 {
			resample = append(resample, values[c%5])
		}
		means = append(means, stats.Mean(resample))
		t := (stats.Mean(resample) - centre) / (stats.StdDev(resample) / math.Sqrt(5))
		if math.IsNaN(t) {
			t = 0
		}
		ts = append(ts, t)
	}
	slices.Sort(means)
	slices.Sort(ts)
	return means, ts
}

// A second bootstrap that shares no code: all resamples instead of draws, the formulas
// as their papers write them for a plain mean.
func TestIntervalsAgainstEveryResample(t *testing.T) {
	values := []float64{0.31, -0.12, 0.77, 0.05, 0.46}
	centre := stats.Mean(values)
	means, ts := everyResample(values)
	quantile := func(sorted []float64, p float64) float64 { return sorted[int(p*float64(len(sorted)))] }
	const tail = 0.1
	z := stats.NormalQuantile

	below := 0
	for _, m := range means {
		if m < centre-1e-12 {
			below++
		}
	}
	z0 := z(float64(below) / float64(len(means)))
	squares, cubes := 0.0, 0.0
	for _, v := range values {
		squares += (v - centre) * (v - centre)
		cubes += math.Pow(v-centre, 3)
	}
	a := cubes / (6 * math.Pow(squares, 1.5))
	bca := func(p float64) float64 {
		return quantile(means, stats.NormalCDF(z0+(z0+z(p))/(1-a*(z0+z(p)))))
	}
	se := stats.StdDev(values) / math.Sqrt(5)
	wide := stats.NormalCDF(-math.Sqrt(5.0/4) * stats.TQuantile(1-tail, 4))
	const step = 0.05 // the least gap between two of the values, or of one from 0
	for _, c := range []struct {
		method stats.Method
		lo, hi float64
	}{
		{stats.Percentile, quantile(means, tail), quantile(means, 1-tail)},
		{stats.BCa, bca(tail), bca(1 - tail)},
		{stats.Studentised, centre - se*quantile(ts, 1-tail), centre - se*quantile(ts, tail)},
		{stats.Expanded, quantile(means, wide) - step/10, quantile(means, 1-wide) + step/10},
	} {
		lo, hi, ok := stats.MeanInterval(single(values...), c.method, 1-2*tail, 400_000, seeded(4))
		if !ok {
			t.Fatalf("%s: no interval", c.method)
		}
		near(t, string(c.method)+" lower", lo, c.lo, 0.01)
		near(t, string(c.method)+" upper", hi, c.hi, 0.01)
	}
}

// Units of several tasks: the ratio of sums over all 4^4 resamples.
func TestPercentileOfUnevenUnits(t *testing.T) {
	units := []stats.Unit{{Sum: 1, Size: 1}, {Sum: 5, Size: 2}, {Sum: -2, Size: 1}, {Sum: 3, Size: 3}}
	var all []float64
	for a := range units {
		for b := range units {
			for c := range units {
				for d := range units {
					sum := units[a].Sum + units[b].Sum + units[c].Sum + units[d].Sum
					all = append(all, sum/(units[a].Size+units[b].Size+units[c].Size+units[d].Size))
				}
			}
		}
	}
	slices.Sort(all)
	lo, hi, ok := stats.MeanInterval(units, stats.Percentile, 0.80, 200_000, seeded(4))
	if !ok {
		t.Fatal("no interval")
	}
	near(t, "lower", lo, all[len(all)/10], 0.03)
	near(t, "upper", hi, all[len(all)-1-len(all)/10], 0.03)
}

func TestIntervalsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		thousandths := rapid.SliceOfN(rapid.IntRange(-1000, 1000), 1, 40).Draw(t, "values")
		values := make([]float64, len(thousandths))
		for i, v := range thousandths {
			values[i] = float64(v) / 1000
		}
		method := rapid.SampledFrom(stats.Methods()).Draw(t, "method")
		units := single(values...)
		lo, hi, ok := stats.MeanInterval(units, method, 0.95, 200, seeded(1))
		if ok != (len(values) >= stats.MinUnits) {
			t.Fatalf("%d units: ok = %v", len(values), ok)
		}
		if !ok {
			return
		}
		if !(lo <= hi) {
			t.Fatalf("[%v, %v] is no interval", lo, hi)
		}
		again, _, _ := stats.MeanInterval(units, method, 0.95, 200, seeded(1))
		if again != lo {
			t.Fatal("the same draws gave another interval")
		}
		// Measured in another unit, the interval moves along.
		scaled := make([]float64, len(values))
		for i, v := range values {
			scaled[i] = 4 * v
		}
		lo4, hi4, _ := stats.MeanInterval(single(scaled...), method, 0.95, 200, seeded(1))
		same := func(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(a)) }
		if !same(lo4, 4*lo) || !same(hi4, 4*hi) {
			t.Fatalf("[%v, %v] times 4 is not [%v, %v]", lo, hi, lo4, hi4)
		}
	})
}

func TestIntervalWithoutSpread(t *testing.T) {
	for _, method := range stats.Methods() {
		lo, hi, ok := stats.MeanInterval(single(0.1, 0.1, 0.1, 0.1), method, 0.95, 200, seeded(1))
		if !ok || lo != hi {
			t.Errorf("%s of equal units = [%v, %v], want no width", method, lo, hi)
		}
	}
}

// A unit of several tasks counts as one: twins of every task must not narrow anything.
func TestUnitsOfTwinsAreNoMoreEvidence(t *testing.T) {
	alone, twins := single(1, 0, 0, 1, 1, 0, -1, 1, 0, 0), make([]stats.Unit, 10)
	for i, u := range alone {
		twins[i] = stats.Unit{Sum: 2 * u.Sum, Size: 2}
	}
	lo1, hi1, _ := stats.MeanInterval(alone, stats.Expanded, 0.95, 2000, seeded(1))
	lo2, hi2, _ := stats.MeanInterval(twins, stats.Expanded, 0.95, 2000, seeded(1))
	near(t, "lower", lo2, lo1, 1e-12)
	near(t, "upper", hi2, hi1, 1e-12)
}

func TestHolmByHand(t *testing.T) {
	// 0.01, 0.02, 0.03 and 0.04 times 4, 3, 2 and 1, none below the one before; a test that
	// was not made counts for nothing.
	got := stats.Holm([]float64{0.04, 0.01, math.NaN(), 0.03, 0.02})
	for i, want := range []float64{0.06, 0.04, math.NaN(), 0.06, 0.06} {
		if math.IsNaN(want) != math.IsNaN(got[i]) || !math.IsNaN(want) && math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("adjusted p %d = %v, want %v", i, got[i], want)
		}
	}
}

// Rejecting where the adjusted p is at most alpha is Holm's step-down walk.
func TestHolmIsTheStepDownWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ps := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 12).Draw(t, "ps")
		alpha := rapid.Float64Range(0.01, 0.2).Draw(t, "alpha")
		sorted := slices.Sorted(slices.Values(ps))
		rejected := 0
		for rejected < len(sorted) && sorted[rejected] <= alpha/float64(len(sorted)-rejected)*(1-1e-12) {
			rejected++
		}
		count := 0
		for _, p := range stats.Holm(ps) {
			if p <= alpha*(1-1e-12) {
				count++
			}
		}
		if count != rejected {
			t.Fatalf("adjusted p rejects %d, the walk %d", count, rejected)
		}
	})
}

func TestTQuantilePublished(t *testing.T) {
	// Student's t, two-sided 95%, as every table has them.
	for df, want := range map[float64]float64{1: 12.706, 2: 4.303, 4: 2.776, 9: 2.262, 30: 2.042, math.Inf(1): 1.960} {
		near(t, fmt.Sprintf("t(%g)", df), stats.TQuantile(0.975, df), want, 5e-4)
	}
	if !math.IsNaN(stats.TQuantile(0.975, 0)) {
		t.Error("t with no degrees of freedom is not a number")
	}
}

func TestNoiseBand(t *testing.T) {
	// By hand: deviations of both sides are 0.02, 0 and 0.02, so the pooled variance is
	// (2 x 0.0008) / 4 and q is t(4) = 2.776.
	noise, ok := stats.NoiseBand([]float64{0.40, 0.42, 0.44}, []float64{0.50, 0.52, 0.54})
	if !ok || noise.DF != 4 {
		t.Fatalf("noise = %+v, %v", noise, ok)
	}
	near(t, "run std", noise.RunStd, 0.02, 1e-12)
	near(t, "band", noise.Band, 2.7764*0.02*math.Sqrt(2.0/3), 1e-4)
	one, ok := stats.NoiseBand([]float64{0.1, 0.2, 0.3}, []float64{0.5})
	if !ok || one.DF != 2 {
		t.Fatalf("three runs against one: %+v, %v", one, ok)
	}
	near(t, "q where one side repeats", one.Q, 4.3027, 1e-4)
	if _, ok := stats.NoiseBand([]float64{0.1}, []float64{0.5}); ok {
		t.Error("a band from one run a side")
	}
}

// Runs of one thing land within the band 95 times in 100.
func TestNoiseBandHolds(t *testing.T) {
	rng := seeded(6)
	const trials = 4000
	inside := 0
	for range trials {
		before, after := make([]float64, 3), make([]float64, 3)
		for i := range before {
			before[i], after[i] = rng.NormFloat64(), rng.NormFloat64()
		}
		if noise, _ := stats.NoiseBand(before, after); math.Abs(stats.Mean(after)-stats.Mean(before)) <= noise.Band {
			inside++
		}
	}
	near(t, "inside the band", float64(inside)/trials, 0.95, 0.0104)
}

func TestPowerOfSimulatedTest(t *testing.T) {
	rng := seeded(7)
	const trials, n, effect = 4000, 60, 0.4
	shown := 0
	for range trials {
		values := make([]float64, n)
		for i := range values {
			values[i] = effect + rng.NormFloat64()
		}
		if math.Abs(stats.Mean(values)/(stats.StdDev(values)/math.Sqrt(n))) > stats.TQuantile(0.975, n-1) {
			shown++
		}
	}
	near(t, "power", stats.Power(effect, 1, n, 0.05), float64(shown)/trials, 0.03)
	// The size that gives a power gives it back.
	for _, power := range []float64{0.5, 0.8, 0.95} {
		size := stats.SampleSize(effect, 1, 0.05, power)
		if p := stats.Power(effect, 1, size, 0.05); p < power-1e-9 {
			t.Errorf("%d tasks have power %.3f, want %.2f", size, p, power)
		}
		if p := stats.Power(effect, 1, size-1, 0.05); p > power {
			t.Errorf("%d tasks are enough already", size-1)
		}
	}
}

func TestDetectableEffect(t *testing.T) {
	sd := func(effect float64) float64 { return stats.BinomialSD(0.3, effect, 4) }
	effect := stats.DetectableEffect(33, 0.05, 0.8, 0.7, sd)
	near(t, "power at the detectable effect", stats.Power(effect, sd(effect), 33, 0.05), 0.8, 1e-6)
	if !math.IsInf(stats.DetectableEffect(2, 0.05, 0.8, 0.01, sd), 1) {
		t.Error("two tasks show a change of 0.01")
	}
}

func TestEstimateJSON(t *testing.T) {
	for _, c := range []struct {
		estimate stats.Estimate
		want     string
	}{
		{stats.NewEstimate(0.5, 0.25, 0.75, 8), `{"value":0.5,"lo":0.25,"hi":0.75,"n":8}`},
		{stats.Point(0.5, 2), `{"value":0.5,"lo":null,"hi":null,"n":2}`},
		{stats.Estimate{}, `{"value":null,"lo":null,"hi":null,"n":0}`},
		{stats.NewEstimate(math.NaN(), math.Inf(-1), 1, 3), `{"value":null,"lo":null,"hi":null,"n":3}`},
	} {
		if got := marshal(t, c.estimate); got != c.want {
			t.Errorf("JSON = %s, want %s", got, c.want)
		}
	}
}

// BenchmarkMeanInterval: what an interval keeps grows with its units and, at eight bytes
// each, with its draws; never with both multiplied.
func BenchmarkMeanInterval(b *testing.B) {
	rng := seeded(8)
	for _, units := range []int{200, 2000} {
		for _, draws := range []int{2000, 20_000} {
			list := make([]stats.Unit, units)
			for i := range list {
				list[i] = stats.Unit{Sum: rng.NormFloat64(), Size: 1}
			}
			b.Run(fmt.Sprintf("units=%d/draws=%d", units, draws), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					stats.MeanInterval(list, stats.Expanded, 0.95, draws, rng)
				}
			})
		}
	}
}
