package world_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assay/engine/record"
	"assay/engine/world"
)

// What a careful user expects of the world, W1 to W10. W1, W2 and W6 are
// properties (property_test.go); W9 is about a whole run and is tested with the
// program.

// W3: a stale result is a real record that carries its age: what it shows of the
// thing's name and kind is what the fresh one shows, and what time changes may
// differ.
func TestW3StaleIsARecordWithItsAge(t *testing.T) {
	age := regexp.MustCompile(`^[2-9] days ago$`)
	differ := 0
	for i := range 40 {
		id := fmt.Sprintf("ORD-%d", 2000+i)
		clean := task(record.Text("how is "+id), entity("order_id", id, record.EntityExists))
		stale := *clean
		stale.Fault = &record.Fault{Tool: "get_order", Condition: record.ConditionStale}
		arguments := fmt.Sprintf(`{"order_id":%q}`, id)
		fresh, old := call(t, world.New(clean, shopTools()), "get_order", arguments), call(t, world.New(&stale, shopTools()), "get_order", arguments)
		said, _ := old.body["as_of"].(string)
		if old.IsError || old.Fault != record.ConditionStale || !age.MatchString(said) || old.body["error"] != nil {
			t.Fatalf("%s: %s, error %v, fault %q", id, old.Result, old.IsError, old.Fault)
		}
		if old.body["order_id"] != id {
			t.Errorf("%s: the stale record is of %v", id, old.body["order_id"])
		}
		for name := range fresh.body {
			if _, has := old.body[name]; !has {
				t.Errorf("%s: the stale record %s has no %s", id, old.Result, name)
			}
		}
		if fresh.body["status"] != old.body["status"] || fresh.body["total"] != old.body["total"] {
			differ++
		}
	}
	if differ == 0 {
		t.Error("no stale record shows anything that is out of date")
	}
}

// W4: an id that nobody named is not found, by reads and writes alike; one that
// the ask took from the known ids is there.
func TestW4UnknownIDsAreNotFoundAndKnownOnesAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		known := rapid.StringMatching(`[A-Z]{2,4}-[0-9]{3,6}`).Draw(t, "known")
		unknown := rapid.StringMatching(`[A-Z]{2,4}-[0-9]{3,6}`).Filter(func(s string) bool {
			return s != known && s != "ORD-1001" && !strings.Contains(known, s) && !strings.Contains(s, known)
		}).Draw(t, "unknown")
		var w *world.World
		if rapid.Bool().Draw(t, "set up") {
			w = world.New(task("x", entity("order_id", known, record.EntityExists)), shopTools())
		} else {
			w = world.New(task(record.Text("what of "+known+"?")), shopTools())
		}
		for _, tool := range []string{"get_order", "cancel_order", "update_order", "delete_order"} {
			got := w.Call(record.ToolCall{Tool: tool, Arguments: json.RawMessage(fmt.Sprintf(`{"order_id":%q}`, unknown))})
			var body record.ToolError
			if json.Unmarshal(got.Result, &body) != nil || !got.IsError || body.Error != record.ErrNotFound {
				t.Fatalf("%s(%s) where %s is known: %s", tool, unknown, known, got.Result)
			}
		}
		if got := w.Call(record.ToolCall{Tool: "get_order", Arguments: json.RawMessage(fmt.Sprintf(`{"order_id":%q}`, known))}); got.IsError {
			t.Fatalf("%s is known: %s", known, got.Result)
		}
	})
}

// W5: a schema echoed back is a bad call: nothing is done, and the refusal says
// what to send.
func TestW5SchemaAsArgumentsIsABadCall(t *testing.T) {
	for _, tool := range shopTools() {
		for _, arguments := range []string{`{"type":"string"}`, string(tool.Parameters)} {
			w := world.New(task("about ORD-1001 of C-77"), shopTools())
			got := call(t, w, tool.Name, arguments)
			if got.code != record.ErrInvalidArguments || got.body["hint"] == "" {
				t.Errorf("%s(%s): %s", tool.Name, arguments, got.Result)
			}
			fresh := world.New(task("about ORD-1001 of C-77"), shopTools())
			same(t, call(t, fresh, "get_order", `{"order_id":"ORD-1001"}`), call(t, w, "get_order", `{"order_id":"ORD-1001"}`))
		}
	}
}

// W7: a fault mode that there is not is an error that names those there are, and
// every one that it names is played.
func TestW7UnknownFaultModeNamesTheValidOnes(t *testing.T) {
	bad := task("x")
	bad.Fault = &record.Fault{Tool: "get_order", Condition: "timeot"}
	err := world.Check(bad)
	if err == nil || !strings.Contains(err.Error(), `"timeot"`) {
		t.Fatalf("%v", err)
	}
	for _, mode := range world.Conditions() {
		if !strings.Contains(err.Error(), mode) {
			t.Errorf("%q does not name %s", err, mode)
		}
		good := task("about ORD-1042")
		good.Fault = &record.Fault{Tool: "get_order", Condition: mode}
		if err := world.Check(good); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
		got := call(t, world.New(good, shopTools()), "get_order", `{"order_id":"ORD-1042"}`)
		if want := mode; mode != record.ConditionSuccess && got.Fault != want || mode == record.ConditionSuccess && got.Fault != "" {
			t.Errorf("%s is played as %q", mode, got.Fault)
		}
	}
}

// toolStep is one call of a tool, as a rollout keeps it.
func toolStep(tool, code, fault string) record.Step {
	s := record.Step{Kind: record.StepTool, Tool: tool, Result: json.RawMessage(`{}`), Fault: fault}
	if code != "" {
		s.IsError, s.Result = true, json.RawMessage(fmt.Sprintf(`{"error":%q}`, code))
	}
	return s
}

// W8: calls that an injected fault shaped are counted apart, whatever the fault.
func TestW8InjectedFaultsAreNotHeldAgainstTheTool(t *testing.T) {
	for _, mode := range world.Conditions()[1:] {
		task := task("about ORD-1042")
		task.Fault = &record.Fault{Tool: "get_order", Condition: mode}
		var tally world.Tally
		for range 30 {
			tally.Add(recorded(world.New(task, shopTools()), record.ToolCall{Tool: "get_order", Arguments: json.RawMessage(`{"order_id":"ORD-1042"}`)}))
		}
		if uses := tally.Uses(); len(uses) != 1 || uses[0] != (world.ToolUse{Tool: "get_order", Faulted: 30}) || len(tally.Dead()) != 0 {
			t.Errorf("%s: %+v", mode, uses)
		}
	}
	var tally world.Tally
	for range 30 { // faults neither hide a dead tool nor kill a living one
		tally.Add([]record.Step{toolStep("dead", record.ErrNotFound, ""), toolStep("dead", "", record.ConditionStale), toolStep("alive", "", ""), toolStep("alive", record.ErrTimeout, record.ConditionTimeout)})
	}
	if dead := tally.Dead(); len(dead) != 1 || dead[0] != (world.ToolUse{Tool: "dead", Calls: 30, Faulted: 30, Mostly: record.ErrNotFound}) {
		t.Errorf("%+v", dead)
	}
}

// W10: dead is a tool with three calls or more whose Wilson upper end of success
// lies under 0.30. The ends are those of an independent calculation (Wilson 1927,
// z = 1.96): 0 of 8 0.324, 0 of 9 0.299, 1 of 16 0.283, 1 of 15 0.298, 1 of 14
// 0.315, 5 of 34 0.301, 5 of 35 0.294.
func TestW10DeadToolNeedsCallsAndALowUpperEnd(t *testing.T) {
	for _, tt := range []struct {
		succeeded, calls int
		dead             bool
	}{{0, 0, false}, {0, 2, false}, {0, 3, false}, {0, 8, false}, {0, 9, true}, {1, 14, false}, {1, 15, true}, {1, 16, true}, {5, 34, false}, {5, 35, true}, {30, 300, true}, {100, 300, false}} {
		use := world.ToolUse{Tool: "x", Calls: tt.calls, Succeeded: tt.succeeded}
		if use.Dead() != tt.dead {
			t.Errorf("%d of %d: dead %v", tt.succeeded, tt.calls, use.Dead())
		}
		var tally world.Tally
		for i := range tt.calls {
			code := record.ErrInvalidArguments
			if i < tt.succeeded {
				code = ""
			}
			tally.Add([]record.Step{toolStep("x", code, ""), toolStep("no_such_tool", record.ErrUnknownTool, "")})
		}
		if len(tally.Dead()) == 1 != tt.dead {
			t.Errorf("%d of %d: the report is %+v", tt.succeeded, tt.calls, tally.Dead())
		}
	}
}

func TestTallySaysWhatMostlyWentWrong(t *testing.T) {
	var tally world.Tally
	for _, code := range []string{"b", "a", "", "b", "a", "c"} {
		s := toolStep("x", code, "")
		s.IsError = true
		tally.Add([]record.Step{s})
	}
	if uses := tally.Uses(); uses[0].Mostly != "a" || uses[0].Calls != 6 || uses[0].Succeeded != 0 {
		t.Errorf("%+v", uses)
	}
}

// An agent that makes tools up without end fills no memory.
func TestTallyIsBounded(t *testing.T) {
	var tally world.Tally
	tally.Add([]record.Step{toolStep("real", "", "")})
	for i := range 5000 {
		tally.Add([]record.Step{toolStep(fmt.Sprintf("made_up_%d", i), fmt.Sprintf("error_%d", i), ""), toolStep("real", fmt.Sprintf("error_%d", i), "")})
	}
	uses := tally.Uses()
	at := slices.IndexFunc(uses, func(u world.ToolUse) bool { return u.Tool == "real" })
	if len(uses) > 1000 || at < 0 || uses[at].Calls != 5001 {
		t.Errorf("%d tools are remembered", len(uses))
	}
}

// Whatever an agent sends, a rollout that is replayed meets what it met. Steps
// keep arguments that are no JSON as a JSON string.
func TestReplayOfAnyArguments(t *testing.T) {
	tools := world.Compile(shopTools())
	rapid.Check(t, func(t *rapid.T) {
		task := task("about ORD-1042 of C-77")
		if c := rapid.SampledFrom(world.Conditions()).Draw(t, "condition"); c != record.ConditionSuccess {
			task.Fault = &record.Fault{Tool: rapid.SampledFrom(shopTools()).Draw(t, "faulted").Name, Condition: c}
		}
		w := tools.World(task, world.DefaultDials())
		var steps []record.Step
		for range rapid.IntRange(1, 8).Draw(t, "calls") {
			raw := json.RawMessage(rapid.OneOf(
				rapid.SampledFrom([]string{`{"order_id":"ORD-1042"}`, `{"customer_id":"C-77"}`, `{"title":"It broke"}`, `{"order_id":`, ``, `null`, `"{}"`, `[`, "\xff", `{"a":1}{"b":2}`, `{"order_id":"ORD-1042","quantity":3}`}),
				rapid.String()).Draw(t, "arguments"))
			c := record.ToolCall{Tool: rapid.SampledFrom(shopTools()).Draw(t, "tool").Name, Arguments: raw}
			r := w.Call(c)
			kept := raw
			switch {
			case len(raw) == 0:
				kept = nil
			case !json.Valid(raw):
				kept, _ = record.Text(raw).MarshalJSON()
			}
			steps = append(steps, record.Step{Kind: record.StepTool, Tool: c.Tool, Arguments: kept, Result: r.Result, IsError: r.IsError, Fault: r.Fault, LatencyMS: r.LatencyMS})
		}
		for _, r := range world.Replay(tools.World(task, world.DefaultDials()), steps) {
			if !r.Same() {
				t.Fatalf("step %d, %s(%s): %s, then %s", r.Step, steps[r.Step].Tool, steps[r.Step].Arguments, r.Before.Result, r.After.Result)
			}
		}
	})
}
