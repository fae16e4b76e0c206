package rollout_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/engine/record"
	"assay/engine/rollout"
)

// playing is a model that plays people: it gives its lines one after the other, the last
// again and again, and keeps what it was asked.
type playing struct {
	lines []record.Text
	err   error
	mu    sync.Mutex
	asked []record.ChatRequest
}

func (p *playing) Complete(ctx context.Context, r record.ChatRequest) (record.ChatReply, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, r)
	if p.err != nil {
		return record.ChatReply{}, p.err
	}
	return record.ChatReply{Text: p.lines[min(len(p.asked), len(p.lines))-1], Usage: &record.Usage{InputTokens: 5, OutputTokens: 2}}, nil
}

var customer = record.User{Kind: rollout.UserScripted, Manner: "lower_case", Wants: "Restart the billing service.", Knows: map[string]record.Text{"order_id": "A-17", "reason": "it hangs"},
	Confirms: true, Insists: []record.Text{"And the other one?"}, Patience: 2}

func playedBy(m rollout.Completer, agent rollout.Agent) *rollout.Runner {
	users := &rollout.PlayedUsers{Model: m}
	return &rollout.Runner{Agent: agent, Person: users.Person, UserModel: "openai:u", Seed: 3}
}

func TestPlayedUserConverses(t *testing.T) {
	m := &playing{lines: []record.Text{"<think>who am I</think>its A-17", "thanks a lot [Done]"}}
	agent := function(func(ctx context.Context, turn record.Turn) (record.Reply, error) {
		if turn.Rollout.Turn > 0 {
			return record.Reply{FinalText: "It is restarted."}, nil
		}
		turn.Say("One moment.")
		turn.Call(ctx, record.ToolCall{Tool: "get_status", Arguments: []byte(`{"service":"billing"}`)})
		return record.Reply{FinalText: "Which order?"}, nil
	})
	o := run(t, playedBy(m, agent), askOf("billing hangs", customer))
	if o.Status != record.StatusDone || o.EndedBy != record.EndedByUser || o.UserModel != "openai:u" || o.FinalText != "It is restarted." {
		t.Errorf("%+v", o)
	}
	if diff := cmp.Diff([]string{"t:One moment.", "get_status", "t:Which order?", "u:its A-17"}, texts(o)); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if o.Usage != nil {
		t.Errorf("what the user used stands as the agent's: %+v", o.Usage)
	}
	var said []string
	for _, msg := range m.asked[1].Messages {
		said = append(said, msg.Role+": "+string(*msg.Content))
	}
	if diff := cmp.Diff([]string{"user: You have reached the assistant. What do you write?", "assistant: billing hangs", "user: One moment.\n\nWhich order?", "assistant: its A-17", "user: It is restarted."}, said[1:]); diff != "" {
		t.Errorf("the conversation as the person sees it (-want +got):\n%s", diff)
	}
	for _, want := range []string{"lower case", "Restart the billing service", "order id: A-17", "reason: it hangs", "you say yes", "And the other one?", "You bear 2 messages"} {
		if !strings.Contains(said[0], want) {
			t.Errorf("the person is not told %q:\n%s", want, said[0])
		}
	}
}

func TestPlayedUserEndings(t *testing.T) {
	for name, tc := range map[string]struct {
		lines   []record.Text
		agent   rollout.Agent
		endedBy string
		cause   record.Cause
		status  record.Status
	}{
		"done at once":         {[]record.Text{"[DONE]"}, says("Done."), record.EndedByUser, "", record.StatusDone},
		"leaves":               {[]record.Text{"who?", "enough. [ leave ]"}, says("Which?"), record.EndedByUserLeft, "", record.StatusDone},
		"never ends":           {[]record.Text{"go on"}, says("Well."), record.EndedByTurnLimit, "", record.StatusDone},
		"says nothing once":    {[]record.Text{"", "[DONE]"}, says("Well."), record.EndedByUser, "", record.StatusDone},
		"says nothing":         {[]record.Text{"<think>hm</think> "}, says("Well."), record.EndedByError, record.CauseUser, record.StatusLost},
		"never stops thinking": {[]record.Text{"<think>[DONE] or not"}, says("Well."), record.EndedByError, record.CauseUser, record.StatusLost},
	} {
		t.Run(name, func(t *testing.T) {
			r := playedBy(&playing{lines: tc.lines}, tc.agent)
			r.MaxTurns = 4
			o := run(t, r, askOf("hello", customer))
			if o.EndedBy != tc.endedBy || o.Cause != tc.cause || o.Status != tc.status {
				t.Errorf("status %s, ended by %s, cause %q: %s", o.Status, o.EndedBy, o.Cause, o.Error)
			}
		})
	}
}

// TestPlayedUserFailuresAreNotTheAgents: P15.
func TestPlayedUserFailuresAreNotTheAgents(t *testing.T) {
	for name, tc := range map[string]struct {
		err   error
		cause record.Cause
		stop  record.StopReason
		tries int
	}{
		"a plain error":     {errors.New("cut"), record.CauseUser, "", 1},
		"its own context":   {record.AgentErrorf(record.CauseContext, "too long"), record.CauseUser, "", 1},
		"its own agent":     {record.AgentErrorf(record.CauseAgent, "odd"), record.CauseUser, "", 1},
		"the line, retried": {record.AgentErrorf(record.CauseInfrastructure, "503"), record.CauseInfrastructure, "", 3},
		"a refused key":     {&record.AgentError{Cause: record.CauseInfrastructure, Stop: record.StoppedAuth, Err: errors.New("401")}, record.CauseInfrastructure, record.StoppedAuth, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var h heard
			m := &playing{err: tc.err}
			r := playedBy(m, says("Well."))
			r.Hooks = h.hooks()
			o := run(t, r, askOf("hello", customer))
			var lost *record.AgentError
			if o.Status != record.StatusLost || o.Cause != tc.cause || len(m.asked) != tc.tries || len(h.lost) != 1 || !errors.As(h.lost[0], &lost) || lost.Stop != tc.stop {
				t.Errorf("status %s, cause %q after %d tries, %v", o.Status, o.Cause, len(m.asked), h.lost)
			}
			if !strings.Contains(string(o.Error), "plays the user") {
				t.Errorf("error %q", o.Error)
			}
		})
	}
	users := rollout.PlayedUsers{Model: silent{}, Timeout: time.Millisecond}
	r := &rollout.Runner{Agent: says("Well."), Person: users.Person, Retries: &rollout.Retries{}}
	if o := run(t, r, askOf("hello", customer)); o.Cause != record.CauseInfrastructure {
		t.Errorf("a silent endpoint: cause %q, %s", o.Cause, o.Error)
	}
}

// silent is an endpoint that never answers.
type silent struct{}

func (silent) Complete(ctx context.Context, _ record.ChatRequest) (record.ChatReply, error) {
	<-ctx.Done()
	return record.ChatReply{}, ctx.Err()
}

// TestPlayedUserSeeds: the seeds of a conversation depend on the seed, the task, the eval
// run and k, and each message has its own.
func TestPlayedUserSeeds(t *testing.T) {
	seeds := func(seed int64) []int64 {
		m := &playing{lines: []record.Text{"go on"}}
		r := playedBy(m, says("Well."))
		r.MaxTurns, r.Seed = 3, seed
		run(t, r, askOf("hello", customer))
		var out []int64
		for _, a := range m.asked {
			out = append(out, *a.Seed)
		}
		return out
	}
	first := seeds(3)
	if cmp.Diff(first, seeds(3)) != "" || cmp.Diff(first, seeds(4)) == "" || first[0] == first[1] {
		t.Errorf("seeds %v, again %v, of another seed %v", first, seeds(3), seeds(4))
	}
}

// TestNoThoughtReachesTheAgent: R2, whoever plays the user.
func TestNoThoughtReachesTheAgent(t *testing.T) {
	for said, want := range map[record.Text]string{
		"<think>secret</think>hello":              "hello",
		"secret\n</think>\nhello":                 "hello",
		"<THINK>secret</THINK> hello":             "hello",
		"<thinking>secret</thinking>hello":        "hello",
		"a<think>secret</think>b<think>secret":    "ab",
		"<think>one</think>two secret</think>hey": "hey",
		"is 1 < 2? think":                         "is 1 < 2? think",
	} {
		m := &playing{lines: []record.Text{said, "[DONE]"}}
		var heard record.Text
		agent := function(func(_ context.Context, turn record.Turn) (record.Reply, error) {
			heard = turn.Message
			return record.Reply{FinalText: "Well."}, nil
		})
		run(t, playedBy(m, agent), askOf("first", customer))
		if string(heard) != want {
			t.Errorf("%q reached the agent as %q", said, heard)
		}
	}
}

// TestReasoningAndCutsAreKept: what an agent thought stays on the row, apart from what it
// said, and so does that its prompt was cut; a sum of log-probabilities with a reply
// missing is none.
func TestReasoningAndCutsAreKept(t *testing.T) {
	agent := function(func(_ context.Context, turn record.Turn) (record.Reply, error) {
		r := record.Reply{FinalText: "Well.", Reasoning: []record.Text{"hm", "aha"}[:turn.Rollout.Turn+1], PromptTruncated: turn.Rollout.Turn == 0}
		if turn.Rollout.Turn == 1 {
			r.LogProbs = &record.LogProbs{Sum: -1, Tokens: 1}
		}
		return r, nil
	})
	o := run(t, playedBy(&playing{lines: []record.Text{"go on", "[DONE]"}}, agent), askOf("first", customer))
	if got := string(o.Extra[rollout.ReasoningMember]); got != `[{"turn":0,"text":"hm"},{"turn":1,"text":"hm"},{"turn":1,"text":"aha"}]` || !o.PromptTruncated || o.LogProbs != nil {
		t.Errorf("reasoning %s, truncated %v, log-probabilities %v", got, o.PromptTruncated, o.LogProbs)
	}
}

// TestRetryHeedsTheServer: P14, an endpoint's own delay is waited for, and not without
// end.
func TestRetryHeedsTheServer(t *testing.T) {
	for after, least := range map[time.Duration]time.Duration{7 * time.Second: 7 * time.Second, time.Hour: time.Minute} {
		var waits []time.Duration
		r := &rollout.Runner{
			Agent: function(func(context.Context, record.Turn) (record.Reply, error) {
				return record.Reply{Usage: &record.Usage{InputTokens: 3}}, &record.AgentError{Cause: record.CauseInfrastructure, Err: errors.New("429"), After: after}
			}),
			Wait: func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil },
		}
		o := run(t, r, askOf("hello", customer))
		if len(waits) != 2 || o.Cause != record.CauseInfrastructure || o.Usage == nil || o.Usage.InputTokens != 3 {
			t.Fatalf("%v, %+v", waits, o)
		}
		for _, w := range waits {
			if w < least || w > least+least/2 {
				t.Errorf("asked to be left alone for %v, it was for %v", after, w)
			}
		}
	}
}
