package engine

import (
	"assay/engine/record"
)

// Event is news of a story on its way. A screen may miss any of them without
// harm: what it shows it reads back from the store. Events that speak of
// something saved are sent after its commit.
type Event interface{ event() }

// Stage is a part of a story.
type Stage string

// Stages of a story, in order.
const (
	StageRun    Stage = "run"
	StageCut    Stage = "cut"
	StageBefore Stage = "before"
	StageAfter  Stage = "after"
	StageDelta  Stage = "delta"
)

// StageStarted says which part of the story begins.
type StageStarted struct{ Stage Stage }

// RunStarted says that a run is on disk and its rollouts begin.
type RunStarted struct{ Run record.Run }

// TasksPosed says that a batch of tasks is on disk.
type TasksPosed struct {
	RunID string
	Batch int
	Posed []record.Posed
}

// RolloutStarted says that a rollout is in flight.
type RolloutStarted struct {
	RunID, RolloutID string
	Task             *record.Task
	Key              record.Key
	HeldOut          bool
}

// StepTaken is a step of a rollout in flight: a tool call with its result, a user
// message, a text.
type StepTaken struct {
	RunID, RolloutID string
	Index            int
	Step             record.Step
}

// TextStreamed is a piece of a reply that is being made.
type TextStreamed struct {
	RunID, RolloutID string
	Delta            record.Delta
}

// RolloutRetried says that an attempt failed and another begins.
type RolloutRetried struct {
	RunID, RolloutID string
	Cause            record.Cause
	Err              error
}

// RolloutReturned says that a rollout is no longer in flight; its row, where it
// has one, is on its way to the disk.
type RolloutReturned struct{ RunID, RolloutID string }

// OutcomesCommitted says that rollouts and their verdicts are on disk.
type OutcomesCommitted struct {
	RunID    string
	Outcomes []record.Outcome
	Counts   record.Counts // of the run, after them
}

// Warned is a warning as it arises.
type Warned struct {
	RunID   string
	Warning record.Warning
}

// RunFinished says that a run has ended, in any way, and is on disk so.
type RunFinished struct{ Run record.Run }

// CutFinished says what came of one training file.
type CutFinished struct{ Cut CutResult }

// DeltaFinished carries the report of before and after.
type DeltaFinished struct {
	Before, After string
	Report        DeltaReport
}

func (StageStarted) event()      {}
func (RunStarted) event()        {}
func (TasksPosed) event()        {}
func (RolloutStarted) event()    {}
func (StepTaken) event()         {}
func (TextStreamed) event()      {}
func (RolloutRetried) event()    {}
func (RolloutReturned) event()   {}
func (OutcomesCommitted) event() {}
func (Warned) event()            {}
func (RunFinished) event()       {}
func (CutFinished) event()       {}
func (DeltaFinished) event()     {}
