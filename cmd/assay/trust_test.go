package main

import (
	"context"
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
	t.Parallel()
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

	if r.Repeats == nil || !r.Repeats.Deterministic || r.Repeats.Same.Value != nil {
		t.Errorf("asked twice, a builtin judge repeats itself, and that is no evidence: %+v", r.Repeats)
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
	t.Parallel()
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
	for _, want := range []string{"none_clears"} {
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
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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

// Asked which of two attempts is better, the fair judge goes by what they are worth and the
// crooked one by which it is shown first.
func TestTrustOfPairs(t *testing.T) {
	p := newPlace(t)
	p.write("pairs/recipe.yaml", "name: pairs\nagent: {builtin: seeded}\nsimulate: {situations: 40, repeats: 2}\ngrade: {reward: {judge: {builtin: fair}}}\n"+
		"tools: [{name: get_order, description: Look up an order., parameters: {type: object, properties: {order_id: {type: string}}, required: [order_id]}}]\n")
	p.must("run", "pairs")
	for judge, fooled := range map[string]bool{"builtin:fair": false, "builtin:crooked": true} {
		p.must("grade", "last", "--judge", judge)
		r, code := p.trust("last", "--pairs")
		if r.Positions == nil || code != exitCouldNot {
			t.Fatalf("%s: no pairs, exit %d", judge, code)
		}
		if r.Positions.N < 5 || r.Positions.Silent > 0 || r.Positions.Flagged != fooled || (r.Positions.Flips > 0) != fooled || r.Positions.ToFirst != r.Positions.Flips {
			t.Errorf("%s: %+v", judge, r.Positions)
		}
		if said := slices.ContainsFunc(r.Warnings, func(w record.Warning) bool { return w.Code == "position" }); said != fooled {
			t.Errorf("%s: warnings %+v", judge, r.Warnings)
		}
	}
	p.must("run", bribed) // of one attempt a task
	if _, errs, code := p.run("trust", "last", "--pairs"); code != exitCouldNot || !strings.Contains(errs, "repeats of 2") {
		t.Errorf("without pairs: exit %d, %s", code, errs)
	}
}

// The help of grade lists every word of a marker's expression, and a shell completes them.
func TestMarkerWordsAreSaidAndCompleted(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	help := p.must("grade", "--help")
	for _, w := range grade.Vocabulary() {
		if !strings.Contains(help, w.Name) {
			t.Errorf("%s is not in the help of grade", w.Name)
		}
	}
	offered := p.must("__complete", "grade", "last", "--try", "called('a') && fi")
	for _, want := range []string{"called('a') && first(", "called('a') && final_text", "the index in steps"} {
		if !strings.Contains(offered, want) {
			t.Errorf("%q is not offered:\n%s", want, offered)
		}
	}
}

// Doctor says of every guard whether code of replies is kept from it here.
func TestDoctorSaysWhatCodeIsKeptFrom(t *testing.T) {
	t.Parallel()
	out, _, _ := newPlace(t).run("doctor")
	for _, g := range grade.Guards() {
		want := string(g.Guard)
		if !g.Enforced {
			want = "not " + want + " (" + g.How
		}
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in:\n%s", want, out)
		}
	}
}
