package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/engine/record"
	"assay/tui/ui"
)

// TestActionsDoNotCollide asks every scene for its actions: no key does two
// things, reserved keys keep their meaning, what is offered can be done, and the
// README lists it.
func TestActionsDoNotCollide(t *testing.T) {
	plainOnly(t)
	own := ownKeys{}
	for _, scene := range slices.Concat(scenes(), engineScenes) {
		d := scene.make(t, 100, 30)
		actions := d.m.actions()
		own.add(d.m.front, d.m.at(d.m.front).Actions())
		if wrong := ui.Collisions(actions); wrong != nil {
			t.Errorf("%s: %s", scene.name, strings.Join(wrong, "; "))
		}
		shown := 0
		for _, a := range actions {
			if a.Name == "" || a.Help == "" || len(a.Keys) == 0 {
				t.Errorf("%s: %s has no name, help or key", scene.name, a.ID)
			}
			if a.Footer > 0 {
				shown++
			}
			for n := 1; n <= ui.Screens; n++ {
				if a.ID == ui.GoTo(n) && d.m.at(n) == nil {
					t.Errorf("%s offers screen %d, which is not there", scene.name, n)
				}
			}
		}
		if least := 4; shown < least && !d.m.typing() {
			t.Errorf("%s: %d keys in the footer, want %d or more", scene.name, shown, least)
		}
	}
	checkReadmesKeys(t, own)
}

func TestFirstTimeEnterRunsTheFirstRecipe(t *testing.T) {
	d := drive(t, newMemory(), 80, 24)
	d.sees("No runs yet", "01-simulate/bring", "! needs python3")
	d.press("j enter")
	if d.play != nil {
		t.Fatal("a recipe that cannot run here was begun")
	}
	d.sees("It cannot run here: it needs python3")
	d.press("k enter")
	if d.play == nil {
		t.Fatal("nothing was begun")
	}
	d.sees("2 Live")
}

// TestLiveSaysWhatIsSpent wants tokens and money in Live's line as they are used up.
func TestLiveSaysWhatIsSpent(t *testing.T) {
	d := drive(t, newMemory(), 120, 40)
	d.press("enter")
	p := d.play
	p.observe(engine.StageStarted{Stage: engine.StageRun})
	run := p.begin(record.Run{ID: "main1", Recipe: "oncall", Role: record.RoleMain}, 4)
	p.observe(engine.OutcomesCommitted{RunID: run.ID, Counts: record.Counts{Planned: 4, Done: 1,
		Spent: record.Spending{Rows: record.Usage{InputTokens: 12000, OutputTokens: 300, Cost: 0.5}, Besides: record.Usage{InputTokens: 45, Cost: 0.25}}}})
	d.frame()
	d.sees("12,345 tokens  cost 0.75")
}

// TestStory follows a story from its first rollout to its delta.
func TestStory(t *testing.T) {
	d := drive(t, newMemory(), 120, 40)
	d.press("enter")
	p := d.play
	p.observe(engine.StageStarted{Stage: engine.StageRun})
	run := p.begin(record.Run{ID: "main1", Recipe: "oncall", Role: record.RoleMain}, 4)
	s := p.start(run, 3, 0)
	p.step(s, 0)
	p.step(s, 1)
	d.frame()
	d.sees("following", "0 + 1 in flight", "◌ who is on call", "get_runbook", "◌ working", "fault=timeout")
	p.step(s, 2)
	d.frame()
	d.sees("⚑ fault timeout", "✗ timeout")
	p.observe(engine.TextStreamed{RunID: run.ID, RolloutID: s.Rollout.ID, Delta: record.Delta{Text: "Done: it is"}})
	d.frame()
	d.sees("Done: it is", "still speaking")
	p.finish(run, s)
	d.frame()
	d.sees("✓ pass  reward 1", "the runbook was read before the restart", "1/4")
	d.seesNot("in flight ─")
	p.close(run, record.StoppedComplete)
	p.observe(engine.StageStarted{Stage: engine.StageCut})
	p.observe(engine.CutFinished{Cut: engine.CutResult{For: "sft", Format: "whileai", RowsIn: 4, RowsOut: 2, File: "out/sft.jsonl", Gates: []engine.CutGate{{Name: "held_out", In: 4, Out: 3}, {Name: "passed", In: 3, Out: 2}}}})
	d.frame()
	d.sees("2 of 4 rows", "out/sft.jsonl", "held_out", "−1", "3 → 2")
	for _, role := range []string{record.RoleBefore, record.RoleAfter} {
		p.observe(engine.StageStarted{Stage: engine.Stage(role)})
		r := p.begin(record.Run{ID: role + "1", Recipe: "oncall", Role: role, Parent: "main1"}, 2)
		p.finish(r, p.start(r, 1, 0))
		d.frame()
		d.sees("1/2")
		p.close(r, record.StoppedComplete)
	}
	p.observe(engine.StageStarted{Stage: engine.StageDelta})
	d.store.reports["main1"] = []record.SavedReport{{Kind: "delta", Report: []byte(testReport)}}
	p.observe(engine.DeltaFinished{})
	d.frame()
	d.sees("FAIL", "pass_at_1", "◆ argument_grounding", "▼ regressed", "◆ must not regress", "noise band")
	d.end()
	d.sees("FAIL", "Finished; all of it is saved")
	d.press("< < < <")
	d.sees("✓ run", "1/4", "✓ who is on call")
	d.press("1")
	d.sees("oncall", "└ before", "└ after")
	d.press("enter")
	d.sees("delta FAIL")
}

func TestFollowingStopsWhenOneMoves(t *testing.T) {
	d := drive(t, newMemory(), 120, 40)
	d.press("enter")
	p := d.play
	p.observe(engine.StageStarted{Stage: engine.StageRun})
	run := p.begin(record.Run{ID: "main1", Recipe: "oncall", Role: record.RoleMain}, 30)
	for i := range 8 {
		p.finish(run, p.start(run, i, 0))
	}
	d.frame()
	d.sees("following")
	d.press("g")
	d.seesNot("following")
	before := d.m.live.Where() + cursorLine(d)
	p.finish(run, p.start(run, 8, 0))
	d.frame()
	if after := d.m.live.Where() + cursorLine(d); after != before {
		t.Errorf("the cursor moved from %q to %q", before, after)
	}
	p.close(run, record.StoppedComplete)
	p.observe(engine.StageStarted{Stage: engine.StageCut})
	d.frame()
	d.sees("Rollouts")
	d.press("f")
	d.sees("━ Cut")
}

// cursorLine is the row under the cursor.
func cursorLine(d *driver) string {
	for _, line := range strings.Split(d.screen(), "\n") {
		if strings.HasPrefix(line, "▎") {
			return line
		}
	}
	return ""
}

// TestTheCursorStaysOnItsRollout while that goes from flight to the store among
// others.
func TestTheCursorStaysOnItsRollout(t *testing.T) {
	d := drive(t, newMemory(), 120, 40)
	d.press("enter")
	p := d.play
	run := p.begin(record.Run{ID: "main1", Recipe: "oncall", Role: record.RoleMain}, 30)
	var flights []*record.Sample
	for i := range 6 {
		flights = append(flights, p.start(run, i, 0))
	}
	d.frame()
	d.press("g j j")
	want := flights[2].Rollout.ID
	under := d.m.live.UnderCursor
	if under() != want {
		t.Fatalf("the cursor is on %s, not %s", under(), want)
	}
	for _, i := range []int{4, 1, 2, 0, 5, 3} {
		p.finish(run, flights[i])
		d.frame()
		if under() != want {
			t.Fatalf("after rollout %d ended the cursor is on %s, not %s", i, under(), want)
		}
	}
}

func TestQuitAsksOnlyWhileWorkIsRunning(t *testing.T) {
	d := drive(t, saved(), 80, 24)
	d.press("q")
	if !d.quit {
		t.Fatal("q does not leave with nothing running")
	}
	d = drive(t, saved(), 80, 24)
	underway(d)
	d.press("q")
	d.sees("Leave while a run is on its way?", "resume goes on where it stopped", "[ No ]")
	d.press("enter")
	d.seesNot("Leave while")
	if d.quit || d.play.asked() != 0 {
		t.Fatal("Enter on the question is not No")
	}
	d.press("q y")
	if d.quit || d.play.asked() != 1 {
		t.Fatal("leaving does not drain first")
	}
	d.sees("leaving when what is in flight has finished")
	d.press("ctrl+c")
	if d.play.asked() != 2 {
		t.Fatal("Ctrl-C while leaving does not abort")
	}
	d.end()
	if !d.quit {
		t.Fatal("the program does not end with the story")
	}
}

func TestTheQuestionGoesWithTheRun(t *testing.T) {
	d := drive(t, saved(), 80, 24)
	underway(d)
	d.press("q")
	d.end()
	d.seesNot("Leave while")
	d.press("y q")
	if !d.quit {
		t.Fatal("q does not leave")
	}
}

func TestCtrlCDrainsThenAborts(t *testing.T) {
	d := drive(t, saved(), 100, 30)
	underway(d)
	d.sees("left ")
	d.press("ctrl+c")
	if d.play.asked() != 1 {
		t.Fatal("Ctrl-C does not drain")
	}
	d.sees("stopping: what is in flight finishes; Ctrl-C aborts it")
	d.seesNot("left ")
	d.press("ctrl+c")
	if d.play.asked() != 2 {
		t.Fatal("a second Ctrl-C does not abort")
	}
	d.sees("aborting")
	d.end()
	if d.quit {
		t.Fatal("stopping a run ends the program")
	}
	d.sees("Stopped; what had finished is saved")
	d.press("ctrl+c")
	if d.quit {
		t.Fatal("a third Ctrl-C, meant for the story, ends the program")
	}
	d.press("ctrl+c")
	if !d.quit {
		t.Fatal("Ctrl-C does not leave with nothing running")
	}
}

func TestSteering(t *testing.T) {
	d := drive(t, saved(), 120, 40)
	underway(d)
	d.press("space")
	if !d.play.Paused() {
		t.Fatal("Space does not pause")
	}
	d.sees("  paused\n", "Paused: no rollout begins")
	d.press("space + +")
	if d.play.Paused() || d.play.Concurrency() != 10 {
		t.Errorf("paused %v, %d at once", d.play.Paused(), d.play.Concurrency())
	}
	d.press("- - - - - - - - - - - -")
	if d.play.Concurrency() != 1 {
		t.Errorf("%d at once, want the least, 1", d.play.Concurrency())
	}
	d.press("G x")
	d.sees("Stop this rollout?", "counts as lost")
	d.press("enter")
	if len(d.play.stopped) != 0 {
		t.Fatal("Enter on the question is not No")
	}
	d.press("x y")
	if len(d.play.stopped) != 1 {
		t.Fatalf("%d rollouts were stopped", len(d.play.stopped))
	}
	d.press("g")
	for _, a := range d.m.actions() {
		if a.ID == "stop-rollout" {
			t.Error("a rollout that has ended can be stopped")
		}
	}
}

func TestHideAndUndo(t *testing.T) {
	d := drive(t, saved(), 80, 24)
	d.press("G d")
	d.sees("hidden; u brings it back", "4 runs")
	d.press("ctrl+z")
	d.sees("is back", "5 runs")
	d.press("u")
	d.sees("5 runs")
}

func TestResume(t *testing.T) {
	d := drive(t, saved(), 80, 24)
	d.press("j r")
	if d.play != nil {
		t.Fatal("a part of a story was resumed by itself")
	}
	d.press("j j r")
	if d.play == nil {
		t.Fatal("an interrupted run was not resumed")
	}
	d.sees("2 Live", "night")
	d.press("1 k r a enter")
	d.sees("A run is on its way already")
}

func TestBadStart(t *testing.T) {
	d := drive(t, newMemory(), 80, 24, func(o *Options) {
		o.Start = func(Begin, func(engine.Event)) (Story, error) {
			return nil, errors.New("recipe.yaml:3:1: no key reapeats; did you mean repeats?")
		}
	})
	d.press("enter")
	d.sees("recipe.yaml:3:1: no key reapeats; did you mean repeats?", "1 Runs")
	d.press("q")
	if !d.quit {
		t.Error("q asks though nothing was begun")
	}
}

func TestOtherRunsCanBeReadWhileOneRuns(t *testing.T) {
	d := drive(t, saved(), 100, 30)
	underway(d)
	d.press("1 g j enter")
	d.sees("3f9a0c11d2e4b587", "160/160")
	p := d.play
	p.finish(p.store.find("77aa0c11d2e4b587"), p.start(p.store.find("77aa0c11d2e4b587"), 20, 0))
	d.frame()
	d.sees("3f9a0c11d2e4b587", "160/160")
	d.press("1 2")
	d.sees("77aa0c11d2e4b587", "13/60")
}

func TestOpenOfARunThatIsNotThere(t *testing.T) {
	d := drive(t, saved(), 80, 24, func(o *Options) { o.Open = "nope" })
	d.sees(`no run "nope"`)
	d.press("esc")
	d.sees("1 Runs")
}

func TestPaletteDoesWhatItNames(t *testing.T) {
	d := drive(t, saved(), 80, 24)
	d.press(":")
	d.write("light")
	d.press("enter")
	if d.m.theme.Name != "light" {
		t.Errorf("the theme is %s", d.m.theme.Name)
	}
	d.press("ctrl+p")
	d.write("go to 2")
	d.press("enter")
	d.sees("2 Live")
	d.press(":")
	d.write("q1")
	d.sees(": q1")
	if d.quit {
		t.Error("a letter typed into the palette left the program")
	}
}

func TestKeysInHelpAreTheKeysThatWork(t *testing.T) {
	plainOnly(t)
	for _, scene := range scenes() {
		d := scene.make(t, 120, 60)
		d.m.ask, d.m.menu = nil, nil
		d.m.help.Show()
		screen := d.screen()
		for _, a := range d.m.actions() {
			if !strings.Contains(screen, a.Help) {
				t.Errorf("%s: help does not say %q", scene.name, a.Help)
			}
		}
	}
}

// TestHelpScrolls where it is higher than the screen: every line of it can be read.
func TestHelpScrolls(t *testing.T) {
	d := drive(t, saved(), 80, 24)
	d.press("3 ?")
	d.sees("Keys: Explore", "more lines: ↓ PgDn")
	d.press("pgup j k") // moves the help, not the list below it
	d.sees("Keys: Explore")
	var words []string
	for range 12 {
		for _, line := range strings.Split(d.screen(), "\n") {
			if _, inside, ok := strings.Cut(line, "│ "); ok {
				words = append(words, strings.Fields(strings.TrimRight(inside, " │─"))...)
			}
		}
		d.press("pgdown")
	}
	read := strings.Join(words, " ")
	d.sees("the end: ↑ PgUp")
	for _, a := range d.m.actions() {
		if !strings.Contains(read, a.Help) {
			t.Errorf("help cannot be scrolled to %q", a.Help)
		}
	}
	d.send(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	d.seesNot("the end")
	d.press("g ?")
	d.seesNot("Keys: Explore")
	checkFrame(t, d)
}

// TestScreensAreNamed in the line at the top, where one may not know their numbers
// yet, from the smallest window that keeps two panes.
func TestScreensAreNamed(t *testing.T) {
	for _, width := range []int{80, 100, 120, 200} {
		d := drive(t, saved(), width, 24)
		for _, screen := range []string{"1", "j 2", "3", "1 j 2"} {
			d.press(screen)
			line, _, _ := strings.Cut(d.screen(), "\n")
			for _, name := range []string{"1 Runs", "2 Live", "3 Explore"} {
				if !strings.Contains(line, name) {
					t.Errorf("%d columns, after %s: %q does not name %s", width, screen, line, name)
				}
			}
		}
	}
}

// TestLiveSaysWhyANumberIsMissing of runs that have ended, by the name of the run that
// is looked at.
func TestLiveSaysWhyANumberIsMissing(t *testing.T) {
	m := newMemory()
	m.addRun("main1", record.Run{Recipe: "oncall", Status: record.RunFailed, StoppedBecause: record.StoppedAgentFailed}, 0, 1)
	m.addRun("after1", record.Run{Recipe: "oncall", Name: "evening", Role: record.RoleAfter, Parent: "main1", PosedBy: "main1", Status: record.RunDone}, 8, 1)
	d := drive(t, m, 80, 24)
	d.press("enter")
	d.sees("oncall  ·  main1", "no verdict came back", "covered  nothing came back")
	d.seesNot("not yet")
	d.press("> > >")
	d.sees("oncall  ·  evening", "covered  the tasks are another run's   arms  █ structured 8")
	d.press("3")
	d.sees("oncall  ·  evening")
}

func TestNarrowPanesFoldToOne(t *testing.T) {
	d := drive(t, saved(), 60, 20)
	d.press("enter")
	d.sees("Rollouts")
	d.seesNot("Transcript")
	d.press("enter")
	d.sees("Transcript")
	d.seesNot("Rollouts")
	d.press("esc")
	d.sees("Rollouts")
}

func TestMouse(t *testing.T) {
	d := drive(t, saved(), 100, 30)
	click := func(x, y int) { d.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}) }
	click(5, 4)
	d.sees("1 Runs")
	if line := cursorLine(d); !strings.Contains(line, "before") {
		t.Errorf("a click puts the cursor on %q", line)
	}
	click(5, 3)
	click(5, 3)
	d.sees("2 Live", "160/160")
	click(5, 6)
	if line := cursorLine(d); !strings.Contains(line, "✓") {
		t.Errorf("a click does not move the cursor: %q", line)
	}
	before := d.screen()
	d.send(tea.MouseWheelMsg{X: 5, Y: 6, Button: tea.MouseWheelDown})
	if d.screen() == before {
		t.Error("the wheel does nothing")
	}
	if v := d.m.View(); v.MouseMode != tea.MouseModeCellMotion {
		t.Error("the mouse is off")
	}
	d.press("%")
	if v := d.m.View(); v.MouseMode != tea.MouseModeNone {
		t.Error("the mouse cannot be switched off")
	}
}

// TestEveryByteOfATranscriptCanBeReached reads a long transcript to its end by
// keys alone and puts together what was seen.
func TestEveryByteOfATranscriptCanBeReached(t *testing.T) {
	plainOnly(t)
	m := saved()
	id := m.order["3f9a0c11d2e4b587"][0]
	var long strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&long, "line%05d\n", i)
	}
	m.samples[id].Rollout.FinalText = record.Text(long.String())
	d := drive(t, m, 80, 24)
	d.press("enter enter")
	seen := map[string]bool{}
	for range 400 {
		for _, word := range strings.Fields(d.screen()) {
			seen[word] = true
		}
		d.press("pgdown")
	}
	for i := range 3000 {
		if !seen[fmt.Sprintf("line%05d", i)] {
			t.Fatalf("line %d is never seen", i)
		}
	}
	d.sees("Verdict")
}

func TestWarningsCanBeReadWhole(t *testing.T) {
	m := saved()
	long := strings.Repeat("many words of warning ", 20)
	run := m.find("3f9a0c11d2e4b587")
	run.Warnings = append(run.Warnings, record.Warning{Code: "long", Text: long, Fix: "do the last thing"})
	d := drive(t, m, 80, 24)
	d.press("enter")
	d.sees("! 2  long")
	d.seesNot("do the last thing")
	d.press("!")
	d.sees("━ Warnings", "do the last thing", "unlabelled_stance", "name it in dimensions")
	checkFrame(t, d)
	d.press("esc")
	d.sees("Rollouts")
	d.press("! >")
	d.sees("━ Cut")
}

// TestAPartIsReadAgainWhenOneComesBack: it went on while another was looked at.
func TestAPartIsReadAgainWhenOneComesBack(t *testing.T) {
	d := drive(t, newMemory(), 120, 40)
	d.press("enter")
	p := d.play
	p.observe(engine.StageStarted{Stage: engine.StageBefore})
	main := p.begin(record.Run{ID: "main1", Recipe: "oncall", Role: record.RoleMain}, 2)
	before := p.begin(record.Run{ID: "before1", Recipe: "oncall", Role: record.RoleBefore, Parent: "main1"}, 9)
	p.finish(main, p.start(main, 0, 0))
	p.finish(before, p.start(before, 0, 0))
	d.frame()
	d.press("<")
	d.sees("main1", " 1 ─")
	for i := 1; i < 9; i++ {
		p.finish(before, p.start(before, i, 0))
	}
	d.frame()
	d.press(">")
	d.sees(" 9 ─", "9/9")
}

func TestFindInALiveTranscript(t *testing.T) {
	d := drive(t, saved(), 120, 40)
	d.press("enter /")
	d.write("RUNBOOK")
	d.sees("find RUNBOOK", "Enter find")
	d.press("enter")
	d.sees("1 of 5: RUNBOOK")
	d.press("n n N")
	d.sees("2 of 5: RUNBOOK")
	d.press("h j")
	d.press("l")
	d.sees("1 of 5: RUNBOOK") // of the transcript beside
	d.press("]")
	if line := besideLine(d); !strings.Contains(line, "get_runbook") {
		t.Errorf("the next call is %q", line)
	}
	d.press("/ ctrl+u")
	d.write("q1%")
	if d.quit {
		t.Error("a letter of the search left the program")
	}
	d.press("esc")
	d.sees("2 Live")
}
