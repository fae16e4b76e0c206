package delta

import (
	"math"
	"testing"
)

// Changes that cancel leave no digits of rounding to be read as a change.
func TestChangesThatCancelAreNone(t *testing.T) {
	for change, want := range map[float64]float64{-1.3e-17: 0, 4e-10: 0, 0: 0, 1e-6: 1e-6, -0.25: -0.25} {
		if got := settled(change); got != want || math.Signbit(got) != (want < 0) {
			t.Errorf("settled(%g) = %g, want %g", change, got, want)
		}
	}
}
