package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"assay/engine"
	"assay/engine/record"
)

// decode reads the one JSON document of a command's stdout.
func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	d := json.NewDecoder(strings.NewReader(text))
	if err := d.Decode(&v); err != nil {
		t.Fatalf("stdout is no JSON document: %v\n%.500s", err, text)
	}
	if d.More() {
		t.Fatalf("stdout holds more than one document:\n%.500s", text)
	}
	return v
}

func (p *place) rows(args ...string) []record.Row {
	p.t.Helper()
	var rows []record.Row
	for line := range strings.Lines(p.must(append([]string{"rows"}, args...)...)) {
		var r record.Row
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			p.t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows
}

// TestFirstRecipeRunsAllEightSteps wants failures, training files without a
// held-out task, and a delta of the story that the README tells.
func TestFirstRecipeRunsAllEightSteps(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the first recipe's agent is a Go program, and there is no go here")
	}
	p := newPlace(t)
	r := decode[engine.StoryResult](t, p.must("run", "bring-your-own-agent", "--json"))
	if r.StoppedBecause != record.StoppedComplete || r.Hollow || len(r.Lost) > 0 {
		t.Errorf("the run ended %s, hollow %v, lost %v", r.StoppedBecause, r.Hollow, r.Lost)
	}
	if r.Before == nil || r.After == nil || r.Delta == nil || r.Pass == nil {
		t.Fatalf("the story is not whole: %+v", r)
	}
	if failed := p.rows("last", "--where", "reward=0"); len(failed) == 0 {
		t.Error("nothing failed: there is nothing to learn")
	}
	held := map[string]bool{}
	for _, row := range p.rows("last") {
		if *row.HeldOut {
			held[row.TaskID] = true
		}
	}
	if len(r.Cut) != 2 {
		t.Fatalf("%d training files, want 2", len(r.Cut))
	}
	for _, c := range r.Cut {
		text, err := os.ReadFile(c.File)
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for line := range strings.Lines(string(text)) {
			var row record.Row
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			lines++
			if held[row.TaskID] || held[row.ScenarioID] {
				t.Errorf("%s: a held-out task is in the file", c.File)
			}
			if len(row.Privileged) > 0 || row.GoldReward != nil {
				t.Errorf("%s: privileged members are in the file", c.File)
			}
		}
		if lines == 0 || c.RowsOut == 0 {
			t.Errorf("%s is empty", c.File)
		}
	}
}

// TestTrainedTasksAreLeftOut runs one recipe twice: what the first one exported
// for training the second one may not measure on.
func TestTrainedTasksAreLeftOut(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("run", "seeded-agent", "--name", "first")
	p.must("cut", "first", "--for", "sft")
	trained := map[string]bool{}
	text, err := os.ReadFile(p.file(p.id("first") + ".sft.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var row record.Row
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		trained[row.ScenarioID] = true
	}
	p.must("run", "seeded-agent", "--name", "second")
	for _, row := range p.rows("second") {
		if trained[row.TaskID] {
			t.Fatalf("task %s was exported for training and is posed again", row.TaskID)
		}
	}
	if out, _, _ := p.run("show", "second"); !strings.Contains(out, "exported for training") {
		t.Error("nothing says that tasks were left out")
	}
}

// id is a run's id by its name.
func (p *place) id(name string) string {
	p.t.Helper()
	return decode[struct{ Run string }](p.t, p.must("show", name, "--json")).Run
}

func TestTasksOfAnotherRun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("run", "before-and-after", "--name", "first", "--runs", "1")
	p.must("run", "before-and-after", "--name", "again", "--tasks", "first", "--runs", "1", "--seed", "9")
	tasks := func(run string) []string {
		var ids []string
		for _, row := range p.rows(run) {
			ids = append(ids, row.TaskID)
		}
		slices.Sort(ids)
		return slices.Compact(ids)
	}
	if !slices.Equal(tasks("first"), tasks("again")) {
		t.Error("the tasks of another run are not those that it poses")
	}
	if p.canonical("first") == p.canonical("again") {
		t.Error("another seed gives the same rows")
	}
}

func TestRegradeKeepsEarlierVerdicts(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("run", "before-and-after", "--name", "r", "--runs", "1")
	before := p.rows("r")
	g := decode[engine.GradeReport](t, p.must("grade", "r", "--judge", "builtin:crooked", "--json"))
	if g.Graded != len(before) || !strings.HasPrefix(g.Scorer, "judge:builtin:crooked@") {
		t.Errorf("graded %d by %s, want %d", g.Graded, g.Scorer, len(before))
	}
	after := p.rows("r")
	if after[0].Scorer == before[0].Scorer || len(after) != len(before) {
		t.Errorf("the run's own scorer is still %s", after[0].Scorer)
	}
	decode[engine.GradeReport](t, p.must("grade", "r", "--json")) // by the recipe again
	for i, row := range p.rows("r") {
		if row.Scorer != before[i].Scorer || *row.Reward != *before[i].Reward {
			t.Fatalf("row %d: graded by the recipe again it is %v by %s, was %v by %s", i, *row.Reward, row.Scorer, *before[i].Reward, before[i].Scorer)
		}
	}
}

func TestHideAndPurge(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("run", "seeded-agent", "--name", "labelled")
	p.must("run", "before-and-after", "--name", "plain", "--runs", "1")
	p.must("labels", "import", "labelled", "--truth")
	if _, _, code := p.run("purge", "plain"); code != exitCouldNot {
		t.Errorf("a run that is not hidden is purged: exit %d", code)
	}
	p.must("hide", "plain")
	if out := p.must("runs"); strings.Contains(out, "plain") || !strings.Contains(out, "labelled") {
		t.Errorf("hiding hides the wrong run:\n%s", out)
	}
	if r := decode[engine.PassReport](t, p.must("pass", "last", "--json")); r.Run != p.id("labelled") {
		t.Error("a hidden run is still the last")
	}
	p.must("purge", "plain")
	if _, _, code := p.run("show", "plain"); code != exitCouldNot {
		t.Error("a purged run is still there")
	}
	p.must("hide", "labelled")
	if _, errs, code := p.run("purge", "labelled"); code != exitCouldNot || !strings.Contains(errs, "--with-labels") {
		t.Errorf("a run with labels is purged: exit %d, %s", code, errs)
	}
	p.must("purge", "labelled", "--with-labels")
}

func TestNamesOfRuns(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("run", "before-and-after", "--name", "one", "--runs", "1")
	for _, name := range []string{"one", "last"} {
		if _, errs, code := p.run("run", "before-and-after", "--name", name); code != exitCouldNot {
			t.Errorf("the name %q is given again: exit %d, %s", name, code, errs)
		}
	}
	if out := p.must("runs", "--json"); len(decode[[]runLine](t, out)) != 2 { // the run and its after
		t.Errorf("a refused name left a run: %s", out)
	}
	if _, errs, code := p.run("show", "oen"); code != exitCouldNot || !strings.Contains(errs, "one") {
		t.Errorf("a misspelt name is not met with the nearest: exit %d, %s", code, errs)
	}
	if p.id(p.id("one")[:6]) != p.id("one") {
		t.Error("a unique prefix does not name the run")
	}
}

// TestImportedRunsAreHeldOutAndGradable takes rows out of one file and into
// another, unharmed.
func TestImportedRunsAreHeldOutAndGradable(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("run", "seeded-agent", "--name", "first")
	p.must("export", "first", "--out", "rows.jsonl")
	q := newPlace(t)
	text, err := os.ReadFile(p.file("rows.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	q.write("rows.jsonl", string(text))
	q.must("import", "rows.jsonl", "--name", "theirs")
	ours, theirs := p.rows("first"), q.rows("theirs")
	if len(ours) != len(theirs) {
		t.Fatalf("%d rows became %d", len(ours), len(theirs))
	}
	for i := range ours {
		a, b := ours[i], theirs[i]
		if a.TaskID != b.TaskID || a.FinalText != b.FinalText || *a.HeldOut != *b.HeldOut || len(a.Steps) != len(b.Steps) {
			t.Fatalf("row %d is not what it was:\n%+v\n%+v", i, a, b)
		}
	}
	a, b := decode[engine.PassReport](t, p.must("pass", "first", "--json")), decode[engine.PassReport](t, q.must("pass", "theirs", "--json"))
	if *a.PassAt1.Value != *b.PassAt1.Value {
		t.Errorf("pass@1 was %v and is %v", *a.PassAt1.Value, *b.PassAt1.Value)
	}
	q.must("grade", "theirs", "--judge", "builtin:fair")
	q.write("other.jsonl", `{"q":{"text":"Is it up?"},"a":"Yes.","id":"t1","score":1}`+"\n"+`{"q":{"text":"Is it up?"},"a":"No.","id":"t1","score":0}`+"\nnot json\n")
	r := decode[struct {
		Rows, Tasks int
		Skipped     []struct{ Line int }
	}](t, q.must("import", "other.jsonl", "--map", "prompt=q.text", "--map", "final_text=a", "--map", "scenario_id=id", "--map", "reward=score", "--json"))
	if r.Rows != 2 || r.Tasks != 1 || len(r.Skipped) != 1 || r.Skipped[0].Line != 3 {
		t.Errorf("a mapped import took %+v", r)
	}
}

// TestJSONIsOneDocument wants exactly one JSON document on stdout of every
// command, also where it cannot be done.
func TestJSONIsOneDocument(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("run", "before-and-after", "--name", "r", "--runs", "1", "--json")
	p.write("labels.csv", "rollout_id,label\n"+p.rows("r")[0].RolloutID+",pass\n")
	for _, line := range []string{
		"runs", "show r", "rows r", "cover before-and-after", "cover before-and-after --run r", "cover before-and-after --asks labels.csv", "grade r --judge builtin:fair", "labels import r labels.csv", "pass r",
		"delta r:before r:after", "cut r --for sft", "backup copy.db", "hide r", "hide r --undo", "doctor", "export r --out rows.jsonl",
		"import rows.jsonl --name again", "resume r", "trust r", "label r", "run nowhere", "run r --nope", "--nope", "show nobody", "rows r --where x",
		"export r", "labels export r", "cover", "purge r", "delta r r --target nope",
	} {
		out, errs, code := p.run(append(strings.Fields(line), "--json")...)
		doc := decode[json.RawMessage](t, out)
		if strings.Contains(string(doc), ": null") && (strings.Contains(string(doc), `"warnings": null`) || strings.Contains(string(doc), `"journal": null`)) {
			t.Errorf("assay %s: a list is null:\n%.300s", line, doc)
		}
		if code == exitCouldNot && doc[0] == '{' && strings.Contains(string(doc), `"error": {`) {
			e := decode[struct {
				Error struct{ Code, Message, Fix string }
			}](t, out).Error
			if e.Code == "" || e.Message == "" || e.Fix == "" {
				t.Errorf("assay %s: the error lacks a part: %+v", line, e)
			}
			if errs == "" {
				t.Errorf("assay %s: nothing on stderr", line)
			}
		}
	}
}
