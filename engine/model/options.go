package model

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"assay/engine/record"
)

// Options are how a model is asked. What a request says itself goes before them.
type Options struct {
	Temperature *float64 // nil is the server's own
	MaxTokens   int      // of one answer; 0 is the server's own bound, 4096 at Anthropic, which wants one
	Seed        *int64   // for requests that bring none; nil is none

	// Extra is a JSON object whose members are put into the body of each request as they
	// are, over those of the same name. A null takes a member away.
	Extra json.RawMessage
	// Headers go with each request. Their values may be keys.
	Headers Headers

	// Timeout ends one request, however lively, each try anew. 0 is ten minutes.
	Timeout time.Duration
	// Idle ends a request whose server is silent for so long, before the answer or in it.
	// 0 is two minutes.
	Idle time.Duration
	// Tries bounds how often one request is made in all. 0 is five.
	Tries int

	Price  Price
	Limits Limits

	// KeyEnv is the variable that holds the key, "" the provider's own: OPENAI_API_KEY,
	// ANTHROPIC_API_KEY, OLLAMA_API_KEY, VLLM_API_KEY. The last two may be unset. An
	// address of the spec's own that is not the provider's gets none of the first three.
	KeyEnv string
	// KeyCommand is a program with its arguments that prints the key; it goes before
	// KeyEnv. No shell is in between.
	KeyCommand []string

	// Cache answers equal requests without asking; nil is none. Requests with different
	// seeds are not equal, whether or not the server is told the seed.
	Cache Cache
}

const (
	// defaultTimeout is what the makers' own clients wait. Convention, untested.
	defaultTimeout = 10 * time.Minute
	// defaultIdle outlasts a long prompt on a slow machine and a long thought that is not
	// streamed. Convention, untested.
	defaultIdle = 2 * time.Minute
	// defaultTries with the delays of retry.go outlast half a minute of trouble.
	// Convention, untested.
	defaultTries = 5
	// defaultAnthropicTokens is for an interface that wants a bound: longer than any
	// reply of an agent that was meant. Convention, untested.
	defaultAnthropicTokens = 4096
)

func (o *Options) check() error {
	switch {
	case o.Temperature != nil && !(*o.Temperature >= 0 && *o.Temperature <= 2):
		return record.Problemf("bad_model", "give one from 0 to 2", "temperature: %v is out of range", *o.Temperature)
	case o.MaxTokens < 0:
		return record.Problemf("bad_model", "give a positive number, or leave it out", "max_tokens: %d is negative", o.MaxTokens)
	case o.Timeout < 0 || o.Idle < 0 || o.Tries < 0:
		return record.Problemf("bad_model", "give a positive one, or leave it out", "a model's timeout or number of tries is negative")
	case !(o.Price.Input >= 0 && o.Price.Output >= 0):
		return record.Problemf("bad_model", "give both per million tokens, 0 where there is none", "price: %v and %v are no prices", o.Price.Input, o.Price.Output)
	case o.Limits.Requests < 0 || o.Limits.Tokens < 0 || o.Limits.Concurrent < 0:
		return record.Problemf("bad_model", "give positive ones, or leave them out", "a limit is negative")
	}
	if len(o.Extra) == 0 {
		return nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(o.Extra, &members); err != nil || members == nil {
		return record.Problemf("bad_model", "write it as a mapping", "extra: want an object")
	}
	return nil
}

// Price is what tokens cost, in any currency, per million.
type Price struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
}

// Of is what a usage costs.
func (p Price) Of(input, output int64) float64 {
	const perMillion = 1e6
	return (float64(input)*p.Input + float64(output)*p.Output) / perMillion
}

// Limits bound the traffic to one endpoint, whoever sends it; of models that share one
// the strictest hold. 0 is no bound.
type Limits struct {
	Requests   int // a minute
	Tokens     int // a minute, in and out
	Concurrent int // requests in flight
}

// Headers are names and values of HTTP headers. They do not print their values.
type Headers map[string]string

// Format writes how many there are, whatever the verb.
func (h Headers) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "%d headers", len(h)) }

// Format writes the spec alone, whatever the verb: a model holds its key.
func (m *Model) Format(f fmt.State, _ rune) { io.WriteString(f, m.spec.String()) }
