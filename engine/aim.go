package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"assay/engine/axes"
	"assay/engine/cover"
	"assay/engine/record"
	"assay/engine/search"
)

// aimFile is the name under which a run keeps what it was aimed by, among the texts
// that its recipe resolved to: what the earlier run comes to later moves nothing,
// and a resumed run is aimed as it was.
const aimFile = "aim.json"

// aimOf is what the run is aimed by: what is kept with it, or for a new run the
// traces of the run that the recipe names. nil where it names none.
func (e *Engine) aimOf(ctx context.Context, p *plan, run *record.Run) ([]search.Trace, error) {
	if kept, ok := run.Files[aimFile]; ok {
		var traces []search.Trace
		if err := json.Unmarshal([]byte(kept), &traces); err != nil {
			return nil, fmt.Errorf("read what run %s is aimed by: %w", run.ID, err)
		}
		return traces, nil
	}
	name := p.recipe.Simulate.Aim
	if name == "" {
		return nil, nil
	}
	id, err := e.Source.Resolve(ctx, name)
	if err != nil {
		return nil, inRecipe("simulate.aim", err)
	}
	traces, err := e.traces(ctx, id, p.tools)
	if err != nil {
		return nil, err
	}
	if len(traces) == 0 {
		return nil, record.Problemf("no_traces", "aim at a run that has rollouts of its own tasks, or leave simulate.aim out", "run %s has no rollout that says where to ask", id)
	}
	kept, err := record.Marshal(traces)
	if err != nil {
		return nil, fmt.Errorf("keep what the run is aimed by: %w", err)
	}
	run.Files[aimFile] = string(kept)
	return traces, nil
}

// traces are what a run's done rollouts say of the places that it asked at.
func (e *Engine) traces(ctx context.Context, runID string, tools []record.Tool) ([]search.Trace, error) {
	run, err := e.Source.Run(ctx, runID)
	if err != nil {
		return nil, err
	}
	var all search.Traces
	for s, err := range e.Source.Samples(ctx, runID, record.SampleQuery{}) {
		if err != nil {
			return nil, err
		}
		all.Add(s, run.PassThreshold, axes.Mentions(tools, string(s.Task.Ask)))
	}
	return all.List(), nil
}

// extended is the array with the rows that were posed before in it, and only those
// beside them that cover what is missing: what a joint array can do and a stable
// one need not, since its rows are the same in every run.
func extended(ctx context.Context, a cover.Array, traces []search.Trace) (cover.Array, error) {
	var pinned [][]int
	for _, t := range traces {
		if t.SituationID == "" {
			continue
		}
		row := a.Model.Point(t.Axes)
		known := slices.ContainsFunc(pinned, func(r []int) bool { return slices.Equal(r, row) })
		if !known && !slices.Contains(row, -1) && a.Model.Allows(row) {
			pinned = append(pinned, row)
		}
	}
	if len(pinned) == 0 {
		return a, nil
	}
	return cover.Build(ctx, a.Model, cover.Options{Pinned: pinned})
}
