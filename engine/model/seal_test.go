package model

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/engine/model/modeltest"
	"assay/engine/record"
)

// goOn is a turn that went on: an answer with its calls, and what came of them.
func goOn(r record.ChatRequest, reply *record.ChatReply) record.ChatRequest {
	said := record.Message{Role: "assistant", ToolCalls: reply.ToolCalls, Sealed: reply.Sealed}
	if reply.Text != "" {
		said.Content = &reply.Text
	}
	r.Messages = append(r.Messages, said)
	for _, c := range reply.ToolCalls {
		content := record.Text("{}")
		r.Messages = append(r.Messages, record.Message{Role: "tool", ToolCallID: c.ID, Content: &content})
	}
	return r
}

// A turn goes on only with the thoughts that its calls came from, as they were signed. The
// server of these tests refuses it otherwise, as Anthropic's does.
func TestSignedThoughtsGoBack(t *testing.T) {
	call := []modeltest.Call{{ID: "c1", Name: "get", Arguments: `{"id":"1"}`}}
	steps := []modeltest.Step{
		modeltest.Reply(modeltest.Answer{Reasoning: "First <look> & \"see\" \u2028.", Redacted: "hidden", Text: "I look.", Calls: call}),
		modeltest.Reply(modeltest.Answer{Redacted: "more", Calls: call}),
		modeltest.Say("Done."),
	}
	for name, c := range map[string]struct {
		whole bool
		spoil func(*record.ChatReply)
		want  string // of the refusal
	}{
		"as they came":       {},
		"from whole answers": {whole: true},
		"left out":           {spoil: func(r *record.ChatReply) { r.Sealed = nil }, want: "Expected `thinking`"},
		"altered": {want: "Invalid `signature`", spoil: func(r *record.ChatReply) {
			r.Sealed[0].Block = []byte(strings.Replace(string(r.Sealed[0].Block), "look", "hear", 1))
		}},
		"altered in secret": {want: "Invalid `signature`", spoil: func(r *record.ChatReply) {
			r.Sealed[1].Block = []byte(strings.Replace(string(r.Sealed[1].Block), `"data":"`, `"data":"AAAA`, 1))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := modeltest.NewServer(t, steps...)
			extra := `{"thinking":{"type":"enabled","budget_tokens":1024}}`
			if c.whole {
				extra = `{"thinking":{"type":"enabled","budget_tokens":1024},"stream":false}`
			}
			m, _ := newModel(t, both(s.URL)[1], Options{Extra: []byte(extra), Tries: 1}, TrafficOptions{})
			r := ask("hello")
			for {
				reply, err := m.Complete(t.Context(), r)
				if err != nil {
					if c.want == "" || !strings.Contains(err.Error(), c.want) {
						t.Fatalf("after %d requests: %v", len(s.Requests()), err)
					}
					return
				}
				if len(reply.ToolCalls) == 0 {
					break
				}
				if c.spoil != nil {
					c.spoil(&reply)
				}
				r = goOn(r, &reply)
			}
			if c.want != "" {
				t.Fatal("the server let it pass")
			}
			body := string(s.Requests()[len(steps)-1].Body)
			at := 0
			for _, part := range []string{`"type":"thinking"`, `"type":"redacted_thinking"`, `"text":"I look."`, `"type":"tool_use"`, `"type":"tool_result"`, `"type":"redacted_thinking"`, `"type":"tool_use"`} {
				next := strings.Index(body[at:], part)
				if next < 0 {
					t.Fatalf("%s is missing, or out of its place, in %s", part, body)
				}
				at += next + len(part)
			}
		})
	}
}

// A sealed part stands where it stood, and other servers hear nothing of it.
func TestSealedPartsKeepTheirPlace(t *testing.T) {
	reply := record.ChatReply{Text: "One.Two.", ToolCalls: []record.ToolCallMessage{toolCall("a", "get", "{}"), toolCall("b", "get", "{}")}, Sealed: []record.Sealed{
		{Text: 4, Block: []byte(`{"type":"x","n":1}`)}, {Text: 99, Block: []byte(`{"type":"x","n":2}`)}, {Text: 8, Calls: 1, Block: []byte(`{"type":"x","n":3}`)}}}
	r := goOn(ask("hello"), &reply)
	_, turns := anthropicTurns(r.Messages)
	got, err := record.Marshal(turns[1].Content)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"type":"text","text":"One."},{"type":"x","n":1},{"type":"text","text":"Two."},{"type":"x","n":2},{"type":"tool_use","id":"a","name":"get","input":{}},` +
		`{"type":"x","n":3},{"type":"tool_use","id":"b","name":"get","input":{}}]`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	other, err := record.Marshal(openAI{}.body("m", &r, nil))
	if err != nil || strings.Contains(string(other), `"n":`) {
		t.Errorf("%s, %v", other, err)
	}
}

// A kept answer brings its thoughts with it: the turn could not go on otherwise.
func TestCacheKeepsSealedParts(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.Reply(modeltest.Answer{Reasoning: "hm", Calls: []modeltest.Call{{Name: "get", Arguments: `{}`}}}))
	m, _ := newModel(t, both(s.URL)[1], Options{Cache: &memory{kept: map[string][]byte{}}}, TrafficOptions{})
	first, err := m.Complete(t.Context(), ask("hello"))
	if err != nil || len(first.Sealed) != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	first.Usage.Cost = 0
	second, err := m.Complete(t.Context(), ask("hello"))
	second.Cached = false
	if diff := cmp.Diff(first, second); diff != "" || err != nil || len(s.Requests()) != 1 {
		t.Errorf("%v (-asked +kept):\n%s", err, diff)
	}
}
