package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"assay/engine/stats"
)

// abstractors is the table cont3x3abstractors of Gwet's R package irrCAC 1.0, whose
// documentation gives the values below.
var abstractors = [][]int{{13, 0, 0}, {0, 20, 7}, {0, 4, 56}}

// standardErrorOf is what an interval at z = 1 says.
func standardErrorOf(e stats.Estimate) float64 { return (*e.Hi - *e.Lo) / 2 }

func TestKappaPublished(t *testing.T) {
	kappa := stats.Kappa(abstractors, 1)
	near(t, "kappa", *kappa.Value, 0.7964094, 5e-8)
	// irrCAC linearises with n-1 where Fleiss, Cohen and Everitt have n: within 1%.
	near(t, "its standard error", standardErrorOf(kappa), 0.05891072, 0.0006)
	// Bonett, R package statpsych, the example of ci.kappa.
	bonett := stats.Kappa([][]int{{31, 12}, {4, 58}}, 1)
	near(t, "kappa", *bonett.Value, 0.6756757, 5e-8)
	near(t, "its standard error", standardErrorOf(bonett), 0.07344761, 5e-9)
	// By hand: 35 of 50 agree, chance agrees (30x25 + 20x25)/2500 = 1/2.
	near(t, "kappa", *stats.Kappa([][]int{{20, 5}, {10, 15}}, 1).Value, 0.4, 1e-12)
}

func TestAC1Published(t *testing.T) {
	ac1 := stats.AC1(abstractors, 1)
	near(t, "AC1", *ac1.Value, 0.8493305, 5e-8)
	near(t, "its standard error", standardErrorOf(ac1), 0.04321747, 5e-8)
}

// A judge that always passes on a base of 0.4 agrees 0.40, has kappa 0 and passes every
// failure: agreement on a skewed base is not skill.
func TestAlwaysPassIsNotSkill(t *testing.T) {
	var c stats.Confusion
	for i := range 100 {
		c.Add(i < 40, true)
	}
	near(t, "agreement", *c.Agreement().Value, 0.40, 1e-12)
	near(t, "kappa", *c.Kappa(stats.Z95).Value, 0, 1e-12)
	near(t, "leak", *c.PassWhenGoldFails().Value, 1, 1e-12)
	near(t, "miss", *c.FailWhenGoldPasses().Value, 0, 1e-12)
}

func TestAgreementOfNothing(t *testing.T) {
	var c stats.Confusion
	for name, e := range map[string]stats.Estimate{
		"agreement": c.Agreement(), "kappa": c.Kappa(1.96), "AC1": c.AC1(1.96), "leak": c.PassWhenGoldFails(),
	} {
		if e.Value != nil || e.Lo != nil || e.N != 0 {
			t.Errorf("%s of no labels = %+v, want nothing", name, e)
		}
	}
	c = stats.Confusion{TP: 20}
	if k := c.Kappa(1.96); k.Value != nil || k.N != 20 {
		t.Errorf("kappa where gold is all one class = %+v, want no value over 20", k)
	}
}

// draw fills a confusion with n pairs of a judge that is right with chance right on a
// base of passes.
func draw(rng *rand.Rand, n int, base, right float64) stats.Confusion {
	var c stats.Confusion
	for range n {
		gold := rng.Float64() < base
		c.Add(gold, gold == (rng.Float64() < right))
	}
	return c
}

func TestAgreementIntervalsCover(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	const trials, n, base, right = 2000, 200, 0.6, 0.85
	// Truth by arithmetic: the judge passes base*right + (1-base)*(1-right).
	judged := base*right + (1-base)*(1-right)
	chance := base*judged + (1-base)*(1-judged)
	kappaTruth := (right - chance) / (1 - chance)
	share := (base + judged) / 2
	ac1Chance := 2 * share * (1 - share)
	ac1Truth := (right - ac1Chance) / (1 - ac1Chance)
	kappas, ac1s := 0, 0
	for range trials {
		c := draw(rng, n, base, right)
		if k := c.Kappa(stats.Z95); *k.Lo <= kappaTruth && kappaTruth <= *k.Hi {
			kappas++
		}
		if a := c.AC1(stats.Z95); *a.Lo <= ac1Truth && ac1Truth <= *a.Hi {
			ac1s++
		}
	}
	// Three Monte Carlo errors at 2,000 trials are 0.015.
	if c := float64(kappas) / trials; c < 0.95-0.015 {
		t.Errorf("kappa's interval covers %.3f", c)
	}
	if c := float64(ac1s) / trials; c < 0.95-0.015 {
		t.Errorf("AC1's interval covers %.3f", c)
	}
}

// The delta-method errors against the jackknife, which shares no algebra with them.
func TestAgreementErrorsAgainstJackknife(t *testing.T) {
	c := stats.Confusion{TP: 124, FP: 58, FN: 24, TN: 15}
	for name, of := range map[string]func(stats.Confusion) stats.Estimate{
		"kappa": func(c stats.Confusion) stats.Estimate { return stats.Kappa(tableOf(c), 1) },
		"AC1":   func(c stats.Confusion) stats.Estimate { return stats.AC1(tableOf(c), 1) },
	} {
		full, n, squares := *of(c).Value, float64(c.N()), 0.0
		for _, cell := range []struct {
			count int
			less  stats.Confusion
		}{
			{c.TP, stats.Confusion{TP: c.TP - 1, FP: c.FP, FN: c.FN, TN: c.TN}},
			{c.FP, stats.Confusion{TP: c.TP, FP: c.FP - 1, FN: c.FN, TN: c.TN}},
			{c.FN, stats.Confusion{TP: c.TP, FP: c.FP, FN: c.FN - 1, TN: c.TN}},
			{c.TN, stats.Confusion{TP: c.TP, FP: c.FP, FN: c.FN, TN: c.TN - 1}},
		} {
			d := *of(cell.less).Value - full
			squares += float64(cell.count) * d * d
		}
		jackknife := math.Sqrt((n - 1) / n * squares)
		near(t, name+"'s standard error", standardErrorOf(of(c)), jackknife, 0.02*jackknife)
	}
}

func tableOf(c stats.Confusion) [][]int { return [][]int{{c.TP, c.FN}, {c.FP, c.TN}} }
