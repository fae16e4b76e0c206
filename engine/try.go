package engine

import (
	"context"

	"assay/engine/grade"
	"assay/engine/record"
)

// TryReport is what a marker's expression would say of a run.
type TryReport struct {
	Run string `json:"run"`
	grade.Trial
}

// TryMarker evaluates a marker's expression on a run's done rollouts and saves
// nothing. An expression that does not compile is an error with its column.
func (e *Engine) TryMarker(ctx context.Context, runID, expression string) (*TryReport, error) {
	run, err := e.Source.Run(ctx, runID)
	if err != nil {
		return nil, err
	}
	cases := func(yield func(grade.Case, error) bool) {
		for s, err := range e.Source.Samples(ctx, runID, record.SampleQuery{}) {
			if err != nil {
				yield(grade.Case{}, err)
				return
			}
			if !yield(grade.Case{Task: s.Task, Rollout: &s.Rollout, SystemPrompt: run.SystemPrompt, Tools: run.Tools}, nil) {
				return
			}
		}
	}
	trial, err := grade.Try(expression, cases)
	if err != nil {
		return nil, &record.Problem{Code: "bad_marker", Message: err.Error(), Where: "--try", Fix: "mend the expression", Err: err}
	}
	return &TryReport{Run: runID, Trial: trial}, nil
}
