package judge

import (
	"context"
	"maps"
	"slices"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/engine/record"
	"assay/store"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// Store is what the screen reads.
type Store interface {
	Run(ctx context.Context, runID string) (*record.Run, error)
	Reports(ctx context.Context, runID, kind string) ([]record.SavedReport, error)
	FindRows(ctx context.Context, runID string, q store.RowQuery) ([]store.Row, error)
	HeadsAt(ctx context.Context, rows []store.Row) ([]store.RolloutHead, error)
	Labels(ctx context.Context, runID string) ([]record.Label, error)
	Sample(ctx context.Context, rolloutID string) (*record.Sample, error)
}

// Engine is what the screen asks of the engine; [engine.Engine] has it.
type Engine interface {
	// Trust measures a run's judge on its gold and saves the report.
	Trust(ctx context.Context, runID string, o engine.TrustOptions) (*engine.TrustReport, error)
	// RunRubric is the rubric that gives the run its reward.
	RunRubric(ctx context.Context, runID string) (record.Rubric, error)
	// TryRubric judges the tuning half of gold by another rubric and saves nothing,
	// KeepRubric saves that, Grade judges the run.
	TryRubric(ctx context.Context, runID, rubric string, observe func(engine.TrialRow)) (*engine.RubricTrial, error)
	KeepRubric(ctx context.Context, t *engine.RubricTrial) error
	Grade(ctx context.Context, runID string, o engine.GradeOptions) (*engine.GradeReport, error)
}

// Options of the screen.
type Options struct {
	Store  Store
	Engine Engine
	Theme  ui.Theme
	// Edit has a person edit a file: a command that hands the terminal over and tells
	// what done makes of how that ended. nil offers no editing.
	Edit func(file string, done func(error) tea.Msg) tea.Cmd
}

// view is what is looked at.
type view int

const (
	viewReport view = iota
	viewDisagreements
	viewTrial // only while there is one
)

func (v view) String() string { return [...]string{"report", "disagreements", "tried rubric"}[v] }

// pane is where the cursor is.
type pane int

const (
	paneLeft pane = iota
	paneDetail
)

// Model is the screen.
type Model struct {
	ctx   context.Context
	opts  Options
	theme ui.Theme
	epoch int // of the run that is open, for answers

	runID  string
	run    *record.Run
	report *engine.TrustReport
	err    error
	busy   bool // a judge is being measured
	asking ui.Question

	view  view
	focus pane

	page   page
	scroll ui.Scroll

	rows   []store.RolloutHead // on which judge and gold differ
	more   bool                // there are more of them than were read
	labels map[string][]record.Label
	list   ui.List

	trial   *trial // nil where no rubric is tried
	dropped *trial // what undo brings back

	detail  *detail
	search  transcript.Search
	play    ui.Scroll
	reading ui.Question
	back    *kept

	width, height, top int // of the panes when last drawn
	seen               map[string]bool
}

// New is a screen without a run; Enter gives it one.
func New(ctx context.Context, o Options) *Model {
	return &Model{ctx: ctx, opts: o, theme: o.Theme, seen: map[string]bool{}}
}

// Enter shows the judge of a run. A visit to the run that is shown reads again what
// labels may have changed.
func (m *Model) Enter(v ui.Visit) tea.Cmd {
	if v.Run == "" {
		return nil
	}
	if v.Run != m.runID {
		m.clear()
		m.runID = v.Run
	}
	return m.read()
}

func (m *Model) clear() {
	if m.trial != nil {
		m.trial.cancel()
	}
	*m = Model{ctx: m.ctx, opts: m.opts, theme: m.theme, epoch: m.epoch + 1, seen: m.seen}
}

// Run is the run whose judge is shown.
func (m *Model) Run() string { return m.runID }

// Update takes a message.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case answer:
		if msg.of == m && msg.epoch == m.epoch {
			return m.answered(msg.msg)
		}
	case ui.ChangedMsg:
		if msg.Runs[m.runID] {
			return m.read()
		}
	case tea.PasteMsg:
		if m.search.Typing {
			m.search.Field.Insert(msg.Content)
		}
	case tea.MouseWheelMsg:
		return m.wheel(msg)
	case tea.MouseClickMsg:
		return m.click(msg)
	}
	return nil
}

// Restyle changes the theme.
func (m *Model) Restyle(t ui.Theme) {
	m.theme = t
	m.layOut()
	m.scroll.Forget()
	m.list.Forget()
	m.play.Forget()
	if m.detail != nil {
		m.detail.theme = t
		m.detail.doc.Restyle(t)
	}
	if m.trial != nil {
		m.trial.list.Forget()
	}
}

// Where says which run's judge it is.
func (m *Model) Where() string {
	if m.run == nil {
		return ""
	}
	name := m.run.Name
	if name == "" {
		name = m.run.ID
	}
	return ui.Line(m.run.Recipe, 40) + "  ·  " + ui.Line(name, 40)
}

// Status is the word about the judge.
func (m *Model) Status() []ui.Span {
	switch {
	case m.busy:
		mark := m.theme.Running()
		return []ui.Span{ui.S(mark.Style, mark.Sign+" the judge is at work")}
	case m.report != nil:
		mark := m.word()
		return []ui.Span{ui.S(mark.Style, mark.Sign+" "+mark.Word)}
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

// Seen gives the rollouts whose verdicts were on the screen since it was last
// asked.
func (m *Model) Seen() ui.Seen {
	out := ui.Seen{Run: m.runID, Rollouts: slices.Sorted(maps.Keys(m.seen))}
	clear(m.seen)
	return out
}

// passOrFail is the mark of what passes or fails.
func passOrFail(pass bool) func(ui.Theme) ui.Mark {
	if pass {
		return ui.Theme.Pass
	}
	return ui.Theme.Fail
}

func (m *Model) passes(pass bool) ui.Mark { return passOrFail(pass)(m.theme) }

// holds is the mark of a judge that held against a probe, or did not.
func holds(ok bool) func(ui.Theme) ui.Mark {
	return func(t ui.Theme) ui.Mark {
		mark := passOrFail(ok)(t)
		mark.Word = map[bool]string{true: "holds", false: "fooled"}[ok]
		return mark
	}
}

func (m *Model) judged(h *store.RolloutHead) ui.Mark {
	return transcript.MarkOf(m.theme, h.Status, h.Reward, h.JudgeStatus != "", m.threshold())
}
