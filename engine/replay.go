package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"assay/engine/grade"
	"assay/engine/record"
	"assay/engine/world"
)

// ReplayOptions of a replay.
type ReplayOptions struct {
	// WithoutFault switches the task's fault off; all else of its world stays.
	WithoutFault bool
	// Agent lets the agent attempt the task again in that world, instead of asking
	// the world the recorded calls.
	Agent bool
}

// ReplayReport is a rollout beside what came of it the second time; its JSON is
// what replay prints. Nothing of it is kept.
type ReplayReport struct {
	Run          string        `json:"run"`
	Rollout      string        `json:"rollout"`
	Key          string        `json:"key"`
	Fault        *record.Fault `json:"fault"` // that the task plans
	WithoutFault bool          `json:"without_fault"`
	// Same says that nothing differs.
	Same bool `json:"same"`
	// Calls are the recorded calls with both answers; where the agent ran again, the
	// calls of either side.
	Calls    []ReplayedCall   `json:"calls"`
	Before   *Attempted       `json:"before,omitempty"` // where the agent ran again
	After    *Attempted       `json:"after,omitempty"`
	Warnings []record.Warning `json:"warnings"`
}

// ReplayedCall is one tool call and its two answers. Before or After is null
// where the agent made the call on one side alone.
type ReplayedCall struct {
	Step      int             `json:"step"` // index into the steps, on the side of Before where it is there
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Before    *CallAnswer     `json:"before"`
	After     *CallAnswer     `json:"after"`
	Same      bool            `json:"same"`
}

// CallAnswer is what a tool answered.
type CallAnswer struct {
	Result    json.RawMessage `json:"result"`
	IsError   bool            `json:"is_error"`
	Fault     string          `json:"fault,omitempty"`
	LatencyMS int             `json:"latency_ms"`
}

// Attempted is how one attempt at the task went.
type Attempted struct {
	Status    record.Status `json:"status"`
	Cause     record.Cause  `json:"cause,omitempty"`
	Error     record.Text   `json:"error,omitempty"`
	EndedBy   string        `json:"ended_by"`
	Behavior  string        `json:"behavior"`
	FinalText record.Text   `json:"final_text"`
	Reward    *float64      `json:"reward"`
	Steps     []record.Step `json:"steps"`
}

// Replay runs one rollout again in the same world, or in that world with its
// fault switched off, and compares. Without [ReplayOptions.Agent] only the world
// is asked, and every answer of the same world must be the same; with it the
// agent attempts the task anew, and its reward without the fault says what the
// fault cost. The run is left as it is.
func (e *Engine) Replay(ctx context.Context, s *record.Sample, o ReplayOptions) (*ReplayReport, error) {
	run, err := e.Source.Run(ctx, s.Rollout.RunID)
	if err != nil {
		return nil, err
	}
	switch {
	case run.Role == record.RoleImport:
		return nil, record.Problemf("no_world", "replay a rollout that Assay made", "rollout %s was imported: its tools were answered elsewhere", s.Rollout.ID)
	case o.WithoutFault && s.Task.Fault == nil:
		return nil, record.Problemf("no_fault", "leave out --without-fault, or choose a rollout whose task has one: assay rows "+run.ID+" --where fault=timeout", "the task of rollout %s plans no fault", s.Rollout.ID)
	}
	report := &ReplayReport{Run: run.ID, Rollout: s.Rollout.ID, Key: s.Rollout.Key.String(), Fault: s.Task.Fault, WithoutFault: o.WithoutFault,
		Calls: []ReplayedCall{}, Warnings: []record.Warning{}}
	task := s.Task
	if o.WithoutFault {
		task = world.Without(task)
	}
	if o.Agent {
		err = e.attemptAgain(ctx, run, s, task, report)
	} else {
		err = askAgain(run, s, task, report)
	}
	if err != nil {
		return nil, err
	}
	return report, nil
}

// askAgain asks a fresh world the calls that the rollout made.
func askAgain(run *record.Run, s *record.Sample, task *record.Task, report *ReplayReport) error {
	tools, by, err := toolsOf(run, task)
	switch {
	case err != nil:
		return err
	case by == record.ToolsByAgent:
		return record.Problemf("no_world", "let the agent attempt it again with --agent", "the agent of rollout %s answered its own tool calls: there is no world to ask", s.Rollout.ID)
	}
	report.Same = true
	for _, r := range world.Replay(world.New(task, tools), s.Rollout.Steps) {
		step := &s.Rollout.Steps[r.Step]
		report.Calls = append(report.Calls, ReplayedCall{Step: r.Step, Tool: step.Tool, Arguments: step.Arguments,
			Before: answerOf(r.Before), After: answerOf(r.After), Same: r.Same()})
		report.Same = report.Same && r.Same()
	}
	return nil
}

// toolsOf are the tools that a run's agent was shown, and who answered them.
func toolsOf(run *record.Run, task *record.Task) ([]record.Tool, record.ToolsBy, error) {
	r, err := storedRecipe(run)
	if err != nil {
		return nil, "", err
	}
	spec := r.Agent
	if run.Role == record.RoleAfter && r.After != nil && r.After.Agent != nil {
		spec = *r.After.Agent
	}
	switch by := record.ToolsBy(spec.ToolsBy); {
	case run.Tools != nil:
		return run.Tools, by, nil
	case r.Tools == nil:
		return task.Tools, by, nil
	default:
		tools, err := loadTools("tools", r.Tools)
		return tools, by, err
	}
}

func answerOf(r record.ToolResult) *CallAnswer {
	return &CallAnswer{Result: r.Result, IsError: r.IsError, Fault: r.Fault, LatencyMS: r.LatencyMS}
}

// attemptAgain lets the agent attempt the task once more, and grades that as the
// run would.
func (e *Engine) attemptAgain(ctx context.Context, run *record.Run, s *record.Sample, task *record.Task, report *ReplayReport) error {
	p, err := e.prepareStored(run)
	if err != nil {
		return err
	}
	defer p.close()
	a := p.before
	if run.Role == record.RoleAfter && p.after != nil {
		a = p.after
	}
	if a.filesHash != run.FilesHash {
		report.Warnings = append(report.Warnings, record.Warning{Code: "agent_changed", Text: "the agent's files have changed since the run: what differs may be their doing", Fix: "put the files back"})
	}
	if err := e.ready(ctx, p); err != nil {
		return err
	}
	quiet := *e
	quiet.Observe = nil // the run's own rollout of this id is not running
	runner := (&story{engine: &quiet, plan: p}).runner(run, a)
	closed, err := serveWorlds(runner, a)
	if err != nil {
		return err
	}
	defer closed()
	posed := s.Posed
	posed.Task = task
	again := record.Outcome{Rollout: runner.Run(ctx, run.ID, posed, s.Rollout.Key.EvalRun, s.Rollout.Key.K)}
	if again.Rollout.Status == record.StatusAborted {
		return context.Cause(ctx)
	}
	again.Judgment, again.Markers = p.grader.Grade(ctx, grade.Case{Task: task, Rollout: &again.Rollout, SystemPrompt: a.policy.SystemPrompt, Tools: a.tools})
	report.Before, report.After = attemptedOf(&s.Outcome), attemptedOf(&again)
	if old, now := run.Scorer, p.grader.RewardScorer(); old != now {
		report.Warnings = append(report.Warnings, record.Warning{Code: "another_scorer", Text: fmt.Sprintf("the reward before is by %s, the one after by %s", old, now), Fix: "read the rewards apart"})
	}
	report.compareSteps(s.Rollout.Steps, again.Rollout.Steps)
	b, c := report.Before, report.After
	report.Same = sameSteps(b.Steps, c.Steps) && b.Status == c.Status && b.EndedBy == c.EndedBy && b.FinalText == c.FinalText && sameReward(b.Reward, c.Reward)
	return nil
}

func attemptedOf(o *record.Outcome) *Attempted {
	r := &o.Rollout
	return &Attempted{Status: r.Status, Cause: r.Cause, Error: r.Error, EndedBy: r.EndedBy, Behavior: r.Behavior, FinalText: r.FinalText, Reward: o.Reward(), Steps: r.Steps}
}

// compareSteps sets the calls of two attempts side by side, the n-th of each tool
// with the n-th: an agent that goes another way makes other calls.
func (r *ReplayReport) compareSteps(before, after []record.Step) {
	open := map[string][]int{} // calls of before without a partner, by tool
	for i := range before {
		if s := &before[i]; s.Kind == record.StepTool {
			open[s.Tool] = append(open[s.Tool], len(r.Calls))
			r.Calls = append(r.Calls, ReplayedCall{Step: i, Tool: s.Tool, Arguments: s.Arguments, Before: stepAnswer(s)})
		}
	}
	for i := range after {
		s := &after[i]
		if s.Kind != record.StepTool {
			continue
		}
		waiting := open[s.Tool]
		if len(waiting) == 0 {
			r.Calls = append(r.Calls, ReplayedCall{Step: i, Tool: s.Tool, Arguments: s.Arguments, After: stepAnswer(s)})
			continue
		}
		c := &r.Calls[waiting[0]]
		open[s.Tool] = waiting[1:]
		c.After = stepAnswer(s)
		c.Same = sameJSON(c.Arguments, s.Arguments) && sameAnswer(c.Before, c.After)
	}
}

func stepAnswer(s *record.Step) *CallAnswer {
	return &CallAnswer{Result: s.Result, IsError: s.IsError, Fault: s.Fault, LatencyMS: s.LatencyMS}
}

func sameAnswer(a, b *CallAnswer) bool {
	return sameJSON(a.Result, b.Result) && a.IsError == b.IsError && a.Fault == b.Fault && a.LatencyMS == b.LatencyMS
}

func sameSteps(a, b []record.Step) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := &a[i], &b[i]
		if x.Kind != y.Kind || x.Text != y.Text || x.Tool != y.Tool || !sameJSON(x.Arguments, y.Arguments) || !sameAnswer(stepAnswer(x), stepAnswer(y)) {
			return false
		}
	}
	return true
}

// sameJSON compares the bytes; what is absent is null.
func sameJSON(a, b json.RawMessage) bool {
	null := func(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
	return bytes.Equal(a, b) || null(a) && null(b)
}

func sameReward(a, b *float64) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}
