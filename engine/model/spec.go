package model

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"assay/engine/record"
)

// Spec names a model and where it is: PROVIDER:MODEL, or PROVIDER:MODEL@URL for another
// server that speaks the provider's language. The same model behind another address is
// another spec.
type Spec struct {
	Provider string // one of Providers
	Model    string // as the server calls it
	URL      string // "" is the provider's own address
}

// Providers are the words that a spec can begin with.
func Providers() []string { return []string{"openai", "anthropic", "ollama", "vllm"} }

// IsSpec reports whether a text begins with a provider's name and a colon, so that
// another reader of mixed texts (builtin:NAME) knows whose it is. A misspelt one is none:
// [ParseSpec] says what it may have meant.
func IsSpec(text string) bool {
	provider, _, found := strings.Cut(text, ":")
	return found && slices.Contains(Providers(), provider)
}

// ParseSpec reads a spec. What is wrong with one is a [record.Problem] of the code
// bad_model.
func ParseSpec(text string) (Spec, error) {
	provider, rest, found := strings.Cut(text, ":")
	switch known := slices.Contains(Providers(), provider); {
	case !found && known:
		return Spec{}, record.Problemf("bad_model", "write "+provider+":MODEL", "%q names no model", text)
	case !found:
		return Spec{}, record.Problemf("bad_model", "write openai:"+text+", or another of "+providerForms, "%q does not say whose model it is", text)
	case !known:
		fix := "write one of " + providerForms
		if near := record.Nearest(provider, Providers()); near != "" {
			fix = "did you mean " + near + ":" + rest + "?"
		}
		return Spec{}, record.Problemf("bad_model", fix, "%q is no provider of models", provider)
	}
	spec := Spec{Provider: provider, Model: rest}
	if i := addressStart(rest); i >= 0 {
		spec.Model, spec.URL = rest[:i], rest[i+1:]
		if err := checkAddress(spec.URL); err != nil {
			return Spec{}, err
		}
	}
	switch {
	case spec.Model == "" || strings.ContainsFunc(spec.Model, func(r rune) bool { return r == ' ' || record.Hidden(r) }):
		return Spec{}, record.Problemf("bad_model", "write "+provider+":MODEL", "%q names no model", text)
	case spec.URL == "" && provider == "vllm":
		return Spec{}, record.Problemf("bad_model", "write vllm:"+spec.Model+"@http://HOST:8000/v1", "a vllm server has no address of its own")
	}
	return spec, nil
}

const providerForms = "openai:MODEL, anthropic:MODEL, ollama:MODEL, vllm:MODEL@URL"

// addressStart is where the @ of an address stands, -1 without one. Names of models hold @
// too, so only one before an address counts: a scheme, or a host and a port.
func addressStart(rest string) int {
	if i := strings.Index(rest, "://"); i >= 0 {
		return strings.LastIndexByte(rest[:i], '@')
	}
	i := strings.LastIndexByte(rest, '@')
	if i < 0 {
		return -1
	}
	host, _, _ := strings.Cut(rest[i+1:], "/")
	if _, _, err := net.SplitHostPort(host); err != nil {
		return -1
	}
	return i
}

func checkAddress(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return record.Problemf("bad_model", "write a whole one, like http://localhost:8000/v1", "%q is no address of a server", address)
	case u.User != nil:
		return record.Problemf("bad_model", "give the key by the environment", "the address of %s holds a name or a password", u.Host)
	case u.RawQuery != "" || u.Fragment != "":
		return record.Problemf("bad_model", "leave out what stands from ? or # on", "the address of %s has a query", u.Host)
	}
	return nil
}

// String is the spec as it is written.
func (s Spec) String() string {
	text := s.Provider + ":" + s.Model
	if s.URL != "" {
		text += "@" + s.URL
	}
	return text
}
