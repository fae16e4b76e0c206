package stats

import "math"

// Estimate is one number as it may be shown: with its interval and how many
// independent things stand behind it. Value is nil where there is nothing to
// average; Lo and Hi are nil where there is no interval, and then the reason
// stands in a warning beside it.
type Estimate struct {
	Value *float64 `json:"value"`
	Lo    *float64 `json:"lo"`
	Hi    *float64 `json:"hi"`
	// N counts tasks, or labels where the estimate is of a judge.
	N int `json:"n"`
}

// NewEstimate is value with the interval [lo, hi] over n things. A bound or value
// that is not finite is left nil: it is not a number that can be shown.
func NewEstimate(value, lo, hi float64, n int) Estimate {
	e := Estimate{Value: finite(value), N: n}
	if l, h := finite(lo), finite(hi); l != nil && h != nil {
		e.Lo, e.Hi = l, h
	}
	return e
}

// Point is value without an interval.
func Point(value float64, n int) Estimate {
	return NewEstimate(value, math.NaN(), math.NaN(), n)
}

func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
