package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"assay/engine/record"
	"assay/tui/ui"
)

// TestHostileTextOnExplore goes through the views, the transcript, siblings and the
// filter with the text in every field.
func TestHostileTextOnExplore(t *testing.T) {
	plainOnly(t)
	for name, text := range hostileTexts(t) {
		for _, size := range [][2]int{{120, 24}, {46, 14}} {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
				d := drive(t, poisoned(text), size[0], size[1])
				d.press("3")
				for _, keys := range []string{"j", "enter", "] enter", ")", "G", "y", "esc", "space", "s", "enter", "j j enter", "G", "esc", "v", "l", "enter", "esc", "v", "b", "b b", "enter", "esc", "m", "l j", "b B", "enter", "?", "esc", "esc", "/"} {
					d.press(keys)
					checkFrame(t, d)
				}
				d.send(tea.PasteMsg{Content: text})
				checkFrame(t, d)
				d.press("enter")
				checkFrame(t, d)
				d.press("esc / ctrl+u")
				for _, line := range []string{"failure_class=", "tool:", "fault=", "marker:"} {
					d.write(line)
					checkFrame(t, d)
					d.press("tab")
					checkFrame(t, d)
				}
				d.press("enter esc")
				d.press("enter /")
				d.send(tea.PasteMsg{Content: text})
				d.press("enter")
				checkFrame(t, d)
				d.press("esc")
				d.m.do("sql")
				d.press("ctrl+u")
				d.write("select ask, steps, rollout_id from tasks join rollouts using (task_id) join transcripts using (rollout_no)")
				d.press("enter")
				checkFrame(t, d)
				d.press("/")
				d.send(tea.PasteMsg{Content: text})
				d.press("enter")
				checkFrame(t, d)
			})
		}
	}
}

func TestExploreFindsWhatFails(t *testing.T) {
	d := drive(t, saved(), 120, 40)
	d.press("3")
	d.sees("━ Rollouts", "160", "all rollouts: no filter", "bring-your-own-agent")
	d.press("/")
	d.write("rew")
	d.sees("reward=", "the reward, 0 to 1")
	d.press("tab")
	d.write("0 stance=adv")
	d.sees("adversarial", "52")
	d.press("tab enter")
	d.sees("/ reward=0 stance=adversarial", "8 of 160", "✗ fail  reward 0")
	d.press("v")
	d.sees("━ Tasks", "✗")
	d.press("v")
	d.sees("Groups by tool") // one class of failure says nothing
	d.press("b b")
	d.sees("Groups by stance", "adversarial", "8/8")
	d.press("esc")
	d.sees("━ Rollouts", "160", "all rollouts: no filter")
}

func TestExploreGoesBackByEscAndUndo(t *testing.T) {
	d := drive(t, saved(), 120, 40)
	d.press("3 m")
	d.sees("Map of tool and stance")
	under := strings.Fields(mapFoot(d))
	d.press("enter")
	d.sees("/ tool="+under[1], "━ Rollouts")
	d.press("esc")
	d.sees("Map of tool and stance", "no filter")
	d.press("enter u")
	d.sees("Map of tool and stance")
	d.press("esc")
	d.sees("━ Rollouts")
	d.press("j j j v v b b j enter")
	d.sees("/ stance=")
	d.press("esc")
	d.sees("Groups by stance")
	if !strings.Contains(cursorLine(d), "▎") {
		t.Error("the cursor is lost")
	}
	d.press("esc esc")
	d.sees("1 Runs", "pass@1")
}

// mapFoot is the line on the cell under the cursor.
func mapFoot(d *driver) string {
	for _, line := range strings.Split(d.screen(), "\n") {
		if strings.Contains(line, "   failed ") {
			return line
		}
	}
	return ""
}

func TestExploreTasksShowEachAttempt(t *testing.T) {
	d := drive(t, saved(), 120, 40)
	d.press("3 v")
	d.sees("✓✓✗✓", "attempt 1")
	d.press("l")
	d.sees("attempt 2")
	d.press("l l l l")
	d.sees("attempt 4")
	d.press("j")
	d.sees("attempt 4", "Could you check what the runbook")
	d.press("h h h h h")
	d.sees("attempt 1")
	d.press("s")
	d.sees("━ Siblings", "attempts", "1 ✓  2 ✗")
	d.press("l")
	d.sees("attempt 3")
	d.press("esc")
	d.sees("━ Tasks")
}

// besideLine is the row under the cursor of the right pane.
func besideLine(d *driver) string {
	for _, line := range strings.Split(d.screen(), "\n") {
		if _, right, ok := strings.Cut(line, "│▎"); ok {
			return right
		}
	}
	return ""
}

func TestExploreJumpsToTrouble(t *testing.T) {
	d := drive(t, saved(), 120, 40)
	d.press("3 /")
	d.write("fault=timeout")
	d.press("enter )")
	if line := besideLine(d); !strings.Contains(line, "⚑ fault timeout") {
		t.Errorf("the cursor is on %q", line)
	}
	d.press("[")
	if line := besideLine(d); !strings.Contains(line, "get_runbook") {
		t.Errorf("the call before is %q", line)
	}
	d.press("/")
	d.write("30s")
	d.press("enter")
	d.sees("1 of 1: 30s", "▾ restart_service", `"no answer after 30s"`)
}

// TestATextFieldTakesEveryKey: what means something elsewhere is text there.
func TestATextFieldTakesEveryKey(t *testing.T) {
	d := drive(t, saved(), 120, 40)
	d.press("3 /")
	d.write("q?:n1y%/")
	d.sees("/ q?:n1y%/", "3 Explore")
	if d.quit || d.m.help.Open || d.m.menu != nil {
		t.Error("a letter acted")
	}
	d.press("esc")
	d.sees("no filter")
	d.press("/ ctrl+p")
	d.sees("Commands")
	d.press("esc f1")
	d.sees("1 Runs  2", "pass@1")
}

func TestTheRunGoesAlong(t *testing.T) {
	d := drive(t, saved(), 120, 40)
	d.press("j 3")
	d.sees("30", "before0000")
	d.press("2")
	d.sees("✓ run", "30/30")
	d.press("3")
	d.sees("before0000")
	d.press("1 j j 3")
	d.sees("·  night", "18")
	d.press("1 k 3 1 2")
	d.sees("after")
}

// TestExploreFollowsARun that goes on here: what comes is seen, and the cursor stays.
func TestExploreFollowsARun(t *testing.T) {
	d := drive(t, newMemory(), 120, 40)
	d.press("enter")
	p := d.play
	run := p.begin(record.Run{ID: "main1", Recipe: "oncall", Role: record.RoleMain}, 30)
	p.finish(run, p.start(run, 1, 0))
	d.frame()
	d.press("3")
	d.sees("3 Explore", "Could you check", "─ 1 ─")
	for i := 2; i < 6; i++ {
		p.finish(run, p.start(run, i, 0))
	}
	d.frame()
	d.frame()
	d.sees("─ 5 ─")
	if line := cursorLine(d); !strings.Contains(line, "Could you check") {
		t.Errorf("the cursor is on %q", line)
	}
}

// TestExploreSendsASelection to Label, where that is there.
func TestExploreSendsASelection(t *testing.T) {
	d := drive(t, saved(), 120, 40)
	d.press("3 space j space")
	d.sees("● 2 picked out")
	rows := slices.Collect(func(yield func(string) bool) {
		for _, line := range strings.Split(d.screen(), "\n") {
			if strings.Contains(line, "● ") && !yield(line) {
				return
			}
		}
	})
	if len(rows) != 3 { // and the line at the top
		t.Errorf("picked out are %q", rows)
	}
	for _, a := range d.m.actions() {
		if a.ID == "label" && d.m.at(ui.ScreenLabel) == nil {
			t.Error("Label is offered and not there")
		}
	}
}
