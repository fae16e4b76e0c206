package live

import "time"

// windowBuckets is how many seconds of throughput are kept: what the sparkline
// shows.
const windowBuckets = 12

// rate measures how many rollouts end in a second, from counts as they are heard.
type rate struct {
	runID string
	marks []mark
}

type mark struct {
	at    time.Time
	ended int
}

// add takes note of how many have ended.
func (r *rate) add(at time.Time, runID string, ended int) {
	if r.runID != runID {
		*r = rate{runID: runID}
	}
	r.marks = append(r.marks, mark{at, ended})
	keep := at.Add(-(windowBuckets + 1) * time.Second)
	drop := 0
	for drop < len(r.marks)-2 && r.marks[drop+1].at.Before(keep) {
		drop++
	}
	r.marks = r.marks[drop:]
}

// span is how much of the recent past a rate is taken over.
const span = 5 * time.Second

// perSecond is the rate over the last seconds, 0 while it cannot be said.
func (r *rate) perSecond(runID string) float64 {
	if r.runID != runID || len(r.marks) < 2 {
		return 0
	}
	last := r.marks[len(r.marks)-1]
	from := r.marks[0]
	for _, m := range r.marks {
		if last.at.Sub(m.at) <= span {
			break
		}
		from = m
	}
	took := last.at.Sub(from.at).Seconds()
	if took <= 0 {
		return 0
	}
	return float64(last.ended-from.ended) / took
}

// history is how many ended in each of the last seconds, oldest first.
func (r *rate) history(runID string) []float64 {
	out := make([]float64, windowBuckets)
	if r.runID != runID || len(r.marks) < 2 {
		return out
	}
	last := r.marks[len(r.marks)-1].at
	for i := 1; i < len(r.marks); i++ {
		ago := int(last.Sub(r.marks[i].at) / time.Second)
		if ago < windowBuckets {
			out[windowBuckets-1-ago] += float64(r.marks[i].ended - r.marks[i-1].ended)
		}
	}
	return out
}
