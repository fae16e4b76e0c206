package tui

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/engine/record"
	"assay/tui/ui"
)

// TestComparingFromTheReportToTheStep goes from the headline down to the step where
// two rollouts part, and back up to the runs.
func TestComparingFromTheReportToTheStep(t *testing.T) {
	d := comparing(t, 120, 40, "")
	d.sees("FAIL", "as it was saved with its story", "◆ argument_grounding", "▼ regressed", "▸ because guard argument_grounding")
	d.press("g j enter")
	d.sees("▾ The questions in their order", "no   INSUFFICIENT DATA", "yes  FAIL")
	d.press("enter j enter")
	d.sees("pass_at_1", "24 tasks", "Regressed 3", "Improved 21", "restart payments-21 please")
	d.press("tab")
	d.sees("better after than before")
	d.press("tab")
	d.sees("attempts at one and the same task differ")
	d.press("tab enter")
	d.sees("they part at step 2: only before calls get_runbook", "here they part", "Before  attempt 1 of 6", "After  attempt 1 of 6", "◂", "Regressed 1 of 3")
	d.press("l")
	d.sees("Before  attempt 2 of 6", "After  attempt 1 of 6")
	d.press("tab h l")
	d.sees("After  attempt 2 of 6")
	d.press("}")
	d.sees("Regressed 2 of 3", "restart payments-13 please")
	d.press("} }")
	d.sees("Regressed 3 of 3", "last of this queue")
	d.press("G ] ] [ p j enter")
	d.sees("▾", `"service": "payments"`)
	d.press("esc")
	d.sees("Bitte den Dienst")
	d.press("esc")
	d.sees("▸ because guard")
	d.press("esc")
	d.sees("choose two runs", "▎            └")
	d.press("esc")
	d.sees("▸ because guard")
	d.press("esc")
	d.sees("choose two runs")
}

// TestASliceOpensItsOwnTasks: as many as the slice says.
func TestASliceOpensItsOwnTasks(t *testing.T) {
	d := comparing(t, 120, 40, "")
	for range 20 {
		d.press("j")
		if strings.Contains(cursorLine(d), "stance ordinary") {
			break
		}
	}
	d.sees("Enter: its 9 tasks")
	d.press("enter")
	d.sees("pass_at_1  ·  stance ordinary", "9 tasks")
}

// TestAskingOtherwise changes the question from the report, and takes it back.
func TestAskingOtherwise(t *testing.T) {
	d := comparing(t, 120, 40, "j m")
	d.sees("PASS", "compared here and now, not saved")
	d.seesNot("◆ argument_grounding")
	d.press("m")
	d.sees("FAIL", "◆ argument_grounding")
	d.press("j j t")
	d.sees("◉ steps ↓")
	d.press("i")
	d.seesNot("steps ↓")
	d.press("A")
	d.sees("on all tasks, training tasks too")
	d.press("u u u u")
	d.sees("PASS")
	d.press("u")
	d.sees("as it was saved with its story", "FAIL")
	for _, a := range d.m.actions() {
		if a.ID == ui.Undo {
			t.Error("undo is offered with nothing to undo")
		}
	}
}

// TestTwoRunsAreChosen at the choice, and elsewhere.
func TestTwoRunsAreChosen(t *testing.T) {
	m := reported()
	d := drive(t, m, 100, 30, withEngine(t, m))
	d.press("6 esc g space j space")
	d.sees("● before", "● after", "Enter compares before with after")
	d.press("x enter")
	d.sees(comparedBefore+" → "+comparedMain, "compared here and now")
	d.send(ui.GoMsg{Screen: ui.ScreenDelta, Visit: ui.Visit{Before: comparedMain, After: comparedAfter}})
	d.sees(comparedMain + " → " + comparedAfter)
	d.press("esc b a a space")
	d.seesNot("● after")
	d.sees("● before")
}

// TestAStoryWithoutAReportIsCompared as its recipe asks, and one without a change says
// so.
func TestAStoryWithoutAReportIsCompared(t *testing.T) {
	m := compared()
	d := drive(t, m, 100, 30, withEngine(t, m))
	d.press("6")
	d.sees("PASS", "compared here and now, not saved", comparedBefore+" → "+comparedAfter)
	m = saved()
	d = drive(t, m, 100, 30, withEngine(t, m))
	d.press("j j j 6")
	d.sees("has no run after a change yet: mark two runs")
}

func TestNotComparableSaysWhatToDo(t *testing.T) {
	d := deltaScenes[len(deltaScenes)-1].make(t, 120, 40)
	d.sees("NOT COMPARABLE", "✗ scorer", "→ assay grade "+comparedBefore+" --judge judge:strict@")
}

// TestWritingAReport: both files, never over another one.
func TestWritingAReport(t *testing.T) {
	m := reported()
	var dir string
	d := drive(t, m, 120, 40, withEngine(t, m), func(o *Options) { dir = o.Dir })
	d.press("6 o")
	base := filepath.Join(dir, "delta-"+comparedBefore+"-"+comparedAfter)
	d.sees("Written: ", ".html, .md and .json")
	markdown, err := os.ReadFile(base + ".md")
	if err != nil || !strings.HasPrefix(string(markdown), "# FAIL\n") {
		t.Errorf("%v: %.60q", err, markdown)
	}
	raw, err := os.ReadFile(base + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var r engine.DeltaReport
	if err := json.Unmarshal(raw, &r); err != nil || r.Before != comparedBefore || r.Headline != "FAIL" {
		t.Errorf("%v: %+v", err, r)
	}
	if page, err := os.ReadFile(base + ".html"); err != nil || !strings.Contains(string(page), "<title>FAIL</title>") {
		t.Errorf("%v: %.60q", err, page)
	}
	d.press("o")
	if again, _ := os.ReadFile(base + ".md"); string(again) != string(markdown) {
		t.Error("the same report is another file")
	}
	d.press("j m o")
	if other, err := os.ReadFile(base + "-2.md"); err != nil || !strings.HasPrefix(string(other), "# PASS\n") {
		t.Errorf("another report: %v, %.60q", err, other)
	}
	if kept, _ := os.ReadFile(base + ".md"); string(kept) != string(markdown) {
		t.Error("the first file was written over")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(files) != 6 {
		t.Errorf("files %v", files)
	}
	d = drive(t, m, 120, 40, withEngine(t, m), func(o *Options) { o.Dir = filepath.Join(dir, "nowhere") })
	d.press("6 o")
	d.sees("✗ write the delta report: open ")
}

// TestTheComparisonIsKept from one day to the next: report, metric, queue and task.
func TestTheComparisonIsKept(t *testing.T) {
	m := reported()
	for _, keys := range []string{"6", "6 j j", "6 enter tab j j", "6 j enter j enter"} {
		d := drive(t, m, 120, 40, withEngine(t, m))
		d.press(keys)
		kept, err := json.Marshal(d.m.at(ui.ScreenDelta).(ui.Keeper).Keep())
		if err != nil {
			t.Fatal(err)
		}
		want := d.screen()
		next := drive(t, m, 120, 40, withEngine(t, m))
		next.run(next.m.at(ui.ScreenDelta).(ui.Keeper).Restore(kept))
		next.press("6")
		if got := next.screen(); got != want {
			t.Errorf("after %q: kept\n%s\nand came back as\n%s", keys, want, got)
		}
	}
}

// TestWhatWasSeenIsTold: a label given after one of these verdicts is not blind.
func TestWhatWasSeenIsTold(t *testing.T) {
	d := comparing(t, 120, 40, "")
	seer := d.m.at(ui.ScreenDelta).(interface{ Seen() ui.Seen })
	if n := len(seer.Seen().Rollouts); n != 0 {
		t.Errorf("%d rollouts were seen in a report", n)
	}
	d.press("enter")
	if n := len(seer.Seen().Rollouts); n != 3*12 {
		t.Errorf("%d rollouts were seen in a queue of 3 tasks", n)
	}
	d = cutting(t, 120, 40, "")
	seer = d.m.at(ui.ScreenCut).(interface{ Seen() ui.Seen })
	d.press("enter")
	if n := len(seer.Seen().Rollouts); n == 0 {
		t.Error("no rollout was seen in a list")
	}
	if n := len(seer.Seen().Rollouts); n != 0 {
		t.Error("they are told twice")
	}
}

// TestCuttingFromTheGatesToTheFile opens numbers as lists, a row as its transcript, and
// writes the set.
func TestCuttingFromTheGatesToTheFile(t *testing.T) {
	m := compared()
	var dir string
	d := drive(t, m, 120, 40, withEngine(t, m), func(o *Options) { dir = o.Dir })
	d.press("7")
	d.sees("rows in", "eval_set", "−144", "Hack scan", "Pass rates of 36 tasks")
	d.press("enter")
	d.sees("eval_set took", "144 rows", "its task is held out")
	d.press("j enter")
	d.sees("restarted before the runbook was read", "✗ fail  reward 0")
	d.press("esc esc j j j enter")
	d.sees("contamination took", "its ask is in the eval set, word for word")
	d.press("esc > > > <")
	d.sees("too_small", "unanimous")
	d.press("w")
	d.sees("Write the grpo set", filepath.Join(dir, comparedMain+".grpo.jsonl"))
	d.press("j j enter")
	d.sees("the openai format is for sft, not grpo; use whileai or trl", "Write the grpo set")
	d.press("k enter")
	d.sees("Written: ", " for grpo, to ", "▤ trl")
	lines := countLines(t, filepath.Join(dir, comparedMain+".grpo.jsonl"))
	d.sees(fmt.Sprintf("▤ trl           %7d", lines))
	d.press("w enter")
	d.sees("Write over the file?", "[ No ]")
	d.press("enter")
	d.sees("Write the grpo set")
	d.press("enter y")
	d.sees("Written: ", "▤ whileai")
	d.press("esc")
	d.sees("1 Runs")
}

func countLines(t *testing.T, file string) int {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(raw), "\n")
}

// TestEveryNumberOfACutOpensAsThatMany rows.
func TestEveryNumberOfACutOpensAsThatMany(t *testing.T) {
	e := &engine.Engine{Source: source{m: compared()}}
	preview, err := e.CutPreview(t.Context(), comparedMain)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range preview.Targets {
		taken := make([]int, len(p.Gates))
		for _, row := range p.Dropped {
			taken[row.Gate]++
		}
		for i, g := range p.Gates {
			if taken[i] != g.In-g.Out {
				t.Errorf("%s: %s took %d rows and lists %d", p.For, g.Name, g.In-g.Out, taken[i])
			}
		}
		if len(p.Kept) != p.RowsOut || len(p.Kept)+len(p.Dropped) != p.RowsIn {
			t.Errorf("%s: %d kept and %d dropped, of %d rows in and %d out", p.For, len(p.Kept), len(p.Dropped), p.RowsIn, p.RowsOut)
		}
		if slices.ContainsFunc(p.Kept, func(k engine.CutKept) bool { return k.Task.ID == comparedTask(3).ID }) {
			t.Errorf("%s keeps a held-out task", p.For)
		}
	}
}

// TestTheNameOfAFileIsTyped, digits and all, without going to another screen.
func TestTheNameOfAFileIsTyped(t *testing.T) {
	m := compared()
	var dir string
	d := drive(t, m, 120, 40, withEngine(t, m), func(o *Options) { dir = o.Dir })
	d.press("7 w G enter ctrl+u")
	file := filepath.Join(dir, "123q?.jsonl")
	d.write(file)
	d.sees("7 Cut", "123q?.jsonl")
	d.press("enter enter")
	if countLines(t, file) == 0 {
		t.Error("nothing was written")
	}
	d.press("w G enter ctrl+u")
	d.write("nothing")
	d.press("esc")
	d.sees(comparedMain + ".sft.jsonl")
	d.press("G enter ctrl+u")
	d.write(dir)
	d.press("enter enter")
	d.sees("is a folder: name a file in it")
}

func TestCuttingWhatIsMeasuredOnIsRefused(t *testing.T) {
	d := cutScenes[len(cutScenes)-1].make(t, 120, 40)
	d.sees("✗ refused: nothing is left to train on", "the gates took eval_set 360", "unknown")
	d.press("w")
	d.sees("Nothing can be written: nothing is left to train on for sft")
}

// TestTheFirstRunOfAStoryIsCut, whichever of its runs one comes from.
func TestTheFirstRunOfAStoryIsCut(t *testing.T) {
	m := compared()
	d := drive(t, m, 120, 40, withEngine(t, m))
	d.press("j j 7")
	d.sees(comparedMain, "rows in             360")
	d.press("tab e")
	d.sees("✓ digits", "pool exhausted")
	d.press("e")
	d.seesNot("✓ digits")
	d.send(ui.ChangedMsg{Runs: map[string]bool{comparedMain: true}})
	d.sees("! the run went on since: r")
	d.press("r")
	d.seesNot("! the run went on since")
	kept, err := json.Marshal(d.m.at(ui.ScreenCut).(ui.Keeper).Keep())
	if err != nil {
		t.Fatal(err)
	}
	next := drive(t, m, 120, 40, withEngine(t, m))
	next.run(next.m.at(ui.ScreenCut).(ui.Keeper).Restore(kept))
	if run := next.m.at(ui.ScreenCut).Run(); run != comparedMain {
		t.Errorf("the run %q came back", run)
	}
}

// TestDeltaAndCutOnARealFile compares and cuts runs that lie in a store's file.
func TestDeltaAndCutOnARealFile(t *testing.T) {
	m := reported()
	db := fileOf(t, m)
	d := drive(t, m, 120, 40, func(o *Options) {
		o.Store, o.Dir = db, t.TempDir()
		o.Engine = &engine.Engine{Source: db, Sink: db, Exporter: exporter{m}, Now: now}
	})
	d.press("6")
	d.sees("FAIL", "as it was saved with its story", "◆ argument_grounding")
	d.press("enter")
	d.sees("Regressed 3", "Improved 21", "Unstable 24")
	d.press("enter")
	d.sees("here they part", "get_runbook")
	d.press("esc esc r")
	d.sees("compared here and now", "FAIL")
	d.press("7")
	d.sees("rows in             360", "−144", "pool exhausted")
	d.press("enter enter")
	d.sees("Verdict")
	checkFrame(t, d)
}

// hostileComparison is the compared story with a text in every field that a person or a model
// can fill.
func hostileComparison(text string) *memory {
	m := compared()
	bad := record.Text(text)
	quoted, err := bad.MarshalJSON()
	if err != nil {
		panic(err)
	}
	for _, r := range m.runs {
		r.Recipe, r.Name, r.Program, r.Error = text, text, text, bad
	}
	const most = 4 << 20 // of text in all: the engine reads every byte of it
	every := 1 + len(text)*len(m.samples)*10/most
	for i, id := range slices.Concat(m.order[comparedMain], m.order[comparedBefore], m.order[comparedAfter]) {
		s := m.samples[id]
		if i%every > 0 {
			continue
		}
		s.Task.Ask = bad + s.Task.Ask
		s.Task.Axes[record.AxisStance], s.Task.Axes[record.AxisTool] = text, text+"x"
		if s.Task.Fault != nil {
			s.Task.Fault = &record.Fault{Tool: text, Condition: text}
		}
		s.Rollout.FinalText += bad
		s.Rollout.Steps = append(s.Rollout.Steps, record.Step{Kind: record.StepText, Text: bad}, record.Step{Kind: record.StepUser, Text: bad},
			record.Step{Kind: record.StepTool, Tool: text, Arguments: quoted, Result: quoted, Fault: text},
			record.Step{Kind: record.StepTool, Tool: text, Arguments: json.RawMessage(`{"a":` + string(quoted) + `}`), Result: json.RawMessage(`{"error":` + string(quoted) + `}`), IsError: true})
		s.Judgment.Reason, s.Judgment.FailureClass = bad, text
		for i := range s.Markers {
			s.Markers[i].Name += text
		}
	}
	m.exports[comparedMain] = []record.ExportRecord{{For: "sft", Format: text, File: text, Rows: 3}}
	return m
}

// TestHostileTextOnDeltaAndCut puts each hostile text into every field and goes through
// both screens.
func TestHostileTextOnDeltaAndCut(t *testing.T) {
	plainOnly(t)
	for name, text := range hostileTexts(t) {
		for _, size := range [][2]int{{120, 24}, {46, 14}} {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
				m := hostileComparison(text)
				d := drive(t, m, size[0], size[1], withEngine(t, m))
				for _, keys := range []string{"6", "j", "j j t", "m", "g j enter", "G", "pgup", "y", "g j j enter", "tab", "enter", "j j enter", "]", "tab l", "G", "y", "esc", "esc", "o", "esc", "b j a",
					"?", "esc", "enter", "7", "enter", "enter", "j j j enter", "G", "esc", "esc", "> >", "tab j e", "G", "y", "tab G", "y", "w", "G enter"} {
					d.press(keys)
					checkFrame(t, d)
					if c := d.m.guard.crash(); c != nil {
						t.Fatalf("after %q: %s: %s\n%s", keys, c.Where, c.What, c.Stack)
					}
				}
				d.write("x")
				d.send(tea.PasteMsg{Content: text})
				checkFrame(t, d)
			})
		}
	}
}
