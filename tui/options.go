package tui

import (
	"context"
	"encoding/json"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/engine/stats"
	"assay/store"
	"assay/tui/cut"
	"assay/tui/delta"
	"assay/tui/explore"
	"assay/tui/judge"
	"assay/tui/label"
	"assay/tui/live"
	"assay/tui/runs"
)

// Store is what the frame and the screens read and write of the store; [store.DB]
// has it.
type Store interface {
	Find(ctx context.Context, text string, limit int) ([]store.Found, error)
	Places(ctx context.Context) (map[string]json.RawMessage, error)
	SavePlaces(ctx context.Context, places map[string]json.RawMessage) error
	AddReveal(ctx context.Context, annotator, what string, rolloutIDs ...string) error
	RolloutsOfTasks(ctx context.Context, runID string, taskIDs []string) ([]string, error)
	runs.Store
	live.Store
	explore.Store
	label.Store
	judge.Store
	delta.Store
	cut.Store
}

// Engine is what the screens ask of the engine beside stories; [engine.Engine] has it.
type Engine interface {
	explore.Engine
	label.Engine
	judge.Engine
	delta.Engine
	cut.Engine
}

// Story is a story that runs in this process. Its methods do not block.
type Story interface {
	Stop() // drains: what is in flight finishes; again, aborts
	Abort()
	SetPaused(bool)
	Paused() bool
	SetConcurrency(int)
	Concurrency() int
	StopRollout(rolloutID string)
	// Done is closed when the story has ended and all of it is on disk; Err is then
	// why it could not be done, nil where it could.
	Done() <-chan struct{}
	Err() error
}

// Recipe is one that the first screen offers, Knob something of it that can be set,
// and Begin what was asked for.
type (
	Recipe = runs.Recipe
	Knob   = runs.Knob
	Begin  = runs.StartMsg
)

// Options of the app. Store, Start, Resume and Now are needed.
type Options struct {
	Store Store
	// Start begins the story of a recipe and Resume goes on with that of a run. They
	// are called away from the loop and may take their time; observe hears the
	// story's events, from any goroutine, and never blocks.
	Start  func(what Begin, observe func(engine.Event)) (Story, error)
	Resume func(runID string, observe func(engine.Event)) (Story, error)
	// Pass is the pass rate of a run with its interval; heldOut says that it is over
	// held-out tasks alone. nil shows none.
	Pass    func(ctx context.Context, runID string) (e stats.Estimate, heldOut bool, err error)
	Recipes []Recipe
	// Engine compares runs and cuts training files; nil leaves Delta and Cut out.
	Engine Engine
	// Knobs are what can be set of a recipe before it runs; nil offers no form.
	Knobs func(recipe string) ([]Knob, error)
	// Open is a run to open at the start, Begin a recipe to run then and Continue a
	// run to resume; at most one is set, none opens the list of runs.
	Open, Begin, Continue string
	// Screen is the number of the one that Open is opened on, 0 for Live, and Queue the
	// labelling queue that Label opens there.
	Screen  int
	Queue   engine.QueueOptions
	Version string
	// Annotator is who sits here, as labels name them: what they were shown of a
	// verdict is noted under it. "" notes nothing.
	Annotator string
	// Theme is a name that ui.ThemeNamed knows; "" chooses by the terminal's
	// background and NO_COLOR.
	Theme string
	// Environ is the environment as os.Environ gives it.
	Environ []string
	Now     func() time.Time
	// Dir is the folder that reports and training files are written into.
	Dir string
	// Edit has a person edit a file, and is told how that ended; nil runs $VISUAL or
	// $EDITOR of Environ in the terminal.
	Edit func(file string, done func(error) tea.Msg) tea.Cmd
	// CrashDir is where a report is written after a panic.
	CrashDir string
	// Input and Output are the terminal; nil is standard input and output.
	Input  io.Reader
	Output io.Writer
}
