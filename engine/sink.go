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
	// SaveProgress saves how far a running run has come; a nil coverage is left as
	// it is.
	SaveProgress(ctx context.Context, runID string, counts record.Counts, coverage *record.Coverage) error
	CommitTasks(ctx context.Context, runID string, posed []record.Posed) error
	// CommitOutcomes saves finished rollouts with their verdicts. A lost rollout of
	// the same key is replaced; a done one never is.
	CommitOutcomes(ctx context.Context, runID string, outcomes []record.Outcome) error
	CommitSearch(ctx context.Context, runID string, state record.SearchState) error
	// CommitGrades appends judgments and markers to rollouts that are there.
	CommitGrades(ctx context.Context, runID string, scorers []record.Scorer, judgments []record.Judgment, markers []record.Marker) error
	// FinishGrades is CommitGrades of a regrade's last group, of none too: in the same
	// transaction the scorer version becomes the run's reward where every done rollout
	// has its judgment of it, of any status. It says how far that is.
	FinishGrades(ctx context.Context, runID, scorer string, scorers []record.Scorer, judgments []record.Judgment, markers []record.Marker) (record.Standing, error)
	// SaveQueue keeps a labelling queue whole; one of that name is refused.
	SaveQueue(ctx context.Context, runID, queue string, items []record.QueueItem) error
	// SaveRubric keeps one version of a rubric; one that is there stays as it is.
	SaveRubric(context.Context, record.Rubric) error
	// CountOtherLook counts a look of a rubric's judge at the half of gold that rubrics
	// are not tuned on, and gives how many there have been.
	CountOtherLook(ctx context.Context, rubricHash string) (int, error)
	SaveReport(context.Context, record.SavedReport) error
	// AppendJournal adds a line to a run's journal.
	AppendJournal(ctx context.Context, runID string, entry record.JournalEntry) error
}

// Source reads back what is committed.
type Source interface {
	Run(ctx context.Context, runID string) (*record.Run, error)
	// Resolve is the id of the run that is named by its id, its name, a unique prefix
	// of its id, or last.
	Resolve(ctx context.Context, name string) (string, error)
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
	// Standings say how far each scorer version has come with the run's done rollouts,
	// the run's own first.
	Standings(ctx context.Context, runID string) ([]record.Standing, error)
	TaskRates(ctx context.Context, runID string) ([]record.TaskRate, error)
	// Labels are all acts of labelling on the run's rollouts, in their order.
	Labels(ctx context.Context, runID string) ([]record.Label, error)
	// Candidates are the run's done rollouts as drawing a queue needs them.
	Candidates(ctx context.Context, runID string) ([]record.Candidate, error)
	// Queues are the run's labelling queues, oldest first; QueueItems what is in them.
	Queues(ctx context.Context, runID string) ([]record.QueueHead, error)
	QueueItems(ctx context.Context, runID string) ([]record.QueueItem, error)
	// Reveals are what annotators were shown of the run's rollouts.
	Reveals(ctx context.Context, runID string) ([]record.Reveal, error)
	// Journal is a run's journal, oldest first.
	Journal(ctx context.Context, runID string) ([]record.JournalEntry, error)
	// Rubrics are the versions of the rubric of a name, of all where it is "", oldest
	// first.
	Rubrics(ctx context.Context, name string) ([]record.Rubric, error)
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
