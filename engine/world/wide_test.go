package world_test

import (
	"encoding/json"
	"strings"
	"testing"

	"assay/engine/record"
	"assay/engine/world"
)

// Lists within lists multiply: eight levels of sixty-four items are more than any
// memory. A result ends instead, and is JSON all the same.
func TestListsWithinListsEnd(t *testing.T) {
	returns := `{"type":"string"}`
	for range 30 {
		returns = `{"type":"array","minItems":60,"items":{"type":"object","properties":{"rows":` + returns + `,"notes":{"type":"array","minItems":60,"items":{"type":"string"}}},"required":["rows","notes"]}}`
	}
	tools := []record.Tool{{Name: "list_pages", Kind: record.ToolRead, Parameters: json.RawMessage(`{"type":"object"}`), Returns: json.RawMessage(returns)}}
	posed := task("What is there?")
	posed.Tools = tools
	result := world.New(posed, tools).Call(record.ToolCall{Tool: "list_pages", Arguments: json.RawMessage(`{}`)})
	text := string(result.Result)
	if most := 1 << 20; len(text) > most || !json.Valid(result.Result) {
		t.Errorf("%d bytes, valid JSON %v; at most %d", len(text), json.Valid(result.Result), most)
	}
	if !strings.Contains(text, "rows") {
		t.Errorf("the result shows nothing of its shape: %.200s", text)
	}
}
