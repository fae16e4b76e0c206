package exchange

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/engine/record"
)

// outside opens a file of the folder of outside cases, where there is one.
func outside(t *testing.T, name string) []File {
	t.Helper()
	folder := os.Getenv("ASSAY_CASES")
	if folder == "" {
		t.Skip("ASSAY_CASES names no folder of outside cases")
	}
	f, err := os.Open(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return []File{{name, f}}
}

// 50 tasks, 4 trials each, in the published order (tau-bench, GPT-4o, airline).
func TestOutsideOutcomes(t *testing.T) {
	db := openNew(t)
	report, err := Import(t.Context(), db, outside(t, "taubench_gpt4o_airline_outcomes.jsonl"), ImportOptions{RunID: "tau", Started: start, Map: map[string]string{"rollout_index": "trial"}})
	if err != nil {
		t.Fatal(err)
	}
	if report.Rows != 200 || report.Tasks != 50 || len(report.Skipped) != 0 {
		t.Errorf("report %+v", report)
	}
	rates, err := db.TaskRates(t.Context(), "tau")
	if err != nil || len(rates) != 50 {
		t.Fatal(len(rates), err)
	}
	for _, r := range rates {
		if r.Done != 4 || r.Graded != 4 || r.Partial != 0 || !r.HeldOut {
			t.Errorf("task %+v", r)
		}
	}
	run, err := db.Run(t.Context(), "tau")
	if err != nil || run.Repeats != 4 {
		t.Errorf("k is %d (%v), want 4", run.Repeats, err)
	}
}

// Whole OpenAI conversations: every call has its result, nothing is said twice.
func TestOutsideConversations(t *testing.T) {
	db := openNew(t)
	report, err := Import(t.Context(), db, outside(t, "taubench_gpt4o_airline_traces_sample.jsonl"), ImportOptions{RunID: "traces", Started: start})
	if err != nil || report.Rows != 24 || len(report.Skipped) != 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	calls := 0
	for _, list := range samplesByTask(t, db, "traces") {
		for _, s := range list {
			if s.Task.Ask == "" {
				t.Errorf("task %s has no ask", s.Task.ID)
			}
			for _, step := range s.Rollout.Steps {
				if step.Kind == record.StepTool {
					calls++
					if step.Arguments[0] != '{' || len(step.Result) == 0 {
						t.Errorf("call %+v", step)
					}
				}
			}
		}
	}
	if calls == 0 {
		t.Error("no call was read")
	}
}

// A published table of verdicts in which retries repeat a task: the duplicates
// number themselves where no index is given, and the errors stay on their rows.
func TestOutsideTable(t *testing.T) {
	db := openNew(t)
	report, err := Import(t.Context(), db, outside(t, "deepagents_h00_stock.dev.jsonl"), ImportOptions{RunID: "table", Started: start, Map: map[string]string{"reward": "correct", "final_text": "verdict"}})
	if err != nil || report.Rows != 150 || report.Tasks != 144 {
		t.Fatalf("%+v, %v", report, err)
	}
	errors := 0
	for _, list := range samplesByTask(t, db, "table") {
		for _, s := range list {
			if s.Rollout.Error != "" {
				errors++
			}
			if string(s.Rollout.Extra["source_arm"]) == "" || s.Rollout.Extra["model_calls"] == nil {
				t.Fatalf("a column is lost: %s", s.Rollout.Extra)
			}
		}
	}
	if errors == 0 || !strings.Contains(strings.Join(report.DroppedFields, " "), "arm") {
		t.Errorf("%d rows with an error, dropped %v", errors, report.DroppedFields)
	}
}
