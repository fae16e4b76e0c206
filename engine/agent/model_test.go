package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/engine/record"
)

// scriptedModel gives the next of its answers to each request, and keeps the requests.
type scriptedModel struct {
	mu       sync.Mutex
	answers  []func(context.Context, record.ChatRequest) (record.ChatReply, error)
	requests []record.ChatRequest
}

func (m *scriptedModel) Complete(ctx context.Context, r record.ChatRequest) (record.ChatReply, error) {
	m.mu.Lock()
	next := m.answers[min(len(m.requests), len(m.answers)-1)]
	r.Messages = slices.Clone(r.Messages)
	m.requests = append(m.requests, r)
	m.mu.Unlock()
	return next(ctx, r)
}

type answers = []func(context.Context, record.ChatRequest) (record.ChatReply, error)

// says is an answer of words, calls one of calls: name and arguments by turns.
func says(text string) func(context.Context, record.ChatRequest) (record.ChatReply, error) {
	return gives(record.ChatReply{Text: record.Text(text), FinishReason: record.FinishStop})
}

func calls(text string, nameAndArguments ...string) func(context.Context, record.ChatRequest) (record.ChatReply, error) {
	r := record.ChatReply{Text: record.Text(text), FinishReason: record.FinishTool}
	for i := 0; i < len(nameAndArguments); i += 2 {
		call := record.ToolCallMessage{ID: fmt.Sprintf("srv-%d", i), Type: "function"}
		call.Function.Name, call.Function.Arguments = record.Text(nameAndArguments[i]), record.Text(nameAndArguments[i+1])
		r.ToolCalls = append(r.ToolCalls, call)
	}
	return gives(r)
}

func gives(r record.ChatReply) func(context.Context, record.ChatRequest) (record.ChatReply, error) {
	return func(context.Context, record.ChatRequest) (record.ChatReply, error) { return r, nil }
}

func fails(err error) func(context.Context, record.ChatRequest) (record.ChatReply, error) {
	return func(context.Context, record.ChatRequest) (record.ChatReply, error) { return record.ChatReply{}, err }
}

// modelWorld is a turn whose world answers with the call itself and refuses what is no
// JSON and tools that it does not know, and whose acts are noted.
func modelWorld(did *[]string) record.Turn {
	turn := aTurn()
	turn.Say = func(text record.Text) { *did = append(*did, "said "+string(text)) }
	turn.Call = func(_ context.Context, call record.ToolCall) record.ToolResult {
		*did = append(*did, fmt.Sprintf("%s %s %s", call.ID, call.Tool, call.Arguments))
		switch {
		case !json.Valid(call.Arguments):
			return record.ToolResult{IsError: true, Result: json.RawMessage(`{"error":"invalid_arguments"}`)}
		case call.Tool != "get_runbook":
			return record.ToolResult{IsError: true, Result: json.RawMessage(`{"error":"unknown_tool"}`)}
		}
		return record.ToolResult{Result: json.RawMessage(fmt.Sprintf(`{"of":%q}`, call.ID))}
	}
	return turn
}

func modelAgent(t *testing.T, c ModelConfig, script answers) (*Model, *scriptedModel) {
	t.Helper()
	m := &scriptedModel{answers: script}
	c.Completer = m
	a, err := NewModel(c)
	if err != nil {
		t.Fatal(err)
	}
	return a, m
}

// written are messages in short: role, words, calls with their ids, what a result is of.
func written(messages []record.Message) []string {
	out := make([]string, len(messages))
	for i, m := range messages {
		s := m.Role
		if m.ToolCallID != "" {
			s += " to " + m.ToolCallID + " " + string(m.Name)
		}
		if m.Content != nil {
			s += ": " + string(*m.Content)
		}
		for _, c := range m.ToolCalls {
			s += fmt.Sprintf(" [%s %s %s]", c.ID, c.Function.Name, c.Function.Arguments)
		}
		out[i] = s
	}
	return out
}

func TestModelRunsTheToolLoop(t *testing.T) {
	temperature := 0.7
	a, m := modelAgent(t, ModelConfig{Temperature: &temperature, MaxTokens: 99, LogProbs: true}, answers{
		gives(func() record.ChatReply {
			r, _ := calls("let me look", "get_runbook", `{"service":"billing"}`, "get_runbook", `{"service":"web"}`)(nil, record.ChatRequest{})
			r.Reasoning, r.Model = "two of them", "gpt-x-0613"
			r.Usage, r.LogProbs = &record.Usage{InputTokens: 10, OutputTokens: 4, Cost: 0.5}, &record.LogProbs{Sum: -1.5, Tokens: 2, List: []float64{-1, -0.5}}
			return r
		}()),
		gives(record.ChatReply{Text: "done", FinishReason: record.FinishStop, Reasoning: "good", Usage: &record.Usage{InputTokens: 20, OutputTokens: 1, Cost: 0.25},
			LogProbs: &record.LogProbs{Sum: -2, Tokens: 1, List: []float64{-2}}}),
	})
	var did []string
	turn := modelWorld(&did)
	var streamed []record.Delta
	turn.Stream = func(d record.Delta) { streamed = append(streamed, d) }
	last := m.answers[1]
	m.answers[1] = func(ctx context.Context, r record.ChatRequest) (record.ChatReply, error) {
		r.Stream(record.Delta{Text: "do"})
		r.Stream(record.Delta{Text: "ne"})
		return last(ctx, r)
	}
	reply, err := a.Reply(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	want := record.Reply{FinalText: "done", FinishReason: record.FinishStop, Reasoning: []record.Text{"two of them", "good"},
		Usage:    &record.Usage{InputTokens: 30, OutputTokens: 5, Cost: 0.75},
		LogProbs: &record.LogProbs{Sum: -3.5, Tokens: 3, List: []float64{-1, -0.5, -2}},
		Extra:    map[string]json.RawMessage{"served_model": json.RawMessage(`"gpt-x-0613"`)}}
	if diff := cmp.Diff(want, reply); diff != "" {
		t.Errorf("the reply (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"said let me look", `call00000 get_runbook {"service":"billing"}`, `call00001 get_runbook {"service":"web"}`}, did); diff != "" {
		t.Errorf("what was done (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]record.Delta{{Text: "do"}, {Text: "ne"}}, streamed); diff != "" {
		t.Errorf("what was streamed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"system: Be brief.", "user: restart billing",
		`assistant: let me look [call00000 get_runbook {"service":"billing"}] [call00001 get_runbook {"service":"web"}]`,
		`tool to call00000 get_runbook: {"of":"call00000"}`, `tool to call00001 get_runbook: {"of":"call00001"}`,
	}, written(m.requests[1].Messages)); diff != "" {
		t.Errorf("the second request (-want +got):\n%s", diff)
	}
	for i, r := range m.requests {
		if *r.Temperature != 0.7 || r.MaxTokens != 99 || *r.Seed != 417301 || !r.LogProbs || len(r.Tools) != 1 {
			t.Errorf("request %d: %+v", i, r)
		}
	}
}

// TestModelIsToldWhatItGotWrong: no mistake of a model in a call costs the turn, and
// what goes back to it is what every server takes.
func TestModelIsToldWhatItGotWrong(t *testing.T) {
	a, m := modelAgent(t, ModelConfig{}, answers{
		calls("", "get_runbook", `{"service": "bil`, "functions.get runbook", ``, "", `[1]`, "get_runbook", `"{\"service\":\"web\"}"`, "get_runbook", "null"),
		says("sorry"),
	})
	var did []string
	reply, err := a.Reply(t.Context(), modelWorld(&did))
	if err != nil || reply.FinalText != "sorry" || reply.FinishReason != record.FinishStop {
		t.Fatalf("%+v, %v", reply, err)
	}
	if diff := cmp.Diff([]string{
		`call00000 get_runbook {"service": "bil`, `call00001 functions.get runbook {}`, `call00002  [1]`,
		`call00003 get_runbook "{\"service\":\"web\"}"`, `call00004 get_runbook null`,
	}, did); diff != "" {
		t.Errorf("what the world saw (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		`assistant [call00000 get_runbook {"malformed_arguments":"{\"service\": \"bil"}] [call00001 functions_get_runbook {}] [call00002 _ {"malformed_arguments":"[1]"}]` +
			` [call00003 get_runbook {"service":"web"}] [call00004 get_runbook {}]`,
		`tool to call00000 get_runbook: {"error":"invalid_arguments"}`,
		`tool to call00001 functions_get_runbook: {"error":"unknown_tool"}`,
		`tool to call00002 _: {"error":"unknown_tool"}`,
		`tool to call00003 get_runbook: {"of":"call00003"}`,
		`tool to call00004 get_runbook: {"of":"call00004"}`,
	}, written(m.requests[1].Messages)[2:]); diff != "" {
		t.Errorf("what the model was told (-want +got):\n%s", diff)
	}
}

func TestModelTurnsHaveBounds(t *testing.T) {
	cut, _ := calls("I will", "get_runbook", `{"service":"billing"}`, "get_runbook", `{"serv`)(nil, record.ChatRequest{})
	cut.FinishReason = record.FinishLength
	again := calls("once more", "get_runbook", "{}")
	for name, tc := range map[string]struct {
		config   ModelConfig
		script   answers
		requests int
		acts     int
		text     record.Text
		finish   record.FinishReason
	}{
		"rounds":                    {ModelConfig{MaxRounds: 3}, answers{again}, 3, 4, "once more", record.FinishLength},
		"rounds by default":         {ModelConfig{}, answers{again}, DefaultMaxRounds, 2 * (DefaultMaxRounds - 1), "once more", record.FinishLength},
		"cut off in a call":         {ModelConfig{}, answers{gives(cut)}, 1, 0, "I will", record.FinishLength},
		"cut off in its words":      {ModelConfig{}, answers{gives(record.ChatReply{Text: "half a", FinishReason: record.FinishLength})}, 1, 0, "half a", record.FinishLength},
		"nothing":                   {ModelConfig{}, answers{says("")}, 1, 0, "", record.FinishStop},
		"refused by a filter":       {ModelConfig{}, answers{gives(record.ChatReply{FinishReason: record.FinishError})}, 1, 0, "", record.FinishError},
		"a call that never came":    {ModelConfig{}, answers{gives(record.ChatReply{FinishReason: record.FinishTool})}, 1, 0, "", record.FinishTool},
		"words before an empty end": {ModelConfig{}, answers{again, says("")}, 2, 2, "", record.FinishStop},
	} {
		t.Run(name, func(t *testing.T) {
			a, m := modelAgent(t, tc.config, tc.script)
			var did []string
			reply, err := a.Reply(t.Context(), modelWorld(&did))
			if err != nil || reply.FinalText != tc.text || reply.FinishReason != tc.finish {
				t.Errorf("%+v, %v", reply, err)
			}
			if len(m.requests) != tc.requests || len(did) != tc.acts {
				t.Errorf("%d requests and %d acts, want %d and %d", len(m.requests), len(did), tc.requests, tc.acts)
			}
		})
	}
}

// TestModelHistoryIsRebuilt reads a turn's history as messages, and the same ones each
// time.
func TestModelHistoryIsRebuilt(t *testing.T) {
	turn := aTurn()
	turn.SystemPrompt = ""
	turn.Message = "and now?"
	tool := func(name, arguments, result string) record.Step {
		return record.Step{Kind: record.StepTool, Tool: name, Arguments: json.RawMessage(arguments), Result: json.RawMessage(result), Fault: "timeout", LatencyMS: 9}
	}
	turn.History = []record.Step{
		{Kind: record.StepUser, Text: "first"},
		{Kind: record.StepText, Text: "looking"},
		tool("get_runbook", `{"service":"a"}`, `"plain words"`),
		tool("get_runbook", `"{\"service\": "`, `{"error":"invalid_arguments"}`),
		{Kind: record.StepText, Text: "here"},
		{Kind: record.StepUser, Text: "thanks"},
		{Kind: record.StepText, Text: "welcome"},
	}
	a, m := modelAgent(t, ModelConfig{}, answers{calls("", "get_runbook", "{}"), says("done")})
	var did []string
	turn.Call = modelWorld(&did).Call
	for range 2 {
		if _, err := a.Reply(t.Context(), turn); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"user: first", `assistant: looking [call00000 get_runbook {"service":"a"}]`, "tool to call00000 get_runbook: plain words",
		`assistant [call00001 get_runbook {"malformed_arguments":"{\"service\": "}]`, `tool to call00001 get_runbook: {"error":"invalid_arguments"}`,
		"assistant: here", "user: thanks", "assistant: welcome", "user: and now?",
	}
	if diff := cmp.Diff(want, written(m.requests[0].Messages)); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(written(m.requests[0].Messages), written(m.requests[2].Messages)); diff != "" {
		t.Errorf("the same turn was put in other words:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"call00002 get_runbook {}"}, did); diff != "" {
		t.Errorf("ids go on where the history ended:\n%s", diff)
	}
}

func TestModelFailuresAreNotMisblamed(t *testing.T) {
	stalls := func(speaks bool, with func(error) error) func(context.Context, record.ChatRequest) (record.ChatReply, error) {
		return func(ctx context.Context, r record.ChatRequest) (record.ChatReply, error) {
			if speaks {
				r.Stream(record.Delta{Text: "well"})
			}
			<-ctx.Done()
			return record.ChatReply{}, with(ctx.Err())
		}
	}
	plain := func(err error) error { return err }
	line := func(err error) error {
		return record.AgentErrorf(record.CauseInfrastructure, "waited for the endpoint: %w", err)
	}
	for name, tc := range map[string]struct {
		script  answers
		late    bool // the deadline passes
		cause   record.Cause
		stop    record.StopReason
		unasked bool
	}{
		"a plain error":                 {script: answers{fails(errors.New("eof"))}, cause: record.CauseInfrastructure},
		"context overflow":              {script: answers{fails(record.AgentErrorf(record.CauseContext, "too long"))}, cause: record.CauseContext},
		"a refused key":                 {script: answers{fails(&record.AgentError{Cause: record.CauseInfrastructure, Stop: record.StoppedAuth, Err: errors.New("401")})}, cause: record.CauseInfrastructure, stop: record.StoppedAuth},
		"says nothing until the end":    {script: answers{stalls(false, plain)}, late: true, cause: record.CauseInfrastructure, unasked: true},
		"talks until the end":           {script: answers{stalls(true, plain)}, late: true, cause: record.CauseAgent},
		"held up by the line":           {script: answers{stalls(true, line)}, late: true, cause: record.CauseInfrastructure, unasked: true},
		"says nothing in a later round": {script: answers{calls("", "get_runbook", "{}"), stalls(false, plain)}, late: true, cause: record.CauseInfrastructure, unasked: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _ := modelAgent(t, ModelConfig{}, tc.script)
			var did []string
			turn := modelWorld(&did)
			if tc.late {
				turn.Deadline = time.Now().Add(50 * time.Millisecond)
			}
			_, err := a.Reply(t.Context(), turn)
			var known *record.AgentError
			if !errors.As(err, &known) {
				t.Fatalf("error %v", err)
			}
			if known.Cause != tc.cause || known.Stop != tc.stop || known.Unasked != tc.unasked {
				t.Errorf("error %v: cause %q stop %q unasked %v", err, known.Cause, known.Stop, known.Unasked)
			}
		})
	}
	a, _ := modelAgent(t, ModelConfig{}, answers{stalls(true, plain)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Reply(ctx, aTurn()); record.CauseOf(err) != record.CauseInterrupted {
		t.Errorf("a cancelled turn: %v of cause %q", err, record.CauseOf(err))
	}
}

// TestModelKeepsNoHalfSums: where the server told the log-probabilities of some answers
// of a turn alone, the turn has none; what it used before it failed is known.
func TestModelKeepsNoHalfSums(t *testing.T) {
	var did []string
	turn := modelWorld(&did)
	a, _ := modelAgent(t, ModelConfig{LogProbs: true}, answers{
		calls("", "get_runbook", "{}"),
		gives(record.ChatReply{Text: "done", LogProbs: &record.LogProbs{Sum: -1, Tokens: 1}}),
	})
	if reply, err := a.Reply(t.Context(), turn); err != nil || reply.LogProbs != nil {
		t.Errorf("%+v, %v", reply.LogProbs, err)
	}
	spending, _ := calls("", "get_runbook", "{}")(nil, record.ChatRequest{})
	spending.Usage = &record.Usage{InputTokens: 7, OutputTokens: 1}
	a, _ = modelAgent(t, ModelConfig{}, answers{gives(spending), fails(errors.New("cut"))})
	if reply, err := a.Reply(t.Context(), turn); err == nil || reply.Usage == nil || reply.Usage.InputTokens != 7 {
		t.Errorf("%+v, %v", reply, err)
	}
}

// TestModelTurnsDoNotMix has many turns of one agent at once (R17).
func TestModelTurnsDoNotMix(t *testing.T) {
	a, _ := modelAgent(t, ModelConfig{}, answers{func(_ context.Context, r record.ChatRequest) (record.ChatReply, error) {
		ask := string(*r.Messages[1].Content)
		if len(r.Messages) < 6 {
			return calls("", "get_runbook", fmt.Sprintf(`{"service":%q}`, ask))(nil, r)
		}
		return record.ChatReply{Text: record.Text(ask)}, nil
	}})
	var turns sync.WaitGroup
	for i := range 32 {
		turns.Go(func() {
			ask := fmt.Sprint("ask ", i)
			turn := aTurn()
			turn.Message = record.Text(ask)
			var heard []string
			turn.Call = func(_ context.Context, call record.ToolCall) record.ToolResult {
				heard = append(heard, string(call.Arguments))
				return record.ToolResult{Result: json.RawMessage("{}")}
			}
			reply, err := a.Reply(t.Context(), turn)
			if err != nil || string(reply.FinalText) != ask || len(heard) != 2 || strings.Count(heard[0], ask) != 1 || heard[0] != heard[1] {
				t.Errorf("%q: %+v, %v, %v", ask, reply, err, heard)
			}
		})
	}
	turns.Wait()
}

func TestModelConfigIsChecked(t *testing.T) {
	for _, c := range []ModelConfig{{}, {Completer: &scriptedModel{}, MaxTokens: -1}, {Completer: &scriptedModel{}, MaxRounds: -1}} {
		if _, err := NewModel(c); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
}

// TestModelSendsSealedPartsBack: the next request of the turn has them.
func TestModelSendsSealedPartsBack(t *testing.T) {
	first, _ := calls("let me look", "get_runbook", `{"service":"billing"}`)(nil, record.ChatRequest{})
	first.Sealed = []record.Sealed{{Block: json.RawMessage(`{"type":"thinking","signature":"s1"}`)}}
	a, m := modelAgent(t, ModelConfig{}, answers{gives(first), says("done")})
	var did []string
	if _, err := a.Reply(t.Context(), modelWorld(&did)); err != nil {
		t.Fatal(err)
	}
	var sent []record.Sealed
	for _, message := range m.requests[1].Messages {
		sent = append(sent, message.Sealed...)
	}
	if diff := cmp.Diff(first.Sealed, sent); diff != "" {
		t.Errorf("(-want +sent):\n%s", diff)
	}
}

// A server that counted far fewer tokens than the words that it was sent has cut them.
func TestModelAgentNoticesACutPrompt(t *testing.T) {
	for tokens, cut := range map[int64]bool{0: false, 49: true, 50: false, 100: false, 400: false} {
		m := &scriptedModel{answers: answers{gives(record.ChatReply{Text: "done", FinishReason: record.FinishStop, Usage: &record.Usage{InputTokens: tokens, OutputTokens: 1}})}}
		a, err := NewModel(ModelConfig{Completer: m})
		if err != nil {
			t.Fatal(err)
		}
		turn := record.Turn{SystemPrompt: record.Text(strings.Repeat("never ", 60)), Message: record.Text(strings.Repeat("order ", 40))}
		reply, err := a.Reply(t.Context(), turn)
		if err != nil || reply.PromptTruncated != cut {
			t.Errorf("%d tokens counted of 100 words: cut is %v (%v)", tokens, reply.PromptTruncated, err)
		}
	}
}
