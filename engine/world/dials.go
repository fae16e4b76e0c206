package world

import (
	"errors"
	"fmt"
	"time"
)

// Dials are the numbers that shape a world. The zero value is no world; begin
// with [DefaultDials].
type Dials struct {
	// LatencyMinMS and LatencyMaxMS bound the simulated latency of a call that
	// answers, in milliseconds.
	LatencyMinMS, LatencyMaxMS int
	// TimeoutMS is the simulated latency of a call that times out.
	TimeoutMS int
	// Jitter is how far a number of an example result may move, as a share of it:
	// 0 to 1/3.
	Jitter float64
	// FaultRate is the share of the faulted tool's calls that the planned fault
	// hits, 0 to 1. Below 1 the draw depends on how often the tool was called, so
	// that a retry can succeed.
	FaultRate float64
	// StaleDays is the greatest age of a stale result, in days.
	StaleDays int
	// ListMax is the most records that a list holds beside those the task sets up.
	ListMax int
	// ArgumentBytes is the most bytes of arguments that a call may carry.
	ArgumentBytes int
	// Now is the world's own date. Ages and dates are counted from it.
	Now time.Time
}

// DefaultDials are the dials of every run.
func DefaultDials() Dials {
	return Dials{
		LatencyMinMS:  40,                                           // convention, untested: a service in the same region
		LatencyMaxMS:  400,                                          // convention, untested: a slow one, still without a spinner
		TimeoutMS:     30_000,                                       // convention, untested: the usual limit of API gateways is 29 or 30 s
		Jitter:        1.0 / 3,                                      // the contract of a result shape given by the user
		FaultRate:     1,                                            // a planned fault is a property of the situation, so it holds for all its calls
		StaleDays:     9,                                            // convention, untested: old enough to be wrong, not old enough to be absurd
		ListMax:       3,                                            // convention, untested: a list that fits in a transcript
		ArgumentBytes: 1 << 20,                                      // convention, untested: gateways refuse bodies from 1 to 10 MiB
		Now:           time.Date(2026, 1, 12, 9, 0, 0, 0, time.UTC), // a Monday morning; fixed, so that an answer never depends on the day of the run
	}
}

// Check names the first dial that is out of its range.
func (d Dials) Check() error {
	switch {
	case d.LatencyMinMS < 0 || d.LatencyMaxMS < d.LatencyMinMS:
		return fmt.Errorf("latency %d..%d ms: want 0 <= min <= max", d.LatencyMinMS, d.LatencyMaxMS)
	case d.TimeoutMS < 0:
		return fmt.Errorf("timeout %d ms: want 0 or more", d.TimeoutMS)
	case !(d.Jitter >= 0 && d.Jitter <= 1.0/3):
		return fmt.Errorf("jitter %g: want 0 to 1/3", d.Jitter)
	case !(d.FaultRate >= 0 && d.FaultRate <= 1):
		return fmt.Errorf("fault rate %g: want 0 to 1", d.FaultRate)
	case d.StaleDays < 1:
		return fmt.Errorf("stale days %d: want 1 or more", d.StaleDays)
	case d.ListMax < 1:
		return fmt.Errorf("list of %d: want 1 or more", d.ListMax)
	case d.ArgumentBytes < 2:
		return fmt.Errorf("arguments of %d bytes: want 2 or more", d.ArgumentBytes)
	case d.Now.IsZero():
		return errors.New("the world has no date")
	}
	return nil
}
