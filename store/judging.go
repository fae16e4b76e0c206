package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"assay/engine/record"
)

// AddPreference appends one choice between two rollouts of one task and gives its
// number. Its ID is not read.
func (db *DB) AddPreference(ctx context.Context, p record.Preference) (no int64, err error) {
	switch p.Choice {
	case record.ChoiceFirst, record.ChoiceSecond, record.ChoiceTie, record.ChoiceSkip, record.ChoiceRetracted:
	default:
		return 0, &Error{Code: CodeInvalid, Where: p.First, Message: fmt.Sprintf("%q is no choice between two rollouts", p.Choice), Fix: "use one of first, second, tie, skip, retracted"}
	}
	if p.Annotator == "" {
		return 0, &Error{Code: CodeInvalid, Where: p.First, Message: "a choice needs an annotator", Fix: "give a name"}
	}
	if p.At.IsZero() {
		p.At = db.now()
	}
	err = db.tx(ctx, func(t *tx) error {
		var first, second int64
		err := t.row(`SELECT a.rollout_no, b.rollout_no FROM rollouts a JOIN rollouts b ON b.run_no = a.run_no AND b.task_id = a.task_id
			WHERE a.rollout_id = ? AND b.rollout_id = ? AND a.rollout_no <> b.rollout_no`, []any{p.First, p.Second}, &first, &second)
		if errors.Is(err, sql.ErrNoRows) {
			return &Error{Code: CodeInvalid, Where: p.First, Message: fmt.Sprintf("%s and %s are not two rollouts of one task", p.First, p.Second), Fix: "choose two of the same group"}
		}
		if err != nil {
			return err
		}
		result, err := t.execResult("INSERT INTO preferences (first_no, second_no, choice, annotator, chosen_at) VALUES (?, ?, ?, ?, ?)", first, second, p.Choice, p.Annotator, timeText(p.At))
		if err != nil {
			return err
		}
		no, err = result.LastInsertId()
		return err
	})
	return no, err
}

// Preferences lists the choices between a run's rollouts, in the order of the acts.
func (db *DB) Preferences(ctx context.Context, runID string) ([]record.Preference, error) {
	var list []record.Preference
	err := db.each(ctx, func(row scanner) error {
		var p record.Preference
		var at sql.NullString
		if err := row.Scan(&p.ID, &p.First, &p.Second, &p.Choice, &p.Annotator, &at); err != nil {
			return err
		}
		err := times(at, &p.At)
		list = append(list, p)
		return err
	}, `SELECT p.preference_no, a.rollout_id, b.rollout_id, p.choice, p.annotator, p.chosen_at
		FROM preferences p JOIN rollouts a ON a.rollout_no = p.first_no JOIN rollouts b ON b.rollout_no = p.second_no
		JOIN runs u ON u.run_no = a.run_no WHERE u.run_id = ? ORDER BY p.preference_no`, runID)
	return list, err
}

// SaveRubric keeps one version of a rubric. A version that is there already stays as
// it is, its parent too.
func (db *DB) SaveRubric(ctx context.Context, r record.Rubric) error {
	if r.Text == "" || r.Hash != record.RubricHash(r.Text) {
		return &Error{Code: CodeInvalid, Where: r.Name, Message: "a rubric is known by the hash of its text", Fix: "give the text and its hash"}
	}
	if r.CreatedAt.IsZero() {
		r.CreatedAt = db.now()
	}
	var exact exactTexts
	text := exact.text("text", r.Text)
	return db.tx(ctx, func(t *tx) error {
		if r.Parent != "" {
			var there int
			if err := t.row("SELECT count(*) FROM rubrics WHERE rubric_hash = ?", []any{r.Parent}, &there); err != nil {
				return err
			}
			if there == 0 {
				return notFound("rubric", r.Parent, "save the version that this one was made from first")
			}
		}
		return t.exec("INSERT INTO rubrics (rubric_hash, name, parent_hash, text, created_at, exact) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
			r.Hash, r.Name, optional(r.Parent), text, timeText(r.CreatedAt), exact.value())
	})
}

// Rubric reads one version of a rubric.
func (db *DB) Rubric(ctx context.Context, hash string) (record.Rubric, error) {
	list, err := db.rubrics(ctx, "WHERE rubric_hash = ?", hash)
	if err != nil {
		return record.Rubric{}, err
	}
	if len(list) == 0 {
		return record.Rubric{}, notFound("rubric", hash, "see the versions that are kept")
	}
	return list[0], nil
}

// Rubrics lists the versions of the rubric of a name, oldest first; of all rubrics
// where name is "".
func (db *DB) Rubrics(ctx context.Context, name string) ([]record.Rubric, error) {
	return db.rubrics(ctx, "WHERE ?1 = '' OR name = ?1", name)
}

func (db *DB) rubrics(ctx context.Context, where string, args ...any) ([]record.Rubric, error) {
	var list []record.Rubric
	err := db.each(ctx, func(row scanner) error {
		var r record.Rubric
		var parent, text, at, exact sql.NullString
		if err := row.Scan(&r.Hash, &r.Name, &parent, &text, &r.OtherLooks, &at, &exact); err != nil {
			return err
		}
		r.Parent = parent.String
		var x texts
		x.add("text", &text, &r.Text)
		err := errors.Join(x.restore(exact), times(at, &r.CreatedAt))
		list = append(list, r)
		return err
	}, "SELECT rubric_hash, name, parent_hash, text, other_looks, created_at, exact FROM rubrics "+where+" ORDER BY created_at, rowid", args...)
	return list, err
}

// CountOtherLook counts one more look of a rubric's judge at the half of gold that
// rubrics are not tuned on, and gives how many there have been.
func (db *DB) CountOtherLook(ctx context.Context, hash string) (looks int, err error) {
	err = db.tx(ctx, func(t *tx) error {
		err := t.row("UPDATE rubrics SET other_looks = other_looks + 1 WHERE rubric_hash = ? RETURNING other_looks", []any{hash}, &looks)
		if errors.Is(err, sql.ErrNoRows) {
			return notFound("rubric", hash, "save it first")
		}
		return err
	})
	return looks, err
}

// AddCorrection appends one correction of a failure's cause and gives its number.
// Its ID is not read.
func (db *DB) AddCorrection(ctx context.Context, c record.Correction) (no int64, err error) {
	switch c.Cause {
	case "", record.CauseAgent, record.CauseUser, record.CauseWorld, record.CauseJudge, record.CauseInfrastructure, record.CauseContext, record.CauseBudget, record.CauseInterrupted:
	default:
		return 0, &Error{Code: CodeInvalid, Where: c.RolloutID, Message: fmt.Sprintf("%q is no cause", c.Cause), Fix: "use one of agent, user, world, judge, infrastructure, context, budget, interrupted"}
	}
	if c.Annotator == "" {
		return 0, &Error{Code: CodeInvalid, Where: c.RolloutID, Message: "a correction needs an annotator", Fix: "give a name"}
	}
	if c.At.IsZero() {
		c.At = db.now()
	}
	err = db.tx(ctx, func(t *tx) error {
		rollout, err := t.rolloutOf(c.RolloutID)
		if err != nil {
			return err
		}
		result, err := t.execResult("INSERT INTO causes (rollout_no, cause, annotator, why, set_at) VALUES (?, ?, ?, ?, ?)", rollout, string(c.Cause), c.Annotator, typed(c.Why), timeText(c.At))
		if err != nil {
			return err
		}
		no, err = result.LastInsertId()
		return err
	})
	return no, err
}

// Corrections are the last correction of each rollout of a run that has one which
// was not taken back, in the order of the acts.
func (db *DB) Corrections(ctx context.Context, runID string) ([]record.Correction, error) {
	var list []record.Correction
	err := db.each(ctx, func(row scanner) error {
		var c record.Correction
		var why, at sql.NullString
		if err := row.Scan(&c.ID, &c.RolloutID, &c.Cause, &c.Annotator, &why, &at); err != nil {
			return err
		}
		c.Why = record.Text(why.String)
		err := times(at, &c.At)
		list = append(list, c)
		return err
	}, `SELECT c.cause_no, r.rollout_id, c.cause, c.annotator, c.why, c.set_at FROM causes c JOIN rollouts r USING (rollout_no) JOIN runs u USING (run_no)
		WHERE u.run_id = ? AND c.cause <> '' AND c.cause_no = (SELECT max(cause_no) FROM causes WHERE rollout_no = c.rollout_no) ORDER BY c.cause_no`, runID)
	return list, err
}

// SaveTag names a kind of failure, or gives one another meaning.
func (db *DB) SaveTag(ctx context.Context, tag record.Tag) error {
	if strings.TrimSpace(tag.Name) == "" {
		return &Error{Code: CodeInvalid, Where: "tag", Message: "a tag needs a name", Fix: "write one"}
	}
	return db.tx(ctx, func(t *tx) error {
		return t.exec("INSERT INTO tags VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET meaning = excluded.meaning", tag.Name, tag.Meaning, timeText(db.now()))
	})
}

// Tags lists the tags in the order in which they were named first.
func (db *DB) Tags(ctx context.Context) ([]record.Tag, error) {
	var list []record.Tag
	err := db.each(ctx, func(row scanner) error {
		var t record.Tag
		err := row.Scan(&t.Name, &t.Meaning)
		list = append(list, t)
		return err
	}, "SELECT tag, meaning FROM tags ORDER BY created_at, tag")
	return list, err
}

// SaveDraft keeps a half-written note until its label is given; an empty note
// forgets it.
func (db *DB) SaveDraft(ctx context.Context, d record.Draft) error {
	if d.Annotator == "" {
		return &Error{Code: CodeInvalid, Where: d.RolloutID, Message: "a draft needs an annotator", Fix: "give a name"}
	}
	return db.tx(ctx, func(t *tx) error {
		rollout, err := t.rolloutOf(d.RolloutID)
		if err != nil {
			return err
		}
		if d.Note == "" {
			return t.exec("DELETE FROM drafts WHERE rollout_no = ? AND annotator = ?", rollout, d.Annotator)
		}
		return t.exec("INSERT INTO drafts VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET note = excluded.note, saved_at = excluded.saved_at",
			rollout, d.Annotator, typed(d.Note), timeText(db.now()))
	})
}

// Draft is an annotator's half-written note on a rollout, "" where there is none.
func (db *DB) Draft(ctx context.Context, rolloutID, annotator string) (record.Text, error) {
	notes, err := db.strings(ctx, "SELECT note FROM drafts JOIN rollouts USING (rollout_no) WHERE rollout_id = ? AND annotator = ?", rolloutID, annotator)
	if err != nil || len(notes) == 0 {
		return "", err
	}
	return record.Text(notes[0]), nil
}

// typed is what a person typed as a readable column holds it. Nobody types what that
// cannot hold.
func typed(t record.Text) any {
	var exact exactTexts
	return exact.text("typed", t)
}

func (t *tx) rolloutOf(rolloutID string) (int64, error) {
	var no int64
	err := t.row("SELECT rollout_no FROM rollouts WHERE rollout_id = ?", []any{rolloutID}, &no)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, notFound("rollout", rolloutID, "see `assay rows`")
	}
	return no, err
}
