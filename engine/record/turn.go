package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// RolloutRef says which rollout a turn belongs to.
type RolloutRef struct {
	ID      string `json:"id"`
	TaskID  string `json:"task_id"`
	EvalRun int    `json:"eval_run"`
	K       int    `json:"k"`
	Turn    int    `json:"turn"` // counted from 0
}

// ToolsBy says who answers an agent's tool calls.
type ToolsBy string

// Who answers tool calls.
const (
	ToolsByWorld ToolsBy = "world"
	ToolsByAgent ToolsBy = "agent"
)

// WorldAddress is where a rollout's own world is served over MCP.
type WorldAddress struct {
	MCP   string `json:"mcp"`
	Token string `json:"token"`
}

// Turn is all that an agent is given for one reply: the contract of every kind
// of agent. It holds no axes, fault plan, reference or truth.
type Turn struct {
	Rollout      RolloutRef
	Seed         int64 // 0 to 2^53-1
	SystemPrompt Text
	Message      Text
	History      []Step // everything before Message
	Tools        []Tool
	ToolsBy      ToolsBy
	World        *WorldAddress
	// Deadline is when the reply must be there; the zero time is no deadline.
	Deadline time.Time

	// Call asks the rollout's world and records the step. It is nil where the agent
	// answers its own tools. Calls are answered in the order in which they are made.
	Call func(context.Context, ToolCall) ToolResult
	// Say records something said before the reply. It may be nil.
	Say func(Text)
	// Stream tells of text as it is produced, for a screen; what it is given may be
	// missed and is not recorded. It may be nil.
	Stream func(Delta)
}

// Delta is a piece of a reply while it is being made.
type Delta struct {
	Text      Text
	Reasoning bool
	// Tool is the name of a tool call that begins here, "" elsewhere. Its arguments are
	// not streamed: the step follows when the call is made.
	Tool Text
	// Again says that what was heard of this answer so far is void: it is asked for anew.
	Again bool
}

// FinishReason is why an agent's reply ended.
type FinishReason string

// Finish reasons.
const (
	FinishStop   FinishReason = "stop"
	FinishLength FinishReason = "length"
	FinishTool   FinishReason = "tool"
	FinishError  FinishReason = "error"
)

// Usage counts what a rollout consumed.
type Usage struct {
	InputTokens  int64   `json:"input_tokens"`
	OutputTokens int64   `json:"output_tokens"`
	Cost         float64 `json:"cost,omitempty"` // in the currency of the recipe's price
}

// LogProbs is what an off-policy trainer needs of one agent turn.
type LogProbs struct {
	Sum    float64   `json:"logprob"`
	Tokens int       `json:"n_tokens"`
	List   []float64 `json:"token_logprobs,omitempty"`
}

// Reply is an agent's answer to one turn.
type Reply struct {
	FinalText Text
	// Steps is what an agent that answers its own tools did before FinalText. It must
	// be empty where the world answers: the rollout has recorded those itself.
	Steps        []Step
	FinishReason FinishReason // "" means stop
	Usage        *Usage
	LogProbs     *LogProbs
	// Reasoning is what the agent thought aloud, one entry for each time that it did.
	// It stays on the row and reaches neither the person nor a judge.
	Reasoning []Text
	// PromptTruncated says that what the agent was told was cut to fit.
	PromptTruncated bool
	// Privileged stays on the rollout and reaches no judge, card or training file.
	Privileged json.RawMessage
	// Extra holds members of the reply that Assay has no field for.
	Extra map[string]json.RawMessage
}

// Cause is what a rollout's trouble is put down to.
type Cause string

// Causes. The empty cause is that nothing went wrong.
const (
	CauseAgent          Cause = "agent"
	CauseUser           Cause = "user"
	CauseWorld          Cause = "world"
	CauseJudge          Cause = "judge"
	CauseInfrastructure Cause = "infrastructure"
	CauseContext        Cause = "context"
	CauseBudget         Cause = "budget"
	CauseInterrupted    Cause = "interrupted"
)

// Retried is true where a resume makes the lost rollout again: nobody whose work is
// measured is to blame. What an agent lost is its result.
func (c Cause) Retried() bool { return c == CauseInfrastructure || c == CauseInterrupted }

// AgentError is a reply that did not come, with what it is put down to. An
// error of another type counts as cause agent.
type AgentError struct {
	Cause Cause
	Err   error
	// Stop is why the whole run must stop at once: "" or one of the Stopped words
	// (auth, wrong_address).
	Stop StopReason
	// Unasked says that the agent never got the turn, so that a deadline which passed
	// meanwhile is not its doing.
	Unasked bool
	// After is how long an endpoint asks to be left alone before another try; 0 where
	// it does not say.
	After time.Duration
}

func (e *AgentError) Error() string { return e.Err.Error() }

// Unwrap gives the error itself.
func (e *AgentError) Unwrap() error { return e.Err }

// CauseOf is the cause that an agent's error is put down to.
func CauseOf(err error) Cause {
	var a *AgentError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &a) && a.Cause != "":
		return a.Cause
	}
	return CauseAgent
}

// AgentErrorf makes an [AgentError] as fmt.Errorf makes an error.
func AgentErrorf(cause Cause, format string, args ...any) *AgentError {
	return &AgentError{Cause: cause, Err: fmt.Errorf(format, args...)}
}
