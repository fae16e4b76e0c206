package search

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/engine/record"
)

// Of each kind of rollout a run leaves what may teach, and no more.
func TestTraces(t *testing.T) {
	axes := axesOf("get_runbook", oncallRules[0], "ordinary", record.EntityExists, "fresh")
	onGrid := &record.Task{ID: "t1", SituationID: "s1", Origin: record.OriginGrid, Axes: axes}
	heldOut := &record.Task{ID: "t2", SituationID: "s2", Origin: record.OriginGrid, Axes: axes}
	rewritten := &record.Task{ID: "t3", SituationID: "s3", Origin: record.OriginMutated, Parent: "s1"}
	given := &record.Task{ID: "t4", SituationID: "s4", Origin: record.OriginGiven, Ask: "restart billing"}
	imported := &record.Task{ID: "t5", SituationID: "s5", Origin: record.OriginImported}
	gone := record.Step{Kind: record.StepTool, Tool: "get_runbook", IsError: true, Result: []byte(`{"error":"not_found"}`)}
	pass, fail, part := number(1), number(0), number(0.9)
	sample := func(task *record.Task, heldOut bool, reward *float64, steps ...record.Step) *record.Sample {
		return &record.Sample{Posed: record.Posed{Task: task, HeldOut: heldOut}, Outcome: outcome(task, "", reward, steps...)}
	}
	tool := func(name string, more ...string) record.Axes {
		out := record.Axes{record.AxisTool: name}
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	for name, test := range map[string]struct {
		samples   []*record.Sample
		mentioned []string
		want      []Trace
	}{
		"rollouts of one situation are one trace": {
			samples: []*record.Sample{sample(onGrid, false, pass), sample(onGrid, false, fail), sample(onGrid, false, part), sample(onGrid, false, nil)},
			want:    []Trace{{SituationID: "s1", Axes: axes, Rollouts: 4, Failures: 2}},
		},
		"of a held-out situation it is known that it was posed": {
			samples: []*record.Sample{sample(heldOut, true, fail), sample(heldOut, true, fail)},
			want:    []Trace{{SituationID: "s2", Axes: axes}},
		},
		"a rewritten ask has its parent": {samples: []*record.Sample{sample(rewritten, false, fail)}},
		"an ask beside the grid has the tools that were called": {
			samples: []*record.Sample{sample(given, false, fail, gone, call("page_human", "timeout"), call("page_human", "timeout"))},
			want: []Trace{
				{Axes: tool("get_runbook", record.AxisWorldState, record.EntityMissing), Rollouts: 1, Failures: 1},
				{Axes: tool("page_human", record.AxisToolCondition, "timeout"), Rollouts: 1, Failures: 1},
			},
		},
		"or those that it speaks of": {
			samples: []*record.Sample{sample(given, false, fail)}, mentioned: []string{"restart_service"},
			want: []Trace{{Axes: tool("restart_service"), Rollouts: 1, Failures: 1}},
		},
		"held out, it says nothing": {samples: []*record.Sample{sample(given, true, fail, gone)}},
		"an imported log is held out and speaks": {
			samples: []*record.Sample{sample(imported, true, fail, call("page_human", "")), sample(imported, true, pass, call("page_human", ""))},
			want:    []Trace{{Axes: tool("page_human"), Rollouts: 2, Failures: 1}},
		},
	} {
		var traces Traces
		for _, s := range test.samples {
			traces.Add(s, 1, test.mentioned)
		}
		if diff := cmp.Diff(test.want, traces.List()); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}
