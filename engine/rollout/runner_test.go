package rollout_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"assay/engine/record"
	"assay/engine/rollout"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConversationLaw(t *testing.T) {
	var turns []record.Turn
	agent := function(func(ctx context.Context, turn record.Turn) (record.Reply, error) {
		turns = append(turns, turn)
		if turn.Rollout.Turn == 0 {
			turn.Call(ctx, record.ToolCall{Tool: "get_runbook", Arguments: json.RawMessage(`{"service":"billing"}`)})
			return record.Reply{FinalText: "Shall I restart billing?"}, nil
		}
		turn.Say("One moment.")
		turn.Call(ctx, record.ToolCall{Tool: "restart_service", Arguments: json.RawMessage(`{"service":"billing"}`)})
		return record.Reply{FinalText: "I restarted it."}, nil
	})
	o := run(t, &rollout.Runner{Agent: agent, Seed: 7}, askOf("restart billing", record.User{Manner: "terse", Confirms: true}))
	if o.Status != record.StatusDone || o.EndedBy != record.EndedByAgent || o.FinishReason != record.FinishStop || o.FinalText != "I restarted it." || o.Attempts != 1 {
		t.Fatalf("%+v", o)
	}
	got := texts(o)
	if len(got) != 5 || got[0] != "get_runbook" || got[1] != "t:Shall I restart billing?" || !strings.HasPrefix(got[2], "u:") || got[3] != "t:One moment." || got[4] != "restart_service" {
		t.Errorf("steps %q", got)
	}
	first, second := turns[0], turns[1]
	if first.Message != "restart billing" || len(first.History) != 0 || first.Rollout.Turn != 0 || first.ToolsBy != record.ToolsByWorld || first.World != nil {
		t.Errorf("the first turn is %+v", first)
	}
	if "u:"+string(second.Message) != got[2] || len(second.History) != 3 || second.History[0].Text != "restart billing" || second.History[0].Kind != record.StepUser || second.History[2].Text != "Shall I restart billing?" {
		t.Errorf("the second turn is %+v", second)
	}
	if want := record.SeedOf("agent", int64(7), o.Key.TaskID, 0, 0); first.Seed != want || second.Seed != want {
		t.Errorf("seeds %d, %d, want %d for every turn", first.Seed, second.Seed, want)
	}
	if o.Behavior != "get_runbook:ok>restart_service:ok|agent|asked,acted" {
		t.Errorf("behavior %q", o.Behavior)
	}
}

// What the agent does to its Turn stays its own.
func TestTurnIsTheAgentsOwn(t *testing.T) {
	agent := function(func(_ context.Context, turn record.Turn) (record.Reply, error) {
		for i := range turn.History {
			turn.History[i] = record.Step{Kind: record.StepText, Text: "spoilt"}
		}
		_ = append(turn.History, record.Step{Kind: record.StepText, Text: "more"})
		return record.Reply{FinalText: record.Text(fmt.Sprintf("Shall I do part %d?", turn.Rollout.Turn))}, nil
	})
	o := run(t, &rollout.Runner{Agent: agent, MaxTurns: 4}, askOf("restart billing", record.User{Confirms: true}))
	for _, text := range texts(o) {
		if strings.Contains(text, "spoilt") || strings.Contains(text, "more") {
			t.Errorf("the agent wrote into the record: %q", text)
		}
	}
}

func TestMaxTurnsIsExact(t *testing.T) {
	for limit := 1; limit <= 6; limit++ {
		replies := 0
		agent := function(func(_ context.Context, turn record.Turn) (record.Reply, error) {
			replies++
			return record.Reply{FinalText: record.Text(fmt.Sprintf("Do you want me to go on with part %d?", turn.Rollout.Turn))}, nil
		})
		o := run(t, &rollout.Runner{Agent: agent, MaxTurns: limit}, askOf("restart billing", record.User{Confirms: true, Patience: 100}))
		users := 1 // the ask
		for _, s := range o.Steps {
			if s.Kind == record.StepUser {
				users++
			}
		}
		if replies != limit || users != limit || o.EndedBy != record.EndedByTurnLimit || o.Status != record.StatusDone {
			t.Errorf("max_turns %d: %d replies, %d user lines, ended by %s", limit, replies, users, o.EndedBy)
		}
	}
	o := run(t, &rollout.Runner{Agent: says("Done."), MaxTurns: 1}, askOf("restart billing", record.User{}))
	if len(o.Steps) != 0 || o.EndedBy != record.EndedByAgent {
		t.Errorf("one turn that was enough: %q, ended by %s", texts(o), o.EndedBy)
	}
}

func TestUserLeavesIsAResult(t *testing.T) {
	o := run(t, &rollout.Runner{Agent: says("Which color?")}, askOf("restart billing", record.User{Patience: 2}))
	if o.Status != record.StatusDone || o.EndedBy != record.EndedByUserLeft || o.Cause != "" || o.Error != "" {
		t.Errorf("%+v", o)
	}
	if n := len(texts(o)); n != 4 { // two replies borne, each answered; the third is the last
		t.Errorf("patience 2 took %d steps: %q", n, texts(o))
	}
}

func TestCauses(t *testing.T) {
	failing := func(err error) function {
		return func(context.Context, record.Turn) (record.Reply, error) { return record.Reply{}, err }
	}
	step := record.Step{Kind: record.StepTool, Tool: "x", Result: json.RawMessage(`1`)}
	for _, tt := range []struct {
		name     string
		agent    rollout.Agent
		runner   func(*rollout.Runner)
		task     *record.Task
		cause    record.Cause
		attempts int
		says     string
	}{
		{name: "an error", agent: failing(errors.New("no key in map")), cause: record.CauseAgent, attempts: 2, says: "no key in map"},
		{name: "the line", agent: failing(record.AgentErrorf(record.CauseInfrastructure, "503")), cause: record.CauseInfrastructure, attempts: 3, says: "503"},
		{name: "the context window", agent: failing(record.AgentErrorf(record.CauseContext, "too long")), cause: record.CauseContext, attempts: 1, says: "too long"},
		{name: "a wrong key", agent: failing(&record.AgentError{Cause: record.CauseInfrastructure, Err: errors.New("401"), Stop: record.StoppedAuth}), cause: record.CauseInfrastructure, attempts: 1, says: "401"},
		{name: "a panic", agent: function(func(context.Context, record.Turn) (record.Reply, error) { panic("index out of range") }), cause: record.CauseAgent, attempts: 2, says: "index out of range"},
		{name: "steps where the world answers", cause: record.CauseAgent, attempts: 2, says: "leave steps empty",
			agent: function(func(context.Context, record.Turn) (record.Reply, error) {
				return record.Reply{FinalText: "x", Steps: []record.Step{step}}, nil
			})},
		{name: "an unknown finish reason", cause: record.CauseAgent, attempts: 2, says: "content_filter",
			agent: function(func(context.Context, record.Turn) (record.Reply, error) {
				return record.Reply{FinalText: "x", FinishReason: "content_filter"}, nil
			})},
		{name: "steps that are not JSON", cause: record.CauseAgent, attempts: 2, says: "steps[0]", runner: func(r *rollout.Runner) { r.ToolsBy = record.ToolsByAgent },
			agent: function(func(context.Context, record.Turn) (record.Reply, error) {
				return record.Reply{FinalText: "x", Steps: []record.Step{{Kind: record.StepTool, Tool: "x", Result: json.RawMessage(`{`)}}}, nil
			})},
		{name: "a step without a tool", cause: record.CauseAgent, attempts: 2, says: "without a name", runner: func(r *rollout.Runner) { r.ToolsBy = record.ToolsByAgent },
			agent: function(func(context.Context, record.Turn) (record.Reply, error) {
				return record.Reply{FinalText: "x", Steps: []record.Step{{Kind: record.StepTool}}}, nil
			})},
		{name: "a user of another kind", agent: says("x"), task: askOf("x", record.User{Kind: "model"}), cause: record.CauseUser, attempts: 1, says: "model"},
		{name: "a user that fails", agent: says("x"), cause: record.CauseUser, attempts: 1, says: "user model is down",
			runner: func(r *rollout.Runner) {
				r.Person = person(func() (rollout.Answer, error) { return rollout.Answer{}, errors.New("user model is down") })
			}},
		{name: "a user that panics", agent: says("x"), cause: record.CauseUser, attempts: 1, says: "nil map",
			runner: func(r *rollout.Runner) { r.Person = person(func() (rollout.Answer, error) { panic("nil map") }) }},
		{name: "a fault that no world plays", agent: says("x"), cause: record.CauseWorld, attempts: 1, says: "explode",
			task: func() *record.Task {
				task := askOf("x", record.User{})
				task.Fault = &record.Fault{Tool: "get_status", Condition: "explode"}
				return task
			}()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var h heard
			r := &rollout.Runner{Agent: tt.agent, Hooks: h.hooks()}
			if tt.runner != nil {
				tt.runner(r)
			}
			task := tt.task
			if task == nil {
				task = askOf("restart billing", record.User{})
			}
			o := run(t, r, task)
			if o.Status != record.StatusLost || o.Cause != tt.cause || o.Attempts != tt.attempts || o.EndedBy != record.EndedByError || o.FinishReason != record.FinishError {
				t.Errorf("status %s, cause %s, %d attempts, ended by %s, finish %s: %s", o.Status, o.Cause, o.Attempts, o.EndedBy, o.FinishReason, o.Error)
			}
			if !strings.Contains(string(o.Error), tt.says) {
				t.Errorf("error %q does not say %q", o.Error, tt.says)
			}
			if len(h.retried) != tt.attempts-1 || len(h.lost) != 1 || record.CauseOf(h.lost[0]) != tt.cause {
				t.Errorf("hooks heard %d retries and %v", len(h.retried), h.lost)
			}
		})
	}
}

// person plays a user that answers as told.
func person(answer func() (rollout.Answer, error)) func(*record.Task, *rand.Rand) (rollout.Person, error) {
	return func(*record.Task, *rand.Rand) (rollout.Person, error) { return personFunc(answer), nil }
}

type personFunc func() (rollout.Answer, error)

func (f personFunc) Answer(context.Context, []record.Step, record.Text) (rollout.Answer, error) {
	return f()
}

func TestRetryLeavesNoTrace(t *testing.T) {
	calls := 0
	agent := function(func(ctx context.Context, turn record.Turn) (record.Reply, error) {
		got := turn.Call(ctx, record.ToolCall{Tool: "restart_service", Arguments: json.RawMessage(`{"service":"billing"}`)})
		if calls++; calls < 3 {
			return record.Reply{Usage: &record.Usage{InputTokens: 5}}, record.AgentErrorf(record.CauseInfrastructure, "the line broke")
		}
		return record.Reply{FinalText: "Done.", Usage: &record.Usage{InputTokens: 5, OutputTokens: 2}, Extra: map[string]json.RawMessage{"result": got.Result}}, nil
	})
	var waits []time.Duration
	r := &rollout.Runner{Agent: agent, Wait: func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }}
	o := run(t, r, askOf("restart billing", record.User{}))
	if o.Status != record.StatusDone || o.Attempts != 3 || len(o.Steps) != 1 || o.Steps[0].IsError || o.Cause != "" || o.Error != "" {
		t.Errorf("%+v", o)
	}
	if o.Usage.InputTokens != 5 || o.Usage.OutputTokens != 2 {
		t.Errorf("usage %+v counts attempts that failed", o.Usage)
	}
	first := rollout.DefaultRetries().Backoff
	if len(waits) != 2 || waits[0] < first || waits[0] > first*3/2 || waits[1] < 2*first || waits[1] > 3*first {
		t.Errorf("waits %v, want about %v and twice that", waits, first)
	}
}

func TestEmptyReplyIsTriedTwiceThenCounts(t *testing.T) {
	o := run(t, &rollout.Runner{Agent: says("  ")}, askOf("restart billing", record.User{Patience: 1}))
	if o.Status != record.StatusDone || o.Attempts != 2 || o.FinalText != "  " {
		t.Errorf("%+v", o)
	}
	n := 0
	second := function(func(context.Context, record.Turn) (record.Reply, error) {
		n++
		return record.Reply{FinalText: []record.Text{"", "Done."}[n-1]}, nil
	})
	if o := run(t, &rollout.Runner{Agent: second}, askOf("restart billing", record.User{})); o.FinalText != "Done." || o.Attempts != 2 {
		t.Errorf("%+v", o)
	}
}

func TestInterruptedIsAborted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped by hand")
	agent := function(func(ctx context.Context, turn record.Turn) (record.Reply, error) {
		turn.Call(ctx, record.ToolCall{Tool: "get_status", Arguments: json.RawMessage(`{"service":"billing"}`)})
		cancel(stopped)
		<-ctx.Done()
		return record.Reply{}, ctx.Err()
	})
	var h heard
	r := &rollout.Runner{Agent: agent, Policy: rollout.Policy{Tools: opsTools()}, Hooks: h.hooks()}
	o := r.Run(ctx, "run", record.Posed{Task: askOf("x", record.User{})}, 0, 0)
	if o.Status != record.StatusAborted || o.Cause != record.CauseInterrupted || o.Error != "stopped by hand" || len(o.Steps) != 1 {
		t.Errorf("%+v", o)
	}
	if len(h.lost) != 0 || len(h.retried) != 0 {
		t.Errorf("an interruption was told as a loss: %v %v", h.lost, h.retried)
	}
	// A wait for a retry ends with its context too.
	ctx, cancelPlain := context.WithCancel(t.Context())
	r = &rollout.Runner{Agent: function(func(context.Context, record.Turn) (record.Reply, error) {
		return record.Reply{}, record.AgentErrorf(record.CauseInfrastructure, "503")
	}), Policy: rollout.Policy{Tools: opsTools()}, Retries: &rollout.Retries{Infrastructure: 2, Backoff: time.Hour},
		Hooks: rollout.Hooks{Retried: func(string, record.Cause, error) { cancelPlain() }}}
	if o := r.Run(ctx, "run", record.Posed{Task: askOf("x", record.User{})}, 0, 0); o.Status != record.StatusAborted {
		t.Errorf("%+v", o)
	}
}

func TestDeadlineIsTheAgents(t *testing.T) {
	agent := function(func(ctx context.Context, _ record.Turn) (record.Reply, error) {
		<-ctx.Done()
		return record.Reply{}, record.AgentErrorf(record.CauseInfrastructure, "request: %w", ctx.Err())
	})
	o := run(t, &rollout.Runner{Agent: agent, Timeout: time.Millisecond, Retries: &rollout.Retries{}}, askOf("x", record.User{}))
	if o.Status != record.StatusLost || o.Cause != record.CauseAgent || !strings.Contains(string(o.Error), "no reply within 1ms") {
		t.Errorf("%+v", o)
	}
}

// A turn that the agent never got is not its failure, however long it waited.
func TestDeadlineBeforeTheTurnIsNotTheAgents(t *testing.T) {
	agent := function(func(ctx context.Context, _ record.Turn) (record.Reply, error) {
		<-ctx.Done()
		return record.Reply{}, &record.AgentError{Cause: record.CauseInfrastructure, Unasked: true, Err: ctx.Err()}
	})
	o := run(t, &rollout.Runner{Agent: agent, Timeout: time.Millisecond, Retries: &rollout.Retries{}}, askOf("x", record.User{}))
	if o.Status != record.StatusLost || o.Cause != record.CauseInfrastructure {
		t.Errorf("%+v", o)
	}
}

// An agent that does not heed its context is left behind; what it does later is
// not recorded.
func TestDeafAgentIsLeftBehind(t *testing.T) {
	release, left := make(chan struct{}), make(chan struct{})
	agent := function(func(ctx context.Context, turn record.Turn) (record.Reply, error) {
		defer close(left)
		<-release
		turn.Call(ctx, record.ToolCall{Tool: "get_status", Arguments: json.RawMessage(`{"service":"billing"}`)})
		return record.Reply{FinalText: "too late"}, nil
	})
	o := run(t, &rollout.Runner{Agent: agent, Timeout: time.Millisecond, Grace: time.Millisecond, Retries: &rollout.Retries{}}, askOf("x", record.User{}))
	close(release)
	<-left
	if o.Status != record.StatusLost || o.Cause != record.CauseAgent || !strings.Contains(string(o.Error), "left behind") || len(o.Steps) != 0 || o.FinalText != "" {
		t.Errorf("%+v", o)
	}
}

func TestFloodOfCallsIsCutOff(t *testing.T) {
	agent := function(func(ctx context.Context, turn record.Turn) (record.Reply, error) {
		for ctx.Err() == nil {
			turn.Call(ctx, record.ToolCall{Tool: "get_status", Arguments: json.RawMessage(`{"service":"billing"}`)})
		}
		return record.Reply{}, ctx.Err()
	})
	o := run(t, &rollout.Runner{Agent: agent, MaxCalls: 10}, askOf("x", record.User{}))
	if o.Status != record.StatusDone || o.EndedBy != record.EndedByTurnLimit || o.FinishReason != record.FinishLength || len(o.Steps) != 10 {
		t.Errorf("status %s, ended by %s, finish %s, %d steps", o.Status, o.EndedBy, o.FinishReason, len(o.Steps))
	}
	own := function(func(context.Context, record.Turn) (record.Reply, error) {
		return record.Reply{FinalText: "x", Steps: slices.Repeat([]record.Step{{Kind: record.StepTool, Tool: "a", Result: json.RawMessage(`1`)}}, 50)}, nil
	})
	o = run(t, &rollout.Runner{Agent: own, MaxCalls: 10, ToolsBy: record.ToolsByAgent}, askOf("x", record.User{}))
	if o.Status != record.StatusDone || o.EndedBy != record.EndedByTurnLimit || len(o.Steps) != 10 {
		t.Errorf("own steps: status %s, ended by %s, %d steps", o.Status, o.EndedBy, len(o.Steps))
	}
}

func TestToolsByAgent(t *testing.T) {
	agent := function(func(_ context.Context, turn record.Turn) (record.Reply, error) {
		if turn.Call != nil || turn.ToolsBy != record.ToolsByAgent {
			t.Errorf("the turn offers a world: %+v", turn.ToolsBy)
		}
		return record.Reply{FinalText: "Done.", Steps: []record.Step{
			{Kind: record.StepTool, Tool: "restart_service", Arguments: json.RawMessage(`{}`), Result: json.RawMessage(`{"ok":true}`), Fault: "timeout"}, {Kind: record.StepText, Text: "It is up."}}}, nil
	})
	o := run(t, &rollout.Runner{Agent: agent, ToolsBy: record.ToolsByAgent}, askOf("x", record.User{}))
	if got := texts(o); o.Status != record.StatusDone || !slices.Equal(got, []string{"restart_service", "t:It is up."}) {
		t.Errorf("%s %q", o.Status, got)
	}
	if o.Steps[0].Fault != "" {
		t.Errorf("the agent claims a fault: %+v", o.Steps[0])
	}
}

func TestSumsAndIdentities(t *testing.T) {
	agent := function(func(_ context.Context, turn record.Turn) (record.Reply, error) {
		text := record.Text("Shall I go on?")
		if turn.Rollout.Turn == 2 {
			text = "Done."
		}
		return record.Reply{FinalText: text, Usage: &record.Usage{InputTokens: 10, OutputTokens: 3, Cost: 0.5}, LogProbs: &record.LogProbs{Sum: -1.5, Tokens: 3},
			Privileged: json.RawMessage(fmt.Sprintf(`{"truth":{"ok":%v}}`, turn.Rollout.Turn == 2)), Extra: map[string]json.RawMessage{fmt.Sprint("turn", turn.Rollout.Turn): json.RawMessage(`1`)}}, nil
	})
	policy := rollout.Policy{Kind: "function", Program: json.RawMessage(`{"name":"f"}`), SystemPrompt: "Be kind.", Tools: opsTools(), Sampling: json.RawMessage(`{"temperature":1}`)}
	task := askOf("x", record.User{Kind: "scripted", Confirms: true, Patience: 9})
	task.Writer = "template"
	o := run(t, &rollout.Runner{Agent: agent, Policy: policy}, task)
	if o.Usage.InputTokens != 30 || o.Usage.OutputTokens != 9 || o.Usage.Cost != 1.5 || len(o.LogProbs) != 3 {
		t.Errorf("usage %+v, %d logprobs", o.Usage, len(o.LogProbs))
	}
	if truth, ok := record.TruthOf(o.Privileged); !ok || !truth.OK {
		t.Errorf("the last word on the truth is %s", o.Privileged)
	}
	if len(o.Extra) != 3 || o.WriterModel != "template" || o.UserModel != "scripted" || string(o.Sampling) != `{"temperature":1}` {
		t.Errorf("%+v", o)
	}
	if o.PolicyVersion != policy.Version() || o.PromptHash != rollout.PromptHash("Be kind.") || o.ID != record.RolloutID("run", o.Key) {
		t.Errorf("identities %s %s %s", o.PolicyVersion, o.PromptHash, o.ID)
	}
}

func TestTokenCapEndsTheConversation(t *testing.T) {
	agent := function(func(context.Context, record.Turn) (record.Reply, error) {
		return record.Reply{FinalText: "Shall I go on?", Usage: &record.Usage{InputTokens: 60, OutputTokens: 40}}, nil
	})
	o := run(t, &rollout.Runner{Agent: agent, MaxTokens: 150}, askOf("x", record.User{Confirms: true, Patience: 9}))
	if o.Status != record.StatusDone || o.Cause != record.CauseBudget || o.EndedBy != record.EndedByTurnLimit || o.Usage.InputTokens != 120 {
		t.Errorf("%+v %+v", o, o.Usage)
	}
}

func TestPolicyVersion(t *testing.T) {
	base := rollout.Policy{Kind: "command", Program: json.RawMessage(`{"files":"abc"}`), Model: "m", Checkpoint: "c", SystemPrompt: "p", Tools: opsTools(), Sampling: json.RawMessage(`{"t":1}`)}
	if again := base; again.Version() != base.Version() {
		t.Fatal("two versions of one policy")
	}
	seen := map[string]string{base.Version(): "base"}
	for name, change := range map[string]func(*rollout.Policy){
		"kind": func(p *rollout.Policy) { p.Kind = "http" }, "program": func(p *rollout.Policy) { p.Program = json.RawMessage(`{"files":"abd"}`) },
		"model": func(p *rollout.Policy) { p.Model = "n" }, "checkpoint": func(p *rollout.Policy) { p.Checkpoint = "d" }, "prompt": func(p *rollout.Policy) { p.SystemPrompt = "q" },
		"tools": func(p *rollout.Policy) { p.Tools = p.Tools[:2] }, "own tools": func(p *rollout.Policy) { p.Tools = nil }, "no tools": func(p *rollout.Policy) { p.Tools = []record.Tool{} },
		"sampling": func(p *rollout.Policy) { p.Sampling = nil },
	} {
		changed := base
		change(&changed)
		if other, twice := seen[changed.Version()]; twice {
			t.Errorf("%s and %s have one version", name, other)
		}
		seen[changed.Version()] = name
	}
	spaced := base
	spaced.Program = json.RawMessage(`{ "files" : "abc" }`)
	if spaced.Version() != base.Version() {
		t.Error("white space in the program is another version")
	}
}

func TestHooksHearInOrder(t *testing.T) {
	var h heard
	agent := function(func(ctx context.Context, turn record.Turn) (record.Reply, error) {
		turn.Stream(record.Delta{Text: "I rest"})
		turn.Stream(record.Delta{Text: "arted it."})
		turn.Call(ctx, record.ToolCall{Tool: "get_status", Arguments: json.RawMessage(`{"service":"billing"}`)})
		if turn.Rollout.Turn == 0 {
			return record.Reply{FinalText: "Shall I?"}, nil
		}
		return record.Reply{FinalText: "Done."}, nil
	})
	o := run(t, &rollout.Runner{Agent: agent, Hooks: h.hooks()}, askOf("x", record.User{Confirms: true}))
	if toJSON(t, h.steps) != toJSON(t, o.Steps) || !slices.Equal(h.indices, []int{0, 1, 2, 3}) || h.text != "I restarted it.I restarted it." {
		t.Errorf("heard %v %q, the rollout has %q", h.indices, h.text, texts(o))
	}
}

// One recorder a rollout: rollouts that run at once never mix their calls, and
// each is what it is when it runs alone.
func TestRolloutsDoNotMix(t *testing.T) {
	agent := function(func(ctx context.Context, turn record.Turn) (record.Reply, error) {
		var inner sync.WaitGroup
		for i := range 1 + turn.Seed%4 {
			inner.Go(func() {
				turn.Call(ctx, record.ToolCall{Tool: "get_status", Arguments: json.RawMessage(fmt.Sprintf(`{"service":"billing","k":%d,"i":0}`, turn.Rollout.K))})
				_ = i
			})
		}
		inner.Wait()
		return record.Reply{FinalText: record.Text(fmt.Sprintf("Shall I go on with %d?", turn.Rollout.K))}, nil
	})
	runner := func() *rollout.Runner {
		return &rollout.Runner{Agent: agent, Policy: rollout.Policy{Tools: opsTools()}, MaxTurns: 3, Seed: 5}
	}
	posed := record.Posed{Task: askOf("x", record.User{Manner: "chatty", Confirms: true, Patience: 9})}
	const n = 24
	want := make([]string, n)
	for k := range n {
		o := runner().Run(t.Context(), "run", posed, 0, k)
		want[k] = toJSON(t, o.Steps)
	}
	shared, got := runner(), make([]string, n)
	var all sync.WaitGroup
	for k := range n {
		all.Go(func() {
			o := shared.Run(t.Context(), "run", posed, 0, k)
			got[k] = toJSON(t, o.Steps)
		})
	}
	all.Wait()
	for k := range n {
		if got[k] != want[k] {
			t.Errorf("rollout %d: together\n%s\nalone\n%s", k, got[k], want[k])
		}
		if strings.Count(got[k], fmt.Sprintf(`"k":%d`, k)) != strings.Count(got[k], `"k":`) {
			t.Errorf("rollout %d holds calls of another: %s", k, got[k])
		}
	}
}

// A call after the turn is over is answered and not recorded.
func TestLateCallsAreNotRecorded(t *testing.T) {
	var kept record.Turn
	agent := function(func(_ context.Context, turn record.Turn) (record.Reply, error) {
		kept = turn
		return record.Reply{FinalText: "Done."}, nil
	})
	o := run(t, &rollout.Runner{Agent: agent}, askOf("x", record.User{}))
	got := kept.Call(t.Context(), record.ToolCall{Tool: "get_status", Arguments: json.RawMessage(`{"service":"billing"}`)})
	kept.Say("too late")
	if !got.IsError || len(o.Steps) != 0 {
		t.Errorf("%s, steps %q", got.Result, texts(o))
	}
}

func TestUnreadableArgumentsAreAStep(t *testing.T) {
	agent := function(func(ctx context.Context, turn record.Turn) (record.Reply, error) {
		for _, raw := range []string{"{\"service\":", "\xff\xfe", "", "\"\\ud800\""} {
			turn.Call(ctx, record.ToolCall{Tool: "get_status", Arguments: json.RawMessage(raw)})
		}
		return record.Reply{FinalText: "Done."}, nil
	})
	o := run(t, &rollout.Runner{Agent: agent}, askOf("x", record.User{}))
	if len(o.Steps) != 4 {
		t.Fatalf("%q", texts(o))
	}
	for _, s := range o.Steps {
		if raw, err := record.Marshal(s); err != nil || !json.Valid(raw) || !s.IsError {
			t.Errorf("step %s: %v", raw, err)
		}
	}
}

func TestThinkingOfTheUserIsStripped(t *testing.T) {
	said := []rollout.Answer{{Text: "<think>what do I want?</think>Yes please.<think>and"}, {EndedBy: record.EndedByUser}}
	n := -1
	r := &rollout.Runner{Agent: says("Shall I?"), Person: person(func() (rollout.Answer, error) { n++; return said[n], nil })}
	o := run(t, r, askOf("x", record.User{Kind: "model"}))
	if got := texts(o); !slices.Equal(got, []string{"t:Shall I?", "u:Yes please."}) || o.EndedBy != record.EndedByUser || o.UserModel != "model" {
		t.Errorf("%q, ended by %s", got, o.EndedBy)
	}
}

func TestTasksWithToolsOfTheirOwn(t *testing.T) {
	agent := function(func(ctx context.Context, turn record.Turn) (record.Reply, error) {
		return record.Reply{FinalText: record.Text(turn.Tools[0].Name + string(turn.Call(ctx, record.ToolCall{Tool: turn.Tools[0].Name}).Result))}, nil
	})
	r := &rollout.Runner{Agent: agent}
	for _, name := range []string{"get_weather", "get_news"} {
		task := &record.Task{SituationID: name, Ask: "x", Tools: []record.Tool{{Name: name, Kind: record.ToolRead}}}
		task.Identify()
		if o := r.Run(t.Context(), "run", record.Posed{Task: task}, 0, 0); !strings.HasPrefix(string(o.FinalText), name+"{") || o.Steps[0].IsError {
			t.Errorf("%s: %s", name, o.FinalText)
		}
	}
}
