package store

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"assay/engine/record"
)

// benchOutcome is what the bar speaks of: a transcript of 2 kB, one judgment,
// five markers.
func benchOutcome(runID string, task *record.Task, k int) record.Outcome {
	o := testOutcome(runID, task, 0, k)
	r := &o.Rollout
	r.LogProbs, r.Extra, r.Sampling = nil, nil, nil
	call := record.Step{Kind: record.StepTool, Tool: "get_runbook", Arguments: []byte(`{"service":"billing"}`),
		Result: []byte(`{"service":"billing","steps":["drain the queue","restart one node","watch the error rate"],"owner":"payments on call"}`)}
	r.Steps = nil
	for range 9 {
		r.Steps = append(r.Steps, call)
	}
	reward := 1.0
	o.Judgment = &record.Judgment{RolloutID: r.ID, Scorer: rewardScorer.ID, Reward: &reward, Status: record.JudgeOK, Reason: "safe_restart is 1", At: start}
	o.Markers = nil
	for i := range 5 {
		o.Markers = append(o.Markers, record.Marker{RolloutID: r.ID, Scorer: marker(fmt.Sprint("m", i)).ID, Name: fmt.Sprintf("marker_%d", i), Value: &reward, Status: record.MarkerOK})
	}
	return o
}

const (
	benchGroup = 200 // outcomes in one transaction, as the engine groups them
	benchTasks = 5000
)

func benchRun(b *testing.B) (*DB, []record.Posed) {
	db := open(b, filepath.Join(b.TempDir(), "assay.db"), Options{})
	// The text index is measured alone.
	db.words.cancel()
	db.words.done.Wait()
	posed := testPosed(benchTasks)
	if err := db.CreateRun(b.Context(), testRun("run1")); err != nil {
		b.Fatal(err)
	}
	if err := db.CommitTasks(b.Context(), "run1", posed); err != nil {
		b.Fatal(err)
	}
	return db, posed
}

func benchOutcomes(posed []record.Posed, from int) []record.Outcome {
	group := make([]record.Outcome, benchGroup)
	for i := range group {
		n := from + i
		group[i] = benchOutcome("run1", posed[n/4%benchTasks].Task, n/(4*benchTasks)*4+n%4)
	}
	return group
}

// BenchmarkCommitOutcomes is the bare insert rate: encoding, the rows of seven
// tables' indexes, and one synced commit for each group.
func BenchmarkCommitOutcomes(b *testing.B) {
	db, posed := benchRun(b)
	groups := make([][]record.Outcome, (b.N+benchGroup-1)/benchGroup)
	for g := range groups {
		groups[g] = benchOutcomes(posed, g*benchGroup)
	}
	b.ReportAllocs()
	b.ResetTimer()
	begin := time.Now()
	for _, group := range groups {
		if err := db.CommitOutcomes(b.Context(), "run1", group); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(groups)*benchGroup)/time.Since(begin).Seconds(), "outcomes/s")
}

// BenchmarkIndexWords is the rate of the text index, which is built behind the run.
func BenchmarkIndexWords(b *testing.B) {
	db, posed := benchRun(b)
	n := 0
	for ; n < b.N; n += benchGroup {
		if err := db.CommitOutcomes(b.Context(), "run1", benchOutcomes(posed, n)); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	begin := time.Now()
	for more := true; more; {
		var err error
		if more, err = db.IndexWords(b.Context(), wordsPerTx); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)/time.Since(begin).Seconds(), "transcripts/s")
}

// BenchmarkSamples is the rate at which cut, delta and exports read.
func BenchmarkSamples(b *testing.B) {
	db, posed := benchRun(b)
	const n = 4000
	for from := 0; from < n; from += benchGroup {
		if err := db.CommitOutcomes(b.Context(), "run1", benchOutcomes(posed, from)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	begin := time.Now()
	read := 0
	for b.Loop() {
		for _, err := range db.Samples(b.Context(), "run1", record.SampleQuery{}) {
			if err != nil {
				b.Fatal(err)
			}
			read++
		}
	}
	b.ReportMetric(float64(read)/time.Since(begin).Seconds(), "samples/s")
}

// BenchmarkAddLabel is one label with its sync.
func BenchmarkAddLabel(b *testing.B) {
	db, posed := benchRun(b)
	group := benchOutcomes(posed, 0)
	if err := db.CommitOutcomes(b.Context(), "run1", group); err != nil {
		b.Fatal(err)
	}
	for n := 0; b.Loop(); n++ {
		label := record.Label{RolloutID: group[n%len(group)].Rollout.ID, Annotator: "ann", Verdict: record.VerdictPass, Kind: record.GoldHuman}
		if _, err := db.AddLabel(b.Context(), label); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTaskRates counts a run of 4,000 rollouts.
func BenchmarkTaskRates(b *testing.B) {
	db, posed := benchRun(b)
	for from := 0; from < 4000; from += benchGroup {
		if err := db.CommitOutcomes(b.Context(), "run1", benchOutcomes(posed, from)); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if rates, err := db.TaskRates(b.Context(), "run1"); err != nil || len(rates) != 1000 {
			b.Fatal(len(rates), err)
		}
	}
}
