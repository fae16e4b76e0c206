package store

import (
	"context"

	"assay/engine/record"
)

// SaveCounts saves how far a running run has come, so that a list on another
// screen need not count its rollouts.
func (db *DB) SaveCounts(ctx context.Context, runID string, c record.Counts) error {
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
		n := func(v int) int64 { return int64(v) }
		return t.exec(`UPDATE runs SET tasks = ?, held_out = ?, planned = ?, done = ?, graded = ?, passed = ?, tool_calls = ?, excluded = ?, lost = ?
			WHERE run_no = ?`, n(c.Tasks), n(c.HeldOut), n(c.Planned), n(c.Done), n(c.Graded), n(c.Passed), n(c.Calls), n(c.Excluded), string(lost), no)
	})
}
