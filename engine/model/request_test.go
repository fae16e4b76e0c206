package model

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/engine/model/modeltest"
	"assay/engine/record"
)

func message(role, text string) record.Message {
	content := record.Text(text)
	return record.Message{Role: role, Content: &content}
}

func result(id, text string) record.Message {
	m := message("tool", text)
	m.ToolCallID = id
	return m
}

// talk is a conversation with what is awkward in one: parallel calls, arguments that are
// no JSON, results and messages without text, a lone surrogate.
func talk() record.ChatRequest {
	zero, seed := 0.0, int64(7)
	calls := record.Message{Role: "assistant", ToolCalls: []record.ToolCallMessage{toolCall("a", "get", `{"id": "1"}`), toolCall("b", "get", "{oops")}}
	return record.ChatRequest{
		Messages: []record.Message{message("system", "Be brief."), message("user", "Hi \xed\xa0\x80"), calls, result("a", ""), result("b", "bad"), message("user", ""), message("assistant", "Done.")},
		Tools: []record.Tool{{Name: "get", Description: "Gets one.", Parameters: []byte(`{"type":"object","properties":{"id":{"type":"string"}}}`), Returns: []byte(`{}`), Kind: record.ToolRead},
			{Name: "now", Kind: record.ToolRead}},
		Temperature: &zero, MaxTokens: 64, Seed: &seed, LogProbs: true, Schema: []byte(`{"type":"object"}`),
	}
}

func TestBodies(t *testing.T) {
	for spec, want := range map[string]string{
		"vllm:fake": `{"model":"fake","stream":true,"stream_options":{"include_usage":true},"temperature":0,"max_tokens":64,"seed":7,"logprobs":true,"top_k":5,
			"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"}}},
			"tools":[{"type":"function","function":{"name":"get","description":"Gets one.","parameters":{"type":"object","properties":{"id":{"type":"string"}}}}},
				{"type":"function","function":{"name":"now","parameters":{"type":"object","properties":{}}}}],
			"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi \ud800"},
				{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"get","arguments":"{\"id\": \"1\"}"}},{"id":"b","type":"function","function":{"name":"get","arguments":"{oops"}}]},
				{"role":"tool","tool_call_id":"a","content":""},{"role":"tool","tool_call_id":"b","content":"bad"},{"role":"user","content":""},{"role":"assistant","content":"Done."}]}`,
		"anthropic:fake": `{"model":"fake","stream":true,"temperature":0,"max_tokens":64,"top_k":5,"system":"Be brief.",
			"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}},
			"tools":[{"name":"get","description":"Gets one.","input_schema":{"type":"object","properties":{"id":{"type":"string"}}}},{"name":"now","input_schema":{"type":"object","properties":{}}}],
			"messages":[{"role":"user","content":[{"type":"text","text":"Hi \ud800"}]},
				{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"get","input":{"id":"1"}},{"type":"tool_use","id":"b","name":"get","input":{"not_json":"{oops"}}]},
				{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":""},{"type":"tool_result","tool_use_id":"b","content":"bad"},{"type":"text","text":"(no text)"}]},
				{"role":"assistant","content":[{"type":"text","text":"Done."}]}]}`,
	} {
		s := modeltest.NewServer(t)
		m, _ := newModel(t, spec+"@"+s.URL, Options{Extra: []byte(`{"top_k":5,"user":null}`)}, TrafficOptions{})
		if _, err := m.Complete(t.Context(), talk()); err != nil {
			t.Fatal(err)
		}
		got := s.Requests()[0]
		canonical := func(raw string) string {
			out, err := record.Canonical([]byte(raw))
			if err != nil {
				t.Fatal(err)
			}
			return string(out)
		}
		if !strings.Contains(string(got.Body), `\ud800`) {
			t.Errorf("%s: the lone surrogate is lost: %s", spec, got.Body)
		}
		odd := strings.NewReplacer(`\ud800`, "?")
		if diff := cmp.Diff(canonical(odd.Replace(want)), canonical(odd.Replace(string(got.Body)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", spec, diff)
		}
	}
}

// Equal requests have equal bodies, byte for byte, or no cache would find them.
func TestBodiesAreStable(t *testing.T) {
	s := modeltest.NewServer(t)
	for _, spec := range both(s.URL) {
		m, _ := newModel(t, spec, Options{Extra: []byte(`{"z":1,"a":2,"m":{"y":1,"b":2}}`)}, TrafficOptions{})
		for range 5 {
			if _, err := m.Complete(t.Context(), talk()); err != nil {
				t.Fatal(err)
			}
		}
		all := s.Requests()
		for _, r := range all[len(all)-4:] {
			if string(r.Body) != string(all[len(all)-5].Body) {
				t.Errorf("%s\n%s", all[len(all)-5].Body, r.Body)
			}
		}
	}
}

func TestOptions(t *testing.T) {
	half, minus := 0.5, -1.0
	seed := int64(3)
	s := modeltest.NewServer(t)
	m, _ := newModel(t, both(s.URL)[0], Options{Temperature: &half, MaxTokens: 10, Seed: &seed}, TrafficOptions{})
	if _, err := m.Complete(t.Context(), ask("hello")); err != nil {
		t.Fatal(err)
	}
	var sent struct {
		Temperature float64
		MaxTokens   int `json:"max_tokens"`
		Seed        int64
	}
	if err := json.Unmarshal(s.Requests()[0].Body, &sent); err != nil || sent.Temperature != 0.5 || sent.MaxTokens != 10 || sent.Seed != 3 {
		t.Errorf("%+v, %v", sent, err)
	}
	for name, o := range map[string]Options{"temperature": {Temperature: &minus}, "max_tokens": {MaxTokens: -1}, "tries": {Tries: -1}, "price": {Price: Price{Input: -1}},
		"limit": {Limits: Limits{Tokens: -1}}, "extra": {Extra: []byte(`[1]`)}} {
		spec, _ := ParseSpec("openai:m")
		_, err := New(t.Context(), spec, o, keyed, NewTraffic(TrafficOptions{}))
		var p *record.Problem
		if !errors.As(err, &p) || p.Code != "bad_model" || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// memory is a cache that can fail.
type memory struct {
	mu     sync.Mutex
	kept   map[string][]byte
	broken bool
}

func (c *memory) CachedReply(_ context.Context, request string) ([]byte, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken {
		return nil, false, errors.New("the disk is gone")
	}
	reply, found := c.kept[request]
	return reply, found, nil
}

func (c *memory) CacheReply(_ context.Context, request string, reply []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken {
		return errors.New("the disk is full")
	}
	c.kept[request] = reply
	return nil
}

func TestCache(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.Reply(modeltest.Answer{Text: "Hello \ufffd", Reasoning: "hm", Calls: []modeltest.Call{{Name: "get", Arguments: `{"a":1}`}}, LogProbs: []float64{-0.1, -0.2}}))
	cache := &memory{kept: map[string][]byte{}}
	m, _ := newModel(t, both(s.URL)[0], Options{Cache: cache, Price: Price{Input: 1, Output: 1}}, TrafficOptions{})
	first, err := m.Complete(t.Context(), talk())
	if err != nil || first.Usage.Cost == 0 {
		t.Fatal(first, err)
	}
	var heard record.Text
	again := talk()
	again.Stream = func(d record.Delta) {
		if !d.Reasoning {
			heard += d.Text
		}
	}
	second, err := m.Complete(t.Context(), again)
	if err != nil || len(s.Requests()) != 1 || second.Usage.Cost != 0 || heard != first.Text {
		t.Errorf("%d requests, cost %v, heard %q, %v", len(s.Requests()), second.Usage.Cost, heard, err)
	}
	if first.Cached || !second.Cached {
		t.Error("a kept answer is not told from one that was asked for")
	}
	second.Usage.Cost, second.Cached = first.Usage.Cost, false
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("(-asked +kept):\n%s", diff)
	}
	other := talk()
	other.Seed = new(int64)
	if _, err := m.Complete(t.Context(), other); err != nil || len(s.Requests()) != 2 {
		t.Errorf("another seed: %d requests, %v", len(s.Requests()), err)
	}
	cache.broken = true
	if _, err := m.Complete(t.Context(), talk()); err != nil || len(s.Requests()) != 3 {
		t.Errorf("a broken cache: %d requests, %v", len(s.Requests()), err)
	}
	cache.broken = false
	for request := range cache.kept {
		cache.kept[request] = []byte(`{"Text": 7}`)
	}
	if _, err := m.Complete(t.Context(), talk()); err != nil || len(s.Requests()) != 4 {
		t.Errorf("a reply that cannot be read: %d requests, %v", len(s.Requests()), err)
	}

	s = modeltest.NewServer(t, modeltest.Broken())
	m, _ = newModel(t, both(s.URL)[0], Options{Cache: cache, Tries: 1}, TrafficOptions{})
	before := len(cache.kept)
	if _, err := m.Complete(t.Context(), talk()); err == nil || len(cache.kept) != before {
		t.Errorf("a failure is kept: %v", err)
	}
}
