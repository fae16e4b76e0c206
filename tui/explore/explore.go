package explore

import (
	"context"
	"maps"
	"slices"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/engine/record"
	"assay/store"
	"assay/tui/ui"
)

// Store is what the screen reads.
type Store interface {
	Run(ctx context.Context, runID string) (*record.Run, error)
	FindRows(ctx context.Context, runID string, q store.RowQuery) ([]store.Row, error)
	HeadsAt(ctx context.Context, rows []store.Row) ([]store.RolloutHead, error)
	RolloutIDs(ctx context.Context, rows []store.Row) ([]string, error)
	TaskRows(ctx context.Context, runID string, q store.RowQuery) ([]store.TaskRow, error)
	TaskHeads(ctx context.Context, runID string, taskIDs []string) ([]store.RolloutHead, error)
	TallyBy(ctx context.Context, runID string, f store.Filter, names ...string) ([]store.Tally, error)
	Siblings(ctx context.Context, rolloutID string) ([]store.RolloutHead, error)
	FieldValues(ctx context.Context, runID, name string) ([]store.Value, error)
	Sample(ctx context.Context, rolloutID string) (*record.Sample, error)
	Corrections(ctx context.Context, runID string) ([]record.Correction, error)
	AddCorrection(ctx context.Context, c record.Correction) (no int64, err error)
	Query(ctx context.Context, query string, limit int) (store.Table, error)
}

// Engine is what the screen asks of the engine; [engine.Engine] has it.
type Engine interface {
	// Replay asks the world of a rollout its calls again.
	Replay(ctx context.Context, s *record.Sample, o engine.ReplayOptions) (*engine.ReplayReport, error)
}

// Options of the screen.
type Options struct {
	Store Store
	Theme ui.Theme
	// Engine replays rollouts; nil offers none.
	Engine Engine
	// Annotator is who sits here, "" where nobody is named: causes are corrected under
	// that name.
	Annotator string
	// Label says that there is a Label screen to send a selection to.
	Label bool
}

// view is how the rollouts are looked at.
type view int

const (
	viewRollouts view = iota
	viewTasks
	viewGroups
	viewMap
	views
)

func (v view) String() string {
	return [...]string{"rollouts", "tasks", "groups", "map"}[v]
}

// pane is where the cursor is.
type pane int

const (
	paneList pane = iota
	paneDetail
)

// Model is the screen.
type Model struct {
	ctx   context.Context
	opts  Options
	theme ui.Theme
	epoch int    // of the run that is open, for answers
	gen   uint64 // of what is drawn, for caches

	runID string
	run   *record.Run
	err   error

	view    view
	filter  store.Filter
	past    []place // where Esc leads back to, the last at the end
	sort    string
	falling bool // the sort is descending
	focus   pane

	scan    scan
	rows    []store.Row
	whole   bool // rows are all there are
	tasks   []store.TaskRow
	groups  []store.Tally
	by      int  // index into GroupFields
	byAsked bool // it was chosen by hand
	grid    grid
	heads   [views]pages
	chosen  map[store.Row]bool
	lists   [views]ui.List
	started map[view]bool // what was read since the filter changed

	edit   edit
	detail detail
	pair   siblings
	replay replay
	sql    sqlPane

	suspects suspects
	causing  causing
	causes   map[string]record.Correction // by rollout, those put by hand
	undoable []corrected

	goal int   // the row that the cursor is to be on when it is read, -1 where it is
	top  int   // and the first row that is to be seen, -1 for any
	back *kept // to be restored when the run is read

	width, height, first int // of the list when last drawn, and the line where it begins
	seen, tasked         map[string]bool
}

// place is a view with its filter, to come back to.
type place struct {
	view   view
	filter store.Filter
	cursor int
	top    int
}

// New is a screen without a run; Enter gives it one.
func New(ctx context.Context, o Options) *Model {
	m := &Model{ctx: ctx, opts: o, theme: o.Theme, seen: map[string]bool{}, tasked: map[string]bool{}}
	m.clear()
	return m
}

// clear forgets the run.
func (m *Model) clear() {
	m.epoch++
	m.scan.stop()
	m.run, m.err = nil, nil
	m.rows, m.whole, m.tasks, m.groups = nil, false, nil, nil
	m.filter, m.past, m.sort, m.falling = store.Filter{}, nil, "", false
	m.view, m.focus = viewRollouts, paneList
	m.heads = [views]pages{}
	m.chosen = map[store.Row]bool{}
	m.lists = [views]ui.List{}
	m.started = map[view]bool{}
	if !m.byAsked {
		m.by = 0
	}
	m.grid = newGrid()
	m.edit, m.pair, m.replay = edit{}, siblings{}, replay{}
	m.suspects, m.causing, m.causes, m.undoable = suspects{}, causing{}, map[string]record.Correction{}, nil
	m.sql.on, m.sql.typing = false, false
	m.sql.ask.stop()
	m.detail = detail{}
	m.goal, m.top, m.back = 0, -1, nil
}

// Enter shows a run, with a filter where the visit names one, or at a rollout.
func (m *Model) Enter(v ui.Visit) tea.Cmd {
	var cmds []tea.Cmd
	switch {
	case v.Run != "" && v.Run != m.runID:
		m.clear()
		m.runID = v.Run
		cmds = append(cmds, m.readRun(), m.readCorrections(), m.look())
	case m.runID != "":
		cmds = append(cmds, m.readRun(), m.readCorrections(), m.look())
	}
	if v.Filter != "" {
		cmds = append(cmds, m.filterBy(v.Filter, viewRollouts))
	}
	if v.Rollout != "" {
		m.pair.on, m.replay.on, m.sql.on = false, false, false
		cmds = append(cmds, m.filterBy("rollout_id="+store.Quote(v.Rollout), viewRollouts))
	}
	return tea.Batch(cmds...)
}

// Run is the run that is shown.
func (m *Model) Run() string { return m.runID }

// look reads what the view shows, where that is not read yet.
func (m *Model) look() tea.Cmd {
	if m.runID == "" || m.started[m.view] {
		return m.follow()
	}
	m.started[m.view] = true
	return m.readView()
}

// anew reads the view from its beginning, or with a cursor to go to: the filter
// changed, or the sort.
func (m *Model) anew(cursor int) tea.Cmd {
	m.goal, m.top = cursor, -1
	return m.again()
}

// again reads the view as it stands now; the cursor stays where it is.
func (m *Model) again() tea.Cmd {
	m.started = map[view]bool{m.view: true}
	return m.readView()
}

// Update takes a message.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case answer:
		if msg.epoch == m.epoch {
			return m.answered(msg.msg)
		}
	case ui.ChangedMsg:
		if msg.Runs[m.runID] {
			return tea.Batch(m.readRun(), m.again())
		}
	case tea.PasteMsg:
		if m.Typing() {
			return m.pasted(msg.Content)
		}
	case tea.MouseWheelMsg:
		return m.wheel(msg)
	case tea.MouseClickMsg:
		return m.click(msg)
	}
	return nil
}

// threshold is the reward from which on a rollout passes.
func (m *Model) threshold() float64 {
	if m.run != nil && m.run.PassThreshold > 0 {
		return m.run.PassThreshold
	}
	return 1
}

// Restyle changes the theme.
func (m *Model) Restyle(t ui.Theme) {
	m.theme = t
	m.gen++
	for i := range m.lists {
		m.lists[i].Forget()
	}
	m.detail.play.Forget()
	if m.detail.doc != nil {
		m.detail.doc.Restyle(t)
	}
	m.replay.scroll.Forget()
	if m.replay.shown != nil {
		m.replay.shown.Restyle(t)
	}
	m.suspects.list.Forget()
	m.sql.list.Forget()
	m.pair.scroll.Forget()
	if m.pair.shown != nil {
		m.pair.shown.Restyle(t)
	}
}

// Where says which run is looked at.
func (m *Model) Where() string {
	if m.run == nil {
		return ""
	}
	name := m.run.Name
	if name == "" {
		name = m.run.ID
	}
	return ui.CleanLine(m.run.Recipe) + "  ·  " + ui.CleanLine(name)
}

// Status is how many are picked out.
func (m *Model) Status() []ui.Span {
	if n := len(m.chosen); n > 0 {
		return []ui.Span{ui.S(m.theme.Accent, "● "+ui.Count(n)+" picked out")}
	}
	return nil
}

// Seen gives the rollouts whose verdicts were on the screen since it was last
// asked.
func (m *Model) Seen() ui.Seen {
	out := ui.Seen{Run: m.runID, Rollouts: slices.Sorted(maps.Keys(m.seen)), Tasks: slices.Sorted(maps.Keys(m.tasked))}
	clear(m.seen)
	clear(m.tasked)
	return out
}
