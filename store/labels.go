package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"assay/engine/record"
)

// AddLabel appends one act of labelling and gives its number. It is on disk when
// this returns. The label's ID is not read.
func (db *DB) AddLabel(ctx context.Context, label record.Label) (int64, error) {
	ids, err := db.AddLabels(ctx, []record.Label{label})
	if err != nil {
		return 0, err
	}
	return ids[0], nil
}

// AddLabels appends acts of labelling in their order, all of them or none.
func (db *DB) AddLabels(ctx context.Context, labels []record.Label) ([]int64, error) {
	ids := make([]int64, len(labels))
	err := db.tx(ctx, func(t *tx) error {
		for i := range labels {
			var err error
			if ids[i], err = db.addLabel(t, &labels[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return ids, nil
}

func (db *DB) addLabel(t *tx, l *record.Label) (int64, error) {
	var rollout int64
	err := t.row("SELECT rollout_no FROM rollouts WHERE rollout_id = ?", []any{l.RolloutID}, &rollout)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, notFound("rollout", l.RolloutID, "see `assay rows`")
	}
	if err != nil {
		return 0, err
	}
	if err := checkLabel(l); err != nil {
		return 0, err
	}
	purpose, at := l.Purpose, l.At
	if purpose == "" {
		purpose = record.PurposeFirst
	}
	if at.IsZero() {
		at = db.now()
	}
	tags, err := jsonValue(l.Tags, len(l.Tags) == 0)
	if err != nil {
		return 0, err
	}
	var exact exactTexts
	note := exact.optional("note", l.Note)
	result, err := t.execResult(`INSERT INTO labels (rollout_no, annotator, verdict, purpose, kind, blind, note, tags, took_ms, labelled_at, exact)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, rollout, l.Annotator, string(l.Verdict), purpose, string(l.Kind), boolValue(l.Blind), note, tags, l.Took.Milliseconds(), timeText(at), exact.value())
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

func checkLabel(l *record.Label) error {
	refuse := func(what, given, want string) error {
		return &Error{Code: CodeInvalid, Where: l.RolloutID, Message: fmt.Sprintf("%q is no %s of a label", given, what), Fix: "use one of " + want}
	}
	switch l.Verdict {
	case record.VerdictPass, record.VerdictFail, record.VerdictUnsure, record.VerdictSkip, record.VerdictRetracted:
	default:
		return refuse("verdict", string(l.Verdict), "pass, fail, unsure, skip, retracted")
	}
	switch l.Kind {
	case record.GoldHuman, record.GoldProgram, record.GoldModel, record.GoldUnknown:
	default:
		return refuse("kind", string(l.Kind), "human, program, model, unknown")
	}
	switch l.Purpose {
	case "", record.PurposeFirst, record.PurposeRecheck:
	default:
		return refuse("purpose", l.Purpose, "first, recheck")
	}
	if l.Annotator == "" {
		return refuse("annotator", "", "a name")
	}
	return nil
}

// Labels reads every label of a run's rollouts, in the order of the acts.
func (db *DB) Labels(ctx context.Context, runID string) ([]record.Label, error) {
	run, err := db.runNo(ctx, runID)
	if err != nil {
		return nil, err
	}
	rows, err := db.read.QueryContext(ctx, `SELECT l.label_no, r.rollout_id, l.annotator, l.verdict, l.purpose, l.kind, l.blind, l.note, l.tags, l.took_ms, l.labelled_at, l.exact
		FROM labels l JOIN rollouts r USING (rollout_no) WHERE r.run_no = ? ORDER BY l.label_no`, run)
	if err != nil {
		return nil, explain(db.path, err)
	}
	defer rows.Close()
	var labels []record.Label
	for rows.Next() {
		var l record.Label
		var note, tags, at, exact sql.NullString
		var took int64
		if err := rows.Scan(&l.ID, &l.RolloutID, &l.Annotator, &l.Verdict, &l.Purpose, &l.Kind, &l.Blind, &note, &tags, &took, &at, &exact); err != nil {
			return nil, explain(db.path, err)
		}
		l.Took = time.Duration(took) * time.Millisecond
		var x texts
		x.add("note", &note, &l.Note)
		if err := errors.Join(x.restore(exact), fromJSON(tags, &l.Tags), times(at, &l.At)); err != nil {
			return nil, explain(db.path, fmt.Errorf("label %d: %w", l.ID, err))
		}
		labels = append(labels, l)
	}
	return labels, explain(db.path, rows.Err())
}

// GoldOf is the gold of a run's rollouts by rollout id, derived from its labels;
// rollouts on which nobody voted are not in it.
func (db *DB) GoldOf(ctx context.Context, runID string) (map[string]record.Gold, error) {
	labels, err := db.Labels(ctx, runID)
	if err != nil {
		return nil, err
	}
	byRollout := map[string][]record.Label{}
	for _, l := range labels {
		byRollout[l.RolloutID] = append(byRollout[l.RolloutID], l)
	}
	gold := map[string]record.Gold{}
	for id, of := range byRollout {
		if g, ok := record.GoldOf(of); ok {
			gold[id] = g
		}
	}
	return gold, nil
}

// FindRollouts are the ids of a run's rollouts of one task and k, of one eval run
// or of all (nil), ordered by eval run.
func (db *DB) FindRollouts(ctx context.Context, runID, taskID string, evalRun *int, k int) ([]string, error) {
	run, err := db.runNo(ctx, runID)
	if err != nil {
		return nil, err
	}
	return db.strings(ctx, "SELECT rollout_id FROM rollouts WHERE run_no = ?1 AND task_id = ?2 AND k = ?3 AND (?4 IS NULL OR eval_run = ?4) ORDER BY eval_run", run, taskID, k, evalRun)
}

// HasRollout says whether a rollout is in a run.
func (db *DB) HasRollout(ctx context.Context, runID, rolloutID string) (bool, error) {
	ids, err := db.strings(ctx, "SELECT rollout_id FROM rollouts JOIN runs USING (run_no) WHERE run_id = ? AND rollout_id = ?", runID, rolloutID)
	return len(ids) > 0, err
}

// strings reads one column of text.
func (db *DB) strings(ctx context.Context, query string, args ...any) ([]string, error) {
	rows, err := db.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, explain(db.path, err)
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, explain(db.path, err)
		}
		list = append(list, s)
	}
	return list, explain(db.path, rows.Err())
}

// LabelledKeys are the keys of a run's labelled rollouts, by rollout id.
func (db *DB) LabelledKeys(ctx context.Context, runID string) (map[string]record.Key, error) {
	keys := map[string]record.Key{}
	err := db.each(ctx, func(row scanner) error {
		var id string
		var k record.Key
		err := row.Scan(&id, &k.TaskID, &k.EvalRun, &k.K)
		keys[id] = k
		return err
	}, `SELECT r.rollout_id, r.task_id, r.eval_run, r.k FROM rollouts r JOIN runs u USING (run_no)
		WHERE u.run_id = ? AND EXISTS (SELECT 1 FROM labels l WHERE l.rollout_no = r.rollout_no)`, runID)
	return keys, err
}
