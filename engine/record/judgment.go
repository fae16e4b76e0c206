package record

import (
	"encoding/json"
	"time"
)

// JudgeStatus says whether a scorer's word can be used.
type JudgeStatus string

// Judgment statuses. Only ok carries a reward.
const (
	JudgeOK            JudgeStatus = "ok"
	JudgeMissingReward JudgeStatus = "missing_reward"
	JudgeInvalidResult JudgeStatus = "invalid_result"
	JudgeError         JudgeStatus = "error"
	JudgeTimeout       JudgeStatus = "timeout"
)

// JudgeStatuses lists the statuses, ok first.
func JudgeStatuses() []JudgeStatus {
	return []JudgeStatus{JudgeOK, JudgeMissingReward, JudgeInvalidResult, JudgeError, JudgeTimeout}
}

// Scorer is one version of what grades: a judge with its rubric and settings, a
// verifier, a rule set, a marker's expression. Another rubric is another scorer.
type Scorer struct {
	// ID is "kind:name@hash", the hash over model, rubric and settings.
	ID         string          `json:"scorer"`
	Kind       string          `json:"kind"` // conduct, flags, checklist, grounding, marker, verify, judge, import
	Name       string          `json:"name"`
	Model      string          `json:"model,omitempty"`
	RubricHash string          `json:"rubric_hash,omitempty"`
	Settings   json.RawMessage `json:"settings,omitempty"`
}

// NewScorer fills in the ID of a scorer from the rest.
func NewScorer(kind, name, model, rubricHash string, settings json.RawMessage) Scorer {
	if len(settings) == 0 {
		settings = json.RawMessage("null")
	}
	hash := Identity("scorer", struct {
		Kind       string          `json:"kind"`
		Name       string          `json:"name"`
		Model      string          `json:"model"`
		RubricHash string          `json:"rubric_hash"`
		Settings   json.RawMessage `json:"settings"`
	}{kind, name, model, rubricHash, settings})
	return Scorer{ID: kind + ":" + name + "@" + hash, Kind: kind, Name: name, Model: model, RubricHash: rubricHash, Settings: settings}
}

// Evidence points to what a judgment or a marker rests on.
type Evidence struct {
	Rule     string `json:"rule,omitempty"`
	Step     int    `json:"step"` // index into the rollout's steps; -1 is the final text
	Fragment Text   `json:"fragment,omitempty"`
}

// Criterion is the verdict on one numbered criterion of a rubric.
type Criterion struct {
	Name   string   `json:"name"`
	Hard   bool     `json:"hard,omitempty"`
	Score  *float64 `json:"score"`
	Reason Text     `json:"reason,omitempty"`
}

// Judgment is what one scorer version said of one rollout. Judgments are
// appended, never overwritten.
type Judgment struct {
	RolloutID    string
	Scorer       string   // Scorer.ID
	Reward       *float64 // 0 to 1; nil unless Status is ok
	Status       JudgeStatus
	Reason       Text
	FailureClass string
	Criteria     []Criterion
	Evidence     []Evidence
	Raw          Text            // the scorer's reply as it came
	Meta         json.RawMessage // members of the reply with no field here
	Cut          json.RawMessage // what of the transcript was cut, by field; null where nothing
	Latency      time.Duration
	At           time.Time
}

// Marker is one named number of one scorer version on one rollout. Where it lies
// in 0..1, 1 is good.
type Marker struct {
	RolloutID string
	Scorer    string
	Name      string
	Value     *float64 // nil: does not apply, or Status is not ok
	// Status is ok, not_applicable or error.
	Status   string
	Evidence []Evidence
	Note     Text // the runtime error of an expression, or a reason
}

// Marker statuses.
const (
	MarkerOK            = "ok"
	MarkerNotApplicable = "not_applicable"
	MarkerError         = "error"
)

// Outcome is one finished rollout with all that graded it in its run. Judgment
// is nil where the run has no reward or the rollout was lost.
type Outcome struct {
	Rollout  Rollout
	Judgment *Judgment
	Markers  []Marker
}

// Reward is the outcome's reward, nil where there is none.
func (o *Outcome) Reward() *float64 {
	if o.Judgment == nil || o.Judgment.Status != JudgeOK {
		return nil
	}
	return o.Judgment.Reward
}

// Marker is the value of the named marker, nil where it has none.
func (o *Outcome) Marker(name string) *float64 {
	for i := range o.Markers {
		if o.Markers[i].Name == name && o.Markers[i].Status == MarkerOK {
			return o.Markers[i].Value
		}
	}
	return nil
}

// Sample is one outcome with the task it answers: what cut, delta and exports
// read.
type Sample struct {
	Posed
	Outcome
}

// TaskRate is what one task came to in one eval run of one run, under the run's
// scorer version and threshold.
type TaskRate struct {
	TaskID      string
	SituationID string
	HeldOut     bool
	EvalRun     int
	Done        int // rollouts that ended, graded or not
	Graded      int // of those, with a reward
	Passed      int // of those, at or over the threshold
	Partial     int // of those graded, with a reward strictly between 0 and 1
	Lost        int
	// ProbesGraded and ProbesPassed count the rollouts with k under 2.
	ProbesGraded, ProbesPassed int
	// Parent is the situation of the ask that this task's was made from, or "".
	Parent string
}
