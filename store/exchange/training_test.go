package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/engine/record"
	"assay/store"

	"github.com/google/go-cmp/cmp"
)

// trainingOf makes a set of every training sample of the run that makeRun makes.
func trainingOf(t testing.TB, db *store.DB, target string) *record.Training {
	t.Helper()
	run, _ := makeRun(t, db, "run1")
	no := false
	set := &record.Training{For: target, Run: run, SystemPrompt: run.SystemPrompt, Tools: run.Tools}
	var groups []record.TrainingGroup
	for s, err := range db.Samples(t.Context(), "run1", record.SampleQuery{HeldOut: &no}) {
		if err != nil {
			t.Fatal(err)
		}
		if n := len(groups); n == 0 || groups[n-1].Samples[0].Task.ID != s.Task.ID {
			groups = append(groups, record.TrainingGroup{Mean: 2.0 / 3, Std: 0.4714})
		}
		g := &groups[len(groups)-1]
		g.Samples = append(g.Samples, s)
	}
	for _, g := range groups {
		switch target {
		case forSFT:
			set.Rows = append(set.Rows, record.TrainingRow{Sample: g.Samples[1]}, record.TrainingRow{Sample: g.Samples[2]})
		case forGRPO:
			set.Groups = append(set.Groups, g)
		default:
			set.Pairs = append(set.Pairs, record.TrainingPair{Chosen: g.Samples[1], Rejected: g.Samples[0], Margin: 1})
		}
	}
	return set
}

// columns are the names at the top of each line, once.
func columns(t testing.TB, text []byte) (names []string, lines int) {
	t.Helper()
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		var v map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		for name := range v {
			seen[name] = true
		}
		lines++
	}
	return slices.Sorted(maps.Keys(seen)), lines
}

func TestTrainingFiles(t *testing.T) {
	for _, c := range []struct {
		target, format string
		columns        []string // all of them, or nil
		lines          int
	}{
		{"sft", "trl", []string{"messages", "tools"}, 4},
		{"grpo", "trl", []string{"prompt"}, 2}, // one prompt a task
		{"dpo", "trl", []string{"chosen", "prompt", "rejected", "tools"}, 2},
		{"rm", "trl", []string{"chosen", "prompt", "rejected", "tools"}, 2},
		{"sft", "openai", []string{"messages", "tools"}, 4},
		{"sft", "whileai", nil, 4},
		{"grpo", "whileai", nil, 6},
		{"dpo", "whileai", nil, 2},
	} {
		t.Run(c.target+" "+c.format, func(t *testing.T) {
			db := openNew(t)
			set := trainingOf(t, db, c.target)
			file := filepath.Join(t.TempDir(), "out.jsonl")
			if err := (Exporter{db}).Export(t.Context(), set, c.format, file); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			names, lines := columns(t, text)
			if lines != c.lines {
				t.Errorf("%d lines, want %d", lines, c.lines)
			}
			if c.columns != nil {
				if diff := cmp.Diff(c.columns, names); diff != "" {
					t.Errorf("columns (-want +got):\n%s", diff)
				}
			}
			if bytes.Contains(text, []byte("SECRET-42")) {
				t.Errorf("privileged text in the file:\n%s", text)
			}
			if !bytes.Contains(text, []byte("AB12")) && c.target == "sft" {
				t.Error("a booking's reference is the tool's own word and is gone")
			}
			exports, err := db.Exports(t.Context(), "run1")
			if err != nil || len(exports) != 1 {
				t.Fatal(exports, err)
			}
			want := record.ExportRecord{RunID: "run1", For: c.target, Format: c.format, File: file, Rows: c.lines, TaskIDs: slices.Sorted(slices.Values(set.TaskIDs()))}
			if diff := cmp.Diff(want, exports[0]); diff != "" {
				t.Errorf("export (-want +got):\n%s", diff)
			}
			trained, err := db.Trained(t.Context(), append(set.TaskIDs(), "another"))
			if err != nil || len(trained) != 2 || trained["another"] {
				t.Errorf("trained %v (%v)", trained, err)
			}
		})
	}
}

func TestTrainingCarriesWhatTrainersNeed(t *testing.T) {
	db := openNew(t)
	var out bytes.Buffer
	set := trainingOf(t, db, "grpo")
	set.Groups[0].Rewards = []float64{0.25, 1, 1}
	if _, err := WriteTraining(&out, set, FormatWhileai); err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(out.String(), "\n")
	var row struct {
		record.Row
		GroupID string  `json:"group_id"`
		Mean    float64 `json:"group_mean"`
		Std     float64 `json:"group_std"`
	}
	if err := json.Unmarshal([]byte(line), &row.Row); err != nil {
		t.Fatal(err)
	}
	if row.PolicyVersion != "p1" || *row.LogProb != -2 || *row.NTokens != 2 || *row.Reward != 0.25 {
		t.Errorf("row %s", line)
	}
	if string(row.Extra["group_id"]) != `"`+row.TaskID+`"` || string(row.Extra["group_std"]) != "0.4714" {
		t.Errorf("group %s", row.Extra)
	}
	if string(row.Extra["debug"]) != `{"kept":1}` {
		t.Errorf("extra %s, want what is not privileged kept", row.Extra["debug"])
	}
}

func TestTrainingLoss(t *testing.T) {
	db := openNew(t)
	set := trainingOf(t, db, "sft")
	write := func(format string) string {
		var out bytes.Buffer
		if _, err := WriteTraining(&out, set, format); err != nil {
			t.Fatal(err)
		}
		line, _, _ := strings.Cut(out.String(), "\n")
		return line
	}
	mask := func(line string) []int {
		var row struct {
			Mask []int `json:"loss_mask"`
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		return row.Mask
	}
	// system, user, text, call, result, final
	if diff := cmp.Diff([]int{0, 0, 1, 1, 0, 1}, mask(write(FormatWhileai))); diff != "" {
		t.Errorf("assistant (-want +got):\n%s", diff)
	}
	set.Rows[0].Loss = record.LossFinal
	if _, err := WriteTraining(&bytes.Buffer{}, set, FormatTRL); store.CodeOf(err) != store.CodeInvalid {
		t.Errorf("a TRL file of two kinds: %v", err)
	}
	for i := range set.Rows {
		set.Rows[i].Loss = record.LossFinal
	}
	if diff := cmp.Diff([]int{0, 0, 0, 0, 0, 1}, mask(write(FormatWhileai))); diff != "" {
		t.Errorf("final (-want +got):\n%s", diff)
	}
	names, _ := columns(t, []byte(write(FormatTRL)))
	if diff := cmp.Diff([]string{"completion", "prompt", "tools"}, names); diff != "" {
		t.Errorf("TRL columns (-want +got):\n%s", diff)
	}
	if line := write(FormatOpenAI); strings.Count(line, `"weight":0`) != 2 {
		t.Errorf("OpenAI weights: %s", line)
	}
}

// TRL's templates want arguments as an object, OpenAI's API as text.
func TestTrainingArguments(t *testing.T) {
	db := openNew(t)
	set := trainingOf(t, db, "sft")
	for format, want := range map[string]string{FormatTRL: `"arguments":{"id":"billing"}`, FormatOpenAI: `"arguments":"{\"id\":\"billing\"}"`} {
		var out bytes.Buffer
		if _, err := WriteTraining(&out, set, format); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s: no %s in\n%s", format, want, out.String())
		}
	}
}

func TestTrainingRefusals(t *testing.T) {
	db := openNew(t)
	set := trainingOf(t, db, "sft")
	folder := t.TempDir()
	yes := true
	var heldOut *record.Sample
	for s, err := range db.Samples(t.Context(), "run1", record.SampleQuery{HeldOut: &yes}) {
		if err != nil {
			t.Fatal(err)
		}
		heldOut = s
	}
	evalRun := *set.Run
	evalRun.Mode = record.ModeEval
	for name, c := range map[string]struct {
		set    *record.Training
		format string
	}{
		"empty":            {&record.Training{For: "sft", Run: set.Run}, "whileai"},
		"empty for TRL":    {&record.Training{For: "grpo", Run: set.Run}, "trl"},
		"unknown format":   {set, "parquet"},
		"held out":         {&record.Training{For: "sft", Run: set.Run, Rows: []record.TrainingRow{{Sample: heldOut}}}, "whileai"},
		"eval run":         {&record.Training{For: "sft", Run: &evalRun, Rows: set.Rows}, "whileai"},
		"rm rows for TRL":  {&record.Training{For: "rm", Run: set.Run, Rows: set.Rows}, "trl"},
		"grpo for OpenAI":  {&record.Training{For: "grpo", Run: set.Run}, "openai"},
		"rows of no run":   {&record.Training{For: "sft", Rows: set.Rows}, "whileai"},
		"pairs for OpenAI": {&record.Training{For: "dpo", Run: set.Run}, "openai"},
	} {
		file := filepath.Join(folder, "out.jsonl")
		if err := (Exporter{db}).Export(t.Context(), c.set, c.format, file); store.CodeOf(err) != store.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("refusals left %v (%v)", left, err)
	}
	if err := (Exporter{db}).Export(t.Context(), set, "trl", filepath.Join(folder, "not", "there.jsonl")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	if trained, err := db.Trained(t.Context(), set.TaskIDs()); err != nil || len(trained) != 0 {
		t.Errorf("refusals marked tasks as trained: %v (%v)", trained, err)
	}
}

// A file that cannot take its name is no export.
func TestTrainingFileThatCannotTakeItsName(t *testing.T) {
	db := openNew(t)
	set := trainingOf(t, db, "sft")
	file := filepath.Join(t.TempDir(), "taken")
	if err := os.MkdirAll(filepath.Join(file, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := (Exporter{db}).Export(t.Context(), set, "trl", file); err == nil {
		t.Fatal("a folder was replaced")
	}
	if trained, err := db.Trained(t.Context(), set.TaskIDs()); err != nil || len(trained) != 0 {
		t.Errorf("trained %v (%v)", trained, err)
	}
	left, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(left) != 1 {
		t.Errorf("left %v (%v)", left, err)
	}
}

func TestScrub(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a":1,"privileged":{"b":2}}`:                          `{"a":1}`,
		`{"a":[{"privileged":1,"c":1e400}]}`:                    `{"a":[{"c":1e400}]}`,
		`"{\"privileged\":1,\"c\":2}"`:                          `"{\"c\":2}"`,
		`{"a":"say {\"privileged\":1}"}`:                        `{"a":"say {\"privileged\":1}"}`,
		`{"privil\u0065ged":1,"x":"\u00e9"}`:                    `{"x":"é"}`,
		`{"reference":"AB12", "n": 1.50}`:                       `{"reference":"AB12", "n": 1.50}`,
		`[{"deep":{"er":{"gold_labels":[1],"kept":true}}}]`:     `[{"deep":{"er":{"kept":true}}}]`,
		`{"s":"[{\"x\":\"{\\\"gold_reward\\\":1}\"},\"end\"]"}`: `{"s":"[{\"x\":\"{}\"},\"end\"]"}`,
	} {
		if got := string(scrub(json.RawMessage(raw), alwaysPrivileged)); got != want {
			t.Errorf("scrub(%s) = %s, want %s", raw, got, want)
		}
	}
}
