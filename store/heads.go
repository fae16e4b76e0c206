package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"assay/engine/record"
)

// RolloutHead is a rollout as a list shows it.
type RolloutHead struct {
	ID           string
	Key          record.Key
	TaskID       string
	Ask          record.Text // the trial's own prompt where it has one
	Status       record.Status
	Cause        record.Cause
	HeldOut      bool
	Arm          string
	Axes         record.Axes
	Fault        *record.Fault
	Reward       *float64 // under the run's scorer version
	JudgeStatus  record.JudgeStatus
	FailureClass string
	Calls        int
	FinishedAt   time.Time
}

// HeadQuery is a page of heads. A Limit of 0 is all.
type HeadQuery struct{ Offset, Limit int }

// RolloutHeads reads a page of a run's rollouts in the order of their commit, and
// how many there are.
func (db *DB) RolloutHeads(ctx context.Context, runID string, q HeadQuery) ([]RolloutHead, int, error) {
	run, err := db.runNo(ctx, runID)
	if err != nil {
		return nil, 0, err
	}
	var total int
	if err := db.read.QueryRowContext(ctx, "SELECT count(*) FROM rollouts WHERE run_no = ?", run).Scan(&total); err != nil {
		return nil, 0, explain(db.path, err)
	}
	limit := q.Limit
	if limit <= 0 {
		limit = -1
	}
	// The page is cut on the index alone; only its own rows are looked up.
	heads, err := db.heads(ctx, headSelect+` FROM (SELECT rollout_no FROM rollouts WHERE run_no = ?1 ORDER BY rollout_no LIMIT ?2 OFFSET ?3) page
		JOIN rollouts r USING (rollout_no) `+headJoins+" ORDER BY r.rollout_no", run, limit, q.Offset)
	return heads, total, err
}

const (
	headSelect = `SELECT r.rollout_id, r.eval_run, r.task_id, r.k, ifnull(x.prompt, t.ask),
		CASE WHEN x.prompt IS NULL THEN t.exact -> '$.ask' ELSE x.exact -> '$.prompt' END,
		r.status, r.cause, p.held_out, p.arm, t.axes, t.fault_tool, t.fault_condition, r.tool_calls, r.finished_at, j.reward, j.status, j.failure_class`
	// headJoins finds what stands beside a rollout, under its run's scorer version.
	headJoins = `JOIN transcripts x ON x.rollout_no = r.rollout_no
		JOIN tasks t ON t.task_id = r.task_id
		JOIN run_tasks p ON p.run_no = r.run_no AND p.task_id = r.task_id
		LEFT JOIN judgments j ON j.judgment_no = (SELECT max(judgment_no) FROM judgments
			WHERE rollout_no = r.rollout_no AND scorer_no = (SELECT scorer_no FROM runs WHERE run_no = r.run_no))`
)

func (db *DB) heads(ctx context.Context, query string, args ...any) ([]RolloutHead, error) {
	var heads []RolloutHead
	err := db.each(ctx, func(row scanner) error {
		h, err := scanHead(row)
		heads = append(heads, h)
		return err
	}, query, args...)
	return heads, err
}

func scanHead(row scanner) (RolloutHead, error) {
	var h RolloutHead
	var ask, exact, cause, axes, faultTool, fault, finished, judge, class sql.NullString
	err := row.Scan(&h.ID, &h.Key.EvalRun, &h.TaskID, &h.Key.K, &ask, &exact, &h.Status, &cause, &h.HeldOut, &h.Arm, &axes, &faultTool, &fault, &h.Calls, &finished,
		number{&h.Reward}, &judge, &class)
	if err != nil {
		return h, err
	}
	h.Key.TaskID, h.Cause, h.JudgeStatus, h.FailureClass = h.TaskID, record.Cause(cause.String), record.JudgeStatus(judge.String), class.String
	h.Ask = record.Text(ask.String)
	if fault.Valid {
		h.Fault = &record.Fault{Tool: faultTool.String, Condition: fault.String}
	}
	return h, errors.Join(fromJSON(exact, &h.Ask), fromJSON(axes, &h.Axes), times(finished, &h.FinishedAt))
}

// TaskRates counts each task of each eval run of a run, under the run's scorer
// version and threshold, ordered by (eval_run, task_id). Tasks without a
// finished rollout are left out.
func (db *DB) TaskRates(ctx context.Context, runID string) ([]record.TaskRate, error) {
	run, err := db.runNo(ctx, runID)
	if err != nil {
		return nil, err
	}
	rows, err := db.read.QueryContext(ctx, `
		WITH v AS (
			SELECT r.eval_run, r.task_id, r.k, r.status = 'done' AS done, r.status = 'lost' AS lost,
				ifnull(j.status = 'ok' AND typeof(j.reward) = 'real', 0) AS graded, j.reward, u.pass_threshold
			FROM rollouts r JOIN runs u USING (run_no)
			LEFT JOIN judgments j ON j.judgment_no = (SELECT max(judgment_no) FROM judgments WHERE rollout_no = r.rollout_no AND scorer_no = u.scorer_no)
			WHERE r.run_no = ?1)
		SELECT v.task_id, t.situation_id, p.held_out, v.eval_run, sum(done), sum(done AND graded), sum(done AND graded AND reward >= pass_threshold),
			sum(done AND graded AND reward > 0 AND reward < 1), sum(lost),
			sum(done AND graded AND k < 2), sum(done AND graded AND k < 2 AND reward >= pass_threshold)
		FROM v JOIN tasks t USING (task_id) JOIN run_tasks p ON p.run_no = ?1 AND p.task_id = v.task_id
		GROUP BY v.eval_run, v.task_id ORDER BY v.eval_run, v.task_id`, run)
	if err != nil {
		return nil, explain(db.path, err)
	}
	defer rows.Close()
	var rates []record.TaskRate
	for rows.Next() {
		var r record.TaskRate
		var passed, partial, probesPassed sql.NullInt64
		if err := rows.Scan(&r.TaskID, &r.SituationID, &r.HeldOut, &r.EvalRun, &r.Done, &r.Graded, &passed, &partial, &r.Lost, &r.ProbesGraded, &probesPassed); err != nil {
			return nil, explain(db.path, err)
		}
		r.Passed, r.Partial, r.ProbesPassed = int(passed.Int64), int(partial.Int64), int(probesPassed.Int64)
		rates = append(rates, r)
	}
	return rates, explain(db.path, rows.Err())
}
