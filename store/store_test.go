package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/engine/record"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// start is the time of the tests' clock: nothing here depends on today.
var start = time.Date(2026, 3, 1, 9, 0, 0, 123456000, time.UTC)

// open opens a store at path that lives as long as the test.
func open(t testing.TB, path string, opts Options) *DB {
	t.Helper()
	db, err := Open(t.Context(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return db
}

func openNew(t testing.TB) *DB {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "assay.db"), Options{Version: "assay test"})
}

var rewardScorer = record.NewScorer("marker", "safe_restart", "", "", json.RawMessage(`{"expr":"true"}`))

func marker(name string) record.Scorer { return record.NewScorer("marker", name, "", "", nil) }

func testRun(id string) *record.Run {
	return &record.Run{
		ID: id, Role: record.RoleMain, Recipe: "seeded", RecipeText: "name: seeded\n", RecipeHash: "abc", RecipeDir: "/r",
		Files: map[string]string{"policy.md": "Be kind."}, Overrides: map[string]string{"seed": "7"}, Config: json.RawMessage(`{"seed": 7}`),
		Mode: record.ModeRL, Seed: 7, Repeats: 4, EvalRuns: 1, PassThreshold: 1, PolicyVersion: "p1", SystemPrompt: "Be kind. \xed\xb0\x80", Tools: testTools, Program: "builtin:seeded",
		Scorer: rewardScorer.ID, Scorers: []record.Scorer{rewardScorer, marker("m0"), marker("m1")},
		Status: record.RunRunning, StartedAt: start,
		Counts:   record.Counts{Tasks: 3, Lost: map[record.Cause]int{record.CauseAgent: 2}},
		Coverage: &record.Coverage{Strength: 2, Planned: 10, Missing: []string{"a × b"}},
		Warnings: []record.Warning{{Code: "hollow", Text: "no tool was called", Fix: "look"}},
	}
}

var testTools = []record.Tool{{Name: "restart_service", Description: "Restarts.", Parameters: json.RawMessage(`{"type":"object"}`), Kind: record.ToolWrite}}

func testTask(n int) *record.Task {
	axes := record.Axes{record.AxisTool: "restart_service", record.AxisStance: "ordinary", "extra": fmt.Sprint(n)}
	t := &record.Task{
		Origin: record.OriginGrid, Axes: axes, Fault: &record.Fault{Tool: "restart_service", Condition: record.ConditionTimeout},
		World: record.World{Entities: []record.Entity{{Argument: "service", ID: "billing", State: record.EntityExists}}},
		Ask:   record.Text(fmt.Sprintf("Please restart billing, number %d.", n)), User: record.User{Kind: "scripted", Manner: "terse", Wants: "it up"},
		Tools: testTools, Reference: json.RawMessage(`{"answer": 42}`), Writer: "template",
	}
	t.SituationID = record.SituationID(axes, t.Fault)
	t.Identify()
	return t
}

func testPosed(n int) []record.Posed {
	posed := make([]record.Posed, n)
	for i := range posed {
		posed[i] = record.Posed{Task: testTask(i), Arm: record.ArmStructured, Batch: i / 2, Order: i, HeldOut: i%4 == 3}
	}
	return posed
}

func testOutcome(runID string, task *record.Task, evalRun, k int) record.Outcome {
	key := record.Key{TaskID: task.ID, EvalRun: evalRun, K: k}
	reward := float64(k % 2)
	id := record.RolloutID(runID, key)
	return record.Outcome{
		Rollout: record.Rollout{
			ID: id, RunID: runID, Key: key, Status: record.StatusDone, FinishReason: record.FinishStop, EndedBy: record.EndedByAgent,
			FinalText: "Restarted billing.", Steps: []record.Step{
				{Kind: record.StepText, Text: "Looking."},
				{Kind: record.StepTool, Tool: "restart_service", Arguments: json.RawMessage(`{"service": "billing"}`), Result: json.RawMessage(`{"ok":true}`), LatencyMS: 12},
				{Kind: record.StepUser, Text: "Thanks"},
			},
			Usage: &record.Usage{InputTokens: 10, OutputTokens: 4, Cost: 0.25}, LogProbs: []record.LogProbs{{Sum: -1.5, Tokens: 3, List: []float64{-0.5, -0.5, -0.5}}},
			Latency: 1500 * time.Microsecond, Attempts: 1, Sampling: json.RawMessage(`{"temperature": 0.7}`), PolicyVersion: "p1", PromptHash: "h1",
			WriterModel: "template", UserModel: "scripted", Behavior: "b1", Privileged: json.RawMessage(`{"truth":{"ok":true}}`),
			Extra: map[string]json.RawMessage{"mood": json.RawMessage(`"fine"`)}, StartedAt: start, FinishedAt: start.Add(2 * time.Second),
		},
		Judgment: &record.Judgment{RolloutID: id, Scorer: rewardScorer.ID, Reward: &reward, Status: record.JudgeOK, Reason: "as the marker said", FailureClass: "unsafe",
			Criteria: []record.Criterion{{Name: "1", Hard: true, Score: &reward, Reason: "because"}}, Evidence: []record.Evidence{{Rule: "r", Step: 1, Fragment: "x"}},
			Raw: `{"reward":1}`, Meta: json.RawMessage(`{"n":1}`), Cut: json.RawMessage(`{"steps":3}`), Latency: time.Millisecond, At: start},
		Markers: []record.Marker{
			{RolloutID: id, Scorer: marker("m0").ID, Name: "m0", Value: &reward, Status: record.MarkerOK, Evidence: []record.Evidence{{Step: -1}}},
			{RolloutID: id, Scorer: marker("m1").ID, Name: "m1", Status: record.MarkerError, Note: "nil has no field"},
		},
	}
}

// fill adds a run with n tasks, k rollouts each in evalRuns eval runs.
func fill(t testing.TB, db *DB, runID string, n, k, evalRuns int) []record.Posed {
	t.Helper()
	posed := testPosed(n)
	if err := db.CreateRun(t.Context(), testRun(runID)); err != nil {
		t.Fatal(err)
	}
	if err := db.CommitTasks(t.Context(), runID, posed); err != nil {
		t.Fatal(err)
	}
	var outcomes []record.Outcome
	for e := range evalRuns {
		for _, p := range posed {
			for i := range k {
				outcomes = append(outcomes, testOutcome(runID, p.Task, e, i))
			}
		}
	}
	if err := db.CommitOutcomes(t.Context(), runID, outcomes); err != nil {
		t.Fatal(err)
	}
	return posed
}

func samples(t testing.TB, db *DB, runID string, q record.SampleQuery) []*record.Sample {
	t.Helper()
	var list []*record.Sample
	for s, err := range db.Samples(t.Context(), runID, q) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

// equalish ignores the difference between nothing and none.
var equalish = cmp.Options{cmpopts.EquateEmpty(), cmpopts.EquateNaNs()}

func TestRunRoundTrip(t *testing.T) {
	db := openNew(t)
	want := testRun("run1")
	want.Error = "bad \x00 and \xed\xa0\x80"
	if err := db.CreateRun(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	got, err := db.Run(t.Context(), "run1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, equalish); diff != "" {
		t.Errorf("run (-want +got):\n%s", diff)
	}
	want.Status, want.StoppedBecause, want.FinishedAt, want.Counts.Done = record.RunDone, record.StoppedComplete, start.Add(time.Hour), 12
	want.Scorers = want.Scorers[:1]
	if err := db.UpdateRun(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	list, err := db.Runs(t.Context(), false)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	short := *want
	short.RecipeText, short.Files = "", nil
	if diff := cmp.Diff(&short, list[0], equalish); diff != "" {
		t.Errorf("listed run (-want +got):\n%s", diff)
	}
}

func TestOutcomeRoundTrip(t *testing.T) {
	db := openNew(t)
	posed := fill(t, db, "run1", 5, 3, 2)
	got := samples(t, db, "run1", record.SampleQuery{})
	if len(got) != 30 {
		t.Fatalf("%d samples, want 30", len(got))
	}
	byTask := map[string]record.Posed{}
	for _, p := range posed {
		byTask[p.Task.ID] = p
	}
	for i, s := range got {
		want := record.Sample{Posed: byTask[s.Rollout.Key.TaskID], Outcome: testOutcome("run1", byTask[s.Rollout.Key.TaskID].Task, s.Rollout.Key.EvalRun, s.Rollout.Key.K)}
		if diff := cmp.Diff(&want, s, equalish); diff != "" {
			t.Fatalf("sample %d (-want +got):\n%s", i, diff)
		}
		if i > 0 && got[i-1].Rollout.Key.Compare(s.Rollout.Key) >= 0 {
			t.Errorf("sample %d is out of order", i)
		}
		one, err := db.Sample(t.Context(), s.Rollout.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, one, equalish); diff != "" {
			t.Fatalf("sample alone (-listed +alone):\n%s", diff)
		}
	}
	read, err := db.Posed(t.Context(), "run1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(posed, read, equalish); diff != "" {
		t.Errorf("posed (-want +got):\n%s", diff)
	}
}

func TestSamplesKeepReceivedBytes(t *testing.T) {
	db := openNew(t)
	fill(t, db, "run1", 1, 1, 1)
	s := samples(t, db, "run1", record.SampleQuery{})[0]
	if got, want := string(s.Rollout.Steps[1].Arguments), `{"service": "billing"}`; got != want {
		t.Errorf("arguments %s, want the bytes that came, %s", got, want)
	}
}

func TestSamplesQuery(t *testing.T) {
	db := openNew(t)
	posed := fill(t, db, "run1", 8, 2, 1)
	lost := testOutcome("run1", posed[0].Task, 0, 7)
	lost.Rollout.Status, lost.Rollout.Cause, lost.Judgment = record.StatusLost, record.CauseAgent, nil
	if err := db.CommitOutcomes(t.Context(), "run1", []record.Outcome{lost}); err != nil {
		t.Fatal(err)
	}
	yes, no := true, false
	for _, c := range []struct {
		name string
		q    record.SampleQuery
		want int
	}{
		{"done", record.SampleQuery{}, 16},
		{"done and lost", record.SampleQuery{Statuses: []record.Status{record.StatusDone, record.StatusLost}}, 17},
		{"lost", record.SampleQuery{Statuses: []record.Status{record.StatusLost}}, 1},
		{"held out", record.SampleQuery{HeldOut: &yes}, 4},
		{"not held out", record.SampleQuery{HeldOut: &no}, 12},
	} {
		if got := samples(t, db, "run1", c.q); len(got) != c.want {
			t.Errorf("%s: %d samples, want %d", c.name, len(got), c.want)
		}
	}
	other := samples(t, db, "run1", record.SampleQuery{Scorer: "judge:nobody@0"})
	if len(other) != 16 || other[0].Judgment != nil {
		t.Errorf("under a scorer that nobody used: %d samples, judgment %v", len(other), other[0].Judgment)
	}
}

// A page ends after pageRows rows or pageBytes bytes; what is read must not.
func TestSamplesPages(t *testing.T) {
	db := openNew(t)
	posed := fill(t, db, "run1", 60, 5, 2)
	big := testOutcome("run1", posed[0].Task, 0, 99)
	big.Rollout.FinalText = record.Text(strings.Repeat("x", pageBytes+1))
	if err := db.CommitOutcomes(t.Context(), "run1", []record.Outcome{big}); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for s, err := range db.Samples(t.Context(), "run1", record.SampleQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		if seen[s.Rollout.ID] {
			t.Fatalf("%s is there twice", s.Rollout.ID)
		}
		seen[s.Rollout.ID] = true
		// The caller may write meanwhile.
		if len(seen) == 300 {
			if _, err := db.AddLabel(t.Context(), record.Label{RolloutID: s.Rollout.ID, Annotator: "ann", Verdict: record.VerdictPass, Kind: record.GoldHuman}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(seen) != 601 {
		t.Errorf("%d samples, want 601", len(seen))
	}
}

func TestNumbersThatAreNot(t *testing.T) {
	db := openNew(t)
	posed := testPosed(1)
	if err := db.CreateRun(t.Context(), testRun("run1")); err != nil {
		t.Fatal(err)
	}
	if err := db.CommitTasks(t.Context(), "run1", posed); err != nil {
		t.Fatal(err)
	}
	for k, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0.5, -3, 0} {
		o := testOutcome("run1", posed[0].Task, 0, k)
		o.Markers[0].Value = &v
		if err := db.CommitOutcomes(t.Context(), "run1", []record.Outcome{o}); err != nil {
			t.Fatal(err)
		}
		s, err := db.Sample(t.Context(), o.Rollout.ID)
		if err != nil {
			t.Fatal(err)
		}
		if got := *s.Markers[0].Value; got != v && !(math.IsNaN(got) && math.IsNaN(v)) {
			t.Errorf("wrote %v, read %v", v, got)
		}
	}
	var named int
	if err := db.read.QueryRow("SELECT count(*) FROM markers WHERE value IN ('NaN', 'Infinity', '-Infinity')").Scan(&named); err != nil || named != 3 {
		t.Errorf("%d named values (%v), want 3", named, err)
	}
}

func TestLostIsReplacedDoneIsNot(t *testing.T) {
	db := openNew(t)
	posed := testPosed(2)
	if err := db.CreateRun(t.Context(), testRun("run1")); err != nil {
		t.Fatal(err)
	}
	if err := db.CommitTasks(t.Context(), "run1", posed); err != nil {
		t.Fatal(err)
	}
	for k, first := range []record.Status{record.StatusLost, record.StatusAborted, record.StatusDone} {
		t.Run(string(first), func(t *testing.T) {
			was := testOutcome("run1", posed[0].Task, 0, k)
			was.Rollout.Status, was.Rollout.FinalText = first, "first"
			again := testOutcome("run1", posed[0].Task, 0, k)
			again.Rollout.FinalText = "second"
			beside := testOutcome("run1", posed[1].Task, 0, k)
			if err := db.CommitOutcomes(t.Context(), "run1", []record.Outcome{was}); err != nil {
				t.Fatal(err)
			}
			label := record.Label{RolloutID: was.Rollout.ID, Annotator: "ann", Verdict: record.VerdictFail, Kind: record.GoldHuman}
			if _, err := db.AddLabel(t.Context(), label); err != nil {
				t.Fatal(err)
			}
			if err := db.CommitOutcomes(t.Context(), "run1", []record.Outcome{again, beside}); err != nil {
				t.Fatal(err)
			}
			s, err := db.Sample(t.Context(), was.Rollout.ID)
			if err != nil {
				t.Fatal(err)
			}
			want := record.Text("second")
			if first == record.StatusDone {
				want = "first"
			}
			if s.Rollout.FinalText != want || len(s.Markers) != 2 {
				t.Errorf("read %q with %d markers, want %q with 2", s.Rollout.FinalText, len(s.Markers), want)
			}
			if judgments, err := db.Judgments(t.Context(), was.Rollout.ID); err != nil || len(judgments) != 1 {
				t.Errorf("%d judgments (%v), want 1", len(judgments), err)
			}
			if gold, err := db.GoldOf(t.Context(), "run1"); err != nil || gold[was.Rollout.ID].Voters != 1 {
				t.Errorf("gold of what was labelled: %v (%v), want the label kept", gold[was.Rollout.ID], err)
			}
			if _, err := db.Sample(t.Context(), beside.Rollout.ID); err != nil {
				t.Errorf("the rollout beside it: %v", err)
			}
		})
	}
}

func TestOutcomesRefused(t *testing.T) {
	db := openNew(t)
	posed := fill(t, db, "run1", 1, 1, 1)
	stranger := testOutcome("run1", testTask(77), 0, 0)
	twice := testOutcome("run1", posed[0].Task, 0, 5)
	elsewhere := testOutcome("run2", posed[0].Task, 0, 0)
	broken := testOutcome("run1", posed[0].Task, 0, 6)
	broken.Rollout.Steps[1].Result = json.RawMessage(`{"ok":`)
	for name, group := range map[string][]record.Outcome{
		"task not posed": {stranger}, "twice in one group": {twice, twice}, "another run": {elsewhere}, "not JSON": {broken}, "one of two": {twice, stranger},
	} {
		if err := db.CommitOutcomes(t.Context(), "run1", group); CodeOf(err) != CodeInvalid && CodeOf(err) != CodeDuplicate {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if got := samples(t, db, "run1", record.SampleQuery{}); len(got) != 1 {
		t.Errorf("%d rollouts after refusals, want the 1 from before", len(got))
	}
}

func TestContextEndsBeforeTheWrite(t *testing.T) {
	db := openNew(t)
	posed := fill(t, db, "run1", 1, 1, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.CommitOutcomes(ctx, "run1", []record.Outcome{testOutcome("run1", posed[0].Task, 0, 1)}); err != context.Canceled {
		t.Errorf("error %v, want context.Canceled", err)
	}
}
