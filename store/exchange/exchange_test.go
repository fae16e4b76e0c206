package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/engine/record"
	"assay/store"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func openNew(t testing.TB) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "assay.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func importText(t testing.TB, db *store.DB, text string, opts ImportOptions) (ImportReport, error) {
	t.Helper()
	if opts.RunID == "" {
		opts.RunID = "imported"
	}
	opts.Started = start
	return Import(t.Context(), db, []File{{"rows.jsonl", strings.NewReader(text)}}, opts)
}

func samplesByTask(t testing.TB, db *store.DB, runID string) map[string][]*record.Sample {
	t.Helper()
	got := map[string][]*record.Sample{}
	q := record.SampleQuery{Statuses: []record.Status{record.StatusDone, record.StatusLost}}
	for s, err := range db.Samples(t.Context(), runID, q) {
		if err != nil {
			t.Fatal(err)
		}
		got[s.Task.ID] = append(got[s.Task.ID], s)
	}
	return got
}

func TestImportShapes(t *testing.T) {
	db := openNew(t)
	text, err := os.ReadFile("testdata/shapes.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	report, err := importText(t, db, string(text), ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if report.Rows != 5 || report.Tasks != 4 || report.Format != "whileai" || len(report.Skipped) != 0 {
		t.Errorf("report %+v", report)
	}
	if diff := cmp.Diff([]string{"lineage.judge_version"}, report.DroppedFields); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
	got := samplesByTask(t, db, "imported")
	at := func(key string) []*record.Sample { return got[record.ImportedSituationID(record.Text(key))] }

	if two := at("scn-1"); len(two) != 2 || two[0].Rollout.FinalText != "Refunded." || two[1].Rollout.Key.K != 1 {
		t.Fatalf("scn-1: %+v", two)
	}
	first := at("scn-1")[0]
	wantSteps := []record.Step{
		{Kind: record.StepTool, Tool: "lookup_order", Arguments: json.RawMessage(`{"order_id": "7"}`), Result: json.RawMessage(`{"status":"ok"}`)},
		{Kind: record.StepText, Text: "One moment."},
	}
	if diff := cmp.Diff(wantSteps, first.Rollout.Steps, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if f := first.Task.Fault; f == nil || *f != (record.Fault{Tool: "lookup_order", Condition: "timeout"}) {
		t.Errorf("fault %v", f)
	}
	if first.Task.Axes[record.AxisStance] != "hurried" || !first.HeldOut || string(first.Rollout.Extra["my_column"]) != "[1, 2]" {
		t.Errorf("axes %v, held out %v, extra %s", first.Task.Axes, first.HeldOut, first.Rollout.Extra)
	}
	if odd := first.Markers[0]; odd.Name != "odd" || !math.IsNaN(*odd.Value) || odd.Status != record.MarkerError {
		t.Errorf("marker %+v", odd)
	}
	for key, want := range map[string]struct {
		final  record.Text
		reward float64
		tool   string
		result string
	}{
		"Cancel order 9": {"Cancelled.", 1, "cancel_order", `{"status":"cancelled"}`},
		"12":             {"On its way.", 0.5, "track", `"on its way"`},
		"Flat":           {"Done.", 1, "track", "null"},
	} {
		s := at(key)[0]
		if r := s.Reward(); s.Rollout.FinalText != want.final || r == nil || *r != want.reward {
			t.Errorf("%s: %q, reward %v", key, s.Rollout.FinalText, r)
		}
		step := s.Rollout.Steps[0]
		if step.Tool != want.tool || string(step.Result) != want.result {
			t.Errorf("%s: step %+v", key, step)
		}
	}
	run, err := db.Run(t.Context(), "imported")
	if err != nil {
		t.Fatal(err)
	}
	if run.Role != record.RoleImport || run.Mode != record.ModeImport || run.Status != record.RunDone || run.Repeats != 1 || run.Scorer != importScorer("reward").ID {
		t.Errorf("run %+v", run)
	}
	if rates, err := db.TaskRates(t.Context(), "imported"); err != nil || len(rates) != 4 {
		t.Errorf("rates %v (%v)", rates, err)
	}
}

func TestImportOneBadLineCostsOneLine(t *testing.T) {
	good := `{"prompt":"a","final_text":"b","reward":1}`
	for name, bad := range map[string]string{
		"cut off":          `{"prompt":"a","final_te`,
		"a list":           `[1,2]`,
		"null":             `null`,
		"no task":          `{"final_text":"x"}`,
		"no steps":         `{"prompt":"a","steps":"none"}`,
		"a step of no use": `{"prompt":"a","steps":[{"thought":"hm"}]}`,
		"a negative index": `{"prompt":"a","rollout_index":-1}`,
		"an index of text": `{"prompt":"a","rollout_index":"first"}`,
		"a lone result":    `{"messages":[{"role":"tool","content":"x"}]}`,
		"an unknown role":  `{"messages":[{"role":"robot","content":"x"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			db := openNew(t)
			text := good + "\n\n" + bad + "\n" + strings.Replace(good, `"a"`, `"c"`, 1) + "\n"
			report, err := importText(t, db, text, ImportOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if report.Rows != 2 || len(report.Skipped) != 1 || report.Skipped[0].Line != 3 || report.Skipped[0].Why == "" {
				t.Errorf("report %+v", report)
			}
			_, err = importText(t, db, text, ImportOptions{RunID: "strict", Strict: true})
			if store.CodeOf(err) != store.CodeInvalid || !strings.Contains(err.Error(), "line 3 of rows.jsonl") {
				t.Errorf("strict: %v", err)
			}
			if _, err := db.Run(t.Context(), "strict"); store.CodeOf(err) != store.CodeNotFound {
				t.Errorf("the refused import left a run: %v", err)
			}
		})
	}
}

func TestImportRefusesTwoRowsWithOneKey(t *testing.T) {
	db := openNew(t)
	var text strings.Builder
	for i := range 500 { // enough that a group is committed before the duplicate
		fmt.Fprintf(&text, `{"scenario_id":"s%d","prompt":"a","rollout_index":0,"reward":1}`+"\n", i)
	}
	text.WriteString(`{"scenario_id":"s3","prompt":"other words","rollout_index":0,"reward":0}` + "\n")
	_, err := importText(t, db, text.String(), ImportOptions{})
	if store.CodeOf(err) != store.CodeDuplicate || !strings.Contains(err.Error(), "line 4 ") || !strings.Contains(err.Error(), "line 501 ") {
		t.Fatalf("error %v, want both lines named", err)
	}
	if runs, err := db.Runs(t.Context(), true); err != nil || len(runs) != 0 {
		t.Errorf("%d runs are left (%v)", len(runs), err)
	}
}

func TestImportNothing(t *testing.T) {
	db := openNew(t)
	for _, text := range []string{"", "\n\n", "hello\nworld\n"} {
		if _, err := importText(t, db, text, ImportOptions{}); store.CodeOf(err) != store.CodeInvalid {
			t.Errorf("%q: %v", text, err)
		}
	}
	if runs, err := db.Runs(t.Context(), true); err != nil || len(runs) != 0 {
		t.Errorf("%d runs are left (%v)", len(runs), err)
	}
}

func TestImportRewards(t *testing.T) {
	one, zero, half := 1.0, 0.0, 0.5
	for raw, want := range map[string]struct {
		reward *float64
		status record.JudgeStatus
	}{
		`1`: {&one, "ok"}, `0`: {&zero, "ok"}, `0.5`: {&half, "ok"}, `true`: {&one, "ok"}, `false`: {&zero, "ok"}, `"0.5"`: {&half, "ok"},
		`1.5`: {nil, "invalid_result"}, `-1`: {nil, "invalid_result"}, `NaN`: {nil, "invalid_result"}, `"Infinity"`: {nil, "invalid_result"},
		`-Infinity`: {nil, "invalid_result"}, `"good"`: {nil, "invalid_result"}, `{}`: {nil, "invalid_result"}, `null`: {nil, ""},
	} {
		row, err := readRow([]byte(`{"prompt":"NaN \" NaN","reward":`+raw+`}`), nil)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if row.prompt != `NaN " NaN` {
			t.Errorf("%s: prompt %q", raw, row.prompt)
		}
		o := row.outcome("r", record.Key{})
		switch {
		case want.status == "" && o.Judgment != nil:
			t.Errorf("%s: judgment %+v, want none", raw, o.Judgment)
		case want.status != "" && (o.Judgment == nil || o.Judgment.Status != want.status || cmp.Diff(want.reward, o.Judgment.Reward) != ""):
			t.Errorf("%s: judgment %+v", raw, o.Judgment)
		}
	}
}

func TestImportWithMapping(t *testing.T) {
	db := openNew(t)
	text := `{"id":"t1","data":{"turns":[{"ask":"Hi"},{"say":"Hello"}]},"ok":true,"scores":{"tone":0.7},"error":null,"note":"kept"}
{"id":"t1","data":{"turns":[{"ask":"Hi"},{"say":"Hey"}]},"ok":false,"scores":{},"error":"boom","note":"kept"}
`
	report, err := importText(t, db, text, ImportOptions{Map: map[string]string{
		"scenario_id": "id", "prompt": "data.turns[0].ask", "final_text": "data.turns[1].say", "reward": "ok", "markers.tone": "scores.tone", "reason": "nowhere"}})
	if err != nil {
		t.Fatal(err)
	}
	if report.Format != "jsonl" || report.Rows != 2 || report.Tasks != 1 {
		t.Errorf("report %+v", report)
	}
	if !strings.Contains(fmt.Sprint(report.Warnings), "nowhere") {
		t.Errorf("the path that no row has is not named: %v", report.Warnings)
	}
	two := samplesByTask(t, db, "imported")[record.ImportedSituationID("t1")]
	if len(two) != 2 || two[0].Rollout.FinalText != "Hello" || *two[0].Reward() != 1 || *two[1].Reward() != 0 || *two[0].Marker("tone") != 0.7 || two[1].Marker("tone") != nil {
		t.Fatalf("samples %+v", two)
	}
	if string(two[0].Rollout.Extra["note"]) != `"kept"` || two[1].Rollout.Error != "boom" {
		t.Errorf("extra %s, error %q", two[0].Rollout.Extra, two[1].Rollout.Error)
	}
	for field, want := range map[string]string{"promt": "prompt", "rewards": "reward", "zzz": "see the fields"} {
		_, err := importText(t, db, text, ImportOptions{RunID: "x", Map: map[string]string{field: "id"}})
		if store.CodeOf(err) != store.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("--map %s: %v", field, err)
		}
	}
	for _, path := range []string{"", "a..b", "a[", "a[x]", "a[0]b"} {
		if _, err := importText(t, db, text, ImportOptions{RunID: "x", Map: map[string]string{"prompt": path}}); store.CodeOf(err) != store.CodeInvalid {
			t.Errorf("path %q: %v", path, err)
		}
	}
}

// What we write comes back as it was: identities, held out, grades, gold, text.
func TestOurRowsRoundTrip(t *testing.T) {
	db := openNew(t)
	run, posed := makeRun(t, db, "run1")
	first := record.RolloutID("run1", record.Key{TaskID: posed[0].Task.ID})
	for _, l := range []record.Label{{Annotator: "ann", Verdict: record.VerdictPass, Kind: record.GoldHuman}, {Annotator: "bob", Verdict: record.VerdictUnsure, Kind: record.GoldHuman}} {
		l.RolloutID = first
		if _, err := db.AddLabel(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	all := record.SampleQuery{Statuses: []record.Status{record.StatusDone, record.StatusLost}}
	if n, err := WriteRows(t.Context(), db, run.ID, all, &out); err != nil || n != 9 {
		t.Fatal(n, err)
	}
	if report, err := importText(t, db, out.String(), ImportOptions{RunID: "again", Train: true}); err != nil || report.Rows != 9 || report.Labels != 2 || len(report.DroppedFields) != 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	want, got := samplesByTask(t, db, "run1"), samplesByTask(t, db, "again")
	ignore := cmp.Options{
		cmpopts.IgnoreFields(record.Rollout{}, "ID", "RunID", "FinishedAt", "Latency", "StartedAt", "Behavior"),
		cmpopts.IgnoreFields(record.Judgment{}, "RolloutID", "Scorer", "At"),
		cmpopts.IgnoreFields(record.Marker{}, "RolloutID", "Scorer"),
		cmpopts.IgnoreFields(record.Posed{}, "Order", "Batch"), cmpopts.EquateEmpty(),
	}
	if diff := cmp.Diff(want, got, ignore); diff != "" {
		t.Errorf("samples (-written +read):\n%s", diff)
	}
	gold, err := db.GoldOf(t.Context(), "again")
	if err != nil || len(gold) != 1 {
		t.Fatalf("gold %v (%v)", gold, err)
	}
	for _, g := range gold {
		if *g.Reward != 1 || g.Kind != record.GoldHuman || len(g.Labels) != 2 {
			t.Errorf("gold %+v", g)
		}
	}
	var second bytes.Buffer
	if _, err := WriteRows(t.Context(), db, "again", all, &second); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(canonicalLines(t, out.Bytes()), canonicalLines(t, second.Bytes())); diff != "" {
		t.Errorf("canonical rows (-first +second):\n%s", diff)
	}
}

// canonicalLines are the rows for comparing, without the scorer's own version.
func canonicalLines(t *testing.T, text []byte) []string {
	t.Helper()
	var list []string
	for line := range strings.Lines(string(text)) {
		var r record.Row
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		r.Scorer = ""
		raw, err := r.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(raw))
	}
	return list
}

const hostile = record.Text("nul \x00 esc \x1b]52;c;x\x07 lone \xed\xa0\x80 bidi \u202e 漢字 👩‍👩‍👧 \u0085 \"q\" </script>")

// makeRun makes a run of two training tasks and one held out, three rollouts each.
func makeRun(t testing.TB, db *store.DB, id string) (*record.Run, []record.Posed) {
	t.Helper()
	scorer := record.NewScorer("marker", "safe", "", "", nil)
	run := &record.Run{ID: id, Role: record.RoleMain, Mode: record.ModeRL, Repeats: 3, EvalRuns: 1, PassThreshold: 1, SystemPrompt: "Be kind.",
		Scorer: scorer.ID, Scorers: []record.Scorer{scorer}, Status: record.RunRunning, StartedAt: start}
	tools := []record.Tool{{Name: "restart", Description: "Restarts.", Parameters: json.RawMessage(`{"type":"object"}`)}}
	run.Tools = tools
	var posed []record.Posed
	for i := range 3 {
		task := &record.Task{Origin: record.OriginGrid, Axes: record.Axes{record.AxisTool: "restart", "n": fmt.Sprint(i)}, Fault: &record.Fault{Tool: "restart", Condition: "timeout"},
			Ask: hostile + record.Text(fmt.Sprint(i)), User: record.User{Kind: "imported"}, Tools: tools, Writer: "imported"}
		task.SituationID = record.SituationID(task.Axes, task.Fault)
		task.Identify()
		task.Origin = record.OriginImported // what a file does not say
		posed = append(posed, record.Posed{Task: task, Arm: record.ArmStructured, Order: i, HeldOut: i == 2})
	}
	var outcomes []record.Outcome
	for _, p := range posed {
		for k := range 3 {
			key := record.Key{TaskID: p.Task.ID, K: k}
			reward := float64(min(k, 1))
			o := record.Outcome{Rollout: record.Rollout{ID: record.RolloutID(id, key), RunID: id, Key: key, Status: record.StatusDone, Attempts: 1, FinalText: hostile,
				FinishReason: record.FinishStop, EndedBy: record.EndedByAgent, PolicyVersion: "p1", WriterModel: "template",
				LogProbs: []record.LogProbs{{Sum: -2, Tokens: 2, List: []float64{-1, -1}}},
				Steps: []record.Step{
					{Kind: record.StepText, Text: "Looking."},
					{Kind: record.StepTool, Tool: "restart", Arguments: json.RawMessage(`{"id":"billing"}`),
						Result: json.RawMessage(`{"ok":true,"booking":{"reference":"AB12","privileged":{"answer":"SECRET-42"}},"note":"{\"privileged\":\"SECRET-42\"}"}`)},
				},
				Privileged: json.RawMessage(`{"truth":{"ok":true,"fault":"SECRET-42"}}`),
				Extra:      map[string]json.RawMessage{"debug": json.RawMessage(`{"gold":"SECRET-42","kept":1}`)}},
				Markers: []record.Marker{{RolloutID: record.RolloutID(id, key), Scorer: scorer.ID, Name: "safe", Value: &reward, Status: record.MarkerOK}}}
			o.Judgment = &record.Judgment{RolloutID: o.Rollout.ID, Scorer: scorer.ID, Reward: &reward, Status: record.JudgeOK, Reason: "it said SECRET-42", Meta: json.RawMessage(`{"why":"SECRET-42"}`)}
			if p.HeldOut && k == 2 {
				o.Rollout.Status, o.Rollout.Cause, o.Judgment, o.Markers = record.StatusLost, record.CauseAgent, nil, nil
			}
			outcomes = append(outcomes, o)
		}
	}
	for _, err := range []error{db.CreateRun(t.Context(), run), db.CommitTasks(t.Context(), id, posed), db.CommitOutcomes(t.Context(), id, outcomes)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return run, posed
}
