package tui

import (
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"assay/engine"
	"assay/engine/record"
	"assay/tui/runs"
	"assay/tui/ui"
)

func TestFindARun(t *testing.T) {
	d := drive(t, saved(), 100, 30)
	d.press("/")
	d.write("nig")
	d.sees("/ nig", "1 match")
	d.press("enter")
	if line := cursorLine(d); !strings.Contains(line, "night") {
		t.Errorf("the cursor is on %q", line)
	}
	d.press("g /")
	d.write("seeded")
	d.press("enter n")
	if line := cursorLine(d); !strings.Contains(line, "agent failed") {
		t.Errorf("the next match is %q", line)
	}
	d.press("n")
	if line := cursorLine(d); !strings.Contains(line, "night") {
		t.Errorf("around the end is %q", line)
	}
	d.press("N")
	if line := cursorLine(d); !strings.Contains(line, "agent failed") {
		t.Errorf("before it is %q", line)
	}
	d.press("g /")
	d.write("zzzq")
	d.sees("0 matches")
	d.press("esc")
	d.seesNot("zzzq")
}

func TestSetUpARun(t *testing.T) {
	d := drive(t, saved(), 100, 30)
	d.press("a a")
	d.sees("Run 01-simulate/bring-your-own-agent", "situations", "40", "how many situations to pose")
	d.write("first try")
	d.press("down tab")
	d.write("8q")
	d.press("backspace enter")
	want := Begin{Recipe: "01-simulate/bring-your-own-agent", Name: "first try", Knobs: map[string]string{"repeats": "8"}}
	if diff := cmp.Diff(want, d.begun); diff != "" {
		t.Errorf("begun is (-want +got):\n%s", diff)
	}
	d.sees("2 Live")
}

// TestAimARunInTheForm: a run is aimed at an earlier one, by its id or its name.
func TestAimARunInTheForm(t *testing.T) {
	d := drive(t, saved(), 100, 30, func(o *Options) {
		o.Knobs = func(string) ([]Knob, error) {
			return []Knob{{Name: "seed", About: "the seed of every draw"}, {Name: "aim", About: "aim by the failures of this run or imported log"}}, nil
		}
	})
	d.press("a a")
	d.sees("aim", "aim by the failures of this run")
	d.press("down down")
	d.write("night")
	d.press("enter")
	if diff := cmp.Diff(map[string]string{"aim": "night"}, d.begun.Knobs); diff != "" {
		t.Errorf("begun with (-want +got):\n%s", diff)
	}
}

// TestABadKnobStaysToBeMended: what was typed is not lost.
func TestABadKnobStaysToBeMended(t *testing.T) {
	d := drive(t, saved(), 100, 30, func(o *Options) {
		o.Start = func(Begin, func(engine.Event)) (Story, error) {
			return nil, errors.New(`"many" is not a whole number from 1 to 1000`)
		}
	})
	d.press("a a down")
	d.write("many")
	d.press("enter")
	d.sees("✗ \"many\" is not a whole number", "situations", "many")
	d.press("esc")
	d.sees("Run a recipe")
}

// TestInFlightIsWhatTheAgentHas: what is back and being saved is not counted.
func TestInFlightIsWhatTheAgentHas(t *testing.T) {
	d := drive(t, newMemory(), 120, 40)
	d.press("enter")
	p := d.play
	p.observe(engine.StageStarted{Stage: engine.StageRun})
	run := p.begin(record.Run{ID: "main1", Recipe: "oncall", Role: record.RoleMain}, 30)
	var samples []*record.Sample
	for i := range 5 {
		samples = append(samples, p.start(run, i, 0))
	}
	for _, s := range samples[:3] {
		p.observe(engine.RolloutReturned{RunID: run.ID, RolloutID: s.Rollout.ID})
	}
	d.frame()
	d.sees("0 + 2 in flight", "in flight 2/8", "being saved")
	p.finish(run, samples[0])
	d.frame()
	d.sees("1 + 2 in flight", "in flight 2/8")
}

func TestPasteIntoTheForm(t *testing.T) {
	d := drive(t, saved(), 100, 30)
	d.press("a a")
	d.send(tea.PasteMsg{Content: "a\nname\x1b[2J"})
	checkFrame(t, d)
	d.sees("a name")
}

// TestMarkAndCompare: of two marked runs the older is before, whichever was marked
// first.
func TestMarkAndCompare(t *testing.T) {
	m := runs.New(t.Context(), runs.Options{Store: saved(), Compare: true, Now: now, Theme: ui.ThemeNamed("dark")})
	m.Update(m.Init()())
	const newer, older = "3f9a0c11d2e4b587", "1cut"
	said := func(cmd tea.Cmd) string {
		if cmd == nil {
			return ""
		}
		toast, _ := cmd().(ui.ToastMsg)
		return toast.Text
	}
	gone := func(cmd tea.Cmd) ui.GoMsg {
		t.Helper()
		msg, ok := cmd().(ui.GoMsg)
		if !ok || msg.Screen != ui.ScreenDelta {
			t.Fatalf("compare gives %+v", msg)
		}
		return msg
	}
	if v := gone(m.Do("compare")); v.Run != newer || v.Before != "" {
		t.Errorf("with nothing marked it is %+v", v.Visit)
	}
	m.Do("mark") // the first; the cursor goes on
	if v := gone(m.Do("compare")); v.Before != newer && v.After != newer {
		t.Errorf("the marked one is not in %+v", v.Visit)
	}
	m.Do(ui.Down)
	m.Do(ui.Down)
	m.Do("mark")
	if v := gone(m.Do("compare")); v.Before != older || v.After != newer {
		t.Errorf("two marked are %+v", v.Visit)
	}
	m.Do("mark")
	if text := said(m.Do("compare")); !strings.Contains(text, "More than two") {
		t.Errorf("three marked say %q", text)
	}
	m.Do("mark") // of the last row, which the cursor stays on: taken away
	if v := gone(m.Do("compare")); v.Before != older {
		t.Errorf("after taking one away it is %+v", v.Visit)
	}
}
