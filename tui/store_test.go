package tui

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"assay/engine/record"
	"assay/store"
)

var _ Store = (*store.DB)(nil)

// TestOnARealFile shows runs that lie in a store's file: what is read of them is
// what the screens expect.
func TestOnARealFile(t *testing.T) {
	ctx := t.Context()
	db, err := store.Open(ctx, filepath.Join(t.TempDir(), "assay.db"), store.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	scorer := record.NewScorer("marker", "safe_restart", "", "", nil)
	const tasks = 30
	for _, run := range []*record.Run{
		{ID: "aaaa", Role: record.RoleMain, Recipe: "oncall", Program: "go run oncall/main.go", Scorer: scorer.ID, Scorers: []record.Scorer{scorer}, PassThreshold: 1, Status: record.RunRunning, StartedAt: now()},
		{ID: "bbbb", Role: record.RoleBefore, Parent: "aaaa", Recipe: "oncall", Scorer: scorer.ID, Scorers: []record.Scorer{scorer}, PassThreshold: 1, Status: record.RunRunning, StartedAt: now()},
	} {
		if err := db.CreateRun(ctx, run); err != nil {
			t.Fatal(err)
		}
		var posed []record.Posed
		var outcomes []record.Outcome
		for i := range tasks {
			s := testSample(run.ID, i, 0)
			s.Task.World, s.Task.User = record.World{}, record.User{Kind: "scripted"}
			s.Task.Identify()
			s.Posed.Order = i
			s.Rollout.Key.TaskID = s.Task.ID
			s.Rollout.ID = record.RolloutID(run.ID, s.Rollout.Key)
			if s.Judgment != nil {
				s.Judgment.Scorer, s.Judgment.RolloutID = scorer.ID, s.Rollout.ID
			}
			for m := range s.Markers {
				s.Markers[m].Scorer, s.Markers[m].RolloutID = scorer.ID, s.Rollout.ID
			}
			posed = append(posed, s.Posed)
			outcomes = append(outcomes, s.Outcome)
			if s.Rollout.Status == record.StatusDone {
				run.Counts.Done++
				run.Counts.Graded++
				run.Counts.Passed += int(*s.Judgment.Reward)
			}
		}
		if err := db.CommitTasks(ctx, run.ID, posed); err != nil {
			t.Fatal(err)
		}
		if err := db.CommitOutcomes(ctx, run.ID, outcomes); err != nil {
			t.Fatal(err)
		}
		run.Status, run.StoppedBecause, run.FinishedAt = record.RunDone, record.StoppedComplete, now()
		run.Counts.Planned, run.Counts.Tasks = tasks, tasks
		run.Counts.Lost = map[record.Cause]int{record.CauseInfrastructure: tasks - run.Counts.Done}
		if err := db.UpdateRun(ctx, run); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.SaveReport(ctx, record.SavedReport{Kind: "delta", RunID: "aaaa", Before: "bbbb", After: "bbbb", Report: json.RawMessage(testReport)}); err != nil {
		t.Fatal(err)
	}

	d := drive(t, newMemory(), 120, 40, func(o *Options) { o.Store = db })
	d.sees("oncall", "└ before", "go run oncall", "done")
	d.press("enter")
	d.sees("✓ run", "✓ before", "✓ delta", "30/30", "lost infrastructure 2", "structured 30", "✗ restart everything", "unsafe_restart", "I look at the runbook first.", "✓ pass  reward 1")
	d.press("j j enter j j j enter")
	d.sees("▾", "✗ fail  reward 0", "restarted before the runbook was read")
	checkFrame(t, d)
	d.press("> > >")
	d.sees("FAIL", "◆ argument_grounding")
	d.press("esc")
	d.press("d")
	d.sees("hidden")
	d.press("u")
	d.sees("oncall")
}
