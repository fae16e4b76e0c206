package engine

import (
	"math"
	"math/rand/v2"
	"testing"

	"assay/engine/record"
	"assay/engine/stats"
)

func TestPowerVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		base, effect float64
		have         int
		want         PowerVerdict
	}{
		"sized":        {0.5, 0.1, 0, PowerSized},
		"enough":       {0.5, 0.1, 400, PowerEnough},
		"perhaps":      {0.5, 0.1, 120, PowerPerhaps},
		"too few":      {0.5, 0.1, 20, PowerTooFew},
		"detectable":   {0.5, 0, 100, PowerDetectable},
		"saturated":    {0.98, 0.01, 50, PowerSaturated}, // and never sized as two tasks
		"floored":      {0.02, 0.3, 50, PowerFloored},
		"out of reach": {0.8, 0.3, 50, PowerOutOfReach},
		"all there is": {0.8, 0.2, 0, PowerSized}, // 1-0.8 is under 0.2 in a double
	} {
		r := PowerReport{Base: c.base, K: 4, SD: math.Sqrt(0.5 / 4), SDSource: sdBinomial, Have: c.have}
		if c.effect > 0 {
			r.Effect = &c.effect
		}
		r.decide(1, 1)
		if r.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %v", name, r.Verdict, c.want, r.Notes)
		}
		sized := c.want == PowerSized || c.want == PowerEnough || c.want == PowerPerhaps || c.want == PowerTooFew
		if (r.NTasks != nil) != sized || sized && !(*r.NLow < *r.NTasks) {
			t.Errorf("%s: n from %v to %v", name, r.NLow, r.NTasks)
		}
	}
}

// By hand: ((1.95996+0.84162)/0.1)^2 times 0.125 is 98.1, and times 0.125+0.09 is 168.7.
func TestPowerByHand(t *testing.T) {
	effect := 0.1
	r := PowerReport{Effect: &effect, Base: 0.5, K: 4, SD: math.Sqrt(0.125)}
	if r.decide(1, 1); *r.NLow != 99 || *r.NTasks != 169 {
		t.Errorf("%d to %d tasks, want 99 to 169", *r.NLow, *r.NTasks)
	}
}

func TestRerunSD(t *testing.T) {
	rate := func(task string, run, passed int, heldOut bool) record.TaskRate {
		return record.TaskRate{TaskID: task, EvalRun: run, Graded: 4, Passed: passed, HeldOut: heldOut}
	}
	// Differences of 0.5 and 0 and, of a task seen once or in training, none: the mean
	// square is 0.125.
	sd, df := rerunSD([]record.TaskRate{rate("a", 0, 1, true), rate("b", 0, 2, true), rate("c", 0, 4, true), rate("d", 0, 0, false),
		rate("a", 1, 3, true), rate("b", 1, 2, true), rate("d", 1, 4, false)})
	if df != 2 || math.Abs(sd-math.Sqrt(0.125)) > 1e-12 {
		t.Errorf("sd %v on %d degrees of freedom", sd, df)
	}
}

// TestPowerSizesReachTheirPower draws the populations that the two sizes are for: tasks
// that all gain alike, and tasks of which a few gain all and the rest nothing. The mean
// difference is held against its own error with a t interval over tasks.
func TestPowerSizesReachTheirPower(t *testing.T) {
	sets := 2000
	if testing.Short() {
		sets = 400
	}
	const base, effect, k = 0.5, 0.2, 4
	wanted := effect
	r := PowerReport{Effect: &wanted, Base: base, K: k, SD: stats.BinomialSD(base, effect, k), SDSource: sdBinomial}
	r.decide(1, 1)
	rng := rand.New(rand.NewPCG(5, 6))
	passed := func(p float64) (share float64) {
		for range k {
			if rng.Float64() < p {
				share += 1.0 / k
			}
		}
		return share
	}
	for name, c := range map[string]struct {
		n    int
		gain func() (before, after float64)
	}{
		"alike": {*r.NLow, func() (float64, float64) { return base, base + effect }},
		"a few": {*r.NTasks, func() (float64, float64) {
			// Of tasks that gain all the base is 0; the rest stand at the same mean.
			if rng.Float64() < effect {
				return 0, 1
			}
			return base / (1 - effect), base / (1 - effect)
		}},
	} {
		shown := 0
		for range sets {
			sum, squares := 0.0, 0.0
			for range c.n {
				before, after := c.gain()
				d := passed(after) - passed(before)
				sum, squares = sum+d, squares+d*d
			}
			n := float64(c.n)
			mean := sum / n
			if se := math.Sqrt((squares/n - mean*mean) / (n - 1)); mean > stats.TQuantile(0.975, n-1)*se {
				shown++
			}
		}
		// Four errors of a share, and what a normal size leaves out of a t interval.
		share, slack := float64(shown)/float64(sets), 4*math.Sqrt(0.16/float64(sets))
		t.Logf("%s: %d tasks show it in %.3f of %d sets", name, c.n, share, sets)
		if share < powerWant-slack-0.03 || name == "alike" && share > powerWant+slack+0.03 {
			t.Errorf("%s: %d tasks show %.2f in %.3f of sets, want about %.2f", name, c.n, effect, share, powerWant)
		}
	}
}
