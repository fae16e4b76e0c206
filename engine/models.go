package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"assay/engine/model"
	"assay/engine/record"
)

// backend is a model in one of its roles in a story. Until the plan is ready it is nothing
// but a name: a story that has nothing left to ask needs no key.
type backend struct {
	key     string // of the recipe
	spec    model.Spec
	options model.Options
	priced  bool // a price is given, were it nothing
	// role is the part of a rollout's spending that its calls are.
	role  func(*record.RolloutSpending) *record.Usage
	model *model.Model
	// masker is the engine's, for who cuts what the model says.
	masker *record.Masker
}

// Complete asks the model, and counts what that used up.
func (b *backend) Complete(ctx context.Context, r record.ChatRequest) (record.ChatReply, error) {
	if b.model == nil {
		return record.ChatReply{}, fmt.Errorf("%s was asked before the run was ready", b.spec)
	}
	reply, err := b.model.Complete(ctx, r)
	used := reply.Usage
	if reply.Cached {
		used = nil
	}
	note(ctx, b.role, used, err)
	return reply, err
}

// Chat is Complete for who wants the words alone.
func (b *backend) Chat(ctx context.Context, r record.ChatRequest) (record.Text, error) {
	reply, err := b.Complete(ctx, r)
	return reply.Text, err
}

// name is the model for people and on rows: as the recipe says it, without an address.
func (b *backend) name() string { return b.spec.Provider + ":" + b.spec.Model }

// newBackend is the model of one role of the plan.
func (e *Engine) newBackend(p *plan, key, spec string, o ModelOptions, timeout *Duration, role func(*record.RolloutSpending) *record.Usage) (*backend, error) {
	parsed, err := model.ParseSpec(spec)
	if err != nil {
		return nil, inRecipe(key, err)
	}
	b := &backend{key: key, spec: parsed, role: role, masker: e.Masker}
	b.options = model.Options{Temperature: o.Temperature, MaxTokens: or(o.MaxTokens, 0), Timeout: time.Duration(or(timeout, 0)), KeyEnv: o.KeyEnv, KeyCommand: o.KeyCommand,
		Limits: model.Limits{Requests: or(o.RequestsPerMinute, 0), Tokens: or(o.TokensPerMinute, 0)}}
	if o.Price != nil {
		b.options.Price, b.priced = model.Price(*o.Price), true
	}
	if len(o.Extra) > 0 {
		if b.options.Extra, err = record.Marshal(o.Extra); err != nil {
			return nil, inRecipe(key+".extra", err)
		}
	}
	if o.Cache {
		b.options.Cache = e.Cache
	}
	p.backends = append(p.backends, b)
	as, err := record.Marshal([]any{parsed.String(), o.KeyEnv, o.KeyCommand, o.Headers})
	if err != nil {
		return nil, inRecipe(key, err)
	}
	p.readying = append(p.readying, readying{key: key, who: parsed.String(), as: string(as), make: func(ctx context.Context) (err error) {
		if b.options.Headers, err = e.headers(o.Headers); err != nil {
			return err
		}
		b.model, err = model.New(ctx, b.spec, b.options, e.getenv, p.traffic)
		return err
	}, check: func(ctx context.Context) error { return b.model.Check(ctx) }})
	return b, nil
}

// headers fills the variables of a recipe's headers.
func (e *Engine) headers(headers map[string]string) (map[string]string, error) {
	filled := make(map[string]string, len(headers))
	for name, value := range headers {
		text, err := fill(value, e.Environ)
		if err != nil {
			return nil, fmt.Errorf("the header %s: %w", name, err)
		}
		filled[name] = text
	}
	return filled, nil
}

func (e *Engine) getenv(name string) string {
	for _, entry := range e.Environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// readying is what has to be done before somebody beyond this program can be asked.
type readying struct {
	key string // of the recipe
	who string
	// as is who, and with which key: those that are asked as the same are asked once. ""
	// is who alone.
	as string
	// make needs no network: it is done for all before anybody is asked. It may be nil.
	make func(context.Context) error
	// check asks once, so that a wrong address, model or key shows. It may be nil.
	check func(context.Context) error
}

// ready finds out, once and before anything is spent, whether everyone whom the plan will
// ask can be asked.
func (e *Engine) ready(ctx context.Context, p *plan) error {
	if len(p.readying) == 0 {
		return nil
	}
	e.open(p)
	for _, r := range p.readying {
		if err := e.make(ctx, p, r); err != nil {
			return err
		}
	}
	asked := map[string]bool{}
	for _, r := range p.readying {
		as := r.as
		if as == "" {
			as = r.who
		}
		if r.check == nil || asked[as] {
			continue
		}
		asked[as] = true
		if err := r.check(ctx); err != nil {
			return e.unreachable(ctx, p, r, err)
		}
	}
	p.readying = nil
	return nil
}

// open is the traffic that all models of a plan share.
func (e *Engine) open(p *plan) {
	p.traffic = model.NewTraffic(model.TrafficOptions{Masker: e.Masker})
	p.closers = append(p.closers, func() { p.traffic.Close() })
}

func (e *Engine) make(ctx context.Context, p *plan, r readying) error {
	if r.make == nil {
		return nil
	}
	return p.recipe.locate(inRecipe(r.key, e.Masker.Error(r.make(ctx))))
}

// Reached is whether somebody whom a recipe asks can be asked.
type Reached struct {
	Key string // of the recipe
	Who string
	Err error // nil where it can; else a [record.Problem]
}

// Reach asks everyone beyond this program whom a recipe names, once each, and says of
// each whether it can be asked: its agents, its judge, and the models that write and play
// users. A model costs a token or two. An error is one of the recipe itself.
func (e *Engine) Reach(ctx context.Context, r *Recipe) ([]Reached, error) {
	p, err := e.prepare(r)
	if err != nil {
		return nil, err
	}
	defer p.close()
	e.open(p)
	var all []Reached
	for _, each := range p.readying {
		err := e.make(ctx, p, each)
		if err == nil && each.check != nil {
			if err = each.check(ctx); err != nil {
				err = e.unreachable(ctx, p, each, err)
			}
		}
		all = append(all, Reached{each.key, each.who, err})
	}
	return all, ctx.Err()
}

// unreachable says who cannot be asked, and what to do about it.
func (e *Engine) unreachable(ctx context.Context, p *plan, r readying, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	problem := &record.Problem{Code: "unreachable", Message: err.Error(), Where: p.recipe.placed().where(r.key), Fix: "see that it runs and answers at that address", Err: err}
	var known *record.Problem
	if errors.As(err, &known) {
		problem.Message = known.Message
		if known.Fix != "" {
			problem.Fix = known.Fix
		}
	}
	if stop := stopOf(err); stop != "" {
		problem.Code = string(stop)
	}
	problem.Message = e.Masker.Text(fmt.Sprintf("%s: %s, so nothing was begun", r.key, problem.Message))
	return problem
}

// unpricedWarnings say whose calls a bound of money does not see.
func (p *plan) unpricedWarnings() []record.Warning {
	if p.settings.MaxCost == 0 {
		return nil
	}
	var ws []record.Warning
	for _, b := range p.backends {
		if !b.priced && b.spec.Provider != "ollama" { // which runs on a machine of one's own
			ws = append(ws, record.Warning{Code: "no_price", Text: fmt.Sprintf("%s: no price is given for %s, so max_cost does not bound what it costs", b.key, b.name()),
				Fix: "give price: {input: …, output: …} per million tokens, or bound the run with max_tokens"})
		}
	}
	return ws
}

// refusedWarnings say what models were asked for and their servers do not take: numbers
// of theirs are then not of the sampling that the recipe names.
func (p *plan) refusedWarnings() []record.Warning {
	var ws []record.Warning
	for _, b := range p.backends {
		if b.model == nil {
			continue
		}
		if no := b.model.Refused(); len(no) > 0 {
			ws = append(ws, record.Warning{Code: "not_supported", Text: fmt.Sprintf("%s: the server of %s does not take %s, and was asked without", b.key, b.name(), strings.Join(no, ", ")),
				Fix: "delete from the recipe what the model cannot do"})
		}
	}
	return ws
}

// samplingOf are a model's settings as they stand on every row and in the policy's
// version.
func samplingOf(spec AgentSpec, logProbs bool) (json.RawMessage, error) {
	sampling := struct {
		Temperature *float64       `json:"temperature,omitempty"`
		MaxTokens   *int           `json:"max_tokens,omitempty"`
		LogProbs    bool           `json:"logprobs,omitempty"`
		Extra       map[string]any `json:"extra,omitempty"`
	}{spec.Temperature, spec.MaxTokens, logProbs, nil}
	if spec.Model != "" {
		sampling.Extra = spec.Extra // a builtin's are its program's
	}
	raw, err := record.Marshal(sampling)
	if err != nil {
		return nil, fmt.Errorf("sampling settings: %w", err)
	}
	return raw, nil
}

// speakers readies the models that write asks and play users.
func (e *Engine) speakers(p *plan) (err error) {
	s := &p.recipe.Simulate
	if u := &s.User; u.Model != "" {
		if p.user, err = e.newBackend(p, "simulate.user", u.Model, u.ModelOptions, u.Timeout, byUser); err != nil {
			return err
		}
	}
	if w := &s.Writer; w.Model != "" {
		p.writer, err = e.newBackend(p, "simulate.writer", w.Model, w.ModelOptions, w.Timeout, byWriter)
	}
	return err
}
