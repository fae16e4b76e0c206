package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"assay/engine/record"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// CommitOutcomes saves finished rollouts with their verdicts, all of them or
// none. A lost or aborted rollout of the same key is replaced; a done one stays,
// and what was to replace it is left out.
func (db *DB) CommitOutcomes(ctx context.Context, runID string, outcomes []record.Outcome) error {
	if len(outcomes) == 0 {
		return nil
	}
	encoded := make([]encodedOutcome, len(outcomes))
	for i := range outcomes {
		var err error
		if encoded[i], err = encodeOutcome(runID, &outcomes[i]); err != nil {
			return fmt.Errorf("rollout %s: %w", outcomes[i].Rollout.ID, err)
		}
	}
	err := db.commitOutcomes(ctx, runID, encoded, false)
	if isConstraint(err, sqlite3.SQLITE_CONSTRAINT_UNIQUE) {
		// Some are there already: a resumed run. Nearly no batch pays for looking.
		err = db.commitOutcomes(ctx, runID, encoded, true)
	}
	if isConstraint(err, sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY) {
		return &Error{CodeInvalid, runID, fmt.Sprintf("a rollout of run %s answers a task that the run does not pose", runID), "commit the tasks first", err}
	}
	return err
}

func isConstraint(err error, code int) bool {
	var se *sqlite.Error
	return errors.As(err, &se) && se.Code() == code
}

func (db *DB) commitOutcomes(ctx context.Context, runID string, outcomes []encodedOutcome, some bool) error {
	return db.tx(ctx, func(t *tx) error {
		run, err := t.runNo(runID)
		if err != nil {
			return err
		}
		if err := db.mayWrite(t, run, runID); err != nil {
			return err
		}
		if some {
			if outcomes, err = t.makeRoom(run, outcomes); err != nil {
				return err
			}
		}
		return t.insertOutcomes(run, outcomes)
	})
}

const (
	rolloutColumns    = 27
	transcriptColumns = 9
	judgmentColumns   = 15
	markerColumns     = 9
)

// Places of values that only the transaction knows.
const (
	rolloutAtRun    = 2
	judgmentAtRoll  = 1
	judgmentAtScore = 2
	markerAtRoll    = 1
	markerAtScore   = 2
)

// encodedOutcome is an outcome as rows, made before the write lock is taken.
type encodedOutcome struct {
	rolloutID  string
	key        record.Key
	rollout    []driver.Value
	transcript []driver.Value
	judgment   []driver.Value // nil where there is none
	judge      string
	markers    []driver.Value
	markerBy   []string // scorer of each marker
	replaces   int64    // the number of the rollout whose place it takes, 0 for none
}

func encodeOutcome(runID string, o *record.Outcome) (encodedOutcome, error) {
	r := &o.Rollout
	e := encodedOutcome{rolloutID: r.ID, key: r.Key}
	if r.ID == "" || r.RunID != runID {
		return e, &Error{Code: CodeInvalid, Where: r.ID, Message: fmt.Sprintf("a rollout of run %q cannot be saved in run %q", r.RunID, runID)}
	}
	var err error
	if err = e.encodeRollout(r); err != nil {
		return e, err
	}
	if o.Judgment != nil {
		if e.judgment, err = judgmentValues(o.Judgment); err != nil {
			return e, err
		}
		e.judge = o.Judgment.Scorer
	}
	e.markers = make([]driver.Value, 0, markerColumns*len(o.Markers))
	e.markerBy = make([]string, len(o.Markers))
	for i := range o.Markers {
		values, err := markerValues(&o.Markers[i])
		if err != nil {
			return e, err
		}
		e.markers = append(e.markers, values...)
		e.markerBy[i] = o.Markers[i].Scorer
	}
	return e, nil
}

func (e *encodedOutcome) encodeRollout(r *record.Rollout) error {
	steps, err := appendSteps(nil, r.Steps)
	if err != nil {
		return err
	}
	logprobs, err := jsonValue(r.LogProbs, len(r.LogProbs) == 0)
	if err != nil {
		return err
	}
	extra, err := membersValue(r.Extra)
	if err != nil {
		return err
	}
	if err := errors.Join(validJSON("sampling", r.Sampling), validJSON("privileged", r.Privileged)); err != nil {
		return err
	}
	var exact exactTexts
	var in, out, cost, logprob, tokens driver.Value
	if u := r.Usage; u != nil {
		in, out, cost = u.InputTokens, u.OutputTokens, u.Cost
	}
	if len(r.LogProbs) > 0 {
		sum, n := 0.0, 0
		for _, turn := range r.LogProbs {
			sum += turn.Sum
			n += turn.Tokens
		}
		logprob, tokens = sum, int64(n)
	}
	e.rollout = []driver.Value{
		nil, r.ID, nil, int64(r.Key.EvalRun), r.Key.TaskID, int64(r.Key.K), string(r.Status), optional(r.Cause), exact.optional("error", r.Error),
		optional(r.FinishReason), optional(r.EndedBy), int64(toolCalls(r.Steps)), micros(r.Latency), int64(r.Attempts), in, out, cost, logprob, tokens,
		optional(r.PolicyVersion), optional(r.PromptHash), boolValue(r.PromptTruncated), optional(r.WriterModel), optional(r.UserModel), optional(r.Behavior),
		timeValue(r.StartedAt), timeValue(r.FinishedAt),
	}
	prompt, final := exact.optional("prompt", r.Prompt), exact.text("final_text", r.FinalText)
	e.transcript = []driver.Value{nil, prompt, string(steps), final, rawValue(r.Sampling), logprobs, extra, rawValue(r.Privileged), exact.value()}
	return nil
}

func toolCalls(steps []record.Step) (n int) {
	for i := range steps {
		if steps[i].Kind == record.StepTool {
			n++
		}
	}
	return n
}

// membersValue is a JSON object of members as they came.
func membersValue(members map[string]json.RawMessage) (driver.Value, error) {
	if len(members) == 0 {
		return nil, nil
	}
	out := []byte{'{'}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if err := validJSON(name, members[name]); err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = appendText(out, record.Text(name))
		out = appendRaw(append(out, ':'), members[name])
	}
	return string(append(out, '}')), nil
}

// makeRoom frees the places of lost and aborted rollouts and gives back the
// outcomes that have a place: done rollouts keep theirs.
func (t *tx) makeRoom(run int64, outcomes []encodedOutcome) ([]encodedOutcome, error) {
	var free []encodedOutcome
	seen := map[string]bool{}
	for _, o := range outcomes {
		if seen[o.rolloutID] {
			return nil, &Error{Code: CodeDuplicate, Where: o.rolloutID, Message: fmt.Sprintf("rollout %s (%s) is there twice", o.rolloutID, o.key)}
		}
		seen[o.rolloutID] = true
		var no int64
		var status record.Status
		err := t.row("SELECT rollout_no, status FROM rollouts WHERE rollout_id = ? OR (run_no = ? AND eval_run = ? AND task_id = ? AND k = ?)",
			[]any{o.rolloutID, run, o.key.EvalRun, o.key.TaskID, o.key.K}, &no, &status)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			free = append(free, o)
			continue
		case err != nil:
			return nil, err
		case status == record.StatusDone:
			continue
		}
		// The old one steps aside until what people said of it has moved over.
		if err := t.exec("UPDATE rollouts SET rollout_id = rollout_id || '~', k = -rollout_no WHERE rollout_no = ?", no); err != nil {
			return nil, err
		}
		o.replaces = no
		free = append(free, o)
	}
	return free, nil
}

// replace gives what people said of one rollout to the one that takes its place,
// and removes the old one with its grades.
func (t *tx) replace(was, is int64) error {
	for _, q := range []string{
		"UPDATE labels SET rollout_no = ?1 WHERE rollout_no = ?2",
		"UPDATE preferences SET first_no = ?1 WHERE first_no = ?2",
		"UPDATE preferences SET second_no = ?1 WHERE second_no = ?2",
		"UPDATE queue_items SET rollout_no = ?1 WHERE rollout_no = ?2",
		"UPDATE causes SET rollout_no = ?1 WHERE rollout_no = ?2",
		"UPDATE drafts SET rollout_no = ?1 WHERE rollout_no = ?2",
	} {
		if err := t.exec(q, is, was); err != nil {
			return err
		}
	}
	if err := t.exec("DELETE FROM transcript_words WHERE rowid = ?", was); err != nil {
		return err
	}
	return t.exec("DELETE FROM rollouts WHERE rollout_no = ?", was) // its grades go with it
}

func (t *tx) insertOutcomes(run int64, outcomes []encodedOutcome) error {
	var rollout, judgment, marker int64
	// A number that the text index has passed is not given again.
	err := t.row(`SELECT (SELECT max(ifnull((SELECT max(rollout_no) FROM rollouts), 0), indexed_to) FROM words_state), (SELECT ifnull(max(judgment_no), 0) FROM judgments),
		(SELECT ifnull(max(marker_no), 0) FROM markers)`, nil, &rollout, &judgment, &marker)
	if err != nil {
		return err
	}
	n := len(outcomes)
	rollouts := make([]driver.Value, 0, n*rolloutColumns)
	transcripts := make([]driver.Value, 0, n*transcriptColumns)
	judgments := make([]driver.Value, 0, n*judgmentColumns)
	var markers []driver.Value
	for i := range outcomes {
		o := &outcomes[i]
		rollout++
		at := len(rollouts)
		rollouts = append(rollouts, o.rollout...)
		rollouts[at], rollouts[at+rolloutAtRun] = rollout, run
		at = len(transcripts)
		transcripts = append(transcripts, o.transcript...)
		transcripts[at] = rollout
		if o.judgment != nil {
			judgment++
			if judgments, err = t.placeJudgment(judgments, judgment, rollout, o.judge, o.judgment); err != nil {
				return err
			}
		}
		for m, scorer := range o.markerBy {
			marker++
			if markers, err = t.placeMarker(markers, marker, rollout, scorer, o.markers[m*markerColumns:(m+1)*markerColumns]); err != nil {
				return err
			}
		}
	}
	for _, group := range []struct {
		into    string
		columns int
		values  []driver.Value
	}{
		{"INSERT INTO rollouts", rolloutColumns, rollouts},
		{"INSERT INTO transcripts", transcriptColumns, transcripts},
		{"INSERT INTO judgments", judgmentColumns, judgments},
		{"INSERT INTO markers", markerColumns, markers},
	} {
		if err := t.insertAll(group.into, group.columns, group.values); err != nil {
			return err
		}
	}
	for i := range outcomes {
		if was := outcomes[i].replaces; was != 0 {
			if err := t.replace(was, rollout-int64(n-1-i)); err != nil {
				return err
			}
		}
	}
	return nil
}
