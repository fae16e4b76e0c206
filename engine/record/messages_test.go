package record

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMessages(t *testing.T) {
	steps := []Step{
		{Kind: StepText, Text: "Looking."},
		{Kind: StepTool, Tool: "find", Arguments: json.RawMessage(`{"q":"x"}`), Result: json.RawMessage(`{"n":1}`)},
		{Kind: StepTool, Tool: "say", Result: json.RawMessage(`"plain é"`)},
		{Kind: StepUser, Text: "And now?"},
	}
	got, err := Marshal(Messages("Be kind.", "Hi", steps, "Done."))
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"role":"system","content":"Be kind."},{"role":"user","content":"Hi"},{"role":"assistant","content":"Looking."},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"find","arguments":"{\"q\":\"x\"}"}}]},` +
		`{"role":"tool","content":"{\"n\":1}","tool_call_id":"call_1","name":"find"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"call_2","type":"function","function":{"name":"say","arguments":"null"}}]},` +
		`{"role":"tool","content":"plain é","tool_call_id":"call_2","name":"say"},` +
		`{"role":"user","content":"And now?"},{"role":"assistant","content":"Done."}]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	bare := Messages("", "", nil, "")
	if len(bare) != 2 || bare[0].Role != "user" || bare[1].Role != "assistant" {
		t.Errorf("of nothing: %+v", bare)
	}
}

func TestToolSchemas(t *testing.T) {
	if ToolSchemas(nil) != nil {
		t.Error("no tools have schemas")
	}
	got, err := Marshal(ToolSchemas([]Tool{{Name: "a", Description: "b <c>", Parameters: json.RawMessage(`{"type":"object"}`), Returns: json.RawMessage(`{}`), Kind: ToolRead}, {Name: "bare"}}))
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"type":"function","function":{"name":"a","description":"b <c>","parameters":{"type":"object"}}},{"type":"function","function":{"name":"bare"}}]`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestKeys(t *testing.T) {
	if got := (Key{TaskID: "t", K: 2}).String(); got != "t#2" {
		t.Errorf("key %s", got)
	}
	if got := (Key{TaskID: "t", EvalRun: 1, K: 2}).String(); got != "t#1.2" {
		t.Errorf("key %s", got)
	}
	ordered := []Key{{"a", 0, 0}, {"a", 0, 1}, {"b", 0, 0}, {"a", 1, 0}}
	for i, a := range ordered {
		for j, b := range ordered {
			if got := a.Compare(b); got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("%v against %v is %d", a, b, got)
			}
		}
	}
}
