package axes_test

import (
	"encoding/json"
	"strings"
	"testing"

	"assay/engine/axes"
	"assay/engine/record"

	"github.com/google/go-cmp/cmp"
)

const schemaText = `{"type":"object","properties":{"order_id":{"type":"string"}},"required":["order_id"]}`

func TestLoadToolsForms(t *testing.T) {
	want := []record.Tool{{
		Name: "cancel_order", Description: "Cancel it.", Parameters: json.RawMessage(schemaText),
		Returns: json.RawMessage(`{"status":"cancelled"}`), Kind: record.ToolDestructive,
	}}
	for name, text := range map[string]string{
		"bare":             `[{"name":"cancel_order","description":"Cancel it.","parameters":` + schemaText + `,"returns":{"status":"cancelled"}}]`,
		"one":              `{"name":"cancel_order","description":"Cancel it.","parameters":` + schemaText + `,"returns":{"status":"cancelled"}}`,
		"openai":           `[{"type":"function","function":{"name":"cancel_order","description":"Cancel it.","parameters":` + schemaText + `,"returns":{"status":"cancelled"}}}]`,
		"openai, beside":   `[{"type":"function","returns":{"status":"cancelled"},"function":{"name":"cancel_order","description":"Cancel it.","parameters":` + schemaText + `}}]`,
		"openai responses": `[{"type":"function","name":"cancel_order","description":"Cancel it.","parameters":` + schemaText + `,"returns":{"status":"cancelled"},"strict":true}]`,
		"anthropic":        `{"tools":[{"name":"cancel_order","description":"Cancel it.","input_schema":` + schemaText + `,"output_schema":{"status":"cancelled"}}]}`,
		"mcp":              `{"tools":[{"name":"cancel_order","description":"Cancel it.","inputSchema":` + schemaText + `,"outputSchema":{"status":"cancelled"},"annotations":{"title":"x"}}]}`,
		"spaced":           "\n [ {\"name\" : \"cancel_order\", \"description\":\"Cancel it.\",\"parameters\": " + strings.ReplaceAll(schemaText, ",", " ,\n ") + `, "returns": {"status": "cancelled"}} ]`,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := axes.LoadTools([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLoadToolsErrors(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{``, "the file is empty"},
		{`"x"`, "want a list of tools"},
		{"[\n {\"name\": }]", "line 2, column 11"},
		{`{"tools": 5}`, `"tools" must be a list`},
		{`[5]`, `tools[0]: want an object`},
		{`[{"name":"a"},{"description":"no name"}]`, `tools[1].name: missing`},
		{`[{"name":"a"},{"name":"a"}]`, `tools[1].name: "a" is the name of tools[0] too`},
		{`[{"name":"unrelated"}]`, `tools[0].name: "unrelated" is a value of the tool axis`},
		{`[{"name":5}]`, `tools[0].name: want a string, not number`},
		{`[{"type":"function","function":{"name":true}}]`, `tools[0].function.name: want a string, not bool`},
		{`[{"type":"web_search"}]`, `tools[0].type: "web_search"`},
		{`[{"name":"a","parameters":5}]`, `tools[0].parameters: want a JSON Schema`},
		{`[{"name":"a","parameters":{"type":"array"}}]`, `tools[0].parameters.type: arguments are an object`},
		{`[{"name":"a","input_schema":{"type":"object","properties":{"id":{"type":"strng"}}}}]`, `tools[0].input_schema.properties.id.type: unknown type "strng" (did you mean "string"?)`},
		{`[{"name":"a","parameters":{"properties":{"x":{"enum":[]}}}}]`, `tools[0].parameters.properties.x.enum: want a list with at least one value`},
		{`[{"name":"a","parameters":{"properties":{"x":{"anyOf":[{"type":"string"},7]}}}}]`, `tools[0].parameters.properties.x.anyOf[1]: want a JSON Schema`},
		{`[{"name":"a","parameters":{"required":"x"}}]`, `tools[0].parameters.required: want a list of names`},
		{`[{"type":"function","function":{"name":"a","parameters":{"properties":[]}}}]`, `tools[0].function.parameters.properties: want an object of schemas`},
		{`[{"name":"a","parameters":{"type":"object"},"input_schema":{"type":"object","properties":{}}}]`, `tools[0].input_schema: stands beside a different parameters`},
	} {
		_, err := axes.LoadTools([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s\nsays %v\nwant %s", c.text, err, c.says)
		}
	}
}

func TestLoadToolsWithNothing(t *testing.T) {
	for _, text := range []string{`[]`, `{"tools":[]}`} {
		tools, err := axes.LoadTools([]byte(text))
		if err != nil || len(tools) != 0 {
			t.Errorf("%s: %v, %v", text, tools, err)
		}
	}
	tools, err := axes.LoadTools([]byte(`[{"name":"ping","parameters":null,"returns":null}]`))
	if err != nil || tools[0].Parameters != nil || tools[0].Returns != nil {
		t.Errorf("null schemas: %v, %v", tools, err)
	}
}

// A schema that refers to itself is a tree without end.
func TestSchemaWithCycle(t *testing.T) {
	tools, err := axes.LoadTools([]byte(`[{"name":"move_node","parameters":{"type":"object",
		"$defs":{"Node":{"type":"object","properties":{"child":{"$ref":"#/$defs/Node"}}},"Loop":{"$ref":"#/$defs/Loop"},"Id":{"type":"string"}},
		"properties":{"node":{"$ref":"#/$defs/Node"},"loop":{"$ref":"#/$defs/Loop"},"order_id":{"$ref":"#/$defs/Id"},"gone":{"$ref":"#/$defs/None"},
		"account_id":{"anyOf":[{"type":"null"},{"type":"string"}]}}}}]`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"order_id", "account_id"}, axes.ReferenceArguments(tools[0])); diff != "" {
		t.Error(diff)
	}
	deep := strings.Repeat(`{"items":`, 100) + `{}` + strings.Repeat(`}`, 100)
	if _, err := axes.LoadTools([]byte(`[{"name":"a","parameters":` + deep + `}]`)); err == nil || !strings.Contains(err.Error(), "nested more than") {
		t.Errorf("a schema a hundred deep: %v", err)
	}
}

func TestKindOf(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		name  string
		hints axes.Annotations
		want  record.ToolKind
	}{
		{name: "read_runbook", want: record.ToolRead},
		{name: "get_cancelled_orders", want: record.ToolRead},
		{name: "list-refund-requests", want: record.ToolRead},
		{name: "getOrderStatus", want: record.ToolRead},
		{name: "order.status", want: record.ToolRead},
		{name: "calculate", want: record.ToolRead},
		{name: "cancel_order", want: record.ToolDestructive},
		{name: "order_cancel", want: record.ToolDestructive},
		{name: "DeleteUser", want: record.ToolDestructive},
		{name: "issue_refund", want: record.ToolDestructive},
		{name: "find_and_delete", want: record.ToolDestructive},
		{name: "restart_service", want: record.ToolDestructive},
		{name: "request_cancellation", want: record.ToolDestructive},
		{name: "cancellation_status", want: record.ToolRead},
		{name: "book_reservation", want: record.ToolWrite},
		{name: "update_order", want: record.ToolWrite},
		{name: "search_and_replace", want: record.ToolWrite},
		{name: "transfer_to_human_agents", want: record.ToolWrite},
		{name: "deleted_items", want: record.ToolWrite}, // "deleted" is not the word "delete"; no verb is known
		{name: "frobnicate", want: record.ToolWrite},
		{name: "", want: record.ToolWrite},
		{name: "cancel_order", hints: axes.Annotations{ReadOnly: &yes}, want: record.ToolRead},
		{name: "get_order", hints: axes.Annotations{Destructive: &yes}, want: record.ToolDestructive},
		{name: "cancel_order", hints: axes.Annotations{Destructive: &no}, want: record.ToolWrite},
		{name: "get_order", hints: axes.Annotations{ReadOnly: &no}, want: record.ToolWrite},
		{name: "get_order", hints: axes.Annotations{Destructive: &no}, want: record.ToolRead},
	} {
		if got := axes.KindOf(c.name, c.hints); got != c.want {
			t.Errorf("%q %+v is %s, want %s", c.name, c.hints, got, c.want)
		}
	}
}

func TestAnnotationsSetTheKind(t *testing.T) {
	tools, err := axes.LoadTools([]byte(`[{"name":"cancel_order","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]`))
	if err != nil || tools[0].Kind != record.ToolRead {
		t.Errorf("%v, %v", tools, err)
	}
}

func FuzzLoadTools(f *testing.F) {
	f.Add([]byte(`[{"type":"function","function":{"name":"a","parameters":` + schemaText + `}}]`))
	f.Add([]byte(`{"tools":[{"name":"a","inputSchema":{"$defs":{"X":{"$ref":"#/$defs/X"}},"properties":{"id":{"$ref":"#/$defs/X"}}}}]}`))
	f.Add([]byte(`{"name":"a","parameters":{"properties":{"order_id":{"type":["string","null"],"enum":["ORD-1",5,null],"description":"e.g. ORD-2"}}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		tools, err := axes.LoadTools(raw)
		if err != nil {
			return
		}
		// What loads can be used, and loads again as what it is.
		axes.KnownIDs(tools)
		axes.Preflight(tools, "")
		if _, err := axes.Build(tools, "", nil); err != nil {
			t.Errorf("build: %v", err)
		}
		for _, tool := range tools {
			again, err := record.Marshal(tool)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := axes.LoadTools(again); err != nil {
				t.Errorf("%s does not load again: %v", again, err)
			}
		}
	})
}
