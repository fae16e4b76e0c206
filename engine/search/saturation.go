package search

import (
	"fmt"

	"assay/engine/record"
)

// Saturation is how much of what the agent does has been seen: of the rollouts
// that teach, how many behaviours they showed, and how many of those once only.
type Saturation struct {
	Rollouts   int `json:"rollouts"`
	Behaviours int `json:"behaviors"`
	Once       int `json:"once"`
}

// saturatedRollouts is the fewest rollouts of which it is said that they have seen
// it all: a behaviour of one rollout in fifty is then seen with a chance of 98%.
const saturatedRollouts = 200

// saturatedShare is the chance of a new behaviour, in millionths, at which a
// search is called saturated: fifty rollouts for one more. Convention, untested.
const saturatedShare = ppm / 50

// New is the chance that the next rollout shows a behaviour not seen yet, in
// millionths: the share of rollouts whose behaviour was seen once (Good 1953, who
// credits Turing). Rollouts of one task are alike, so that it is rather too low.
func (s Saturation) New() int {
	if s.Rollouts == 0 {
		return ppm
	}
	return s.Once * ppm / s.Rollouts
}

// saw counts a rollout's behaviour, and reports whether it is new.
func (s *Saturation) saw(seen map[string]int, behaviour string) bool {
	s.Rollouts++
	seen[behaviour]++
	switch seen[behaviour] {
	case 1:
		s.Behaviours++
		s.Once++
		return true
	case 2:
		s.Once--
	}
	return false
}

// warning says that a search has seen what there is to see.
func (s Saturation) warning() (w record.Warning, ok bool) {
	if s.Rollouts < saturatedRollouts || s.New() > saturatedShare {
		return w, false
	}
	return record.Warning{Code: "saturated", Text: fmt.Sprintf("the search is saturated: %d rollouts showed %d behaviours, and about one further rollout in %d would show another", s.Rollouts, s.Behaviours, ppm/max(s.New(), ppm/s.Rollouts)),
		Fix: "more of the same shows little: widen dimensions, raise strength, or change the agent"}, true
}
