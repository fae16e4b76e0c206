package store

import (
	"database/sql"
	"errors"
	"strings"

	"assay/engine/record"
)

// scorerNo is this file's number of a scorer version. One that is not known yet
// is added with what its id says; [tx.addScorer] adds the rest.
func (t *tx) scorerNo(id string) (int64, error) {
	if no, ok := t.w.scorers[id]; ok {
		return no, nil
	}
	if no, ok := t.learned[id]; ok {
		return no, nil
	}
	kind, rest, _ := strings.Cut(id, ":")
	name, _, _ := strings.Cut(rest, "@")
	if err := t.exec("INSERT INTO scorers (scorer, kind, name) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", id, kind, name); err != nil {
		return 0, err
	}
	var no int64
	if err := t.row("SELECT scorer_no FROM scorers WHERE scorer = ?", []any{id}, &no); err != nil {
		return 0, err
	}
	if t.learned == nil {
		t.learned = map[string]int64{}
	}
	t.learned[id] = no
	return no, nil
}

// addScorer keeps what a scorer version is.
func (t *tx) addScorer(s record.Scorer) (int64, error) {
	no, err := t.scorerNo(s.ID)
	if err != nil {
		return 0, err
	}
	return no, t.exec("UPDATE scorers SET kind = ?, name = ?, model = ?, rubric_hash = ?, settings = ? WHERE scorer_no = ? AND settings IS NULL",
		s.Kind, s.Name, s.Model, s.RubricHash, rawValue(s.Settings), no)
}

// setRunScorers makes scorers the list of those that a run uses, where it says
// anything else than the list that is there.
func (t *tx) setRunScorers(runNo int64, scorers []record.Scorer) error {
	var there sql.NullString
	err := t.row("SELECT group_concat(scorer, char(10) ORDER BY position) FROM run_scorers JOIN scorers USING (scorer_no) WHERE run_no = ?", []any{runNo}, &there)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	ids := make([]string, len(scorers))
	for i, s := range scorers {
		ids[i] = s.ID
	}
	if there.String == strings.Join(ids, "\n") {
		return nil
	}
	if err := t.exec("DELETE FROM run_scorers WHERE run_no = ?", runNo); err != nil {
		return err
	}
	for i, s := range scorers {
		no, err := t.addScorer(s)
		if err != nil {
			return err
		}
		if err := t.exec("INSERT INTO run_scorers VALUES (?, ?, ?)", runNo, int64(i), no); err != nil {
			return err
		}
	}
	return nil
}
