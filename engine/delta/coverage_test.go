package delta

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"assay/engine/stats"
)

// population is a kind of agent: each task's chance to pass before, and what the change
// adds to it.
type population struct {
	name   string
	chance func(*rand.Rand) float64
	shift  float64
}

// populations are those on which the interval must keep its word: pass chances uniform,
// Beta(2,2) and a base of 0.9; null and shifted.
func populations() []population {
	uniform := func(rng *rand.Rand) float64 { return rng.Float64() }
	beta22 := func(rng *rand.Rand) float64 { // the middle one of three uniforms
		a, b, c := rng.Float64(), rng.Float64(), rng.Float64()
		return math.Max(math.Min(a, b), math.Min(math.Max(a, b), c))
	}
	base := func(*rand.Rand) float64 { return 0.9 }
	var out []population
	for _, shift := range []float64{0, 0.1, -0.1} {
		out = append(out, population{"uniform", uniform, shift}, population{"Beta(2,2)", beta22, shift}, population{"base 0.9", base, shift})
	}
	return out
}

func (p *population) draw(rng *rand.Rand) (before, after float64) {
	before = p.chance(rng)
	return before, math.Min(1, math.Max(0, before+p.shift))
}

// truth is the mean change over the population.
func (p *population) truth() float64 {
	rng, sum := rand.New(rand.NewPCG(11, 0)), 0.0
	const n = 200_000 // an error of 0.0002, a hundredth of an interval
	for range n {
		b, a := p.draw(rng)
		sum += a - b
	}
	return sum / n
}

// sample is the paired differences of n tasks at k attempts a side.
func (p *population) sample(n, k int, rng *rand.Rand) []stats.Unit {
	list := make([]stats.Unit, n)
	for i := range list {
		b, a := p.draw(rng)
		difference := 0
		for range k {
			if rng.Float64() < a {
				difference++
			}
			if rng.Float64() < b {
				difference--
			}
		}
		list[i] = stats.Unit{Sum: float64(difference) / float64(k), Size: 1}
	}
	return list
}

// coverage is the share of trials in which the interval holds the truth.
func (p *population) coverage(method stats.Method, n, k, trials int) float64 {
	rng, truth, covered := rand.New(rand.NewPCG(uint64(n), uint64(k))), p.truth(), 0
	for range trials {
		lo, hi, ok := stats.MeanInterval(p.sample(n, k, rng), method, level, draws, rng)
		if ok && lo <= truth+1e-9 && truth-1e-9 <= hi {
			covered++
		}
	}
	return float64(covered) / float64(trials)
}

// k is 4, the least that a mode sets beside explore's 2, and one eval run: more runs
// only make it easier.
const coverageK = 4

func TestIntervalCovers(t *testing.T) {
	trials := 500
	if testing.Short() {
		trials = 200
	}
	// On the bad side by more than three Monte Carlo errors.
	floor := level - 3*math.Sqrt(level*(1-level)/float64(trials))
	for _, p := range populations() {
		for _, n := range []int{10, 20, 30} {
			t.Run(fmt.Sprintf("%s%+.1f/%d", p.name, p.shift, n), func(t *testing.T) {
				t.Parallel()
				if c := p.coverage(intervalMethod, n, coverageK, trials); c < floor {
					t.Errorf("the interval holds the truth in %.3f of trials, under %.3f", c, floor)
				}
			})
		}
	}
}

// BenchmarkCoverage reports, for each method, its worst coverage over the populations:
// why the shipped method is the one it is. It also reports the shipped method where no
// method can cover from the data at hand: one attempt a side, rare flips.
func BenchmarkCoverage(b *testing.B) {
	const trials = 2000
	for _, n := range []int{10, 20, 30} {
		for _, method := range stats.Methods() {
			b.Run(fmt.Sprintf("tasks=%d/%s", n, method), func(b *testing.B) {
				worst := 1.0
				for b.Loop() {
					for _, p := range populations() {
						worst = math.Min(worst, p.coverage(method, n, coverageK, trials))
					}
				}
				b.ReportMetric(worst, "worst-coverage")
			})
		}
		b.Run(fmt.Sprintf("tasks=%d/one-attempt", n), func(b *testing.B) {
			worst := 1.0
			for b.Loop() {
				for _, p := range populations() {
					worst = math.Min(worst, p.coverage(intervalMethod, n, 1, trials))
				}
			}
			b.ReportMetric(worst, "worst-coverage")
		})
	}
}
