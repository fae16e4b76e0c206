package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/engine/record"
)

// NameLast names the newest run that is not hidden and has no parent; no run can
// be called so.
const NameLast = "last"

// CreateRun adds a run and takes its lock for this store. A name that is taken,
// or that means something else, is refused.
func (db *DB) CreateRun(ctx context.Context, run *record.Run) error {
	if run.ID == "" {
		return &Error{Code: CodeInvalid, Where: "run", Message: "a run needs an id"}
	}
	err := db.tx(ctx, func(t *tx) error {
		if err := checkName(t, run); err != nil {
			return err
		}
		values, err := runValues(t, run)
		if err != nil {
			return err
		}
		if err := t.exec(runInsert, values...); err != nil {
			return err
		}
		no, err := t.runNo(run.ID)
		if err != nil {
			return err
		}
		if err := t.setRunScorers(no, run.Scorers); err != nil {
			return err
		}
		if run.Status != record.RunRunning {
			return nil
		}
		return db.takeLock(t, no, run.ID)
	})
	if err == nil && run.Status == record.RunRunning {
		db.locks.hold(db, run.ID)
	}
	return err
}

// maxName bounds a name in runes: longer ones no list can show.
const maxName = 100

// speakable reports whether a name can be typed after a command. The colon
// separates a story's name from the part that is meant.
func speakable(name string) bool {
	return utf8.ValidString(name) && utf8.RuneCountInString(name) <= maxName && strings.TrimSpace(name) == name &&
		!strings.ContainsFunc(name, func(r rune) bool { return r == ':' || !unicode.IsPrint(r) })
}

func checkName(t *tx, run *record.Run) error {
	var taken string
	err := t.row("SELECT run_id FROM runs WHERE run_id = ? OR name = ? OR run_id = ?", []any{run.ID, run.Name, run.Name}, &taken)
	switch {
	case run.Name != "" && !speakable(run.Name):
		return &Error{Code: CodeInvalid, Where: run.Name, Message: fmt.Sprintf("a run cannot be called %q: a name has 1 to %d letters, digits, spaces within, or marks other than the colon", run.Name, maxName), Fix: "give another --name"}
	case strings.EqualFold(run.Name, NameLast):
		return &Error{Code: CodeNameReserved, Where: run.Name, Message: fmt.Sprintf("a run cannot be called %q: that is the newest run", run.Name), Fix: "give another --name"}
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	case taken == run.ID:
		return &Error{Code: CodeDuplicate, Where: run.ID, Message: fmt.Sprintf("there is a run %s already", run.ID), Fix: "give the new one another id"}
	}
	return &Error{Code: CodeNameTaken, Where: run.Name, Message: fmt.Sprintf("the name %q is taken by run %s", run.Name, taken), Fix: "give another --name"}
}

// ReopenRun takes the lock of an interrupted run and marks it running. A run that
// a living process holds is refused with who that is.
func (db *DB) ReopenRun(ctx context.Context, runID string) error {
	err := db.tx(ctx, func(t *tx) error {
		no, err := t.runNo(runID)
		if err != nil {
			return err
		}
		if err := db.takeLock(t, no, runID); err != nil {
			return err
		}
		return t.exec("UPDATE runs SET status = ?, stopped_because = NULL, finished_at = NULL WHERE run_no = ?", string(record.RunRunning), no)
	})
	if err == nil {
		db.locks.hold(db, runID)
	}
	return err
}

// UpdateRun saves what a run has come to. A run that is no longer running gives
// up its lock. Hidden is not touched: it is set by [DB.Hide] alone.
func (db *DB) UpdateRun(ctx context.Context, run *record.Run) error {
	err := db.tx(ctx, func(t *tx) error {
		no, err := t.runNo(run.ID)
		if err != nil {
			return err
		}
		if err := db.mayWrite(t, no, run.ID); err != nil {
			return err
		}
		values, err := runValues(t, run)
		if err != nil {
			return err
		}
		if err := t.exec(runUpdate, append(values, no)...); err != nil {
			return err
		}
		if err := t.setRunScorers(no, run.Scorers); err != nil {
			return err
		}
		if run.Status == record.RunRunning {
			return nil
		}
		return t.exec("DELETE FROM locks WHERE run_no = ?", no)
	})
	if err == nil && run.Status != record.RunRunning {
		db.locks.release(run.ID)
	}
	return err
}

// Hide hides a run from lists with the runs of its story, or shows them again.
// Nothing is removed.
func (db *DB) Hide(ctx context.Context, runID string, hidden bool) error {
	return db.tx(ctx, func(t *tx) error {
		no, err := t.runNo(runID)
		if err != nil {
			return err
		}
		return t.exec("UPDATE runs SET hidden = ? WHERE run_no = ? OR parent_run_id = ?", boolValue(hidden), no, runID)
	})
}

// runColumns are the columns of runs in the order of runValues; those that lists
// leave out come last.
var runColumns = []string{
	"run_id", "name", "role", "parent_run_id", "posed_by_run_id", "recipe", "recipe_hash", "mode", "seed", "repeats",
	"eval_runs", "pass_threshold", "policy_version", "system_prompt", "tools_shown", "program", "files_hash", "scorer_no", "status", "stopped_because", "error", "hollow",
	"tasks", "held_out", "planned", "done", "graded", "passed", "tool_calls", "excluded", "dropped", "lost", "spent",
	"started_at", "finished_at", "warnings", "coverage", "overrides", "config", "exact", "recipe_dir",
	"recipe_text", "files",
}

var (
	runInsert = insertSQL("INSERT INTO runs ("+strings.Join(runColumns, ", ")+")", len(runColumns), 1)
	runUpdate = "UPDATE runs SET " + strings.Join(runColumns, " = ?, ") + " = ? WHERE run_no = ?"
)

func runValues(t *tx, r *record.Run) ([]driver.Value, error) {
	var scorer driver.Value
	if r.Scorer != "" {
		no, err := t.scorerNo(r.Scorer)
		if err != nil {
			return nil, err
		}
		scorer = no
	}
	var firstErr error
	asJSON := func(v any, empty bool) driver.Value {
		value, err := jsonValue(v, empty)
		firstErr = errors.Join(firstErr, err)
		return value
	}
	var exact exactTexts
	c := r.Counts
	values := []driver.Value{
		r.ID, optional(r.Name), r.Role, optional(r.Parent), optional(r.PosedBy), r.Recipe, r.RecipeHash, string(r.Mode), r.Seed, int64(r.Repeats),
		int64(r.EvalRuns), r.PassThreshold, r.PolicyVersion, exact.optional("system_prompt", r.SystemPrompt), asJSON(r.Tools, r.Tools == nil), r.Program, r.FilesHash, scorer, string(r.Status), optional(r.StoppedBecause), exact.optional("error", r.Error), boolValue(r.Hollow),
		int64(c.Tasks), int64(c.HeldOut), int64(c.Planned), int64(c.Done), int64(c.Graded), int64(c.Passed), int64(c.Calls), int64(c.Excluded), int64(c.Dropped), asJSON(c.Lost, len(c.Lost) == 0), asJSON(c.Spent, c.Spent == (record.Spending{})),
		timeValue(r.StartedAt), timeValue(r.FinishedAt), asJSON(r.Warnings, len(r.Warnings) == 0), asJSON(r.Coverage, r.Coverage == nil), asJSON(r.Overrides, r.Overrides == nil), rawValue(r.Config), exact.value(), r.RecipeDir,
		r.RecipeText, asJSON(r.Files, r.Files == nil),
	}
	return values, firstErr
}

// runSelect reads runs; the last two columns are empty unless whole.
func runSelect(whole bool) string {
	columns := make([]string, len(runColumns))
	for i, c := range runColumns {
		columns[i] = "u." + c
		switch {
		case c == "scorer_no":
			columns[i] = "(SELECT scorer FROM scorers s WHERE s.scorer_no = u.scorer_no)"
		case !whole && (c == "recipe_text" || c == "files"):
			columns[i] = "NULL"
		}
	}
	return "SELECT u.run_no, u.hidden, " + strings.Join(columns, ", ") + " FROM runs u "
}

type scanner interface{ Scan(dest ...any) error }

func scanRun(row scanner) (no int64, r *record.Run, err error) {
	r = &record.Run{}
	c := &r.Counts
	var name, parent, posedBy, prompt, tools, scorer, stopped, errText, lost, spent, started, finished, warnings, coverage, overrides, config, exact, recipeText, files sql.NullString
	err = row.Scan(&no, &r.Hidden,
		&r.ID, &name, &r.Role, &parent, &posedBy, &r.Recipe, &r.RecipeHash, &r.Mode, &r.Seed, &r.Repeats,
		&r.EvalRuns, &r.PassThreshold, &r.PolicyVersion, &prompt, &tools, &r.Program, &r.FilesHash, &scorer, &r.Status, &stopped, &errText, &r.Hollow,
		&c.Tasks, &c.HeldOut, &c.Planned, &c.Done, &c.Graded, &c.Passed, &c.Calls, &c.Excluded, &c.Dropped, &lost, &spent,
		&started, &finished, &warnings, &coverage, &overrides, &config, &exact, &r.RecipeDir,
		&recipeText, &files)
	if err != nil {
		return 0, nil, err
	}
	r.Name, r.Parent, r.PosedBy, r.Scorer = name.String, parent.String, posedBy.String, scorer.String
	r.StoppedBecause, r.Config, r.RecipeText = record.StopReason(stopped.String), rawOf(config), recipeText.String
	var x texts
	x.add("error", &errText, &r.Error)
	x.add("system_prompt", &prompt, &r.SystemPrompt)
	err = errors.Join(fromJSON(tools, &r.Tools), x.restore(exact), times(started, &r.StartedAt, finished, &r.FinishedAt),
		fromJSON(lost, &c.Lost), fromJSON(spent, &c.Spent), fromJSON(warnings, &r.Warnings), fromJSON(coverage, &r.Coverage), fromJSON(overrides, &r.Overrides), fromJSON(files, &r.Files))
	return no, r, err
}

// Run reads one run whole.
func (db *DB) Run(ctx context.Context, runID string) (*record.Run, error) {
	runs, err := db.runs(ctx, runSelect(true)+"WHERE u.run_id = ?", runID)
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, notFound("run", runID, "see `assay runs`")
	}
	return runs[0], nil
}

// Runs lists the runs, newest first, without their recipe's text and files.
func (db *DB) Runs(ctx context.Context, includeHidden bool) ([]*record.Run, error) {
	return db.runs(ctx, runSelect(false)+"WHERE NOT u.hidden OR ? ORDER BY u.run_no DESC", includeHidden)
}

// Children lists the runs whose parent is runID, oldest first.
func (db *DB) Children(ctx context.Context, runID string) ([]*record.Run, error) {
	return db.runs(ctx, runSelect(true)+"WHERE u.parent_run_id = ? ORDER BY u.run_no", runID)
}

func (db *DB) runs(ctx context.Context, query string, args ...any) ([]*record.Run, error) {
	rows, err := db.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, explain(db.path, err)
	}
	defer rows.Close()
	var runs []*record.Run
	byNo := map[int64]*record.Run{}
	for rows.Next() {
		no, r, err := scanRun(rows)
		if err != nil {
			return nil, explain(db.path, err)
		}
		runs, byNo[no] = append(runs, r), r
	}
	if err := rows.Err(); err != nil {
		return nil, explain(db.path, err)
	}
	rows.Close()
	return runs, db.addScorers(ctx, byNo)
}

// addScorers fills in which scorer versions runs use.
func (db *DB) addScorers(ctx context.Context, byNo map[int64]*record.Run) error {
	for no, r := range byNo {
		scorers, err := db.runScorers(ctx, no)
		if err != nil {
			return err
		}
		r.Scorers = scorers
	}
	return nil
}

func (db *DB) runScorers(ctx context.Context, runNo int64) ([]record.Scorer, error) {
	rows, err := db.read.QueryContext(ctx, "SELECT scorer, kind, name, model, rubric_hash, settings FROM run_scorers JOIN scorers USING (scorer_no) WHERE run_no = ? ORDER BY position", runNo)
	if err != nil {
		return nil, explain(db.path, err)
	}
	defer rows.Close()
	var scorers []record.Scorer
	for rows.Next() {
		var s record.Scorer
		var settings sql.NullString
		if err := rows.Scan(&s.ID, &s.Kind, &s.Name, &s.Model, &s.RubricHash, &settings); err != nil {
			return nil, explain(db.path, err)
		}
		s.Settings = rawOf(settings)
		scorers = append(scorers, s)
	}
	return scorers, explain(db.path, rows.Err())
}

// runNo is this file's number of a run.
func (t *tx) runNo(runID string) (int64, error) {
	var no int64
	err := t.row("SELECT run_no FROM runs WHERE run_id = ?", []any{runID}, &no)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, notFound("run", runID, "see `assay runs`")
	}
	return no, err
}

// runNo is this file's number of a run, for readers.
func (db *DB) runNo(ctx context.Context, runID string) (int64, error) {
	var no int64
	err := db.read.QueryRowContext(ctx, "SELECT run_no FROM runs WHERE run_id = ?", runID).Scan(&no)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, notFound("run", runID, "see `assay runs`")
	}
	return no, explain(db.path, err)
}
