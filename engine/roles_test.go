package engine_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/engine/agent"
	"assay/engine/model"
	"assay/engine/model/modeltest"
	"assay/engine/record"
	"assay/engine/rollout"
	"assay/engine/search"
)

// These tests have a model in each of its roles behind a server that speaks the wire
// formats: what the packages alone hold with a model of their own making.

// still is a clock whose waits cost nothing.
type still struct{}

func (still) Now() time.Time                                  { return time.Unix(0, 0) }
func (still) Wait(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// served is a model of a name behind a server, in one of the dialects.
func served(t *testing.T, dialect, name, url string, o model.Options) *model.Model {
	t.Helper()
	spec, err := model.ParseSpec(map[string]string{modeltest.OpenAI: "vllm:", modeltest.Anthropic: "anthropic:"}[dialect] + name + "@" + url)
	if err != nil {
		t.Fatal(err)
	}
	traffic := model.NewTraffic(model.TrafficOptions{Clock: still{}})
	t.Cleanup(traffic.Close)
	m, err := model.New(t.Context(), spec, o, func(string) string { return "sk-of-a-test-0123456789" }, traffic)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// modelRunner makes rollouts of a model agent in a world that knows the order ORD-1.
func modelRunner(t *testing.T, m agent.Completer, c agent.ModelConfig) (*rollout.Runner, record.Posed) {
	t.Helper()
	c.Completer = m
	a, err := agent.NewModel(c)
	if err != nil {
		t.Fatal(err)
	}
	tools := []record.Tool{{Name: "get_order", Description: "Looks up an order.", Kind: record.ToolRead,
		Parameters: json.RawMessage(`{"type":"object","properties":{"order_id":{"type":"string"}},"required":["order_id"]}`)}}
	task := &record.Task{SituationID: "s", Ask: "Where is ORD-1?", Tools: tools, User: record.User{Wants: "where the order is"},
		World: record.World{Entities: []record.Entity{{Argument: "order_id", ID: "ORD-1", State: record.EntityExists}}}}
	task.Identify()
	return &rollout.Runner{Agent: a, Policy: rollout.Policy{Kind: "model", SystemPrompt: "Be brief.", Tools: tools},
		Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}, record.Posed{Task: task}
}

func TestModelAgentWorksInTheWorld(t *testing.T) {
	thinking := json.RawMessage(`{"thinking":{"type":"enabled","budget_tokens":1024}}`) // Anthropic's wants its thoughts back then
	for _, dialect := range []string{modeltest.OpenAI, modeltest.Anthropic} {
		t.Run(dialect, func(t *testing.T) {
			s := modeltest.NewServer(t,
				modeltest.Reply(modeltest.Answer{Text: "Looking.", Reasoning: "two calls", Input: 10, Output: 5, Calls: []modeltest.Call{
					{ID: "x1", Name: "get_order", Arguments: `{"order_id":"ORD-1"}`}, {ID: "x2", Name: "get_ordre", Arguments: `{"order_id":"ORD-1"}`}}}),
				modeltest.Reply(modeltest.Answer{Text: "It is on its way.", Input: 20, Output: 6}))
			r, posed := modelRunner(t, served(t, dialect, "m", s.URL, model.Options{Price: model.Price{Input: 1e6}, Extra: thinking}), agent.ModelConfig{})
			var mu sync.Mutex
			var heard []string
			r.Hooks.Text = func(_ string, d record.Delta) {
				mu.Lock()
				defer mu.Unlock()
				switch {
				case d.Tool != "":
					heard = append(heard, "calls "+string(d.Tool))
				case d.Reasoning:
					heard = append(heard, "thinks")
				case d.Text != "":
					heard = append(heard, "says")
				}
			}
			o := r.Run(t.Context(), "run", posed, 0, 0)
			if o.Status != record.StatusDone || o.FinishReason != record.FinishStop || o.FinalText != "It is on its way." || o.EndedBy != record.EndedByAgent {
				t.Fatalf("%+v", o)
			}
			var did []string
			for _, step := range o.Steps {
				did = append(did, strings.TrimSpace(step.Tool+" "+string(step.Text)+" "+rollout.Outcome(&step)))
			}
			if diff := cmp.Diff([]string{"Looking. ok", "get_order  ok", "get_ordre  unknown_tool"}, did); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			if got := string(o.Extra[rollout.ReasoningMember]); got != `[{"turn":0,"text":"two calls"}]` || strings.Contains(string(o.FinalText), "two calls") {
				t.Errorf("reasoning %s", got)
			}
			if diff := cmp.Diff(&record.Usage{InputTokens: 30, OutputTokens: 11, Cost: 30}, o.Usage); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
			if got := slices.Compact(heard); cmp.Diff([]string{"thinks", "says", "calls get_order", "calls get_ordre", "says"}, got) != "" {
				t.Errorf("streamed %q", got)
			}
			last := s.Requests()[1]
			var told []string
			for _, m := range last.Messages {
				told = append(told, m.Text)
			}
			if text := strings.Join(told, "\n"); !strings.Contains(text, "unknown_tool") || !strings.Contains(text, "ORD-1") || strings.Contains(text, "two calls") {
				t.Errorf("the model was told:\n%s", text)
			}
		})
	}
}

// TestModelAgentsMistakesAreItsOwnAndNoOthers: each way for an endpoint to fail costs the
// rollout with its cause; what the model itself gets wrong never does.
func TestModelAgentsMistakesAreItsOwnAndNoOthers(t *testing.T) {
	whole := modeltest.Answer{Text: "It is on its way.", Calls: []modeltest.Call{{ID: "x", Name: "get_order", Arguments: `{"order_id":"ORD-1"}`}}}
	for name, c := range map[string]struct {
		steps   []modeltest.Step
		timeout time.Duration
		status  record.Status
		cause   record.Cause
		finish  record.FinishReason
	}{
		"arguments that are no JSON":  {steps: []modeltest.Step{modeltest.CallTool("get_order", `{"order_id": "ORD`), modeltest.Say("Sorry.")}, status: record.StatusDone, finish: record.FinishStop},
		"arguments that are a list":   {steps: []modeltest.Step{modeltest.CallTool("get_order", `["ORD-1"]`), modeltest.Say("Sorry.")}, status: record.StatusDone, finish: record.FinishStop},
		"a tool that there is not":    {steps: []modeltest.Step{modeltest.CallTool("no such tool!", `{}`), modeltest.Say("Sorry.")}, status: record.StatusDone, finish: record.FinishStop},
		"calls without end":           {steps: []modeltest.Step{modeltest.CallTool("get_order", `{"order_id":"ORD-1"}`)}, status: record.StatusDone, finish: record.FinishLength},
		"an answer that is cut short": {steps: []modeltest.Step{modeltest.Reply(modeltest.Answer{Text: "It is", Finish: "length"})}, status: record.StatusDone, finish: record.FinishLength},
		"nothing said":                {steps: []modeltest.Step{modeltest.Say("")}, status: record.StatusDone, finish: record.FinishStop},
		"half a call":                 {steps: []modeltest.Step{modeltest.HalfCall("get_order", `{"order_id":"ORD-1"}`)}, status: record.StatusLost, cause: record.CauseInfrastructure},
		"a cut stream":                {steps: []modeltest.Step{modeltest.Cut(whole, -1)}, status: record.StatusLost, cause: record.CauseInfrastructure},
		"a cut stream, in round two":  {steps: []modeltest.Step{modeltest.Reply(whole), modeltest.Cut(whole, -1)}, status: record.StatusLost, cause: record.CauseInfrastructure},
		"bad JSON":                    {steps: []modeltest.Step{modeltest.BadJSON()}, status: record.StatusLost, cause: record.CauseInfrastructure},
		"a server's error":            {steps: []modeltest.Step{modeltest.Broken()}, status: record.StatusLost, cause: record.CauseInfrastructure},
		"too many requests":           {steps: []modeltest.Step{modeltest.RateLimited(time.Second)}, status: record.StatusLost, cause: record.CauseInfrastructure},
		"a full context":              {steps: []modeltest.Step{modeltest.Reply(whole), modeltest.Overflow()}, status: record.StatusLost, cause: record.CauseContext},
		"a refused key":               {steps: []modeltest.Step{modeltest.Unauthorized()}, status: record.StatusLost, cause: record.CauseInfrastructure},
		"never answers":               {steps: []modeltest.Step{modeltest.Stall()}, timeout: 50 * time.Millisecond, status: record.StatusLost, cause: record.CauseInfrastructure},
	} {
		for _, dialect := range []string{modeltest.OpenAI, modeltest.Anthropic} {
			t.Run(name+", "+dialect, func(t *testing.T) {
				t.Parallel()
				s := modeltest.NewServer(t, c.steps...)
				r, posed := modelRunner(t, served(t, dialect, "m", s.URL, model.Options{Tries: 2}), agent.ModelConfig{MaxRounds: 4})
				r.Timeout = c.timeout
				o := r.Run(t.Context(), "run", posed, 0, 0)
				if o.Status != c.status || o.Cause != c.cause || c.finish != "" && o.FinishReason != c.finish {
					t.Errorf("status %s, cause %q, finish %s: %s", o.Status, o.Cause, o.FinishReason, o.Error)
				}
				if c.cause != "" && o.Error == "" || strings.Contains(string(o.Error), "sk-of-a-test") {
					t.Errorf("error %q", o.Error)
				}
			})
		}
	}
}

// TestPlayedUserBehindAnEndpoint: two models converse, each seeing its own side.
func TestPlayedUserBehindAnEndpoint(t *testing.T) {
	for _, dialect := range []string{modeltest.OpenAI, modeltest.Anthropic} {
		t.Run(dialect, func(t *testing.T) {
			turns := map[string]int{}
			script := map[string][]modeltest.Step{
				"agent": {modeltest.CallTool("get_order", `{"order_id":"ORD-1"}`), modeltest.Say("Which country?"), modeltest.Say("Tomorrow.")},
				"user":  {modeltest.Say("<think>where do I live</think>France."), modeltest.Say("[DONE]")},
			}
			s := modeltest.NewServerFunc(t, func(r *modeltest.Request) modeltest.Step {
				step := script[r.Model][turns[r.Model]]
				turns[r.Model]++
				return step
			})
			r, posed := modelRunner(t, served(t, dialect, "agent", s.URL, model.Options{}), agent.ModelConfig{})
			users := rollout.PlayedUsers{Model: served(t, dialect, "user", s.URL, model.Options{})}
			r.Person, r.UserModel = users.Person, "openai:user"
			o := r.Run(t.Context(), "run", posed, 0, 0)
			if o.Status != record.StatusDone || o.EndedBy != record.EndedByUser || o.FinalText != "Tomorrow." || o.UserModel != "openai:user" {
				t.Fatalf("%+v", o)
			}
			for _, q := range s.Requests() {
				var told []string
				for _, m := range q.Messages {
					told = append(told, m.Role+" "+m.Text)
				}
				text := strings.Join(told, "\n")
				if q.Model == "agent" && strings.Contains(text, "where do I live") || q.Model == "user" && (strings.Contains(text, "get_order") || len(q.Tools) > 0) {
					t.Errorf("the %s was told:\n%s", q.Model, text)
				}
			}
		})
	}
}

func TestModelWriterBehindAnEndpoint(t *testing.T) {
	for _, dialect := range []string{modeltest.OpenAI, modeltest.Anthropic} {
		s := modeltest.NewServer(t, modeltest.Say("```json\n"+`{"asks": [{"situation": 2, "message": "where is it??"}, {"situation": 1, "message": "Good day."}]}`+"\n```"))
		w, err := search.NewModelWriter(search.ModelWriterConfig{Model: served(t, dialect, "w", s.URL, model.Options{}), Name: "openai:w"})
		if err != nil {
			t.Fatal(err)
		}
		drafts, err := w.Write(t.Context(), []search.Brief{{Circumstances: "Somebody is polite.", Draft: "Hello."}, {Circumstances: "Somebody is not.", Draft: "Where is it?"}})
		if err != nil || len(drafts) != 2 || drafts[0].Ask != "Good day." || drafts[1].Ask != "where is it??" {
			t.Errorf("%s: %+v, %v", dialect, drafts, err)
		}
	}
}
