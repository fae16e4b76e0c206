package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/engine/record"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// textGenerator gives what models and tools have been seen to say, and worse.
func textGenerator() *rapid.Generator[record.Text] {
	pieces := rapid.SampledFrom([]string{"", "plain", "\x00", "\xed\xa0\x80", "\xed\xb0\x80", "\x1b]52;c;\x07", "\u202e", "漢字かな", "👩‍👩‍👧", "\u0085", "\r\n", `"\/`, "</script>", "\ufffd", "';--", "é"})
	return rapid.Custom(func(t *rapid.T) record.Text {
		joined := strings.Join(rapid.SliceOfN(pieces, 0, 6).Draw(t, "pieces"), "")
		// Two halves that meet are the one character that they spell.
		return record.Text(strings.ReplaceAll(joined, "\xed\xa0\x80\xed\xb0\x80", "\U00010000"))
	})
}

// Whatever is said in whatever field comes back as it was, and no readable column
// holds what SQLite or a shell would stumble over.
func TestHostileTextRoundTrip(t *testing.T) {
	db := openNew(t)
	if err := db.CreateRun(t.Context(), testRun("run1")); err != nil {
		t.Fatal(err)
	}
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		text := textGenerator()
		task := testTask(n)
		task.Ask, task.User.Wants = text.Draw(rt, "ask"), text.Draw(rt, "wants")
		o := testOutcome("run1", task, 0, 0)
		o.Rollout.FinalText, o.Rollout.Error, o.Rollout.Prompt = text.Draw(rt, "final"), text.Draw(rt, "error"), text.Draw(rt, "prompt")
		o.Rollout.Steps[0].Text, o.Rollout.Steps[2].Text = text.Draw(rt, "said"), text.Draw(rt, "user")
		result, err := text.Draw(rt, "result").MarshalJSON()
		if err != nil {
			rt.Fatal(err)
		}
		o.Rollout.Steps[1].Result = result
		o.Judgment.Reason, o.Judgment.Raw, o.Markers[1].Note = text.Draw(rt, "reason"), text.Draw(rt, "raw"), text.Draw(rt, "note")
		posed := record.Posed{Task: task, Arm: record.ArmGiven, Order: n}
		for _, err := range []error{db.CommitTasks(t.Context(), "run1", []record.Posed{posed}), db.CommitOutcomes(t.Context(), "run1", []record.Outcome{o})} {
			if err != nil {
				rt.Fatal(err)
			}
		}
		got, err := db.Sample(t.Context(), o.Rollout.ID)
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(&record.Sample{Posed: posed, Outcome: o}, got, equalish); diff != "" {
			rt.Fatalf("(-written +read):\n%s", diff)
		}
		heads, _, err := db.RolloutHeads(t.Context(), "run1", HeadQuery{Offset: n - 1, Limit: 1})
		if err != nil {
			rt.Fatal(err)
		}
		want := o.Rollout.Prompt
		if want == "" {
			want = task.Ask
		}
		if heads[0].Ask != want {
			rt.Fatalf("the head's ask is %q, want %q", heads[0].Ask, want)
		}
	})
	var unclean int
	err := db.read.QueryRow(`SELECT count(*) FROM transcripts JOIN rollouts USING (rollout_no) JOIN tasks USING (task_id)
		WHERE instr(CAST(final_text AS BLOB), x'00') OR instr(CAST(final_text AS BLOB), x'eda080') OR instr(CAST(ask AS BLOB), x'00') OR instr(CAST(error AS BLOB), x'00')`).Scan(&unclean)
	if err != nil || unclean != 0 {
		t.Errorf("%d readable columns are not clean (%v)", unclean, err)
	}
}

func TestTenMegabyteResult(t *testing.T) {
	db := openNew(t)
	posed := fill(t, db, "run1", 1, 1, 1)
	o := testOutcome("run1", posed[0].Task, 0, 1)
	o.Rollout.Steps[1].Result = json.RawMessage(`"` + strings.Repeat("漢 \\u0000\\ud800", 500_000) + `"`)
	if err := db.CommitOutcomes(t.Context(), "run1", []record.Outcome{o}); err != nil {
		t.Fatal(err)
	}
	s, err := db.Sample(t.Context(), o.Rollout.ID)
	if err != nil {
		t.Fatal(err)
	}
	if string(s.Rollout.Steps[1].Result) != string(o.Rollout.Steps[1].Result) {
		t.Error("a result of 10 MB changed")
	}
}

func TestLabelsAndGold(t *testing.T) {
	db := openNew(t)
	posed := fill(t, db, "run1", 3, 2, 1)
	id := func(task, k int) string {
		return record.RolloutID("run1", record.Key{TaskID: posed[task].Task.ID, K: k})
	}
	var want []record.Label
	for i, l := range []record.Label{
		{RolloutID: id(0, 0), Annotator: "ann", Verdict: record.VerdictFail, Kind: record.GoldHuman},
		{RolloutID: id(0, 0), Annotator: "ann", Verdict: record.VerdictPass, Kind: record.GoldHuman, Note: "on \x00 reflection", Tags: []string{"tone"}, Blind: true},
		{RolloutID: id(0, 1), Annotator: "ann", Verdict: record.VerdictPass, Kind: record.GoldHuman},
		{RolloutID: id(0, 1), Annotator: "bob", Verdict: record.VerdictFail, Kind: record.GoldHuman},
		{RolloutID: id(1, 0), Annotator: "ann", Verdict: record.VerdictPass, Kind: record.GoldHuman},
		{RolloutID: id(1, 0), Annotator: "ann", Verdict: record.VerdictRetracted, Kind: record.GoldHuman},
		{RolloutID: id(1, 1), Annotator: "ann", Verdict: record.VerdictFail, Kind: record.GoldHuman, Purpose: record.PurposeRecheck},
		{RolloutID: id(2, 0), Annotator: "ann", Verdict: record.VerdictFail, Kind: record.GoldHuman},
		{RolloutID: id(2, 0), Annotator: "bot", Verdict: record.VerdictFail, Kind: record.GoldModel},
		{RolloutID: id(2, 0), Annotator: "eve", Verdict: record.VerdictUnsure, Kind: record.GoldUnknown},
	} {
		l.At = start
		no, err := db.AddLabel(t.Context(), l)
		if err != nil || no != int64(i+1) {
			t.Fatalf("label %d: number %d, %v", i, no, err)
		}
		l.ID = no
		if l.Purpose == "" {
			l.Purpose = record.PurposeFirst
		}
		want = append(want, l)
	}
	got, err := db.Labels(t.Context(), "run1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, equalish); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	gold, err := db.GoldOf(t.Context(), "run1")
	if err != nil {
		t.Fatal(err)
	}
	one, zero := 1.0, 0.0
	type short struct {
		Reward *float64
		Kind   record.GoldKind
		Voters int
	}
	wantGold := map[string]short{id(0, 0): {&one, record.GoldHuman, 1}, id(0, 1): {nil, record.GoldHuman, 2}, id(2, 0): {&zero, record.GoldModel, 2}}
	gotGold := map[string]short{}
	for id, g := range gold {
		gotGold[id] = short{g.Reward, g.Kind, g.Voters}
	}
	if diff := cmp.Diff(wantGold, gotGold); diff != "" {
		t.Errorf("gold (-want +got):\n%s", diff)
	}
	// The view says the same as the code.
	viewed := map[string]short{}
	err = db.each(t.Context(), func(row scanner) error {
		var id string
		var s short
		err := row.Scan(&id, number{&s.Reward}, &s.Kind, &s.Voters)
		viewed[id] = s
		return err
	}, "SELECT rollout_id, gold, gold_kind, voters FROM gold")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantGold, viewed); diff != "" {
		t.Errorf("the gold view (-want +got):\n%s", diff)
	}
	// id(0,0) has reward 0 and gold 1; id(2,0) has reward 0 and gold 0.
	if ids, err := db.strings(t.Context(), "SELECT rollout_id FROM disagreements"); err != nil || !slices.Equal(ids, []string{id(0, 0)}) {
		t.Errorf("disagreements %v (%v)", ids, err)
	}
}

func TestLabelsRefused(t *testing.T) {
	db := openNew(t)
	posed := fill(t, db, "run1", 1, 1, 1)
	id := record.RolloutID("run1", record.Key{TaskID: posed[0].Task.ID})
	for name, l := range map[string]record.Label{
		"no rollout":   {RolloutID: "ffff", Annotator: "ann", Verdict: record.VerdictPass, Kind: record.GoldHuman},
		"no verdict":   {RolloutID: id, Annotator: "ann", Kind: record.GoldHuman},
		"no kind":      {RolloutID: id, Annotator: "ann", Verdict: record.VerdictPass},
		"no annotator": {RolloutID: id, Verdict: record.VerdictPass, Kind: record.GoldHuman},
		"odd purpose":  {RolloutID: id, Annotator: "ann", Verdict: record.VerdictPass, Kind: record.GoldHuman, Purpose: "second"},
	} {
		good := record.Label{RolloutID: id, Annotator: "ann", Verdict: record.VerdictPass, Kind: record.GoldHuman}
		if _, err := db.AddLabels(t.Context(), []record.Label{good, l}); CodeOf(err) != CodeInvalid && CodeOf(err) != CodeNotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
	if labels, err := db.Labels(t.Context(), "run1"); err != nil || len(labels) != 0 {
		t.Errorf("refused labels left %d (%v)", len(labels), err)
	}
}

func TestTaskRates(t *testing.T) {
	db := openNew(t)
	posed := testPosed(2)
	run := testRun("run1")
	run.PassThreshold = 0.5
	for _, err := range []error{db.CreateRun(t.Context(), run), db.CommitTasks(t.Context(), "run1", posed)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	task := posed[0].Task
	half, low := 0.5, 0.25
	var outcomes []record.Outcome
	for k, reward := range []*float64{&low, &half, &half, nil, nil} { // k=3 is not judged, k=4 lost
		o := testOutcome("run1", task, 0, k)
		o.Judgment.Reward = reward
		if k == 3 {
			o.Judgment.Status = record.JudgeError
		}
		if k == 4 {
			o.Rollout.Status, o.Judgment = record.StatusLost, nil
		}
		outcomes = append(outcomes, o)
	}
	if err := db.CommitOutcomes(t.Context(), "run1", outcomes); err != nil {
		t.Fatal(err)
	}
	want := []record.TaskRate{{TaskID: task.ID, SituationID: task.SituationID, Done: 4, Graded: 3, Passed: 2, Partial: 3, Lost: 1, ProbesGraded: 2, ProbesPassed: 1}}
	got, err := db.TaskRates(t.Context(), "run1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rates (-want +got):\n%s", diff)
	}
	var viewed record.TaskRate
	err = db.read.QueryRow("SELECT task_id, situation_id, done, graded, passed, partial, lost FROM task_rates WHERE run_id = 'run1'").
		Scan(&viewed.TaskID, &viewed.SituationID, &viewed.Done, &viewed.Graded, &viewed.Passed, &viewed.Partial, &viewed.Lost)
	want[0].ProbesGraded, want[0].ProbesPassed = 0, 0
	if diff := cmp.Diff(want[0], viewed); err != nil || diff != "" {
		t.Errorf("the view (%v) (-want +got):\n%s", err, diff)
	}
	if ids, err := db.strings(t.Context(), "SELECT rollout_id FROM failures"); err != nil || len(ids) != 1 {
		t.Errorf("failures %v (%v)", ids, err)
	}
}

// A regrade appends; the run's word changes when it is told to, and complete is
// complete over done rollouts alone.
func TestRegrade(t *testing.T) {
	db := openNew(t)
	posed := fill(t, db, "run1", 2, 2, 1)
	lost := testOutcome("run1", posed[0].Task, 0, 9)
	lost.Rollout.Status, lost.Judgment, lost.Markers = record.StatusLost, nil, nil
	if err := db.CommitOutcomes(t.Context(), "run1", []record.Outcome{lost}); err != nil {
		t.Fatal(err)
	}
	judge := record.NewScorer("judge", "strict", "m", "rubric", json.RawMessage(`{"t":0}`))
	all := samples(t, db, "run1", record.SampleQuery{})
	one := 1.0
	grade := func(s *record.Sample) {
		t.Helper()
		j := record.Judgment{RolloutID: s.Rollout.ID, Scorer: judge.ID, Status: record.JudgeOK, Reward: &one, Reason: "fine", At: start}
		m := record.Marker{RolloutID: s.Rollout.ID, Scorer: judge.ID, Name: "strictness", Value: &one, Status: record.MarkerOK}
		if err := db.CommitGrades(t.Context(), "run1", []record.Scorer{judge}, []record.Judgment{j}, []record.Marker{m}); err != nil {
			t.Fatal(err)
		}
	}
	for i, s := range all {
		complete, err := db.CompleteScorers(t.Context(), "run1")
		if err != nil || slices.Contains(complete, judge.ID) || !slices.Contains(complete, rewardScorer.ID) {
			t.Errorf("after %d of %d: complete %v (%v)", i, len(all), complete, err)
		}
		grade(s)
	}
	grade(all[0]) // twice: the last one counts, and both stay
	if complete, err := db.CompleteScorers(t.Context(), "run1"); err != nil || !slices.Contains(complete, judge.ID) {
		t.Errorf("complete %v (%v)", complete, err)
	}
	if judgments, err := db.Judgments(t.Context(), all[0].Rollout.ID); err != nil || len(judgments) != 3 {
		t.Errorf("%d judgments (%v), want all three", len(judgments), err)
	}
	before := samples(t, db, "run1", record.SampleQuery{})[0]
	if before.Judgment.Scorer != rewardScorer.ID || before.Outcome.Marker("strictness") != nil {
		t.Errorf("before the switch: %s, %v", before.Judgment.Scorer, before.Markers)
	}
	if s, err := db.FinishGrades(t.Context(), "run1", judge.ID, nil, nil, nil); err != nil || !s.Own || s.Judged != 4 || s.Done != 4 {
		t.Fatalf("%+v (%v)", s, err)
	}
	after := samples(t, db, "run1", record.SampleQuery{})[0]
	if after.Judgment.Scorer != judge.ID || after.Outcome.Marker("strictness") == nil || len(after.Markers) != 3 {
		t.Errorf("after the switch: %s, %v", after.Judgment.Scorer, after.Markers)
	}
	run, err := db.Run(t.Context(), "run1")
	if err != nil || run.Scorer != judge.ID || len(run.Scorers) != 4 || run.Scorers[3].RubricHash != "rubric" {
		t.Errorf("run %+v (%v)", run, err)
	}
}

func TestNamesOfRuns(t *testing.T) {
	db := openNew(t)
	make := func(id, name, parent string) error {
		r := testRun(id)
		r.Name, r.Parent, r.Status = name, parent, record.RunDone
		return db.CreateRun(t.Context(), r)
	}
	if _, err := db.Resolve(t.Context(), "last"); CodeOf(err) != CodeNotFound {
		t.Errorf("last of none: %v", err)
	}
	for _, r := range [][3]string{{"aab1", "first", ""}, {"aac2", "", ""}, {"b3", "aac2x", ""}, {"b4", "", "b3"}, {"c5", "", ""}} {
		if err := make(r[0], r[1], r[2]); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Hide(t.Context(), "c5", true); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"aab1": "aab1", "first": "aab1", "aac2x": "b3", "aac": "aac2", "aab": "aab1", "last": "b3", "c": "c5"} {
		if got, err := db.Resolve(t.Context(), name); err != nil || got != want {
			t.Errorf("%q is %q (%v), want %q", name, got, err, want)
		}
	}
	for name, c := range map[string]struct {
		code Code
		says string
	}{"aa": {CodeAmbiguous, "aac2, aab1"}, "frist": {CodeNotFound, `"first"`}, "zzzzzz": {CodeNotFound, "assay runs"}, "": {CodeNotFound, ""}, "%": {CodeNotFound, ""}} {
		if _, err := db.Resolve(t.Context(), name); CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for name, code := range map[string]Code{"first": CodeNameTaken, "last": CodeNameReserved, "Last": CodeNameReserved, "aac2": CodeNameTaken} {
		if err := make("d6", name, ""); CodeOf(err) != code {
			t.Errorf("a run called %q: %v", name, err)
		}
	}
	if err := make("aab1", "", ""); CodeOf(err) != CodeDuplicate {
		t.Errorf("an id twice: %v", err)
	}
	if children, err := db.Children(t.Context(), "b3"); err != nil || len(children) != 1 || children[0].ID != "b4" {
		t.Errorf("children %v (%v)", children, err)
	}
}

func TestHideAndPurge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "assay.db")
	db := open(t, path, Options{})
	fill(t, db, "kept", 3, 2, 1)
	fill(t, db, "gone", 5, 2, 1) // three of its tasks are the other's too
	child := testRun("child")
	child.Parent, child.Status = "gone", record.RunDone
	done := testRun("gone")
	done.Status = record.RunDone
	secret := testPosed(6)[5:]
	secret[0].Task.Ask = "unmistakable words of the purged run"
	secret[0].Task.Identify()
	o := testOutcome("gone", secret[0].Task, 0, 0)
	o.Rollout.FinalText = "unmistakable reply"
	for _, err := range []error{
		db.CommitTasks(t.Context(), "gone", secret), db.CommitOutcomes(t.Context(), "gone", []record.Outcome{o}),
		db.CreateRun(t.Context(), child), db.SaveReport(t.Context(), record.SavedReport{Kind: "delta", RunID: "gone"}),
		db.CommitSearch(t.Context(), "gone", record.SearchState{Batch: 1}), db.AppendJournal(t.Context(), "gone", record.JournalEntry{Kind: "x"}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	no, err := db.BeginExport(t.Context(), record.ExportRecord{RunID: "gone", TaskIDs: []string{secret[0].Task.ID}})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.FinishExport(t.Context(), no); err != nil {
		t.Fatal(err)
	}
	if _, err := db.AddLabel(t.Context(), record.Label{RolloutID: o.Rollout.ID, Annotator: "ann", Verdict: record.VerdictPass, Kind: record.GoldHuman}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.IndexWords(t.Context(), 1000); err != nil {
		t.Fatal(err)
	}

	if err := db.Purge(t.Context(), "gone", true); CodeOf(err) != CodeNotHidden {
		t.Errorf("a run that is not hidden: %v", err)
	}
	if err := db.Hide(t.Context(), "gone", true); err != nil {
		t.Fatal(err)
	}
	if runs, err := db.Runs(t.Context(), false); err != nil || len(runs) != 1 || runs[0].ID != "kept" {
		t.Errorf("listed while hidden: %d runs (%v)", len(runs), err)
	}
	if err := db.Hide(t.Context(), "gone", false); err != nil {
		t.Fatal(err)
	}
	if runs, err := db.Runs(t.Context(), false); err != nil || len(runs) != 3 {
		t.Errorf("shown again: %d runs (%v)", len(runs), err)
	}
	if err := db.Hide(t.Context(), "gone", true); err != nil {
		t.Fatal(err)
	}
	if err := db.Purge(t.Context(), "gone", false); CodeOf(err) != CodeHasLabels {
		t.Errorf("with labels: %v", err)
	}
	if err := db.Purge(t.Context(), "gone", true); CodeOf(err) != CodeHeld {
		t.Errorf("while it runs: %v", err)
	}
	if err := db.UpdateRun(t.Context(), done); err != nil {
		t.Fatal(err)
	}
	if err := db.Purge(t.Context(), "gone", true); err != nil {
		t.Fatal(err)
	}
	if runs, err := db.Runs(t.Context(), true); err != nil || len(runs) != 1 {
		t.Errorf("%d runs are left (%v)", len(runs), err)
	}
	if got := samples(t, db, "kept", record.SampleQuery{}); len(got) != 6 || got[0].Task.Tools == nil {
		t.Errorf("the other run has %d rollouts", len(got))
	}
	if trained, err := db.Trained(t.Context(), []string{secret[0].Task.ID}); err != nil || len(trained) != 1 {
		t.Errorf("what was trained on is forgotten: %v (%v)", trained, err)
	}
	if found, err := db.Check(t.Context()); err != nil || !found.OK {
		t.Errorf("integrity %v (%v)", found, err)
	}
	// A run that comes after has its transcripts found, though numbers were freed.
	fill(t, db, "after", 1, 1, 1)
	if _, err := db.IndexWords(t.Context(), 1000); err != nil {
		t.Fatal(err)
	}
	if ids, pending, err := db.FindText(t.Context(), "after", "billing", 9); err != nil || len(ids) != 1 || pending != 0 {
		t.Errorf("found %v, %d pending (%v)", ids, pending, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "unmistakable") {
		t.Error("purged words are still in the file")
	}
}

func TestStories(t *testing.T) {
	db := openNew(t)
	fill(t, db, "run1", 1, 1, 1)
	ctx := t.Context()
	for _, err := range []error{
		db.CommitSearch(ctx, "run1", record.SearchState{Batch: 1, State: json.RawMessage(`{"b": 1}`)}),
		db.CommitSearch(ctx, "run1", record.SearchState{Batch: 0, State: json.RawMessage(`{"b": 0}`)}),
		db.CommitSearch(ctx, "run1", record.SearchState{Batch: 1, State: json.RawMessage(`{"b": 2}`)}),
		db.AppendJournal(ctx, "run1", record.JournalEntry{At: start, Kind: "import", Detail: json.RawMessage(`[1]`)}),
		db.SaveReport(ctx, record.SavedReport{Kind: "delta", RunID: "run1", Before: "b", After: "a", Report: json.RawMessage(`{"x": 1}`)}),
		db.SaveReport(ctx, record.SavedReport{Kind: "trust", RunID: "run1", Report: json.RawMessage(`{}`)}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	states, err := db.SearchStates(ctx, "run1")
	want := []record.SearchState{{Batch: 0, State: json.RawMessage(`{"b": 0}`)}, {Batch: 1, State: json.RawMessage(`{"b": 2}`)}}
	if diff := cmp.Diff(want, states); err != nil || diff != "" {
		t.Errorf("search states (%v) (-want +got):\n%s", err, diff)
	}
	journal, err := db.Journal(ctx, "run1")
	if err != nil || len(journal) != 1 || !journal[0].At.Equal(start) || string(journal[0].Detail) != "[1]" {
		t.Errorf("journal %v (%v)", journal, err)
	}
	reports, err := db.Reports(ctx, "run1", "delta")
	if err != nil || len(reports) != 1 || reports[0].Before != "b" || string(reports[0].Report) != `{"x": 1}` {
		t.Errorf("reports %v (%v)", reports, err)
	}
	if all, err := db.Reports(ctx, "run1", ""); err != nil || len(all) != 2 {
		t.Errorf("all reports %v (%v)", all, err)
	}
	if err := db.SaveReport(ctx, record.SavedReport{RunID: "run1", Report: json.RawMessage(`{`)}); CodeOf(err) != CodeInvalid {
		t.Errorf("a report that is not JSON: %v", err)
	}
	no, err := db.BeginExport(ctx, record.ExportRecord{RunID: "run1", For: "sft", Format: "trl", File: "f", Rows: 2, TaskIDs: []string{"t2", "t1", "t1"}})
	if err != nil {
		t.Fatal(err)
	}
	if exports, err := db.Exports(ctx, "run1"); err != nil || len(exports) != 0 {
		t.Errorf("an unfinished export is listed: %v (%v)", exports, err)
	}
	if trained, err := db.Trained(ctx, []string{"t1", "t3"}); err != nil || !trained["t1"] || trained["t3"] {
		t.Errorf("trained %v (%v)", trained, err)
	}
	if err := db.ForgetExport(ctx, no); err != nil {
		t.Fatal(err)
	}
	if trained, err := db.Trained(ctx, []string{"t1"}); err != nil || len(trained) != 0 {
		t.Errorf("a forgotten export counts: %v (%v)", trained, err)
	}
	for name, err := range map[string]error{
		"search":  db.CommitSearch(ctx, "none", record.SearchState{}),
		"grades":  db.CommitGrades(ctx, "none", nil, nil, nil),
		"samples": firstError(ctx, db, "none"),
	} {
		if CodeOf(err) != CodeNotFound {
			t.Errorf("%s of a run that is not there: %v", name, err)
		}
	}
}

func firstError(ctx context.Context, db *DB, runID string) error {
	for _, err := range db.Samples(ctx, runID, record.SampleQuery{}) {
		return err
	}
	return errors.New("no error")
}

func TestWords(t *testing.T) {
	db := openNew(t)
	posed := fill(t, db, "run1", 4, 1, 1)
	said := map[int]record.Text{0: "The Café refunded AB-12 at once", 1: "東京の天気を確認しました", 2: `says "quoted* words" OR NOT`, 3: "nothing"}
	var outcomes []record.Outcome
	ids := map[int]string{}
	for i, text := range said {
		o := testOutcome("run1", posed[i].Task, 0, 5)
		o.Rollout.FinalText = text
		ids[i] = o.Rollout.ID
		outcomes = append(outcomes, o)
	}
	if err := db.CommitOutcomes(t.Context(), "run1", outcomes); err != nil {
		t.Fatal(err)
	}
	for more := true; more; {
		var err error
		if more, err = db.IndexWords(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
	}
	for query, want := range map[string][]int{
		"cafe refunded": {0}, "refund*": {0}, "refund": nil, "天気": {1}, "気天": nil, `"at once"`: {0}, `"once at"`: nil, "quoted": {2}, "NOT": {2},
		"AB-12": {0}, "nothing": {3}, "tool": nil, "number": {0, 1, 2, 3},
	} {
		got, pending, err := db.FindText(t.Context(), "run1", query, 100)
		if err != nil || pending != 0 {
			t.Errorf("%q: %v, %d pending", query, err, pending)
		}
		var found []int
		for i := range said {
			if slices.Contains(got, ids[i]) {
				found = append(found, i)
			}
		}
		slices.Sort(found)
		if !slices.Equal(found, want) {
			t.Errorf("%q is in %v, want %v", query, found, want)
		}
	}
	for _, query := range []string{"", "  ", `"`, "***", `"" ()`} {
		if _, _, err := db.FindText(t.Context(), "run1", query, 1); CodeOf(err) != CodeInvalid {
			t.Errorf("%q: %v", query, err)
		}
	}
}

func TestKeysAreMasked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "assay.db")
	key, odd := "sk-live-0123456789", `p"ss\word<&>`
	db := open(t, path, Options{Secrets: []string{key, odd, "short"}})
	posed := fill(t, db, "run1", 1, 1, 1)
	o := testOutcome("run1", posed[0].Task, 0, 1)
	o.Rollout.FinalText = record.Text("my key is " + key + " and " + odd + ", short")
	quoted, err := record.Text(odd).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	o.Rollout.Steps[1].Result = json.RawMessage(`{"echo":"` + key + `","again":` + string(quoted) + `}`)
	o.Rollout.Extra = map[string]json.RawMessage{key: json.RawMessage(`1`)}
	if err := db.CommitOutcomes(t.Context(), "run1", []record.Outcome{o}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.AddLabel(t.Context(), record.Label{RolloutID: o.Rollout.ID, Annotator: "ann", Verdict: record.VerdictPass, Kind: record.GoldHuman, Note: record.Text(key)}); err != nil {
		t.Fatal(err)
	}
	if db.Masked() != 6 {
		t.Errorf("%d masked, want 6", db.Masked())
	}
	s, err := db.Sample(t.Context(), o.Rollout.ID)
	if err != nil || !strings.Contains(string(s.Rollout.FinalText), "my key is "+Masked) || !strings.Contains(string(s.Rollout.FinalText), "short") {
		t.Errorf("read %q (%v)", s.Rollout.FinalText, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{key, odd, string(quoted[1 : len(quoted)-1])} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%s is in the file", secret)
		}
	}
}

// Judgments, markers and labels are only ever added to.
func TestNothingIsOverwritten(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"judgments", "markers", "labels"} {
			for _, verb := range []string{"UPDATE %s SET", "INSERT OR REPLACE INTO %s"} {
				statement := fmt.Sprintf(verb, table)
				if i := strings.Index(string(text), statement); i >= 0 && !strings.HasPrefix(string(text[i:]), statement+" rollout_no") {
					t.Errorf("%s: %s", file, statement)
				}
			}
		}
	}
}

func TestViewsOpenInSQL(t *testing.T) {
	db := openNew(t)
	fill(t, db, "run1", 2, 2, 1)
	for _, view := range []string{"verdicts", "failures", "gold", "disagreements", "task_rates"} {
		var n sql.NullInt64
		if err := db.read.QueryRow("SELECT count(*) FROM " + view).Scan(&n); err != nil {
			t.Errorf("%s: %v", view, err)
		}
	}
}

// readSteps is record.Step's own reading, only faster.
func TestStepsReadAsTheRecordReadsThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := textGenerator()
		quoted := func(name string) json.RawMessage {
			raw, err := text.Draw(t, name).MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			return raw
		}
		steps := rapid.SliceOf(rapid.Custom(func(rt *rapid.T) record.Step {
			s := record.Step{Kind: rapid.SampledFrom([]record.StepKind{record.StepUser, record.StepText, record.StepTool}).Draw(rt, "kind")}
			if s.Kind == record.StepTool {
				s.Tool, s.Fault = string(rapid.StringN(0, 5, 20).Draw(rt, "tool")), rapid.SampledFrom([]string{"", "timeout"}).Draw(rt, "fault")
				s.Arguments, s.Result = json.RawMessage(`{ "a" : [1.50, `+string(quoted("argument"))+`]}`), quoted("result")
				s.IsError, s.LatencyMS = rapid.Bool().Draw(rt, "error"), rapid.IntRange(0, 9).Draw(rt, "latency")
			} else {
				s.Text = text.Draw(rt, "text")
			}
			if rapid.Bool().Draw(rt, "more") {
				s.Extra = map[string]json.RawMessage{"more \"quoted\"": quoted("extra")}
			}
			return s
		})).Draw(t, "steps")
		raw, err := appendSteps(nil, steps)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readSteps(string(raw))
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		var want []record.Step
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, equalish); diff != "" {
			t.Fatalf("(-record +store):\n%s", diff)
		}
		if diff := cmp.Diff(steps, got, equalish); diff != "" {
			t.Fatalf("(-written +read):\n%s", diff)
		}
	})
}
