package record

import (
	"encoding/json"
	"fmt"
	"time"
)

// Status of a rollout.
type Status string

// Rollout statuses. done and lost are final; a resumed run makes the rest again.
const (
	StatusPlanned Status = "planned"
	StatusRunning Status = "running"
	StatusDone    Status = "done"
	StatusLost    Status = "lost"
	StatusAborted Status = "aborted"
)

// Key names a rollout within its run.
type Key struct {
	TaskID  string
	EvalRun int
	K       int
}

// String is the form of label files: task_id#k, or task_id#eval_run.k where
// there are several eval runs.
func (k Key) String() string {
	if k.EvalRun == 0 {
		return fmt.Sprintf("%s#%d", k.TaskID, k.K)
	}
	return fmt.Sprintf("%s#%d.%d", k.TaskID, k.EvalRun, k.K)
}

// Compare orders keys by eval run, task and k: the order of canonical rows.
func (k Key) Compare(o Key) int {
	switch {
	case k.EvalRun != o.EvalRun:
		return k.EvalRun - o.EvalRun
	case k.TaskID < o.TaskID:
		return -1
	case k.TaskID > o.TaskID:
		return 1
	}
	return k.K - o.K
}

// RolloutID is the identity of a rollout of one run.
func RolloutID(runID string, key Key) string {
	return Identity("rollout", struct {
		Run     string `json:"run"`
		EvalRun int    `json:"eval_run"`
		TaskID  string `json:"task_id"`
		K       int    `json:"k"`
	}{runID, key.EvalRun, key.TaskID, key.K})
}

// How a conversation ended.
const (
	EndedByAgent     = "agent"      // the reply closed it
	EndedByUser      = "user"       // the user had what they wanted, or gave up asking
	EndedByUserLeft  = "user_left"  // the user's patience ran out: a result, not an error
	EndedByTurnLimit = "turn_limit" // max_turns was reached
	EndedByError     = "error"      // the rollout was lost
)

// Rollout is one attempt at one task.
type Rollout struct {
	ID     string
	RunID  string
	Key    Key
	Status Status
	Cause  Cause
	Error  Text // the whole error of a lost rollout
	// FinishReason is that of the last reply.
	FinishReason FinishReason
	EndedBy      string
	FinalText    Text
	Steps        []Step
	Usage        *Usage
	LogProbs     []LogProbs // one per agent turn, where they were asked for
	// Latency is the wall time of the attempt that counted.
	Latency time.Duration
	// Attempts counts tries, the first included.
	Attempts      int
	Sampling      json.RawMessage
	PolicyVersion string
	PromptHash    string // identity of the system prompt as sent
	WriterModel   string
	UserModel     string
	// PromptTruncated says that the prompt was cut to fit.
	PromptTruncated bool
	// Prompt is an imported trial's own prompt; "" means the task's ask.
	Prompt Text
	// Behavior is the signature of what the agent did.
	Behavior string
	// Privileged holds what only the truth may know, {"truth": {"ok", "fault"}}.
	Privileged json.RawMessage
	// Extra holds members of replies and of imported rows that have no field here.
	Extra                 map[string]json.RawMessage
	StartedAt, FinishedAt time.Time
}

// Truth is what the builtin agent says of its own rollout: whether it behaved,
// and which fault it played where it did not. It reaches no judge and no card.
type Truth struct {
	OK    bool   `json:"ok"`
	Fault string `json:"fault,omitempty"`
}

// TruthOf reads the truth out of a rollout's privileged block.
func TruthOf(privileged json.RawMessage) (Truth, bool) {
	var p struct {
		Truth *Truth `json:"truth"`
	}
	if len(privileged) == 0 || json.Unmarshal(privileged, &p) != nil || p.Truth == nil {
		return Truth{}, false
	}
	return *p.Truth, true
}
