package stats_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"assay/engine/stats"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance {
		t.Errorf("%s = %.6f, want %.6f within %g", what, got, want, tolerance)
	}
}

func TestWilsonPublished(t *testing.T) {
	// Newcombe 1998, "Two-sided confidence intervals for the single proportion", table I,
	// method 3 (score without continuity correction).
	for _, c := range []struct {
		k, n   int
		lo, hi float64
	}{
		{81, 263, 0.2553, 0.3662},
		{15, 148, 0.0624, 0.1605},
		{0, 20, 0, 0.1611},
		{1, 29, 0.0061, 0.1718},
	} {
		lo, hi := stats.Wilson(c.k, c.n, 1.959964)
		near(t, "lower", lo, c.lo, 5e-5)
		near(t, "upper", hi, c.hi, 5e-5)
	}
}

// The score interval is by definition where the normal score test of the rate does not
// reject: a bisection of that test shares nothing with the closed form.
func TestWilsonInvertsTheScoreTest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 400).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")
		z := rapid.Float64Range(0.5, 3).Draw(t, "z")
		lo, hi := stats.Wilson(k, n, z)
		rate := float64(k) / float64(n)
		score := func(p float64) float64 { return math.Abs(rate-p) / math.Sqrt(p*(1-p)/float64(n)) }
		edge := func(inside, outside float64) float64 {
			for range 80 {
				if mid := (inside + outside) / 2; score(mid) <= z {
					inside = mid
				} else {
					outside = mid
				}
			}
			return inside
		}
		if want := edge(rate, 0); k > 0 && math.Abs(lo-want) > 1e-9 {
			t.Fatalf("lower = %v, the test says %v", lo, want)
		}
		if want := edge(rate, 1); k < n && math.Abs(hi-want) > 1e-9 {
			t.Fatalf("upper = %v, the test says %v", hi, want)
		}
	})
}

func TestWilsonCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const trials, n, rate = 4000, 50, 0.3
	covered := 0
	for range trials {
		k := 0
		for range n {
			if rng.Float64() < rate {
				k++
			}
		}
		if lo, hi := stats.Wilson(k, n, stats.Z95); lo <= rate && rate <= hi {
			covered++
		}
	}
	// Its exact coverage at 50 and 0.3 is 0.957; three Monte Carlo errors are 0.010.
	near(t, "coverage", float64(covered)/trials, 0.957, 0.010)
}

func TestMcNemarExactAgainstBigIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.IntRange(0, 300).Draw(t, "b")
		c := rapid.IntRange(0, 300).Draw(t, "c")
		tail := new(big.Int)
		for i := range min(b, c) + 1 {
			tail.Add(tail, new(big.Int).Binomial(int64(b+c), int64(i)))
		}
		p, _ := new(big.Rat).SetFrac(tail.Lsh(tail, 1), new(big.Int).Lsh(big.NewInt(1), uint(b+c))).Float64()
		want := math.Min(1, p)
		if got := stats.McNemarExact(b, c); math.Abs(got-want) > 1e-9*want+1e-300 {
			t.Fatalf("p(%d, %d) = %v, exact %v", b, c, got, want)
		}
	})
}

// The pooled z squared is Pearson's chi-square of the 2x2 table, counted here cell by
// cell, and its p that distribution's tail with one degree of freedom.
func TestTwoProportionsIsPearsonsChiSquare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n1, n2 := rapid.IntRange(1, 200).Draw(t, "n1"), rapid.IntRange(1, 200).Draw(t, "n2")
		k1, k2 := rapid.IntRange(0, n1).Draw(t, "k1"), rapid.IntRange(0, n2).Draw(t, "k2")
		passed, total := float64(k1+k2), float64(n1+n2)
		if passed == 0 || passed == total {
			if p := stats.TwoProportions(k1, n1, k2, n2); p != 1 {
				t.Fatalf("nothing tells them apart, p = %v", p)
			}
			return
		}
		chi := 0.0
		for _, cell := range [][3]float64{
			{float64(k1), float64(n1), passed}, {float64(n1 - k1), float64(n1), total - passed},
			{float64(k2), float64(n2), passed}, {float64(n2 - k2), float64(n2), total - passed},
		} {
			expected := cell[1] * cell[2] / total
			chi += (cell[0] - expected) * (cell[0] - expected) / expected
		}
		want := distuv.ChiSquared{K: 1}.Survival(chi)
		if got := stats.TwoProportions(k1, n1, k2, n2); math.Abs(got-want) > 1e-9 {
			t.Fatalf("p = %v, chi-square says %v", got, want)
		}
	})
}

func TestPassEstimatorsAgainstEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 10).Draw(t, "n")
		c := rapid.IntRange(0, n).Draw(t, "c")
		k := rapid.IntRange(1, n).Draw(t, "k")
		any, all, subsets := 0, 0, 0
		for set := range 1 << n { // attempt i passed when i < c
			size, passed := 0, 0
			for i := range n {
				if set>>i&1 == 1 {
					size++
					if i < c {
						passed++
					}
				}
			}
			if size != k {
				continue
			}
			subsets++
			if passed > 0 {
				any++
			}
			if passed == k {
				all++
			}
		}
		if got, want := stats.PassAtK(n, c, k), float64(any)/float64(subsets); math.Abs(got-want) > 1e-12 {
			t.Fatalf("pass@%d of %d in %d = %v, want %v", k, c, n, got, want)
		}
		if got, want := stats.PassPowK(n, c, k), float64(all)/float64(subsets); math.Abs(got-want) > 1e-12 {
			t.Fatalf("pass^%d of %d in %d = %v, want %v", k, c, n, got, want)
		}
	})
}

func TestPassEstimatorsAreUnbiased(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	const trials, n, k, p = 200_000, 5, 3, 0.4
	at, pow := 0.0, 0.0
	for range trials {
		c := 0
		for range n {
			if rng.Float64() < p {
				c++
			}
		}
		at += stats.PassAtK(n, c, k)
		pow += stats.PassPowK(n, c, k)
	}
	near(t, "pass@3", at/trials, 1-math.Pow(1-p, k), 0.003)
	near(t, "pass^3", pow/trials, math.Pow(p, k), 0.003)
}

func TestPassEstimatorsRefuse(t *testing.T) {
	for _, c := range [][3]int{{2, 1, 3}, {3, 1, 0}, {0, 0, 1}, {3, 4, 1}, {3, -1, 1}} {
		if v := stats.PassPowK(c[0], c[1], c[2]); !math.IsNaN(v) {
			t.Errorf("PassPowK%v = %v, want NaN", c, v)
		}
		if v := stats.PassAtK(c[0], c[1], c[2]); !math.IsNaN(v) {
			t.Errorf("PassAtK%v = %v, want NaN", c, v)
		}
	}
}
