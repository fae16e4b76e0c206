package record

import (
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"strings"
)

// RowSchema is the version of the public row that [Row] speaks.
const RowSchema = "1"

// Row is one rollout as other tools read it: the public row of the whileai SDK,
// version 1, with Assay's own members beside it. One row is one JSON object on a
// line. Members that Assay does not know survive in Extra.
type Row struct {
	SchemaVersion string             `json:"schema_version"`
	Prompt        Text               `json:"prompt"`
	Steps         []Step             `json:"steps"`
	FinalText     Text               `json:"final_text"`
	Messages      []Message          `json:"messages,omitempty"`
	ScenarioID    string             `json:"scenario_id"`
	RolloutIndex  int                `json:"rollout_index"`
	Reward        *Number            `json:"reward"`
	Reason        Text               `json:"reason,omitempty"`
	JudgeName     string             `json:"judge_name,omitempty"`
	JudgeStatus   JudgeStatus        `json:"judge_status,omitempty"`
	FailureClass  string             `json:"failure_class,omitempty"`
	Markers       map[string]*Number `json:"markers,omitempty"`

	GoldReward *float64        `json:"gold_reward,omitempty"`
	GoldKind   GoldKind        `json:"gold_kind,omitempty"`
	GoldLabels json.RawMessage `json:"gold_labels,omitempty"`

	LogProb         *float64            `json:"logprob,omitempty"`
	NTokens         *int                `json:"n_tokens,omitempty"`
	TokenLogProbs   []float64           `json:"token_logprobs,omitempty"`
	TurnLogProbs    []LogProbs          `json:"turn_logprobs,omitempty"`
	Sampling        json.RawMessage     `json:"sampling,omitempty"`
	PolicyVersion   string              `json:"policy_version,omitempty"`
	PromptHash      string              `json:"prompt_hash,omitempty"`
	PromptTruncated bool                `json:"prompt_truncated,omitempty"`
	FinishReason    FinishReason        `json:"finish_reason,omitempty"`
	WriterModel     string              `json:"writer_model,omitempty"`
	UserModel       string              `json:"user_model,omitempty"`
	WorldState      string              `json:"world_state,omitempty"`
	Faults          map[string]RowFault `json:"faults,omitempty"` // by tool
	Calibration     json.RawMessage     `json:"calibration,omitempty"`
	Lineage         *Lineage            `json:"lineage,omitempty"`
	JudgeMeta       json.RawMessage     `json:"judge_meta,omitempty"`
	SystemPrompt    *Text               `json:"system_prompt,omitempty"`
	Tools           []ToolSchema        `json:"tools,omitempty"`
	Privileged      json.RawMessage     `json:"privileged,omitempty"`

	Run         string `json:"run,omitempty"`
	SituationID string `json:"situation_id,omitempty"`
	TaskID      string `json:"task_id,omitempty"`
	RolloutID   string `json:"rollout_id,omitempty"`
	Status      Status `json:"status,omitempty"`
	Cause       Cause  `json:"cause,omitempty"`
	Error       Text   `json:"error,omitempty"`
	EndedBy     string `json:"ended_by,omitempty"`
	Usage       *Usage `json:"usage,omitempty"`
	Scorer      string `json:"scorer,omitempty"`
	Axes        Axes   `json:"axes,omitempty"`
	Arm         string `json:"arm,omitempty"`
	HeldOut     *bool  `json:"held_out,omitempty"`
	LatencyMS   int64  `json:"latency_ms,omitempty"`
	Attempts    int    `json:"attempts,omitempty"`
	StartedAt   string `json:"started_at,omitempty"`

	// Extra holds members that Assay has no field for.
	Extra map[string]json.RawMessage `json:"-"`
}

// Lineage says where a row came from.
type Lineage struct {
	EvalRun *int   `json:"eval_run,omitempty"`
	Parent  string `json:"parent,omitempty"`
	// Eval marks rows of an eval set: never trained on.
	Eval bool `json:"eval,omitempty"`
}

// RowFault is a tool's injected fault as the public row has it: its mode, and the
// share of calls that it meets, 0 to 1.
type RowFault struct {
	Mode string  `json:"mode"`
	Rate float64 `json:"rate"`
}

// Message is one message of the chat form of a row.
type Message struct {
	Role       string            `json:"role"`
	Content    *Text             `json:"content"`
	ToolCalls  []ToolCallMessage `json:"tool_calls,omitempty"`
	ToolCallID string            `json:"tool_call_id,omitempty"`
	Name       Text              `json:"name,omitempty"`
	// Sealed are parts of an answer that its server wants back. No row, file or other
	// server holds them.
	Sealed []Sealed `json:"-"`
}

// ToolCallMessage is one call inside an assistant message, in the OpenAI form:
// arguments are JSON text.
type ToolCallMessage struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      Text `json:"name"`
		Arguments Text `json:"arguments"`
	} `json:"function"`
}

// ToolSchema is a tool in the OpenAI form.
type ToolSchema struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
	} `json:"function"`
}

// Number is a float64 whose JSON form names what JSON numbers cannot be: "NaN",
// "Infinity", "-Infinity".
type Number float64

// MarshalJSON writes a number, or the name of one that is not finite.
func (n Number) MarshalJSON() ([]byte, error) {
	f := float64(n)
	switch {
	case math.IsNaN(f):
		return []byte(`"NaN"`), nil
	case math.IsInf(f, 1):
		return []byte(`"Infinity"`), nil
	case math.IsInf(f, -1):
		return []byte(`"-Infinity"`), nil
	}
	return json.Marshal(f)
}

// UnmarshalJSON reads a number or one of the names.
func (n *Number) UnmarshalJSON(raw []byte) error {
	switch string(raw) {
	case `"NaN"`:
		*n = Number(math.NaN())
		return nil
	case `"Infinity"`:
		*n = Number(math.Inf(1))
		return nil
	case `"-Infinity"`:
		*n = Number(math.Inf(-1))
		return nil
	}
	var f float64
	if err := json.Unmarshal(raw, &f); err != nil {
		return err
	}
	*n = Number(f)
	return nil
}

// NewNumber is p as a [Number].
func NewNumber(p *float64) *Number {
	if p == nil {
		return nil
	}
	n := Number(*p)
	return &n
}

// Float is n as a *float64.
func (n *Number) Float() *float64 {
	if n == nil {
		return nil
	}
	f := float64(*n)
	return &f
}

type plainRow Row

// MarshalJSON writes the row as one object, Extra's members last.
func (r Row) MarshalJSON() ([]byte, error) {
	if r.Steps == nil {
		r.Steps = []Step{}
	}
	raw, err := Marshal(plainRow(r))
	if err != nil || len(r.Extra) == 0 {
		return raw, err
	}
	return appendMembers(raw, r.Extra)
}

// UnmarshalJSON reads a row; members it does not know go to Extra.
func (r *Row) UnmarshalJSON(raw []byte) error {
	var p plainRow
	if err := json.Unmarshal(raw, &p); err != nil {
		return err
	}
	extra, err := unknownMembers(raw, rowMembers)
	p.Extra = extra
	*r = Row(p)
	return err
}

var rowMembers = jsonMembers(reflect.TypeFor[Row]())

func jsonMembers(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// RowMembers lists the names of a row's own members, in their order.
func RowMembers() []string { return append([]string(nil), rowMembers...) }

// RowContext is what a row needs beside its sample.
type RowContext struct {
	Run          *Run
	SystemPrompt Text
	// Tools are what the agent was shown; nil means the task's own.
	Tools []Tool
	Gold  *Gold
}

// NewRow is the public row of one sample.
func NewRow(s *Sample, c RowContext) Row {
	o, t := &s.Outcome, s.Task
	r := Row{
		SchemaVersion: RowSchema,
		Prompt:        o.Rollout.Prompt,
		Steps:         o.Rollout.Steps,
		FinalText:     o.Rollout.FinalText,
		ScenarioID:    t.ID,
		RolloutIndex:  o.Rollout.Key.K,

		Sampling:        o.Rollout.Sampling,
		PolicyVersion:   o.Rollout.PolicyVersion,
		PromptHash:      o.Rollout.PromptHash,
		PromptTruncated: o.Rollout.PromptTruncated,
		FinishReason:    o.Rollout.FinishReason,
		WriterModel:     o.Rollout.WriterModel,
		UserModel:       o.Rollout.UserModel,
		WorldState:      t.Axes[AxisWorldState],
		Privileged:      o.Rollout.Privileged,

		SituationID: t.SituationID,
		TaskID:      t.ID,
		RolloutID:   o.Rollout.ID,
		Run:         o.Rollout.RunID,
		Status:      o.Rollout.Status,
		Cause:       o.Rollout.Cause,
		Error:       o.Rollout.Error,
		EndedBy:     o.Rollout.EndedBy,
		Usage:       o.Rollout.Usage,
		Axes:        t.Axes,
		Arm:         s.Arm,
		HeldOut:     &s.HeldOut,
		LatencyMS:   o.Rollout.Latency.Milliseconds(),
		Attempts:    o.Rollout.Attempts,
		Extra:       o.Rollout.Extra,
	}
	if r.Prompt == "" {
		r.Prompt = t.Ask
	}
	if t.Fault != nil {
		r.Faults = map[string]RowFault{t.Fault.Tool: {Mode: t.Fault.Condition, Rate: 1}} // a planned fault stands for the whole rollout
	}
	evalRun := o.Rollout.Key.EvalRun
	r.Lineage = &Lineage{EvalRun: &evalRun, Parent: t.Parent}
	if c.Run != nil {
		r.Lineage.Eval = c.Run.Mode == ModeEval
	}
	if !o.Rollout.StartedAt.IsZero() {
		r.StartedAt = o.Rollout.StartedAt.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	if c.SystemPrompt != "" {
		r.SystemPrompt = &c.SystemPrompt
	}
	tools := c.Tools
	if tools == nil {
		tools = t.Tools
	}
	r.Tools = ToolSchemas(tools)
	r.Messages = Messages(c.SystemPrompt, r.Prompt, r.Steps, r.FinalText)
	r.addGrades(o)
	r.addLogProbs(o.Rollout.LogProbs)
	r.addGold(c.Gold)
	return r
}

func (r *Row) addGrades(o *Outcome) {
	if j := o.Judgment; j != nil {
		r.Reward, r.Reason, r.JudgeStatus, r.FailureClass = NewNumber(j.Reward), j.Reason, j.Status, j.FailureClass
		r.Scorer, r.JudgeMeta = j.Scorer, j.Meta
		r.JudgeName, _, _ = strings.Cut(j.Scorer, "@")
	}
	for i := range o.Markers {
		if r.Markers == nil {
			r.Markers = make(map[string]*Number, len(o.Markers))
		}
		r.Markers[o.Markers[i].Name] = NewNumber(o.Markers[i].Value)
	}
}

func (r *Row) addLogProbs(turns []LogProbs) {
	if len(turns) == 0 {
		return
	}
	sum, n := 0.0, 0
	for _, t := range turns {
		sum += t.Sum
		n += t.Tokens
		r.TokenLogProbs = append(r.TokenLogProbs, t.List...)
	}
	r.LogProb, r.NTokens, r.TurnLogProbs = &sum, &n, turns
}

func (r *Row) addGold(g *Gold) {
	if g == nil || g.Voters == 0 {
		return
	}
	r.GoldReward, r.GoldKind = g.Reward, g.Kind
	type vote struct {
		Annotator string   `json:"annotator"`
		Label     Verdict  `json:"label"`
		Kind      GoldKind `json:"kind"`
		Note      Text     `json:"note,omitempty"`
	}
	votes := make([]vote, len(g.Labels))
	for i, l := range g.Labels {
		votes[i] = vote{l.Annotator, l.Verdict, l.Kind, l.Note}
	}
	r.GoldLabels, _ = Marshal(votes) // plain strings always marshal
}

// Canonical is the row's line for comparing runs: RFC 8785, without what two
// equal runs may differ in (run and rollout ids, times, attempts, batch and
// order, cost, what was spent besides, gold, lineage but eval_run, and the error text of lost rows). The
// world's simulated latency stays, in the steps.
func (r Row) Canonical() ([]byte, error) {
	r.Run, r.RolloutID, r.StartedAt, r.LatencyMS, r.Attempts, r.Error = "", "", "", 0, 0, ""
	r.GoldReward, r.GoldKind, r.GoldLabels = nil, "", nil
	if r.Usage != nil {
		r.Usage = &Usage{InputTokens: r.Usage.InputTokens, OutputTokens: r.Usage.OutputTokens}
	}
	if r.Lineage != nil {
		r.Lineage = &Lineage{EvalRun: r.Lineage.EvalRun}
	}
	if _, noted := r.Extra[spentMember]; noted {
		r.Extra = maps.Clone(r.Extra)
		delete(r.Extra, spentMember)
	}
	raw, err := Marshal(r)
	if err != nil {
		return nil, err
	}
	return Canonical(raw)
}
