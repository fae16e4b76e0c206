package modeltest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Step is how a server answers one request.
type Step func(*exchange)

// exchange is one request with its answer.
type exchange struct {
	w       http.ResponseWriter
	r       *http.Request
	request *Request
	over    <-chan struct{}
}

func (x *exchange) header() {
	kind := "application/json"
	if x.request.Stream {
		kind = "text/event-stream"
	}
	x.w.Header().Set("Content-Type", kind)
}

func (x *exchange) flush() {
	if f, ok := x.w.(http.Flusher); ok {
		f.Flush()
	}
}

// hold waits until the client or the server goes.
func (x *exchange) hold() {
	select {
	case <-x.r.Context().Done():
	case <-x.over:
	}
}

// Say answers with a text.
func Say(text string) Step { return Reply(Answer{Text: text}) }

// CallTool answers with one call of a tool.
func CallTool(name, arguments string) Step {
	return Reply(Answer{Calls: []Call{{Name: name, Arguments: arguments}}})
}

// Reply answers whole, as the request wants it: streamed or not.
func Reply(a Answer) Step { return Paced(a, 0) }

// Paced answers piece by piece with a pause before each, for eyes.
func Paced(a Answer, pause time.Duration) Step {
	return func(x *exchange) {
		x.header()
		body, ends := a.Encode(x.request.Dialect, x.request.Model, x.request.Stream)
		from := 0
		for _, to := range ends {
			if pause > 0 {
				select {
				case <-time.After(pause):
				case <-x.r.Context().Done():
					return
				}
			}
			if _, err := x.w.Write(body[from:to]); err != nil {
				return
			}
			x.flush()
			from = to
		}
	}
}

// Fail answers with a status and a message in the dialect's form.
func Fail(status int, message string) Step { return FailAs(status, "", "", message) }

// FailAs is Fail with the error's type and code; "" is none.
func FailAs(status int, kind, code, message string) Step {
	return func(x *exchange) {
		x.w.Header().Set("Content-Type", "application/json")
		x.w.WriteHeader(status)
		x.w.Write(errorBody(x.request.Dialect, kind, code, message))
	}
}

func errorBody(dialect, kind, code, message string) []byte {
	inner := object{"message": message, "type": kind}
	if dialect == Anthropic {
		return quote(object{"type": "error", "error": inner})
	}
	inner["code"], inner["param"] = nil, nil
	if code != "" {
		inner["code"] = code
	}
	return quote(object{"error": inner})
}

// Unauthorized refuses the key, and repeats it as some servers do.
func Unauthorized() Step {
	return func(x *exchange) {
		FailAs(http.StatusUnauthorized, "authentication_error", "invalid_api_key", "Incorrect API key provided: "+x.key())(x)
	}
}

func (x *exchange) key() string {
	if key := x.request.Header.Get("X-Api-Key"); key != "" {
		return key
	}
	return strings.TrimPrefix(x.request.Header.Get("Authorization"), "Bearer ")
}

// EchoKey says the key as its answer.
func EchoKey() Step { return func(x *exchange) { Say("The key is " + x.key() + " then.")(x) } }

// WrongAddress is what a server says of a path that it does not have.
func WrongAddress() Step { return Fail(http.StatusNotFound, "Not Found") }

// RateLimited refuses with a Retry-After of whole seconds; under one it is given in
// milliseconds, and below 0 not at all.
func RateLimited(after time.Duration) Step {
	return func(x *exchange) {
		switch {
		case after >= time.Second:
			x.w.Header().Set("Retry-After", strconv.Itoa(int(after/time.Second)))
		case after >= 0:
			x.w.Header().Set("Retry-After-Ms", strconv.Itoa(int(after/time.Millisecond)))
		}
		FailAs(http.StatusTooManyRequests, "rate_limit_error", "rate_limit_exceeded", "Rate limit reached")(x)
	}
}

// Broken is a server's inner error.
func Broken() Step { return Fail(http.StatusInternalServerError, "The server had an error") }

// Overflow says that the prompt is over the model's window.
func Overflow() Step {
	return func(x *exchange) {
		if x.request.Dialect == Anthropic {
			FailAs(http.StatusBadRequest, "invalid_request_error", "", "prompt is too long: 208214 tokens > 200000 maximum")(x)
			return
		}
		FailAs(http.StatusBadRequest, "invalid_request_error", "context_length_exceeded", "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.")(x)
	}
}

// BadJSON answers 200 with what is no JSON.
func BadJSON() Step {
	return func(x *exchange) {
		x.header()
		if x.request.Stream {
			io.WriteString(x.w, "data: {\"choices\": [oops\n\n")
			return
		}
		io.WriteString(x.w, "<html>502 Bad Gateway</html>")
	}
}

// FailLate begins an answer and then tells of an error in place of the rest.
func FailLate(kind, message string) Step {
	return func(x *exchange) {
		x.part(Answer{Text: "So far "}, -1)
		name := "data: "
		if x.request.Dialect == Anthropic {
			name = "event: error\ndata: "
		}
		fmt.Fprintf(x.w, "%s%s\n\n", name, errorBody(x.request.Dialect, kind, kind, message))
	}
}

// part writes the first bytes of an answer's body, half of it where n is below 0.
func (x *exchange) part(a Answer, n int) {
	x.header()
	body, ends := a.Encode(x.request.Dialect, x.request.Model, x.request.Stream)
	if n < 0 {
		n = ends[len(ends)/2]
		if len(ends) == 1 {
			n /= 2
		}
	}
	x.w.Write(body[:min(n, len(body))])
	x.flush()
}

// Cut breaks the connection after the first bytes of an answer's body; below 0 somewhere
// before its end.
func Cut(a Answer, n int) Step {
	return func(x *exchange) {
		x.part(a, n)
		panic(http.ErrAbortHandler)
	}
}

// CutQuietly ends the body after its first bytes as if it were whole, as a proxy does.
func CutQuietly(a Answer, n int) Step { return func(x *exchange) { x.part(a, n) } }

// HalfCall breaks the connection in the middle of a call's arguments.
func HalfCall(name, arguments string) Step {
	return func(x *exchange) {
		a := Answer{Calls: []Call{{Name: name, Arguments: arguments}}}
		parts := halves(arguments)
		rest := quote(parts[len(parts)-1])
		body, _ := a.Encode(x.request.Dialect, x.request.Model, x.request.Stream)
		at := bytes.LastIndex(body, rest[1:len(rest)-1])
		if at < 0 { // unquoted, as Anthropic's whole answers hold it
			at = bytes.LastIndex(body, []byte(parts[len(parts)-1]))
		}
		Cut(a, at)(x)
	}
}

// HangUp closes the connection without an answer.
func HangUp() Step { return func(*exchange) { panic(http.ErrAbortHandler) } }

// Stall never answers.
func Stall() Step { return func(x *exchange) { x.hold() } }

// StallLate begins an answer and then says nothing more.
func StallLate(text string) Step {
	return func(x *exchange) {
		x.part(Answer{Text: text}, -1)
		x.hold()
	}
}

// Endless goes on without end: with text where it has one, else with comments that only
// keep the connection open.
func Endless(text string) Step {
	return func(x *exchange) {
		x.header()
		line := []byte(": keep-alive\n\n")
		if text != "" {
			body, ends := (&Answer{Text: text}).Encode(x.request.Dialect, x.request.Model, true)
			x.w.Write(body[:ends[0]])
			first := 1
			if x.request.Dialect == Anthropic {
				first = 3 // behind the ping and the block's start
				x.w.Write(body[ends[0]:ends[2]])
			}
			line = body[ends[first-1]:ends[first]]
		}
		for x.r.Context().Err() == nil {
			select {
			case <-x.over:
				return
			default:
			}
			if _, err := x.w.Write(line); err != nil {
				return
			}
			x.flush()
		}
	}
}

// Redirect sends the client elsewhere.
func Redirect(address string) Step {
	return func(x *exchange) {
		x.w.Header().Set("Location", address)
		x.w.WriteHeader(http.StatusTemporaryRedirect)
	}
}
