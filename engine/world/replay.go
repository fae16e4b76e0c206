package world

import (
	"bytes"

	"assay/engine/record"
)

// Replayed is one tool call asked again.
type Replayed struct {
	Step   int // index into the steps
	Before record.ToolResult
	After  record.ToolResult
}

// Same reports whether both answers are equal.
func (r Replayed) Same() bool {
	return bytes.Equal(r.Before.Result, r.After.Result) && r.Before.IsError == r.After.IsError && r.Before.Fault == r.After.Fault && r.Before.LatencyMS == r.After.LatencyMS
}

// Replay asks a fresh world the tool calls of a rollout again, in their order. In
// a world of the same task and tools every answer is the same; with the fault
// switched off ([Without]) the difference is what the fault did.
func Replay(w *World, steps []record.Step) []Replayed {
	var out []Replayed
	for i := range steps {
		s := &steps[i]
		if s.Kind != record.StepTool {
			continue
		}
		out = append(out, Replayed{
			Step:   i,
			Before: record.ToolResult{Result: s.Result, IsError: s.IsError, Fault: s.Fault, LatencyMS: s.LatencyMS},
			After:  w.Call(record.ToolCall{Tool: s.Tool, Arguments: s.Arguments}),
		})
	}
	return out
}
