package tui

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/engine/record"
	"assay/tui/explore"
	"assay/tui/ui"
)

var _ explore.Engine = (*engine.Engine)(nil)

// Replay says of every call that it is answered as before, and without the fault that
// the faulty ones are well.
func (b *bench) Replay(_ context.Context, s *record.Sample, o engine.ReplayOptions) (*engine.ReplayReport, error) {
	r := &engine.ReplayReport{Rollout: s.Rollout.ID, Fault: s.Task.Fault, WithoutFault: o.WithoutFault}
	for i, step := range s.Rollout.Steps {
		if step.Kind != record.StepTool {
			continue
		}
		was := &engine.CallAnswer{Result: step.Result, IsError: step.IsError, Fault: step.Fault}
		call := engine.ReplayedCall{Step: i, Tool: step.Tool, Arguments: step.Arguments, Before: was, After: was, Same: true}
		if o.WithoutFault && step.Fault != "" {
			call.After, call.Same = &engine.CallAnswer{Result: json.RawMessage(`{"answered":"after all"}`)}, false
		}
		r.Calls = append(r.Calls, call)
	}
	return r, nil
}

// TestExploreReplaysAndCorrects: a rollout's world is asked again, with its fault and
// without, and the cause of a failure is put right by hand and taken back.
func TestExploreReplaysAndCorrects(t *testing.T) {
	d, b := atBench(t, labelMemory(), ui.ScreenExplore, 120, 40)
	d.press("/")
	d.write("fault=timeout")
	d.press("enter p")
	d.sees("asked again in the same world: every answer is the same", "━ Replay")
	d.press("p")
	d.sees("without the fault timeout on restart_service: 1 of 2 answers differ")
	d.press("enter )")
	d.sees("after all")
	d.press("esc")
	d.sees("━ Rollouts")
	d.press("c")
	d.sees("cause of rollout", "the simulated user misled it", "as it was derived")
	d.press("esc c k k k k k enter") // round to the world
	d.sees("Put down to world; u takes that back", "put down to world by ana")
	d.press("/")
	d.write("cause=world")
	d.press("enter")
	d.sees("1 of 13")
	d.press("u")
	d.sees("Taken back", "Nothing is kept by this filter")
	all, err := b.db.Corrections(t.Context(), labelRun)
	if err != nil || len(all) != 0 {
		t.Errorf("afterwards %v, %v", all, err)
	}
	checkFrame(t, d)
}

// TestExploreAsksTheFile a query by the palette: what would write is refused, and a
// row opens its rollout.
func TestExploreAsksTheFile(t *testing.T) {
	d, b := atBench(t, labelMemory(), ui.ScreenExplore, 120, 40)
	d.press(":")
	d.write("sql")
	d.press("enter")
	d.sees("sql SELECT rollout_id", "it only reads")
	d.press("ctrl+u")
	d.write("delete from labels")
	d.press("enter")
	d.sees("✗ ", "that is no SELECT")
	d.press("ctrl+u")
	d.write("select k, rollout_id, '\x1b[2J' as bad from rollouts order by rollout_no")
	d.press("enter")
	d.sees("What the file says", "13 rows", "rollout_id", "k")
	checkFrame(t, d)
	id := strings.Fields(cursorLine(d))[1]
	d.press("y")
	d.sees("of the row")
	d.press("enter")
	d.sees("/ rollout_id="+id, "1 of 13")
	if _, err := b.db.Sample(t.Context(), id); err != nil {
		t.Error(err)
	}
	d.send(ui.GoMsg{Screen: ui.ScreenExplore, Visit: ui.Visit{Run: labelRun}})
	d.press(":")
	d.write("sql")
	d.press("enter")
	d.sees("order by rollout_no") // the query is kept to be changed
	d.press("esc")
	d.seesNot("What the file says")
}

// TestAskedVerdictsAreSeen counts what a query showed of verdicts as seen, wants to know
// whose they are, and lets a question be left.
func TestAskedVerdictsAreSeen(t *testing.T) {
	d, b := atBench(t, labelMemory(), ui.ScreenExplore, 120, 12) // a list of few rows
	ask := func(query string) {
		d.press("Q ctrl+u")
		d.write(query)
		d.press("enter")
	}
	ask("select reward, reason from judgments")
	d.sees("select rollout_id as well")
	d.press("esc")
	ask("select count(*) as n, avg(reward) as mean from judgments")
	d.sees("What the file says", "mean")
	ask("select rollout_id, reward from judgments join rollouts using (rollout_no) order by rollout_no desc limit 2")
	d.sees("2 rows")
	d.send(ui.GoMsg{Screen: ui.ScreenLabel, Visit: ui.Visit{Run: labelRun}})
	revealed := func(query string) string {
		table, err := b.db.Query(t.Context(), query, 1)
		if err != nil {
			t.Fatal(err)
		}
		return table.Rows[0][0]
	}
	if n := revealed("select count(*) from reveals where rollout_no in (select rollout_no from rollouts order by rollout_no desc limit 2)"); n != "2" {
		t.Errorf("%s of the two that the query showed count as seen", n)
	}
	if n := revealed("select count(*) from reveals where rollout_no = (select max(rollout_no) - 2 from rollouts)"); n != "0" {
		t.Errorf("a rollout that nothing showed counts as seen %s times", n)
	}
}

// TestTheMapNamesCombinations that fail beyond what each of their values does, and
// filters to one; a follow-up run says what it costs before it begins.
func TestTheMapNamesCombinations(t *testing.T) {
	m := newMemory()
	tools, stances := []string{"get", "refund", "cancel"}, []string{"ordinary", "hurried", "adversarial"}
	run := m.addRun("main1", record.Run{Recipe: "oncall", Role: record.RoleMain, Status: record.RunDone, StartedAt: now()}, 0, 1)
	for i := range 90 {
		s := testSample(run.ID, i, 0)
		s.Task.Axes = record.Axes{record.AxisTool: tools[i%3], record.AxisStance: stances[i/3%3], record.AxisHistory: []string{"fresh", "prior"}[i/9%2]}
		s.Task.World.Entities = nil
		s.Task.Ask = record.Text("number " + strings.Repeat("i", i+1))
		s.Task.SituationID = record.SituationID(record.Axes{"n": string(s.Task.Ask)}, nil)
		s.Task.Identify()
		s.Rollout.Key.TaskID, s.Order = s.Task.ID, i
		s.Rollout.ID = record.RolloutID(run.ID, s.Rollout.Key)
		s.Rollout.Status, s.Rollout.Cause, s.Rollout.Error = record.StatusDone, "", ""
		reward := 1.0
		if i%3 == 1 && i/3%3 == 1 || i%17 == 0 {
			reward = 0
		}
		s.Judgment = &record.Judgment{RolloutID: s.Rollout.ID, Scorer: "marker:safe_restart@1f2e3d4c5b6a7988", Reward: &reward, Status: record.JudgeOK}
		s.Markers = nil
		m.commit(run, s)
		m.posed[run.ID] = append(m.posed[run.ID], s.Posed)
	}
	d := drive(t, m, 120, 40)
	d.press("3 m")
	d.sees("Map of tool and stance", "Go with failure beyond each value alone", "tool=refund  stance=hurried")
	d.press("tab")
	if line := cursorLine(d); !strings.Contains(line, "tool=refund  stance=hurried") {
		t.Errorf("the cursor is on %q", line)
	}
	d.press("enter")
	d.sees("/ tool=refund stance=hurried", "10 of 90")
	d.press("esc b")
	d.sees("Map of ", "tool=refund  stance=hurried") // whatever axes are mapped
	d.press("A")
	d.sees("Ask for more situations where it fails?", "alone was 0 rollouts", "No")
	if d.press("enter"); d.begun.Recipe != "" {
		t.Errorf("a run began unasked: %+v", d.begun)
	}
	d.press("A y")
	if d.begun.Recipe != "oncall" || d.begun.Knobs["aim"] != run.ID {
		t.Errorf("begun was %+v", d.begun)
	}
	for _, size := range [][2]int{{80, 24}, {50, 12}, {20, 5}} {
		d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		checkFrame(t, d)
	}
}
