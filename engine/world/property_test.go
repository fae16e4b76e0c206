package world_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"assay/engine/record"
	"assay/engine/world"
)

// schemas draws result schemas: what a tool author writes, nested and bounded in
// every way that an answer can keep to.
func schemas(depth int) *rapid.Generator[map[string]any] {
	name := rapid.SampledFrom([]string{"id", "order_id", "status", "total", "count", "email", "created_at", "is_open", "items", "note", "rate", "customer_name"})
	return rapid.Custom(func(t *rapid.T) map[string]any {
		kinds := []string{"string", "integer", "number", "boolean", "enum", "const", "null or string"}
		if depth > 0 {
			kinds = append(kinds, "object", "array", "object", "anyOf", "allOf")
		}
		switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
		case "object", "allOf":
			properties := map[string]any{}
			var required []any
			for _, n := range rapid.SliceOfNDistinct(name, 1, 5, rapid.ID).Draw(t, "names") {
				properties[n] = schemas(depth-1).Draw(t, n)
				required = append(required, n)
			}
			object := map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
			if kind == "object" {
				return object
			}
			delete(object, "additionalProperties")
			return map[string]any{"allOf": []any{object, map[string]any{"type": "object"}}}
		case "array":
			low := rapid.IntRange(0, 3).Draw(t, "least")
			return map[string]any{"type": "array", "items": schemas(depth-1).Draw(t, "items"), "minItems": low, "maxItems": low + rapid.IntRange(0, 4).Draw(t, "more")}
		case "anyOf":
			return map[string]any{"anyOf": []any{map[string]any{"type": "null"}, schemas(depth-1).Draw(t, "branch")}}
		case "integer", "number":
			low := rapid.IntRange(-1000, 1000).Draw(t, "low")
			s := map[string]any{"type": kind, "minimum": low, "maximum": low + rapid.IntRange(0, 5000).Draw(t, "span")}
			if rapid.Bool().Draw(t, "open") {
				delete(s, rapid.SampledFrom([]string{"minimum", "maximum"}).Draw(t, "drop"))
			}
			return s
		case "enum":
			return map[string]any{"enum": []any{"open", "closed", "cancelled", 3, nil}}
		case "const":
			return map[string]any{"const": "v1"}
		case "null or string":
			return map[string]any{"type": []any{"null", "string"}}
		case "string":
			s := map[string]any{"type": "string"}
			switch rapid.IntRange(0, 3).Draw(t, "text") {
			case 0:
				low := rapid.IntRange(0, 40).Draw(t, "minLength")
				s["minLength"], s["maxLength"] = low, low+rapid.IntRange(0, 20).Draw(t, "span")
			case 1:
				s["pattern"] = rapid.SampledFrom([]string{`^[A-Z]{3}-\d{4}$`, `^(red|green)+$`, `^\w{2,5}@\w+\.com$`, `^a?b*c+$`}).Draw(t, "pattern")
			case 2:
				s["format"] = rapid.SampledFrom([]string{"date", "date-time", "uuid", "email", "uri"}).Draw(t, "format")
			}
			return s
		default:
			return map[string]any{"type": "boolean"}
		}
	})
}

// An answer satisfies the result schema that the user gave, as the schema
// library sees it, in every state that shows a record.
func TestAnswersSatisfyTheirSchema(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema, _ := json.Marshal(schemas(3).Draw(t, "schema"))
		var s jsonschema.Schema
		if err := json.Unmarshal(schema, &s); err != nil {
			t.Fatalf("%s: %v", schema, err)
		}
		resolved, err := s.Resolve(nil)
		if err != nil {
			t.Fatalf("%s: %v", schema, err)
		}
		tool := shopTools()[rapid.SampledFrom([]int{0, 1, 3, 7}).Draw(t, "tool")]
		tool.Returns = schema
		state := rapid.SampledFrom([]string{record.EntityExists, record.EntityUnknown, record.EntityActedOn}).Draw(t, "state")
		if tool.Kind != record.ToolRead {
			state = record.EntityExists
		}
		w := world.New(task(record.Text(rapid.String().Draw(t, "ask")+" C-77"), entity("order_id", "ORD-1", state)), []record.Tool{tool})
		got := w.Call(record.ToolCall{Tool: tool.Name, Arguments: json.RawMessage(`{"order_id":"ORD-1","customer_id":"C-77","query":"help"}`)})
		var v any
		if err := json.Unmarshal(got.Result, &v); err != nil || got.IsError {
			t.Fatalf("%s answers %s: %v", schema, got.Result, err)
		}
		if err := resolved.Validate(v); err != nil {
			// An id that the call gave stands in the answer whatever the schema says of it.
			if !strings.Contains(string(schema), "order_id") && !strings.Contains(string(schema), `"id"`) {
				t.Fatalf("%s\nanswers %s\n%v", schema, got.Result, err)
			}
		}
	})
}

// examples draws example results.
func examples(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kinds := []string{"text", "integer", "decimal", "bool", "null"}
		if depth > 0 {
			kinds = append(kinds, "object", "array", "object")
		}
		switch rapid.SampledFrom(kinds).Draw(t, "kind") {
		case "object":
			return rapid.MapOfN(rapid.SampledFrom([]string{"sum", "label", "parts", "size", "open", "owner"}), examples(depth-1), 0, 4).Draw(t, "object")
		case "array":
			return rapid.SliceOfN(examples(depth-1), 0, 3).Draw(t, "array")
		case "integer":
			return float64(rapid.IntRange(-100000, 100000).Draw(t, "integer"))
		case "decimal":
			return float64(rapid.IntRange(-1000000, 1000000).Draw(t, "cents")) / 100
		case "bool":
			return rapid.Bool().Draw(t, "bool")
		case "text":
			return rapid.String().Draw(t, "text")
		}
		return nil
	})
}

// W6: the shape of an example is kept, and its numbers move by a third at most.
func TestW6GivenShapeIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		example := rapid.MapOfN(rapid.SampledFrom([]string{"sum", "label", "parts", "size", "open", "owner"}), examples(3), 1, 6).Draw(t, "example")
		tool := shopTools()[0]
		tool.Returns, _ = json.Marshal(example)
		w := world.New(task(record.Text(rapid.String().Draw(t, "ask")), entity("order_id", "ORD-1", record.EntityExists)), []record.Tool{tool})
		got := w.Call(record.ToolCall{Tool: tool.Name, Arguments: json.RawMessage(`{"order_id":"ORD-1"}`)})
		var v any
		if err := json.Unmarshal(got.Result, &v); err != nil {
			t.Fatalf("%s: %v", got.Result, err)
		}
		var want any
		_ = json.Unmarshal(tool.Returns, &want)
		if why := differs(want, v, "$"); why != "" {
			t.Fatalf("%s\nanswers %s\n%s", tool.Returns, got.Result, why)
		}
	})
}

// differs says where an answer leaves its example.
func differs(want, got any, at string) string {
	switch want := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(want) {
			return fmt.Sprintf("%s: %v is not of the shape %v", at, got, want)
		}
		for name, child := range want {
			if why := differs(child, g[name], at+"."+name); why != "" {
				return why
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(want) {
			return fmt.Sprintf("%s: %v is not of the shape %v", at, got, want)
		}
		for i, child := range want {
			if why := differs(child, g[i], fmt.Sprintf("%s[%d]", at, i)); why != "" {
				return why
			}
		}
	case float64:
		g, ok := got.(float64)
		if !ok || math.Abs(g-want) > math.Abs(want)/3+1e-9 {
			return fmt.Sprintf("%s: %v is more than a third from %v", at, got, want)
		}
		if want == math.Trunc(want) && g != math.Trunc(g) {
			return fmt.Sprintf("%s: %v was an integer", at, got)
		}
	default:
		if want != got {
			return fmt.Sprintf("%s: %v, want %v", at, got, want)
		}
	}
	return ""
}

// W2: any sequence of calls gives the same answers twice, all of them JSON, and a
// read repeated at once repeats its answer.
func TestW2SameCallInTheSameStateSameAnswer(t *testing.T) {
	states := []string{record.EntityExists, record.EntityMissing, record.EntityActedOn, record.EntityDuplicate, record.EntityPartial, record.EntityUnknown}
	tools := world.Compile(shopTools())
	rapid.Check(t, func(t *rapid.T) {
		task := task(record.Text(rapid.StringMatching(`[a-z ]{0,20}`).Draw(t, "ask")+" ORD-7 C-77"), entity("order_id", "ORD-1", rapid.SampledFrom(states).Draw(t, "state")))
		if c := rapid.SampledFrom(world.Conditions()).Draw(t, "condition"); c != record.ConditionSuccess {
			task.Fault = &record.Fault{Tool: rapid.SampledFrom(shopTools()).Draw(t, "faulted").Name, Condition: c}
		}
		a, b := tools.World(task, world.DefaultDials()), tools.World(task, world.DefaultDials())
		for range rapid.IntRange(1, 12).Draw(t, "calls") {
			tool := rapid.SampledFrom(shopTools()).Draw(t, "tool")
			arguments, _ := json.Marshal(map[string]any{
				"order_id":    rapid.SampledFrom([]string{"ORD-1", "ORD-7", "ORD-404", "string"}).Draw(t, "order"),
				"customer_id": "C-77", "query": rapid.SampledFrom([]string{"refund", "late"}).Draw(t, "query"), "ticket_id": "T-1",
				"title": "It broke", "quantity": rapid.IntRange(-1, 5).Draw(t, "quantity"),
			})
			c := record.ToolCall{Tool: tool.Name, Arguments: arguments}
			x, y := a.Call(c), b.Call(c)
			if string(x.Result) != string(y.Result) || x.IsError != y.IsError || x.Fault != y.Fault || x.LatencyMS != y.LatencyMS {
				t.Fatalf("%s(%s): %s and %s", tool.Name, arguments, x.Result, y.Result)
			}
			if !json.Valid(x.Result) {
				t.Fatalf("%s(%s): %q is not JSON", tool.Name, arguments, x.Result)
			}
			if tool.Kind == record.ToolRead {
				if again := a.Call(c); string(again.Result) != string(x.Result) {
					t.Fatalf("%s(%s) again: %s, then %s", tool.Name, arguments, x.Result, again.Result)
				}
				b.Call(c)
			}
		}
	})
}

// W1: no argument but a locator comes back in the answer to its own call.
func TestW1NoArgumentComesBackAsAFinding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tool := rapid.SampledFrom(shopTools()).Draw(t, "tool")
		mark := "Zq" + rapid.StringMatching(`[A-Z]{6}`).Draw(t, "mark")
		number := rapid.IntRange(10_000_000, 90_000_000).Draw(t, "number")
		tool.Parameters = nil // so that nothing is refused for what it is
		switch rapid.IntRange(0, 2).Draw(t, "returns") {
		case 1:
			tool.Returns = json.RawMessage(`{"order_id":"A","status":"open","owner":"Ann","quantity":3,"title":"x","reason":"y"}`)
		case 2:
			tool.Returns = json.RawMessage(`{"type":"object","properties":{"status":{"type":"string"},"owner":{"type":"string"},"quantity":{"type":"integer"},"title":{"type":"string"},"reason":{"type":"string"}}}`)
		}
		if rapid.Bool().Draw(t, "declared") {
			tool.Parameters = json.RawMessage(`{"type":"object","properties":{"order_id":{"type":"string"},"status":{"type":"string"},"owner":{"type":"string"},"quantity":{"type":"integer"},"title":{"type":"string"},"reason":{"type":"string"}}}`)
		}
		arguments, _ := json.Marshal(map[string]any{"order_id": "ORD-1", "status": mark, "owner": mark + " " + mark, "quantity": number, "title": mark, "reason": mark})
		w := world.New(task("about ORD-1"), []record.Tool{tool})
		got := w.Call(record.ToolCall{Tool: tool.Name, Arguments: arguments})
		if strings.Contains(string(got.Result), mark) || strings.Contains(string(got.Result), fmt.Sprint(number)) {
			t.Fatalf("%s(%s) echoes: %s", tool.Name, arguments, got.Result)
		}
	})
}
