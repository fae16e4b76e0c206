package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"strings"

	"assay/engine/record"
)

const (
	// pageRows and pageBytes bound what an iteration over samples holds at once: a page
	// ends with whichever comes first. Convention, untested.
	pageRows  = 256
	pageBytes = 8 << 20
)

const sampleSelect = `r.rollout_no, r.rollout_id, u.run_id, r.eval_run, r.task_id, r.k, r.status, r.cause, r.error, r.finish_reason, r.ended_by,
	r.latency_us, r.attempts, r.input_tokens, r.output_tokens, r.cost, r.policy_version, r.prompt_hash, r.prompt_truncated, r.writer_model, r.user_model,
	r.behavior, r.started_at, r.finished_at, x.prompt, x.steps, x.final_text, x.sampling, x.logprobs, x.extra, x.privileged, x.exact,
	p.arm, p.batch, p.position, p.held_out, ` + judgmentSelect

// briefSelect are the same columns without what is long.
var briefSelect = strings.NewReplacer("x.steps", "'[]'", "x.sampling", "NULL", "x.logprobs", "NULL", "x.extra", "NULL").Replace(sampleSelect)

// sampleFrom joins a rollout with its transcript, its place in the run and the
// last judgment of one scorer version, ?1.
const sampleFrom = ` FROM rollouts r
	JOIN runs u ON u.run_no = r.run_no
	JOIN transcripts x ON x.rollout_no = r.rollout_no
	JOIN run_tasks p ON p.run_no = r.run_no AND p.task_id = r.task_id
	LEFT JOIN judgments j ON j.judgment_no = (SELECT max(judgment_no) FROM judgments WHERE rollout_no = r.rollout_no AND scorer_no = ?1)
	LEFT JOIN scorers s ON s.scorer_no = j.scorer_no `

// Samples yields a run's rollouts ordered by (eval_run, task_id, k), each with the
// last judgment of the asked scorer version and the last marker of each name
// under the scorer versions that the run uses. It reads page by page, so that
// memory stays bounded, no read transaction outlives a page, and the caller may
// write meanwhile; rollouts committed behind the place reached are not seen. An
// error ends it.
func (db *DB) Samples(ctx context.Context, runID string, q record.SampleQuery) iter.Seq2[*record.Sample, error] {
	return func(yield func(*record.Sample, error) bool) {
		err := db.samples(ctx, runID, q, func(s *record.Sample) bool { return yield(s, nil) })
		if err != nil {
			yield(nil, explain(db.path, err))
		}
	}
}

func (db *DB) samples(ctx context.Context, runID string, q record.SampleQuery, yield func(*record.Sample) bool) error {
	run, err := db.runNo(ctx, runID)
	if err != nil {
		return err
	}
	pager := samplePager{db: db, run: run, query: q, sets: toolSets{db: db}}
	if pager.scorer, err = db.scorerNo(ctx, run, q.Scorer); err != nil {
		return err
	}
	if pager.filter, err = ParseFilter(q.Where); err != nil {
		return err
	}
	for {
		page, err := pager.next(ctx)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, s := range page {
			if !yield(s) {
				return nil
			}
		}
	}
}

// scorerNo is the number of a scorer version, of the run's own where scorer is
// "". A version that nobody used is 0, which no judgment has.
func (db *DB) scorerNo(ctx context.Context, run int64, scorer string) (int64, error) {
	var no sql.NullInt64
	var err error
	if scorer == "" {
		err = db.read.QueryRowContext(ctx, "SELECT scorer_no FROM runs WHERE run_no = ?", run).Scan(&no)
	} else {
		err = db.read.QueryRowContext(ctx, "SELECT scorer_no FROM scorers WHERE scorer = ?", scorer).Scan(&no)
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return no.Int64, explain(db.path, err)
}

type samplePager struct {
	db     *DB
	run    int64
	scorer int64
	query  record.SampleQuery
	filter Filter
	sets   toolSets
	last   *record.Key // the last one read
	task   *record.Task
}

func (p *samplePager) next(ctx context.Context) ([]*record.Sample, error) {
	page, numbers, err := p.rows(ctx)
	if err != nil || len(page) == 0 {
		return nil, err
	}
	if p.query.Brief {
		for _, s := range page {
			s.Task = &record.Task{ID: s.Rollout.Key.TaskID}
		}
		return page, nil
	}
	if err := p.addTasks(ctx, page); err != nil {
		return nil, err
	}
	return page, p.db.addMarkers(ctx, p.run, page, numbers)
}

func (p *samplePager) where() (string, []any) {
	where, args := "WHERE r.run_no = ?2", []any{p.scorer, p.run}
	add := func(clause string, values ...any) {
		for _, v := range values {
			args = append(args, v)
			clause = strings.Replace(clause, "?", fmt.Sprintf("%s%d", "\x00", len(args)), 1)
		}
		where += " AND " + strings.ReplaceAll(clause, "\x00", "?")
	}
	if k := p.last; k != nil {
		add("(r.eval_run, r.task_id, r.k) > (?, ?, ?)", k.EvalRun, k.TaskID, k.K)
	}
	statuses := p.query.Statuses
	if len(statuses) == 0 {
		statuses = []record.Status{record.StatusDone}
	}
	named := make([]any, len(statuses))
	for i, s := range statuses {
		named[i] = string(s)
	}
	add("r.status IN ("+placeholders(len(named))+")", named...)
	if p.query.HeldOut != nil {
		add("p.held_out = ?", *p.query.HeldOut)
	}
	if ids := p.query.Rollouts; ids != nil {
		asked, _ := record.Marshal(ids) // strings always are JSON
		add("r.rollout_id IN (SELECT value FROM json_each(?))", string(asked))
	}
	clause, values, needs := p.filter.where()
	if clause != "" {
		add(strings.TrimPrefix(scope{p.run, p.scorer}.of(clause), " AND "), values...)
	}
	if needs&joinTask != 0 {
		where = "JOIN tasks t ON t.task_id = r.task_id " + where
	}
	return where, args
}

func (p *samplePager) rows(ctx context.Context) (page []*record.Sample, numbers []int64, err error) {
	where, args := p.where()
	columns := sampleSelect
	if p.query.Brief {
		columns = briefSelect
	}
	rows, err := p.db.read.QueryContext(ctx, "SELECT "+columns+sampleFrom+where+fmt.Sprintf(" ORDER BY r.eval_run, r.task_id, r.k LIMIT %d", pageRows), args...)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for size := 0; size < pageBytes && rows.Next(); {
		no, s, n, err := scanSample(rows)
		if err != nil {
			return nil, nil, err
		}
		page, numbers = append(page, s), append(numbers, no)
		p.last = &s.Rollout.Key
		size += n
	}
	return page, numbers, rows.Err()
}

// scanSample reads the columns of sampleSelect: all of a sample but its task and
// its markers. size is about what the sample weighs.
func scanSample(row scanner) (no int64, s *record.Sample, size int, err error) {
	s = &record.Sample{Posed: record.Posed{Task: nil}}
	r := &s.Rollout
	var cause, errText, finish, ended, policy, promptHash, writer, user, behavior, started, finished sql.NullString
	var prompt, steps, final, sampling, logprobs, extra, privileged, exact sql.NullString
	var in, out sql.NullInt64
	var cost sql.NullFloat64
	var latency int64
	var j judgmentScan
	dest := []any{&no, &r.ID, &r.RunID, &r.Key.EvalRun, &r.Key.TaskID, &r.Key.K, &r.Status, &cause, &errText, &finish, &ended,
		&latency, &r.Attempts, &in, &out, &cost, &policy, &promptHash, &r.PromptTruncated, &writer, &user,
		&behavior, &started, &finished, &prompt, &steps, &final, &sampling, &logprobs, &extra, &privileged, &exact,
		&s.Arm, &s.Batch, &s.Order, &s.HeldOut}
	if err := row.Scan(append(dest, j.dest()...)...); err != nil {
		return 0, nil, 0, err
	}
	r.Cause, r.FinishReason, r.EndedBy = record.Cause(cause.String), record.FinishReason(finish.String), ended.String
	r.PolicyVersion, r.PromptHash, r.WriterModel, r.UserModel, r.Behavior = policy.String, promptHash.String, writer.String, user.String, behavior.String
	r.Latency, r.Sampling, r.Privileged = ofMicros(latency), rawOf(sampling), rawOf(privileged)
	if in.Valid {
		r.Usage = &record.Usage{InputTokens: in.Int64, OutputTokens: out.Int64, Cost: cost.Float64}
	}
	var x texts
	x.add("error", &errText, &r.Error)
	x.add("prompt", &prompt, &r.Prompt)
	x.add("final_text", &final, &r.FinalText)
	var errSteps error
	r.Steps, errSteps = readSteps(steps.String)
	err = errors.Join(errSteps, x.restore(exact), fromJSON(logprobs, &r.LogProbs), fromJSON(extra, &r.Extra),
		times(started, &r.StartedAt, finished, &r.FinishedAt))
	if err != nil {
		return 0, nil, 0, fmt.Errorf("rollout %s: %w", r.ID, err)
	}
	if s.Judgment, err = j.judgment(r.ID); err != nil {
		return 0, nil, 0, fmt.Errorf("judgment of rollout %s: %w", r.ID, err)
	}
	return no, s, len(steps.String) + len(final.String) + len(extra.String) + len(j.raw.String), nil
}

// addTasks gives the page's samples their tasks, which the k samples of a task
// share. The order brings them together, so only the last task is kept from page
// to page.
func (p *samplePager) addTasks(ctx context.Context, page []*record.Sample) error {
	byID := map[string]*record.Task{}
	if p.task != nil {
		byID[p.task.ID] = p.task
	}
	var missing []string
	for _, s := range page {
		if _, there := byID[s.Rollout.Key.TaskID]; !there {
			byID[s.Rollout.Key.TaskID] = nil
			missing = append(missing, s.Rollout.Key.TaskID)
		}
	}
	if err := p.readTasks(ctx, missing, byID); err != nil {
		return err
	}
	for _, s := range page {
		s.Task = byID[s.Rollout.Key.TaskID]
		p.task = s.Task
	}
	return nil
}

func (p *samplePager) readTasks(ctx context.Context, ids []string, byID map[string]*record.Task) error {
	asked, err := record.Marshal(ids)
	if err != nil {
		return err
	}
	var tasks []*record.Task
	err = p.db.each(ctx, func(row scanner) error {
		t, err := scanTask(row)
		tasks = append(tasks, t)
		return err
	}, "SELECT "+taskSelect+" FROM json_each(?) j JOIN tasks t ON t.task_id = j.value", string(asked))
	if err != nil {
		return err
	}
	for _, t := range tasks {
		if t.Tools, err = p.sets.tools(ctx, t.ToolsHash); err != nil {
			return err
		}
		byID[t.ID] = t
	}
	return nil
}

// addMarkers gives samples the last marker of each name under the scorer versions
// that the run uses, in the order in which they were given.
func (db *DB) addMarkers(ctx context.Context, run int64, page []*record.Sample, numbers []int64) error {
	byNo := make(map[int64]*record.Sample, len(page))
	marks := make([]string, len(numbers))
	args := []any{run}
	for i, no := range numbers {
		byNo[no] = page[i]
		marks[i] = "?"
		args = append(args, no)
	}
	rows, err := db.read.QueryContext(ctx, `SELECT m.rollout_no, s.scorer, m.name, m.value, m.status, m.evidence, m.note, m.exact
		FROM markers m JOIN scorers s USING (scorer_no)
		WHERE m.scorer_no IN (SELECT scorer_no FROM run_scorers WHERE run_no = ?)
		AND m.rollout_no IN (`+strings.Join(marks, ",")+`) ORDER BY m.rollout_no, m.marker_no`, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var no int64
		var m record.Marker
		var evidence, note, exact sql.NullString
		if err := rows.Scan(&no, &m.Scorer, &m.Name, number{&m.Value}, &m.Status, &evidence, &note, &exact); err != nil {
			return err
		}
		var x texts
		x.add("note", &note, &m.Note)
		if err := errors.Join(x.restore(exact), fromJSON(evidence, &m.Evidence)); err != nil {
			return err
		}
		s := byNo[no]
		m.RolloutID = s.Rollout.ID
		s.Markers = putMarker(s.Markers, m)
	}
	return rows.Err()
}

// putMarker adds a marker in the place of an earlier one of its name.
func putMarker(markers []record.Marker, m record.Marker) []record.Marker {
	for i := range markers {
		if markers[i].Name == m.Name {
			markers[i] = m
			return markers
		}
	}
	return append(markers, m)
}

// Sample reads one rollout whole, under its run's own scorer version.
func (db *DB) Sample(ctx context.Context, rolloutID string) (*record.Sample, error) {
	var run int64
	var scorer sql.NullInt64
	err := db.read.QueryRowContext(ctx, "SELECT run_no, scorer_no FROM runs WHERE run_no = (SELECT run_no FROM rollouts WHERE rollout_id = ?)", rolloutID).Scan(&run, &scorer)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, notFound("rollout", rolloutID, "see `assay rows`")
	}
	if err != nil {
		return nil, explain(db.path, err)
	}
	no, s, _, err := scanSample(db.read.QueryRowContext(ctx, "SELECT "+sampleSelect+sampleFrom+"WHERE r.rollout_id = ?2", scorer.Int64, rolloutID))
	if err != nil {
		return nil, explain(db.path, err)
	}
	page := []*record.Sample{s}
	pager := samplePager{db: db, run: run, sets: toolSets{db: db}}
	if err := pager.addTasks(ctx, page); err != nil {
		return nil, explain(db.path, err)
	}
	return s, explain(db.path, db.addMarkers(ctx, run, page, []int64{no}))
}
