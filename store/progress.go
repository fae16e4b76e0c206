package store

import (
	"context"

	"assay/engine/record"
)

// SaveProgress saves how far a running run has come, so that a list on another
// screen need not count its rollouts. A nil coverage is left as it is.
func (db *DB) SaveProgress(ctx context.Context, runID string, c record.Counts, coverage *record.Coverage) error {
	return db.tx(ctx, func(t *tx) error {
		no, err := t.runNo(runID)
		if err != nil {
			return err
		}
		if err := db.mayWrite(t, no, runID); err != nil {
			return err
		}
		lost, err := record.Marshal(c.Lost)
		if err != nil {
			return err
		}
		spent, err := record.Marshal(c.Spent)
		if err != nil {
			return err
		}
		n := func(v int) int64 { return int64(v) }
		err = t.exec(`UPDATE runs SET tasks = ?, held_out = ?, planned = ?, done = ?, graded = ?, passed = ?, tool_calls = ?, excluded = ?, lost = ?, spent = ?
			WHERE run_no = ?`, n(c.Tasks), n(c.HeldOut), n(c.Planned), n(c.Done), n(c.Graded), n(c.Passed), n(c.Calls), n(c.Excluded), string(lost), string(spent), no)
		if err != nil || coverage == nil {
			return err
		}
		raw, err := record.Marshal(coverage)
		if err != nil {
			return err
		}
		return t.exec("UPDATE runs SET coverage = ? WHERE run_no = ?", string(raw), no)
	})
}
