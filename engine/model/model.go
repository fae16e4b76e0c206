package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"assay/engine/record"
)

// Model is one model behind one endpoint. It is safe for concurrent use, and prints as
// its spec.
type Model struct {
	spec     Spec
	options  Options
	dialect  dialect
	address  string
	endpoint *endpoint
	exchange exchange
	extra    map[string]json.RawMessage
	longest  int    // bytes that an answer may come to
	withheld string // the variable of the provider's key, which is not for this address; else ""

	mu      sync.Mutex
	refused refused
}

// New makes a model to talk to, and asks nobody. env looks up a variable of the
// environment ("" where it is not set). A key that is missing, or options out of range,
// are a [record.Problem] (codes no_key, bad_model). The key and the values of the headers
// become known to the traffic's masker.
func New(ctx context.Context, spec Spec, o Options, env func(string) string, traffic *Traffic) (*Model, error) {
	if _, err := ParseSpec(spec.String()); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	p := providerOf(spec.Provider)
	maker := p.address
	if moved := strings.TrimSpace(env(p.baseEnv)); p.baseEnv != "" && moved != "" {
		if !strings.Contains(moved, "://") {
			moved = "http://" + moved // as OLLAMA_HOST is written
		}
		if err := checkAddress(moved); err != nil && spec.URL == "" {
			return nil, fmt.Errorf("%s: %w", p.baseEnv, err)
		}
		p.address = moved
	}
	var withheld string
	if spec.URL != "" {
		if p.address != "" && !sameServer(spec.URL, p.address) && !sameServer(spec.URL, maker) && o.KeyEnv == "" && len(o.KeyCommand) == 0 {
			// A recipe may be another's: where it points must not be told the key that the
			// user has for the provider.
			withheld, p.keyEnv = p.keyEnv, ""
		}
		p.address = spec.URL
	}
	if !sameServer(p.address, maker) {
		p.needs = false // a server of one's own may want none
		if _, ok := p.dialect.(openAI); ok {
			p.dialect = openAI{}
		}
	}
	secret, err := key(ctx, spec, p, &o, env)
	if err != nil {
		return nil, err
	}
	traffic.masker.Add(secret)
	traffic.masker.Add(slices.Collect(maps.Values(o.Headers))...)
	headers := o.Headers
	o.Headers = nil // they are in the exchange alone
	m := &Model{spec: spec, options: o, dialect: p.dialect, address: p.dialect.base(p.address), longest: longestAnswer, withheld: withheld}
	if len(o.Extra) > 0 {
		if err := json.Unmarshal(o.Extra, &m.extra); err != nil {
			return nil, fmt.Errorf("extra: %w", err)
		}
	}
	host := m.address
	if u, err := url.Parse(m.address); err == nil {
		host = u.Host
	}
	m.endpoint = traffic.endpoint(m.address, host, o.Limits)
	m.exchange = exchange{client: traffic.client, clock: traffic.clock, masker: traffic.masker, host: host, header: header(p.dialect, secret, headers),
		idle: or(o.Idle, defaultIdle), timeout: or(o.Timeout, defaultTimeout)}
	return m, nil
}

// sameServer compares addresses by scheme, host and port.
func sameServer(one, other string) bool {
	a, errA := url.Parse(one)
	b, errB := url.Parse(other)
	return errA == nil && errB == nil && a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

func header(d dialect, key string, more Headers) func() http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"text/event-stream, application/json"}, "User-Agent": {"assay"},
		// Not sent: it lets net/http ask again at once where a kept connection turns out to
		// be closed, as llama.cpp leaves it after a stream.
		"Idempotency-Key": {}}
	d.authorize(h, key)
	for name, value := range more {
		h.Set(name, value)
	}
	return h.Clone
}

// Spec is what the model was made of.
func (m *Model) Spec() Spec { return m.spec }

// Refused are the members of requests that the server has turned down as unsupported and
// that are no longer sent, in the order in which it did: a temperature at a model that
// has one only, a schema at a server that enforces none (it is asked for in words then).
// Who promised them to somebody says so. Not among them is what nobody asked for, and a
// bound that is sent under its other name.
func (m *Model) Refused() []string {
	return slices.DeleteFunc(m.without(), func(member string) bool { return member == "stream_options" || isBound(member) })
}

func (m *Model) without() refused {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.refused)
}

// Complete asks once and gives the whole answer, or an error as the package says. Of an
// answer that was begun and had to be asked for again, Stream hears a Delta with Again,
// then the new one from its start. What the tries that failed are known to have used is
// in the usage too, and beside an error in a reply that holds nothing else.
func (m *Model) Complete(ctx context.Context, r record.ChatRequest) (record.ChatReply, error) {
	m.fill(&r)
	for {
		no := m.without()
		body, members, err := m.body(&r, no)
		if err != nil {
			return record.ChatReply{}, &record.AgentError{Cause: record.CauseAgent, Err: err}
		}
		reply, f := m.ask(ctx, &r, body)
		if f == nil {
			return reply, nil
		}
		if !m.doWithout(f, members, no) {
			return reply, f.agentError()
		}
	}
}

// fill puts the options where the request says nothing.
func (m *Model) fill(r *record.ChatRequest) {
	if r.Temperature == nil {
		r.Temperature = m.options.Temperature
	}
	if r.MaxTokens == 0 {
		r.MaxTokens = m.options.MaxTokens
	}
	if r.Seed == nil {
		r.Seed = m.options.Seed
	}
}

// body is a request's JSON, its members in order, and what they are called.
func (m *Model) body(r *record.ChatRequest, no refused) (raw []byte, members map[string]any, err error) {
	members = m.dialect.body(m.spec.Model, r, no)
	for name, value := range m.extra {
		if string(value) == "null" {
			delete(members, name)
			continue
		}
		members[name] = value
	}
	raw, err = record.Marshal(members)
	return raw, members, err
}

// ask makes one request, through the cache where there is one.
func (m *Model) ask(ctx context.Context, r *record.ChatRequest, body []byte) (record.ChatReply, *failure) {
	var request string
	cache := m.cache(ctx)
	if cache != nil {
		request = requestHash(m.address, r.Seed, body)
		if reply, ok := recall(ctx, cache, request, r.Stream); ok {
			return reply, nil
		}
	}
	var reply record.ChatReply
	var lost record.Usage // by tries that failed
	streamed := false
	expected := expectedTokens(body, r.MaxTokens)
	f := m.endpoint.do(ctx, expected, or(m.options.Tries, defaultTries), func(ctx context.Context) *failure {
		a := &answer{left: m.longest}
		if r.Stream != nil {
			if streamed {
				r.Stream(record.Delta{Again: true})
				streamed = false
			}
			a.listen = func(d record.Delta) { streamed = true; r.Stream(d) }
		}
		f := m.exchange.send(ctx, http.MethodPost, m.address+m.dialect.path(), body, func(in io.Reader, stream bool) (bool, error) {
			err := read(m.dialect, a, in, stream)
			return a.heard, err
		})
		if f != nil {
			if a.usage != nil {
				lost = lost.Plus(*a.usage)
			}
			return f
		}
		reply = a.reply()
		return nil
	})
	lost.Cost = m.options.Price.Of(lost.InputTokens, lost.OutputTokens)
	if f != nil {
		if lost != (record.Usage{}) {
			reply.Usage = &lost
		}
		return reply, f
	}
	if u := reply.Usage; u != nil {
		u.Cost = m.options.Price.Of(u.InputTokens, u.OutputTokens)
		m.endpoint.used(expected, int(u.InputTokens+u.OutputTokens))
	}
	if cache != nil {
		keep(ctx, cache, request, &reply)
	}
	if lost != (record.Usage{}) {
		if reply.Usage != nil {
			lost = lost.Plus(*reply.Usage)
		}
		reply.Usage = &lost
	}
	return reply, nil
}

const (
	// bytesPerToken is a rule of thumb for English (OpenAI's tokenizer page); what was
	// really used corrects it.
	bytesPerToken = 4
	// unboundedAnswer is what an answer without a bound is expected to take. Convention,
	// untested.
	unboundedAnswer = 500
)

func expectedTokens(body []byte, maxTokens int) int {
	return len(body)/bytesPerToken + min(or(maxTokens, unboundedAnswer), unboundedAnswer)
}

// doWithout notes a member that the server refused as unsupported, if the request can do
// without it.
func (m *Model) doWithout(f *failure, sent map[string]any, no refused) bool {
	if f.status/100 != 4 || f.kind != kindRequest {
		return false
	}
	said := strings.ToLower(f.err.Error())
	for _, member := range optional() {
		_, was := sent[member]
		_, own := m.extra[member] // the user's own is the user's to mend
		if !was || own || no.has(member) || !refusesMember(member, f.param, said) {
			continue
		}
		if isBound(member) && slices.ContainsFunc(no, isBound) {
			continue // neither name of it helps
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		if !m.refused.has(member) {
			m.refused = append(m.refused, member)
		}
		return true
	}
	return false
}

// optional are the members that a request can do without, or that have another name.
func optional() []string {
	return []string{"response_format", "output_config", "stream_options", "temperature", "seed", "max_tokens", "max_completion_tokens"}
}

// refusesMember says that a refusal is of a member as such. A schema is let go for any
// fault that is found with it; of the others a value out of range is the user's to mend.
func refusesMember(member, param, said string) bool {
	if member == "response_format" || member == "output_config" {
		return param == member || strings.Contains(said, member) || strings.Contains(said, "json_schema")
	}
	if param != member && !strings.Contains(said, member) || strings.Contains(said, "at most") {
		return false
	}
	return slices.ContainsFunc([]string{"support", "unrecogni", "unknown", "unexpected", "extra inputs", "extra fields", "not permitted", "deprecated", "may only be set"}, func(word string) bool {
		return strings.Contains(said, word)
	})
}

func isBound(member string) bool {
	return member == "max_tokens" || member == "max_completion_tokens"
}

// Check asks the endpoint for its models, and where it has no such list, or one without
// this model's name, for an answer of one token: so that a wrong key, address or name shows
// before anything is spent. An error is a [record.Problem] of the code model_unreachable
// that wraps the [record.AgentError].
// It is asked whatever a cache holds. What a list that is refused or late says of the model
// is little: a key may be for answers alone, and a busy server answers a little later.
func (m *Model) Check(ctx context.Context) error {
	ctx = Anew(ctx)
	names, f := m.list(ctx)
	if f != nil && (f.kind == kindEnded || f.kind == kindSilent || f.status == http.StatusUnauthorized) {
		return m.unreachable(f)
	}
	if slices.Contains(names, m.spec.Model) {
		return nil
	}
	text := record.Text("Say ready.")
	_, err := m.Complete(ctx, record.ChatRequest{Messages: []record.Message{{Role: "user", Content: &text}}, MaxTokens: 1})
	if err == nil {
		return nil
	}
	problem := m.unreachable(err)
	var a *record.AgentError
	if errors.As(err, &a) && len(names) > 0 && a.Stop == "" {
		if near := record.Nearest(m.spec.Model, names); near != "" {
			problem.Fix = "did you mean " + m.spec.Provider + ":" + near + "?"
		}
	}
	return problem
}

func (m *Model) unreachable(err error) *record.Problem {
	var f *failure
	if errors.As(err, &f) {
		err = f.agentError()
	}
	fix := "check its name and address, and that the server runs"
	var a *record.AgentError
	if errors.As(err, &a) && a.Stop == record.StoppedAuth {
		fix = "check the key, and that its account may use the model"
		if m.withheld != "" {
			fix = m.withheld + " is sent to the provider's own address alone: name the variable of this server's key with key_env"
		}
	}
	return record.Problemf("model_unreachable", fix, "%s cannot be asked: %w", m.spec, err)
}

// list is what models the endpoint says that it has.
func (m *Model) list(ctx context.Context) (names []string, f *failure) {
	f = m.exchange.send(ctx, http.MethodGet, m.address+"/models", nil, func(in io.Reader, _ bool) (bool, error) {
		var answer struct {
			Data []struct {
				ID string `json:"id"`
			} `json:"data"`
		}
		raw, err := io.ReadAll(in)
		if err == nil {
			err = json.Unmarshal(raw, &answer)
		}
		for _, each := range answer.Data {
			names = append(names, each.ID)
		}
		return true, err
	})
	return names, f
}
