package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"assay/engine/record"
)

// kind is what a failed request calls for.
type kind int

const (
	kindServer   kind = iota // 5xx, no connection, a cut or unreadable answer
	kindOverload             // the server asks for less
	kindSilent               // nothing came for too long
	kindAuth                 // no try with this key can succeed
	kindAddress              // nobody answers there
	kindContext              // the prompt is over the model's window
	kindRequest              // the request itself is refused
	kindBounds               // an answer over our bounds
	kindEnded                // the caller's context ended
)

// tries is how often a request is made at most, of those that are allowed: what a pause
// mends is worth them all; a server that was silent once for minutes is not.
func (k kind) tries(allowed int) int {
	switch k {
	case kindOverload:
		return allowed
	case kindServer:
		return min(allowed, 3)
	case kindSilent:
		return min(allowed, 2)
	}
	return 1
}

// failure is one failed try.
type failure struct {
	kind   kind
	status int           // of HTTP; 0 without an answer
	own    time.Duration // the server's own delay, none without
	param  string        // the member of the request that the server names
	heard  bool          // part of an answer had come
	// lastStrike is one wrong address too many.
	lastStrike bool
	err        error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func failed(k kind, format string, args ...any) *failure {
	return &failure{kind: k, own: none, err: fmt.Errorf(format, args...)}
}

// after says how often it was tried.
func (f *failure) after(tries int) *failure {
	if tries > 1 {
		f.err = fmt.Errorf("%w; tried %d times", f.err, tries)
	}
	return f
}

// ended is what a request is that its own context ended: heard where part of the answer
// had come, last what the try before it failed of, nil without one.
func ended(ctx context.Context, heard bool, last error) *failure {
	err := context.Cause(ctx)
	if !errors.Is(err, ctx.Err()) {
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	switch {
	case last != nil:
		err = fmt.Errorf("%w, after %w", err, last)
	case !heard:
		err = fmt.Errorf("the model had not answered: %w", err)
	}
	return &failure{kind: kindEnded, own: none, heard: heard, err: err}
}

// agentError says what a failure is put down to.
func (f *failure) agentError() *record.AgentError {
	out := &record.AgentError{Cause: record.CauseInfrastructure, Err: f.err, After: max(f.own, 0)}
	switch f.kind {
	case kindAuth:
		out.Stop = record.StoppedAuth
	case kindAddress:
		if f.lastStrike {
			out.Stop = record.StoppedWrongAddress
		}
	case kindContext:
		out.Cause = record.CauseContext
	case kindRequest:
		out.Cause = record.CauseAgent
	case kindEnded:
		if out.Unasked = !f.heard; f.heard {
			out.Cause = record.CauseAgent
		}
	}
	return out
}

// refusal is the failure that an answer of HTTP other than 200 stands for. host and the
// text of the body are already safe to show.
func refusal(host string, status int, said serverError, own time.Duration) *failure {
	f := &failure{kind: kindOf(status, said), status: status, own: own, param: said.param}
	text := strings.TrimSpace(fmt.Sprintf("%s answered %d %s", host, status, http.StatusText(status)))
	if said.message != "" {
		text += ": " + said.message
	}
	f.err = errors.New(text)
	return f
}

func kindOf(status int, said serverError) kind {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusPaymentRequired, said.broke():
		return kindAuth
	case status == http.StatusRequestEntityTooLarge, said.overflows() && status != http.StatusTooManyRequests:
		return kindContext
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed, status == http.StatusGone, status == http.StatusNotImplemented, status/100 == 3:
		return kindAddress
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable, status == statusOverloaded:
		return kindOverload
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly, status < 400:
		return kindServer
	}
	return kindRequest
}

// statusOverloaded is Anthropic's own.
const statusOverloaded = 529

// serverError is what a server says of why it does not answer.
type serverError struct {
	message, kind, code, param string
}

// longestSaid bounds how much of a server's words an error repeats, in characters.
const longestSaid = 300

// readServerError reads the forms in use: {"error": {…}}, {"error": "…"}, the members at
// the top, FastAPI's detail, and plain text. show makes text safe to show.
func readServerError(body []byte, show func(string) string) serverError {
	type members struct {
		Message loose `json:"message"`
		Type    loose `json:"type"`
		Code    loose `json:"code"`
		Param   loose `json:"param"`
		Detail  loose `json:"detail"`
	}
	var outer struct {
		Error json.RawMessage `json:"error"`
		members
	}
	m := &outer.members
	if json.Unmarshal(body, &outer) == nil && len(outer.Error) > 0 {
		var inner members
		if json.Unmarshal(outer.Error, &inner) == nil {
			m = &inner
		} else if outer.Message == "" {
			var text loose
			if json.Unmarshal(outer.Error, &text) == nil {
				outer.Message = text
			}
		}
	}
	out := serverError{message: string(m.Message), kind: string(m.Type), code: string(m.Code), param: string(m.Param)}
	if out.message == "" {
		out.message = string(m.Detail)
	}
	if out.message == "" {
		out.message = string(body)
	}
	out.message = show(out.message)
	return out
}

// loose is a JSON string, or the JSON text of whatever stands in its place; null is "".
type loose string

func (l *loose) UnmarshalJSON(raw []byte) error {
	var s string
	switch {
	case string(raw) == "null":
	case json.Unmarshal(raw, &s) == nil:
		*l = loose(s)
	default:
		*l = loose(raw)
	}
	return nil
}

// status is that of HTTP which an error stands for that came without one.
func (s serverError) status() int {
	for _, word := range []string{s.kind, s.code} {
		switch word {
		case "overloaded_error":
			return statusOverloaded
		case "rate_limit_error", "rate_limit_exceeded", "429":
			return http.StatusTooManyRequests
		case "authentication_error", "permission_error", "401", "403":
			return http.StatusUnauthorized
		case "invalid_request_error", "400":
			return http.StatusBadRequest
		}
	}
	return http.StatusInternalServerError
}

// broke says that the account has no credit left, which servers say under several
// statuses.
func (s serverError) broke() bool {
	return s.code == "insufficient_quota" || s.kind == "insufficient_quota" || s.kind == "billing_error" ||
		strings.Contains(strings.ToLower(s.message), "credit balance is too low")
}

// overflows says that the prompt is over the model's window. Only some servers have a
// code for it; the words are those of OpenAI, Anthropic, vLLM, llama.cpp, its Python
// server and Ollama.
func (s serverError) overflows() bool {
	if s.code == "context_length_exceeded" || s.kind == "exceed_context_size_error" {
		return true
	}
	text := strings.ToLower(s.message)
	for _, words := range []string{"maximum context length", "context length exceeded", "exceeds the context", "exceed context window", "exceeds the context window", "prompt is too long",
		"exceeds the available context size", "longer than the maximum model length", "input length exceeds", "context window exceeds", "exceed context limit", "input is too long", "exceeds the model's context"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// plainly is text from outside on one line, bounded and without what acts on a terminal.
func plainly(text string) string {
	text = strings.Map(func(r rune) rune {
		if record.Hidden(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > longestSaid {
		text = string(runes[:longestSaid]) + "…"
	}
	return text
}
