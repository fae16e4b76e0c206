package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/engine/record"
)

// scope is a run that is looked through, under its own scorer version.
type scope struct{ run, scorer int64 }

func (db *DB) scope(ctx context.Context, runID string) (scope, error) {
	var s scope
	var scorer sql.NullInt64
	err := db.read.QueryRowContext(ctx, "SELECT run_no, scorer_no FROM runs WHERE run_id = ?", runID).Scan(&s.run, &scorer)
	if errors.Is(err, sql.ErrNoRows) {
		return s, notFound("run", runID, "see `assay runs`")
	}
	s.scorer = scorer.Int64
	return s, explain(db.path, err)
}

// of puts the run's numbers, which are the file's own, in their places.
func (s scope) of(query string) string {
	return strings.NewReplacer("@run", strconv.FormatInt(s.run, 10), "@scorer", strconv.FormatInt(s.scorer, 10)).Replace(query)
}

// from joins rollouts with what is needed beside them.
func (s scope) from(needs joins) string {
	from := "FROM rollouts r"
	if needs&joinTask != 0 {
		from += " JOIN tasks t ON t.task_id = r.task_id"
	}
	if needs&joinPosed != 0 {
		from += " JOIN run_tasks p ON p.run_no = r.run_no AND p.task_id = r.task_id"
	}
	if needs&joinTranscript != 0 {
		from += " JOIN transcripts x ON x.rollout_no = r.rollout_no"
	}
	if needs&joinJudgment != 0 {
		from += " LEFT JOIN judgments j ON j.judgment_no = (SELECT max(judgment_no) FROM judgments WHERE rollout_no = r.rollout_no AND scorer_no = @scorer)"
	}
	return from
}

// evalRuns are those that a run has rollouts of, found by steps over an index.
const evalRuns = `(WITH RECURSIVE e(n) AS (SELECT min(eval_run) FROM rollouts WHERE run_no = @run
	UNION ALL SELECT (SELECT min(eval_run) FROM rollouts WHERE run_no = @run AND eval_run > e.n) FROM e WHERE e.n IS NOT NULL)
	SELECT n FROM e WHERE n IS NOT NULL)`

// asPosed is [scope.from] walked task by task as they were posed: the first page of a
// million rollouts comes without sorting the rest.
func (s scope) asPosed(needs joins) string {
	first := "FROM run_tasks p CROSS JOIN rollouts r ON p.run_no = @run AND r.run_no = p.run_no AND r.task_id = p.task_id AND r.eval_run IN " + evalRuns
	return first + strings.TrimPrefix(s.from(needs&^joinPosed), "FROM rollouts r")
}

// where is the filter's conditions, each behind an AND, with their values and the
// tables that they read.
func (f Filter) where() (sql string, args []any, needs joins) {
	for _, t := range f.terms {
		sql += " AND (" + t.sql + ")"
		args = append(args, t.args...)
		needs |= t.needs
	}
	return sql, args, needs
}

// Row is the place of a rollout in its file.
type Row int64

// RowQuery says which rollouts of a run to list, and how.
type RowQuery struct {
	Filter Filter
	// Sort is the name of a field, "" for the order in which their tasks were posed,
	// and of a task by eval run and attempt; rollouts that are equal in a field stay in
	// that order, which is the same however fast each came back. What has no value
	// comes last.
	Sort       string
	Descending bool
	Limit      int // 0 for all
}

// FindRows lists the rollouts of a run that a filter keeps. It costs a walk over
// the run, or until the limit is reached, and eight bytes a rollout;
// [DB.HeadsAt] reads them page by page.
func (db *DB) FindRows(ctx context.Context, runID string, q RowQuery) ([]Row, error) {
	scope, err := db.scope(ctx, runID)
	if err != nil {
		return nil, err
	}
	where, args, needs := q.Filter.where()
	order, needed, err := orderBy(q.Sort, q.Descending)
	if err != nil {
		return nil, err
	}
	from, last := scope.from(needs|needed|joinPosed), ""
	if q.Sort == "" {
		from = scope.asPosed(needs)
		if q.Descending {
			last = " DESC"
		}
	}
	query := "SELECT r.rollout_no " + from + " WHERE r.run_no = @run" + where + " ORDER BY " + order +
		strings.ReplaceAll("p.position@, r.eval_run@, r.k@", "@", last)
	if q.Limit > 0 {
		query += " LIMIT " + strconv.Itoa(q.Limit)
	}
	rows, err := db.read.QueryContext(ctx, scope.of(query), args...)
	if err != nil {
		return nil, explain(db.path, err)
	}
	defer rows.Close()
	var out []Row
	for rows.Next() {
		var no int64
		if err := rows.Scan(&no); err != nil {
			return nil, explain(db.path, err)
		}
		out = append(out, Row(no))
	}
	return out, explain(db.path, rows.Err())
}

func orderBy(name string, descending bool) (order string, needs joins, err error) {
	if name == "" {
		return "", 0, nil
	}
	f, ok := fieldNamed(name)
	if !ok {
		return "", 0, &Error{Code: CodeInvalid, Where: name, Message: fmt.Sprintf("rollouts cannot be sorted by %q", name), Fix: nearestField(name)}
	}
	direction := ""
	if descending {
		direction = " DESC"
	}
	return f.sql + " IS NULL, " + f.sql + direction + ", ", f.needs, nil
}

// HeadsAt reads rollouts as a list shows them, in the order asked for. One that is
// gone is left out.
func (db *DB) HeadsAt(ctx context.Context, rows []Row) ([]RolloutHead, error) {
	asked, err := record.Marshal(rows)
	if err != nil {
		return nil, err
	}
	return db.heads(ctx, headSelect+" FROM json_each(?) page JOIN rollouts r ON r.rollout_no = page.value "+headJoins+" ORDER BY page.key", string(asked))
}

// Siblings reads all rollouts of a rollout's task in its run, by eval run and k.
func (db *DB) Siblings(ctx context.Context, rolloutID string) ([]RolloutHead, error) {
	return db.heads(ctx, headSelect+` FROM rollouts me JOIN rollouts r ON r.run_no = me.run_no AND r.task_id = me.task_id `+headJoins+
		" WHERE me.rollout_id = ? ORDER BY r.eval_run, r.k", rolloutID)
}

// Codes of a rollout's verdict in [TaskRow.Cells].
const (
	CellPass     = 'p'
	CellPartial  = 'h'
	CellFail     = 'f'
	CellUnjudged = 'u'
	CellDone     = 'd' // the run has no reward
	CellLost     = 'l'
	CellAborted  = 'a'
)

// TaskRow is one task of a run with the verdicts on its rollouts.
type TaskRow struct {
	TaskID string
	// Cells has one code a rollout, by eval run and k.
	Cells          string
	Graded, Passed int
}

// TaskRows lists the tasks of a run of which the filter keeps a rollout, each with
// all its rollouts. sort is "" for the order in which they were posed, "verdict"
// for the rate of passes, or the name of a field of the task.
func (db *DB) TaskRows(ctx context.Context, runID string, q RowQuery) ([]TaskRow, error) {
	scope, err := db.scope(ctx, runID)
	if err != nil {
		return nil, err
	}
	where, args, needs := q.Filter.where()
	kept := ""
	if where != "" {
		kept = " AND r.task_id IN (SELECT r.task_id " + scope.from(needs) + " WHERE r.run_no = @run" + where + ")"
	}
	order, needs, err := taskOrder(q.Sort, q.Descending)
	if err != nil {
		return nil, err
	}
	last := "min(p.position)"
	if q.Sort == "" && q.Descending {
		last += " DESC"
	}
	query := `SELECT r.task_id, group_concat(CASE ` + verdictSQL + ` WHEN 'pass' THEN 'p' WHEN 'partial' THEN 'h' WHEN 'fail' THEN 'f' WHEN 'unjudged' THEN 'u'
			WHEN 'done' THEN 'd' WHEN 'lost' THEN 'l' ELSE 'a' END, '' ORDER BY r.eval_run, r.k),
			count(CASE WHEN r.status = 'done' THEN ` + rewardSQL + ` END) AS graded, sum(` + verdictSQL + ` = 'pass') AS passed ` +
		scope.from(joinJudgment|joinPosed|needs) + ` WHERE r.run_no = @run` + kept + ` GROUP BY r.task_id ORDER BY ` + order + last
	var out []TaskRow
	err = db.each(ctx, func(row scanner) error {
		var t TaskRow
		err := row.Scan(&t.TaskID, &t.Cells, &t.Graded, &t.Passed)
		out = append(out, t)
		return err
	}, scope.of(query), args...)
	return out, err
}

func taskOrder(name string, descending bool) (order string, needs joins, err error) {
	if name == "verdict" || name == "reward" {
		order = "graded = 0, CAST(passed AS REAL) / graded"
		if descending {
			order += " DESC"
		}
		return order + ", ", 0, nil
	}
	if f, ok := fieldNamed(name); ok && f.needs&^(joinTask|joinPosed) != 0 || ok && f.needs == 0 && name != "task_id" {
		return "", 0, nil // it is of a rollout, not of a task
	}
	return orderBy(name, descending)
}

// TaskHeads reads tasks as a list shows them, each as its first rollout in the run,
// in the order asked for.
func (db *DB) TaskHeads(ctx context.Context, runID string, taskIDs []string) ([]RolloutHead, error) {
	scope, err := db.scope(ctx, runID)
	if err != nil {
		return nil, err
	}
	asked, err := record.Marshal(taskIDs)
	if err != nil {
		return nil, err
	}
	return db.heads(ctx, scope.of(headSelect+` FROM json_each(?) page JOIN rollouts r ON r.rollout_no =
		(SELECT rollout_no FROM rollouts WHERE run_no = @run AND task_id = page.value ORDER BY eval_run, k LIMIT 1) `+headJoins+" ORDER BY page.key"), string(asked))
}

// Tally counts rollouts that have something in common.
type Tally struct {
	// Values are those of the fields asked for; "" where there is none.
	Values []string
	Tasks  int
	Done   int
	Graded int
	Passed int
	Lost   int
}

// Failed is how many were graded and did not pass.
func (t Tally) Failed() int { return t.Graded - t.Passed }

// TallyBy counts the rollouts that a filter keeps by the values of one field or
// more, most failures first.
func (db *DB) TallyBy(ctx context.Context, runID string, f Filter, names ...string) ([]Tally, error) {
	scope, err := db.scope(ctx, runID)
	if err != nil {
		return nil, err
	}
	where, args, needs := f.where()
	var columns, group []string
	for i, name := range names {
		by, ok := fieldNamed(name)
		if !ok {
			return nil, &Error{Code: CodeInvalid, Where: name, Message: fmt.Sprintf("rollouts cannot be grouped by %q", name), Fix: nearestField(name)}
		}
		needs |= by.needs
		columns, group = append(columns, "ifnull(CAST("+by.sql+" AS TEXT), '')"), append(group, strconv.Itoa(i+1))
	}
	query := "SELECT " + strings.Join(append(columns, `count(DISTINCT r.task_id), sum(r.status = 'done'), count(CASE WHEN r.status = 'done' THEN `+rewardSQL+` END) AS graded,
		sum(`+verdictSQL+` = 'pass') AS passed, sum(r.status = 'lost')`), ", ") + " " + scope.from(needs|joinJudgment) + " WHERE r.run_no = @run" + where +
		" GROUP BY " + strings.Join(group, ", ") + " ORDER BY graded - passed DESC, graded DESC, " + strings.Join(group, ", ")
	var out []Tally
	err = db.each(ctx, func(row scanner) error {
		t := Tally{Values: make([]string, len(names))}
		dest := make([]any, 0, len(names)+5)
		for i := range t.Values {
			dest = append(dest, &t.Values[i])
		}
		err := row.Scan(append(dest, &t.Tasks, &t.Done, &t.Graded, &t.Passed, &t.Lost)...)
		out = append(out, t)
		return err
	}, scope.of(query), args...)
	return out, err
}

// RolloutIDs gives the ids of rollouts, in the order asked for.
func (db *DB) RolloutIDs(ctx context.Context, rows []Row) ([]string, error) {
	asked, err := record.Marshal(rows)
	if err != nil {
		return nil, err
	}
	return db.strings(ctx, "SELECT r.rollout_id FROM json_each(?) page JOIN rollouts r ON r.rollout_no = page.value ORDER BY page.key", string(asked))
}

// GroupFields are the fields that group rollouts well, in the order in which they
// are offered.
func GroupFields() []string {
	return slices.Concat([]string{"failure_class", record.AxisTool, record.AxisRule, record.AxisStance, "fault", "cause", "behavior", "judge"},
		[]string{record.AxisWorldState, record.AxisToolCondition, record.AxisHistory, "arm", "verdict"})
}

// RolloutsOfTasks gives the ids of a run's rollouts of some tasks.
func (db *DB) RolloutsOfTasks(ctx context.Context, runID string, taskIDs []string) ([]string, error) {
	asked, err := record.Marshal(taskIDs)
	if err != nil {
		return nil, err
	}
	return db.strings(ctx, `SELECT r.rollout_id FROM rollouts r WHERE r.run_no = (SELECT run_no FROM runs WHERE run_id = ?)
		AND r.task_id IN (SELECT value FROM json_each(?)) ORDER BY r.eval_run, r.task_id, r.k`, runID, string(asked))
}
