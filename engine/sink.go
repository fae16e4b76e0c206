package engine

import (
	"context"
	"iter"

	"assay/engine/cut"
	"assay/engine/delta"
	"assay/engine/record"
)

// DeltaReport is the report of step 08.
type DeltaReport = delta.Report

// CutGate is one test that rows of a training file had to pass.
type CutGate = cut.Gate

// PassReport is pass@1, pass^k and pass@k of one run.
type PassReport = delta.PassReport

// Sink is where a story is kept. Each method returns when what it was given is
// on disk, and is safe for concurrent use.
type Sink interface {
	// CreateRun adds a run and takes its lock for this process.
	CreateRun(context.Context, *record.Run) error
	// ReopenRun takes the lock of an interrupted run and marks it running. A lock
	// that is held by a living process is refused with who holds it.
	ReopenRun(ctx context.Context, runID string) error
	// UpdateRun saves a run's status, counts, coverage, warnings and scorers;
	// a run that is no longer running gives up its lock.
	UpdateRun(context.Context, *record.Run) error
	// SaveCounts saves how far a running run has come.
	SaveCounts(ctx context.Context, runID string, counts record.Counts) error
	CommitTasks(ctx context.Context, runID string, posed []record.Posed) error
	// CommitOutcomes saves finished rollouts with their verdicts. A lost rollout of
	// the same key is replaced; a done one never is.
	CommitOutcomes(ctx context.Context, runID string, outcomes []record.Outcome) error
	CommitSearch(ctx context.Context, runID string, state record.SearchState) error
	// CommitGrades appends judgments and markers to rollouts that are there.
	CommitGrades(ctx context.Context, runID string, scorers []record.Scorer, judgments []record.Judgment, markers []record.Marker) error
	// SetRunScorer makes a scorer version the run's reward.
	SetRunScorer(ctx context.Context, runID, scorer string) error
	SaveReport(context.Context, record.SavedReport) error
}

// Source reads back what is committed.
type Source interface {
	Run(ctx context.Context, runID string) (*record.Run, error)
	// Children are the runs whose parent is runID, oldest first.
	Children(ctx context.Context, runID string) ([]*record.Run, error)
	// Posed is a run's tasks in their order, tools included.
	Posed(ctx context.Context, runID string) ([]record.Posed, error)
	// Samples yields a run's rollouts ordered by (eval_run, task_id, k). The sample's
	// judgment is that of the asked scorer version, its markers the latest of each
	// name under the scorer versions that the run uses.
	Samples(ctx context.Context, runID string, q record.SampleQuery) iter.Seq2[*record.Sample, error]
	// CompleteScorers are the scorer versions under which every done rollout of the
	// run has its judgment, of any status.
	CompleteScorers(ctx context.Context, runID string) ([]string, error)
	TaskRates(ctx context.Context, runID string) ([]record.TaskRate, error)
	// SearchStates are the committed states of a run's search, in batch order.
	SearchStates(ctx context.Context, runID string) ([]record.SearchState, error)
	// Trained is which of the tasks went into a training file before now; nil tasks
	// ask for all that did.
	Trained(ctx context.Context, taskIDs []string) (map[string]bool, error)
	// Reports are the saved reports of a story, oldest first.
	Reports(ctx context.Context, runID, kind string) ([]record.SavedReport, error)
	// Exports are the training files that were written from a run.
	Exports(ctx context.Context, runID string) ([]record.ExportRecord, error)
}

// Exporter writes one training file whole or not at all, and remembers the tasks
// that went into it.
type Exporter interface {
	Export(ctx context.Context, t *record.Training, format, file string) error
}
