package stats_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"assay/engine/stats"
)

// The lady tasting tea (Fisher 1935, The Design of Experiments, II): three of four cups
// right by chance is 17 in 70, four of four 1 in 70.
func TestFisherTea(t *testing.T) {
	for hits, want := range map[int]float64{3: 17.0 / 70, 4: 1.0 / 70} {
		if got := stats.FisherGreater(hits, 4, 4-hits, 4); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d of 4 cups: p %v, want %v", hits, got, want)
		}
	}
	// Fisher 1935 on twins of convicts (The Logic of Inductive Inference): 10 of 13
	// against 2 of 17 is 0.000465 by chance.
	if got := stats.FisherGreater(10, 13, 2, 17); math.Abs(got-0.000465) > 5e-7 {
		t.Errorf("twins: p %v", got)
	}
	if got := stats.FisherGreater(0, 0, 1, 2); got != 1 {
		t.Errorf("an empty group: p %v", got)
	}
}

// A second way, in whole numbers: every table with these margins, counted.
func TestFisherCounted(t *testing.T) {
	choose := func(n, k int) *big.Int { return new(big.Int).Binomial(int64(n), int64(k)) }
	rapid.Check(t, func(t *rapid.T) {
		n, other := rapid.IntRange(1, 40).Draw(t, "n"), rapid.IntRange(1, 40).Draw(t, "other")
		hits, otherHits := rapid.IntRange(0, n).Draw(t, "hits"), rapid.IntRange(0, other).Draw(t, "other hits")
		sum := new(big.Int)
		for k := hits; k <= n && k <= hits+otherHits; k++ {
			if rest := hits + otherHits - k; rest <= other {
				sum.Add(sum, new(big.Int).Mul(choose(n, k), choose(other, rest)))
			}
		}
		want, _ := new(big.Rat).SetFrac(sum, choose(n+other, hits+otherHits)).Float64()
		if got := stats.FisherGreater(hits, n, otherHits, other); math.Abs(got-want) > 1e-9 {
			t.Fatalf("%d of %d against %d of %d: p %v, counted %v", hits, n, otherHits, other, got, want)
		}
	})
}

// The fifteen comparisons of Benjamini and Hochberg 1995, section 3.2, of which the
// first four are discoveries at 0.05; adjusted by hand.
func TestFalseDiscoveryPublished(t *testing.T) {
	ps := []float64{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.000}
	want := []float64{0.0015, 0.003, 0.0095, 0.035625, 0.0603, 0.063857142857, 0.063857142857, 0.0645, 0.0765, 0.486, 0.5811818181818, 0.714875, 0.7532307692308, 0.8132142857143, 1}
	found := 0
	for i, q := range stats.FalseDiscovery(ps) {
		if math.Abs(q-want[i]) > 1e-9 {
			t.Errorf("%d: q %v, want %v", i, q, want[i])
		}
		if q <= 0.05 {
			found++
		}
	}
	if found != 4 {
		t.Errorf("%d discoveries", found)
	}
	if q := stats.FalseDiscovery([]float64{math.NaN(), 0.02, 0.04}); !math.IsNaN(q[0]) || q[1] != 0.04 || q[2] != 0.04 {
		t.Errorf("with a test that was not made: %v", q)
	}
}

// Simulated: where a third of the tests have something to find, at most q of what is
// found is nothing, and most of it is found.
func TestFalseDiscoveryHoldsItsShare(t *testing.T) {
	const q, tests, trials = 0.1, 30, 2000
	rng := rand.New(rand.NewPCG(7, 9))
	falseShare, power := 0.0, 0.0
	for range trials {
		ps := make([]float64, tests)
		for i := range ps {
			z := rng.NormFloat64()
			if i < tests/3 {
				z += 3
			}
			ps[i] = math.Erfc(z/math.Sqrt2) / 2
		}
		found, wrong := 0, 0
		for i, a := range stats.FalseDiscovery(ps) {
			if a <= q {
				found++
				if i >= tests/3 {
					wrong++
				}
			}
		}
		falseShare += float64(wrong) / float64(max(found, 1)) / trials
		power += float64(found-wrong) / (tests / 3) / trials
	}
	// Its expectation is q times the share of true nulls, 0.067; three errors of the mean
	// of 2,000 trials are 0.006.
	if falseShare > q || falseShare < 0.05 || power < 0.5 {
		t.Errorf("false share %.3f, power %.2f", falseShare, power)
	}
}
