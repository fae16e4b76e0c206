package record

import "encoding/json"

// SampleQuery says which samples of a run to read.
type SampleQuery struct {
	// Scorer is the scorer version whose judgments to read; "" is the run's own.
	Scorer string
	// HeldOut keeps only held-out tasks (true) or only the others (false).
	HeldOut *bool
	// Statuses keeps only these; none means done.
	Statuses []Status
	// Rollouts keeps only these, by id; nil keeps all.
	Rollouts []string
	// Where keeps only what a filter line keeps, in the words of the store's
	// ParseFilter; "" keeps all.
	Where string
	// Brief asks for verdicts and final texts only: a sample may come without its steps,
	// log-probabilities, extra values and markers, and with nothing of its task but the id.
	Brief bool
}

// SavedReport is one delta, trust or cut report as it was shown.
type SavedReport struct {
	Kind          string // delta, trust or cut
	RunID         string // the story's first run
	Before, After string
	Report        json.RawMessage
}

// ExportRecord is one training file that was written whole.
type ExportRecord struct {
	RunID, For, Format, File string
	Rows                     int
	TaskIDs                  []string // the tasks that went into it
}
