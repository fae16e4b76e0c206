package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"assay/engine/record"
	"assay/store"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestLabelsRoundTrip(t *testing.T) {
	for _, format := range []string{"csv", "jsonl"} {
		t.Run(format, func(t *testing.T) {
			db := openNew(t)
			_, posed := makeRun(t, db, "run1")
			id := func(task, k int) string {
				return record.RolloutID("run1", record.Key{TaskID: posed[task].Task.ID, K: k})
			}
			for i, l := range []record.Label{
				{RolloutID: id(0, 0), Annotator: "ann", Verdict: record.VerdictPass, Kind: record.GoldHuman, Note: hostile, Tags: []string{"tone", "late"}, Blind: true, Took: 1500 * time.Millisecond},
				{RolloutID: id(0, 0), Annotator: "ann", Verdict: record.VerdictRetracted, Kind: record.GoldHuman},
				{RolloutID: id(0, 1), Annotator: "bob", Verdict: record.VerdictFail, Kind: record.GoldProgram, Note: "=cmd()", Purpose: record.PurposeRecheck},
				{RolloutID: id(1, 2), Annotator: "bob", Verdict: record.VerdictUnsure, Kind: record.GoldUnknown, Note: "two\nlines, \"quoted\""},
				{RolloutID: id(1, 2), Annotator: "eve", Verdict: record.VerdictSkip, Kind: record.GoldModel, Note: `"looks like JSON"`},
			} {
				if l.Purpose == "" {
					l.Purpose = record.PurposeFirst
				}
				l.At = start.Add(time.Duration(i) * time.Minute)
				if _, err := db.AddLabel(t.Context(), l); err != nil {
					t.Fatal(err)
				}
			}
			var out bytes.Buffer
			if n, err := WriteLabels(t.Context(), db, "run1", format, &out); err != nil || n != 5 {
				t.Fatal(n, err)
			}
			if format == "csv" && strings.Contains(out.String(), ",=cmd()") {
				t.Error("a note begins as a formula")
			}
			want, err := db.Labels(t.Context(), "run1")
			if err != nil {
				t.Fatal(err)
			}
			other := openNew(t)
			makeRun(t, other, "run1")
			for i, again := range []int{0, 5} { // a file that is imported twice says nothing new
				report, err := ImportLabels(t.Context(), other, bytes.NewReader(out.Bytes()), LabelOptions{RunID: "run1"})
				if err != nil || report.Labels != 5 || report.Matched != 5 || report.Unchanged != again || len(report.Skipped) != 0 {
					t.Fatalf("import %d: %+v, %v", i, report, err)
				}
			}
			all, err := other.Labels(t.Context(), "run1")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, all, cmpopts.IgnoreFields(record.Label{}, "ID"), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("labels (-written +read):\n%s", diff)
			}
		})
	}
}

func TestLabelKeys(t *testing.T) {
	db := openNew(t)
	if _, err := importText(t, db, `{"scenario_id":"order#1","prompt":"a","rollout_index":0,"reward":1}
{"scenario_id":"order#1","prompt":"a","rollout_index":0,"lineage":{"eval_run":1},"reward":1}
{"scenario_id":"order#2","prompt":"b","rollout_index":0,"reward":1}`, ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	key := func(name string, evalRun int) string {
		return record.RolloutID("imported", record.Key{TaskID: record.ImportedSituationID(record.Text(name)), EvalRun: evalRun})
	}
	for i, c := range []struct {
		key  string
		want string // a rollout, "" for none
		code store.Code
	}{
		{"order#2#0", key("order#2", 0), ""},
		{"order#1#1.0", key("order#1", 1), ""},
		{string(record.ImportedSituationID("order#2")) + "#0", key("order#2", 0), ""},
		{"order#1#0", "", store.CodeAmbiguous},
		{"order#2#5", "", store.CodeNotFound},
		{"nonsense", "", store.CodeNotFound},
	} {
		before, err := db.Labels(t.Context(), "imported")
		if err != nil {
			t.Fatal(err)
		}
		_, err = ImportLabels(t.Context(), db, strings.NewReader(fmt.Sprintf("task,label,annotator\n%s,pass,ann%d\n", c.key, i)), LabelOptions{RunID: "imported", Kind: record.GoldHuman, At: start})
		if store.CodeOf(err) != c.code {
			t.Errorf("%s: error %v", c.key, err)
		}
		after, err := db.Labels(t.Context(), "imported")
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case c.want == "" && len(after) != len(before):
			t.Errorf("%s: a refused file left a label", c.key)
		case c.want != "" && after[len(after)-1].RolloutID != c.want:
			t.Errorf("%s: labelled %s, want %s", c.key, after[len(after)-1].RolloutID, c.want)
		}
	}
}

func TestLabelFile(t *testing.T) {
	db := openNew(t)
	_, posed := makeRun(t, db, "run1")
	key := func(k int) string { return fmt.Sprintf("%s#%d", posed[0].Task.ID, k) }
	lines := []string{
		`{"task":"` + key(0) + `","label":"PASS","annotator":"ann","kind":"human"}`,
		`{"task":"` + key(0) + `","label":0,"annotator":"bob","kind":"human"}`,
		`{"task_id":"` + posed[0].Task.ID + `","k":1,"label":true,"annotator":"ann"}`,
		`{"task":"` + key(2) + `","label":"splendid"}`,
		`{"label":"pass"}`,
		`not json`,
		`{"task":"` + key(1) + `","label":"fail","annotator":"ann"}`,
		`{"task":"elsewhere#0","label":"fail"}`,
	}
	report, err := ImportLabels(t.Context(), db, strings.NewReader(strings.Join(lines, "\n")), LabelOptions{RunID: "run1", At: start})
	if err != nil {
		t.Fatal(err)
	}
	if report.Labels != 5 || report.Matched != 4 || len(report.Unmatched) != 1 || report.Unmatched[0] != "elsewhere#0" {
		t.Errorf("report %+v", report)
	}
	if len(report.Skipped) != 3 || report.Skipped[0].Line != 4 || report.Skipped[2].Line != 6 {
		t.Errorf("skipped %+v", report.Skipped)
	}
	if len(report.Conflicts) != 2 {
		t.Errorf("conflicts %+v, want the tie and the change of mind", report.Conflicts)
	}
	gold, err := db.GoldOf(t.Context(), "run1")
	if err != nil {
		t.Fatal(err)
	}
	tied, second := gold[record.RolloutID("run1", record.Key{TaskID: posed[0].Task.ID})], gold[record.RolloutID("run1", record.Key{TaskID: posed[0].Task.ID, K: 1})]
	if tied.Reward != nil || tied.Voters != 2 || second.Reward == nil || *second.Reward != 0 || second.Kind != record.GoldUnknown {
		t.Errorf("gold %+v, %+v", tied, second)
	}
	raw, err := json.Marshal(report)
	if err != nil || !strings.Contains(string(raw), `"unmatched":["elsewhere#0"]`) {
		t.Errorf("report as JSON: %s (%v)", raw, err)
	}
}

func TestLabelFileRefused(t *testing.T) {
	db := openNew(t)
	makeRun(t, db, "run1")
	for name, c := range map[string]struct {
		text string
		code store.Code
	}{
		"empty":         {"", store.CodeInvalid},
		"only a header": {"rollout_id,label\n", store.CodeInvalid},
		"no columns":    {"a,b\n1,2\n", store.CodeInvalid},
		"another run":   {"rollout_id,label\nffff,pass\n", store.CodeNotFound},
	} {
		if _, err := ImportLabels(t.Context(), db, strings.NewReader(c.text), LabelOptions{RunID: "run1"}); store.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}
