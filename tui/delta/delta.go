package delta

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/tui/ui"
)

// Options of the screen. All are needed.
type Options struct {
	Store  Store
	Engine Engine
	// Dir is the folder that reports are written into.
	Dir   string
	Now   func() time.Time
	Theme ui.Theme
}

// level is how deep one has gone: from the choice of runs to one task.
type level int

const (
	levelPick level = iota
	levelReport
	levelTasks
	levelTask
)

// Model is the screen.
type Model struct {
	ctx   context.Context
	opts  Options
	theme ui.Theme
	now   time.Time

	writing int // reports that are being written

	level   level
	pick    pick
	pickTop int // lines above the list when last drawn
	sheet   *sheet
	history []*shown             // reports before the one that is shown, for undo
	want    *engine.DeltaOptions // what was asked last, while it is on its way
	queues  *queues
	task    *task

	tasks     *engine.DeltaTasks // behind the report that is shown, nil where they were not read
	opening   *opening           // what to open when they are
	stale     bool               // the runs went on since the report was made
	note      string             // why there is nothing, at the choice
	doing     string             // what is on its way, in words
	err       error
	width     int
	height    int
	restoring *kept           // a place to go back to when the report is there
	seen      map[string]bool // rollouts whose verdicts were drawn since Seen was asked

	runs, story, reports, taskRead, pairRead ui.Latest
}

// opening is the metric, or the slice of it, whose tasks were asked for.
type opening struct{ metric, by, value string }

// New is the screen without a comparison; Enter gives it one.
func New(ctx context.Context, o Options) *Model {
	return &Model{ctx: ctx, opts: o, theme: o.Theme, now: o.Now(), height: 1, seen: map[string]bool{}}
}

// Enter shows what is to be compared: two runs that were chosen elsewhere, the story of
// a run, or the choice.
func (m *Model) Enter(v ui.Visit) tea.Cmd {
	m.now = m.opts.Now()
	if k := m.restoring; k != nil && m.sheet == nil {
		if v.Before == "" && (v.Run == "" || v.Run == k.Before || v.Run == k.After || v.Run == k.Story) {
			return tea.Batch(m.readRuns(), m.goBack(k))
		}
		m.restoring = nil
	}
	switch {
	case v.Before != "" && v.After != "":
		if m.sheet != nil && m.report().Before == v.Before && m.report().After == v.After {
			m.level = max(m.level, levelReport)
			return nil
		}
		return tea.Batch(m.readRuns(), m.compare(v.Before, v.After, nil))
	case v.Run == "" || m.showsRun(v.Run):
		return m.readRuns()
	}
	return tea.Batch(m.readRuns(), m.openStory(v.Run))
}

// showsRun reports whether a run is one of those that are compared, or the first of
// their story.
func (m *Model) showsRun(runID string) bool {
	if m.sheet == nil {
		return false
	}
	r := m.report()
	return runID == r.Before || runID == r.After || runID == r.story
}

// report is what is shown; there must be something.
func (m *Model) report() *shown { return m.sheet.report }

func (m *Model) readRuns() tea.Cmd {
	ctx, gen := m.runs.Ask(m.ctx)
	return readRuns(ctx, m.opts.Store, gen)
}

func (m *Model) openStory(runID string) tea.Cmd {
	m.note, m.err = "", nil
	m.doing = "Looking for the delta of " + ui.CleanLine(runID) + " …"
	m.reports.Drop()
	ctx, gen := m.story.Ask(m.ctx)
	return readStory(ctx, m.opts.Store, m.opts.Engine, gen, runID)
}

// compare asks for a report; nil options are those of the recipe.
func (m *Model) compare(before, after string, o *engine.DeltaOptions) tea.Cmd {
	m.note, m.err = "", nil
	m.doing = "Comparing " + ui.CleanLine(before) + " with " + ui.CleanLine(after) + " … Esc stops it"
	m.story.Drop()
	ctx, gen := m.reports.Ask(m.ctx)
	return readReport(ctx, m.opts.Store, m.opts.Engine, gen, before, after, o)
}

// asking reports whether a report is on its way.
func (m *Model) asking() bool { return m.story.Busy() || m.reports.Busy() }

// Update takes a message.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case runsMsg:
		if m.runs.Answered(msg.gen) {
			m.runsRead(msg)
		}
	case storyMsg:
		if m.story.Answered(msg.gen) {
			return m.storyRead(msg)
		}
	case reportMsg:
		if m.reports.Answered(msg.gen) {
			return m.reportRead(msg)
		}
	case tasksMsg:
		if m.taskRead.Answered(msg.gen) {
			return m.tasksRead(msg)
		}
	case pairMsg:
		if m.pairRead.Answered(msg.gen) && m.task != nil {
			return m.pairCame(msg)
		}
	case wroteMsg:
		return m.wrote(msg)
	case ui.ChangedMsg:
		return m.changed(msg)
	case tea.MouseWheelMsg:
		return m.wheel(msg)
	case tea.MouseClickMsg:
		return m.click(msg)
	}
	return nil
}

func (m *Model) runsRead(msg runsMsg) {
	if msg.err != nil {
		m.err = msg.err
		return
	}
	m.pick.take(msg.runs)
}

func (m *Model) storyRead(msg storyMsg) tea.Cmd {
	switch {
	case msg.err != nil:
		m.err = msg.err
		m.level = levelPick
		return nil
	case msg.report == nil:
		m.sheet, m.level, m.restoring = nil, levelPick, nil
		m.pick.goTo(msg.runID)
		m.note = "The story of " + ui.CleanLine(msg.runID) + " has no run after a change yet: mark two runs, with b and a."
		return nil
	}
	m.history = nil
	return m.show(msg.report)
}

func (m *Model) reportRead(msg reportMsg) tea.Cmd {
	m.want = nil
	if msg.err != nil {
		if m.sheet != nil && m.level > levelPick {
			return ui.Failed(msg.err) // what is shown stays
		}
		m.err = msg.err
		return nil
	}
	switch {
	case m.sheet == nil || m.level == levelPick:
		m.history = nil
	default:
		m.history = append(m.history, m.report())
	}
	return m.show(msg.report)
}

// show brings a report to the front. The cursor stays on its metric where that is in
// the report too.
func (m *Model) show(r *shown) tea.Cmd {
	was := m.sheet
	m.sheet = newSheet(m.theme, r)
	if was != nil && was.report.Before == r.Before && was.report.After == r.After {
		m.sheet.open = was.open
		if b := was.under(); b.metric != nil {
			m.sheet.goTo(b.metric.Name, "", "")
		}
	}
	m.level, m.stale, m.err, m.note = levelReport, false, nil, ""
	m.queues, m.task, m.tasks = nil, nil, nil
	m.taskRead.Drop()
	m.pairRead.Drop()
	m.pick.before, m.pick.after = "", "" // the next choice begins anew
	m.pick.version++
	return m.goBackTo()
}

// openTasks opens the tasks behind a metric, or behind a slice of it.
func (m *Model) openTasks(o opening) tea.Cmd {
	m.opening = &o
	if m.tasks != nil {
		return m.opened()
	}
	m.level, m.queues = levelTasks, nil
	if m.taskRead.Busy() {
		return nil
	}
	ctx, gen := m.taskRead.Ask(m.ctx)
	return readTasks(ctx, m.opts.Engine, gen, &m.report().DeltaReport)
}

func (m *Model) tasksRead(msg tasksMsg) tea.Cmd {
	if msg.err != nil {
		m.level = levelReport
		return ui.Failed(msg.err)
	}
	m.tasks = &msg.tasks
	if m.opening == nil {
		return nil
	}
	return m.opened()
}

func (m *Model) opened() tea.Cmd {
	o := *m.opening
	m.opening = nil
	for i := range m.report().Metrics {
		metric := &m.report().Metrics[i]
		if metric.Name == o.metric {
			m.queues = newQueues(m.theme, *m.tasks, metric, o.by, o.value)
			m.queues.seen = m.seen
			m.level = levelTasks
			return m.goBackTo()
		}
	}
	m.level = levelReport
	return nil
}

// openTask sets two attempts of the task under the cursor side by side.
func (m *Model) openTask() tea.Cmd {
	move, ok := m.queues.under()
	if !ok {
		return nil
	}
	side := m.task // the side in focus stays from task to task
	m.task = &task{move: move}
	if side != nil {
		m.task.side = side.side
	}
	m.task.before, m.task.after = m.queues.choose(move)
	m.level = levelTask
	return m.readTask()
}

func (m *Model) readTask() tea.Cmd {
	k := m.task
	if k.before >= len(k.move.Pair.Before) || k.after >= len(k.move.Pair.After) {
		return nil
	}
	k.doc, k.placed = nil, false
	k.scroll.Reset()
	ctx, gen := m.pairRead.Ask(m.ctx)
	return readPair(ctx, m.opts.Store, gen, m.theme, k.move.Pair.Before[k.before].RolloutID, k.move.Pair.After[k.after].RolloutID, m.tasks.Threshold)
}

func (m *Model) pairCame(msg pairMsg) tea.Cmd {
	if msg.err != nil {
		m.level, m.task = levelTasks, nil
		return ui.Failed(msg.err)
	}
	m.task.doc = msg.doc
	m.task.doc.Restyle(m.theme) // it may have changed meanwhile
	return nil
}

// changed takes note that runs went on.
func (m *Model) changed(msg ui.ChangedMsg) tea.Cmd {
	if m.sheet != nil && (msg.Runs[m.report().Before] || msg.Runs[m.report().After]) && !m.report().saved {
		m.stale = true
	}
	if m.level == levelPick {
		return m.readRuns()
	}
	return nil
}

// Restyle changes the theme.
func (m *Model) Restyle(t ui.Theme) {
	m.theme = t
	m.pick.list.Forget()
	if m.sheet != nil {
		m.sheet.restyle(t)
	}
	if m.queues != nil {
		m.queues.restyle(t)
	}
	if m.task != nil && m.task.doc != nil {
		m.task.doc.Restyle(t)
		m.task.scroll.Forget()
	}
}

// Seen gives the rollouts whose verdicts were on the screen since it was last asked.
func (m *Model) Seen() ui.Seen {
	out := ui.Seen{Rollouts: slices.Sorted(maps.Keys(m.seen))}
	clear(m.seen)
	return out
}

// Run is the run after, or the one under the cursor of the choice.
func (m *Model) Run() string {
	if m.level > levelPick && m.sheet != nil {
		return m.report().After
	}
	if r := m.pick.under(); r != nil {
		return r.ID
	}
	return ""
}

// kept is the place that is kept from one day to the next.
type kept struct {
	Before, After string
	Story         string
	Saved         bool
	Metric        string `json:",omitempty"`
	By, Value     string `json:",omitempty"`
	Queue         int    `json:",omitempty"`
	Task          string `json:",omitempty"`
	Level         level
}

// Keep is where one is.
func (m *Model) Keep() any {
	if m.sheet == nil {
		return kept{}
	}
	k := kept{Before: m.report().Before, After: m.report().After, Story: m.report().story, Saved: m.report().saved, Level: m.level}
	if b := m.sheet.under(); b.metric != nil {
		k.Metric = b.metric.Name
	}
	if q := m.queues; q != nil {
		k.Metric, k.By, k.Value, k.Queue = q.metric, q.by, q.value, q.which
		if move, ok := q.under(); ok {
			k.Task = move.Pair.Task.ID
		}
	}
	return k
}

// Restore remembers a place; the first Enter goes back to it.
func (m *Model) Restore(raw json.RawMessage) tea.Cmd {
	var k kept
	if json.Unmarshal(raw, &k) == nil && k.Before != "" && k.After != "" {
		m.restoring = &k
	}
	return nil
}

func (m *Model) goBack(k *kept) tea.Cmd {
	if k.Saved {
		return m.openStory(k.After)
	}
	return m.compare(k.Before, k.After, nil)
}

// goBackTo does the next step on the way to the place that was kept.
func (m *Model) goBackTo() tea.Cmd {
	k := m.restoring
	if k == nil {
		return nil
	}
	switch {
	case m.queues != nil:
		m.queues.goTo(k.Queue, k.Task)
		m.restoring = nil
		if k.Level == levelTask {
			return m.openTask()
		}
		return nil
	case k.Level >= levelTasks && k.Metric != "":
		return m.openTasks(opening{k.Metric, k.By, k.Value})
	}
	m.sheet.goTo(k.Metric, k.By, k.Value)
	if k.Level == levelPick {
		m.level = levelPick
	}
	m.restoring = nil
	return nil
}
