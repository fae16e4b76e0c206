package world_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"assay/engine/record"
	"assay/engine/world"
)

func oneTool(parameters, returns string) []record.Tool {
	t := record.Tool{Name: "lookup", Description: "Look something up.", Kind: record.ToolRead}
	if parameters != "" {
		t.Parameters = json.RawMessage(parameters)
	}
	if returns != "" {
		t.Returns = json.RawMessage(returns)
	}
	return []record.Tool{t}
}

// Schemas that no validator can follow, or only without end, are named and their
// plain keywords still hold; none of them panics or hangs.
func TestSchemasWithCycles(t *testing.T) {
	doubling := `{"$defs":{"d0":{"type":"string"}`
	for i := range 60 {
		doubling += fmt.Sprintf(`,"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i+1, i, i)
	}
	doubling += `},"type":"object","properties":{"a":{"$ref":"#/$defs/d60"}}}`
	deep := `{"a":` + strings.Repeat(`{"a":`, 50) + `1` + strings.Repeat(`}`, 50) + `}`
	for name, tt := range map[string]struct {
		schema string
		warned bool
	}{
		"itself":                {`{"$ref":"#"}`, true},
		"through allOf":         {`{"type":"object","allOf":[{"$ref":"#"}]}`, true},
		"two that meet":         {`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"type":"object","properties":{"a":{"$ref":"#/$defs/a"}}}`, true},
		"doubling":              {doubling, true},
		"doubling going deeper": {`{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#"},{"$ref":"#"},{"type":"integer"}]}}}`, false},
		"a tree":                {`{"type":"object","properties":{"a":{"$ref":"#"},"b":{"$ref":"#"}}}`, false},
		"a dynamic reference":   {`{"$dynamicAnchor":"n","type":"object","properties":{"a":{"$dynamicRef":"#n"}}}`, true},
		"to nowhere":            {`{"type":"object","properties":{"a":{"$ref":"#/nowhere"}}}`, true},
		"to another file":       {`{"type":"object","properties":{"a":{"$ref":"https://example.com/s.json"}}}`, true},
		"a bad pattern":         {`{"type":"object","properties":{"a":{"type":"string","pattern":"(?<=x)y"}}}`, true},
		"no schema at all":      {`[1,2]`, true},
		"an unknown type":       {`{"type":"object","properties":{"a":{"type":"strnig"}}}`, true},
		"draft 4":               {`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"a":{"type":"number","minimum":0,"exclusiveMinimum":true}}}`, true},
		"true":                  {`true`, false},
	} {
		t.Run(name, func(t *testing.T) {
			tools := world.Compile(oneTool(tt.schema, tt.schema))
			warnings := tools.Warnings()
			if (len(warnings) > 0) != tt.warned {
				t.Errorf("warnings %v", warnings)
			}
			for _, w := range warnings {
				if !strings.Contains(w.Text, "lookup") || w.Fix == "" {
					t.Errorf("warning %+v names no tool or no fix", w)
				}
			}
			w := tools.World(task("x"), world.DefaultDials())
			for _, arguments := range []string{`{}`, `{"a":1}`, `{"a":{"a":{}}}`, deep, `{"a":"x"}`} {
				call(t, w, "lookup", arguments)
			}
		})
	}
	// What is plain still holds beside what cannot be followed.
	w := world.New(task("x"), oneTool(`{"type":"object","properties":{"a":{"$ref":"#/nowhere"},"n":{"type":"integer"}},"required":["n"]}`, ""))
	if got := call(t, w, "lookup", `{"n":"x"}`); got.code != record.ErrInvalidArguments {
		t.Errorf("%s", got.Result)
	}
	if got := call(t, w, "lookup", `{"n":1,"a":2}`); got.IsError {
		t.Errorf("%s", got.Result)
	}
}

func TestToolNamedTwice(t *testing.T) {
	tools := world.Compile(append(oneTool("", ""), oneTool("", "")...))
	if w := tools.Warnings(); len(w) != 1 || !strings.Contains(w[0].Text, "twice") {
		t.Errorf("%v", w)
	}
}

// argumentSchemas draws parameters of plain keywords, which the world decides by
// itself.
func argumentSchemas(depth int) *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any {
		kinds := []string{"string", "integer", "number", "boolean", "enum", "any", "types"}
		if depth > 0 {
			kinds = append(kinds, "object", "object", "array")
		}
		switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
		case "object":
			properties := map[string]any{}
			for _, n := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3, rapid.ID).Draw(t, "names") {
				properties[n] = argumentSchemas(depth-1).Draw(t, n)
			}
			s := map[string]any{"type": "object", "properties": properties}
			if rapid.Bool().Draw(t, "closed") {
				s["additionalProperties"] = false
			}
			if rapid.Bool().Draw(t, "requires") {
				s["required"] = []any{"a"}
			}
			return s
		case "array":
			return map[string]any{"type": "array", "items": argumentSchemas(depth-1).Draw(t, "items"), "minItems": rapid.IntRange(0, 2).Draw(t, "least"), "maxItems": rapid.IntRange(0, 3).Draw(t, "most")}
		case "integer", "number":
			s := map[string]any{"type": kind}
			for _, word := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"} {
				if rapid.IntRange(0, 3).Draw(t, word+"?") == 0 {
					s[word] = rapid.IntRange(-3, 3).Draw(t, word)
				}
			}
			if rapid.IntRange(0, 3).Draw(t, "multiple") == 0 {
				s["multipleOf"] = rapid.SampledFrom([]any{2, 0.5, 0.1}).Draw(t, "multipleOf")
			}
			return s
		case "string":
			s := map[string]any{"type": "string", "minLength": rapid.IntRange(0, 2).Draw(t, "minLength"), "maxLength": rapid.IntRange(0, 4).Draw(t, "maxLength")}
			if rapid.IntRange(0, 2).Draw(t, "pattern") == 0 {
				s["pattern"] = "^a|b$"
			}
			return s
		case "enum":
			return map[string]any{"enum": []any{"a", 1, nil, true, 0.5}}
		case "types":
			return map[string]any{"type": []any{"string", "number"}}
		case "any":
			return map[string]any{}
		default:
			return map[string]any{"type": "boolean"}
		}
	})
}

func argumentValues(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kinds := 6
		if depth > 0 {
			kinds = 9
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return rapid.SampledFrom([]string{"", "a", "b", "äb", "abcde"}).Draw(t, "text")
		case 1:
			return float64(rapid.IntRange(-4, 4).Draw(t, "whole"))
		case 2:
			return rapid.SampledFrom([]float64{0.5, 0.3, -1.5, 1e300}).Draw(t, "decimal")
		case 3:
			return rapid.Bool().Draw(t, "bool")
		case 4:
			return nil
		case 5:
			return 1.0
		case 6:
			return rapid.SliceOfN(argumentValues(depth-1), 0, 4).Draw(t, "array")
		default:
			return rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), argumentValues(depth-1), 0, 4).Draw(t, "object")
		}
	})
}

// The world's own check of plain keywords agrees with the schema library, an
// independent reading of the same specification, on every value.
func TestPlainKeywordsAgreeWithTheLibrary(t *testing.T) {
	refused, taken := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		inner := argumentSchemas(2).Draw(t, "schema")
		schema, _ := json.Marshal(map[string]any{"type": "object", "properties": map[string]any{"v": inner}, "required": []any{"v"}})
		var s jsonschema.Schema
		if err := json.Unmarshal(schema, &s); err != nil {
			t.Fatalf("%s: %v", schema, err)
		}
		resolved, err := s.Resolve(nil)
		if err != nil {
			t.Fatalf("%s: %v", schema, err)
		}
		w := world.New(task("a b abcde äb"), oneTool(string(schema), ""))
		arguments, _ := json.Marshal(map[string]any{"v": argumentValues(2).Draw(t, "value")})
		var decoded map[string]any
		_ = json.Unmarshal(arguments, &decoded)
		want := resolved.Validate(decoded)
		got := w.Call(record.ToolCall{Tool: "lookup", Arguments: arguments})
		if got.IsError != (want != nil) {
			t.Fatalf("%s\n%s\nthe world answers %s, the library %v", schema, arguments, got.Result, want)
		}
		if got.IsError {
			refused++
		} else {
			taken++
		}
	})
	if refused == 0 || taken == 0 {
		t.Errorf("%d refused, %d taken: one side was never tried", refused, taken)
	}
}

func FuzzWorldArguments(f *testing.F) {
	for _, arguments := range []string{`{"order_id":"ORD-1"}`, `{}`, ``, `null`, `[]`, `"x"`, `{"order_id":{"type":"string"}}`, `{"order_id":"\ud800"}`, "{\"order_id\":\"\xff\"}",
		`{"order_id":1e999}`, `{"order_id":[["a"]]}`, `"{\"order_id\":\"ORD-1\"}"`, `{"a":{"a":{"a":{"a":[1,2,{"a":1}]}}}}`} {
		for tool := range 4 {
			f.Add(tool, arguments)
		}
	}
	tools := append(shopTools(), oneTool(`{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#"},{"type":"array","items":{"$ref":"#/properties/a"}},{"type":"integer"}]},"id":{"type":["string","integer"]}}}`, `{"id":1,"n":2.5,"l":[{"id":"A-1"}]}`)...)
	compiled := world.Compile(tools)
	f.Fuzz(func(t *testing.T, tool int, arguments string) {
		task := task("about ORD-1", entity("order_id", "ORD-1", record.EntityPartial))
		name := tools[uint(tool)%uint(len(tools))].Name
		a, b := compiled.World(task, world.DefaultDials()), compiled.World(task, world.DefaultDials())
		for range 2 {
			c := record.ToolCall{Tool: name, Arguments: json.RawMessage(arguments)}
			x, y := a.Call(c), b.Call(c)
			if string(x.Result) != string(y.Result) || x.IsError != y.IsError || x.LatencyMS != y.LatencyMS {
				t.Fatalf("two answers: %s and %s", x.Result, y.Result)
			}
			if !json.Valid(x.Result) {
				t.Fatalf("%q is not JSON", x.Result)
			}
		}
	})
}

func FuzzToolSchemas(f *testing.F) {
	for _, schema := range []string{`{"$ref":"#"}`, `{"type":"object","properties":{"id":{"type":"string"}}}`, `{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"type":"array","items":{"$ref":"#"}}}}`,
		`{"status":"open","items":[{"id":1}]}`, `{"enum":[]}`, `{"type":"number","multipleOf":0}`, `{"type":"array","minItems":1000000}`, `{"type":"string","minLength":1e9,"pattern":"(a*)*b"}`, `"text"`, `null`, `{"type":"integer","minimum":1e300}`} {
		f.Add(schema)
	}
	f.Fuzz(func(t *testing.T, schema string) {
		if !json.Valid([]byte(schema)) {
			schema = "null"
		}
		w := world.New(task("about A-1"), oneTool(schema, schema))
		for _, arguments := range []string{`{"id":"A-1"}`, `{"a":[{"a":[]}]}`} {
			if got := w.Call(record.ToolCall{Tool: "lookup", Arguments: json.RawMessage(arguments)}); !json.Valid(got.Result) {
				t.Fatalf("%q is not JSON", got.Result)
			}
		}
	})
}
