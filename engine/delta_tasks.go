package engine

import (
	"context"

	"assay/engine/delta"
)

// What a screen shows of a delta report and of the tasks behind it.
type (
	DeltaMetric  = delta.Metric
	DeltaSlice   = delta.Slice
	DeltaRule    = delta.Rule
	DeltaTasks   = delta.Changes
	DeltaPair    = delta.Pair
	DeltaAttempt = delta.Attempt
	DeltaMove    = delta.Move
	DeltaQueues  = delta.Queues
)

// DeltaTasks are the tasks behind a report, read anew under the scorer version and in
// the scope that it names. A report that left tasks out as trained on does not say
// which: of one that did, those are left out that went into a training file by now.
func (e *Engine) DeltaTasks(ctx context.Context, r *DeltaReport) (DeltaTasks, error) {
	in, err := e.compared(ctx, r.Before, r.After, r.Scorer)
	if err != nil {
		return DeltaTasks{}, err
	}
	in.AllTasks = r.Scope == delta.ScopeAllTasks
	if r.Trained == 0 {
		in.Trained = nil
	}
	return delta.Tasks(in), nil
}

// DeltaAsked is how the recipe that is stored with a run wants it compared; zero where
// the run has none, or that says nothing.
func (e *Engine) DeltaAsked(ctx context.Context, runID string) (DeltaOptions, error) {
	run, err := e.Source.Run(ctx, runID)
	if err != nil || run.RecipeText == "" {
		return DeltaOptions{}, err
	}
	recipe, err := storedRecipe(run)
	if err != nil {
		return DeltaOptions{}, err
	}
	return (&plan{recipe: recipe}).deltaOptions(), nil
}
