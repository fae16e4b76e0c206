package tui

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"assay/engine"
	"assay/engine/record"
	"assay/tui/ui"
)

// tomorrow is another day at the same file.
func tomorrow(d *driver, change ...func(*Options)) *driver {
	d.send(saveMsg{})
	return drive(d.t, d.store, d.m.width, d.m.height, change...)
}

// TestOneComesBackToWhereOneWas: screen, row, filter, transcript, theme.
func TestOneComesBackToWhereOneWas(t *testing.T) {
	for _, tt := range []struct {
		name, keys string
		sees       []string
	}{
		{"runs", "j j j space k", nil},
		{"live", "enter G k k enter j j", nil},
		{"live, another part", "enter > > j", nil},
		{"explore", "3 o o j j j j j enter j j", nil},
		{"explore, tasks", "3 v j j l l", nil},
		{"explore, groups", "3 v v b b j", nil},
		{"explore, a map", "3 m B", nil},
		{"explore, far down", "3 G k k k", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := drive(t, saved(), 100, 30)
			d.press(tt.keys)
			d.m.toast = nil
			was := d.screen()
			d = tomorrow(d)
			if got := d.screen(); got != was {
				t.Errorf("it was\n%s\nand is\n%s", was, got)
			}
		})
	}
}

func TestAFilterAndHalfOfAnotherComeBack(t *testing.T) {
	d := drive(t, saved(), 100, 30)
	d.press("3 /")
	d.write("reward=0 fault=timeout")
	d.press("enter /")
	d.write("stance=adv")
	d = tomorrow(d)
	d.sees("/ reward=0 fault=timeout stance=adv", "Enter filter")
	d.press("esc")
	d.sees("/ reward=0 fault=timeout", " of 160")
}

func TestTheThemeComesBack(t *testing.T) {
	plain := func(o *Options) { o.Theme = "" }
	d := drive(t, saved(), 100, 30, plain)
	d.press(":")
	d.write("contrast")
	d.press("enter %")
	d = tomorrow(d, plain)
	if d.m.theme.Name != "contrast" || d.m.mouse {
		t.Errorf("theme %s, mouse %v", d.m.theme.Name, d.m.mouse)
	}
	d = tomorrow(d, func(o *Options) { o.Theme, o.Environ = "", []string{"NO_COLOR=1"} })
	if d.m.theme.Name != "mono" {
		t.Errorf("NO_COLOR gets %s", d.m.theme.Name)
	}
}

// TestWhatIsAskedForComesFirst: a place that was kept does not get in the way.
func TestWhatIsAskedForComesFirst(t *testing.T) {
	d := drive(t, saved(), 100, 30)
	d.press("3 m")
	d = tomorrow(d, func(o *Options) { o.Open = "1cut" })
	d.sees("2 Live", "night")
}

// TestPlacesThatDoNotFitAreLeftOut: of another version, or of what is gone.
func TestPlacesThatDoNotFitAreLeftOut(t *testing.T) {
	for name, raw := range map[string]string{
		"no run":   `{"run":"gone","view":"tasks","filter":"reward=0","cursor":99}`,
		"nonsense": `{"run":["3f9a0c11d2e4b587"],"view":7}`,
		"numbers":  `{"run":"3f9a0c11d2e4b587","view":"map","by":999,"down":-1,"across":88,"cursor":-5,"cell":-1}`,
		"filter":   `{"run":"3f9a0c11d2e4b587","view":"rollouts","filter":"nothing such","sort":"x"}`,
		"null":     `null`,
	} {
		t.Run(name, func(t *testing.T) {
			m := saved()
			m.places = map[string]json.RawMessage{"frame": json.RawMessage(`{"screen":3}`), "explore": json.RawMessage(raw), "live": json.RawMessage(raw), "runs": json.RawMessage(raw)}
			d := drive(t, m, 100, 30)
			checkFrame(t, d)
			d.press("1 2 3 j j v v v esc")
			checkFrame(t, d)
		})
	}
}

// TestNothingIsSavedWhereNothingChanged, so that an idle app leaves the file alone.
func TestNothingIsSavedWhereNothingChanged(t *testing.T) {
	d := drive(t, saved(), 100, 30, func(o *Options) { o.Annotator = "ana" })
	d.press("3 j")
	d.send(saveMsg{})
	saves, revealed := d.store.saves, len(d.store.revealed)
	if saves == 0 || revealed == 0 {
		t.Fatal("nothing is saved")
	}
	d.press("j k")
	d.send(saveMsg{})
	if d.store.saves != saves || len(d.store.revealed) != revealed {
		t.Error("the same is saved again")
	}
}

// TestVerdictsThatWereSeenAreNoted: of the rows in sight, not of those below.
func TestVerdictsThatWereSeenAreNoted(t *testing.T) {
	d := drive(t, saved(), 100, 30, func(o *Options) { o.Annotator = "ana" })
	d.press("3")
	d.send(saveMsg{})
	id := func(i int) string { return d.store.order["3f9a0c11d2e4b587"][i] }
	noted := func(i int) bool { return slices.Contains(d.store.revealed, "ana verdict "+id(i)) }
	if !noted(0) || !noted(20) || noted(60) {
		t.Errorf("the first %v, in sight %v, below %v", noted(0), noted(20), noted(60))
	}
	d.press("G")
	d.send(saveMsg{})
	if !noted(158) || noted(60) {
		t.Errorf("the last %v, between %v", noted(158), noted(60))
	}
	d = drive(t, saved(), 100, 30, func(o *Options) { o.Annotator = "ana" })
	d.press("3 v")
	d.send(saveMsg{})
	if !noted(0) || !noted(3) {
		t.Error("the attempts of a task that is seen are not noted")
	}
	d = drive(t, saved(), 100, 30, func(o *Options) { o.Annotator = "ana" })
	d.press("2")
	d.send(saveMsg{})
	if !noted(0) || noted(100) {
		t.Error("what Live shows is not noted")
	}
}

func TestPaletteFindsRunsTasksAndRollouts(t *testing.T) {
	d := drive(t, saved(), 100, 30)
	d.press(":")
	d.write("night")
	d.sees("run 1cut  seeded-agent night")
	d.press("enter")
	d.sees("2 Live", "·  night")
	d.press(":")
	d.write("on call for sea")
	d.sees("rollout ", "who is on call for search tonight?")
	d.press("enter")
	d.sees("3 Explore", "rollout_id=", "who is on call")
	d.press(":")
	d.write("task0003")
	d.seesNot("rollout ")
	d.press("esc esc")
	rollout := d.store.order["3f9a0c11d2e4b587"][7]
	d.press(":")
	d.write(rollout[:8])
	d.sees("rollout " + rollout)
	d.press("enter")
	d.sees("3 Explore", "rollout_id="+rollout)
	d.press(":")
	d.write("no such thing")
	d.sees("nothing is called that")
}

// TestSignals leave without a question; what is in flight finishes first.
func TestSignals(t *testing.T) {
	d := drive(t, saved(), 100, 30)
	underway(d)
	d.send(signalMsg{})
	if d.quit || d.play.asked() != 1 {
		t.Fatalf("quit %v, asked %d times", d.quit, d.play.asked())
	}
	d.send(signalMsg{})
	if d.play.asked() != 1 {
		t.Error("the same wish twice aborts")
	}
	d.end()
	if !d.quit {
		t.Error("the program does not end with the story")
	}
	d = drive(t, saved(), 100, 30)
	d.send(signalMsg{})
	if !d.quit {
		t.Error("with nothing running the program goes on")
	}
}

// TestTheTerminalIsGone while a run is on its way: what is in flight finishes.
func TestTheTerminalIsGone(t *testing.T) {
	m := newMemory()
	var p *play
	s := start(t, m, func(o *Options) {
		o.Start = func(_ Begin, observe func(engine.Event)) (Story, error) {
			p = newPlay(m, observe)
			observe(engine.StageStarted{Stage: engine.StageRun})
			run := p.begin(record.Run{ID: "r1", Recipe: "one", Role: record.RoleMain}, 3)
			p.start(run, 0, 0)
			return p, nil
		}
		o.Begin = "one"
	})
	s.out.waitFor(t, "in flight")
	s.keys.CloseWithError(errGone)
	p.waitAsked(t, 1)
	p.end()
	if err := <-s.done; err == nil || !strings.Contains(err.Error(), errGone.Error()) {
		t.Errorf("Run gives %v", err)
	}
	if p.asked() != 1 {
		t.Errorf("the story was asked %d times to stop", p.asked())
	}
}

// TestPlacesAreSavedOnTheWayOut.
func TestPlacesAreSavedOnTheWayOut(t *testing.T) {
	m := saved()
	s := start(t, m, func(o *Options) { o.Pass = m.pass })
	s.out.waitFor(t, "bring-your-own-agent")
	s.press(t, "3")
	s.out.waitFor(t, "Transcript")
	s.press(t, "q")
	if err := <-s.done; err != nil {
		t.Fatal(err)
	}
	var f framePlace
	if err := json.Unmarshal(m.places[frameName], &f); err != nil || f.Screen != ui.ScreenExplore {
		t.Errorf("the place is %s, %v", m.places[frameName], err)
	}
}
