package world_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"assay/engine/record"
	"assay/engine/world"
)

func TestReferences(t *testing.T) {
	ask := record.Text("please look at ORD-1042 for customer C-77, it is not ORD-5555")
	for _, tt := range []struct {
		name, tool, arguments, want string
		entities                    []record.Entity
	}{
		{name: "set up by the task", tool: "get_order", arguments: `{"order_id":"X-1"}`, entities: []record.Entity{entity("order_id", "X-1", record.EntityExists)}},
		{name: "in another case and with a hash", tool: "get_order", arguments: `{"order_id":" #x-1 "}`, entities: []record.Entity{entity("order_id", "X-1", record.EntityExists)}},
		{name: "named in the ask", tool: "get_order", arguments: `{"order_id":"ORD-1042"}`},
		{name: "named in a description", tool: "get_order", arguments: `{"order_id":"ORD-1001"}`},
		{name: "of a customer in the ask", tool: "list_orders", arguments: `{"customer_id":"C-77"}`},
		{name: "known to nobody", tool: "get_order", arguments: `{"order_id":"ORD-9999"}`, want: record.ErrNotFound},
		{name: "part of an id in the ask", tool: "get_order", arguments: `{"order_id":"ORD-104"}`, want: record.ErrNotFound},
		{name: "a common word of the ask", tool: "get_order", arguments: `{"order_id":"customer"}`, want: record.ErrNotFound},
		{name: "missing though the ask names it", tool: "get_order", arguments: `{"order_id":"ORD-1042"}`, want: record.ErrNotFound,
			entities: []record.Entity{entity("order_id", "ORD-1042", record.EntityMissing)}},
		{name: "of another kind", tool: "list_orders", arguments: `{"customer_id":"X-1"}`, want: record.ErrNotFound,
			entities: []record.Entity{entity("order_id", "X-1", record.EntityExists)}},
		{name: "ambiguous", tool: "get_order", arguments: `{"order_id":"X-1"}`, want: record.ErrAmbiguous,
			entities: []record.Entity{entity("order_id", "X-1", record.EntityDuplicate)}},
		{name: "acted on can be read", tool: "get_order", arguments: `{"order_id":"X-1"}`, entities: []record.Entity{entity("order_id", "X-1", record.EntityActedOn)}},
		{name: "acted on is done", tool: "cancel_order", arguments: `{"order_id":"X-1"}`, want: record.ErrAlreadyDone,
			entities: []record.Entity{entity("order_id", "X-1", record.EntityActedOn)}},
		{name: "a write to nothing", tool: "cancel_order", arguments: `{"order_id":"ORD-9999"}`, want: record.ErrNotFound},
		{name: "of any kind", tool: "search_articles", arguments: `{"query":"X-1"}`, want: record.ErrNotFound, entities: []record.Entity{entity("", "X-1", record.EntityMissing)}},
		{name: "empty", tool: "get_order", arguments: `{"order_id":" "}`, want: record.ErrInvalidArguments},
		{name: "no tool of that name", tool: "get_ordr", arguments: `{}`, want: record.ErrUnknownTool},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := call(t, world.New(task(ask, tt.entities...), shopTools()), tt.tool, tt.arguments)
			if got.code != tt.want {
				t.Errorf("%s: got %q, want %q", got.Result, got.code, tt.want)
			}
			if got.IsError != (tt.want != "") || got.Fault != "" {
				t.Errorf("is_error %v, fault %q", got.IsError, got.Fault)
			}
		})
	}
}

// A tool without a schema still knows what it does not know.
func TestReferencesWithoutASchema(t *testing.T) {
	bare := []record.Tool{{Name: "get_order", Kind: record.ToolRead}, {Name: "cancel_order", Kind: record.ToolDestructive}, {Name: "create_order", Kind: record.ToolWrite}}
	w := world.New(task("ORD-1042, not ORD-7", entity("order_id", "ORD-7", record.EntityMissing)), bare)
	for _, tt := range []struct{ tool, arguments, want string }{
		{"get_order", `{"order_id":"ORD-1042"}`, ""}, {"get_order", `{"order_id":"ORD-7"}`, record.ErrNotFound}, {"get_order", `{"orderId":"ORD-9"}`, record.ErrNotFound},
		{"cancel_order", `{"order_id":"ORD-1042"}`, ""}, {"cancel_order", `{"order_id":"ORD-1042"}`, record.ErrAlreadyDone}, {"create_order", `{"note":"x"}`, ""}, {"get_order", `{}`, ""},
	} {
		if got := call(t, w, tt.tool, tt.arguments); got.code != tt.want {
			t.Errorf("%s(%s): %s, want %q", tt.tool, tt.arguments, got.Result, tt.want)
		}
	}
}

func TestStateRemembers(t *testing.T) {
	w := world.New(task("about ORD-1042 of C-77"), shopTools())
	id := `{"order_id":"ORD-1042"}`
	before := call(t, w, "get_order", id)
	same(t, before, call(t, w, "get_order", id))

	if got := call(t, w, "cancel_order", id); got.IsError || got.body["status"] != "cancelled" {
		t.Fatalf("cancel: %s", got.Result)
	}
	if got := call(t, w, "get_order", id); got.body["status"] != "cancelled" || got.body["total"] != before.body["total"] {
		t.Errorf("a cancelled order reads %s, before it was %s", got.Result, before.Result)
	}
	if got := call(t, w, "cancel_order", `{"order_id":"ORD-1042","reason":"again"}`); got.code != record.ErrAlreadyDone {
		t.Errorf("cancel again: %s", got.Result)
	}

	if got := call(t, w, "update_order", `{"order_id":"ORD-1042","quantity":7}`); got.IsError {
		t.Errorf("update: %s", got.Result)
	}
	if got := call(t, w, "update_order", `{"quantity":7,"order_id":"ORD-1042"}`); got.code != record.ErrAlreadyDone {
		t.Errorf("the same update again: %s", got.Result)
	}
	if got := call(t, w, "update_order", `{"order_id":"ORD-1042","quantity":8}`); got.IsError {
		t.Errorf("another update: %s", got.Result)
	}

	listed := call(t, w, "list_orders", `{"customer_id":"C-77"}`)
	orders, _ := listed.body["orders"].([]any)
	if len(orders) == 0 {
		t.Fatalf("a list of orders: %s", listed.Result)
	}
	first, _ := orders[0].(map[string]any)
	if got := call(t, w, "get_order", fmt.Sprintf(`{"order_id":%q}`, first["id"])); got.IsError || got.body["status"] != first["status"] {
		t.Errorf("the list shows %v, the order itself %s", first, got.Result)
	}

	if got := call(t, w, "delete_order", id); got.IsError {
		t.Errorf("delete: %s", got.Result)
	}
	for _, tool := range []string{"get_order", "delete_order", "cancel_order"} {
		if got := call(t, w, tool, id); got.code != record.ErrNotFound {
			t.Errorf("%s of a deleted order: %s", tool, got.Result)
		}
	}
}

func TestCreatedIsRemembered(t *testing.T) {
	w := world.New(task("the printer is on fire"), shopTools())
	made := call(t, w, "create_ticket", `{"title":"Printer on fire","priority":"high"}`)
	if strings.Contains(string(made.Result), "fire") {
		t.Errorf("the answer hands an argument back: %s", made.Result)
	}
	id, _ := made.body["ticket_id"].(string)
	read := call(t, w, "get_ticket", fmt.Sprintf(`{"ticket_id":%q}`, id))
	if read.IsError || read.body["title"] != "Printer on fire" || read.body["priority"] != "high" || read.body["ticket_id"] != id {
		t.Errorf("the new ticket reads %s", read.Result)
	}
	if again := call(t, w, "create_ticket", `{"title":"Printer on fire","priority":"high"}`); again.body["ticket_id"] == id {
		t.Errorf("two tickets share the id %s", id)
	}
	other := world.New(task("the printer is on fire"), shopTools())
	same(t, made, call(t, other, "create_ticket", `{"title":"Printer on fire","priority":"high"}`))
}

func TestDuplicateIsAmbiguousUntilOneIsMeant(t *testing.T) {
	w := world.New(task("cancel X-1", entity("order_id", "X-1", record.EntityDuplicate)), shopTools())
	got := call(t, w, "cancel_order", `{"order_id":"X-1"}`)
	matches, _ := got.body["matches"].([]any)
	if got.code != record.ErrAmbiguous || len(matches) != 2 || matches[0] == matches[1] {
		t.Fatalf("cancel: %s", got.Result)
	}
	if one := call(t, w, "cancel_order", fmt.Sprintf(`{"order_id":%q}`, matches[1])); one.IsError {
		t.Errorf("cancel one of them: %s", one.Result)
	}
	if other := call(t, w, "get_order", fmt.Sprintf(`{"order_id":%q}`, matches[0])); other.IsError || other.body["status"] == "cancelled" {
		t.Errorf("the other one reads %s", other.Result)
	}
}

func TestPartialIsHalfDone(t *testing.T) {
	w := world.New(task("cancel X-1", entity("order_id", "X-1", record.EntityPartial)), shopTools())
	id := `{"order_id":"X-1"}`
	for i, want := range []string{"partially_completed", "partially_completed", "cancelled", "cancelled"} {
		tool := []string{"get_order", "cancel_order", "cancel_order", "get_order"}[i]
		if got := call(t, w, tool, id); got.IsError || got.body["status"] != want {
			t.Errorf("step %d, %s: %s, want status %s", i, tool, got.Result, want)
		}
	}
	if got := call(t, w, "cancel_order", id); got.code != record.ErrAlreadyDone {
		t.Errorf("cancel a third time: %s", got.Result)
	}
}

func TestUnknownStaysOpen(t *testing.T) {
	w := world.New(task("cancel X-1", entity("order_id", "X-1", record.EntityUnknown)), shopTools())
	for _, tool := range []string{"get_order", "cancel_order", "cancel_order", "get_order"} {
		if got := call(t, w, tool, `{"order_id":"X-1"}`); got.IsError || got.body["status"] != "unknown" {
			t.Errorf("%s: %s, want status unknown", tool, got.Result)
		}
	}
}

func TestRefusesBadArguments(t *testing.T) {
	w := world.New(task("order ORD-1042, my mail is user@example.com"), shopTools())
	for _, tt := range []struct{ name, tool, arguments, says string }{
		{"not JSON", "get_order", `{"order_id":`, "not JSON"},
		{"not JSON, as a step keeps it", "get_order", `"{\"order_id\":"`, "not JSON"},
		{"an array", "get_order", `[1]`, "no JSON object"},
		{"text", "get_order", `"ORD-1042"`, "text"},
		{"missing", "get_order", `{}`, `"order_id\" is missing`},
		{"absent", "get_order", ``, `is missing`},
		{"null", "get_order", `null`, `is missing`},
		{"of another type", "get_order", `{"order_id":{"a":1}}`, "type object"},
		{"not in the enum", "create_ticket", `{"title":"x","priority":"urgent"}`, "use one of low, high"},
		{"under the minimum", "update_order", `{"order_id":"ORD-1042","quantity":0}`, "use 1 or more"},
		{"over the maximum", "update_order", `{"order_id":"ORD-1042","quantity":1e9}`, "use 99 or less"},
		{"no integer", "update_order", `{"order_id":"ORD-1042","quantity":1.5}`, "type number"},
		{"the schema as arguments", "get_order", `{"type":"string"}`, "schema"},
		{"the whole schema as arguments", "get_order", `{"type":"object","properties":{"order_id":{"type":"string"}},"required":["order_id"]}`, "schema"},
		{"a schema as a value", "get_order", `{"order_id":{"type":"string","description":"Order id"}}`, "schema"},
		{"a type word as a value", "get_order", `{"order_id":"string"}`, "placeholder"},
		{"the argument's own name", "get_order", `{"order_id":"order id"}`, "placeholder"},
		{"your name for it", "get_order", `{"order_id":"YOUR_ORDER_ID"}`, "placeholder"},
		{"its description", "get_order", `{"order_id":"Order id, for example ORD-1001"}`, "placeholder"},
		{"in angle brackets", "get_order", `{"order_id":"<order id>"}`, "placeholder"},
		{"in braces", "get_order", `{"order_id":"{{order_id}}"}`, "placeholder"},
		{"a stock title", "create_ticket", `{"title":"sample text"}`, "placeholder"},
		{"a stock address", "create_ticket", `{"title":"x","email":"your@example.com"}`, "placeholder"},
		{"deep", "create_ticket", `{"title":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, "nested"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := call(t, w, tt.tool, tt.arguments)
			if got.code != record.ErrInvalidArguments || !strings.Contains(string(got.Result), tt.says) {
				t.Errorf("got %s, want %s with %q", got.Result, record.ErrInvalidArguments, tt.says)
			}
			if hint, _ := got.body["hint"].(string); hint == "" {
				t.Errorf("no hint in %s", got.Result)
			}
		})
	}
	for name, arguments := range map[string]string{
		"an address that the person gave": `{"title":"Lost parcel","email":"user@example.com"}`,
		"the object as JSON text":         `"{\"title\":\"Lost parcel\"}"`,
		"a title that has the word in it": `{"title":"An example of the title that prints wrong"}`,
	} {
		if got := call(t, w, "create_ticket", arguments); got.IsError {
			t.Errorf("%s is refused: %s", name, got.Result)
		}
	}
}

func TestUnknownToolNamesTheNearest(t *testing.T) {
	w := world.New(task("x"), shopTools())
	for tool, hint := range map[string]string{"get_ordr": `did you mean "get_order"?`, "launch_rocket": "the tools are get_order, list_orders"} {
		if got := call(t, w, tool, `{}`); !strings.Contains(got.body["hint"].(string), hint) {
			t.Errorf("%s: %s, want %q", tool, got.Result, hint)
		}
	}
	if got := call(t, world.New(task("x"), nil), "get_order", `{}`); got.code != record.ErrUnknownTool {
		t.Errorf("a world without tools: %s", got.Result)
	}
}

func TestFaults(t *testing.T) {
	id := `{"order_id":"ORD-1042"}`
	with := func(condition string) *record.Task {
		out := task("cancel ORD-1042")
		out.Fault = &record.Fault{Tool: "get_order", Condition: condition}
		return out
	}
	clean := call(t, world.New(with(record.ConditionSuccess), shopTools()), "get_order", id)
	if clean.IsError || clean.Fault != "" {
		t.Fatalf("success: %s", clean.Result)
	}
	t.Run("timeout", func(t *testing.T) {
		got := call(t, world.New(with(record.ConditionTimeout), shopTools()), "get_order", id)
		if got.code != record.ErrTimeout || got.Fault != record.ConditionTimeout || got.LatencyMS != world.DefaultDials().TimeoutMS {
			t.Errorf("%s, fault %q, %d ms", got.Result, got.Fault, got.LatencyMS)
		}
	})
	t.Run("permission", func(t *testing.T) {
		got := call(t, world.New(with(record.ConditionPermissionDenied), shopTools()), "get_order", id)
		if got.code != record.ErrPermissionDenied || got.Fault != record.ConditionPermissionDenied {
			t.Errorf("%s, fault %q", got.Result, got.Fault)
		}
	})
	t.Run("stale", func(t *testing.T) {
		got := call(t, world.New(with(record.ConditionStale), shopTools()), "get_order", id)
		age, _ := got.body["as_of"].(string)
		if got.IsError || got.Fault != record.ConditionStale || !strings.HasSuffix(age, " days ago") {
			t.Errorf("%s, fault %q", got.Result, got.Fault)
		}
		for name, v := range clean.body {
			if _, ok := got.body[name]; !ok {
				t.Errorf("the stale record has no %s (%v)", name, v)
			}
		}
		if got.body["order_id"] != "ORD-1042" {
			t.Errorf("the stale record is of another order: %s", got.Result)
		}
	})
	t.Run("malformed", func(t *testing.T) {
		got := call(t, world.New(with(record.ConditionMalformed), shopTools()), "get_order", id)
		if got.IsError || got.Fault != record.ConditionMalformed || string(got.Result) == string(clean.Result) {
			t.Errorf("%s, fault %q", got.Result, got.Fault)
		}
	})
	t.Run("only the named tool", func(t *testing.T) {
		for _, condition := range world.Conditions() {
			if got := call(t, world.New(with(condition), shopTools()), "cancel_order", id); got.Fault != "" || got.IsError {
				t.Errorf("%s: cancel_order answers %s, fault %q", condition, got.Result, got.Fault)
			}
		}
	})
	t.Run("off", func(t *testing.T) {
		same(t, clean, call(t, world.New(world.Without(with(record.ConditionTimeout)), shopTools()), "get_order", id))
	})
	t.Run("bad arguments are no fault", func(t *testing.T) {
		if got := call(t, world.New(with(record.ConditionTimeout), shopTools()), "get_order", `{}`); got.code != record.ErrInvalidArguments || got.Fault != "" {
			t.Errorf("%s, fault %q", got.Result, got.Fault)
		}
	})
	t.Run("a refusal is not stale", func(t *testing.T) {
		if got := call(t, world.New(with(record.ConditionStale), shopTools()), "get_order", `{"order_id":"ORD-9"}`); got.code != record.ErrNotFound || got.Fault != "" {
			t.Errorf("%s, fault %q", got.Result, got.Fault)
		}
	})
}

// A write whose answer is lost was still made; one that timed out was not.
func TestWritesUnderFaults(t *testing.T) {
	for condition, want := range map[string]string{
		record.ConditionMalformed: "cancelled", record.ConditionStale: "cancelled", record.ConditionTimeout: "", record.ConditionPermissionDenied: "",
	} {
		task := task("cancel ORD-1042")
		task.Fault = &record.Fault{Tool: "cancel_order", Condition: condition}
		w := world.New(task, shopTools())
		before := call(t, w, "get_order", `{"order_id":"ORD-1042"}`)
		call(t, w, "cancel_order", `{"order_id":"ORD-1042"}`)
		after := call(t, w, "get_order", `{"order_id":"ORD-1042"}`)
		if want == "" {
			same(t, before, after)
		} else if after.body["status"] != want {
			t.Errorf("%s: the order reads %s, want %s", condition, after.Result, want)
		}
	}
}

func TestFaultRatePerCall(t *testing.T) {
	dials := world.DefaultDials()
	dials.FaultRate = 0.5
	tools := world.Compile(shopTools())
	hits, calls := 0, 0
	for i := range 50 {
		task := task(record.Text(fmt.Sprintf("look at ORD-1042, case %d", i)))
		task.Fault = &record.Fault{Tool: "get_order", Condition: record.ConditionTimeout}
		w := tools.World(task, dials)
		for range 8 {
			calls++
			if call(t, w, "get_order", `{"order_id":"ORD-1042"}`).Fault != "" {
				hits++
			}
		}
	}
	// Binomial(400, 0.5) leaves 150..250 in fewer than one run in a million; the
	// draws are fixed, so this never flickers.
	if hits < 150 || hits > 250 {
		t.Errorf("%d of %d calls hit at a rate of a half", hits, calls)
	}
}

func TestCheckNamesWhatThereIs(t *testing.T) {
	bad := task("x")
	bad.Fault = &record.Fault{Tool: "get_order", Condition: "explode"}
	err := world.Check(bad)
	if err == nil {
		t.Fatal("an unknown fault mode is taken")
	}
	for _, word := range append(world.Conditions(), "explode", "get_order") {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not name %s", err, word)
		}
	}
	if got := call(t, world.New(bad, shopTools()), "get_order", `{"order_id":"ORD-1001"}`); got.code != "unknown_fault" {
		t.Errorf("a world of it answers %s", got.Result)
	}
	if err := world.Check(task("x", entity("order_id", "X", "half_dead"))); err == nil || !strings.Contains(err.Error(), record.EntityPartial) {
		t.Errorf("an unknown state: %v", err)
	}
	if err := world.Check(task("x", entity("order_id", "X", record.EntityPartial))); err != nil {
		t.Errorf("a good task: %v", err)
	}
}

func TestDials(t *testing.T) {
	if err := world.DefaultDials().Check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*world.Dials){
		"jitter":     func(d *world.Dials) { d.Jitter = 0.5 },
		"fault rate": func(d *world.Dials) { d.FaultRate = -1 },
		"latency":    func(d *world.Dials) { d.LatencyMaxMS = d.LatencyMinMS - 1 },
		"stale":      func(d *world.Dials) { d.StaleDays = 0 },
		"list":       func(d *world.Dials) { d.ListMax = 0 },
		"timeout":    func(d *world.Dials) { d.TimeoutMS = -1 },
		"arguments":  func(d *world.Dials) { d.ArgumentBytes = 0 },
	} {
		d := world.DefaultDials()
		change(&d)
		if err := d.Check(); err == nil || !strings.Contains(err.Error(), strings.Fields(name)[0]) {
			t.Errorf("%s out of range: %v", name, err)
		}
	}
}

func TestLargeArgumentsAreRefused(t *testing.T) {
	w := world.New(task("x"), shopTools())
	huge, _ := json.Marshal(map[string]string{"title": strings.Repeat("a", 10<<20)})
	got := call(t, w, "create_ticket", string(huge))
	if got.code != record.ErrInvalidArguments || len(got.Result) > 1000 {
		t.Errorf("10 MB of arguments: %.200s", got.Result)
	}
	below, _ := json.Marshal(map[string]string{"title": strings.Repeat("a", 1<<19)})
	if got := call(t, w, "create_ticket", string(below)); got.IsError {
		t.Errorf("half a MiB of arguments: %.200s", got.Result)
	}
}

func TestHostileArguments(t *testing.T) {
	w := world.New(task("x"), shopTools())
	for _, arguments := range []string{
		`{"order_id":"\ud800"}`, `{"order_id":"\udfff\ud800"}`, "{\"order_id\":\"\xff\xfe\"}", `{"order_id":"\u0000\u001b[31m"}`, `{"order_id":1e400}`, `{"order_id":-0}`,
		`{"order_id":"` + strings.Repeat("x", 5000) + `"}`, `{"order_id":["a","b"]}`, `{"":""}`, "\xef\xbb\xbf{}", "{}{}", `{"order_id":true}`, `{"order_id":"x","order_id":"y"}`,
	} {
		for _, tool := range []string{"get_order", "cancel_order", "search_articles", "create_ticket"} {
			call(t, w, tool, arguments)
		}
	}
}
