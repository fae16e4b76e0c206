package rollout_test

import (
	"context"
	"encoding/json"
	"testing"

	"assay/engine/record"
	"assay/engine/rollout"
)

// BenchmarkRollout is one core's rate of whole rollouts: an agent in the process
// that makes three tool calls and replies, the world, the person, the signature.
func BenchmarkRollout(b *testing.B) {
	runner := &rollout.Runner{Agent: threeCalls{}, Policy: rollout.Policy{Kind: "function", SystemPrompt: "Be kind.", Tools: opsTools()}}
	posed := record.Posed{Task: opsTask()}
	ctx := context.Background()
	b.ReportAllocs()
	k := 0
	for b.Loop() {
		k++
		if o := runner.Run(ctx, "run", posed, 0, k); o.Status != record.StatusDone || len(o.Steps) != 3 {
			b.Fatalf("%+v", o)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rollouts/s")
}

type threeCalls struct{}

func (threeCalls) Reply(ctx context.Context, t record.Turn) (record.Reply, error) {
	for _, call := range []record.ToolCall{
		{Tool: "get_runbook", Arguments: json.RawMessage(`{"service":"billing"}`)},
		{Tool: "restart_service", Arguments: json.RawMessage(`{"service":"billing","reason":"it leaks memory since noon"}`)},
		{Tool: "get_status", Arguments: json.RawMessage(`{"service":"billing"}`)},
	} {
		t.Call(ctx, call)
	}
	return record.Reply{FinalText: "I have read the runbook and restarted billing; its status is now healthy."}, nil
}

func opsTools() []record.Tool {
	one := `{"type":"object","properties":{"service":{"type":"string","description":"Name of the service"}},"required":["service"],"additionalProperties":false}`
	return []record.Tool{
		{Name: "get_runbook", Description: "Read the runbook of a service.", Kind: record.ToolRead, Parameters: json.RawMessage(one)},
		{Name: "get_status", Description: "Returns the status, error rate and version of a service.", Kind: record.ToolRead, Parameters: json.RawMessage(one)},
		{Name: "restart_service", Description: "Restart a service.", Kind: record.ToolDestructive,
			Parameters: json.RawMessage(`{"type":"object","properties":{"service":{"type":"string"},"reason":{"type":"string"},"force":{"type":"boolean"}},"required":["service"]}`)},
	}
}

func opsTask() *record.Task {
	t := &record.Task{SituationID: "s1", Ask: "billing is slow, please restart it", Tools: opsTools(),
		World: record.World{Entities: []record.Entity{{Argument: "service", ID: "billing", State: record.EntityExists}}},
		User:  record.User{Kind: "scripted", Manner: "terse", Knows: map[string]record.Text{"service": "billing"}, Confirms: true}}
	t.Identify()
	return t
}
