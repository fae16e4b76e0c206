package tui

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/engine/record"
	"assay/store"
	"assay/tui/ui"
)

// writer is the editor of the tests: it reads what it is given and leaves something
// else in its place.
type writer struct {
	saw, leaves string
	err         error
}

func (w *writer) edit(file string, done func(error) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		raw, err := os.ReadFile(file)
		if err != nil {
			return done(err)
		}
		w.saw = string(raw)
		return done(errors.Join(w.err, os.WriteFile(file, []byte(w.leaves), 0o600)))
	}
}

func (b *bench) RunRubric(ctx context.Context, runID string) (record.Rubric, error) {
	run, err := b.db.Run(ctx, runID)
	if err != nil {
		return record.Rubric{}, err
	}
	return b.db.Rubric(ctx, run.Scorers[0].RubricHash)
}

// TryRubric says of the labelled rollouts that the rubric of now passes all, and the
// one that is tried what gold says, but for the last, on which it is wrong.
func (b *bench) TryRubric(ctx context.Context, runID, rubric string, observe func(engine.TrialRow)) (*engine.RubricTrial, error) {
	b.tried = append(b.tried, rubric)
	if strings.Contains(rubric, "broken") {
		return nil, errors.New("the judge gave no verdict")
	}
	gold, err := b.db.GoldOf(ctx, runID)
	if err != nil {
		return nil, err
	}
	heads, _, err := b.db.RolloutHeads(ctx, runID, store.HeadQuery{Limit: 100})
	t := &engine.RubricTrial{Run: runID, Judge: &engine.JudgeSpec{Builtin: "crooked", Rubric: rubric}}
	yes := true
	for _, h := range heads {
		g := gold[h.ID]
		if g.Reward == nil {
			continue
		}
		row := engine.TrialRow{RolloutID: h.ID, Gold: *g.Reward > 0, Before: &yes, Reason: "by the new rubric: " + record.Text(rubric)}
		after := row.Gold
		row.After = &after
		t.Rows = append(t.Rows, row)
	}
	if n := len(t.Rows); n > 0 {
		wrong := !t.Rows[n-1].Gold
		t.Rows[n-1].After = &wrong
	}
	for _, row := range t.Rows {
		observe(row)
	}
	return t, err
}

func (b *bench) KeepRubric(_ context.Context, t *engine.RubricTrial) error {
	b.kept = append(b.kept, t.Judge.Rubric)
	return nil
}

func (b *bench) Grade(_ context.Context, _ string, o engine.GradeOptions) (*engine.GradeReport, error) {
	b.graded = append(b.graded, o)
	return &engine.GradeReport{Graded: 9}, nil
}

// underARubric gives the labelled run a judge with a rubric.
func underARubric(t testing.TB, b *bench, text string) {
	t.Helper()
	ctx := context.Background()
	rubric := record.Rubric{Hash: record.RubricHash(record.Text(text)), Name: "oncall", Text: record.Text(text), CreatedAt: now()}
	run, err := b.db.Run(ctx, labelRun)
	if err == nil {
		err = b.db.SaveRubric(ctx, rubric)
	}
	if err != nil {
		t.Fatal(err)
	}
	scorer := record.NewScorer("judge", "builtin:crooked", "", rubric.Hash, nil)
	run.Scorer, run.Scorers = scorer.ID, []record.Scorer{scorer}
	if err := b.db.UpdateRun(ctx, run); err != nil {
		t.Fatal(err)
	}
}

// TestTheRubricLoop edits the rubric, sees what it turns to right and to wrong, keeps
// it, and regrades the run; nothing is done unasked, and what is dropped comes back.
func TestTheRubricLoop(t *testing.T) {
	d, b := atBench(t, labelMemory(), ui.ScreenJudge, 120, 40)
	w := &b.editor
	w.leaves = "Pass what helps.\n"
	d.press("E")
	d.seesNot("edit rubric") // its reward is a marker
	underARubric(t, b, "Pass what helps.\n")
	d.send(ui.GoMsg{Screen: ui.ScreenLabel, Visit: ui.Visit{Run: labelRun}})
	d.slowly("p f p f f p")
	d.send(ui.GoMsg{Screen: ui.ScreenJudge, Visit: ui.Visit{Run: labelRun}})
	d.press("E")
	d.sees("The rubric is as it was: nothing was judged")
	w.leaves = " \n"
	d.press("E")
	d.sees("an empty rubric is none")
	w.leaves, w.err = "Pass what read the runbook first.\n", errors.New("exit status 1")
	d.press("E")
	d.sees("the editor: exit status 1")
	if w.err = nil; len(b.tried) > 0 {
		t.Fatalf("tried %q", b.tried)
	}

	d.press("E")
	if w.saw != "Pass what helps.\n" {
		t.Errorf("the editor was given %q", w.saw)
	}
	d.sees("A rubric, tried on the tuning half of gold", "✓ 3 to right", "✗ 1 to wrong", "exact McNemar p 0.625", "gold ✓  judge ✓ → ✗  to WRONG", "gold ✗  judge ✓ → ✗  to right", "K keeps it")
	if first := cursorLine(d); !strings.Contains(first, "to WRONG") {
		t.Errorf("what turned wrong does not come first: %q", first)
	}
	d.press("enter")
	d.sees("reason by the new rubric", "by the new rubric: Pass what")
	d.press("/")
	d.write("runbook")
	d.press("enter n")
	d.sees("2 of ")
	d.press("esc X")
	d.sees("Dropped the rubric", "has not been measured")
	d.press("u")
	d.sees("The rubric is back", "3 to right")
	w.leaves = "Pass what read the runbook first, and said so.\n"
	d.press("E")
	if w.saw != "Pass what read the runbook first.\n" {
		t.Errorf("the second round began at %q", w.saw)
	}
	if d.press("R"); len(b.kept)+len(b.graded) > 0 {
		t.Error("something was saved unasked")
	}
	d.press("K")
	d.sees("Kept as a version of the rubric", "✓ kept as a version; R regrades by it")
	d.press("K R")
	d.sees("Regrade the run?", "asked about 6 rollouts of 12", "No")
	if d.press("enter"); len(b.graded) > 0 || len(b.kept) != 1 || b.kept[0] != w.leaves {
		t.Errorf("kept %q, regraded %d times", b.kept, len(b.graded))
	}
	d.press("R y")
	if len(b.graded) != 1 || !b.graded[0].OnlyMissing || b.graded[0].Judge.Rubric != w.leaves {
		t.Errorf("regraded by %+v", b.graded)
	}
	d.sees("Regraded: 9 rollouts judged anew")

	w.leaves = "broken"
	d.press("E")
	d.sees("the judge gave no verdict; u brings the rubric back")
	checkFrame(t, d)
}

// TestTheEditorIsTheEnvironments: a command line with its arguments, VISUAL first.
func TestTheEditorIsTheEnvironments(t *testing.T) {
	file := t.TempDir() + "/a rubric.md"
	for _, environ := range [][]string{{"EDITOR=printf '%s' new >"}, {"EDITOR=false", "VISUAL=printf '%s' new >"}, {"VISUAL=", "EDITOR=printf '%s' new >"}} {
		if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		c := editorCommand(environ, file)
		c.Env = append(c.Env, "PATH="+os.Getenv("PATH"))
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v, %s", environ, err, out)
		}
		if raw, _ := os.ReadFile(file); string(raw) != "new" {
			t.Errorf("%v left %q", environ, raw)
		}
	}
}
