package model

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// firstDelay and longestDelay are those of the makers' own clients.
	firstDelay   = 500 * time.Millisecond
	longestDelay = 30 * time.Second
	// longestOwnDelay is how long a server's own delay is waited for: limits are counted
	// by the minute, and a server that says more is asked in vain for this run.
	// Convention, untested.
	longestOwnDelay = 2 * time.Minute
)

// delay is how long to wait before the next try, after as many as were made: the
// server's own delay where it said one and a little more, so that those who wait do
// not come back all at once; else exponential with full jitter (Brooker 2015). draw is in
// [0, 1).
func delay(tries int, own time.Duration, draw float64) time.Duration {
	if own >= 0 {
		return own + time.Duration(draw*float64(min(own/10+firstDelay/10, firstDelay)))
	}
	most := min(firstDelay<<min(tries-1, 16), longestDelay)
	return time.Duration((0.1 + 0.9*draw) * float64(most))
}

// none is that a server said no delay.
const none time.Duration = -1

// ownDelay reads what a server says of when to come back: retry-after-ms, or
// Retry-After in seconds or as a date.
func ownDelay(h http.Header, now time.Time) time.Duration {
	if ms, ok := number(h.Get("Retry-After-Ms")); ok {
		return spanOf(ms, time.Millisecond)
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if s, ok := number(text); ok {
		return spanOf(s, time.Second)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return none
}

func number(text string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return v, err == nil && v >= 0 && !math.IsInf(v, 0)
}

// spanOf is a number of units; one that no duration holds is the longest.
func spanOf(v float64, unit time.Duration) time.Duration {
	if v >= float64(math.MaxInt64)/float64(unit) {
		return math.MaxInt64
	}
	return time.Duration(v * float64(unit))
}
