package grade

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/expr-lang/expr/vm"

	"assay/engine/record"
)

// Word is one name that an expression may use, for help and completion.
type Word struct {
	Name string // as it is written, with its parameters
	Type string
	Says string
}

// Written is the name alone, without parameters.
func (w Word) Written() string {
	name, _, _ := strings.Cut(w.Name, "(")
	return name
}

// Completed lists what an expression may go on as, whole, each with what its last word
// says: every word of [Vocabulary] that begins as the expression ends. Of a function it is
// the name and the bracket. Inside a text in quotes there is none.
func Completed(source string) []Word {
	at := len(source)
	for at > 0 && (source[at-1] == '_' || isWordEnd(source[at-1])) {
		at--
	}
	if strings.Count(source, "'")%2 == 1 || strings.Count(source, `"`)%2 == 1 || at > 0 && source[at-1] == '.' {
		return nil
	}
	var out []Word
	for _, w := range Vocabulary() {
		name := w.Written()
		if !strings.HasPrefix(name, source[at:]) {
			continue
		}
		if name != w.Name {
			name += "("
		}
		out = append(out, Word{source[:at] + name, w.Type, w.Says})
	}
	return out
}

// Vocabulary lists what an expression may use, helpers first.
func Vocabulary() []Word {
	return []Word{
		{"called(tool)", "bool", "the tool was called at least once"},
		{"first(tool)", "number", "the index in steps of its first call; +Inf if there is none"},
		{"count(tool)", "number", "how often it was called; 0 if never"},
		{"args(tool)", "object", "the arguments of its last call; empty if there is none"},
		{"result(tool)", "any", "the result of its last call; an empty object if there is none"},
		{"said(text)", "bool", "the agent's replies contain the text, in any case"},
		{"asked(text)", "bool", "the user's messages contain the text, in any case"},
		{"min(a, b, ...)", "number", "the smallest"},
		{"max(a, b, ...)", "number", "the largest"},
		{"prompt", "text", "the first ask"},
		{"final_text", "text", "the agent's last reply"},
		{"steps", "list", "each with kind (user, text, tool), text, tool, arguments, result, is_error, fault"},
		{"axes", "object", "the situation's coordinates: axes.tool, axes.rule, axes.stance, axes.world_state, axes.tool_condition, axes.history"},
		{"fault", "text", "the planned fault's condition; empty if there is none"},
		{"task_id", "text", "the task"},
		{"situation_id", "text", "its situation"},
		{"rollout_index", "number", "k, counted from 0"},
		{"eval_run", "number", "the eval run, counted from 0"},
		{"finish_reason", "text", "stop, length, tool or error"},
		{"ended_by", "text", "agent, user, user_left or turn_limit"},
		{"usage", "object", "input_tokens and output_tokens; 0 where not known"},
	}
}

// stepView is one step as expressions see it.
type stepView struct {
	Kind      string `expr:"kind"`
	Text      string `expr:"text"`
	Tool      string `expr:"tool"`
	Arguments any    `expr:"arguments"`
	Result    any    `expr:"result"`
	IsError   bool   `expr:"is_error"`
	Fault     string `expr:"fault"`
}

type usageView struct {
	InputTokens  int64 `expr:"input_tokens"`
	OutputTokens int64 `expr:"output_tokens"`
}

// evaluator runs the markers of one row after another. Its functions are bound to
// it once; only the fields that are read are set for each row. It belongs to one
// goroutine at a time.
type evaluator struct {
	vm      vm.VM
	env     map[string]any
	t       *trace
	ticks   int
	decoded map[int][2]any // step to its arguments and result
	heard   []string       // the user's texts, lower-cased
}

func newEvaluator() *evaluator {
	e := &evaluator{decoded: map[int][2]any{}}
	e.vm.MemoryBudget = maxExprMemory
	e.env = typesOfRow()
	e.env[tickName] = e.tick
	e.env["called"] = func(tool string) bool { return e.lastCall(tool) >= 0 }
	e.env["first"] = e.first
	e.env["count"] = e.count
	e.env["args"] = e.args
	e.env["result"] = e.result
	e.env["said"] = e.said
	e.env["asked"] = e.asked
	return e
}

// typesOfRow is an environment of zero values: what the compiler checks against.
func typesOfRow() map[string]any {
	return map[string]any{
		tickName: func() bool { return true },
		addName:  joined,
		"called": func(string) bool { return false },
		"first":  func(string) float64 { return 0 },
		"count":  func(string) int { return 0 },
		"args":   func(string) map[string]any { return nil },
		"result": func(string) any { return nil },
		"said":   func(string) bool { return false },
		"asked":  func(string) bool { return false },
		"min":    smallest,
		"max":    largest,
		"prompt": "", "final_text": "", "fault": "", "task_id": "", "situation_id": "", "finish_reason": "", "ended_by": "",
		"steps": []stepView(nil), "axes": map[string]string(nil), "usage": usageView{}, "rollout_index": 0, "eval_run": 0,
	}
}

// hold points e at a row and sets the fields in uses.
func (e *evaluator) hold(t *trace, uses map[string]bool) {
	e.t, e.heard = t, e.heard[:0]
	clear(e.decoded)
	task, r := t.c.Task, t.c.Rollout
	if task == nil {
		task = &record.Task{}
	}
	set := func(name string, value func() any) {
		if uses[name] {
			e.env[name] = value()
		}
	}
	set("prompt", func() any { return string(t.asked[0]) })
	set("final_text", func() any { return string(r.FinalText) })
	set("fault", func() any {
		if task.Fault == nil {
			return ""
		}
		return task.Fault.Condition
	})
	set("task_id", func() any { return task.ID })
	set("situation_id", func() any { return task.SituationID })
	set("finish_reason", func() any { return string(r.FinishReason) })
	set("ended_by", func() any { return r.EndedBy })
	set("rollout_index", func() any { return r.Key.K })
	set("eval_run", func() any { return r.Key.EvalRun })
	set("axes", func() any { return map[string]string(task.Axes) })
	set("usage", func() any {
		if r.Usage == nil {
			return usageView{}
		}
		return usageView{r.Usage.InputTokens, r.Usage.OutputTokens}
	})
	set("steps", func() any { return e.steps(uses[decodedSteps]) })
}

// release lets go of the row.
func (e *evaluator) release() {
	e.t = nil
	clear(e.decoded)
	clear(e.heard)
	e.env["steps"] = []stepView(nil)
}

func (e *evaluator) tick() bool {
	if e.ticks++; e.ticks > maxTicks {
		panic(fmt.Sprintf("it loops over %d times", maxTicks))
	}
	return true
}

func (e *evaluator) steps(decoded bool) []stepView {
	steps := e.t.c.Rollout.Steps
	out := make([]stepView, len(steps))
	for i := range steps {
		s := &steps[i]
		out[i] = stepView{Kind: string(s.Kind), Text: string(s.Text), Tool: s.Tool, IsError: s.IsError, Fault: s.Fault}
		if decoded && s.Kind == record.StepTool {
			both := e.decode(i)
			out[i].Arguments, out[i].Result = both[0], both[1]
		}
	}
	return out
}

// lastCall is the index into the trace's calls of the tool's last call, -1 for
// none.
func (e *evaluator) lastCall(tool string) int {
	for i := len(e.t.calls) - 1; i >= 0; i-- {
		if e.t.calls[i].tool == tool {
			return i
		}
	}
	return -1
}

func (e *evaluator) first(tool string) float64 {
	for i := range e.t.calls {
		if e.t.calls[i].tool == tool {
			return float64(e.t.calls[i].step)
		}
	}
	return math.Inf(1)
}

func (e *evaluator) count(tool string) int {
	n := 0
	for i := range e.t.calls {
		if e.t.calls[i].tool == tool {
			n++
		}
	}
	return n
}

func (e *evaluator) args(tool string) map[string]any {
	if i := e.lastCall(tool); i >= 0 {
		if args, ok := e.decode(e.t.calls[i].step)[0].(map[string]any); ok {
			return args
		}
	}
	return map[string]any{}
}

func (e *evaluator) result(tool string) any {
	if i := e.lastCall(tool); i >= 0 {
		if result := e.decode(e.t.calls[i].step)[1]; result != nil {
			return result
		}
	}
	return map[string]any{}
}

// decode reads a step's arguments and result once for all markers of a row. What
// is not JSON is its text.
func (e *evaluator) decode(step int) [2]any {
	if both, ok := e.decoded[step]; ok {
		return both
	}
	s := &e.t.c.Rollout.Steps[step]
	both := [2]any{decodeOrText(s.Arguments), decodeOrText(s.Result)}
	e.decoded[step] = both
	return both
}

func decodeOrText(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	return v
}

func (e *evaluator) said(text string) bool {
	text = lowerASCII(text)
	for i := range e.t.said {
		if strings.Contains(e.t.said[i].lower, text) {
			return true
		}
	}
	return false
}

func (e *evaluator) asked(text string) bool {
	if len(e.heard) == 0 {
		for _, t := range e.t.asked {
			e.heard = append(e.heard, lowerASCII(string(t)))
		}
	}
	text = lowerASCII(text)
	for _, heard := range e.heard {
		if strings.Contains(heard, text) {
			return true
		}
	}
	return false
}
