package runs

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"assay/engine/record"
	"assay/engine/stats"
	"assay/tui/ui"
)

// Store is what the screen reads and the one thing that it writes.
type Store interface {
	Runs(ctx context.Context, includeHidden bool) ([]*record.Run, error)
	Hide(ctx context.Context, runID string, hidden bool) error
}

// PassOf is the pass rate of a run with its interval; heldOut says that it is
// over held-out tasks alone.
type PassOf func(ctx context.Context, runID string) (e stats.Estimate, heldOut bool, err error)

// Recipe is one that a person can run.
type Recipe struct {
	Name  string // what Start is given
	About string // one line
	// Lacks is what this machine has not got for it, "" where it can run.
	Lacks string
}

// Knob is one thing of a recipe that can be set before it runs.
type Knob struct {
	Name    string // as the recipe's flags call it
	About   string
	Default string // what the recipe says, "" for nothing
}

// Options of the screen.
type Options struct {
	Store   Store
	Pass    PassOf
	Recipes []Recipe
	// Knobs are those of a recipe; nil offers no form. It is called away from the loop.
	Knobs func(recipe string) ([]Knob, error)
	// Compare says that there is a screen that compares two runs.
	Compare bool
	Now     func() time.Time
	Theme   ui.Theme
}

// OpenMsg asks for a run to be shown.
type OpenMsg struct{ RunID string }

// StartMsg asks for a recipe to be run, with a name and knobs of one's own.
type StartMsg struct {
	Recipe string
	Name   string            // of the run, "" for none
	Knobs  map[string]string // those that were set
}

// ResumeMsg asks for a run to go on.
type ResumeMsg struct{ RunID string }

// mode is what the screen lists.
type mode int

const (
	listRuns mode = iota
	listRecipes
	fillForm
)

type estimate struct {
	e       stats.Estimate
	heldOut bool
	err     error
}

// Model is the screen.
type Model struct {
	ctx   context.Context
	opts  Options
	theme ui.Theme

	mode    mode
	runs    []*record.Run
	read    bool // the list was read once
	err     error
	pass    map[string]estimate
	working string          // the run whose pass rate is being read
	active  map[string]bool // runs that are on their way here
	hidden  []string        // what was hidden, for undo, the last at the end
	marked  []string        // runs to compare, in the order in which they were marked
	want    string          // the run that the cursor is to be on when it is read
	find    find
	form    form
	now     time.Time
	version uint64

	runList, recipeList ui.List
	recipes             recipeRows
	height              int
	gen                 int
	reading, again      bool
}

// New is the screen; Init reads its list.
func New(ctx context.Context, o Options) *Model {
	m := &Model{ctx: ctx, opts: o, theme: o.Theme, pass: map[string]estimate{}, active: map[string]bool{}, now: o.Now()}
	m.recipes = recipeRows{m}
	return m
}

// Init reads the list.
func (m *Model) Init() tea.Cmd { return m.Refresh() }

// Enter reads the list again.
func (m *Model) Enter(ui.Visit) tea.Cmd { return m.Refresh() }

// Run is the run under the cursor.
func (m *Model) Run() string {
	if r := m.underCursor(); r != nil {
		return r.ID
	}
	return ""
}

// Refresh reads the list again.
func (m *Model) Refresh() tea.Cmd {
	m.now = m.opts.Now()
	if m.reading {
		m.again = true
		return nil
	}
	m.reading = true
	ctx, store, gen := m.ctx, m.opts.Store, m.gen
	return func() tea.Msg {
		runs, err := store.Runs(ctx, false)
		return readMsg{gen, runs, err}
	}
}

type readMsg struct {
	gen  int
	runs []*record.Run
	err  error
}

type passMsg struct {
	runID string
	estimate
}

type hiddenMsg struct {
	runID  string
	hidden bool
	err    error
}

// SetActive says which runs are on their way in this program.
func (m *Model) SetActive(ids map[string]bool) {
	m.active = ids
	if len(ids) > 0 {
		m.mode, m.form = listRuns, form{} // the choice was made
	}
	m.version++
}

// Changed says that a run was begun, went on or ended: what was read of it is
// outdated.
func (m *Model) Changed(runID string) tea.Cmd {
	delete(m.pass, runID)
	return m.Refresh()
}

// Update takes a message.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case readMsg:
		return m.listRead(msg)
	case passMsg:
		m.working = ""
		m.pass[msg.runID] = msg.estimate
		m.version++
		return m.readPass()
	case hiddenMsg:
		return m.wasHidden(msg)
	case knobsMsg:
		return m.knobsRead(msg)
	case tea.PasteMsg:
		return m.pasted(msg.Content)
	case tea.WindowSizeMsg:
		m.height = max(msg.Height-frameRows-topRows, 1)
		return m.readPass()
	case tea.MouseWheelMsg:
		return m.wheel(msg)
	case tea.MouseClickMsg:
		return m.click(msg)
	}
	return nil
}

func (m *Model) listRead(msg readMsg) tea.Cmd {
	m.reading = false
	m.version++
	if msg.err != nil {
		m.err = msg.err
		return nil
	}
	m.err = nil
	under := m.underCursor()
	m.runs = byStory(msg.runs)
	if !m.read && len(m.runs) == 0 {
		m.mode = listRecipes
	}
	m.read = true
	if under != nil {
		m.want = under.ID
	}
	m.toWanted()
	if m.again {
		m.again = false
		return m.Refresh()
	}
	return m.readPass()
}

// toWanted puts the cursor on the run that it is to be on, if that is there.
func (m *Model) toWanted() {
	for i, r := range m.runs {
		if r.ID == m.want {
			m.runList.Set(i, len(m.runs))
		}
	}
	m.want = ""
}

// byStory puts the runs of a story together: stories newest first as they come,
// in each the first run and then what belongs to it, oldest first.
func byStory(runs []*record.Run) []*record.Run {
	children := map[string][]*record.Run{}
	known := map[string]bool{}
	for _, r := range runs {
		known[r.ID] = true
	}
	for _, r := range slices.Backward(runs) {
		if r.Parent != "" {
			children[r.Parent] = append(children[r.Parent], r)
		}
	}
	out := make([]*record.Run, 0, len(runs))
	for _, r := range runs {
		if r.Parent == "" || !known[r.Parent] {
			out = append(append(out, r), children[r.ID]...)
		}
	}
	return out
}

// readPass reads the pass rate of the first run in sight that it is not known of.
func (m *Model) readPass() tea.Cmd {
	if m.opts.Pass == nil || m.working != "" || len(m.runs) == 0 || m.height == 0 {
		return nil
	}
	from, to := m.runList.Window(len(m.runs), m.height)
	for _, r := range m.runs[from:to] {
		if _, known := m.pass[r.ID]; known || r.Counts.Graded == 0 {
			continue
		}
		m.working = r.ID
		ctx, of, id := m.ctx, m.opts.Pass, r.ID
		return func() tea.Msg {
			e, heldOut, err := of(ctx, id)
			return passMsg{id, estimate{e, heldOut, err}}
		}
	}
	return nil
}

func (m *Model) wasHidden(msg hiddenMsg) tea.Cmd {
	if msg.err != nil {
		return tea.Batch(ui.Failed(msg.err), m.Refresh())
	}
	if !msg.hidden {
		return tea.Batch(ui.Toast("Run "+msg.runID+" is back"), m.Refresh())
	}
	m.hidden = append(m.hidden, msg.runID)
	return tea.Batch(ui.Toast("Run "+msg.runID+" hidden; u brings it back"), m.Refresh())
}

func (m *Model) hide(runID string, hidden bool) tea.Cmd {
	ctx, store := m.ctx, m.opts.Store
	return func() tea.Msg { return hiddenMsg{runID, hidden, store.Hide(ctx, runID, hidden)} }
}

// underCursor is the run under the cursor, nil where there is none.
func (m *Model) underCursor() *record.Run {
	if m.mode != listRuns || len(m.runs) == 0 {
		return nil
	}
	return m.runs[min(m.runList.Cursor(), len(m.runs)-1)]
}

// Restyle changes the theme.
func (m *Model) Restyle(t ui.Theme) {
	m.theme = t
	m.runList.Forget()
	m.recipeList.Forget()
}

// Where says what the screen shows, for the line at the top.
func (m *Model) Where() string { return "" }

// Status is how things stand, for the line at the top.
func (m *Model) Status() []ui.Span {
	if !m.read {
		return nil
	}
	spans := []ui.Span{ui.S(m.theme.Quiet, ui.Plural(len(m.runs), "run"))}
	if n := len(m.marked); n > 0 {
		spans = append([]ui.Span{ui.S(m.theme.Accent, fmt.Sprintf("● %d marked   ", n))}, spans...)
	}
	return spans
}
