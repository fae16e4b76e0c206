package engine

import (
	"math"
	"testing"

	"assay/engine/record"
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
