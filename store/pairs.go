package store

import (
	"context"
	"database/sql"

	"assay/engine/record"
)

// SiblingPairs lists pairs of a run's done rollouts of one task in one eval run that
// said or did different things, for at most so many tasks: the first by task id, which
// is a hash, so that they are a sample of the run. Nothing of any verdict is read.
func (db *DB) SiblingPairs(ctx context.Context, runID string, tasks int) ([]record.SiblingPair, error) {
	var pairs []record.SiblingPair
	err := db.each(ctx, func(row scanner) error {
		var p record.SiblingPair
		err := row.Scan(&p.TaskID, &p.EvalRun, &p.A, &p.B)
		pairs = append(pairs, p)
		return err
	}, `SELECT a.task_id, a.eval_run, a.rollout_id, b.rollout_id
		FROM (SELECT p.run_no, p.task_id FROM run_tasks p JOIN runs u USING (run_no) WHERE u.run_id = ? ORDER BY p.task_id LIMIT ?) asked
		JOIN rollouts a ON a.run_no = asked.run_no AND a.task_id = asked.task_id AND a.status = 'done'
		JOIN rollouts b ON b.run_no = a.run_no AND b.eval_run = a.eval_run AND b.task_id = a.task_id AND b.k > a.k AND b.status = 'done'
		JOIN transcripts x ON x.rollout_no = a.rollout_no JOIN transcripts y ON y.rollout_no = b.rollout_no
		WHERE x.steps <> y.steps OR x.final_text <> y.final_text
		ORDER BY a.task_id, a.eval_run, a.k, b.k`, runID, tasks)
	return pairs, err
}

// OwnPreferences are the last choices of one annotator between a run's rollouts that
// were not taken back, in the order of the acts. What others chose is not read.
func (db *DB) OwnPreferences(ctx context.Context, runID, annotator string) ([]record.Preference, error) {
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
		JOIN runs u ON u.run_no = a.run_no WHERE u.run_id = ?1 AND p.annotator = ?2 AND p.choice <> 'retracted'
		AND p.preference_no = (SELECT max(preference_no) FROM preferences q WHERE q.annotator = ?2
			AND (q.first_no = p.first_no AND q.second_no = p.second_no OR q.first_no = p.second_no AND q.second_no = p.first_no))
		ORDER BY p.preference_no`, runID, annotator)
	return list, err
}
