package exchange

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"assay/engine/record"
	"assay/store"
)

// Formats of training files.
const (
	FormatWhileai = "whileai" // public rows with everything a trainer may use
	FormatTRL     = "trl"     // the columns that TRL reads, and no other
	FormatOpenAI  = "openai"  // chat fine-tuning
)

// Targets of training files, as the cut names them.
const (
	forSFT  = "sft"
	forDPO  = "dpo"
	forGRPO = "grpo"
	forRM   = "rm"
)

// Exporter writes training files of one store's runs. It is what the engine calls
// an Exporter.
type Exporter struct{ DB *store.DB }

// Export writes a training file whole or not at all, and remembers the tasks that
// went into it, so that no later run measures on them. An empty set is an error
// and leaves no file.
func (e Exporter) Export(ctx context.Context, t *record.Training, format, file string) error {
	pending, err := createPending(file)
	if err != nil {
		return err
	}
	rows, err := WriteTraining(masked{pending, e.DB.Masker()}, t, format)
	if err == nil && rows == 0 {
		err = nothingToWrite(file, "no row was selected for "+t.For)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return errors.Join(err, pending.discard())
	}
	var no int64
	err = pending.finish(func() error {
		var err error
		no, err = e.DB.BeginExport(ctx, record.ExportRecord{RunID: t.Run.ID, For: t.For, Format: format, File: file, Rows: rows, TaskIDs: t.TaskIDs()})
		return err
	})
	ctx = context.WithoutCancel(ctx) // the file is there, or it is not: say so in any case
	if err != nil {
		return errors.Join(err, e.DB.ForgetExport(ctx, no))
	}
	return e.DB.FinishExport(ctx, no)
}

// WriteTraining writes a training set as JSON lines and says how many. A format
// that cannot carry the set is refused before the first line.
func WriteTraining(w io.Writer, t *record.Training, format string) (int, error) {
	if err := refuseHeldOut(t); err != nil {
		return 0, err
	}
	var lines []func() any
	var err error
	switch format {
	case FormatWhileai, "":
		lines = whileaiLines(t)
	case FormatTRL:
		lines, err = trlLines(t)
	case FormatOpenAI:
		lines, err = openaiLines(t)
	default:
		err = formatError(fmt.Sprintf("there is no format %q", format), "use whileai, trl or openai")
	}
	if err != nil {
		return 0, err
	}
	for _, line := range lines {
		if err := writeLine(w, line()); err != nil {
			return 0, err
		}
	}
	return len(lines), nil
}

func formatError(message, fix string) error {
	return &store.Error{Code: store.CodeInvalid, Where: "--format", Message: message, Fix: fix}
}

// refuseHeldOut is the last look before a file: whatever chose the rows, nothing
// that is measured on may be trained on.
func refuseHeldOut(t *record.Training) error {
	refuse := func(why string) error {
		return &store.Error{Code: store.CodeInvalid, Where: "cut", Message: "a training file cannot hold " + why, Fix: "no file was made; this is a fault of the program, please report it"}
	}
	if t.Run == nil {
		return refuse("rows of no run")
	}
	if t.Run.Mode == record.ModeEval {
		return refuse("rows of an eval run")
	}
	for s := range samplesOf(t) {
		if s.HeldOut {
			return refuse("the held-out task " + s.Task.ID)
		}
	}
	return nil
}

// samplesOf yields every sample of a set.
func samplesOf(t *record.Training) func(func(*record.Sample) bool) {
	return func(yield func(*record.Sample) bool) {
		for i := range t.Rows {
			if !yield(t.Rows[i].Sample) {
				return
			}
		}
		for i := range t.Groups {
			for _, s := range t.Groups[i].Samples {
				if !yield(s) {
					return
				}
			}
		}
		for i := range t.Pairs {
			if !yield(t.Pairs[i].Chosen) || !yield(t.Pairs[i].Rejected) {
				return
			}
		}
	}
}

// whileaiLines are public rows, each with the messages' loss mask, its group or
// its pair beside it.
func whileaiLines(t *record.Training) []func() any {
	var lines []func() any
	for i := range t.Rows {
		r := &t.Rows[i]
		lines = append(lines, func() any {
			row := trainingRow(t, r.Sample, r.Reward)
			put(&row, "loss_mask", lossMask(row.Messages, r.Loss))
			return row
		})
	}
	for i := range t.Groups {
		g := &t.Groups[i]
		for j, s := range g.Samples {
			lines = append(lines, func() any {
				var reward *float64
				if g.Rewards != nil {
					reward = &g.Rewards[j]
				}
				row := trainingRow(t, s, reward)
				put(&row, "group_id", s.Task.ID)
				put(&row, "group_mean", g.Mean)
				put(&row, "group_std", g.Std)
				return row
			})
		}
	}
	for i := range t.Pairs {
		p := &t.Pairs[i]
		lines = append(lines, func() any { return preferenceRow(t, p) })
	}
	return lines
}

// put adds a member that a row has no field for.
func put(row *record.Row, name string, v any) {
	raw, err := record.Marshal(v)
	if err != nil {
		return // a mean over no finite rewards: there is nothing to say
	}
	row.Extra[name] = raw
}

// trainingRow is a public row that may leave the house: without anything
// privileged, and without what only the judge said.
func trainingRow(t *record.Training, s *record.Sample, reward *float64) record.Row {
	open := *s
	open.Rollout.Steps = scrubSteps(s.Rollout.Steps)
	open.Rollout.Extra = scrubMembers(s.Rollout.Extra)
	open.Rollout.Privileged = nil
	row := record.NewRow(&open, record.RowContext{Run: t.Run, SystemPrompt: t.SystemPrompt, Tools: t.Tools})
	row.Reason, row.JudgeMeta = "", nil
	if reward != nil {
		row.Reward = record.NewNumber(reward)
	}
	return row
}

type whileaiPreference struct {
	SchemaVersion string              `json:"schema_version"`
	Prompt        record.Text         `json:"prompt"`
	Chosen        []record.Message    `json:"chosen"`
	Rejected      []record.Message    `json:"rejected"`
	Margin        float64             `json:"margin"`
	ScenarioID    string              `json:"scenario_id"`
	PolicyVersion string              `json:"policy_version,omitempty"`
	Tools         []record.ToolSchema `json:"tools,omitempty"`
}

func preferenceRow(t *record.Training, p *record.TrainingPair) whileaiPreference {
	chosen, rejected := trainingRow(t, p.Chosen, nil), trainingRow(t, p.Rejected, nil)
	return whileaiPreference{record.RowSchema, chosen.Prompt, chosen.Messages, rejected.Messages, p.Margin, chosen.ScenarioID, chosen.PolicyVersion, chosen.Tools}
}

// lossMask is 1 for each message that is learnt from.
func lossMask(messages []record.Message, loss record.Loss) []int {
	mask := make([]int, len(messages))
	for i := range messages {
		last := i == len(messages)-1
		if messages[i].Role == "assistant" && (loss != record.LossFinal || last) {
			mask[i] = 1
		}
	}
	return mask
}

// trlMessage is a message as TRL's chat templates read it: a call's arguments are
// an object.
type trlMessage struct {
	Role      string       `json:"role"`
	Content   *record.Text `json:"content,omitempty"`
	ToolCalls []trlCall    `json:"tool_calls,omitempty"`
	Name      record.Text  `json:"name,omitempty"`
}

type trlCall struct {
	Type     string `json:"type"`
	Function struct {
		Name      record.Text     `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

func trlMessages(messages []record.Message) []trlMessage {
	out := make([]trlMessage, len(messages))
	for i, m := range messages {
		out[i] = trlMessage{Role: m.Role, Content: m.Content, Name: m.Name}
		for _, c := range m.ToolCalls {
			call := trlCall{Type: "function"}
			call.Function.Name, call.Function.Arguments = c.Function.Name, objectArguments(json.RawMessage(c.Function.Arguments))
			out[i].ToolCalls = append(out[i].ToolCalls, call)
		}
	}
	return out
}

// promptLength is how many messages come before the agent's first act.
func promptLength(messages []record.Message) int {
	for i := range messages {
		if messages[i].Role == "assistant" {
			return i
		}
	}
	return len(messages)
}

// The columns of TRL's data sets (its documentation, "Dataset formats and types"):
// conversational language modelling or prompt-completion for SFT, prompt-only
// for GRPO, preference for DPO and reward models.
type (
	trlConversation struct {
		Messages []trlMessage        `json:"messages"`
		Tools    []record.ToolSchema `json:"tools,omitempty"`
	}
	trlCompletion struct {
		Prompt     []trlMessage        `json:"prompt"`
		Completion []trlMessage        `json:"completion"`
		Tools      []record.ToolSchema `json:"tools,omitempty"`
	}
	trlPrompt struct {
		Prompt []trlMessage `json:"prompt"`
	}
	trlPreference struct {
		Prompt   []trlMessage        `json:"prompt"`
		Chosen   []trlMessage        `json:"chosen"`
		Rejected []trlMessage        `json:"rejected"`
		Tools    []record.ToolSchema `json:"tools,omitempty"`
	}
)

func trlLines(t *record.Training) ([]func() any, error) {
	var lines []func() any
	switch t.For {
	case forSFT:
		final, err := lossOfAll(t)
		if err != nil {
			return nil, err
		}
		for i := range t.Rows {
			s := t.Rows[i].Sample
			lines = append(lines, func() any { return trlSFT(t, s, final) })
		}
	case forGRPO:
		for i := range t.Groups {
			s := t.Groups[i].Samples[0]
			lines = append(lines, func() any {
				messages := trainingRow(t, s, nil).Messages
				return trlPrompt{trlMessages(messages[:promptLength(messages)])}
			})
		}
	case forDPO, forRM:
		if len(t.Pairs) == 0 && len(t.Rows) > 0 {
			return nil, formatError("TRL's reward trainer takes pairs, and this set is of single rows", "write it as whileai rows")
		}
		for i := range t.Pairs {
			p := &t.Pairs[i]
			lines = append(lines, func() any { return trlPair(t, p) })
		}
	}
	return lines, nil
}

// lossOfAll says whether all rows teach their last reply alone: the file's columns
// differ by it, so that a file is of one kind.
func lossOfAll(t *record.Training) (final bool, err error) {
	n := 0
	for i := range t.Rows {
		if t.Rows[i].Loss == record.LossFinal {
			n++
		}
	}
	if n > 0 && n < len(t.Rows) {
		return false, formatError("a TRL file teaches every turn or the last reply, not some of each", "cut it with one loss, or write it as whileai rows")
	}
	return n > 0, nil
}

func trlSFT(t *record.Training, s *record.Sample, final bool) any {
	row := trainingRow(t, s, nil)
	messages := trlMessages(row.Messages)
	if !final {
		return trlConversation{messages, row.Tools}
	}
	last := len(messages) - 1
	return trlCompletion{messages[:last], messages[last:], row.Tools}
}

func trlPair(t *record.Training, p *record.TrainingPair) any {
	chosen, rejected := trainingRow(t, p.Chosen, nil), trainingRow(t, p.Rejected, nil)
	n, m := promptLength(chosen.Messages), promptLength(rejected.Messages)
	return trlPreference{trlMessages(chosen.Messages[:n]), trlMessages(chosen.Messages[n:]), trlMessages(rejected.Messages[m:]), chosen.Tools}
}

// openaiMessage is a chat message with the weight that fine-tuning gives it.
type openaiMessage struct {
	record.Message
	Weight *int `json:"weight,omitempty"`
}

type openaiExample struct {
	Messages []openaiMessage     `json:"messages"`
	Tools    []record.ToolSchema `json:"tools,omitempty"`
}

func openaiLines(t *record.Training) ([]func() any, error) {
	if t.For != forSFT {
		return nil, formatError(fmt.Sprintf("the openai format is for sft, not %s", t.For), "use whileai or trl")
	}
	var lines []func() any
	for i := range t.Rows {
		r := &t.Rows[i]
		lines = append(lines, func() any {
			row := trainingRow(t, r.Sample, nil)
			example := openaiExample{Messages: make([]openaiMessage, len(row.Messages)), Tools: row.Tools}
			mask := lossMask(row.Messages, r.Loss)
			for j, m := range row.Messages {
				example.Messages[j].Message = m
				if m.Role == "assistant" && mask[j] == 0 {
					example.Messages[j].Weight = &mask[j]
				}
			}
			return example
		})
	}
	return lines, nil
}
