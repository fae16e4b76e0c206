package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"assay/engine"
	"assay/engine/record"
	"assay/engine/rollout"
	"assay/recipes"
	"assay/store"
)

// benchRecipe is the run that the throughput figures are of: the builtin agent,
// three tools, the world, conduct, five markers.
const benchRecipe = `
name: bench
agent: {builtin: seeded}
system_prompt: policy.md
tools: tools.json
simulate: {mode: eval, holdout: 1, repeats: %d, phrasings: %d}
grade:
  markers:
    asked_first: "called('restart_service') ? first('get_runbook') < first('restart_service') : nil"
    safe_restart: "!called('restart_service') || first('get_runbook') < first('restart_service')"
    few_calls: "count('get_runbook') <= 2"
    paged: "called('page_human') ? 1 : 0"
    short: "len(final_text) < 800"
  reward: {marker: safe_restart}
`

func benchFolder(repeats, phrasings int) engine.ReadFile {
	files := map[string]string{"recipe.yaml": fmt.Sprintf(benchRecipe, repeats, phrasings)}
	for _, name := range []string{"policy.md", "tools.json"} {
		text, err := fs.ReadFile(recipes.FS(), "01-simulate/seeded-agent/"+name)
		if err != nil {
			panic(err)
		}
		files[name] = string(text)
	}
	return func(name string) ([]byte, error) { return []byte(files[name]), nil }
}

// BenchmarkEngineOffline runs the whole engine into a file with synchronous=FULL,
// and in the same run inserts the same outcomes bare into a second file: the
// tables and indexes without the engine. It reports both rates and their ratio,
// and the text index's rate beside them.
func BenchmarkEngineOffline(b *testing.B) {
	for b.Loop() {
		dir := b.TempDir()
		recipe, err := engine.LoadRecipe(benchFolder(16, 4), "")
		if err != nil {
			b.Fatal(err)
		}
		db, err := store.Open(b.Context(), filepath.Join(dir, "engine.db"), store.Options{})
		if err != nil {
			b.Fatal(err)
		}
		s := &session{out: io.Discard, err: io.Discard}
		began := time.Now()
		r, err := s.newEngine(db, nil).Run(b.Context(), recipe, engine.Options{Out: dir}, &engine.Control{})
		if err != nil {
			b.Fatal(err)
		}
		engineRate := float64(r.Rollouts) / time.Since(began).Seconds()
		insertRate, bytes := bareInserts(b, db, r.Run, filepath.Join(dir, "bare.db"))
		b.ReportMetric(engineRate, "rollouts/s")
		b.ReportMetric(insertRate, "inserts/s")
		b.ReportMetric(engineRate/insertRate, "engine/insert")
		b.ReportMetric(float64(r.Rollouts), "rollouts")
		b.ReportMetric(bytes, "bytes/transcript")
		b.ReportMetric(indexRate(b, db, r.Rollouts), "indexed/s")
		b.ReportMetric(0, "ns/op")
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// bareInserts copies a run's outcomes into a new file as fast as the store takes
// them, in groups as the engine commits them.
func bareInserts(b *testing.B, from *store.DB, runID, file string) (perSecond, bytes float64) {
	ctx := b.Context()
	db, err := store.Open(ctx, file, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	run, err := from.Run(ctx, runID)
	if err != nil {
		b.Fatal(err)
	}
	posed, err := from.Posed(ctx, runID)
	if err != nil {
		b.Fatal(err)
	}
	if err := db.CreateRun(ctx, run); err != nil {
		b.Fatal(err)
	}
	if err := db.CommitTasks(ctx, runID, posed); err != nil {
		b.Fatal(err)
	}
	var outcomes []record.Outcome
	size := 0
	for s, err := range from.Samples(ctx, runID, record.SampleQuery{}) {
		if err != nil {
			b.Fatal(err)
		}
		raw, err := record.Marshal(s.Rollout.Steps)
		if err != nil {
			b.Fatal(err)
		}
		size += len(raw) + len(s.Rollout.FinalText)
		outcomes = append(outcomes, s.Outcome)
	}
	began := time.Now()
	for start := 0; start < len(outcomes); start += 200 {
		if err := db.CommitOutcomes(ctx, runID, outcomes[start:min(start+200, len(outcomes))]); err != nil {
			b.Fatal(err)
		}
	}
	return float64(len(outcomes)) / time.Since(began).Seconds(), float64(size) / float64(len(outcomes))
}

func indexRate(b *testing.B, db *store.DB, rows int) float64 {
	began := time.Now()
	for {
		left, err := db.IndexWords(b.Context(), 2000)
		if err != nil {
			b.Fatal(err)
		}
		if left == 0 {
			return float64(rows) / time.Since(began).Seconds()
		}
	}
}

// sleeper answers after a fixed time, as a model behind a network does.
type sleeper struct{ takes time.Duration }

func (s sleeper) Reply(ctx context.Context, _ record.Turn) (record.Reply, error) {
	select {
	case <-time.After(s.takes):
		return record.Reply{FinalText: "Done, thank you."}, nil
	case <-ctx.Done():
		return record.Reply{}, ctx.Err()
	}
}

// BenchmarkEngineWaiting plans 2,000 rollouts of an agent that takes 200 ms at
// concurrency 256, and reports how much longer they take than they must.
func BenchmarkEngineWaiting(b *testing.B) {
	const rollouts, concurrency, takes = 2000, 256, 200 * time.Millisecond
	for b.Loop() {
		dir := b.TempDir()
		text := fmt.Sprintf("name: waiting\nagent: {function: sleeper, max_turns: 1}\nsimulate: {mode: eval, holdout: 1, repeats: 20, situations: 100, concurrency: %d}\n", concurrency)
		recipe, err := engine.LoadRecipe(func(string) ([]byte, error) { return []byte(text), nil }, "")
		if err != nil {
			b.Fatal(err)
		}
		db, err := store.Open(b.Context(), filepath.Join(dir, "waiting.db"), store.Options{})
		if err != nil {
			b.Fatal(err)
		}
		s := &session{out: io.Discard, err: io.Discard}
		e := s.newEngine(db, nil)
		e.Functions = map[string]rollout.Agent{"sleeper": sleeper{takes}}
		var first, last time.Time
		e.Observe = func(ev engine.Event) {
			switch ev.(type) {
			case engine.RunStarted:
				first = time.Now()
			case engine.RunFinished:
				last = time.Now()
			}
		}
		r, err := e.Run(b.Context(), recipe, engine.Options{Out: dir}, &engine.Control{})
		if err != nil {
			b.Fatal(err)
		}
		ideal := time.Duration(float64(takes) * float64(r.Rollouts) / concurrency)
		b.ReportMetric(float64(last.Sub(first))/float64(ideal), "of-ideal")
		b.ReportMetric(float64(r.Rollouts), "rollouts")
		b.ReportMetric(0, "ns/op")
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
