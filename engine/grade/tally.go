package grade

import (
	"fmt"

	"assay/engine/record"
)

// Tally counts the judgments of one scorer version. The zero value is empty. It is not
// safe for concurrent use.
type Tally struct {
	N      int                        `json:"n"`
	Status map[record.JudgeStatus]int `json:"status"`
	// Passed are rewards at or over the threshold, Partial those strictly between 0 and 1,
	// Cut verdicts on transcripts that were cut for the judge.
	Passed  int `json:"passed"`
	Partial int `json:"n_partial"`
	Cut     int `json:"cut"`
	// Constant is the one reward that all had, null where they differ or are fewer than
	// two.
	Constant *float64 `json:"constant"`

	first  float64
	varies bool
}

// Add counts one judgment. threshold is the reward that passes.
func (t *Tally) Add(j *record.Judgment, threshold float64) {
	if t.Status == nil {
		t.Status = map[record.JudgeStatus]int{}
	}
	t.N++
	t.Status[j.Status]++
	t.Cut += count(len(j.Cut) > 0 && string(j.Cut) != "null")
	if j.Status != record.JudgeOK {
		return
	}
	reward := *j.Reward
	if t.Status[record.JudgeOK] == 1 {
		t.first = reward
	}
	t.Passed += count(reward >= threshold)
	t.Partial += count(reward > 0 && reward < 1)
	t.varies = t.varies || reward != t.first
	t.Constant = nil
	if !t.varies && t.Status[record.JudgeOK] > 1 {
		constant := t.first
		t.Constant = &constant
	}
}

// Unjudged are judgments without a reward: they are in no rate.
func (t *Tally) Unjudged() int { return t.N - t.Status[record.JudgeOK] }

// Warnings say what a reader of the rate must know. runID stands in their fixes.
func (t *Tally) Warnings(runID string) []record.Warning {
	var out []record.Warning
	if t.Constant != nil {
		out = append(out, record.Warning{Code: "constant_judge", Text: fmt.Sprintf("every rollout was given %g: check the judge before reading this as a result", *t.Constant), Fix: "read some of its reasons with assay rows " + runID})
	}
	if n := t.Unjudged(); n > 0 {
		out = append(out, record.Warning{Code: "unjudged", Text: fmt.Sprintf("%d of %d rollouts have no reward and are in no rate", n, t.N), Fix: "assay grade " + runID + " --only-missing"})
	}
	return out
}
