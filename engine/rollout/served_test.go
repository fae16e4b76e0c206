package rollout_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/engine/record"
	"assay/engine/rollout"
)

// served is a runner's Serve that lets a test call worlds by their token.
type served struct {
	worlds map[string]func(context.Context, record.ToolCall) record.ToolResult
	closed []string
}

func (s *served) serve(ask func(context.Context, record.ToolCall) record.ToolResult) (record.WorldAddress, func()) {
	if s.worlds == nil {
		s.worlds = map[string]func(context.Context, record.ToolCall) record.ToolResult{}
	}
	token := fmt.Sprintf("t%d", len(s.worlds))
	s.worlds[token] = ask
	return record.WorldAddress{MCP: "http://world", Token: token}, func() { s.closed = append(s.closed, token) }
}

func (s *served) call(token, tool string) record.ToolResult {
	return s.worlds[token](context.Background(), record.ToolCall{Tool: tool, Arguments: json.RawMessage(`{"service":"billing"}`)})
}

// An agent that calls its world from outside need report only its text; what it
// did there are the rollout's steps, in its turns and among what it said.
func TestCallsFromOutsideAreSteps(t *testing.T) {
	var s served
	var token string
	agent := function(func(ctx context.Context, turn record.Turn) (record.Reply, error) {
		if turn.World == nil || turn.World.MCP != "http://world" {
			t.Fatalf("turn %d has the world %+v", turn.Rollout.Turn, turn.World)
		}
		token = turn.World.Token
		if turn.Rollout.Turn == 0 {
			s.call(token, "get_runbook")
			return record.Reply{FinalText: "Shall I restart billing?"}, nil
		}
		turn.Say("One moment.")
		s.call(token, "restart_service")
		turn.Call(ctx, record.ToolCall{Tool: "get_runbook", Arguments: json.RawMessage(`{"service":"billing"}`)})
		return record.Reply{FinalText: "I restarted it."}, nil
	})
	o := run(t, &rollout.Runner{Agent: agent, Serve: s.serve}, askOf("restart billing", record.User{Manner: "terse", Confirms: true}))
	got := texts(o)
	if o.Status != record.StatusDone || len(got) != 6 || got[0] != "get_runbook" || got[3] != "t:One moment." || got[4] != "restart_service" || got[5] != "get_runbook" {
		t.Fatalf("%s: %q", o.Status, got)
	}
	if !slices.Equal(s.closed, []string{token}) {
		t.Errorf("closed %q, the rollout's token was %q", s.closed, token)
	}
	if late := s.call(token, "get_runbook"); !late.IsError || !strings.Contains(string(late.Result), "closed") || len(texts(o)) != 6 {
		t.Errorf("a call after the end is answered %s", late.Result)
	}
}

// Between turns nobody may act: the person would not have heard of it.
func TestCallsBetweenTurnsAreRefused(t *testing.T) {
	var s served
	r := &rollout.Runner{Agent: says("Shall I?"), Serve: s.serve, MaxTurns: 2}
	between := 0
	r.Hooks.Step = func(_ string, _ int, step record.Step) {
		if step.Kind == record.StepUser { // the turn is over, the next is not begun
			between++
			done := make(chan record.ToolResult)
			go func() { done <- s.call("t0", "restart_service") }()
			if got := <-done; !got.IsError {
				t.Errorf("a call between turns is answered %s", got.Result)
			}
		}
	}
	o := run(t, r, askOf("restart billing", record.User{Confirms: true}))
	if between != 1 || slices.Contains(texts(o), "restart_service") {
		t.Errorf("%d calls between turns; steps %q", between, texts(o))
	}
}

// A retry has a world of its own under a token of its own.
func TestARetryIsServedAnew(t *testing.T) {
	var s served
	var tokens []string
	agent := function(func(_ context.Context, turn record.Turn) (record.Reply, error) {
		tokens = append(tokens, turn.World.Token)
		if r := s.call(turn.World.Token, "restart_service"); r.IsError {
			t.Errorf("attempt %d: %s", len(tokens), r.Result) // already done, were it the same world
		}
		if len(tokens) == 1 {
			return record.Reply{}, errors.New("out of cheese")
		}
		return record.Reply{FinalText: "I restarted it."}, nil
	})
	o := run(t, &rollout.Runner{Agent: agent, Serve: s.serve}, askOf("restart billing", record.User{}))
	if o.Attempts != 2 || len(texts(o)) != 1 || len(tokens) != 2 || tokens[0] == tokens[1] || !slices.Equal(s.closed, tokens) {
		t.Errorf("%d attempts under %q, closed %q, steps %q", o.Attempts, tokens, s.closed, texts(o))
	}
}

func TestAnAgentsOwnToolsAreNotServed(t *testing.T) {
	agent := function(func(_ context.Context, turn record.Turn) (record.Reply, error) {
		if turn.World != nil || turn.Call != nil {
			t.Errorf("the turn has the world %+v", turn.World)
		}
		return record.Reply{FinalText: "Done."}, nil
	})
	var s served
	run(t, &rollout.Runner{Agent: agent, ToolsBy: record.ToolsByAgent, Serve: s.serve}, askOf("restart billing", record.User{}))
	if len(s.worlds) != 0 {
		t.Error("a world was served that there is not")
	}
}
