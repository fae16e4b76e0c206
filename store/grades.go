package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"assay/engine/record"
)

func judgmentValues(j *record.Judgment) ([]driver.Value, error) {
	criteria, errCriteria := jsonValue(j.Criteria, len(j.Criteria) == 0)
	evidence, errEvidence := jsonValue(j.Evidence, len(j.Evidence) == 0)
	if err := errors.Join(errCriteria, errEvidence, validJSON("meta", j.Meta), validJSON("cut", j.Cut)); err != nil {
		return nil, err
	}
	var exact exactTexts
	reason, raw := exact.optional("reason", j.Reason), exact.optional("raw", j.Raw)
	return []driver.Value{
		nil, nil, nil, string(j.Status), numberValue(j.Reward), reason, optional(j.FailureClass), criteria, evidence, raw,
		rawValue(j.Meta), rawValue(j.Cut), micros(j.Latency), timeValue(j.At), exact.value(),
	}, nil
}

func (t *tx) placeJudgment(dst []driver.Value, no, rollout int64, scorer string, values []driver.Value) ([]driver.Value, error) {
	scorerNo, err := t.scorerNo(scorer)
	at := len(dst)
	dst = append(dst, values...)
	dst[at], dst[at+judgmentAtRoll], dst[at+judgmentAtScore] = no, rollout, scorerNo
	return dst, err
}

func markerValues(m *record.Marker) ([]driver.Value, error) {
	evidence, err := jsonValue(m.Evidence, len(m.Evidence) == 0)
	var exact exactTexts
	note := exact.optional("note", m.Note)
	return []driver.Value{nil, nil, nil, m.Name, numberValue(m.Value), m.Status, evidence, note, exact.value()}, err
}

func (t *tx) placeMarker(dst []driver.Value, no, rollout int64, scorer string, values []driver.Value) ([]driver.Value, error) {
	scorerNo, err := t.scorerNo(scorer)
	at := len(dst)
	dst = append(dst, values...)
	dst[at], dst[at+markerAtRoll], dst[at+markerAtScore] = no, rollout, scorerNo
	return dst, err
}

// CommitGrades appends judgments and markers to rollouts that are there, all of
// them or none. Earlier ones stay.
func (db *DB) CommitGrades(ctx context.Context, runID string, scorers []record.Scorer, judgments []record.Judgment, markers []record.Marker) error {
	g, err := encodeGrades(scorers, judgments, markers)
	if err != nil {
		return err
	}
	return db.tx(ctx, func(t *tx) error {
		run, err := t.runNo(runID)
		if err != nil {
			return err
		}
		return t.insertGrades(run, g)
	})
}

// FinishGrades is CommitGrades of a regrade's last group, of none too. In the same
// transaction the scorer version becomes the run's own, with the run's counts, where
// every done rollout has its judgment of it, of any status; else the old one stands.
func (db *DB) FinishGrades(ctx context.Context, runID, scorer string, scorers []record.Scorer, judgments []record.Judgment, markers []record.Marker) (record.Standing, error) {
	g, err := encodeGrades(scorers, judgments, markers)
	if err != nil {
		return record.Standing{}, err
	}
	var standing record.Standing
	err = db.tx(ctx, func(t *tx) error {
		run, err := t.runNo(runID)
		if err != nil {
			return err
		}
		if err := t.insertGrades(run, g); err != nil {
			return err
		}
		no, err := t.scorerNo(scorer)
		if err != nil {
			return err
		}
		if standing, err = scanStanding(t.w.conn.QueryRowContext(context.Background(), standingsSQL+" AND scorer_no = ?2", run, no)); errors.Is(err, sql.ErrNoRows) {
			standing, err = record.Standing{Scorer: scorer}, nil
		}
		if err != nil || !standing.Complete() {
			return err
		}
		standing.Own = true
		return t.setRunScorer(run, no)
	})
	return standing, err
}

// setRunScorer makes a scorer version the run's reward, and the run's counts those
// under it.
func (t *tx) setRunScorer(run, scorer int64) error {
	if err := t.exec("UPDATE runs SET scorer_no = ? WHERE run_no = ?", scorer, run); err != nil {
		return err
	}
	if err := t.exec(`INSERT INTO run_scorers SELECT ?1, ifnull(max(position) + 1, 0), ?2 FROM run_scorers WHERE run_no = ?1
		HAVING NOT EXISTS (SELECT 1 FROM run_scorers WHERE run_no = ?1 AND scorer_no = ?2)`, run, scorer); err != nil {
		return err
	}
	return t.exec(`UPDATE runs SET (graded, passed) = (SELECT ifnull(sum(judge_status = 'ok'), 0), ifnull(sum(passed), 0)
		FROM verdicts v WHERE v.run_no = ?1 AND v.rollout_status = 'done') WHERE run_no = ?1`, run)
}

// standingsSQL counts how far each scorer version has come with run ?1; a condition
// on scorer_no may follow.
const standingsSQL = `SELECT s.scorer, v.judged, v.ok, (SELECT count(*) FROM rollouts WHERE run_no = ?1 AND status = 'done'),
	ifnull(scorer_no = (SELECT scorer_no FROM runs WHERE run_no = ?1), 0)
	FROM (SELECT j.scorer_no, count(*) AS judged, sum(j.status = 'ok') AS ok FROM rollouts r JOIN judgments j USING (rollout_no)
		WHERE r.run_no = ?1 AND r.status = 'done' AND j.judgment_no = (SELECT max(judgment_no) FROM judgments o WHERE o.rollout_no = j.rollout_no AND o.scorer_no = j.scorer_no)
		GROUP BY j.scorer_no) v JOIN scorers s USING (scorer_no) WHERE true`

func scanStanding(row scanner) (s record.Standing, err error) {
	err = row.Scan(&s.Scorer, &s.Judged, &s.OK, &s.Done, &s.Own)
	return s, err
}

// Standings say how far each scorer version that judged any of a run's done rollouts
// has come, the run's own first, the others by name.
func (db *DB) Standings(ctx context.Context, runID string) ([]record.Standing, error) {
	run, err := db.runNo(ctx, runID)
	if err != nil {
		return nil, err
	}
	var list []record.Standing
	err = db.each(ctx, func(row scanner) error {
		s, err := scanStanding(row)
		list = append(list, s)
		return err
	}, standingsSQL+" ORDER BY 5 DESC, s.scorer", run)
	return list, err
}

// encodedGrades are judgments and markers as rows, made outside the transaction.
type encodedGrades struct {
	scorers   []record.Scorer
	judgments []record.Judgment
	markers   []record.Marker
	rows      struct{ judgments, markers [][]driver.Value }
}

func encodeGrades(scorers []record.Scorer, judgments []record.Judgment, markers []record.Marker) (*encodedGrades, error) {
	g := &encodedGrades{scorers: scorers, judgments: judgments, markers: markers}
	g.rows.judgments, g.rows.markers = make([][]driver.Value, len(judgments)), make([][]driver.Value, len(markers))
	var err error
	for i := range judgments {
		if g.rows.judgments[i], err = judgmentValues(&judgments[i]); err != nil {
			return nil, fmt.Errorf("judgment of rollout %s: %w", judgments[i].RolloutID, err)
		}
	}
	for i := range markers {
		if g.rows.markers[i], err = markerValues(&markers[i]); err != nil {
			return nil, fmt.Errorf("marker of rollout %s: %w", markers[i].RolloutID, err)
		}
	}
	return g, nil
}

func (t *tx) insertGrades(run int64, g *encodedGrades) error {
	for _, s := range g.scorers {
		if _, err := t.addScorer(s); err != nil {
			return err
		}
	}
	var judgment, marker int64
	if err := t.row("SELECT (SELECT ifnull(max(judgment_no), 0) FROM judgments), (SELECT ifnull(max(marker_no), 0) FROM markers)", nil, &judgment, &marker); err != nil {
		return err
	}
	var judgmentValues, markerValues []driver.Value
	for i := range g.judgments {
		rollout, err := t.rolloutNo(run, g.judgments[i].RolloutID)
		if err != nil {
			return err
		}
		judgment++
		if judgmentValues, err = t.placeJudgment(judgmentValues, judgment, rollout, g.judgments[i].Scorer, g.rows.judgments[i]); err != nil {
			return err
		}
	}
	for i := range g.markers {
		rollout, err := t.rolloutNo(run, g.markers[i].RolloutID)
		if err != nil {
			return err
		}
		marker++
		if markerValues, err = t.placeMarker(markerValues, marker, rollout, g.markers[i].Scorer, g.rows.markers[i]); err != nil {
			return err
		}
	}
	if err := t.insertAll("INSERT INTO judgments", judgmentColumns, judgmentValues); err != nil {
		return err
	}
	return t.insertAll("INSERT INTO markers", markerColumns, markerValues)
}

func (t *tx) rolloutNo(run int64, rolloutID string) (int64, error) {
	var no int64
	err := t.row("SELECT rollout_no FROM rollouts WHERE rollout_id = ? AND run_no = ?", []any{rolloutID, run}, &no)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, notFound("rollout in this run", rolloutID, "see `assay rows`")
	}
	return no, err
}

const judgmentSelect = "s.scorer, j.status, j.reward, j.reason, j.failure_class, j.criteria, j.evidence, j.raw, j.meta, j.cut, j.latency_us, j.judged_at, j.exact"

// judgmentScan reads the columns of judgmentSelect from a left join: nothing
// where there is no judgment.
type judgmentScan struct {
	scorer, status, reason, class, criteria, evidence, raw, meta, cut, at, exact sql.NullString
	reward                                                                       *float64
	latency                                                                      sql.NullInt64
}

func (s *judgmentScan) dest() []any {
	return []any{&s.scorer, &s.status, number{&s.reward}, &s.reason, &s.class, &s.criteria, &s.evidence, &s.raw, &s.meta, &s.cut, &s.latency, &s.at, &s.exact}
}

func (s *judgmentScan) judgment(rolloutID string) (*record.Judgment, error) {
	if !s.scorer.Valid {
		return nil, nil
	}
	j := &record.Judgment{
		RolloutID: rolloutID, Scorer: s.scorer.String, Status: record.JudgeStatus(s.status.String), Reward: s.reward,
		FailureClass: s.class.String, Meta: rawOf(s.meta), Cut: rawOf(s.cut), Latency: ofMicros(s.latency.Int64),
	}
	var x texts
	x.add("reason", &s.reason, &j.Reason)
	x.add("raw", &s.raw, &j.Raw)
	return j, errors.Join(x.restore(s.exact), fromJSON(s.criteria, &j.Criteria), fromJSON(s.evidence, &j.Evidence), times(s.at, &j.At))
}

// Judgments reads every judgment of a rollout, of every scorer version, in the
// order in which they were given.
func (db *DB) Judgments(ctx context.Context, rolloutID string) ([]record.Judgment, error) {
	rows, err := db.read.QueryContext(ctx, "SELECT "+judgmentSelect+` FROM judgments j JOIN scorers s USING (scorer_no)
		WHERE j.rollout_no = (SELECT rollout_no FROM rollouts WHERE rollout_id = ?) ORDER BY j.judgment_no`, rolloutID)
	if err != nil {
		return nil, explain(db.path, err)
	}
	defer rows.Close()
	var list []record.Judgment
	for rows.Next() {
		var s judgmentScan
		if err := rows.Scan(s.dest()...); err != nil {
			return nil, explain(db.path, err)
		}
		j, err := s.judgment(rolloutID)
		if err != nil {
			return nil, explain(db.path, err)
		}
		list = append(list, *j)
	}
	return list, explain(db.path, rows.Err())
}

// CompleteScorers are the scorer versions under which every done rollout of a run
// has its judgment, of any status; none where the run has no done rollout.
func (db *DB) CompleteScorers(ctx context.Context, runID string) ([]string, error) {
	run, err := db.runNo(ctx, runID)
	if err != nil {
		return nil, err
	}
	return db.strings(ctx, `SELECT s.scorer FROM judgments j JOIN rollouts r USING (rollout_no) JOIN scorers s USING (scorer_no)
		WHERE r.run_no = ?1 AND r.status = 'done' GROUP BY j.scorer_no
		HAVING count(DISTINCT j.rollout_no) = (SELECT count(*) FROM rollouts WHERE run_no = ?1 AND status = 'done')
		ORDER BY s.scorer`, run)
}
