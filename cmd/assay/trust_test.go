package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"assay/engine"
	"assay/engine/grade"
	"assay/engine/record"
	"assay/store"
	"assay/store/exchange"
)

const bribed = "can-the-judge-be-trusted"

// trust runs assay trust with --json.
func (p *place) trust(args ...string) (engine.TrustReport, int) {
	p.t.Helper()
	out, errs, code := p.run(append([]string{"trust"}, append(args, "--json")...)...)
	var r engine.TrustReport
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		p.t.Fatalf("trust %v: %v\n%s%s", args, err, out, errs)
	}
	return r, code
}

// The crooked judge fails and each of its three faults is named by a probe; the fair
// one is trusted, at the look of 50, and nothing gets at it.
func TestCrookedFailsAndFairIsTrusted(t *testing.T) {
	p := newPlace(t)
	p.must("run", bribed)
	if r, code := p.trust("last"); r.Headline != grade.NotMeasured || r.OK || code != exitCouldNot {
		t.Errorf("without labels: %s, ok %v, exit %d", r.Headline, r.OK, code)
	}
	p.must("labels", "import", "last", "--truth")

	r, code := p.trust("last", "--probes")
	if r.Headline != grade.NotTrusted || code != exitGate || r.Looked != 50 || r.GoldKind != record.GoldProgram {
		t.Errorf("crooked: %s at %d, gold %s, exit %d: %s", r.Headline, r.Looked, r.GoldKind, code, r.Says)
	}
	if r.PassWhenGoldFail.Value == nil || *r.PassWhenGoldFail.Value < 0.3 || *r.FailWhenGoldPass.Value != 0 {
		t.Errorf("it passes %v of failures and fails %v of passes", r.PassWhenGoldFail.Value, r.FailWhenGoldPass.Value)
	}
	for _, probe := range []string{"filler", "rubric_words", "sycophantic_opener"} {
		if !slices.Contains(exploitable(r), probe) {
			t.Errorf("probe %s does not catch the crooked judge", probe)
		}
	}

	p.must("grade", "last", "--judge", "builtin:fair")
	r, code = p.trust("last", "--probes")
	if r.Headline != grade.Trusted || !r.OK || code != exitOK || r.Looked != 50 {
		t.Errorf("fair: %s at %d, ok %v, exit %d: %s", r.Headline, r.Looked, r.OK, code, r.Says)
	}
	if holes := exploitable(r); len(holes) > 0 {
		t.Errorf("probes get at the fair judge: %v", holes)
	}
	if r.Rubric == nil || r.Rubric.Parent != "" || r.Rubric.OtherLooks != 3 {
		t.Errorf("its rubric: %+v", r.Rubric)
	}
}

func exploitable(r engine.TrustReport) []string {
	var names []string
	for _, p := range r.Probes {
		if p.Exploitable {
			names = append(names, p.Name)
		}
	}
	return names
}

// Several judges on the same gold: only labelled rows are judged, the run's reward
// stays, and the report says who is right where the other is wrong.
func TestCompareOnLabelledRows(t *testing.T) {
	p := newPlace(t)
	p.must("run", bribed)
	keys := p.keys("last")
	labels := "task_id,label\n"
	for i, key := range keys[:30] {
		labels += fmt.Sprintf("%s,%s\n", key, []string{"pass", "fail"}[i%2])
	}
	p.must("labels", "import", "last", p.write("labels.csv", labels), "--kind", "human", "--annotator", "ana")
	before := p.must("pass", "last", "--json")
	r, code := p.trust("last", "--compare", "builtin:fair", "{builtin: crooked, rubric: Be honest and thorough please.}")
	if len(r.Others) != 2 || r.Headline != grade.Inconclusive || code != exitGate {
		t.Fatalf("%d others, %s, exit %d", len(r.Others), r.Headline, code)
	}
	if r.Others[0].Against.N != 30 || r.Others[0].N != 30 {
		t.Errorf("the fair judge on %d rows, against the other on %d", r.Others[0].N, r.Others[0].Against.N)
	}
	for _, want := range []string{"several_judges", "none_clears"} {
		if !slices.ContainsFunc(r.Warnings, func(w record.Warning) bool { return w.Code == want }) {
			t.Errorf("no warning %s: %+v", want, r.Warnings)
		}
	}
	if after := p.must("pass", "last", "--json"); after != before {
		t.Errorf("comparing changed the run's numbers:\n%s\n%s", before, after)
	}
	var show struct {
		Scorers []record.Standing
	}
	if err := json.Unmarshal([]byte(p.must("show", "last", "--json")), &show); err != nil {
		t.Fatal(err)
	}
	if len(show.Scorers) != 3 || !show.Scorers[0].Own || show.Scorers[0].Judged != 50 || show.Scorers[1].Judged != 30 || show.Scorers[2].Judged != 30 {
		t.Errorf("standings %+v", show.Scorers)
	}
	// Asked again, nobody is judged twice.
	if again, _ := p.trust("last", "--compare", "builtin:fair"); again.Others[0].N != 30 {
		t.Errorf("%+v", again.Others[0].TrustReport)
	}
}

// keys are the names of a run's rollouts in label files.
func (p *place) keys(run string) []string {
	p.t.Helper()
	var keys []string
	for _, r := range p.rolloutsOf(run) {
		keys = append(keys, r.key)
	}
	return keys
}

type rolloutName struct{ id, key string }

func (p *place) rolloutsOf(run string) []rolloutName {
	p.t.Helper()
	ctx := context.Background()
	db, err := store.OpenReadOnly(ctx, p.file("assay.db"), store.Options{})
	if err != nil {
		p.t.Fatal(err)
	}
	defer db.Close()
	id, err := db.Resolve(ctx, run)
	if err != nil {
		p.t.Fatal(err)
	}
	var list []rolloutName
	for s, err := range db.Samples(ctx, id, record.SampleQuery{}) {
		if err != nil {
			p.t.Fatal(err)
		}
		list = append(list, rolloutName{s.Rollout.ID, s.Rollout.Key.String()})
	}
	return list
}

// A rubric that was made from another one gives its word on the other half alone, and
// every look at that half is counted.
func TestRevisedRubric(t *testing.T) {
	p := newPlace(t)
	p.must("run", bribed)
	p.must("labels", "import", "last", "--truth")
	first, _ := p.trust("last")
	file := p.write("rubric-v2.md", "Pass it where every claim is true.\n")
	p.must("grade", "last", "--judge", "{builtin: fair, rubric: "+file+"}")
	r, code := p.trust("last")
	if r.Rubric == nil || r.Rubric.Parent != first.Rubric.Hash || r.Rubric.Name != bribed || r.Rubric.OtherLooks != 1 {
		t.Fatalf("its rubric: %+v, of %+v", r.Rubric, first.Rubric)
	}
	if r.Skipped.TunedOn == 0 || r.Skipped.TunedOn+r.N != 50 || r.Headline != grade.Inconclusive || code != exitGate {
		t.Errorf("%s with %d labels, %d left out, exit %d", r.Headline, r.N, r.Skipped.TunedOn, code)
	}
	if again, _ := p.trust("last"); again.Rubric.OtherLooks != 2 {
		t.Errorf("a second look is look %d", again.Rubric.OtherLooks)
	}
	// Back to the first rubric: it still has no parent.
	p.must("grade", "last", "--judge", "builtin:fair")
	if back, code := p.trust("last"); back.Rubric.Parent != "" || back.Headline != grade.Trusted || code != exitOK {
		t.Errorf("%s, %+v", back.Headline, back.Rubric)
	}
	if _, errs, code := p.run("grade", "last", "--judge", "{builtin: fair, rubric: nowhere.md}"); code != exitCouldNot {
		t.Errorf("a rubric that is not there: exit %d, %s", code, errs)
	}
}

func TestTrustRefusals(t *testing.T) {
	p := newPlace(t)
	p.write("none/recipe.yaml", "name: none\nagent: {builtin: seeded}\nsimulate: {situations: 4, repeats: 1}\ntools: [{name: get_order, description: Look up an order., parameters: {type: object, properties: {order_id: {type: string}}, required: [order_id]}}]\n")
	p.must("run", "none", "--name", "none")
	p.must("run", "before-and-after", "--name", "marked", "--situations", "20", "--runs", "1")
	p.must("labels", "import", "marked", "--truth")
	for name, args := range map[string][]string{
		"no reward":       {"trust", "none"},
		"no such judge":   {"trust", "marked", "--compare", "builtin:unfair"},
		"two runs":        {"trust", "marked", "none"},
		"a marker probed": {"trust", "marked", "--probes"},
		"no run":          {"trust", "nowhere"},
	} {
		out, errs, code := p.run(append(args, "--json")...)
		var said struct {
			Error *struct{ Code, Message, Fix string }
		}
		if json.Unmarshal([]byte(out), &said) != nil || said.Error == nil || said.Error.Fix == "" || code != exitCouldNot {
			t.Errorf("%s: exit %d, %s%s", name, code, out, errs)
		}
	}
}

// cutShort is a store that ends the context of a regrade after its first group.
type cutShort struct {
	*store.DB
	end context.CancelFunc
}

func (s cutShort) CommitGrades(ctx context.Context, runID string, scorers []record.Scorer, judgments []record.Judgment, markers []record.Marker) error {
	defer s.end()
	return s.DB.CommitGrades(ctx, runID, scorers, judgments, markers)
}

// A regrade that is cut short leaves every number as it was, shows how far it came,
// and goes on where it stopped.
func TestPartialRegradeNeverMixes(t *testing.T) {
	p := newPlace(t)
	p.must("run", bribed, "--situations", "80", "--repeats", "5")
	before := p.must("pass", "last", "--json")
	ctx, cancel := context.WithCancel(t.Context())
	db, err := store.Open(ctx, p.file("assay.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	id, err := db.Resolve(ctx, "last")
	if err != nil {
		t.Fatal(err)
	}
	e := &engine.Engine{Sink: cutShort{db, cancel}, Source: db, Exporter: exchange.Exporter{DB: db}, Now: time.Now, NewRunID: newRunID}
	if _, err := e.Grade(ctx, id, engine.GradeOptions{Judge: &engine.JudgeSpec{Builtin: "fair"}}); err == nil {
		t.Fatal("the regrade was not cut short: nothing is tested")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if after := p.must("pass", "last", "--json"); after != before {
		t.Errorf("a partial regrade changed the run's numbers:\n%s\n%s", before, after)
	}
	var show struct {
		Scorer  string
		Scorers []record.Standing
	}
	read := func() {
		t.Helper()
		if err := json.Unmarshal([]byte(p.must("show", "last", "--json")), &show); err != nil {
			t.Fatal(err)
		}
	}
	if read(); len(show.Scorers) != 2 || show.Scorers[0].Scorer != show.Scorer || show.Scorers[1].Own || show.Scorers[1].Judged == 0 || show.Scorers[1].Judged >= show.Scorers[1].Done {
		t.Fatalf("standings %+v", show.Scorers)
	}
	partly := show.Scorers[1]
	var graded engine.GradeReport
	if err := json.Unmarshal([]byte(p.must("grade", "last", "--judge", "builtin:fair", "--only-missing", "--json")), &graded); err != nil {
		t.Fatal(err)
	}
	if graded.Graded != partly.Done-partly.Judged || !graded.Own || graded.Judged != graded.Done {
		t.Errorf("%d of %d were judged before, and then %+v", partly.Judged, partly.Done, graded)
	}
	if read(); show.Scorer != partly.Scorer || !show.Scorers[0].Own || show.Scorers[0].Judged != partly.Done {
		t.Errorf("standings %+v", show.Scorers)
	}
	if after := p.must("pass", "last", "--json"); after == before {
		t.Error("the fair judge says what the crooked one said: nothing is tested")
	}
}

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
	p := newPlace(t)
	p.must("run", bribed, "--situations", "120", "--repeats", "3")
	db, e, id := p.bench()
	head, err := e.Queue(t.Context(), id, engine.QueueOptions{Rows: 160})
	if err != nil || head.Rows < 150 || head.Rows > 160 || head.Drawn < 100 || head.Drawn >= head.Rows {
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
