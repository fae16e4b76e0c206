package live

import (
	"time"

	"assay/engine/record"
)

// Part is a part of a story, in the engine's words for its stages.
type Part string

// Parts of a story, in order.
const (
	PartRun    Part = "run"
	PartCut    Part = "cut"
	PartBefore Part = "before"
	PartAfter  Part = "after"
	PartDelta  Part = "delta"
)

// Parts lists the parts in their order.
func Parts() []Part { return []Part{PartRun, PartCut, PartBefore, PartAfter, PartDelta} }

// News is what became of a story since the last news, drawn together so that a
// frame hears one thing however much happened. What it holds is shared and must
// not be written to.
type News struct {
	At   time.Time
	Part Part // the part under way, "" where none has begun
	// Flights are the rollouts that are not on disk yet, in the order in which they
	// began.
	Flights []Flight
	// Runs are runs that began or ended since, in their latest state.
	Runs map[string]record.Run
	// Counts are the latest counts of runs that something was committed to since.
	Counts map[string]record.Counts
	// Posed counts tasks by run, batch and arm, for batches posed since.
	Posed map[string]map[int]map[string]int
	// Retried counts the attempts that failed, by cause, since the story began.
	Retried map[record.Cause]int
	// Warnings that arose since.
	Warnings []record.Warning
	// Cuts that were made since.
	Cuts []Cut
	// Reported says that a delta report was saved since.
	Reported bool
}

// Flight is one rollout in flight, or back and on its way to the disk.
type Flight struct {
	RunID, ID string
	Task      *record.Task
	Key       record.Key
	HeldOut   bool
	Began     time.Time
	Steps     []record.Step // so far
	Stream    record.Text   // the end of what is being said
	Said      int           // bytes of all of that
	Retries   int
	Returned  bool // it is back: no longer in flight
}

// Cut is what came of one training file.
type Cut struct {
	For, Format     string
	RowsIn, RowsOut int // RowsIn is 0 where it is not known any more
	File            string
	Error           string
	Gates           []Gate
	Warnings        []record.Warning
}

// Gate is one test that rows had to pass.
type Gate struct {
	Name    string
	In, Out int
}
