package record

import (
	"encoding/json"
	"maps"
	"time"
)

// RunStatus of a run.
type RunStatus string

// Run statuses.
const (
	RunRunning RunStatus = "running"
	RunDone    RunStatus = "done"
	RunStopped RunStatus = "stopped"
	RunFailed  RunStatus = "failed"
)

// StopReason is why a run ended.
type StopReason string

// Why a run ended.
const (
	StoppedComplete     StopReason = "situations_complete"
	StoppedBudget       StopReason = "budget"
	StoppedTokens       StopReason = "tokens"
	StoppedCost         StopReason = "cost"
	StoppedInterrupted  StopReason = "interrupted"
	StoppedAgentFailed  StopReason = "agent_failed"
	StoppedEmptyReplies StopReason = "empty_replies"
	StoppedAuth         StopReason = "auth"
	StoppedWrongAddress StopReason = "wrong_address"
	StoppedStorage      StopReason = "storage"
)

// Status is the run status that a reason to stop leaves behind.
func (r StopReason) Status() RunStatus {
	switch r {
	case StoppedComplete:
		return RunDone
	case StoppedBudget, StoppedTokens, StoppedCost, StoppedInterrupted:
		return RunStopped
	}
	return RunFailed
}

// Mode of a run: it sets the defaults that each use needs.
type Mode string

// Modes.
const (
	ModeEval    Mode = "eval"
	ModeRL      Mode = "rl"
	ModeSFT     Mode = "sft"
	ModeExplore Mode = "explore"
	ModeImport  Mode = "import"
)

// Roles that a run plays in a story.
const (
	RoleMain   = "main"
	RoleBefore = "before"
	RoleAfter  = "after"
	RoleImport = "import"
)

// Warning is something that a number's reader must know, with what to do.
type Warning struct {
	Code string `json:"code"`
	Text string `json:"text"`
	Fix  string `json:"fix,omitempty"`
}

// Run is one run as the store keeps it.
type Run struct {
	ID     string // random; enters no stream
	Name   string // "" where none was given
	Role   string // one of the Role words
	Parent string // the story's first run, "" for that one itself
	// Recipe is the recipe's name, RecipeText its whole text, RecipeDir its folder,
	// Files the text of each file that it names.
	Recipe     string
	RecipeText string
	RecipeHash string
	RecipeDir  string
	Files      map[string]string
	// Overrides are the flags that changed the recipe, as given.
	Overrides map[string]string
	// Config is the configuration as delivered, defaults resolved.
	Config json.RawMessage

	Mode          Mode
	Seed          int64
	Repeats       int
	EvalRuns      int
	PassThreshold float64
	PolicyVersion string
	// SystemPrompt is what the agent was told, Tools what it was shown; nil tools mean
	// each task's own.
	SystemPrompt Text
	Tools        []Tool
	// Program is the agent as the recipe names it, for people.
	Program string
	// FilesHash is the hash of a command agent's files, "" for others.
	FilesHash string
	// Scorer is the scorer version whose judgments are the run's reward, "" where
	// the run has none.
	Scorer  string
	Scorers []Scorer
	// PosedBy is the run whose tasks this one poses, "" for its own.
	PosedBy string

	Status         RunStatus
	StoppedBecause StopReason
	Error          Text // the first error, whole, of a run that failed
	Hollow         bool
	Hidden         bool
	Counts         Counts
	Coverage       *Coverage
	Warnings       []Warning
	StartedAt      time.Time
	FinishedAt     time.Time // zero while it runs
}

// Counts of a run.
type Counts struct {
	Tasks    int           `json:"tasks"`
	HeldOut  int           `json:"held_out"`
	Planned  int           `json:"planned"` // rollouts asked for
	Done     int           `json:"done"`
	Lost     map[Cause]int `json:"lost,omitempty"`
	Graded   int           `json:"graded"`
	Passed   int           `json:"passed"`
	Calls    int           `json:"tool_calls"`
	Excluded int           `json:"excluded,omitempty"` // tasks left out: exported for training
	Dropped  int           `json:"dropped,omitempty"`  // equal tasks, near duplicates
	Spent    Spending      `json:"spent"`
}

// Clone is a copy that shares nothing.
func (c Counts) Clone() Counts {
	c.Lost = maps.Clone(c.Lost)
	return c
}

// LostTotal is the number of lost rollouts of every cause.
func (c Counts) LostTotal() int {
	n := 0
	for _, lost := range c.Lost {
		n += lost
	}
	return n
}

// Coverage of the axes' pairs (or t-tuples): planned by the array, and covered
// by the rollouts that really came back.
type Coverage struct {
	Strength   int      `json:"strength"`
	Rows       int      `json:"rows"`        // of the whole array
	Posed      int      `json:"posed"`       // of its rows
	LowerBound int      `json:"lower_bound"` // rows that no array can do without
	Planned    int      `json:"planned"`
	Covered    int      `json:"covered"`
	Thinned    int      `json:"thinned"` // lost with faults that were not kept
	Missing    []string `json:"missing,omitempty"`
	// Points are the points of the grid that came back, rows of the array or not; Hard
	// of them are of the hard tier.
	Points int `json:"points,omitempty"`
	Hard   int `json:"hard,omitempty"`
}

// SearchState is the search after one batch, as it is committed with it.
type SearchState struct {
	Batch int
	State json.RawMessage
}

// JournalEntry is one line of a run's journal: a batch, an import and what it
// dropped, a regrade.
type JournalEntry struct {
	At     time.Time       `json:"at"`
	Kind   string          `json:"kind"`
	Detail json.RawMessage `json:"detail"`
}
