package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"assay/engine/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noTime is a clock that goes on by what is waited for.
type noTime struct {
	now   time.Time
	waits []time.Duration
}

func (c *noTime) Now() time.Time { return c.now }

func (c *noTime) Wait(ctx context.Context, d time.Duration) error {
	c.waits = append(c.waits, d)
	c.now = c.now.Add(d)
	return ctx.Err()
}

func newClock() *noTime { return &noTime{now: time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)} }

const theKey = "sk-test-4f9a8b7c6d5e4f3a2b1c"

func keyed(name string) string {
	if strings.HasSuffix(name, "_API_KEY") {
		return theKey
	}
	return ""
}

// newModel is a model behind a server, and the clock that it waits by.
func newModel(t *testing.T, spec string, o Options, more TrafficOptions) (*Model, *noTime) {
	t.Helper()
	clock := newClock()
	if more.Clock == nil {
		more.Clock = clock
	}
	traffic := NewTraffic(more)
	t.Cleanup(traffic.Close)
	s, err := ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(t.Context(), s, o, keyed, traffic)
	if err != nil {
		t.Fatal(err)
	}
	return m, clock
}

// canned answers each request with the same body, read to its end and then broken by end.
type canned struct {
	kind string
	body []byte
	end  error
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {c.kind}}, Request: r,
		Body: io.NopCloser(io.MultiReader(bytes.NewReader(c.body), ending{c.end}))}, nil
}

type ending struct{ err error }

func (e ending) Read([]byte) (int, error) { return 0, e.err }

func ask(text string) record.ChatRequest {
	content := record.Text(text)
	return record.ChatRequest{Messages: []record.Message{{Role: "user", Content: &content}}}
}

func toolCall(id, name, arguments string) record.ToolCallMessage {
	c := record.ToolCallMessage{ID: id, Type: "function"}
	c.Function.Name, c.Function.Arguments = record.Text(name), record.Text(arguments)
	return c
}

// fixtures are answers as the servers' makers document them, and what they come to.
var fixtures = []struct {
	file, spec string
	want       record.ChatReply
}{
	{"openai.sse", "openai:gpt-4o-mini", record.ChatReply{Text: "Café first.", FinishReason: record.FinishTool, Model: "gpt-4o-mini-2024-07-18",
		ToolCalls: []record.ToolCallMessage{toolCall("call_a", "get_order", `{"order_id":"A-1"}`), toolCall("call_b", "list_orders", "{}")},
		Usage:     &record.Usage{InputTokens: 82, OutputTokens: 34}, LogProbs: &record.LogProbs{Sum: -1.75, Tokens: 3, List: []float64{-0.5, -0.25, -1}}}},
	{"vllm.sse", "vllm:Qwen/Qwen3-8B@http://vllm.test/v1", record.ChatReply{Text: "Hello there 😀", Reasoning: "The user greets me.", FinishReason: record.FinishLength, Model: "Qwen/Qwen3-8B",
		Usage: &record.Usage{InputTokens: 9, OutputTokens: 12}}},
	{"ollama.sse", "ollama:qwen3:0.6b", record.ChatReply{Reasoning: "Look both up.", FinishReason: record.FinishTool, Model: "qwen3:0.6b",
		ToolCalls: []record.ToolCallMessage{toolCall("call_x1", "get_weather", `{"city":"Oslo"}`), toolCall("call_x2", "get_weather", `{"city":"Bergen"}`)},
		Usage:     &record.Usage{InputTokens: 160, OutputTokens: 44}}},
	{"think.sse", "vllm:deepseek-r1@http://vllm.test", record.ChatReply{Text: "It is 4, if 1 < 2", Reasoning: "Two and two.", FinishReason: record.FinishStop, Model: "deepseek-r1",
		Usage: &record.Usage{InputTokens: 5, OutputTokens: 20}}},
	{"anthropic.sse", "anthropic:claude-haiku-4-5", record.ChatReply{Text: "Okay, let's see", Reasoning: "I should look it up.", FinishReason: record.FinishTool, Model: "claude-haiku-4-5-20251001",
		ToolCalls: []record.ToolCallMessage{toolCall("toolu_01", "get_weather", `{"location": "San Francisco"}`), toolCall("toolu_02", "now", "{}")},
		Sealed:    []record.Sealed{{Block: json.RawMessage(`{"type":"thinking","thinking":"I should look it up.","signature":"EqQBCgIYAhIM"}`)}},
		Usage:     &record.Usage{InputTokens: 502, OutputTokens: 89}}},
	{"openai.json", "openai:gpt-4o-mini", record.ChatReply{Text: "Hello!", FinishReason: record.FinishStop, Model: "gpt-4o-mini-2024-07-18",
		Usage: &record.Usage{InputTokens: 8, OutputTokens: 2}, LogProbs: &record.LogProbs{Sum: -0.125, Tokens: 1, List: []float64{-0.125}}}},
	{"anthropic.json", "anthropic:claude-haiku-4-5", record.ChatReply{Text: "Checking.", FinishReason: record.FinishTool, Model: "claude-haiku-4-5-20251001",
		ToolCalls: []record.ToolCallMessage{toolCall("toolu_09", "get_order", `{"order_id":"A-1"}`)}, Usage: &record.Usage{InputTokens: 50, OutputTokens: 11}}},
}

func fixture(t *testing.T, file string) *canned {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	kind := "text/event-stream; charset=utf-8"
	if strings.HasSuffix(file, ".json") {
		kind = "application/json"
	}
	return &canned{kind, body, io.EOF}
}

func TestFixtures(t *testing.T) {
	for _, f := range fixtures {
		t.Run(f.file, func(t *testing.T) {
			m, _ := newModel(t, f.spec, Options{Price: Price{Input: 1, Output: 5}}, TrafficOptions{Transport: fixture(t, f.file)})
			var said, thought record.Text
			var tools []record.Text
			r := ask("hello")
			r.Stream = func(d record.Delta) {
				switch {
				case d.Tool != "":
					tools = append(tools, d.Tool)
				case d.Reasoning:
					thought += d.Text
				default:
					said += d.Text
				}
			}
			got, err := m.Complete(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			want := f.want
			usage := *want.Usage
			usage.Cost = (float64(usage.InputTokens) + 5*float64(usage.OutputTokens)) / 1e6
			want.Usage = &usage
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if said != want.Text || strings.TrimSpace(string(thought)) != string(want.Reasoning) || len(tools) != len(want.ToolCalls) {
				t.Errorf("streamed %q, thought %q, tools %q", said, thought, tools)
			}
		})
	}
}

// Every cut of every answer is an error that is put down to the line, or comes behind
// the answer's own end; whether the connection breaks or closes like a whole one.
func TestCutAtEveryByte(t *testing.T) {
	for _, f := range fixtures {
		t.Run(f.file, func(t *testing.T) {
			t.Parallel()
			whole := fixture(t, f.file)
			m, _ := newModel(t, f.spec, Options{Tries: 1}, TrafficOptions{Transport: whole})
			body, want := whole.body, f.want
			answers := 0
			ends := []error{io.EOF, io.ErrUnexpectedEOF, errors.New("connection reset by peer")}
			for n := range len(body) + 1 {
				if testing.Short() && n%7 > 0 && n < len(body)-40 {
					continue
				}
				tried := ends[:1] // the treacherous end at every byte, the loud ones at some
				if n%7 == 0 {
					tried = ends
				}
				for _, end := range tried {
					whole.body, whole.end = body[:n], end
					got, err := m.Complete(context.Background(), ask("hello"))
					switch {
					case err == nil:
						answers++
						if diff := cmp.Diff(want, got); diff != "" {
							t.Fatalf("after %d of %d bytes, %v, an answer that is not whole (-want +got):\n%s", n, len(body), end, diff)
						}
						if len(bytes.TrimSpace(body[n:])) > 0 {
							t.Fatalf("after %d of %d bytes an answer, with %q to come", n, len(body), body[n:])
						}
					case record.CauseOf(err) != record.CauseInfrastructure:
						t.Fatalf("after %d of %d bytes, %v: put down to %s: %v", n, len(body), end, record.CauseOf(err), err)
					}
				}
			}
			if answers == 0 {
				t.Error("not even the whole body is an answer")
			}
		})
	}
}
