package delta_test

import (
	"math"
	"testing"

	"assay/engine/delta"
)

// Runs of one agent must pass for different no more often than the level says: the
// interval alone would at 0.05, the noise band takes more away.
func TestFalseAlarms(t *testing.T) {
	const trials = 400
	alarms := 0
	for seed := range uint64(trials) {
		switch shifted(1000+seed, 20, 3, 4, 0.6, 0.6).compare(t, nil).Headline {
		case delta.Passed, delta.Fail:
			alarms++
		}
	}
	if rate, most := float64(alarms)/trials, 0.05+3*math.Sqrt(0.05*0.95/trials); rate > most {
		t.Errorf("%.3f of comparisons of one agent with itself were called different, over %.3f", rate, most)
	}
}

// The rule that ships must see what is there: a gain of 0.3 on 30 tasks.
func TestPower(t *testing.T) {
	const trials = 100
	passed := 0
	for seed := range uint64(trials) {
		if shifted(5000+seed, 30, 3, 4, 0.4, 0.7).compare(t, nil).Headline == delta.Passed {
			passed++
		}
	}
	// The band's t at 4 degrees of freedom asks for 3.4 standard errors of a run mean; the
	// gain is 9 of them, and run_std is itself an estimate.
	if passed < 90 {
		t.Errorf("a gain of 0.3 was seen in %d of %d comparisons", passed, trials)
	}
}
