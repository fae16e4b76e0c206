package world_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"assay/engine/record"
	"assay/engine/world"
)

// tool makes one with text arguments, or "name:type" ones.
func tool(name, description string, kind record.ToolKind, arguments ...string) record.Tool {
	properties := map[string]any{}
	for _, a := range arguments {
		n, typ, ok := strings.Cut(a, ":")
		if !ok {
			typ = "string"
		}
		properties[n] = map[string]any{"type": typ}
	}
	raw, _ := json.Marshal(map[string]any{"type": "object", "properties": properties})
	return record.Tool{Name: name, Description: description, Kind: kind, Parameters: raw}
}

// Without a result schema the name and the description say what a record has.
func TestRecordsByName(t *testing.T) {
	for _, tt := range []struct {
		tool      record.Tool
		arguments string
		want      string // members, sorted
	}{
		{tool("get_user_details", "Get the details of a user.", record.ToolRead, "user_id"), `{"user_id":"U-1"}`, "created_at email name status user_id"},
		{tool("getOrderStatus", "Returns the order's status, its items and the estimated delivery date.", record.ToolRead, "orderId"), `{"orderId":"U-1"}`, "estimated_delivery_date items orderId status"},
		{tool("get_account_balance", "Returns the current balance of an account.", record.ToolRead, "account_id"), `{"account_id":"U-1"}`, "account_id balance currency"},
		{tool("get_weather", "Current weather.", record.ToolRead, "city"), `{"city":"Oslo"}`, "conditions humidity_percent temperature"},
		{tool("list_orders", "", record.ToolRead), `{}`, "orders"},
		{tool("restart_service", "", record.ToolDestructive, "service"), `{"service":"U-1"}`, "service status updated_at"},
		{tool("book_flight", "", record.ToolWrite, "flight_id"), `{"flight_id":"U-1"}`, "confirmation_id created_at flight_id status"},
		{tool("send_email", "", record.ToolWrite, "to", "subject"), `{"to":"ann@post.test","subject":"Hi"}`, "created_at email_id status"},
		{tool("think", "", record.ToolRead, "thought"), `{"thought":"hm"}`, "ok"},
		{tool("frobnicate", "", record.ToolRead, "x"), `{"x":"1"}`, "summary updated_at"},
	} {
		w := world.New(task("U-1"), []record.Tool{tt.tool})
		got := call(t, w, tt.tool.Name, tt.arguments)
		if members := strings.Join(slices.Sorted(maps.Keys(got.body)), " "); members != tt.want {
			t.Errorf("%s has %q, want %q: %s", tt.tool.Name, members, tt.want, got.Result)
		}
	}
}

// A record is about one person, wherever its parts stand.
func TestRecordIsOfOnePerson(t *testing.T) {
	w := world.New(task("U-1"), []record.Tool{tool("get_user", "Returns first_name, last_name, name and email.", record.ToolRead, "user_id")})
	got := call(t, w, "get_user", `{"user_id":"U-1"}`)
	first, last := got.body["first_name"].(string), got.body["last_name"].(string)
	if got.body["name"] != first+" "+last || got.body["email"] != strings.ToLower(first+"."+last)+"@mail.example" {
		t.Errorf("%s", got.Result)
	}
}

// Two tools that show one entity agree on it.
func TestOneEntityOneValue(t *testing.T) {
	tools := []record.Tool{
		tool("get_order", "Returns the status, total and currency.", record.ToolRead, "order_id"),
		tool("get_order_total", "Returns the total and the status.", record.ToolRead, "order_number"),
	}
	w := world.New(task("X-1", entity("order_id", "X-1", record.EntityExists)), tools)
	a, b := call(t, w, "get_order", `{"order_id":"X-1"}`), call(t, w, "get_order_total", `{"order_number":"x-1"}`)
	for _, member := range []string{"status", "total"} {
		if a.body[member] == nil || a.body[member] != b.body[member] {
			t.Errorf("%s differs: %s and %s", member, a.Result, b.Result)
		}
	}
}

// Other tasks have other worlds, and the same task the same on another day.
func TestWorldIsOfItsTask(t *testing.T) {
	answers := map[string]bool{}
	for i := range 20 {
		got := call(t, world.New(task(record.Text(fmt.Sprintf("ORD-1042, case %d", i))), shopTools()), "get_order", `{"order_id":"ORD-1042"}`)
		answers[string(got.Result)] = true
	}
	if len(answers) < 15 {
		t.Errorf("20 tasks have %d different answers", len(answers))
	}
	// Pinned: this answer changes only with the generator's version.
	got := call(t, world.New(&record.Task{ID: "0123456789abcdef", Ask: "ORD-1042"}, shopTools()), "get_order", `{"order_id":"ORD-1042"}`)
	const want = `{"order_id":"ORD-1042","status":"confirmed","total":87.46,"delivery_date":"2026-02-02"}`
	if string(got.Result) != want || got.LatencyMS != 184 {
		t.Errorf("got %s, %d ms\nwant %s", got.Result, got.LatencyMS, want)
	}
}

func TestWhatIsWrittenByName(t *testing.T) {
	tools := []record.Tool{
		tool("write_file", "Write a file.", record.ToolWrite, "path", "content"), tool("read_file", "Read a file.", record.ToolRead, "path"), tool("delete_file", "Delete a file.", record.ToolDestructive, "path"),
	}
	w := world.New(task("keep a note"), tools)
	path := `{"path":"/srv/note.txt"}`
	if got := call(t, w, "read_file", path); got.code != record.ErrNotFound {
		t.Errorf("before it is written: %s", got.Result)
	}
	if got := call(t, w, "write_file", `{"path":"/srv/note.txt","content":"milk and eggs"}`); got.IsError || got.body["path"] != "/srv/note.txt" || strings.Contains(string(got.Result), "milk") {
		t.Errorf("write: %s", got.Result)
	}
	if got := call(t, w, "read_file", path); got.body["content"] != "milk and eggs" {
		t.Errorf("read: %s", got.Result)
	}
	call(t, w, "write_file", `{"path":"/srv/note.txt","content":"only milk"}`)
	if got := call(t, w, "read_file", path); got.body["content"] != "only milk" {
		t.Errorf("read what was written again: %s", got.Result)
	}
	call(t, w, "delete_file", path)
	if got := call(t, w, "read_file", path); got.code != record.ErrNotFound {
		t.Errorf("after it was deleted: %s", got.Result)
	}
}

// A name for a new record is looked up only where the task says how it stands.
func TestNewNamesThatTheTaskSetsUp(t *testing.T) {
	write := []record.Tool{tool("write_file", "Write a file.", record.ToolWrite, "path", "content")}
	for state, want := range map[string]string{
		record.EntityExists: "", record.EntityMissing: "", record.EntityUnknown: "", record.EntityPartial: "", record.EntityActedOn: record.ErrAlreadyDone, record.EntityDuplicate: record.ErrAmbiguous,
	} {
		w := world.New(task("x", entity("path", "/a", state)), write)
		if got := call(t, w, "write_file", `{"path":"/a","content":"milk"}`); got.code != want {
			t.Errorf("%s: %s, want %q", state, got.Result, want)
		}
	}
}

func TestCalculatorCalculates(t *testing.T) {
	tools := []record.Tool{tool("calculate", "Calculate an expression.", record.ToolRead, "expression")}
	w := world.New(task("x"), tools)
	for expression, want := range map[string]float64{
		"2+2": 4, "2 + 3 * 4": 14, "(2+3)*4": 20, "10/4": 2.5, "-3 - -4": 1, "1,250.50 * 2": 2501, "2*(3+(4-1))": 12, "$5 + $7": 12, "8/2/2": 2,
	} {
		raw, _ := json.Marshal(map[string]string{"expression": expression})
		if got := call(t, w, "calculate", string(raw)); got.body["result"] != want {
			t.Errorf("%s: %s, want %g", expression, got.Result, want)
		}
	}
	for _, expression := range []string{"", "2+", "(2", "1/0", "2**3", "os.exit()", "two", strings.Repeat("(", 900)} {
		raw, _ := json.Marshal(map[string]string{"expression": expression})
		if got := call(t, w, "calculate", string(raw)); got.code != record.ErrInvalidArguments {
			t.Errorf("%.20s: %s", expression, got.Result)
		}
	}
}

// The statuses of an enum follow the state of the world, in the enum's own words.
func TestEnumStatusFollowsTheState(t *testing.T) {
	get := tool("get_order", "", record.ToolRead, "order_id")
	get.Returns = json.RawMessage(`{"type":"object","properties":{"status":{"enum":["OPEN","PARTIAL","CANCELED","UNKNOWN"]}}}`)
	cancel := tool("cancel_order", "", record.ToolDestructive, "order_id")
	for state, want := range map[string]string{
		record.EntityExists: "OPEN", record.EntityActedOn: "CANCELED", record.EntityPartial: "PARTIAL", record.EntityUnknown: "UNKNOWN",
	} {
		w := world.New(task("X-1", entity("order_id", "X-1", state)), []record.Tool{get, cancel})
		if got := call(t, w, "get_order", `{"order_id":"X-1"}`); got.body["status"] != want {
			t.Errorf("%s: %s, want %s", state, got.Result, want)
		}
	}
}

// A half-done write can be seen to be one, whatever shape the user gave.
func TestPartialIsSeenInGivenShapes(t *testing.T) {
	for name, returns := range map[string]string{
		"a switch":   `{"success":true}`,
		"a status":   `{"state":"done"}`,
		"no sign":    `{"reference":"R-1"}`,
		"nothing":    `{}`,
		"bool shape": `{"type":"object","properties":{"ok":{"type":"boolean"}}}`,
	} {
		cancel := tool("cancel_order", "", record.ToolDestructive, "order_id")
		cancel.Returns = json.RawMessage(returns)
		w := world.New(task("X-1", entity("order_id", "X-1", record.EntityPartial)), []record.Tool{cancel})
		first, second := call(t, w, "cancel_order", `{"order_id":"X-1"}`), call(t, w, "cancel_order", `{"order_id":"X-1"}`)
		if string(first.Result) == string(second.Result) || first.IsError || second.IsError {
			t.Errorf("%s: half done reads %s, done %s", name, first.Result, second.Result)
		}
	}
}
