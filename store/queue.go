package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"assay/engine/record"
)

// Candidates are a run's done rollouts as drawing a queue needs them, ordered by
// (eval_run, task_id, k). Probed is not filled in: probes are in reports.
func (db *DB) Candidates(ctx context.Context, runID string) ([]record.Candidate, error) {
	run, err := db.runNo(ctx, runID)
	if err != nil {
		return nil, err
	}
	var list []record.Candidate
	err = db.each(ctx, func(row scanner) error {
		var c record.Candidate
		err := row.Scan(&c.RolloutID, &c.Key.EvalRun, &c.Key.TaskID, &c.Key.K, number{&c.Reward}, &c.Disagreement)
		list = append(list, c)
		return err
	}, `WITH own AS (
			SELECT r.rollout_no, r.rollout_id, r.eval_run, r.task_id, r.k, u.scorer_no, u.pass_threshold,
				CASE WHEN j.status = 'ok' AND typeof(j.reward) = 'real' THEN j.reward END AS reward
			FROM rollouts r JOIN runs u USING (run_no)
			LEFT JOIN judgments j ON j.judgment_no = (SELECT max(judgment_no) FROM judgments WHERE rollout_no = r.rollout_no AND scorer_no = u.scorer_no)
			WHERE r.run_no = ?1 AND r.status = 'done')
		SELECT rollout_id, eval_run, task_id, k, reward, reward IS NOT NULL AND (
			EXISTS (SELECT 1 FROM judgments o WHERE o.rollout_no = own.rollout_no AND o.scorer_no <> own.scorer_no AND o.status = 'ok'
				AND typeof(o.reward) = 'real' AND (o.reward >= pass_threshold) <> (own.reward >= pass_threshold))
			OR own.reward >= pass_threshold AND EXISTS (SELECT 1 FROM markers m JOIN scorers s USING (scorer_no)
				WHERE m.rollout_no = own.rollout_no AND s.kind = 'conduct' AND m.status = 'ok' AND m.value = 0))
		FROM own ORDER BY eval_run, task_id, k`, run)
	return list, err
}

// SaveQueue keeps a queue whole. A queue stays as it was drawn: one of that name in
// the run already is refused.
func (db *DB) SaveQueue(ctx context.Context, runID, queue string, items []record.QueueItem) error {
	if queue == "" || len(items) == 0 {
		return &Error{Code: CodeInvalid, Where: runID, Message: "a queue needs a name and a row", Fix: "draw it from a run with rollouts that are done"}
	}
	return db.tx(ctx, func(t *tx) error {
		run, err := t.runNo(runID)
		if err != nil {
			return err
		}
		var there int
		if err := t.row("SELECT count(*) FROM queue_items WHERE run_no = ? AND queue = ?", []any{run, queue}, &there); err != nil {
			return err
		}
		if there > 0 {
			return &Error{Code: CodeDuplicate, Where: queue, Message: fmt.Sprintf("run %s has a queue %q already", runID, queue), Fix: "go on with it, or give the new one another name"}
		}
		for i := range items {
			if err := t.addQueueItem(run, queue, i, &items[i], db.now()); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *tx) addQueueItem(run int64, queue string, position int, item *record.QueueItem, at time.Time) error {
	if p := item.Probability; p != nil && !(*p > 0 && *p <= 1) {
		return &Error{Code: CodeInvalid, Where: item.RolloutID, Message: fmt.Sprintf("%v is no probability of being drawn", *p), Fix: "give one over 0 and up to 1"}
	}
	rollout, err := t.rolloutNo(run, item.RolloutID)
	if err != nil {
		return err
	}
	return t.exec("INSERT INTO queue_items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", run, queue, int64(position), rollout,
		string(item.Strategy), item.Stratum, numberValue(item.Probability), rawValue(item.Revealed), timeText(at))
}

// Queues lists the queues of a run, oldest first.
func (db *DB) Queues(ctx context.Context, runID string) ([]record.QueueHead, error) {
	var heads []record.QueueHead
	err := db.each(ctx, func(row scanner) error {
		var h record.QueueHead
		var at sql.NullString
		if err := row.Scan(&h.Queue, &h.Items, &h.Rows, &h.Drawn, &at); err != nil {
			return err
		}
		err := times(at, &h.DrawnAt)
		heads = append(heads, h)
		return err
	}, `SELECT queue, count(*), count(DISTINCT rollout_no), count(probability), min(queued_at) FROM queue_items JOIN runs USING (run_no)
		WHERE run_id = ? GROUP BY queue ORDER BY min(queued_at), queue`, runID)
	return heads, err
}

// QueueItems reads every queue of a run with how each row came into it, in the order
// of their places. It tells verdicts: whoever labels is shown [DB.Cards].
func (db *DB) QueueItems(ctx context.Context, runID string) ([]record.QueueItem, error) {
	var items []record.QueueItem
	err := db.each(ctx, func(row scanner) error {
		var q record.QueueItem
		var revealed sql.NullString
		err := row.Scan(&q.Queue, &q.Position, &q.RolloutID, &q.Strategy, &q.Stratum, number{&q.Probability}, &revealed)
		q.Revealed = rawOf(revealed)
		items = append(items, q)
		return err
	}, `SELECT q.queue, q.position, r.rollout_id, q.strategy, q.stratum, q.probability, q.revealed
		FROM queue_items q JOIN rollouts r USING (rollout_no) JOIN runs u ON u.run_no = q.run_no
		WHERE u.run_id = ? ORDER BY q.queue, q.position`, runID)
	return items, err
}

// Cards are the places of a queue as an annotator may see them, in order.
func (db *DB) Cards(ctx context.Context, runID, queue, annotator string) ([]record.Card, error) {
	var cards []record.Card
	err := db.each(ctx, func(row scanner) error {
		var c record.Card
		var strategy record.Strategy
		var said lastWords
		if err := row.Scan(&c.Position, &c.RolloutID, &strategy, &said.first.no, &said.first.verdict, &said.again.no, &said.again.verdict); err != nil {
			return err
		}
		c.Verdict = said.at(strategy)
		cards = append(cards, c)
		return nil
	}, `SELECT q.position, r.rollout_id, q.strategy, f.label_no, f.verdict, a.label_no, a.verdict
		FROM queue_items q JOIN rollouts r USING (rollout_no) JOIN runs u ON u.run_no = q.run_no
		LEFT JOIN labels f ON f.label_no = (`+lastLabel+`'first')
		LEFT JOIN labels a ON a.label_no = (`+lastLabel+`'recheck')
		WHERE u.run_id = ?2 AND q.queue = ?3 ORDER BY q.position`, annotator, runID, queue)
	if err == nil && len(cards) == 0 {
		return nil, notFound("queue", queue, "draw one first: assay label "+runID)
	}
	return cards, err
}

// lastLabel is the number of an annotator's (?1) last label on the rollout of a queue
// item q, of the purpose that follows.
const lastLabel = "SELECT max(label_no) FROM labels l WHERE l.rollout_no = q.rollout_no AND l.annotator = ?1 AND l.purpose = "

// lastWords are an annotator's last labels on one rollout, by purpose.
type lastWords struct{ first, again lastWord }

type lastWord struct {
	no      sql.NullInt64
	verdict sql.NullString
}

func (w lastWord) stands() bool {
	return w.verdict.Valid && w.verdict.String != string(record.VerdictRetracted)
}

// at is what was said at a place of a queue, "" where nothing stands.
func (w lastWords) at(s record.Strategy) record.Verdict {
	word := w.first
	switch {
	case s == record.StrategyRecheck:
		word = w.again
	case s == record.StrategySettle && w.first.no.Int64 < w.again.no.Int64:
		return "" // the contradiction still stands
	}
	if !word.stands() {
		return ""
	}
	return record.Verdict(word.verdict.String)
}

// settleQueue is where rows go on which an annotator contradicted themselves.
func settleQueue(annotator string) string { return "settle:" + annotator }

// LabelCard appends one label at a place of a queue and gives it as it was kept. The
// place decides the rollout and the purpose, and whether it was blind is what the
// reveals say; those fields of label are not read. A second look that says another
// thing than the first puts the row into the annotator's queue to settle. The note's
// draft goes. All of it is on disk when this returns.
func (db *DB) LabelCard(ctx context.Context, runID, queue string, position int, label record.Label) (record.Label, error) {
	err := db.tx(ctx, func(t *tx) error {
		p, err := t.place(runID, queue, position, label.Annotator)
		if err != nil {
			return err
		}
		label.RolloutID, label.Purpose = p.rolloutID, p.purpose()
		if label.Blind, err = t.blind(p, label.Annotator); err != nil {
			return err
		}
		if label.At.IsZero() {
			label.At = db.now()
		}
		if label.ID, err = db.addLabel(t, &label); err != nil {
			return err
		}
		if err := t.exec("DELETE FROM drafts WHERE rollout_no = ? AND annotator = ?", p.rollout, label.Annotator); err != nil {
			return err
		}
		if label.Purpose == record.PurposeRecheck && p.said.first.stands() && contradicts(record.Verdict(p.said.first.verdict.String), label.Verdict) {
			return t.settle(p, label.Annotator, label.At)
		}
		return nil
	})
	return label, err
}

// contradicts reports whether two looks at one row say different things. A skip says
// nothing.
func contradicts(first, again record.Verdict) bool {
	return first != again && first != record.VerdictSkip && again != record.VerdictSkip && again != record.VerdictRetracted
}

// place is one place of a queue, with what an annotator has said of its rollout.
type place struct {
	run, rollout int64
	rolloutID    string
	queue        string
	position     int64
	strategy     record.Strategy
	said         lastWords
}

func (p *place) purpose() string {
	if p.strategy == record.StrategyRecheck {
		return record.PurposeRecheck
	}
	return record.PurposeFirst
}

func (t *tx) place(runID, queue string, position int, annotator string) (*place, error) {
	p := &place{queue: queue, position: int64(position)}
	var err error
	if p.run, err = t.runNo(runID); err != nil {
		return nil, err
	}
	err = t.row(`SELECT q.rollout_no, r.rollout_id, q.strategy, f.label_no, f.verdict, a.label_no, a.verdict
		FROM queue_items q JOIN rollouts r USING (rollout_no)
		LEFT JOIN labels f ON f.label_no = (`+lastLabel+`'first')
		LEFT JOIN labels a ON a.label_no = (`+lastLabel+`'recheck')
		WHERE q.run_no = ?2 AND q.queue = ?3 AND q.position = ?4`, []any{annotator, p.run, queue, position},
		&p.rollout, &p.rolloutID, &p.strategy, &p.said.first.no, &p.said.first.verdict, &p.said.again.no, &p.said.again.verdict)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, notFound("place in this queue", fmt.Sprintf("%s %d", queue, position), "see the run's queues")
	}
	return p, err
}

// blind reports whether an annotator had been shown nothing of a row, and notes at
// its place what they had.
func (t *tx) blind(p *place, annotator string) (bool, error) {
	var what sql.NullString
	err := t.row("SELECT json_group_array(what ORDER BY what) FROM reveals WHERE rollout_no = ? AND annotator = ? HAVING count(*) > 0", []any{p.rollout, annotator}, &what)
	if errors.Is(err, sql.ErrNoRows) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	// A patch, because an annotator's name may hold what a JSON path cannot.
	return false, t.exec(`UPDATE queue_items SET revealed = json_patch(ifnull(revealed, '{}'), json_object(?, json(?)))
		WHERE run_no = ? AND queue = ? AND position = ?`, annotator, what.String, p.run, p.queue, p.position)
}

func (t *tx) settle(p *place, annotator string, at time.Time) error {
	return t.exec(`INSERT INTO queue_items (run_no, queue, position, rollout_no, strategy, queued_at)
		SELECT ?1, ?2, (SELECT ifnull(max(position) + 1, 0) FROM queue_items WHERE run_no = ?1 AND queue = ?2), ?3, ?4, ?5
		WHERE NOT EXISTS (SELECT 1 FROM queue_items WHERE run_no = ?1 AND queue = ?2 AND rollout_no = ?3)`,
		p.run, settleQueue(annotator), p.rollout, string(record.StrategySettle), timeText(at))
}

// TakeBack takes an annotator's label at a place of a queue back: another row, with
// the verdict retracted. Its note becomes a draft again. It gives the row that it
// added.
func (db *DB) TakeBack(ctx context.Context, runID, queue string, position int, annotator string) (record.Label, error) {
	var label record.Label
	err := db.tx(ctx, func(t *tx) error {
		p, err := t.place(runID, queue, position, annotator)
		if err != nil {
			return err
		}
		if p.said.at(p.strategy) == "" {
			return notFound("label to take back", fmt.Sprintf("%s %d", queue, position), "label it first")
		}
		given := p.said.first
		if p.purpose() == record.PurposeRecheck {
			given = p.said.again
		}
		label = record.Label{RolloutID: p.rolloutID, Annotator: annotator, Verdict: record.VerdictRetracted, Purpose: p.purpose(), At: db.now()}
		if err := t.row("SELECT kind, blind FROM labels WHERE label_no = ?", []any{given.no.Int64}, &label.Kind, &label.Blind); err != nil {
			return err
		}
		if label.ID, err = db.addLabel(t, &label); err != nil {
			return err
		}
		if label.Purpose == record.PurposeRecheck {
			if err := t.exec("DELETE FROM queue_items WHERE run_no = ? AND queue = ? AND rollout_no = ?", p.run, settleQueue(annotator), p.rollout); err != nil {
				return err
			}
		}
		return t.exec(`INSERT INTO drafts SELECT rollout_no, annotator, note, ? FROM labels WHERE label_no = ? AND note IS NOT NULL
			ON CONFLICT DO UPDATE SET note = excluded.note, saved_at = excluded.saved_at`, timeText(label.At), given.no.Int64)
	})
	return label, err
}

// BlindSample reads one rollout for somebody who labels: without any verdict, marker
// or label, which are not read from the file at all, and without what an agent or an
// imported file said of it aside.
func (db *DB) BlindSample(ctx context.Context, rolloutID string) (*record.Sample, error) {
	const noScorer = 0 // which no judgment has
	_, s, _, err := scanSample(db.read.QueryRowContext(ctx, "SELECT "+sampleSelect+sampleFrom+"WHERE r.rollout_id = ?2", noScorer, rolloutID))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, notFound("rollout", rolloutID, "see `assay rows`")
	}
	if err != nil {
		return nil, explain(db.path, err)
	}
	s.Rollout.Privileged, s.Rollout.Extra, s.Rollout.Error = nil, nil, ""
	pager := samplePager{db: db, sets: toolSets{db: db}}
	return s, explain(db.path, pager.addTasks(ctx, []*record.Sample{s}))
}

// AddReveal notes that an annotator is shown something of rollouts, before it is
// shown. What they had been shown already stays as it was.
func (db *DB) AddReveal(ctx context.Context, annotator, what string, rolloutIDs ...string) error {
	if annotator == "" || what != record.RevealedVerdict && what != record.RevealedLabel {
		return &Error{Code: CodeInvalid, Where: annotator, Message: fmt.Sprintf("%q is nothing that can be revealed", what), Fix: "name an annotator and one of verdict, label"}
	}
	ids, err := record.Marshal(rolloutIDs)
	if err != nil {
		return err
	}
	return db.tx(ctx, func(t *tx) error {
		return t.exec(`INSERT INTO reveals SELECT r.rollout_no, ?1, ?2, ?3 FROM json_each(?4) j JOIN rollouts r ON r.rollout_id = j.value
			WHERE true ON CONFLICT DO NOTHING`, annotator, what, timeText(db.now()), string(ids))
	})
}

// Reveals lists what annotators were shown of a run's rollouts, in the order of the
// rollouts' commit.
func (db *DB) Reveals(ctx context.Context, runID string) ([]record.Reveal, error) {
	var list []record.Reveal
	err := db.each(ctx, func(row scanner) error {
		var r record.Reveal
		var at sql.NullString
		if err := row.Scan(&r.RolloutID, &r.Annotator, &r.What, &at); err != nil {
			return err
		}
		err := times(at, &r.At)
		list = append(list, r)
		return err
	}, `SELECT r.rollout_id, v.annotator, v.what, v.shown_at FROM reveals v JOIN rollouts r USING (rollout_no) JOIN runs u USING (run_no)
		WHERE u.run_id = ? ORDER BY v.rollout_no, v.annotator, v.what`, runID)
	return list, err
}

// Disagreements are a run's rollouts on which the run's own scorer version and gold
// say different things, in the order of the first label.
func (db *DB) Disagreements(ctx context.Context, runID string) ([]string, error) {
	return db.strings(ctx, `SELECT d.rollout_id FROM disagreements d JOIN rollouts r USING (rollout_id)
		WHERE d.run_id = ? ORDER BY (SELECT min(label_no) FROM labels l WHERE l.rollout_no = r.rollout_no)`, runID)
}
