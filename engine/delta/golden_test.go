package delta_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/engine/delta"
	"assay/engine/record"
)

// cases is the folder of data from outside the project.
func cases(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("ASSAY_CASES")
	if dir == "" {
		t.Skip("ASSAY_CASES names no folder of published values")
	}
	return dir
}

func lines[T any](t *testing.T, file string) []T {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []T
	scanner := bufio.NewScanner(f)
	for scanner.Scan() {
		var row T
		if err := json.Unmarshal(scanner.Bytes(), &row); err != nil {
			t.Fatalf("%s:%d: %v", file, len(rows)+1, err)
		}
		rows = append(rows, row)
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

func published(t *testing.T, dir string, into any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

// The pass^k that the tau-bench authors published for gpt-4o on airline tasks, from
// their own trajectories.
func TestTauBenchPassK(t *testing.T) {
	dir := cases(t)
	var golden struct {
		TauBench struct {
			PassPowK map[string]float64 `json:"pass_pow_k"`
			PassAtK  map[string]float64 `json:"pass_at_k"`
		} `json:"pass_at_tau_bench"`
	}
	published(t, dir, &golden)
	byTask := map[int]*record.TaskRate{}
	var rates []record.TaskRate
	for _, row := range lines[struct {
		Task   int `json:"task_id"`
		Reward float64
	}](t, filepath.Join(dir, "taubench_gpt4o_airline_outcomes.jsonl")) {
		rate := byTask[row.Task]
		if rate == nil {
			rate = &record.TaskRate{TaskID: fmt.Sprint(row.Task), SituationID: fmt.Sprint(row.Task), HeldOut: true}
			byTask[row.Task] = rate
		}
		rate.Done++
		rate.Graded++
		if row.Reward >= 1 {
			rate.Passed++
		}
	}
	for _, rate := range byTask {
		rates = append(rates, *rate)
	}
	for k := 1; k <= 4; k++ {
		r, err := delta.Pass(rates, k, delta.PassOptions{Mode: record.ModeImport})
		if err != nil {
			t.Fatal(err)
		}
		if want := golden.TauBench.PassPowK[fmt.Sprint(k)]; math.Abs(*r.PassPowK.Value-want) > 5e-5 {
			t.Errorf("pass^%d = %.4f, published %.4f", k, *r.PassPowK.Value, want)
		}
		if want := golden.TauBench.PassAtK[fmt.Sprint(k)]; math.Abs(*r.PassAtK.Value-want) > 5e-5 {
			t.Errorf("pass@%d = %.4f, published %.4f", k, *r.PassAtK.Value, want)
		}
		if r.Tasks != 50 || r.Rows != 200 {
			t.Errorf("%d tasks, %d rows", r.Tasks, r.Rows)
		}
	}
}

// The published paired difference of two review arms on 144 tasks.
func TestDeepAgentsPairedDelta(t *testing.T) {
	dir := cases(t)
	type publishedMetric struct {
		Before, After, Delta, P float64
		CI                      [2]float64 `json:"ci95"`
	}
	var golden struct {
		Paired struct {
			Before, After string
			N             int             `json:"n_paired"`
			Accuracy      publishedMetric `json:"accuracy"`
			Calls         publishedMetric `json:"model_calls_lower_is_better"`
			Tolerance     float64         `json:"ci_tolerance"`
		} `json:"paired_delta_deepagents"`
	}
	published(t, dir, &golden)
	w := newWorld()
	for side, file := range []string{golden.Paired.Before, golden.Paired.After} {
		for task, row := range lastRows(t, filepath.Join(dir, file)) {
			correct := 0.0
			if row.Correct {
				correct = 1
			}
			w.add(side, task, 0, 0, &correct, marker("model_calls", row.calls()))
		}
	}
	r := w.compare(t, func(in *delta.Input) { in.LowerIsBetter = []string{"model_calls"} })
	if r.Paired != golden.Paired.N || r.Headline != delta.Inconclusive {
		t.Errorf("%d paired, headline %q", r.Paired, r.Headline)
	}
	for _, c := range []struct {
		metric  delta.Metric
		want    publishedMetric
		verdict delta.Verdict
	}{
		{metric(t, r, delta.PassAt1), golden.Paired.Accuracy, delta.VerdictNoDifference},
		{metric(t, r, "model_calls"), golden.Paired.Calls, delta.VerdictImproved},
	} {
		m := c.metric
		for _, v := range []struct {
			what            string
			got, want, wide float64
		}{
			{"before", *m.Before, c.want.Before, 5e-5},
			{"after", *m.After, c.want.After, 5e-5},
			{"delta", *m.Delta, c.want.Delta, 5e-5},
			{"p", *m.P, c.want.P, 5e-7},
			// Two percentile ends of 2,000 draws differ between seeds by a tenth of their
			// distance from the mean, so that is what an end can be held to where it is more
			// than the tolerance.
			{"lower", *m.Lo, c.want.CI[0], math.Max(golden.Paired.Tolerance, 0.1*(c.want.Delta-c.want.CI[0]))},
			{"upper", *m.Hi, c.want.CI[1], math.Max(golden.Paired.Tolerance, 0.1*(c.want.CI[1]-c.want.Delta))},
		} {
			if math.Abs(v.got-v.want) > v.wide {
				t.Errorf("%s %s = %.5f, published %.5f (within %.5f)", m.Name, v.what, v.got, v.want, v.wide)
			}
		}
		if m.Verdict != c.verdict {
			t.Errorf("%s is %s, want %s", m.Name, m.Verdict, c.verdict)
		}
	}
}

// reviewRow is one row of the review arms.
type reviewRow struct {
	Task    string `json:"task_id"`
	Correct bool
	Calls   *float64 `json:"model_calls"`
	Error   *string
}

// calls is 40 where the agent ran into its step limit.
func (r *reviewRow) calls() float64 {
	if r.stepLimit() || r.Calls == nil {
		return 40
	}
	return *r.Calls
}

func (r *reviewRow) stepLimit() bool {
	return r.Error != nil && strings.Contains(*r.Error, "GraphRecursionError")
}

// lastRows keeps each task's last row: a retry replaces a failure of infrastructure,
// and one that was never retried is left out.
func lastRows(t *testing.T, file string) map[string]reviewRow {
	last := map[string]reviewRow{}
	for _, row := range lines[reviewRow](t, file) {
		last[row.Task] = row
	}
	for task, row := range last {
		if row.Error != nil && !row.stepLimit() {
			delete(last, task)
		}
	}
	return last
}
