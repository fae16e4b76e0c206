package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/engine"
	"assay/engine/grade"
	"assay/engine/record"
	"assay/store"
	"assay/store/exchange"
)

// bench opens the store of a place for a test that acts as a screen would.
func (p *place) bench() (*store.DB, *engine.Engine, string) {
	p.t.Helper()
	db, err := store.Open(p.t.Context(), p.file("assay.db"), store.Options{})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		if err := db.Close(); err != nil {
			p.t.Errorf("close: %v", err)
		}
	})
	id, err := db.Resolve(p.t.Context(), "last")
	if err != nil {
		p.t.Fatal(err)
	}
	return db, &engine.Engine{Sink: db, Source: db, Exporter: exchange.Exporter{DB: db}, Now: time.Now, NewRunID: newRunID}, id
}

// labelTruly labels the first n cards of a queue as the builtin agent's truth says.
func labelTruly(t *testing.T, db *store.DB, runID, queue, annotator string, n int) {
	t.Helper()
	cards, err := db.Cards(t.Context(), runID, queue, annotator)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cards[:min(n, len(cards))] {
		s, err := db.Sample(t.Context(), c.RolloutID)
		if err != nil {
			t.Fatal(err)
		}
		truth, ok := record.TruthOf(s.Rollout.Privileged)
		if !ok {
			t.Fatalf("rollout %s says no truth", c.RolloutID)
		}
		l := record.Label{Annotator: annotator, Verdict: record.VerdictFail, Kind: record.GoldHuman}
		if truth.OK {
			l.Verdict = record.VerdictPass
		}
		if _, err := db.LabelCard(t.Context(), runID, queue, c.Position, l); err != nil {
			t.Fatal(err)
		}
	}
}

// Labelled along a drawn queue, only what was drawn counts, in the order of the acts,
// at looks; and the pass rate is corrected by those labels.
func TestTrustAlongAQueue(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("run", bribed, "--situations", "120", "--repeats", "3")
	db, e, id := p.bench()
	head, err := e.Queue(t.Context(), id, engine.QueueOptions{Rows: 160})
	if err != nil || head.Rows < 140 || head.Rows > 160 || head.Drawn < 100 || head.Drawn >= head.Rows {
		t.Fatalf("%+v (%v)", head, err)
	}
	if again, err := e.Queue(t.Context(), id, engine.QueueOptions{}); err != nil || again != head {
		t.Errorf("drawn twice: %+v (%v)", again, err)
	}
	if _, err := e.Queue(t.Context(), id, engine.QueueOptions{Rows: 20}); err == nil {
		t.Error("another size of the same queue was not refused")
	}
	labelTruly(t, db, id, head.Queue, "ann", head.Items)
	r, err := e.Trust(t.Context(), id, engine.TrustOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.N != head.Drawn || r.Skipped.Diagnostic != head.Rows-head.Drawn || r.Looked != 100 || r.Headline == grade.Trusted {
		t.Errorf("%d labels count, %d do not, of %+v; %s at %d", r.N, r.Skipped.Diagnostic, head, r.Headline, r.Looked)
	}
	c := r.Corrected
	if c == nil || c.Lambda == nil || c.Missing != 0 || c.Corrected.Value == nil || c.Corrected.Lo == nil {
		t.Fatalf("the corrected rate: %+v", c)
	}
	truth := truePassRate(t, db, id)
	if *c.Corrected.Lo > truth || *c.Corrected.Hi < truth || *c.JudgeOnly.Lo < truth {
		t.Errorf("the truth is %.3f; the judge says %.3f from %.3f, corrected %.3f [%.3f, %.3f]", truth, *c.JudgeOnly.Value, *c.JudgeOnly.Lo, *c.Corrected.Value, *c.Corrected.Lo, *c.Corrected.Hi)
	}
	m, err := e.Meter(t.Context(), id)
	if err != nil || m.Counted != head.Drawn || m.NextLook != 200 || m.Tuning.Agreement.N == 0 || m.Tuning.Agreement.N >= m.Counted {
		t.Errorf("the meter says %+v (%v)", m, err)
	}
	saved, err := db.Reports(t.Context(), id, engine.TrustReportKind)
	if err != nil || len(saved) != 1 {
		t.Fatalf("%d saved reports (%v)", len(saved), err)
	}
	var back engine.TrustReport
	if err := json.Unmarshal(saved[0].Report, &back); err != nil || back.Headline != r.Headline || back.N != r.N {
		t.Errorf("the saved report: %+v (%v)", back, err)
	}
}

// truePassRate is the mean over tasks of the share of rollouts that the agent itself
// says are right.
func truePassRate(t *testing.T, db *store.DB, runID string) float64 {
	t.Helper()
	sum, n := map[string]float64{}, map[string]float64{}
	var order []string
	for s, err := range db.Samples(t.Context(), runID, record.SampleQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		if truth, _ := record.TruthOf(s.Rollout.Privileged); truth.OK {
			sum[s.Task.ID]++
		}
		if n[s.Task.ID]++; n[s.Task.ID] == 1 {
			order = append(order, s.Task.ID)
		}
	}
	total := 0.0
	for _, id := range order {
		total += sum[id] / n[id]
	}
	return total / float64(len(order))
}

// What was shown before it was labelled does not count, and what a probe turned comes
// into the next queue.
func TestRevealedAndProbedRows(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("run", bribed, "--situations", "120", "--repeats", "3")
	db, e, id := p.bench()
	if _, err := e.Trust(t.Context(), id, engine.TrustOptions{Probes: true}); err != nil {
		t.Fatal(err)
	}
	head, err := e.Queue(t.Context(), id, engine.QueueOptions{Rows: 200})
	if err != nil {
		t.Fatal(err)
	}
	items, err := db.QueueItems(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	probed := 0
	var drawn string
	for _, item := range items {
		if item.Strategy == record.StrategyProbe {
			probed++
		}
		if drawn == "" && item.Drawn() {
			drawn = item.RolloutID
		}
	}
	if probed == 0 {
		t.Error("no row that a probe turned is in the queue")
	}
	if err := db.AddReveal(t.Context(), "ann", record.RevealedVerdict, drawn); err != nil {
		t.Fatal(err)
	}
	labelTruly(t, db, id, head.Queue, "ann", head.Items)
	r, err := e.Trust(t.Context(), id, engine.TrustOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.N != head.Drawn-1 || !slices.ContainsFunc(r.Warnings, func(w record.Warning) bool { return w.Code == "revealed" }) {
		t.Errorf("%d of %d drawn labels count: %+v", r.N, head.Drawn, r.Warnings)
	}
}

// The loop of a rubric: only the tuning half is judged, nothing is saved before it is
// kept, and the run's reward changes with a regrade alone.
func TestTryAndKeepARubric(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("run", bribed)
	p.must("labels", "import", "last", "--truth")
	db, e, id := p.bench()
	own, err := db.Run(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	var heard []engine.TrialRow
	// The crooked judge is bribed by a third of a rubric's longer words; nobody says these.
	if own, err := e.RunRubric(t.Context(), id); err != nil || own.Text == "" {
		t.Fatalf("the rubric of the run is %q, %v", own.Text, err)
	}
	trial, err := e.TryRubric(t.Context(), id, "Verifiable truthfulness throughout.", func(r engine.TrialRow) { heard = append(heard, r) })
	if err != nil {
		t.Fatal(err)
	}
	if len(heard) != len(trial.Rows) || trial.N != len(trial.Rows) || trial.N < 15 || trial.N > 35 {
		t.Errorf("%d rows heard, %d in the trial, %d count", len(heard), len(trial.Rows), trial.N)
	}
	if trial.ToRight < 3 || trial.ToWrong != 0 || trial.P >= 0.3 {
		t.Errorf("%d to right, %d to wrong, p %.3f", trial.ToRight, trial.ToWrong, trial.P)
	}
	for _, row := range trial.Rows {
		s, err := db.Sample(t.Context(), row.RolloutID)
		if err != nil {
			t.Fatal(err)
		}
		if !grade.TuningHalf(s.Task.ID) {
			t.Errorf("rollout %s of the other half was judged", row.RolloutID)
		}
	}
	standing := func() []record.Standing {
		t.Helper()
		list, err := db.Standings(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if got := standing(); len(got) != 1 {
		t.Errorf("a trial that was not kept left %+v", got)
	}
	if err := e.KeepRubric(t.Context(), trial); err != nil {
		t.Fatal(err)
	}
	versions, err := db.Rubrics(t.Context(), bribed)
	if err != nil || len(versions) != 2 || versions[1].Parent != versions[0].Hash || versions[1].OtherLooks != 0 {
		t.Errorf("versions %+v (%v)", versions, err)
	}
	if got := standing(); len(got) != 2 || got[0].Scorer != own.Scorer || !got[0].Own || got[1].Judged != len(trial.Rows) {
		t.Errorf("standings %+v", got)
	}
	graded, err := e.Grade(t.Context(), id, engine.GradeOptions{Judge: trial.Judge, OnlyMissing: true})
	if err != nil || graded.Scorer != trial.Scorer || !graded.Own || graded.Graded != 50-len(trial.Rows) {
		t.Errorf("the regrade: %+v (%v)", graded, err)
	}
	// The version is the run's own now, and can be asked again.
	if _, err := e.TryRubric(t.Context(), id, "Yet another.", nil); err != nil {
		t.Errorf("a trial after the regrade: %v", err)
	}
	if _, err := e.TryRubric(t.Context(), id, "", nil); err == nil {
		t.Error("an empty rubric was tried")
	}
}

// A hand label that contradicts the truth program leaves its row without gold: the row is
// counted and said, not gone.
func TestTiedLabelsAreCounted(t *testing.T) {
	p := newPlace(t)
	p.must("run", bribed)
	p.must("labels", "import", "last", "--truth")
	before, _ := p.trust("last")
	key := p.keys("last")[0]
	for _, label := range []string{"pass", "fail"} { // one of them is not what the program says
		p.must("labels", "import", "last", p.write(label+".csv", fmt.Sprintf("task_id,label\n%s,%s\n", key, label)), "--kind", "human", "--annotator", label)
	}
	if same, _ := p.trust("last"); same.Skipped.Tied != 0 || same.N != before.N {
		t.Errorf("two against one are tied: %+v", same.Skipped)
	}
	p.must("labels", "import", "last", p.write("again.csv", fmt.Sprintf("task_id,label\n%s,fail\n", p.keys("last")[1])), "--kind", "human", "--annotator", "fail")
	p.must("labels", "import", "last", p.write("more.csv", fmt.Sprintf("task_id,label\n%s,pass\n", p.keys("last")[2])), "--kind", "human", "--annotator", "pass")
	r, _ := p.trust("last")
	if r.Skipped.Tied+r.N != before.N || r.Skipped.Tied == 0 {
		t.Errorf("%d of %d labels count, and %d are tied", r.N, before.N, r.Skipped.Tied)
	}
	if text, _, _ := p.run("trust", "last"); !strings.Contains(text, "with tied votes") {
		t.Errorf("the text does not say it:\n%s", text)
	}
}

// pass shows the rate corrected for the judge beside its own, of the same scope only.
func TestPassIsCorrectedByGold(t *testing.T) {
	p := newPlace(t)
	p.must("run", bribed)
	if text := p.must("pass", "last"); strings.Contains(text, "gold") || strings.Contains(text, "pass^1") {
		t.Errorf("without gold, of one attempt a task:\n%s", text)
	}
	p.must("labels", "import", "last", "--truth")
	r := decode[passResult](t, p.must("pass", "last", "--json"))
	if r.Corrected == nil || r.Corrected.Corrected.Value == nil || *r.Corrected.Corrected.Value >= *r.PassAt1.Value || *r.PassAtK.Lo != *r.PassAt1.Lo {
		t.Errorf("%+v", r)
	}
	if text := p.must("pass", "last"); !strings.Contains(text, "corrected for the judge by gold") {
		t.Errorf("the text does not hold it:\n%s", text)
	}
	if all := decode[passResult](t, p.must("pass", "last", "--all-tasks", "--json")); all.Corrected != nil {
		t.Errorf("a rate of held-out tasks beside one of all: %+v", all.Corrected)
	}
}
