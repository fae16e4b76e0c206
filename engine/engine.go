package engine

import (
	"time"

	"assay/engine/model"
	"assay/engine/record"
	"assay/engine/rollout"
)

// Engine is what stories run with. Fill it once; it is safe for concurrent use
// as long as its parts are.
type Engine struct {
	Sink     Sink
	Source   Source
	Exporter Exporter
	// Observe hears events, from many goroutines; it must not block. nil hears
	// nothing.
	Observe func(Event)
	Now     func() time.Time
	// NewRunID makes the id of a run: random, unique, never a seed of anything.
	NewRunID func() string
	// Environ is the environment that commands are given their allowed names from,
	// as os.Environ gives it.
	Environ []string
	// Masker takes the values of known keys out of what is told and kept; it learns
	// those that a recipe hands to its programs. nil masks nothing.
	Masker *record.Masker
	// Cache keeps answers of models whose recipe asks for that; nil keeps none.
	Cache model.Cache
	// Functions are the Go agents that a recipe's agent.function may name.
	Functions map[string]rollout.Agent
}

func (e *Engine) tell(ev Event) {
	if e.Observe != nil {
		e.Observe(e.masked(ev))
	}
}

// Options of a story that are not knobs of the recipe.
type Options struct {
	// Name of the story's first run; "" for none.
	Name string
	// Out is the folder for training files.
	Out string
	// Tasks is the id of a run whose tasks are posed instead of new ones.
	Tasks     string
	Overrides Overrides
}

// StoryResult is what came of a story; its JSON is what run and resume print.
// Counts are those of the first run.
type StoryResult struct {
	Run            string               `json:"run"`
	Name           string               `json:"name"`
	Tasks          int                  `json:"tasks"`
	Rollouts       int                  `json:"rollouts"`
	Lost           map[record.Cause]int `json:"lost"`
	StoppedBecause record.StopReason    `json:"stopped_because"`
	Hollow         bool                 `json:"hollow"`
	Seconds        float64              `json:"seconds"`
	Warnings       []record.Warning     `json:"warnings"`
	// Pass is the first run's pass report on held-out tasks, nil where it has none.
	Pass   *PassReport  `json:"pass"`
	Before *string      `json:"before"`
	After  *string      `json:"after"`
	Cut    []CutResult  `json:"cut"`
	Delta  *DeltaReport `json:"delta"`
	// Error is the first error, whole, of a run that failed.
	Error record.Text `json:"first_error,omitempty"`
}

// CutResult is what came of one training file; its JSON is what cut prints.
type CutResult struct {
	For      string           `json:"for"`
	Format   string           `json:"format"`
	RowsIn   int              `json:"rows_in"`
	RowsOut  int              `json:"rows_out"`
	Gates    []CutGate        `json:"gates"`
	File     string           `json:"file"`
	Error    *string          `json:"error"`
	Warnings []record.Warning `json:"warnings"`
}
