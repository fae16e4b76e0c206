package model

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/engine/model/modeltest"
	"assay/engine/record"
)

// Anthropic is sent no seed, and another server refuses it: samples are no repeats there
// either.
func TestSeedsAreCachedApart(t *testing.T) {
	s := modeltest.NewServer(t)
	for _, spec := range both(s.URL) {
		m, _ := newModel(t, spec, Options{Cache: &memory{kept: map[string][]byte{}}}, TrafficOptions{})
		m.refused = refused{"seed"}
		before := len(s.Requests())
		for _, seed := range []int64{1, 2, 1} {
			r := talk()
			r.Seed = &seed
			if _, err := m.Complete(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(s.Requests()) - before; n != 2 {
			t.Errorf("%s: %d requests for two seeds", spec, n)
		}
	}
}

// A check asks though the answer is kept, and keeps none.
func TestChecksAskAnew(t *testing.T) {
	s := modeltest.NewServer(t)
	cache := &memory{kept: map[string][]byte{}}
	m, _ := newModel(t, "vllm:unlisted@"+s.URL, Options{Cache: cache}, TrafficOptions{})
	for range 2 {
		if err := m.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.Requests()) != 2 || len(cache.kept) != 0 {
		t.Errorf("%d requests, %d kept", len(s.Requests()), len(cache.kept))
	}
}

// listless is a server that answers a request for its models with a status.
type listless int

func (l listless) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return status(l).RoundTrip(r)
	}
	return http.DefaultTransport.RoundTrip(r)
}

func TestChecksGoOnWithoutTheList(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.RateLimited(time.Second), modeltest.Say("ready"))
	for _, code := range []int{403, 429, 503, 404} {
		m, _ := newModel(t, both(s.URL)[0], Options{}, TrafficOptions{Transport: listless(code)})
		if err := m.Check(t.Context()); err != nil {
			t.Errorf("%d: %v", code, err)
		}
	}
	if !slices.ContainsFunc(s.Requests(), func(r *modeltest.Request) bool { return len(r.Body) > 0 }) {
		t.Error("nothing was asked")
	}
}

// What a try used that was cut counts, whether or not another one is answered.
func TestFailedTriesCount(t *testing.T) {
	hello := modeltest.Answer{Text: "Hello there, how are you today?", Input: 10, Output: 5}
	cut := modeltest.Cut(hello, -1)
	s := modeltest.NewServer(t, cut, modeltest.Reply(hello), cut, cut, cut)
	m, _ := newModel(t, both(s.URL)[1], Options{Price: Price{Input: 1e6}}, TrafficOptions{})
	reply, err := m.Complete(t.Context(), ask("hello"))
	if err != nil || reply.Usage == nil || reply.Usage.InputTokens != 20 || reply.Usage.Cost != 20 {
		t.Errorf("%+v, %v", reply.Usage, err)
	}
	reply, err = m.Complete(t.Context(), ask("hello"))
	if err == nil || reply.Usage == nil || reply.Usage.InputTokens != 30 || reply.Text != "" {
		t.Errorf("%+v, %v", reply.Usage, err)
	}
}

// Requests that are read show that the address is right.
func TestAReadRequestForgetsWrongAddresses(t *testing.T) {
	e := &endpoint{}
	for _, k := range []kind{kindAddress, kindAddress, kindRequest, kindAddress, kindAddress, kindContext, kindAddress} {
		f := failed(k, "no")
		if e.learn(f); f.lastStrike {
			t.Fatal("stopped")
		}
	}
}

// Where a server wants a key that was not sent, the error says how to send one.
func TestWithheldKeysAreNamed(t *testing.T) {
	for spec, want := range map[string]string{"openai:m@http://elsewhere:1": "key_env", "vllm:m@http://elsewhere:1": "check the key"} {
		m, _ := newModel(t, spec, Options{}, TrafficOptions{Transport: status(http.StatusUnauthorized)})
		var p *record.Problem
		if err := m.Check(t.Context()); !errors.As(err, &p) || !strings.Contains(p.Fix, want) {
			t.Errorf("%s: %v, %v", spec, err, p)
		}
	}
}
