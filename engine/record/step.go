package record

import (
	"encoding/json"
	"fmt"
)

// StepKind says which of the three things a step is.
type StepKind string

// Kinds of step.
const (
	StepUser StepKind = "user" // the user said something
	StepText StepKind = "text" // the agent said something before its final reply
	StepTool StepKind = "tool" // the agent called a tool and got a result
)

// Step is one thing that happened in a rollout. In JSON it is {user}, {text} or
// {tool, arguments, result} with is_error, fault and latency_ms where they hold.
type Step struct {
	Kind StepKind
	// Text is what was said; for a tool step it is empty.
	Text Text
	Tool string
	// Arguments and Result are the bytes that were received, valid JSON.
	Arguments, Result json.RawMessage
	IsError           bool
	// Fault names the injected fault that shaped the result, "" where none did.
	Fault string
	// LatencyMS is the world's simulated latency of the call.
	LatencyMS int
	// Extra holds members of an imported step that Assay has no field for.
	Extra map[string]json.RawMessage
}

type stepJSON struct {
	User      *Text           `json:"user,omitempty"`
	Text      *Text           `json:"text,omitempty"`
	Tool      *Text           `json:"tool,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Fault     string          `json:"fault,omitempty"`
	LatencyMS int             `json:"latency_ms,omitempty"`
}

var stepMembers = []string{"user", "text", "tool", "arguments", "result", "is_error", "fault", "latency_ms"}

// MarshalJSON writes the form that rows and the agent protocol use.
func (s Step) MarshalJSON() ([]byte, error) {
	var j stepJSON
	switch s.Kind {
	case StepUser:
		j.User = &s.Text
	case StepText:
		j.Text = &s.Text
	case StepTool:
		j.Tool = (*Text)(&s.Tool)
		j.Arguments, j.Result = orNull(s.Arguments), orNull(s.Result)
		j.IsError, j.Fault, j.LatencyMS = s.IsError, s.Fault, s.LatencyMS
	default:
		return nil, fmt.Errorf("a step of kind %q is none of user, text, tool", s.Kind)
	}
	raw, err := Marshal(j)
	if err != nil || len(s.Extra) == 0 {
		return raw, err
	}
	return appendMembers(raw, s.Extra)
}

// UnmarshalJSON reads {user}, {text} or {tool, ...}; members it does not know
// go to Extra.
func (s *Step) UnmarshalJSON(raw []byte) error {
	var j stepJSON
	if err := json.Unmarshal(raw, &j); err != nil {
		return err
	}
	*s = Step{}
	switch {
	case j.Tool != nil:
		*s = Step{Kind: StepTool, Tool: string(*j.Tool), Arguments: orNull(j.Arguments), Result: orNull(j.Result),
			IsError: j.IsError, Fault: j.Fault, LatencyMS: j.LatencyMS}
	case j.User != nil:
		*s = Step{Kind: StepUser, Text: *j.User}
	case j.Text != nil:
		*s = Step{Kind: StepText, Text: *j.Text}
	default:
		return fmt.Errorf("a step has none of user, text, tool: %.80s", raw)
	}
	extra, err := unknownMembers(raw, stepMembers)
	s.Extra = extra
	return err
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}
