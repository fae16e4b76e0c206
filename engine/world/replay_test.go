package world_test

import (
	"encoding/json"
	"testing"

	"assay/engine/record"
	"assay/engine/world"
)

// recorded plays calls and keeps them as steps.
func recorded(w *world.World, calls ...record.ToolCall) []record.Step {
	var steps []record.Step
	for _, c := range calls {
		r := w.Call(c)
		steps = append(steps, record.Step{Kind: record.StepText, Text: "next"},
			record.Step{Kind: record.StepTool, Tool: c.Tool, Arguments: c.Arguments, Result: r.Result, IsError: r.IsError, Fault: r.Fault, LatencyMS: r.LatencyMS})
	}
	return steps
}

func TestReplay(t *testing.T) {
	order := json.RawMessage(`{"order_id":"ORD-1042"}`)
	calls := []record.ToolCall{{Tool: "get_order", Arguments: order}, {Tool: "cancel_order", Arguments: order}, {Tool: "get_order", Arguments: order}, {Tool: "cancel_order", Arguments: order}}
	task := task("cancel ORD-1042")
	task.Fault = &record.Fault{Tool: "cancel_order", Condition: record.ConditionTimeout}
	steps := recorded(world.New(task, shopTools()), calls...)
	again := world.Replay(world.New(task, shopTools()), steps)
	if len(again) != 4 {
		t.Fatalf("%d calls replayed", len(again))
	}
	for _, r := range again {
		if !r.Same() {
			t.Errorf("step %d: %s, then %s", r.Step, r.Before.Result, r.After.Result)
		}
	}
	clean := world.Replay(world.New(world.Without(task), shopTools()), steps)
	for i, want := range []bool{true, false, false, false} {
		if clean[i].Same() != want {
			t.Errorf("without the fault call %d answers %s, before %s", i, clean[i].After.Result, clean[i].Before.Result)
		}
	}
}
