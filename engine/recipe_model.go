package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"assay/engine/model"
)

// ModelOptions are how a model is asked. They stand beside model:.
type ModelOptions struct {
	// Temperature is the model's own where it is not written; a judge is asked at 0.
	Temperature *float64 `yaml:"temperature" json:"temperature,omitempty"`
	MaxTokens   *int     `yaml:"max_tokens" json:"max_tokens,omitempty"` // of one answer
	// Extra are further members of the request's body, in the server's own words; of a
	// builtin agent its options.
	Extra   map[string]any    `yaml:"extra" json:"extra,omitempty"`
	Headers map[string]string `yaml:"headers" json:"headers,omitempty"` // ${NAME} is of the environment
	Price   *Price            `yaml:"price" json:"price,omitempty"`
	// KeyEnv names the variable that holds the key, where it is not the provider's own;
	// KeyCommand is a program, with its arguments, that prints it.
	KeyEnv     string   `yaml:"key_env" json:"key_env,omitempty"`
	KeyCommand []string `yaml:"key_command" json:"key_command,omitempty"`
	// What the endpoint is asked at most, by everyone of this run who asks it.
	RequestsPerMinute *int `yaml:"requests_per_minute" json:"requests_per_minute,omitempty"`
	TokensPerMinute   *int `yaml:"tokens_per_minute" json:"tokens_per_minute,omitempty"`
	// Cache keeps answers in the database and gives an equal question the same one again.
	Cache bool `yaml:"cache" json:"cache,omitempty"`
}

// Price is what a million tokens cost, in any one currency.
type Price struct {
	Input  float64 `yaml:"input" json:"input"`
	Output float64 `yaml:"output" json:"output"`
}

// Speaker is who puts words into people's mouths: template or scripted, which need no
// model, or a model. A recipe writes it as a word, a spec, or {model: SPEC, …}.
type Speaker struct {
	Word         string    `yaml:"-" json:"word,omitempty"` // as written, where it was no model's
	Model        string    `yaml:"model" json:"model,omitempty"`
	Timeout      *Duration `yaml:"timeout" json:"timeout,omitempty"` // of one answer
	ModelOptions `yaml:",inline"`
}

// UnmarshalYAML reads a word, a spec or a mapping.
func (s *Speaker) UnmarshalYAML(n ast.Node) error {
	if text, ok := n.(*ast.StringNode); ok {
		s.set(text.Value)
		return nil
	}
	type plain Speaker
	if err := checkKeys(n, (*plain)(s), "the speaker"); err != nil {
		return err
	}
	if err := yaml.NodeToValue(n, (*plain)(s), yaml.Strict()); err != nil {
		return err
	}
	if s.Model == "" {
		return atNode(n, "no model is named", "write model: openai:MODEL")
	}
	return nil
}

func (s *Speaker) set(text string) {
	if *s = (Speaker{Word: text}); strings.Contains(text, ":") {
		*s = Speaker{Model: text}
	}
}

// speaker checks who speaks: own is what the part can do without a model.
func (p placed) speaker(key string, s *Speaker, own string) error {
	if s.Model == "" {
		if s.Word == "" || s.Word == own {
			return nil
		}
		return p.problem(key, fmt.Sprintf("%q is not known%s", s.Word, didYouMean(s.Word, append([]string{own}, specKinds...))), "write "+own+", or a model such as openai:MODEL")
	}
	return p.model(key, s.Model, &s.ModelOptions)
}

// model checks the spec of a model and how it is asked.
func (p placed) model(key, spec string, o *ModelOptions) error {
	if _, err := model.ParseSpec(spec); err != nil {
		return p.refused(key+".model", err, "write openai:MODEL, anthropic:MODEL, ollama:MODEL or vllm:MODEL@URL")
	}
	switch {
	case o.Temperature != nil && !(*o.Temperature >= 0 && *o.Temperature <= maxTemperature):
		return p.problem(key+".temperature", fmt.Sprintf("%v is outside 0 to %d", *o.Temperature, maxTemperature), "choose a number from 0 to 2")
	case o.KeyEnv != "" && len(o.KeyCommand) > 0:
		return p.problem(key+".key_command", "the key comes from key_env or from key_command, not from both", "delete one of them")
	case o.KeyEnv != "" && !variableName.MatchString(o.KeyEnv):
		return p.problem(key+".key_env", "this is not the name of a variable", "name the variable that holds the key, never the key itself")
	case o.Price != nil && !(o.Price.Input >= 0 && o.Price.Output >= 0):
		return p.problem(key+".price", "a price is not below 0", "write {input: 0.15, output: 0.60}, for a million tokens")
	}
	for _, err := range []error{
		p.within(key+".max_tokens", o.MaxTokens, 1, maxAnswer),
		p.within(key+".requests_per_minute", o.RequestsPerMinute, 1, maxPerMinute),
		p.within(key+".tokens_per_minute", o.TokensPerMinute, 1, maxPerMinute),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// Bounds of a model's options: beyond them is a slip of the finger. No provider takes a
// temperature over 2.
const (
	maxTemperature = 2
	maxAnswer      = 10_000_000
	maxPerMinute   = 1_000_000_000
)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// modelOnly refuses options that only a model takes, where none is named; allowed are
// those that this kind takes too.
func (p placed) modelOnly(key string, o *ModelOptions, allowed ...string) error {
	raw, err := json.Marshal(o)
	if err != nil {
		return p.problem(key, "an option cannot be written as JSON: "+err.Error(), "use plain values")
	}
	var set map[string]json.RawMessage
	if err := json.Unmarshal(raw, &set); err != nil {
		return p.problem(key, err.Error(), "use plain values")
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if !slices.Contains(allowed, name) {
			return p.problem(key+"."+name, "only a model has this option", "delete the line, or name a model with model:")
		}
	}
	return nil
}

// endpoint checks the address of an HTTP agent or judge.
func (p placed) endpoint(key, address string) error {
	u, err := url.Parse(address)
	if err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		return nil
	}
	return p.problem(key, fmt.Sprintf("%q is no address of an endpoint", address), "write http://HOST:PORT/PATH")
}

// modelOptions are those of everyone in the recipe who may ask a model or an endpoint.
func (r *Recipe) modelOptions() []*ModelOptions {
	out := []*ModelOptions{&r.Agent.ModelOptions, &r.Simulate.Writer.ModelOptions, &r.Simulate.User.ModelOptions}
	if r.After != nil && r.After.Agent != nil {
		out = append(out, &r.After.Agent.ModelOptions)
	}
	if w := r.Grade.Reward; w != nil && w.Judge != nil {
		out = append(out, &w.Judge.ModelOptions)
	}
	return out
}
