package store

import (
	"os"
	"path/filepath"
	"testing"

	"assay/engine/record"
)

// breakPage writes junk over one page of a table, the nth of its leaves.
func breakPage(t *testing.T, path, table string, nth int) {
	t.Helper()
	db := raw(t, path)
	var page int64
	err := db.QueryRow("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path LIMIT 1 OFFSET ?", table, nth).Scan(&page)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	junk := make([]byte, 4096)
	for i := range junk {
		junk[i] = 0xA5
	}
	if _, err := f.WriteAt(junk, (page-1)*4096); err != nil {
		t.Fatal(err)
	}
}

func TestRecover(t *testing.T) {
	for _, table := range []string{"transcripts", "rollouts", "run_tasks", "markers", "tasks"} {
		t.Run(table, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "assay.db")
			db := open(t, path, Options{})
			posed := fill(t, db, "run1", 120, 2, 1)
			label := record.Label{RolloutID: record.RolloutID("run1", record.Key{TaskID: posed[119].Task.ID, K: 1}), Annotator: "ann", Verdict: record.VerdictPass, Kind: record.GoldHuman}
			if _, err := db.AddLabel(t.Context(), label); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			breakPage(t, path, table, 1)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			to := filepath.Join(t.TempDir(), "recovered.db")
			report, err := Recover(t.Context(), path, to, Options{})
			if err != nil {
				t.Fatal(err)
			}
			lost := 0
			for _, r := range report {
				lost += r.Lost
			}
			if lost == 0 {
				t.Errorf("nothing is said to be lost: %+v", report)
			}
			recovered := open(t, to, Options{})
			if found, err := recovered.Check(t.Context()); err != nil || !found.OK {
				t.Errorf("integrity %+v (%v)", found, err)
			}
			got := samples(t, recovered, "run1", record.SampleQuery{})
			if len(got) == 0 || len(got) > 240 {
				t.Errorf("%d rollouts of 240", len(got))
			}
			for _, s := range got {
				if s.Rollout.FinalText != "Restarted billing." || len(s.Rollout.Steps) != 3 || s.Task.Ask == "" {
					t.Fatalf("rollout %s is there in part", s.Rollout.ID)
				}
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
				t.Errorf("the damaged file was changed (%v)", err)
			}
		})
	}
}

func TestRecoverIntoNothingElse(t *testing.T) {
	path := closedStore(t)
	if _, err := Recover(t.Context(), path, path, Options{}); CodeOf(err) != CodeExists {
		t.Errorf("over itself: %v", err)
	}
	if _, err := Recover(t.Context(), filepath.Join(t.TempDir(), "no.db"), path+"2", Options{}); CodeOf(err) != CodeNotFound {
		t.Errorf("of nothing: %v", err)
	}
	report, err := Recover(t.Context(), path, path+"2", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report {
		if r.Lost != 0 {
			t.Errorf("of a whole file %s lost %d", r.Table, r.Lost)
		}
	}
	db := open(t, path+"2", Options{})
	if got := samples(t, db, "run1", record.SampleQuery{}); len(got) != 60 || got[0].Judgment == nil {
		t.Errorf("%d rollouts, want 60", len(got))
	}
}
