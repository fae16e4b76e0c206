package store

import (
	"context"
	"database/sql"
	"strings"

	"assay/engine/record"
)

// Kinds of what [DB.Find] finds.
const (
	FoundRun     = "run"
	FoundTask    = "task"
	FoundRollout = "rollout"
)

// Found is a run, a task or a rollout with what tells it from others.
type Found struct {
	Kind  string
	ID    string
	RunID string // the run itself, or the newest one that it stands in
	Text  record.Text
}

// leastPrefix is how much of an id finds tasks and rollouts: less is of thousands.
// Convention, untested.
const leastPrefix = 4

// Find looks for runs by their id, name or recipe, and for tasks and rollouts by
// the beginning of their id or by words that were said in them, in runs that are
// not hidden, the newest first; at most limit of each kind.
func (db *DB) Find(ctx context.Context, text string, limit int) ([]Found, error) {
	text = strings.TrimSpace(text)
	if text == "" || limit <= 0 {
		return nil, nil
	}
	found, err := db.found(ctx, `SELECT 'run', run_id, run_id, recipe || CASE WHEN name IS NULL THEN '' ELSE ' ' || name END || CASE role WHEN 'main' THEN '' ELSE ' ' || role END
		FROM runs WHERE NOT hidden AND (run_id LIKE ?1 ESCAPE '\' OR name LIKE ?2 ESCAPE '\' OR recipe LIKE ?2 ESCAPE '\') ORDER BY run_no DESC LIMIT ?3`,
		strings.TrimPrefix(likeOf(text), "%"), likeOf(text), limit)
	if err != nil {
		return nil, err
	}
	if isPrefix(text) {
		byID, err := db.foundByID(ctx, text, limit)
		if err != nil {
			return nil, err
		}
		found = append(found, byID...)
	}
	match := matchOf(lastAsPrefix(text))
	if match == "" {
		return found, nil
	}
	said, err := db.found(ctx, `SELECT 'rollout', r.rollout_id, u.run_id, t.ask FROM (SELECT rowid AS no FROM transcript_words WHERE words MATCH ?1 ORDER BY rowid DESC LIMIT ?2) w
		JOIN rollouts r ON r.rollout_no = w.no JOIN runs u ON u.run_no = r.run_no JOIN tasks t ON t.task_id = r.task_id WHERE NOT u.hidden ORDER BY w.no DESC`, match, limit)
	return append(found, said...), err
}

// foundByID finds tasks and rollouts by the beginning of their ids, in the order of
// an index.
func (db *DB) foundByID(ctx context.Context, prefix string, limit int) ([]Found, error) {
	end := prefix + "g" // behind every hex digit
	tasks, err := db.found(ctx, `SELECT 'task', t.task_id, (SELECT u.run_id FROM run_tasks p JOIN runs u ON u.run_no = p.run_no WHERE p.task_id = t.task_id AND NOT u.hidden ORDER BY u.run_no DESC LIMIT 1) AS run, t.ask
		FROM tasks t WHERE t.task_id >= ? AND t.task_id < ? AND run IS NOT NULL ORDER BY t.task_id LIMIT ?`, prefix, end, limit)
	if err != nil {
		return nil, err
	}
	rollouts, err := db.found(ctx, `SELECT 'rollout', r.rollout_id, u.run_id, t.ask FROM rollouts r JOIN runs u ON u.run_no = r.run_no JOIN tasks t ON t.task_id = r.task_id
		WHERE r.rollout_id >= ? AND r.rollout_id < ? AND NOT u.hidden ORDER BY r.rollout_id LIMIT ?`, prefix, end, limit)
	return append(tasks, rollouts...), err
}

func (db *DB) found(ctx context.Context, query string, args ...any) ([]Found, error) {
	var out []Found
	err := db.each(ctx, func(row scanner) error {
		var f Found
		var text sql.NullString
		err := row.Scan(&f.Kind, &f.ID, &f.RunID, &text)
		f.Text = record.Text(text.String)
		out = append(out, f)
		return err
	}, query, args...)
	return out, err
}

// isPrefix is true of what may begin an id.
func isPrefix(text string) bool {
	return len(text) >= leastPrefix && strings.Trim(text, "0123456789abcdef") == ""
}

// lastAsPrefix has the last word, which may be half typed, stand for all that
// begin with it.
func lastAsPrefix(text string) string {
	if strings.HasSuffix(text, "*") || strings.Count(text, `"`)%2 == 1 || strings.HasSuffix(text, `"`) {
		return text
	}
	return text + "*"
}
