package world_test

import (
	"encoding/json"
	"testing"

	"assay/engine/record"
	"assay/engine/world"
)

// shopTools are read, list, create, update, act and delete over two kinds of
// record, most of them without a result shape.
func shopTools() []record.Tool {
	object := func(properties, required string) json.RawMessage {
		return json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":[` + required + `]}`)
	}
	order := `"order_id":{"type":"string","description":"Order id, for example ORD-1001"}`
	return []record.Tool{
		{Name: "get_order", Description: "Returns the status, total and delivery date of an order.", Kind: record.ToolRead, Parameters: object(order, `"order_id"`)},
		{Name: "list_orders", Description: "List a customer's orders.", Kind: record.ToolRead, Parameters: object(`"customer_id":{"type":"string"}`, `"customer_id"`)},
		{Name: "cancel_order", Description: "Cancel an order.", Kind: record.ToolDestructive, Parameters: object(order+`,"reason":{"type":"string"}`, `"order_id"`)},
		{Name: "update_order", Description: "Change the delivery address or quantity of an order.", Kind: record.ToolWrite,
			Parameters: object(order+`,"quantity":{"type":"integer","minimum":1,"maximum":99},"note":{"type":"string"}`, `"order_id"`)},
		{Name: "delete_order", Description: "Delete an order.", Kind: record.ToolDestructive, Parameters: object(order, `"order_id"`)},
		{Name: "create_ticket", Description: "Open a support ticket.", Kind: record.ToolWrite,
			Parameters: object(`"title":{"type":"string"},"priority":{"type":"string","enum":["low","high"]},"email":{"type":"string"}`, `"title"`)},
		{Name: "get_ticket", Description: "Read a ticket.", Kind: record.ToolRead, Parameters: object(`"ticket_id":{"type":"string"}`, `"ticket_id"`)},
		{Name: "search_articles", Description: "Search the help pages.", Kind: record.ToolRead, Parameters: object(`"query":{"type":"string"}`, `"query"`)},
	}
}

func task(ask record.Text, entities ...record.Entity) *record.Task {
	t := &record.Task{SituationID: "situation", Ask: ask, Tools: shopTools(), World: record.World{Entities: entities}}
	t.Identify()
	return t
}

func entity(argument, id, state string) record.Entity {
	return record.Entity{Argument: argument, ID: id, State: state}
}

// answer is a result in the form that tests read.
type answer struct {
	record.ToolResult
	body map[string]any
	code string // of a refusal
}

func call(t *testing.T, w *world.World, tool, arguments string) answer {
	t.Helper()
	got := answer{ToolResult: w.Call(record.ToolCall{Tool: tool, Arguments: json.RawMessage(arguments)})}
	if !json.Valid(got.Result) {
		t.Fatalf("%s(%s) answers what is not JSON: %q", tool, arguments, got.Result)
	}
	if json.Unmarshal(got.Result, &got.body) == nil && got.IsError {
		got.code, _ = got.body["error"].(string)
		if got.code == "" {
			t.Fatalf("%s(%s): an error without a code: %s", tool, arguments, got.Result)
		}
	}
	return got
}

// same fails the test unless two answers are equal to the last byte.
func same(t *testing.T, a, b answer) {
	t.Helper()
	if string(a.Result) != string(b.Result) || a.IsError != b.IsError || a.Fault != b.Fault || a.LatencyMS != b.LatencyMS {
		t.Errorf("the same call in the same state has two answers:\n%s (%d ms)\n%s (%d ms)", a.Result, a.LatencyMS, b.Result, b.LatencyMS)
	}
}
