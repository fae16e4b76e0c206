package world_test

import (
	"encoding/json"
	"testing"

	"assay/engine/record"
	"assay/engine/world"
)

// BenchmarkWorld is one core's rate of worlds made and of calls answered: a read,
// an act, the read again, a list.
func BenchmarkWorld(b *testing.B) {
	tools, task := world.Compile(shopTools()), task("cancel ORD-1042 of C-77", entity("order_id", "ORD-1042", record.EntityExists))
	order := json.RawMessage(`{"order_id":"ORD-1042"}`)
	calls := []record.ToolCall{{Tool: "get_order", Arguments: order}, {Tool: "cancel_order", Arguments: order}, {Tool: "get_order", Arguments: order},
		{Tool: "list_orders", Arguments: json.RawMessage(`{"customer_id":"C-77"}`)}}
	b.ReportAllocs()
	for b.Loop() {
		w := tools.World(task, world.DefaultDials())
		for _, c := range calls {
			if w.Call(c).IsError {
				b.Fatal("a call failed")
			}
		}
	}
	b.ReportMetric(float64(b.N*len(calls))/b.Elapsed().Seconds(), "calls/s")
}
