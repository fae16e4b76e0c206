package model

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/engine/model/modeltest"
	"assay/engine/record"
)

// both are specs of one server in either dialect.
func both(url string) []string { return []string{"vllm:fake@" + url, "anthropic:fake@" + url} }

func agentError(t *testing.T, err error) *record.AgentError {
	t.Helper()
	var a *record.AgentError
	if !errors.As(err, &a) {
		t.Fatalf("%v is no AgentError", err)
	}
	return a
}

// Each way of failing ends with the cause that is its own, after as many requests as it
// is worth.
func TestFaults(t *testing.T) {
	const shortAnswer = 1 << 16 // the bound, so that it is reached at once
	hello := modeltest.Answer{Text: "Hello there, how are you today?"}
	for _, c := range []struct {
		name     string
		step     modeltest.Step
		options  Options
		cause    record.Cause
		stop     record.StopReason
		requests int
		says     string
	}{
		{"401", modeltest.Unauthorized(), Options{}, record.CauseInfrastructure, record.StoppedAuth, 1, "401 Unauthorized"},
		{"403", modeltest.Fail(403, "no access"), Options{}, record.CauseInfrastructure, record.StoppedAuth, 1, "no access"},
		{"402", modeltest.FailAs(402, "billing_error", "", "pay"), Options{}, record.CauseInfrastructure, record.StoppedAuth, 1, "pay"},
		{"no credit", modeltest.FailAs(429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota"), Options{}, record.CauseInfrastructure, record.StoppedAuth, 1, "quota"},
		{"404", modeltest.WrongAddress(), Options{}, record.CauseInfrastructure, "", 1, "404 Not Found"},
		{"redirect", modeltest.Redirect("http://elsewhere.test/"), Options{}, record.CauseInfrastructure, "", 1, "307"},
		{"429", modeltest.RateLimited(time.Second), Options{}, record.CauseInfrastructure, "", 5, "429 Too Many Requests: Rate limit reached; tried 5 times"},
		{"429, three tries", modeltest.RateLimited(-1), Options{Tries: 3}, record.CauseInfrastructure, "", 3, "tried 3 times"},
		{"429, an hour", modeltest.RateLimited(time.Hour), Options{}, record.CauseInfrastructure, "", 1, "asks to wait 1h0m0s"},
		{"500", modeltest.Broken(), Options{}, record.CauseInfrastructure, "", 3, "500 Internal Server Error: The server had an error; tried 3 times"},
		{"529", modeltest.Fail(529, "Overloaded"), Options{}, record.CauseInfrastructure, "", 5, "Overloaded"},
		{"501", modeltest.Fail(501, "no"), Options{}, record.CauseInfrastructure, "", 1, "501"},
		{"400", modeltest.Fail(400, "tools: too many"), Options{}, record.CauseAgent, "", 1, "tools: too many"},
		{"overflow", modeltest.Overflow(), Options{}, record.CauseContext, "", 1, "maximum"},
		{"413", modeltest.Fail(413, ""), Options{}, record.CauseContext, "", 1, "413"},
		{"bad JSON", modeltest.BadJSON(), Options{}, record.CauseInfrastructure, "", 3, "cannot be read"},
		{"cut", modeltest.Cut(hello, -1), Options{}, record.CauseInfrastructure, "", 3, "cut before the answer's end"},
		{"cut at once", modeltest.Cut(hello, 0), Options{}, record.CauseInfrastructure, "", 3, "tried 3 times"},
		{"cut quietly", modeltest.CutQuietly(hello, -1), Options{}, record.CauseInfrastructure, "", 3, "cut before the answer's end"},
		{"hung up", modeltest.HangUp(), Options{}, record.CauseInfrastructure, "", 3, "closed without an answer; tried 3 times"},
		{"half a call", modeltest.HalfCall("get_order", `{"order_id":"A-17"}`), Options{}, record.CauseInfrastructure, "", 3, "cut before the answer's end"},
		{"error in the stream", modeltest.FailLate("overloaded_error", "Overloaded"), Options{}, record.CauseInfrastructure, "", 5, "529: Overloaded"},
		{"inner error in the stream", modeltest.FailLate("api_error", "Internal"), Options{}, record.CauseInfrastructure, "", 3, "Internal"},
		{"silent", modeltest.Stall(), Options{Idle: 300 * time.Millisecond}, record.CauseInfrastructure, "", 2, "silent"},
		{"silent in mid-answer", modeltest.StallLate("So far so good"), Options{Idle: 300 * time.Millisecond}, record.CauseInfrastructure, "", 2, "silent"},
		{"keeps alive without end", modeltest.Endless(""), Options{Timeout: time.Second}, record.CauseInfrastructure, "", 1, "took too long"},
		{"talks without end", modeltest.Endless(strings.Repeat("on", 10_000)), Options{}, record.CauseInfrastructure, "", 1, "over the bound"},
		{"huge", modeltest.Say(strings.Repeat("x", shortAnswer+1)), Options{}, record.CauseInfrastructure, "", 1, "over the bound"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.NewServer(t, c.step)
			for i, spec := range both(s.URL) {
				m, _ := newModel(t, spec, c.options, TrafficOptions{})
				m.longest = shortAnswer
				_, err := m.Complete(t.Context(), ask("hello"))
				if err == nil {
					t.Fatal("an answer")
				}
				a := agentError(t, err)
				if a.Cause != c.cause || a.Stop != c.stop || a.Unasked {
					t.Errorf("%s: cause %q, stop %q, unasked %v; want %q, %q: %v", spec, a.Cause, a.Stop, a.Unasked, c.cause, c.stop, err)
				}
				if got := len(s.Requests()) - i*c.requests; got != c.requests {
					t.Errorf("%s: %d requests, want %d: %v", spec, got, c.requests, err)
				}
				if !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "127.0.0.1:") || len(err.Error()) > 1000 {
					t.Errorf("%s: says %q, want %q and the host", spec, err, c.says)
				}
				if strings.Contains(err.Error(), theKey[4:16]) {
					t.Errorf("%s: the key is shown: %v", spec, err)
				}
			}
		})
	}
}

// What a server has trouble with once or twice is not seen.
func TestMended(t *testing.T) {
	hello := modeltest.Answer{Text: "Hello there, how are you?"}
	for name, steps := range map[string][]modeltest.Step{
		"429":         {modeltest.RateLimited(2 * time.Second), modeltest.RateLimited(-1), modeltest.Reply(hello)},
		"500":         {modeltest.Broken(), modeltest.Reply(hello)},
		"cut":         {modeltest.Cut(hello, -1), modeltest.Reply(hello)},
		"half a call": {modeltest.HalfCall("f", `{"a":"bcdef"}`), modeltest.Reply(hello)},
		"bad JSON":    {modeltest.BadJSON(), modeltest.BadJSON(), modeltest.Reply(hello)},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range 2 {
				s := modeltest.NewServer(t, steps...)
				m, _ := newModel(t, both(s.URL)[i], Options{}, TrafficOptions{})
				var heard record.Text
				r := ask("hello")
				r.Stream = func(d record.Delta) {
					if d.Again {
						heard = ""
					}
					heard += d.Text
				}
				reply, err := m.Complete(t.Context(), r)
				if err != nil || string(reply.Text) != hello.Text || reply.Text != heard {
					t.Errorf("%q, heard %q, %v", reply.Text, heard, err)
				}
			}
		})
	}
}

func TestWrongAddressStopsAtTheThird(t *testing.T) {
	missing, broken, hello := modeltest.WrongAddress(), modeltest.Broken(), modeltest.Say("hello")
	s := modeltest.NewServer(t, missing, missing, hello, missing, broken, missing, missing)
	m, _ := newModel(t, both(s.URL)[0], Options{Tries: 1}, TrafficOptions{})
	var stops []record.StopReason
	for range 7 {
		_, err := m.Complete(t.Context(), ask("hello"))
		var a *record.AgentError
		if errors.As(err, &a) {
			stops = append(stops, a.Stop)
		}
	}
	// An answer between says that the address is right; trouble of the server says nothing.
	if got, want := fmt.Sprintf("%q", stops), `["" "" "" "" "" "wrong_address"]`; got != want {
		t.Errorf("stops %s, want %s", got, want)
	}
}

func TestNobodyThere(t *testing.T) {
	s := modeltest.NewServer(t)
	m, clock := newModel(t, "vllm:fake@http://127.0.0.1:1/v1", Options{}, TrafficOptions{})
	_, err := m.Complete(t.Context(), ask("hello"))
	if a := agentError(t, err); a.Cause != record.CauseInfrastructure || a.Stop != "" || len(clock.waits) != 2 || len(s.Requests()) != 0 {
		t.Errorf("%v after %v", err, clock.waits)
	}
}

// An end of the caller's context is the agent's only once the model has begun to answer.
func TestContextEnds(t *testing.T) {
	cause := errors.New("the turn's deadline")
	for _, c := range []struct {
		name    string
		step    modeltest.Step
		unasked bool
		cause   record.Cause
	}{
		{"before an answer", modeltest.Stall(), true, record.CauseInfrastructure},
		{"in the answer", modeltest.StallLate("So far so good"), false, record.CauseAgent},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := modeltest.NewServer(t, c.step)
			m, _ := newModel(t, both(s.URL)[0], Options{}, TrafficOptions{})
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			r := ask("hello")
			if c.unasked {
				go func() {
					for len(s.Requests()) == 0 {
						time.Sleep(time.Millisecond)
					}
					cancel(cause)
				}()
			} else {
				r.Stream = func(record.Delta) { cancel(cause) }
			}
			_, err := m.Complete(ctx, r)
			if a := agentError(t, err); a.Unasked != c.unasked || a.Cause != c.cause || !errors.Is(err, cause) || !errors.Is(err, context.Canceled) {
				t.Errorf("cause %s, unasked %v: %v", a.Cause, a.Unasked, err)
			}
		})
	}
}

func TestTimeoutsAreDeadlines(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.Stall())
	m, _ := newModel(t, both(s.URL)[1], Options{Idle: 20 * time.Millisecond, Tries: 1}, TrafficOptions{})
	if _, err := m.Complete(t.Context(), ask("hello")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a judge would not call %v a timeout", err)
	}
}

// A server that takes a member of the request for unsupported is asked without it, and the
// model says so; what is the user's own is left to the user.
func TestRefusedMembers(t *testing.T) {
	no := func(member string) modeltest.Step {
		return modeltest.FailAs(400, "invalid_request_error", "unsupported_value", "Unsupported value: '"+member+"' does not support this with this model.")
	}
	s := modeltest.NewServer(t, no("temperature"), no("response_format"), no("max_tokens"), modeltest.Say(`{"ok":true}`))
	m, clock := newModel(t, both(s.URL)[0], Options{}, TrafficOptions{})
	zero := 0.0
	r := ask("hello")
	r.Temperature, r.MaxTokens, r.Schema = &zero, 9, []byte(`{"type":"object"}`)
	reply, err := m.Complete(t.Context(), r)
	if err != nil || reply.Text != `{"ok":true}` || len(clock.waits) > 0 {
		t.Fatalf("%q, %v", reply.Text, err)
	}
	if got := fmt.Sprint(m.Refused()); got != "[temperature response_format]" {
		t.Errorf("refused %s", got)
	}
	last := s.Requests()[3]
	body := string(last.Body)
	if strings.Contains(body, "temperature") || strings.Contains(body, "response_format") || !strings.Contains(body, `"max_completion_tokens":9`) || !strings.Contains(last.Messages[0].Text, `{"type":"object"}`) {
		t.Errorf("sent %s", body)
	}

	for _, words := range []string{"max_tokens is too large: this model supports at most 4 completion tokens", "temperature: -1 is out of range", "the word seed is too rude"} {
		s = modeltest.NewServer(t, modeltest.Fail(400, words))
		m, _ = newModel(t, both(s.URL)[0], Options{}, TrafficOptions{})
		if _, err := m.Complete(t.Context(), talk()); record.CauseOf(err) != record.CauseAgent || len(s.Requests()) != 1 || len(m.Refused()) > 0 {
			t.Errorf("%q: %v after %d requests, refused %v", words, err, len(s.Requests()), m.Refused())
		}
	}

	s = modeltest.NewServer(t, modeltest.Fail(400, "`temperature` may only be set to 1 when thinking is enabled."), modeltest.Say("Hi."))
	m, _ = newModel(t, both(s.URL)[1], Options{}, TrafficOptions{})
	if reply, err := m.Complete(t.Context(), r); err != nil || reply.Text != "Hi." || fmt.Sprint(m.Refused()) != "[temperature]" {
		t.Errorf("beside thinking: %q, %v, refused %v", reply.Text, err, m.Refused())
	}

	s = modeltest.NewServer(t, no("temperature"))
	m, _ = newModel(t, both(s.URL)[0], Options{Extra: []byte(`{"temperature":1.5}`)}, TrafficOptions{})
	if _, err := m.Complete(t.Context(), ask("hello")); record.CauseOf(err) != record.CauseAgent || len(s.Requests()) != 1 {
		t.Errorf("%v after %d requests", err, len(s.Requests()))
	}
}

func TestCheck(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.Say("ready"))
	for _, spec := range both(s.URL) {
		m, _ := newModel(t, spec, Options{}, TrafficOptions{})
		if err := m.Check(t.Context()); err != nil || len(s.Requests()) != 0 {
			t.Errorf("%v, %d requests for an answer", err, len(s.Requests()))
		}
	}
	m, _ := newModel(t, "vllm:other@"+s.URL, Options{}, TrafficOptions{})
	if err := m.Check(t.Context()); err != nil || len(s.Requests()) != 1 || !strings.Contains(string(s.Requests()[0].Body), `"max_tokens":1`) {
		t.Errorf("a model that is not listed: %v, %d requests", err, len(s.Requests()))
	}

	s = modeltest.NewServer(t, modeltest.Fail(404, "The model does not exist"))
	m, _ = newModel(t, "vllm:fkae@"+s.URL, Options{}, TrafficOptions{})
	err := m.Check(t.Context())
	var p *record.Problem
	if !errors.As(err, &p) || p.Code != "model_unreachable" || !strings.Contains(err.Error(), "did you mean vllm:fake?") || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("a misspelt name: %v", err)
	}

	gone, _ := newModel(t, "vllm:fake@http://127.0.0.1:1/v1", Options{Tries: 1}, TrafficOptions{})
	if err := gone.Check(t.Context()); !errors.As(err, &p) || agentError(t, err).Cause != record.CauseInfrastructure {
		t.Errorf("nobody there: %v", err)
	}
	m, _ = newModel(t, "openai:fake@"+s.URL, Options{}, TrafficOptions{Transport: status(http.StatusUnauthorized)})
	if err := m.Check(t.Context()); !errors.As(err, &p) || agentError(t, err).Stop != record.StoppedAuth || !strings.Contains(p.Fix, "key") {
		t.Errorf("a wrong key: %v", err)
	}
}

// status is a server that answers nothing else.
type status int

func (s status) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: int(s), Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}
