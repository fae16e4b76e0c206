package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"assay/engine/record"
	"assay/engine/world"
)

// attempt is one try at a rollout: one conversation in one world.
type attempt struct {
	runner    *Runner
	out       *record.Rollout // of which this attempt owns what a conversation fills
	task      *record.Task
	tools     []record.Tool
	takeEmpty bool // an empty reply counts: it was retried before
	world     *world.World
	person    Person
	address   *record.WorldAddress // where the world is served, nil where it is not
	stop      context.CancelFunc   // ends the turn's context
	thoughts  []thought
	unlogged  bool // a reply came without log-probabilities

	mu      sync.Mutex    // an agent may call from goroutines of its own
	log     []record.Step // log[0] is the ask
	open    int           // the turn whose acts are recorded, -1 between turns
	calls   int
	flooded bool // more calls than the limit
	broken  error
}

// Errors of an attempt.
var (
	errDeadline  = errors.New("deadline")
	errEmpty     = errors.New("the reply is empty")
	errLeftAlone = errors.New("the agent did not return after its context ended and was left behind")
)

// run holds the conversation. A nil error means that it ended, in any way that
// counts.
func (a *attempt) run(ctx context.Context) error {
	a.clear()
	if err := a.prepare(); err != nil {
		return err
	}
	defer a.serve()()
	for turn := 0; ; turn++ {
		reply, err := a.ask(ctx, turn)
		if err == nil {
			err = a.take(turn, &reply)
		} else {
			a.use(reply.Usage)
		}
		if a.flooded {
			a.end(reply.FinalText, record.EndedByTurnLimit)
			a.out.FinishReason = record.FinishLength
			return nil
		}
		ended := false
		if err == nil {
			ended, err = a.answer(ctx, turn, reply.FinalText)
		}
		if err != nil {
			a.out.Steps = a.steps() // what was done until then is evidence
		}
		if ended || err != nil {
			return err
		}
	}
}

// turnContext ends when the rollout's does, or at the agent's deadline.
func turnContext(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout < 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, timeout, errDeadline)
}

// clear takes back what an earlier attempt left on the rollout.
func (a *attempt) clear() {
	o := a.out
	o.Steps, o.FinalText, o.FinishReason, o.EndedBy, o.Cause, o.Error = nil, "", "", "", "", ""
	o.Usage, o.LogProbs, o.Privileged, o.Extra, o.PromptTruncated = nil, nil, nil, nil, false
	a.thoughts, a.unlogged = nil, false
	a.log = append(make([]record.Step, 0, 8), record.Step{Kind: record.StepUser, Text: a.task.Ask})
	a.open = -1
}

// prepare makes the world and the person.
func (a *attempt) prepare() error {
	r := a.runner
	if r.ToolsBy != record.ToolsByAgent {
		if err := world.Check(a.task); err != nil {
			return &record.AgentError{Cause: record.CauseWorld, Err: err}
		}
		a.world = r.toolset(a.task).World(a.task, r.ready.dials)
	}
	key := a.out.Key
	person, err := r.ready.person(a.task, record.Stream("user", r.Seed, key.TaskID, key.EvalRun, key.K))
	if err != nil {
		return byUser(err)
	}
	a.person = person
	return nil
}

// serve opens the world to calls from outside, where the runner serves worlds;
// closed ends that.
func (a *attempt) serve() (closed func()) {
	if a.world == nil || a.runner.Serve == nil {
		return func() {}
	}
	address, closed := a.runner.Serve(a.reach)
	a.address = &address
	return closed
}

// byUser puts an error down to the person unless it says otherwise.
func byUser(err error) error {
	var known *record.AgentError
	if errors.As(err, &known) {
		return err
	}
	return &record.AgentError{Cause: record.CauseUser, Err: err}
}

// ask gives the agent one turn and waits for its reply.
func (a *attempt) ask(ctx context.Context, turn int) (record.Reply, error) {
	s := &a.runner.ready
	ctx, stop := turnContext(ctx, s.timeout)
	defer stop()
	a.stop = stop
	t := a.turn(turn)
	if s.timeout > 0 {
		t.Deadline = s.now().Add(s.timeout)
	}
	came := make(chan answered, 1)
	go func() {
		var got answered
		defer func() {
			if p := recover(); p != nil {
				got.err = record.AgentErrorf(record.CauseAgent, "the agent panicked: %v\n%s", p, debug.Stack())
			}
			came <- got
		}()
		got.reply, got.err = a.runner.Agent.Reply(ctx, t)
	}()
	got := wait(ctx, came, s.grace)
	if broken := a.closeTurn(); broken != nil {
		return got.reply, broken
	}
	var known *record.AgentError
	if unasked := errors.As(got.err, &known) && known.Unasked; got.err != nil && context.Cause(ctx) == errDeadline && !unasked {
		got.err = record.AgentErrorf(record.CauseAgent, "no reply within %v: %w", s.timeout, got.err)
	}
	return got.reply, got.err
}

type answered struct {
	reply record.Reply
	err   error
}

// wait is for the reply; a reply that is there counts even when the context has
// just ended. An agent that does not heed its context is left behind.
func wait(ctx context.Context, came <-chan answered, grace time.Duration) answered {
	select {
	case got := <-came:
		return got
	case <-ctx.Done():
	}
	patience := time.NewTimer(grace)
	defer patience.Stop()
	select {
	case got := <-came:
		return got
	case <-patience.C:
		return answered{err: errLeftAlone}
	}
}

func (a *attempt) turn(turn int) record.Turn {
	r, key := a.runner, a.out.Key
	t := record.Turn{
		Rollout:      record.RolloutRef{ID: a.out.ID, TaskID: key.TaskID, EvalRun: key.EvalRun, K: key.K, Turn: turn},
		Seed:         record.SeedOf("agent", r.Seed, key.TaskID, key.EvalRun, key.K),
		SystemPrompt: r.Policy.SystemPrompt,
		Tools:        a.tools,
		ToolsBy:      record.ToolsByWorld,
		Say:          func(text record.Text) { a.record(turn, record.Step{Kind: record.StepText, Text: text}) },
	}
	if a.world == nil {
		t.ToolsBy = record.ToolsByAgent
	} else {
		t.Call = func(_ context.Context, call record.ToolCall) record.ToolResult { return a.call(turn, call) }
	}
	if a.address != nil {
		address := *a.address
		t.World = &address
	}
	if tell := r.Hooks.Text; tell != nil {
		t.Stream = func(d record.Delta) { tell(a.out.ID, d) }
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	last := len(a.log) - 1
	t.Message = a.log[last].Text
	if last > 0 {
		t.History = slices.Clone(a.log[:last]) // the agent's to do with as it likes
	}
	a.open = turn
	return t
}

// closeTurn ends the recording of a turn; it reports a fault of the world in it.
func (a *attempt) closeTurn() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = -1
	return a.broken
}

// record appends a step of the agent's, unless its turn is over.
func (a *attempt) record(turn int, step record.Step) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open == turn {
		a.append(step)
	}
}

// append adds a step and tells of it. The lock is held.
func (a *attempt) append(step record.Step) {
	a.log = append(a.log, step)
	if tell := a.runner.Hooks.Step; tell != nil {
		tell(a.out.ID, len(a.log)-2, step)
	}
}

// reach is a call from outside. It belongs to the turn that is open when it
// comes.
func (a *attempt) reach(_ context.Context, call record.ToolCall) record.ToolResult {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.answerCall(a.open >= 0, call)
}

// call is a call that the agent makes through its turn.
func (a *attempt) call(turn int, call record.ToolCall) record.ToolResult {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.answerCall(a.open == turn, call)
}

// answerCall asks the world and records the step. The lock is held.
func (a *attempt) answerCall(open bool, call record.ToolCall) record.ToolResult {
	switch {
	case !open:
		return closedResult("the turn is over")
	case a.calls >= a.runner.ready.maxCalls:
		a.flooded = true
		a.stop()
		return closedResult("the rollout has made as many tool calls as it may")
	}
	a.calls++
	result := a.askWorld(call)
	a.append(record.Step{Kind: record.StepTool, Tool: call.Tool, Arguments: readable(call.Arguments), Result: result.Result,
		IsError: result.IsError, Fault: result.Fault, LatencyMS: result.LatencyMS})
	return result
}

// askWorld turns a panic of the world into its own cause.
func (a *attempt) askWorld(call record.ToolCall) (result record.ToolResult) {
	defer func() {
		if p := recover(); p != nil {
			a.broken = record.AgentErrorf(record.CauseWorld, "the world failed on a call of %q: %v", call.Tool, p)
			result = closedResult("the world failed")
		}
	}()
	return a.world.Call(call)
}

func closedResult(why string) record.ToolResult {
	body, _ := record.Marshal(record.ToolError{Error: "closed", Message: why}) // plain strings marshal
	return record.ToolResult{Result: body, IsError: true}
}

// readable is arguments as a step may hold them: what is not JSON becomes a
// string.
func readable(raw json.RawMessage) json.RawMessage {
	switch {
	case len(raw) == 0:
		return nil
	case json.Valid(raw):
		return slices.Clone(raw)
	}
	quoted, _ := record.Text(raw).MarshalJSON() // never fails
	return quoted
}

// answer lets the person hear a reply. It reports whether the conversation is
// over.
func (a *attempt) answer(ctx context.Context, turn int, reply record.Text) (ended bool, err error) {
	said, err := a.hear(ctx, reply)
	if err != nil {
		return false, byUser(err)
	}
	s := &a.runner.ready
	switch {
	case said.EndedBy != "":
		a.end(reply, said.EndedBy)
		return true, nil
	case turn+1 >= s.maxTurns:
		a.end(reply, record.EndedByTurnLimit)
		return true, nil
	case a.spent():
		a.end(reply, record.EndedByTurnLimit)
		a.out.Cause = record.CauseBudget
		return true, nil
	}
	if reply != "" {
		a.append(record.Step{Kind: record.StepText, Text: reply})
	}
	a.append(record.Step{Kind: record.StepUser, Text: withoutThinking(said.Text)})
	return false, nil
}

// hear asks the person; a panic of theirs is an error of theirs.
func (a *attempt) hear(ctx context.Context, reply record.Text) (said Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the user panicked: %v", p)
		}
	}()
	return a.person.Answer(ctx, slices.Clip(a.log), reply)
}

func (a *attempt) spent() bool {
	limit, u := a.runner.MaxTokens, a.out.Usage
	return limit > 0 && u != nil && u.InputTokens+u.OutputTokens >= limit
}

// end closes the conversation with its last reply.
func (a *attempt) end(reply record.Text, by string) {
	a.out.FinalText, a.out.EndedBy, a.out.Steps = reply, by, a.steps()
}

// steps are the conversation without the ask.
func (a *attempt) steps() []record.Step { return a.log[1:len(a.log):len(a.log)] }
