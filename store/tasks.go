package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"

	"assay/engine/record"
)

// CommitTasks saves the tasks that a run poses. A task that the file knows, from
// this run or another, stays as it is.
func (db *DB) CommitTasks(ctx context.Context, runID string, posed []record.Posed) error {
	toolSets, tasks, err := encodeTasks(posed)
	if err != nil {
		return err
	}
	return db.tx(ctx, func(t *tx) error {
		no, err := t.runNo(runID)
		if err != nil {
			return err
		}
		if err := db.mayWrite(t, no, runID); err != nil {
			return err
		}
		if err := t.insertAll("INSERT OR IGNORE INTO tool_sets", 2, toolSets); err != nil {
			return err
		}
		if err := t.insertAll("INSERT OR IGNORE INTO tasks", taskColumns, tasks); err != nil {
			return err
		}
		places := make([]driver.Value, 0, 6*len(posed))
		for i := range posed {
			p := &posed[i]
			places = append(places, no, p.Task.ID, p.Arm, int64(p.Batch), int64(p.Order), boolValue(p.HeldOut))
		}
		return t.insertAll("INSERT OR IGNORE INTO run_tasks", 6, places)
	})
}

const taskColumns = 20

func encodeTasks(posed []record.Posed) (toolSets, tasks []driver.Value, err error) {
	seen := map[string]bool{}
	for i := range posed {
		t := posed[i].Task
		if t.ID == "" || t.SituationID == "" {
			return nil, nil, &Error{Code: CodeInvalid, Where: "task", Message: fmt.Sprintf("task %d of the batch has no identity", i)}
		}
		if !seen[t.ToolsHash] {
			seen[t.ToolsHash] = true
			raw, err := record.Marshal(t.Tools)
			if err != nil {
				return nil, nil, fmt.Errorf("tools of task %s: %w", t.ID, err)
			}
			toolSets = append(toolSets, t.ToolsHash, string(raw))
		}
		values, err := taskValues(t)
		if err != nil {
			return nil, nil, fmt.Errorf("task %s: %w", t.ID, err)
		}
		tasks = append(tasks, values...)
	}
	return toolSets, tasks, nil
}

func taskValues(t *record.Task) ([]driver.Value, error) {
	axes, errAxes := jsonValue(t.Axes, t.Axes == nil)
	world, errWorld := jsonValue(t.World, false)
	user, errUser := jsonValue(t.User, false)
	if err := errors.Join(errAxes, errWorld, errUser); err != nil {
		return nil, err
	}
	if err := validJSON("reference", t.Reference); err != nil {
		return nil, err
	}
	var faultTool, faultCondition driver.Value
	if t.Fault != nil {
		faultTool, faultCondition = t.Fault.Tool, t.Fault.Condition
	}
	var exact exactTexts
	values := []driver.Value{t.ID, t.SituationID, t.Origin, optional(t.Parent), exact.text("ask", t.Ask)}
	for _, axis := range record.AxisNames() {
		values = append(values, optional(t.Axes[axis]))
	}
	return append(values, axes, faultTool, faultCondition, world, user, t.ToolsHash, t.Writer, rawValue(t.Reference), exact.value()), nil
}

// validJSON refuses bytes that would leave a JSON column unreadable.
func validJSON(what string, raw json.RawMessage) error {
	if len(raw) > 0 && !json.Valid(raw) {
		return &Error{Code: CodeInvalid, Where: what, Message: fmt.Sprintf("%s is not JSON: %.80q", what, raw)}
	}
	return nil
}

const taskSelect = `t.task_id, t.situation_id, t.origin, t.parent_id, t.ask, t.axes, t.fault_tool, t.fault_condition, t.world, t.user, t.tools_hash, t.writer, t.reference, t.exact`

// scanTask reads the columns of taskSelect and then dest.
func scanTask(row scanner, dest ...any) (*record.Task, error) {
	t := &record.Task{}
	var parent, ask, axes, faultTool, faultCondition, world, user, reference, exact sql.NullString
	err := row.Scan(append([]any{&t.ID, &t.SituationID, &t.Origin, &parent, &ask, &axes, &faultTool, &faultCondition, &world, &user, &t.ToolsHash, &t.Writer, &reference, &exact}, dest...)...)
	if err != nil {
		return nil, err
	}
	t.Parent, t.Reference = parent.String, rawOf(reference)
	if faultTool.Valid {
		t.Fault = &record.Fault{Tool: faultTool.String, Condition: faultCondition.String}
	}
	var x texts
	x.add("ask", &ask, &t.Ask)
	return t, errors.Join(x.restore(exact), fromJSON(axes, &t.Axes), fromJSON(world, &t.World), fromJSON(user, &t.User))
}

// toolSets reads schemas by hash and keeps them: tasks share a few sets.
type toolSets struct {
	db     *DB
	byHash map[string][]record.Tool
}

func (s *toolSets) tools(ctx context.Context, hash string) ([]record.Tool, error) {
	if tools, ok := s.byHash[hash]; ok {
		return tools, nil
	}
	var raw sql.NullString
	var tools []record.Tool
	if err := s.db.read.QueryRowContext(ctx, "SELECT tools FROM tool_sets WHERE tools_hash = ?", hash).Scan(&raw); err != nil {
		return nil, fmt.Errorf("tools %s: %w", hash, err)
	}
	if err := fromJSON(raw, &tools); err != nil {
		return nil, fmt.Errorf("tools %s: %w", hash, err)
	}
	if s.byHash == nil {
		s.byHash = map[string][]record.Tool{}
	}
	s.byHash[hash] = tools
	return tools, nil
}

// Posed reads a run's tasks in their order, tools included.
func (db *DB) Posed(ctx context.Context, runID string) ([]record.Posed, error) {
	no, err := db.runNo(ctx, runID)
	if err != nil {
		return nil, err
	}
	rows, err := db.read.QueryContext(ctx, "SELECT "+taskSelect+`, p.arm, p.batch, p.position, p.held_out
		FROM run_tasks p JOIN tasks t USING (task_id) WHERE p.run_no = ? ORDER BY p.position, p.task_id`, no)
	if err != nil {
		return nil, explain(db.path, err)
	}
	defer rows.Close()
	var posed []record.Posed
	for rows.Next() {
		var p record.Posed
		if p.Task, err = scanTask(rows, &p.Arm, &p.Batch, &p.Order, &p.HeldOut); err != nil {
			return nil, explain(db.path, err)
		}
		posed = append(posed, p)
	}
	if err := rows.Err(); err != nil {
		return nil, explain(db.path, err)
	}
	rows.Close()
	sets := toolSets{db: db}
	for i := range posed {
		if posed[i].Task.Tools, err = sets.tools(ctx, posed[i].Task.ToolsHash); err != nil {
			return nil, explain(db.path, err)
		}
	}
	return posed, nil
}
