package tui

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"assay/engine"
	"assay/engine/record"
	"assay/tui/ui"
)

var style = regexp.MustCompile("\x1b\\[[0-9;]*m")

// checkFrame holds that a frame has the window's size and nothing in it acts.
func checkFrame(t *testing.T, d *driver) {
	t.Helper()
	content := d.m.View().Content
	lines := strings.Split(content, "\n")
	if len(lines) != d.m.height {
		t.Errorf("%d lines in a window of %d", len(lines), d.m.height)
	}
	for i, line := range lines {
		text := style.ReplaceAllString(line, "")
		if w := ui.Width(text); w != d.m.width {
			t.Errorf("line %d is %d cells wide, not %d: %q", i, w, d.m.width, text)
		}
		for _, r := range text {
			if !unicode.IsGraphic(r) {
				t.Errorf("line %d holds %U: %q", i, r, text)
				break
			}
		}
		if again := ui.CleanLine(text); again != text {
			t.Errorf("line %d is not clean: %q, cleaned %q", i, text, again)
		}
	}
}

func hostileTexts(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("ui/testdata/hostile/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no hostile texts: %v", err)
	}
	out := map[string]string{}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(f)] = string(raw)
	}
	out["long"] = strings.Repeat("x", 60_000) + "\x1b[31mend"
	return out
}

// poisoned is a store with the text in every field that a screen shows.
func poisoned(text string) *memory {
	m := saved()
	bad := record.Text(text)
	quoted, err := bad.MarshalJSON()
	if err != nil {
		panic(err)
	}
	for _, r := range m.runs {
		r.Recipe, r.Name, r.Program, r.Error = text, text, text, bad
		r.StoppedBecause = record.StopReason(text)
		r.Warnings = []record.Warning{{Code: text, Text: text, Fix: text}}
		r.Counts.Lost = map[record.Cause]int{record.Cause(text): 3}
	}
	half := 0.5
	for _, s := range m.samples {
		s.Arm = text
		s.Task.Ask, s.Task.Axes = bad, record.Axes{record.AxisTool: text, record.AxisStance: text}
		s.Task.Fault = &record.Fault{Tool: text, Condition: text}
		s.Rollout.Cause, s.Rollout.Error, s.Rollout.FinalText = record.Cause(text), bad, bad
		s.Rollout.Steps = []record.Step{
			{Kind: record.StepText, Text: bad}, {Kind: record.StepUser, Text: bad},
			{Kind: record.StepTool, Tool: text, Arguments: quoted, Result: quoted, Fault: text},
			{Kind: record.StepTool, Tool: text, Arguments: json.RawMessage(text), Result: json.RawMessage(text), IsError: true},
			{Kind: record.StepTool, Tool: text, Arguments: json.RawMessage(`{"a":` + string(quoted) + `}`), Result: json.RawMessage(`{"error":` + string(quoted) + `}`), IsError: true},
		}
		if s.Judgment != nil {
			s.Judgment = &record.Judgment{Scorer: text, Reward: &half, Status: record.JudgeOK, Reason: bad, FailureClass: text,
				Criteria: []record.Criterion{{Name: text, Hard: true, Reason: bad}}}
			s.Markers = []record.Marker{
				{Name: text, Value: new(float64), Status: record.MarkerOK, Evidence: []record.Evidence{{Rule: text, Step: 2, Fragment: bad}}},
				{Name: text, Status: record.MarkerError, Note: bad}, {Name: text, Status: record.MarkerNotApplicable},
			}
		}
	}
	for id, posed := range m.posed {
		for i := range posed {
			m.posed[id][i].Arm = text
		}
	}
	for id := range m.exports {
		m.exports[id] = []record.ExportRecord{{For: text, Format: text, File: text, Rows: 3}}
	}
	for id := range m.reports {
		raw, err := json.Marshal(map[string]any{
			"headline": text, "line": text, "target": text, "not_comparable": []string{text}, "warnings": []record.Warning{{Code: text, Text: text, Fix: text}},
			"metrics": []map[string]any{{"name": text, "kind": text, "before": 0.5, "after": 0.6, "delta": 0.1, "lo": 0.05, "hi": 0.2, "verdict": text, "guard": true}},
		})
		if err != nil {
			panic(err)
		}
		m.reports[id] = []record.SavedReport{{Kind: "delta", Report: raw}}
	}
	return m
}

// TestHostileTextOnEveryScreen puts each hostile text into every field and goes
// through all screens and panes.
func TestHostileTextOnEveryScreen(t *testing.T) {
	plainOnly(t)
	for name, text := range hostileTexts(t) {
		for _, size := range [][2]int{{120, 24}, {46, 14}} {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
				d := drive(t, poisoned(text), size[0], size[1], func(o *Options) {
					o.Recipes = []Recipe{{Name: text, About: text}, {Name: text, About: text, Lacks: text}}
				})
				checkFrame(t, d)
				for _, keys := range []string{"a", "j enter", "esc", "enter", "j j", "tab", "j j j enter", "j j", "pgdown", "j j j j enter", "pgdown pgdown", "G", "y", "?", "esc",
					">", "pgdown", ">", ">", ">", ":", "esc", "1", "d", "y"} {
					d.press(keys)
					checkFrame(t, d)
				}
			})
		}
	}
}

// TestHostileNews does the same with what is heard and not yet saved.
func TestHostileNews(t *testing.T) {
	for name, text := range hostileTexts(t) {
		t.Run(name, func(t *testing.T) {
			d := drive(t, newMemory(), 100, 30)
			d.press("enter")
			p := d.play
			p.observe(engine.StageStarted{Stage: engine.Stage(text)})
			p.observe(engine.StageStarted{Stage: engine.StageRun})
			run := p.begin(record.Run{ID: "r1", Recipe: text, Name: text}, 3)
			d.frame()
			checkFrame(t, d)
			s := p.start(run, 1, 0)
			s.Task.Ask = record.Text(text)
			s.Rollout.Steps = []record.Step{{Kind: record.StepTool, Tool: text, Arguments: json.RawMessage(text), Result: json.RawMessage(text), Fault: text, IsError: true}}
			p.step(s, 0)
			p.observe(engine.TextStreamed{RunID: run.ID, RolloutID: s.Rollout.ID, Delta: record.Delta{Text: record.Text(text)}})
			p.observe(engine.Warned{RunID: run.ID, Warning: record.Warning{Code: text, Text: text, Fix: text}})
			p.observe(engine.RolloutRetried{RunID: run.ID, RolloutID: "x", Cause: record.Cause(text), Err: errors.New(text)})
			p.observe(engine.CutFinished{Cut: engine.CutResult{For: text, Format: text, File: text, Error: &text, Gates: []engine.CutGate{{Name: text, In: 3, Out: 1}}}})
			d.frame()
			checkFrame(t, d)
			d.press("tab j j enter")
			checkFrame(t, d)
			d.press(">")
			checkFrame(t, d)
			p.err = errors.New(text)
			d.end()
			checkFrame(t, d)
		})
	}
}
