package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assay/engine/record"
)

// serving is an endpoint that is played by answer, which is given the message that came.
func serving(t testing.TB, answer func(http.ResponseWriter, map[string]any)) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m map[string]any
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("a %s of %q came: %v", r.Method, r.Header.Get("Content-Type"), err)
		}
		answer(w, m)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/agent"
}

func httpAgent(t testing.TB, c HTTPConfig) *HTTP {
	t.Helper()
	h, err := NewHTTP(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

func TestHTTPTurnIsThatOfTheProtocol(t *testing.T) {
	var got map[string]any
	var key string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key = r.Header.Get("Authorization")
		_ = json.NewDecoder(r.Body).Decode(&got)
		_, _ = io.WriteString(w, `{"type":"reply","id":"1","final_text":"done","finish_reason":"length","usage":{"input_tokens":3,"output_tokens":4},"prompt_truncated":true,"mood":"calm","reward":1}`+"\n")
	}))
	defer s.Close()
	h := httpAgent(t, HTTPConfig{URL: s.URL, Headers: map[string]string{"Authorization": "Bearer k"}})
	turn := aTurn()
	turn.Deadline = time.Now().Add(patient)
	turn.World = &record.WorldAddress{MCP: "http://127.0.0.1:1/mcp", Token: "secret"}
	reply, err := h.Reply(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(record.Reply{FinalText: "done", FinishReason: record.FinishLength, Usage: &record.Usage{InputTokens: 3, OutputTokens: 4}, PromptTruncated: true,
		Extra: map[string]json.RawMessage{"mood": json.RawMessage(`"calm"`), "agent_reward": json.RawMessage("1")}}, reply); diff != "" {
		t.Errorf("the reply (-want +got):\n%s", diff)
	}
	if left, ok := got["deadline_ms"].(float64); !ok || left <= 0 || key != "Bearer k" {
		t.Errorf("deadline_ms %v, key %q", got["deadline_ms"], key)
	}
	delete(got, "deadline_ms")
	if diff := cmp.Diff(map[string]any{
		"type": "turn", "protocol": 1.0, "id": "1", "seed": 417301.0,
		"rollout":       map[string]any{"id": "r1", "task_id": "t1", "eval_run": 0.0, "k": 2.0, "turn": 0.0},
		"system_prompt": "Be brief.", "message": "restart billing", "history": []any{},
		"tools":    []any{map[string]any{"name": "get_runbook", "description": "Reads a runbook.", "parameters": map[string]any{"type": "object"}}},
		"tools_by": "world", "world": map[string]any{"mcp": "http://127.0.0.1:1/mcp", "token": "secret"},
	}, got); diff != "" {
		t.Errorf("the turn as sent (-want +got):\n%s", diff)
	}
}

// TestHTTPToolsGoToTheWorld has an endpoint call its tools at the address that came with
// the turn.
func TestHTTPToolsGoToTheWorld(t *testing.T) {
	turn := aTurn()
	worlds, err := ListenWorlds(WorldsConfig{Tools: turn.Tools})
	if err != nil {
		t.Fatal(err)
	}
	defer worlds.Close()
	var called record.ToolCall
	address, done := worlds.Open(func(_ context.Context, call record.ToolCall) record.ToolResult {
		called = call
		return record.ToolResult{Result: json.RawMessage(`{"steps":2}`)}
	})
	defer done()
	turn.World = &address
	url := serving(t, func(w http.ResponseWriter, m map[string]any) {
		world := m["world"].(map[string]any)
		transport := &http.Transport{}
		defer transport.CloseIdleConnections()
		client, err := mcp.NewClient(&mcp.Implementation{Name: "agent"}, nil).Connect(context.Background(), &mcp.StreamableClientTransport{Endpoint: world["mcp"].(string),
			HTTPClient: &http.Client{Transport: withHeader{map[string]string{"Authorization": "Bearer " + world["token"].(string)}, transport}}, MaxRetries: -1, DisableStandaloneSSE: true}, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer client.Close()
		result, err := client.CallTool(context.Background(), &mcp.CallToolParams{Name: "get_runbook", Arguments: map[string]any{"service": "billing"}})
		if err != nil {
			t.Error(err)
			return
		}
		fmt.Fprintf(w, `{"type":"reply","final_text":%q}`, result.Content[0].(*mcp.TextContent).Text)
	})
	reply, err := httpAgent(t, HTTPConfig{URL: url}).Reply(t.Context(), turn)
	if err != nil || reply.FinalText != `{"steps":2}` || called.Tool != "get_runbook" || string(called.Arguments) != `{"service":"billing"}` {
		t.Errorf("%+v, %v, called %+v", reply, err, called)
	}
}

// TestHTTPMisbehaviourIsNamed has each kind of broken endpoint answer one turn, and reads
// what a person is told.
func TestHTTPMisbehaviourIsNamed(t *testing.T) {
	says := func(status int, body string, headers ...string) func(http.ResponseWriter, map[string]any) {
		return func(w http.ResponseWriter, _ map[string]any) {
			for i := 0; i < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	ok := func(body string) func(http.ResponseWriter, map[string]any) { return says(200, body) }
	for _, tc := range []struct {
		name   string
		answer func(http.ResponseWriter, map[string]any)
		by     record.ToolsBy
		cause  record.Cause
		stop   record.StopReason
		after  time.Duration
		says   []string
	}{
		{name: "a page", answer: ok("<html>It works!</html>"), cause: record.CauseAgent, says: []string{"is not JSON", `"<html>It works!</html>"`}},
		{name: "nothing", answer: ok(""), cause: record.CauseAgent, says: []string{"is not JSON"}},
		{name: "latin", answer: ok("{\"type\":\"reply\",\"final_text\":\"caf\xe9\"}"), cause: record.CauseAgent, says: []string{"is not UTF-8"}},
		{name: "a list", answer: ok("[]"), cause: record.CauseAgent, says: []string{"is not a JSON object"}},
		{name: "no type", answer: ok(`{"final_text":"x"}`), cause: record.CauseAgent, says: []string{"has no type"}},
		{name: "two replies", answer: ok(`{"type":"reply","final_text":"x"}{"type":"reply","final_text":"x"}`), cause: record.CauseAgent, says: []string{"is not JSON"}},
		{name: "another id", answer: ok(`{"type":"reply","id":"77","final_text":"x"}`), cause: record.CauseAgent, says: []string{`the id "77", and this turn's is "1"`}},
		{name: "another type", answer: ok(`{"type":"answer"}`), cause: record.CauseAgent, says: []string{`the type "answer", which is none of reply, error`}},
		{name: "a tool call", answer: ok(`{"type":"tool_call","call":"c","tool":"x"}`), cause: record.CauseAgent, says: []string{"call tools at world.mcp"}},
		{name: "no final text", answer: ok(`{"type":"reply"}`), cause: record.CauseAgent, says: []string{"no final_text", `{\"type\":\"reply\"}`}},
		{name: "a number for a text", answer: ok(`{"type":"reply","final_text":7}`), cause: record.CauseAgent, says: []string{"not a message of the protocol"}},
		{name: "steps of its own", answer: ok(`{"type":"reply","final_text":"x","steps":[{"text":"hm"}]}`), cause: record.CauseAgent, says: []string{"tools_by is world"}},
		{name: "the user's steps", answer: ok(`{"type":"reply","final_text":"x","steps":[{"user":"me"}]}`), by: record.ToolsByAgent, cause: record.CauseAgent, says: []string{"the user's"}},
		{name: "an odd end", answer: ok(`{"type":"reply","final_text":"x","finish_reason":"tired"}`), cause: record.CauseAgent, says: []string{`"tired" is none of stop, length, tool, error`}},
		{name: "a huge answer", answer: func(w http.ResponseWriter, _ map[string]any) {
			block := bytes.Repeat([]byte("x"), 1<<20)
			for range 17 {
				_, _ = w.Write(block)
			}
		}, cause: record.CauseAgent, says: []string{"is over 16 MiB", "xxxx"}},
		{name: "reports", answer: ok(`{"type":"error","error":"KeyError: 'billing'"}`), cause: record.CauseAgent, says: []string{"the endpoint reported: KeyError: 'billing'"}},
		{name: "reports a line", answer: says(500, `{"type":"error","error":"rate limited","cause":"infrastructure"}`), cause: record.CauseInfrastructure, says: []string{"the endpoint reported: rate limited"}},
		{name: "reports its context", answer: says(400, `{"type":"error","error":"too long","cause":"context"}`), cause: record.CauseContext, says: []string{"too long"}},
		{name: "reports the weather", answer: ok(`{"type":"error","error":"x","cause":"weather"}`), cause: record.CauseAgent, says: []string{`"weather"`}},
		{name: "raises", answer: says(500, "Internal Server Error"), cause: record.CauseInfrastructure, says: []string{"answered 500 Internal Server Error", `"Internal Server Error"`}},
		{name: "is busy", answer: says(429, "slow down", "Retry-After", "7"), cause: record.CauseInfrastructure, after: 7 * time.Second, says: []string{"429"}},
		{name: "is overloaded", answer: says(503, "", "Retry-After", "soon"), cause: record.CauseInfrastructure, says: []string{"503"}},
		{name: "refuses the turn", answer: says(422, `{"detail":"no message"}`), cause: record.CauseAgent, says: []string{"422", "no message"}},
		{name: "refuses the key", answer: says(401, `{"error":"bad key"}`), cause: record.CauseInfrastructure, stop: record.StoppedAuth, says: []string{"401", "bad key", "environment"}},
		{name: "forbids", answer: says(403, ""), cause: record.CauseInfrastructure, stop: record.StoppedAuth, says: []string{"403"}},
		{name: "is elsewhere", answer: says(404, "no such page"), cause: record.CauseInfrastructure, says: []string{"404", "a POST to /agent at 127.0.0.1"}},
		{name: "has moved", answer: says(301, "", "Location", "http://else.where/"), cause: record.CauseInfrastructure, says: []string{"301", `it names "http://else.where/"`}},
		{name: "cuts the answer", answer: func(w http.ResponseWriter, _ map[string]any) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"type":"reply","final_text":"half`)
		}, cause: record.CauseInfrastructure, says: []string{"cut off after 34 bytes"}},
		{name: "hangs up", answer: func(w http.ResponseWriter, _ map[string]any) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_ = conn.Close()
			}
		}, cause: record.CauseInfrastructure, says: []string{"cannot be asked: EOF"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h := httpAgent(t, HTTPConfig{URL: serving(t, tc.answer)})
			turn := aTurn()
			if tc.by != "" {
				turn.ToolsBy = tc.by
			}
			_, err := h.Reply(t.Context(), turn)
			var known *record.AgentError
			if !errors.As(err, &known) {
				t.Fatalf("error %v", err)
			}
			if known.Cause != tc.cause || known.Stop != tc.stop || known.After != tc.after {
				t.Errorf("error %v: cause %q stop %q after %v", err, known.Cause, known.Stop, known.After)
			}
			for _, want := range tc.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not say %q:\n%.600s", want, err)
				}
			}
			if len(err.Error()) > 2048 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

// TestHTTPWrongAddressStops: three in a row stop the run and name the host; an answer in
// between begins the count anew, and 5xx and 429 are no part of it.
func TestHTTPWrongAddressStops(t *testing.T) {
	statuses := []int{404, 405, 200, 410, 500, 501, 429, 404}
	want := []record.StopReason{"", "", "", "", "", "", "", record.StoppedWrongAddress}
	asked := 0
	url := serving(t, func(w http.ResponseWriter, _ map[string]any) {
		w.WriteHeader(statuses[asked])
		if asked++; statuses[asked-1] == 200 {
			_, _ = io.WriteString(w, `{"type":"reply","final_text":"x"}`)
		}
	})
	h := httpAgent(t, HTTPConfig{URL: url})
	for i := range statuses {
		_, err := h.Reply(t.Context(), aTurn())
		var known *record.AgentError
		if errors.As(err, &known); (err == nil) != (statuses[i] == 200) || known != nil && known.Stop != want[i] {
			t.Errorf("answer %d, %d: %v", i, statuses[i], err)
		}
		if want[i] != "" && !strings.Contains(err.Error(), "127.0.0.1:") {
			t.Errorf("the host is not named: %v", err)
		}
	}
}

func TestHTTPDeadlines(t *testing.T) {
	held := make(chan struct{})
	hold := func(answer func(http.ResponseWriter)) string {
		return serving(t, func(w http.ResponseWriter, _ map[string]any) {
			answer(w)
			<-held
		})
	}
	silent := hold(func(http.ResponseWriter) {})
	halfway := hold(func(w http.ResponseWriter) {
		_, _ = io.WriteString(w, `{"type":"reply","final_text":"and th`)
		w.(http.Flusher).Flush()
	})
	// Nobody takes connections off this listener's queue; TLS then waits for a word.
	deaf, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = deaf.Close() })
	t.Cleanup(func() { close(held) }) // before the servers wait for their answers
	for name, tc := range map[string]struct {
		url     string
		cause   record.Cause
		unasked bool
	}{
		"silent":      {silent, record.CauseAgent, false},
		"halfway":     {halfway, record.CauseAgent, false},
		"not reached": {"https://" + deaf.Addr().String(), record.CauseInfrastructure, true},
	} {
		t.Run(name, func(t *testing.T) {
			h := httpAgent(t, HTTPConfig{URL: tc.url})
			turn := aTurn()
			turn.Deadline = time.Now().Add(100 * time.Millisecond)
			_, err := h.Reply(t.Context(), turn)
			var known *record.AgentError
			if !errors.As(err, &known) || !errors.Is(err, context.DeadlineExceeded) || known.Cause != tc.cause || known.Unasked != tc.unasked {
				t.Errorf("error %v, %+v", err, known)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := h.Reply(ctx, aTurn()); record.CauseOf(err) != record.CauseInterrupted {
				t.Errorf("a cancelled turn: %v of cause %q", err, record.CauseOf(err))
			}
		})
	}
}

func TestHTTPCloseEndsATurnInFlight(t *testing.T) {
	came, held := make(chan struct{}), make(chan struct{})
	url := serving(t, func(http.ResponseWriter, map[string]any) { close(came); <-held })
	t.Cleanup(func() { close(held) })
	h := httpAgent(t, HTTPConfig{URL: url})
	failed := make(chan error)
	go func() {
		_, err := h.Reply(context.Background(), aTurn())
		failed <- err
	}()
	<-came
	h.Close()
	if err := <-failed; record.CauseOf(err) != record.CauseInterrupted {
		t.Errorf("error %v of cause %q", err, record.CauseOf(err))
	}
	if _, err := h.Reply(t.Context(), aTurn()); record.CauseOf(err) != record.CauseInterrupted {
		t.Errorf("a turn after Close: %v", err)
	}
}

func TestHTTPAddressesAreChecked(t *testing.T) {
	for _, url := range []string{"", "localhost:80", "ftp://host/x", "http://", "http://user:pass@host/", "http://%zz"} {
		if _, err := NewHTTP(HTTPConfig{URL: url}); err == nil || strings.Contains(err.Error(), "pass@") {
			t.Errorf("%q: %v", url, err)
		}
	}
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + gone.Addr().String() + "/agent?key=sesame"
	h := httpAgent(t, HTTPConfig{URL: address})
	if err := h.Check(t.Context()); err != nil {
		t.Errorf("someone listens: %v", err)
	}
	_ = gone.Close()
	if err := h.Check(t.Context()); err == nil || !strings.Contains(err.Error(), gone.Addr().String()) {
		t.Errorf("nobody listens: %v", err)
	}
	_, err = h.Reply(t.Context(), aTurn())
	if record.CauseOf(err) != record.CauseInfrastructure || !strings.Contains(err.Error(), "refused") || strings.Contains(err.Error(), "sesame") {
		t.Errorf("a refused connection: %v of cause %q", err, record.CauseOf(err))
	}
}

// TestHTTPKeysAreInNoError has an endpoint throw the key back in every way that ends in
// an error.
func TestHTTPKeysAreInNoError(t *testing.T) {
	const key = "sk-test-4f9A8b7C6d5E4f3A2b1C"
	for _, status := range []int{200, 307, 400, 401, 404, 429, 500} {
		url := serving(t, func(w http.ResponseWriter, _ map[string]any) {
			w.Header().Set("Location", "http://x/?key="+key)
			w.WriteHeader(status)
			// The key stands across the place where what is shown ends.
			_, _ = io.WriteString(w, key+strings.Repeat("y", quotedBytes-len(key)-4)+key)
		})
		h := httpAgent(t, HTTPConfig{URL: url, Headers: map[string]string{"X-Key": key}, Masker: record.NewMasker(key)})
		_, err := h.Reply(t.Context(), aTurn())
		if err == nil || strings.Contains(err.Error(), key[:12]) || strings.Contains(err.Error(), key[len(key)-8:]) {
			t.Errorf("%d: %v", status, err)
		}
	}
}

func TestHTTPConnectionsAreReused(t *testing.T) {
	var opened atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"type":"reply","final_text":"x"}`)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	h := httpAgent(t, HTTPConfig{URL: s.URL})
	var turns sync.WaitGroup
	const atOnce = 8
	for range atOnce {
		turns.Go(func() {
			for range 20 {
				if _, err := h.Reply(t.Context(), aTurn()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	turns.Wait()
	// A dial may lose against a connection that came free, and is then kept too.
	if n := opened.Load(); n > 3*atOnce {
		t.Errorf("%d connections for %d turns at once", n, atOnce)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"": 0, "soon": 0, "-3": 0, "7": 7 * time.Second, "99999999": 24 * time.Hour,
		"Tue, 01 Dec 2026 12:00:30 GMT": 30 * time.Second, "Tue, 01 Dec 2026 11:00:00 GMT": 0,
	} {
		if got := retryAfter(header, now); got != want {
			t.Errorf("%q: %v, want %v", header, got, want)
		}
	}
}

func TestHTTPJudge(t *testing.T) {
	judge := func(answer func(http.ResponseWriter, map[string]any)) *HTTPJudge {
		j, err := NewHTTPJudge(HTTPConfig{URL: serving(t, answer)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(j.Close)
		return j
	}
	says := func(status int, body string) func(http.ResponseWriter, map[string]any) {
		return func(w http.ResponseWriter, _ map[string]any) { w.WriteHeader(status); _, _ = io.WriteString(w, body) }
	}
	var got map[string]any
	j := judge(func(w http.ResponseWriter, m map[string]any) {
		got = m
		_, _ = io.WriteString(w, `{"type":"verdict","reward":0.5}`)
	})
	rubric := record.Text("be kind")
	raw, err := j.Grade(t.Context(), record.JudgeRequest{Rubric: &rubric, Prompt: "ask", FinalText: "the final text",
		Steps: []record.Step{{Kind: record.StepTool, Tool: "get_runbook", Arguments: json.RawMessage("{}"), Result: json.RawMessage("1"), Fault: "timeout"}}})
	if err != nil || string(raw) != `{"type":"verdict","reward":0.5}` {
		t.Errorf("%s, %v", raw, err)
	}
	if diff := cmp.Diff(map[string]any{"type": "grade", "protocol": 1.0, "id": "1", "rubric": "be kind", "system_prompt": "", "tools": []any{}, "prompt": "ask",
		"steps": []any{map[string]any{"tool": "get_runbook", "arguments": map[string]any{}, "result": 1.0}}, "final_text": "the final text", "reference": nil}, got); diff != "" {
		t.Errorf("the request (-want +got):\n%s", diff)
	}
	for name, tc := range map[string]struct {
		answer func(http.ResponseWriter, map[string]any)
		raw    string // where the answer is for the grader to read
		cause  record.Cause
		stop   record.StopReason
	}{
		"a bare number":   {says(200, "0.5"), "0.5", "", ""},
		"no verdict":      {says(200, "<html>"), "<html>", "", ""},
		"nothing":         {says(200, " \n"), "", record.CauseJudge, ""},
		"reports":         {says(200, `{"type":"error","error":"tired"}`), "", record.CauseJudge, ""},
		"reports a line":  {says(500, `{"type":"error","error":"x","cause":"infrastructure"}`), "", record.CauseInfrastructure, ""},
		"refuses it":      {says(400, "?"), "", record.CauseJudge, ""},
		"is down":         {says(502, "?"), "", record.CauseInfrastructure, ""},
		"refuses the key": {says(401, "?"), "", record.CauseInfrastructure, record.StoppedAuth},
	} {
		raw, err := judge(tc.answer).Grade(t.Context(), record.JudgeRequest{})
		var known *record.AgentError
		if errors.As(err, &known); string(raw) != tc.raw || record.CauseOf(err) != tc.cause || known != nil && known.Stop != tc.stop {
			t.Errorf("%s: %q, %v", name, raw, err)
		}
	}
	held := make(chan struct{})
	slow := judge(func(http.ResponseWriter, map[string]any) { <-held })
	t.Cleanup(func() { close(held) })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := slow.Grade(ctx, record.JudgeRequest{}); !errors.Is(err, context.DeadlineExceeded) || record.CauseOf(err) != record.CauseJudge {
		t.Errorf("a judge that hangs: %v of cause %q", err, record.CauseOf(err))
	}
}

// FuzzHTTPAnswer feeds any bytes to the reader of an endpoint's answer: a reply that the
// contract allows, or an error that is put down to something and is short.
func FuzzHTTPAnswer(f *testing.F) {
	for _, seed := range []string{`{"type":"reply","final_text":"x"}`, `{"type":"error","error":"x","cause":"context"}`, `{"type":"tool_call"}`, `{"type":"reply","id":"2","final_text":"\ud800","steps":[{"tool":"t"}]}`, "<html>", "", "null",
		`{"type":"reply","final_text":"x","logprob":-1,"token_logprobs":[-1],"privileged":{"a":1},"reward":2}`} {
		f.Add([]byte(seed), true)
	}
	e, err := newEndpoint(HTTPConfig{URL: "http://host/"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte, own bool) {
		by := record.ToolsByWorld
		if own {
			by = record.ToolsByAgent
		}
		reply, err := e.readReply("1", raw, by)
		if err != nil {
			if text := explain(err, "reply", 0).Error(); text == "" || len(text) > 4096+4*len(raw) {
				t.Errorf("an error of %d bytes of %d", len(text), len(raw))
			}
			return
		}
		if len(reply.Steps) > 0 && !own || reply.FinishReason == "" {
			t.Errorf("%+v", reply)
		}
		for name := range reply.Extra {
			if isRowMember(name) {
				t.Errorf("the endpoint has written %s", name)
			}
		}
	})
}

func TestHTTPJudgeComparesTwo(t *testing.T) {
	judge := func(status int, body string, got *map[string]any) *HTTPJudge {
		j, err := NewHTTPJudge(HTTPConfig{URL: serving(t, func(w http.ResponseWriter, m map[string]any) {
			*got = m
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		})})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(j.Close)
		return j
	}
	one, other := record.JudgeRequest{Prompt: "ask", FinalText: "one"}, record.JudgeRequest{Prompt: "ask", FinalText: "other"}
	var got map[string]any
	if word, err := judge(200, `{"type":"preference","preferred":"second"}`, &got).Prefer(t.Context(), one, other); err != nil || word != "second" {
		t.Errorf("%q, %v", word, err)
	}
	if diff := cmp.Diff(map[string]any{"type": "compare", "protocol": 1.0, "id": "1", "rubric": nil, "system_prompt": "", "tools": []any{}, "prompt": "ask",
		"first": map[string]any{"steps": []any{}, "final_text": "one"}, "second": map[string]any{"steps": []any{}, "final_text": "other"}}, got); diff != "" {
		t.Errorf("the request (-want +got):\n%s", diff)
	}
	for body, cause := range map[string]record.Cause{
		`<html>`: record.CauseJudge, `{"type":"preference"}`: record.CauseJudge, `{"type":"verdict","reward":1}`: record.CauseJudge,
		`{"type":"error","error":"x","cause":"infrastructure"}`: record.CauseInfrastructure,
	} {
		if word, err := judge(200, body, &got).Prefer(t.Context(), one, other); err == nil || word != "" || record.CauseOf(err) != cause {
			t.Errorf("%s: %q, %v of cause %q", body, word, err, record.CauseOf(err))
		}
	}
}
