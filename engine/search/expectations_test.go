package search

import (
	"math"
	"reflect"
	"testing"

	"assay/engine/record"
)

// C3: of one cell, the faulted and the clean row never share an id.
func TestC3AFaultHasItsOwnDigest(t *testing.T) {
	in := oncallInput(t)
	faulted := 0
	clean := map[string]bool{}
	in.FaultRate = 0
	for _, posed := range all(t, mustNew(t, in)) {
		clean[posed.Task.SituationID] = true
	}
	in.FaultRate = 1
	for _, posed := range all(t, mustNew(t, in)) {
		if posed.Task.Fault == nil {
			continue
		}
		faulted++
		without := record.SituationID(posed.Task.Axes, nil)
		if posed.Task.SituationID == without || clean[posed.Task.SituationID] {
			t.Errorf("%v with %v has the id of a clean row", posed.Task.Axes, posed.Task.Fault)
		}
	}
	if faulted < 10 {
		t.Errorf("only %d faulted rows", faulted)
	}
}

// C4: fault_rate is the share of the fault situations that keep their fault.
func TestC4FaultRateIsAShareOfSituations(t *testing.T) {
	faults := func(rate float64) int {
		in := oncallInput(t)
		in.FaultRate = rate
		n := 0
		for _, posed := range all(t, mustNew(t, in)) {
			if posed.Task.Fault != nil {
				n++
			}
		}
		return n
	}
	whole := faults(1)
	for _, rate := range []float64{0, 0.25, 0.5} {
		got := float64(faults(rate)) / float64(whole)
		// Four standard errors of a share of so many situations.
		if margin := 4 * math.Sqrt(rate*(1-rate)/float64(whole)); math.Abs(got-rate) > margin {
			t.Errorf("at fault_rate %g, %.2f of %d fault situations keep their fault", rate, got, whole)
		}
	}
}

// C6: asking for coverage twice gives the same, from the array that was built once.
func TestC6CoverageIsNotRebuilt(t *testing.T) {
	p := mustNew(t, oncallInput(t))
	done := all(t, p)
	first := p.Coverage(done)
	if again := p.Coverage(done); !reflect.DeepEqual(first, again) {
		t.Errorf("asked twice: %+v and %+v", first, again)
	}
	if first.Covered == 0 {
		t.Errorf("nothing is covered: %+v", first)
	}
	before := &p.in.Array.Rows[0][0]
	p.Coverage(done)
	if &p.in.Array.Rows[0][0] != before {
		t.Error("the array was built again")
	}
}
