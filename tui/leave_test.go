package tui

import (
	"errors"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"assay/tui/ui"
)

// TestLeavingFinishesAFile that is being written, and drops it when asked twice.
func TestLeavingFinishesAFile(t *testing.T) {
	d := drive(t, compared(), 120, 40, withEngine(t, compared()))
	d.press("7 w")
	var pending []tea.Cmd
	hold := func(key string) {
		_, cmd := d.m.Update(keyOf(key))
		pending = append(pending, cmd)
	}
	hold("enter") // looks whether the file is there
	_, cmd := d.m.Update(answerOf(t, pending[0]))
	if d.m.writing() == "" {
		t.Fatal("nothing is being written")
	}
	d.press("q")
	if d.quit {
		t.Fatal("q drops the file")
	}
	d.sees("Leaving when the training file is written")
	d.run(cmd)
	if !d.quit {
		t.Fatal("the program stays though the file is written")
	}

	d = drive(t, saved(), 120, 40)
	d.m.leaving = true
	d.run(ui.Failed(errors.New("the disk is full")))
	d.sees("the disk is full")
	if d.quit {
		t.Fatal("nobody could read why the file was not written")
	}
	d.m.leaving, d.m.signals = true, true
	d.run(ui.Failed(errors.New("the disk is full")))
	if !d.quit {
		t.Fatal("a program that the system asked to end stays for somebody to read")
	}

	d = drive(t, compared(), 120, 40)
	d.m.more = map[int]ui.Screen{ui.ScreenCut: hanging{d.m.more[ui.ScreenCut]}}
	d.press("q")
	if d.quit {
		t.Fatal("q drops the file")
	}
	d.press("ctrl+c")
	if !d.quit {
		t.Fatal("a write that hangs keeps the program")
	}
}

// hanging is a screen whose file is never whole.
type hanging struct{ ui.Screen }

func (hanging) Writing() string { return "the training file" }

// answerOf runs the commands of a batch and gives the one message that is for a screen.
func answerOf(t *testing.T, cmd tea.Cmd) tea.Msg {
	t.Helper()
	if cmd == nil {
		t.Fatal("nothing is asked")
	}
	msg := cmd()
	if batch, ok := msg.(tea.BatchMsg); ok {
		batch = slices.DeleteFunc(batch, func(c tea.Cmd) bool { return c == nil })
		return answerOf(t, batch[0])
	}
	return msg
}

// TestAnErrorIsShownWhole: what to do about it stands at its end.
func TestAnErrorIsShownWhole(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 12}, {20, 5}} {
		d := drive(t, saved(), size[0], size[1])
		d.run(ui.Failed(errors.New(strings.Repeat("something long went wrong ", 8) + "do-this")))
		if size[0] > 20 {
			d.sees("do-this")
		}
		checkFrame(t, d)
	}
}

// TestP19OneKeyNeverDestroysWork: whatever key is pressed on any screen, what is asked
// about is asked with No as the default, nothing that runs is ended by one key, and what
// is deleted by one key comes back by another.
func TestP19OneKeyNeverDestroysWork(t *testing.T) {
	plainOnly(t)
	for _, scene := range scenes() {
		t.Run(scene.name, func(t *testing.T) {
			t.Parallel()
			d := scene.make(t, 80, 24)
			if d.m.ask == nil {
				return
			}
			d.press("enter") // No
			if d.m.ask != nil || d.quit || d.play != nil && d.play.asked() != 0 {
				t.Error("Enter on a question is not No")
			}
		})
	}
	d := drive(t, saved(), 80, 24)
	underway(d)
	for _, a := range d.m.actions() {
		for _, key := range a.Keys {
			if key == "ctrl+c" {
				continue // drains what is in flight, and keeps it
			}
			before := d.play.asked()
			d.m.do(a.ID)
			if d.quit || d.play.asked() != before {
				t.Errorf("%s ends what runs", key)
			}
		}
	}
	d = drive(t, saved(), 80, 24)
	rows := d.screen()
	d.press("x")
	if d.m.ask != nil {
		t.Error("hiding, which can be undone, is asked about")
	}
	d.press("u")
	d.m.toast = nil
	if d.screen() != rows {
		t.Errorf("undo brings %s, not\n%s", d.screen(), rows)
	}
}

// TestSuspendIsInThePalette: the program gives the terminal back and waits for fg.
func TestSuspendIsInThePalette(t *testing.T) {
	d := drive(t, saved(), 80, 24)
	d.press(":")
	d.write("suspend")
	_, cmd := d.m.Update(keyOf("enter"))
	if _, ok := answerOf(t, cmd).(tea.SuspendMsg); !ok {
		t.Error("suspend is another message")
	}
}
