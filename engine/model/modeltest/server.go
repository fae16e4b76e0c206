package modeltest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Server is a running one. It is safe for concurrent use.
type Server struct {
	// URL is where it listens, without a path: both dialects add their own.
	URL string

	handler *Handler
}

// NewServer runs a server until the test's end. Without steps it says "Ready.".
func NewServer(t testing.TB, steps ...Step) *Server {
	if len(steps) == 0 {
		steps = []Step{Say("Ready.")}
	}
	return NewServerFunc(t, func(r *Request) Step { return steps[min(r.N, len(steps)-1)] })
}

// NewServerFunc runs a server that chooses a step for each request. choose is called from
// many goroutines.
func NewServerFunc(t testing.TB, choose func(*Request) Step) *Server {
	h := NewHandler(choose)
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		h.Close()
		s.CloseClientConnections()
		s.Close()
	})
	return &Server{URL: s.URL, handler: h}
}

// Requests are those for an answer that have come so far, in order of arrival. Listings
// of models are none.
func (s *Server) Requests() []*Request { return s.handler.Requests() }

// Request is one request for an answer.
type Request struct {
	N        int // counted from 0
	Dialect  string
	Path     string
	From     string // the connection's other end
	Header   http.Header
	Body     json.RawMessage
	Model    string
	Stream   bool
	Messages []Message
	Tools    []string // their names
}

// Message is what a message of a request says, whatever the dialect.
type Message struct {
	Role string
	Text string
}

// Last is the text of the last message, "" without one.
func (r *Request) Last() string {
	if len(r.Messages) == 0 {
		return ""
	}
	return r.Messages[len(r.Messages)-1].Text
}

// The dialects of a request.
const (
	OpenAI    = "openai"
	Anthropic = "anthropic"
)

// Handler is the server's http.Handler, for programs that listen themselves.
type Handler struct {
	choose func(*Request) Step
	over   chan struct{}
	once   sync.Once

	mu       sync.Mutex
	requests []*Request
}

// NewHandler makes a handler, which is to be closed: stalled answers end only then.
func NewHandler(choose func(*Request) Step) *Handler {
	return &Handler{choose: choose, over: make(chan struct{})}
}

// Close ends the answers that stall.
func (h *Handler) Close() { h.once.Do(func() { close(h.over) }) }

// Requests are those for an answer that have come so far.
func (h *Handler) Requests() []*Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]*Request(nil), h.requests...)
}

// ServeHTTP answers under any prefix of a path.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	dialect := ""
	switch {
	case strings.HasSuffix(r.URL.Path, "/models"):
		writeJSON(w, map[string]any{"object": "list", "data": []any{map[string]any{"id": "fake", "object": "model"}}})
		return
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		dialect = OpenAI
	case strings.HasSuffix(r.URL.Path, "/messages"):
		dialect = Anthropic
	default:
		http.NotFound(w, r)
		return
	}
	req, err := readRequest(dialect, r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	req.N = len(h.requests)
	h.requests = append(h.requests, req)
	h.mu.Unlock()
	step := h.choose(req)
	if dialect == Anthropic {
		if wrong := unsealed(req.Body); wrong != "" {
			step = FailAs(http.StatusBadRequest, "invalid_request_error", "", wrong)
		}
	}
	step(&exchange{w: w, r: r, request: req, over: h.over})
}

func readRequest(dialect string, r *http.Request) (*Request, error) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var body struct {
		Model    string          `json:"model"`
		Stream   bool            `json:"stream"`
		System   json.RawMessage `json:"system"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name     string `json:"name"`
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return nil, err
	}
	out := &Request{Dialect: dialect, Path: r.URL.Path, From: r.RemoteAddr, Header: r.Header.Clone(), Body: raw, Model: body.Model, Stream: body.Stream}
	if len(body.System) > 0 {
		out.Messages = append(out.Messages, Message{"system", contentText(body.System)})
	}
	for _, m := range body.Messages {
		out.Messages = append(out.Messages, Message{m.Role, contentText(m.Content)})
	}
	for _, t := range body.Tools {
		out.Tools = append(out.Tools, t.Name+t.Function.Name)
	}
	return out, nil
}

// contentText is what a content says: text, or the text of its parts.
func contentText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var list []struct {
		Text    string          `json:"text"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return ""
	}
	var b strings.Builder
	for _, part := range list {
		b.WriteString(part.Text)
		if len(part.Content) > 0 {
			b.WriteString(contentText(part.Content))
		}
	}
	return b.String()
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that went away is no trouble of a server's
}
