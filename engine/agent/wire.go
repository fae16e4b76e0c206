package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"assay/engine/record"
)

// protocolVersion is the version of the agent protocol that is spoken here.
const protocolVersion = 1

// Types of message.
const (
	typeTurn       = "turn"
	typeToolCall   = "tool_call"
	typeToolResult = "tool_result"
	typeText       = "text"
	typeReply      = "reply"
	typeError      = "error"
	typeCancel     = "cancel"
	typeGrade      = "grade"
	typeVerdict    = "verdict"
	typeCompare    = "compare"
	typePreference = "preference"
)

// turnMessage is a turn as it is written. It holds no axes, fault plan,
// reference or truth, and no field that could.
type turnMessage struct {
	Type         string               `json:"type"`
	Protocol     int                  `json:"protocol"`
	ID           string               `json:"id"`
	Rollout      record.RolloutRef    `json:"rollout"`
	Seed         int64                `json:"seed"`
	SystemPrompt record.Text          `json:"system_prompt"`
	Message      record.Text          `json:"message"`
	History      []shownStep          `json:"history"`
	Tools        []shownTool          `json:"tools"`
	ToolsBy      record.ToolsBy       `json:"tools_by"`
	World        *record.WorldAddress `json:"world"`
	DeadlineMS   int64                `json:"deadline_ms"`
}

// shownStep is a step as an agent or a judge may see it: which fault was
// injected, and how long the world pretends a call took, are not among it.
type shownStep struct {
	User      *record.Text    `json:"user,omitempty"`
	Text      *record.Text    `json:"text,omitempty"`
	Tool      *record.Text    `json:"tool,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
}

// shownTool is a tool as an agent may see it: its name, description and schema.
type shownTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

type toolResultMessage struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	Call    record.Text     `json:"call"`
	Result  json.RawMessage `json:"result"`
	IsError bool            `json:"is_error"`
}

type errorMessage struct {
	Type  string `json:"type"`
	ID    string `json:"id"`
	Error string `json:"error,omitempty"`
}

// gradeMessage asks a judge. Rubric and reference are null where there is none.
type gradeMessage struct {
	Type         string          `json:"type"`
	Protocol     int             `json:"protocol"`
	ID           string          `json:"id"`
	Rubric       *record.Text    `json:"rubric"`
	SystemPrompt record.Text     `json:"system_prompt"`
	Tools        []shownTool     `json:"tools"`
	Prompt       record.Text     `json:"prompt"`
	Steps        []shownStep     `json:"steps"`
	FinalText    record.Text     `json:"final_text"`
	Reference    json.RawMessage `json:"reference"`
}

// compareMessage asks a judge which of two attempts at one ask is better.
type compareMessage struct {
	Type         string       `json:"type"`
	Protocol     int          `json:"protocol"`
	ID           string       `json:"id"`
	Rubric       *record.Text `json:"rubric"`
	SystemPrompt record.Text  `json:"system_prompt"`
	Tools        []shownTool  `json:"tools"`
	Prompt       record.Text  `json:"prompt"`
	First        shownAttempt `json:"first"`
	Second       shownAttempt `json:"second"`
}

type shownAttempt struct {
	Steps     []shownStep `json:"steps"`
	FinalText record.Text `json:"final_text"`
}

func newCompareMessage(id string, first, second record.JudgeRequest) compareMessage {
	return compareMessage{
		Type: typeCompare, Protocol: protocolVersion, ID: id, Rubric: first.Rubric, SystemPrompt: first.SystemPrompt,
		Tools: showTools(first.Tools), Prompt: first.Prompt,
		First:  shownAttempt{showSteps(first.Steps), first.FinalText},
		Second: shownAttempt{showSteps(second.Steps), second.FinalText},
	}
}

func newTurnMessage(id string, turn *record.Turn, now time.Time) turnMessage {
	m := turnMessage{
		Type: typeTurn, Protocol: protocolVersion, ID: id,
		Rollout: turn.Rollout, Seed: turn.Seed, SystemPrompt: turn.SystemPrompt, Message: turn.Message,
		History: showSteps(turn.History), Tools: showTools(turn.Tools), ToolsBy: turn.ToolsBy, World: turn.World,
	}
	if !turn.Deadline.IsZero() {
		m.DeadlineMS = max(1, turn.Deadline.Sub(now).Milliseconds())
	}
	return m
}

func newGradeMessage(id string, r *record.JudgeRequest) gradeMessage {
	return gradeMessage{
		Type: typeGrade, Protocol: protocolVersion, ID: id, Rubric: r.Rubric, SystemPrompt: r.SystemPrompt,
		Tools: showTools(r.Tools), Prompt: r.Prompt, Steps: showSteps(r.Steps), FinalText: r.FinalText, Reference: orNull(r.Reference),
	}
}

func showSteps(steps []record.Step) []shownStep {
	out := make([]shownStep, len(steps))
	for i := range steps {
		s := &steps[i]
		switch s.Kind {
		case record.StepUser:
			out[i].User = &s.Text
		case record.StepText:
			out[i].Text = &s.Text
		case record.StepTool:
			out[i] = shownStep{Tool: (*record.Text)(&s.Tool), Arguments: orNull(s.Arguments), Result: orNull(s.Result), IsError: s.IsError}
		}
	}
	return out
}

func showTools(tools []record.Tool) []shownTool {
	out := make([]shownTool, len(tools))
	for i, t := range tools {
		out[i] = shownTool{Name: t.Name, Description: t.Description, Parameters: t.Parameters}
		if len(t.Parameters) == 0 {
			out[i].Parameters = json.RawMessage("{}")
		}
	}
	return out
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

// writeLine is a message as one line with its newline.
func writeLine(v any) ([]byte, error) {
	raw, err := record.Marshal(v)
	if err != nil {
		return nil, err
	}
	return append(raw, '\n'), nil
}

// message is a line that a program wrote: what all messages have, and the whole.
// The rest is read by type, so that a member that a type does not know may hold
// anything.
type message struct {
	Type *string `json:"type"`
	ID   *string `json:"id"`

	raw  []byte
	mask *record.Masker // of who wrote it
	from string         // who that is: the program, the endpoint
}

type callBody struct {
	Call      record.Text     `json:"call"`
	Tool      record.Text     `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

type textBody struct {
	Text *record.Text `json:"text"`
}

type replyBody struct {
	FinalText *record.Text    `json:"final_text"`
	Steps     json.RawMessage `json:"steps"`
	Finish    *string         `json:"finish_reason"`
	Usage     *record.Usage   `json:"usage"`
	LogProb   *float64        `json:"logprob"`
	NTokens   *int            `json:"n_tokens"`
	Tokens    []float64       `json:"token_logprobs"`
	// Truncated says that what it was told was cut to fit.
	Truncated bool `json:"prompt_truncated"`
	// Privileged stays on the rollout: a program that simulates an agent of known
	// truth says so here.
	Privileged json.RawMessage `json:"privileged"`
}

type preferenceBody struct {
	Preferred *string `json:"preferred"`
}

type errorBody struct {
	Error record.Text `json:"error"`
	Cause *string     `json:"cause"`
}

// replyMembers are the members of a reply that have a place of their own; the
// rest is kept on the row.
var replyMembers = map[string]bool{
	"type": true, "id": true, "final_text": true, "steps": true, "finish_reason": true, "usage": true,
	"logprob": true, "n_tokens": true, "token_logprobs": true, "prompt_truncated": true, "privileged": true,
}

// parseMessage reads one line. Its errors read as the end of "line 3 ".
func parseMessage(line []byte) (message, error) {
	if !utf8.Valid(line) {
		return message{}, errors.New("is not UTF-8")
	}
	trimmed := bytes.TrimLeft(line, " \t\r\n")
	if !json.Valid(line) {
		return message{}, errors.New("is not JSON")
	}
	if trimmed[0] != '{' {
		return message{}, errors.New("is not a JSON object")
	}
	m := message{raw: line}
	if err := m.read(&m); err != nil {
		return message{}, err
	}
	if m.Type == nil {
		return message{}, errors.New("has no type")
	}
	return m, nil
}

// own reads the members of a type of which none may come twice. What it holds against
// a message is a breach of the protocol.
func (m *message) own(into any) error {
	if err := eachMember(m.raw, func(string, json.RawMessage) {}); err != nil {
		return &protocolError{err.Error()}
	}
	return m.read(into)
}

// read reads the members of a type. Its errors read as those of parseMessage.
func (m *message) read(into any) error {
	err := json.Unmarshal(m.raw, into)
	var mismatch *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &mismatch) && mismatch.Field != "":
		return fmt.Errorf("is not a message of the protocol: %s is a %s", mismatch.Field, mismatch.Value)
	}
	return fmt.Errorf("is not a message of the protocol: %w", err)
}

// toCall reads a tool call.
func (m *message) toCall() (callBody, error) {
	var c callBody
	if err := m.own(&c); err != nil {
		return c, err
	}
	switch {
	case c.Call == "":
		return c, errors.New("is a tool_call without call, the name by which its result is known")
	case c.Tool == "":
		return c, errors.New("is a tool_call without tool")
	case len(c.Arguments) == 0:
		c.Arguments = json.RawMessage("{}")
	}
	return c, nil
}

// toReply reads a reply. An error here is the agent's, and the process may live:
// the turn is over on both sides.
func (m *message) toReply(toolsBy record.ToolsBy) (record.Reply, error) {
	extra, err := m.extra()
	if err != nil {
		return record.Reply{}, &protocolError{err.Error()}
	}
	var body replyBody
	if err := m.read(&body); err != nil {
		return record.Reply{}, fmt.Errorf("the reply %w", err)
	}
	if body.FinalText == nil {
		return record.Reply{}, errors.New("the reply has no final_text")
	}
	reply := record.Reply{FinalText: *body.FinalText, FinishReason: record.FinishStop, Usage: body.Usage, PromptTruncated: body.Truncated, Extra: extra}
	if body.Finish != nil {
		reply.FinishReason = record.FinishReason(*body.Finish)
		switch reply.FinishReason {
		case record.FinishStop, record.FinishLength, record.FinishTool, record.FinishError:
		default:
			return record.Reply{}, fmt.Errorf("the reply's finish_reason %q is none of stop, length, tool, error", m.quote(*body.Finish))
		}
	}
	if reply.Steps, err = replySteps(body.Steps, toolsBy); err != nil {
		return record.Reply{}, err
	}
	if body.LogProb != nil {
		reply.LogProbs = &record.LogProbs{Sum: *body.LogProb, List: body.Tokens, Tokens: len(body.Tokens)}
		if body.NTokens != nil {
			reply.LogProbs.Tokens = *body.NTokens
		}
	}
	if len(body.Privileged) > 0 && string(body.Privileged) != "null" {
		reply.Privileged = body.Privileged
	}
	return reply, nil
}

// replySteps reads what an agent did that answers its own tools.
func replySteps(raw json.RawMessage, toolsBy record.ToolsBy) ([]record.Step, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var steps []record.Step
	if err := json.Unmarshal(raw, &steps); err != nil {
		return nil, fmt.Errorf("the reply's steps cannot be read: %w", err)
	}
	if len(steps) > 0 && toolsBy != record.ToolsByAgent {
		return nil, fmt.Errorf("the reply holds %d steps, but tools_by is world and Assay has recorded the calls itself; leave steps empty, or set tools_by: agent in the recipe", len(steps))
	}
	for i := range steps {
		switch {
		case steps[i].Kind == record.StepUser:
			return nil, fmt.Errorf("steps[%d] of the reply is the user's; an agent reports its own tool calls and texts", i)
		case steps[i].Kind == record.StepTool && steps[i].Tool == "":
			return nil, fmt.Errorf("steps[%d] of the reply names no tool", i)
		}
		// Only the world injects faults.
		steps[i].Fault, steps[i].LatencyMS = "", 0
	}
	return steps, nil
}

// extra keeps the members of a reply that have no place of their own. One that is
// named like a member of the public row is kept as agent_NAME, so that no program
// can write its own reward.
func (m *message) extra() (map[string]json.RawMessage, error) {
	var kept map[string]json.RawMessage
	err := eachMember(m.raw, func(name string, value json.RawMessage) {
		if replyMembers[name] {
			return
		}
		if kept == nil {
			kept = make(map[string]json.RawMessage)
		}
		if isRowMember(name) {
			name = "agent_" + name
		}
		kept[name] = bytes.Clone(value) // the line may be long, and is not kept
	})
	return kept, err
}

func isRowMember(name string) bool {
	for _, member := range record.RowMembers() {
		if member == name {
			return true
		}
	}
	return false
}

// quotedBytes is how much of a bad line is shown: enough to recognise a log line
// or a traceback by.
const quotedBytes = 200

// quoteLook is how much of a line is masked before it is cut.
const quoteLook = 64 << 10

// quote is the beginning of what the program wrote, for an error that a person
// reads.
func (m *message) quote(s string) string { return quote(m.mask, s) }

// quote masks before it cuts: half a key would be known by nobody any more.
func quote(mask *record.Masker, s string) string {
	// A key that begins before the end of what is shown, escaped in any way, ends in
	// what is looked at; the rest of a line of megabytes says nothing.
	if len(s) > quoteLook {
		s = s[:quoteLook]
	}
	s = mask.Text(s)
	if len(s) > quotedBytes {
		s = s[:quotedBytes]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
