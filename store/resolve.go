package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"assay/engine/record"
)

// Resolve finds the id of the run that a person means: its exact id, its name,
// "last" (the newest run that is not hidden and has no parent), or a prefix of
// one id only, in that order.
func (db *DB) Resolve(ctx context.Context, name string) (string, error) {
	var id string
	err := db.read.QueryRowContext(ctx, `SELECT run_id FROM runs WHERE run_id = ?1 OR name = ?1 ORDER BY run_id = ?1 DESC LIMIT 1`, name).Scan(&id)
	if err == nil {
		return id, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return "", explain(db.path, err)
	}
	if name == NameLast {
		ids, err := db.strings(ctx, "SELECT run_id FROM runs WHERE NOT hidden AND parent_run_id IS NULL ORDER BY run_no DESC LIMIT 1")
		if err != nil || len(ids) > 0 {
			return strings.Join(ids, ""), err
		}
		return "", &Error{Code: CodeNotFound, Where: name, Message: "there is no run yet", Fix: "make one with `assay run RECIPE`"}
	}
	return db.resolvePrefix(ctx, name)
}

func (db *DB) resolvePrefix(ctx context.Context, name string) (string, error) {
	ids, err := db.strings(ctx, "SELECT run_id FROM runs WHERE ?1 <> '' AND substr(run_id, 1, length(?1)) = ?1 ORDER BY run_no DESC", name)
	switch {
	case err != nil:
		return "", err
	case len(ids) == 1:
		return ids[0], nil
	case len(ids) > 1:
		return "", &Error{Code: CodeAmbiguous, Where: name, Message: fmt.Sprintf("%d runs begin with %q: %s", len(ids), name, strings.Join(ids[:min(len(ids), 5)], ", ")), Fix: "give more of the id"}
	}
	known, err := db.strings(ctx, "SELECT run_id FROM runs UNION ALL SELECT name FROM runs WHERE name IS NOT NULL")
	if err != nil {
		return "", err
	}
	fix := "see `assay runs`"
	if near := record.Nearest(name, known); near != "" {
		fix = fmt.Sprintf("did you mean %q? %s", near, fix)
	}
	return "", notFound("run", name, fix)
}

// Purge really removes a hidden run and the runs of its story: rollouts,
// judgments, markers, search, reports, and tasks that no other run poses. A
// run with labels or preferences is refused unless withLabels. What was
// exported stays remembered. The freed bytes are overwritten.
func (db *DB) Purge(ctx context.Context, runID string, withLabels bool) error {
	err := db.tx(ctx, func(t *tx) error {
		no, err := t.runNo(runID)
		if err != nil {
			return err
		}
		if err := db.mayPurge(t, no, runID, withLabels); err != nil {
			return err
		}
		if err := t.exec("PRAGMA secure_delete = ON"); err != nil {
			return err
		}
		for _, q := range purgeSQL {
			if err := t.exec(q, runID); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, db.afterPurge(err == nil))
}

const storyRollouts = "(SELECT rollout_no FROM rollouts JOIN runs USING (run_no) WHERE run_id = ?1 OR parent_run_id = ?1)"

// purgeSQL removes children before parents.
var purgeSQL = []string{
	"DELETE FROM transcript_words WHERE rowid IN " + storyRollouts,
	"DELETE FROM labels WHERE rollout_no IN " + storyRollouts,
	"DELETE FROM preferences WHERE first_no IN " + storyRollouts + " OR second_no IN " + storyRollouts,
	"DELETE FROM rollouts WHERE rollout_no IN " + storyRollouts,
	"DELETE FROM runs WHERE run_id = ?1 OR parent_run_id = ?1",
	"DELETE FROM tasks WHERE ?1 IS NOT NULL AND task_id NOT IN (SELECT task_id FROM run_tasks)",
	"DELETE FROM tool_sets WHERE ?1 IS NOT NULL AND tools_hash NOT IN (SELECT tools_hash FROM tasks)",
	// The words of deleted rows stay in the index until its segments are merged.
	"INSERT INTO transcript_words (transcript_words) SELECT 'optimize' WHERE ?1 IS NOT NULL",
}

func (db *DB) mayPurge(t *tx, no int64, runID string, withLabels bool) error {
	var hidden bool
	var labels, held int
	err := t.row(`SELECT hidden, (SELECT count(*) FROM labels WHERE rollout_no IN `+storyRollouts+`) + (SELECT count(*) FROM preferences WHERE first_no IN `+storyRollouts+`),
		(SELECT count(*) FROM locks JOIN runs USING (run_no) WHERE run_id = ?1 OR parent_run_id = ?1) FROM runs WHERE run_no = ?2`, []any{runID, no}, &hidden, &labels, &held)
	switch {
	case err != nil:
		return err
	case !hidden:
		return &Error{Code: CodeNotHidden, Where: runID, Message: fmt.Sprintf("run %s is not hidden, and only a hidden run is removed", runID), Fix: fmt.Sprintf("hide it first: assay hide %s", runID)}
	case labels > 0 && !withLabels:
		return &Error{Code: CodeHasLabels, Where: runID, Message: fmt.Sprintf("run %s has %s, which would be lost", runID, record.Counted(labels, "label")), Fix: "export them first, or add --with-labels"}
	case held > 0:
		return &Error{Code: CodeHeld, Where: runID, Message: fmt.Sprintf("run %s is being worked on", runID), Fix: "wait for it to end, or stop it"}
	}
	return nil
}

func (db *DB) afterPurge(purged bool) error {
	if !purged {
		return nil
	}
	// The WAL holds the removed bytes until it is truncated.
	return explain(db.path, db.write.truncateWAL())
}

// Story is a run with its children, oldest first.
func (db *DB) Story(ctx context.Context, runID string) ([]*record.Run, error) {
	first, err := db.Run(ctx, runID)
	if err != nil {
		return nil, err
	}
	children, err := db.Children(ctx, runID)
	return append([]*record.Run{first}, children...), err
}
