package store

import (
	"fmt"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"assay/engine/record"
)

// TestStatementsAreBounded: what is asked once and never again does not fill the memory,
// and is answered all the same; and the statements of a transaction see what it wrote.
func TestStatementsAreBounded(t *testing.T) {
	db, ids := bench(t)
	for i := range maxStatements + 10 {
		if got, err := db.strings(t.Context(), fmt.Sprintf("SELECT 'no %d'", i)); err != nil || got[0] != fmt.Sprint("no ", i) {
			t.Fatalf("%q (%v)", got, err)
		}
	}
	if n := len(db.read.kept.kept); n != maxStatements {
		t.Errorf("%d statements are kept", n)
	}
	if _, err := db.strings(t.Context(), "SELECT nonsense"); err == nil {
		t.Error("nonsense is answered")
	}
	err := db.tx(t.Context(), func(tx *tx) error {
		for want := range 3 {
			var n int
			if err := tx.row("SELECT count(*) FROM labels", nil, &n); err != nil || n != want {
				t.Errorf("%d labels of %d are seen (%v)", n, want, err)
			}
			if _, err := db.addLabel(tx, &record.Label{RolloutID: ids[0], Annotator: "ann", Verdict: record.VerdictPass, Kind: record.GoldHuman}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestBriefSamples say the same of a rollout's verdict and final text as whole ones.
func TestBriefSamples(t *testing.T) {
	db, _ := bench(t)
	whole, brief := samples(t, db, "run1", record.SampleQuery{}), samples(t, db, "run1", record.SampleQuery{Brief: true})
	if len(whole) == 0 || len(brief) != len(whole) {
		t.Fatalf("%d brief samples, %d whole ones", len(brief), len(whole))
	}
	for i, s := range brief {
		w := whole[i]
		if s.Rollout.ID != w.Rollout.ID || s.Task.ID != w.Task.ID || s.Rollout.FinalText != w.Rollout.FinalText || !reflect.DeepEqual(s.Judgment, w.Judgment) {
			t.Errorf("brief: %+v, whole: %+v", s, w)
		}
		if len(s.Rollout.Steps) > 0 || s.Markers != nil {
			t.Error("a brief sample is long")
		}
	}
}

// BenchmarkPrepared reads one row by its key, with a statement that is kept and with one
// that is prepared for each question: what a screen's dozen questions a key save.
func BenchmarkPrepared(b *testing.B) {
	db := open(b, filepath.Join(b.TempDir(), "assay.db"), Options{})
	if err := db.CreateRun(b.Context(), testRun("run1")); err != nil {
		b.Fatal(err)
	}
	query := runSelect(false) + "WHERE run_id = ?"
	ask := func(find func() (string, error)) time.Duration {
		const times = 50
		from := time.Now()
		for range times {
			if id, err := find(); err != nil || id == "" {
				b.Fatal(id, err)
			}
		}
		return time.Since(from) / times
	}
	var kept, anew time.Duration
	for b.Loop() {
		kept += ask(func() (string, error) {
			runs, err := db.runs(b.Context(), query, "run1")
			return runs[0].ID, err
		})
		anew += ask(func() (string, error) {
			rows, err := db.read.DB.QueryContext(b.Context(), query, "run1")
			if err != nil {
				return "", err
			}
			defer rows.Close()
			rows.Next()
			_, run, err := scanRun(rows)
			return run.ID, err
		})
	}
	b.ReportMetric(float64(anew)/float64(kept), "prepared-anew/kept")
}
