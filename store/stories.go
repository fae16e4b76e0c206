package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"assay/engine/record"
)

// CommitSearch saves the state of a run's search after one batch.
func (db *DB) CommitSearch(ctx context.Context, runID string, state record.SearchState) error {
	if err := validJSON("search state", state.State); err != nil {
		return err
	}
	return db.tx(ctx, func(t *tx) error {
		run, err := t.runNo(runID)
		if err != nil {
			return err
		}
		if err := db.mayWrite(t, run, runID); err != nil {
			return err
		}
		return t.exec("INSERT OR REPLACE INTO search_state VALUES (?, ?, ?, ?)", run, int64(state.Batch), jsonText(state.State), timeText(db.now()))
	})
}

// jsonText is JSON for a column that is never null.
func jsonText(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "null"
	}
	return string(raw)
}

// SearchStates reads the committed states of a run's search, in batch order.
func (db *DB) SearchStates(ctx context.Context, runID string) ([]record.SearchState, error) {
	var states []record.SearchState
	err := db.each(ctx, func(row scanner) error {
		var s record.SearchState
		var raw string
		err := row.Scan(&s.Batch, &raw)
		s.State = json.RawMessage(raw)
		states = append(states, s)
		return err
	}, "SELECT batch, state FROM search_state JOIN runs USING (run_no) WHERE run_id = ? ORDER BY batch", runID)
	return states, err
}

// AppendJournal adds one line to a run's journal. A zero time is now.
func (db *DB) AppendJournal(ctx context.Context, runID string, entry record.JournalEntry) error {
	if err := validJSON("journal detail", entry.Detail); err != nil {
		return err
	}
	if entry.At.IsZero() {
		entry.At = db.now()
	}
	return db.tx(ctx, func(t *tx) error {
		run, err := t.runNo(runID)
		if err != nil {
			return err
		}
		return t.exec("INSERT INTO journal (run_no, at, kind, detail) VALUES (?, ?, ?, ?)", run, timeText(entry.At), entry.Kind, rawValue(entry.Detail))
	})
}

// Journal reads a run's journal, oldest first.
func (db *DB) Journal(ctx context.Context, runID string) ([]record.JournalEntry, error) {
	var entries []record.JournalEntry
	err := db.each(ctx, func(row scanner) error {
		var e record.JournalEntry
		var at, detail sql.NullString
		if err := row.Scan(&at, &e.Kind, &detail); err != nil {
			return err
		}
		e.Detail = rawOf(detail)
		err := times(at, &e.At)
		entries = append(entries, e)
		return err
	}, "SELECT at, kind, detail FROM journal JOIN runs USING (run_no) WHERE run_id = ? ORDER BY entry_no", runID)
	return entries, err
}

// SaveReport appends one report as it was shown.
func (db *DB) SaveReport(ctx context.Context, report record.SavedReport) error {
	if err := validJSON("report", report.Report); err != nil {
		return err
	}
	return db.tx(ctx, func(t *tx) error {
		run, err := t.runNo(report.RunID)
		if err != nil {
			return err
		}
		return t.exec("INSERT INTO reports (kind, run_no, before_run_id, after_run_id, report, saved_at) VALUES (?, ?, ?, ?, ?, ?)",
			report.Kind, run, optional(report.Before), optional(report.After), jsonText(report.Report), timeText(db.now()))
	})
}

// Reports reads the saved reports of a run, oldest first; of one kind, or of all
// where kind is "".
func (db *DB) Reports(ctx context.Context, runID, kind string) ([]record.SavedReport, error) {
	var reports []record.SavedReport
	err := db.each(ctx, func(row scanner) error {
		r := record.SavedReport{RunID: runID}
		var before, after sql.NullString
		var raw string
		err := row.Scan(&r.Kind, &before, &after, &raw)
		r.Before, r.After, r.Report = before.String, after.String, json.RawMessage(raw)
		reports = append(reports, r)
		return err
	}, "SELECT kind, before_run_id, after_run_id, report FROM reports JOIN runs USING (run_no) WHERE run_id = ?1 AND (?2 = '' OR kind = ?2) ORDER BY report_no", runID, kind)
	return reports, err
}

// BeginExport remembers which tasks go into one training file, before the file
// appears under its name: a crash in between leaves tasks out of a measurement
// needlessly, the other order would measure on what was trained on. It gives the
// number that [DB.FinishExport] and [DB.ForgetExport] take.
func (db *DB) BeginExport(ctx context.Context, e record.ExportRecord) (no int64, err error) {
	err = db.tx(ctx, func(t *tx) error {
		if _, err := t.runNo(e.RunID); err != nil {
			return err
		}
		result, err := t.execResult("INSERT INTO export_files (run_id, made_for, format, file, file_rows, begun_at) VALUES (?, ?, ?, ?, ?, ?)",
			e.RunID, e.For, e.Format, e.File, int64(e.Rows), timeText(db.now()))
		if err != nil {
			return err
		}
		if no, err = result.LastInsertId(); err != nil {
			return err
		}
		for _, task := range e.TaskIDs {
			if err := t.exec("INSERT OR IGNORE INTO exports VALUES (?, ?)", task, no); err != nil {
				return err
			}
		}
		return nil
	})
	return no, err
}

// FinishExport says that an export's file is there under its name.
func (db *DB) FinishExport(ctx context.Context, no int64) error {
	return db.tx(ctx, func(t *tx) error {
		return t.exec("UPDATE export_files SET exported_at = ? WHERE export_no = ?", timeText(db.now()), no)
	})
}

// ForgetExport takes back an export whose file never came to be.
func (db *DB) ForgetExport(ctx context.Context, no int64) error {
	return db.tx(ctx, func(t *tx) error {
		return t.exec("DELETE FROM export_files WHERE export_no = ? AND exported_at IS NULL", no)
	})
}

// Exports reads the training files that were written whole from a run, oldest first.
func (db *DB) Exports(ctx context.Context, runID string) ([]record.ExportRecord, error) {
	var exports []record.ExportRecord
	var numbers []int64
	err := db.each(ctx, func(row scanner) error {
		e := record.ExportRecord{RunID: runID}
		var no int64
		err := row.Scan(&no, &e.For, &e.Format, &e.File, &e.Rows)
		exports, numbers = append(exports, e), append(numbers, no)
		return err
	}, "SELECT export_no, made_for, format, file, file_rows FROM export_files WHERE run_id = ? AND exported_at IS NOT NULL ORDER BY export_no", runID)
	for i := range exports {
		if err != nil {
			break
		}
		exports[i].TaskIDs, err = db.strings(ctx, "SELECT task_id FROM exports WHERE export_no = ? ORDER BY task_id", numbers[i])
	}
	return exports, err
}

// Trained is which of the tasks went into a training file before now, or were
// about to; nil tasks ask for all that did.
func (db *DB) Trained(ctx context.Context, taskIDs []string) (map[string]bool, error) {
	query, args := "SELECT DISTINCT task_id FROM exports", []any{}
	if taskIDs != nil {
		asked, err := record.Marshal(taskIDs)
		if err != nil {
			return nil, err
		}
		query, args = "SELECT DISTINCT e.task_id FROM json_each(?) j JOIN exports e ON e.task_id = j.value", []any{string(asked)}
	}
	ids, err := db.strings(ctx, query, args...)
	trained := make(map[string]bool, len(ids))
	for _, id := range ids {
		trained[id] = true
	}
	return trained, err
}

// each calls fn for every row of a query.
func (db *DB) each(ctx context.Context, fn func(scanner) error, query string, args ...any) error {
	rows, err := db.read.QueryContext(ctx, query, args...)
	if err != nil {
		return explain(db.path, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return explain(db.path, err)
		}
	}
	return explain(db.path, errors.Join(rows.Err(), rows.Close()))
}
