package ui

import (
	"encoding/json"

	tea "charm.land/bubbletea/v2"
)

// Numbers of the screens, by the key that goes there.
const (
	ScreenRuns = 1 + iota
	ScreenLive
	ScreenExplore
	ScreenLabel
	ScreenJudge
	ScreenDelta
	ScreenCut
)

// Screens is how many screens there are places for.
const Screens = ScreenCut

// Screen is one of the app's screens. Its methods are called from the goroutine
// that runs the Bubble Tea loop and do no input or output: what takes time is a
// command, and its answer comes back through Update, also while another screen is
// in front. Update hears what every screen asked for, so answers say whose they
// are and of which generation.
type Screen interface {
	Update(tea.Msg) tea.Cmd
	// Do does one of the screen's actions, by ID.
	Do(id string) tea.Cmd
	// Actions are what can be done now.
	Actions() []Action
	// View draws exactly height lines of exactly width cells.
	View(width, height int) []string
	Restyle(Theme)
	// Where is what the screen shows, without its own name, for the line at the top,
	// and Status how that stands.
	Where() string
	Status() []Span
	// Enter is called when the screen comes to the front. A visit to what is shown
	// already keeps the place.
	Enter(Visit) tea.Cmd
	// Run is the run that is shown or under the cursor, "" for none. It goes along to
	// the next screen.
	Run() string
}

// Visit says what a screen is to show. What is empty is left to the screen, but
// the run is filled in with that of the screen one comes from.
type Visit struct {
	Run           string
	Before, After string   // two runs to compare
	Rollout       string   // to put the cursor on
	Rollouts      []string // to work on: a selection
	Filter        string
}

// GoMsg asks for another screen.
type GoMsg struct {
	Screen int
	Visit
}

// Go goes to another screen.
func Go(screen int, v Visit) tea.Cmd {
	return func() tea.Msg { return GoMsg{screen, v} }
}

// ChangedMsg says that something of runs was committed, by the story that runs
// here: what was read of them is outdated. It comes at most once a second.
type ChangedMsg struct{ Runs map[string]bool }

// Typist is a screen with a text field. While Typing is true, every key goes to
// Type but Ctrl-C, Ctrl-P, Ctrl-L and F1 to F7; what is pasted comes as a
// [tea.PasteMsg] to Update.
type Typist interface {
	Typing() bool
	Type(tea.KeyPressMsg) tea.Cmd
}

// Writer is a screen that writes files: the program does not end while one is being
// written. Writing names what is, "" for nothing.
type Writer interface{ Writing() string }

// Keeper is a screen whose place is kept from one day to the next. Keep is plain
// data for JSON, small and cheap to make; it is asked for after keys, not at each.
// Restore is given what Keep gave, before the first Enter; what it cannot read it
// leaves out.
type Keeper interface {
	Keep() any
	Restore(json.RawMessage) tea.Cmd
}

// DigitTaker is a screen on which 1 to 7 are not the other screens: F1 to F7 are.
type DigitTaker interface{ TakesDigits() bool }

// Seen is what a person was shown the verdicts of: rollouts, and of tasks of a run
// all of them.
type Seen struct {
	Rollouts []string
	Run      string
	Tasks    []string
}

// Seer is a screen that shows verdicts. A label that is given after its rollout's
// verdict was seen is not blind, so Seen says what was on the screen since it was
// last asked.
type Seer interface{ Seen() Seen }
