package live

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/engine/record"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// Story is what the screen asks of a story that runs here. Its methods must not
// block.
type Story interface {
	SetPaused(bool)
	Paused() bool
	SetConcurrency(int)
	Concurrency() int
	StopRollout(rolloutID string)
}

// Options of the screen.
type Options struct {
	Store Store
	Pass  PassOf
	Now   func() time.Time
	Theme ui.Theme
}

// BackMsg asks for the screen before this one.
type BackMsg struct{}

// pane is where the cursor is.
type pane int

const (
	paneList pane = iota
	paneDetail
)

// Refresh is how often, at most, a story on its way has its pass rate, coverage
// and warnings read again. Convention: as fast as a number can be read.
const Refresh = time.Second

// dwell is how long a rollout that ended stays in sight while the newest is
// followed: long enough to see how it ended. Convention, untested.
const dwell = 700 * time.Millisecond

// Model is the screen.
type Model struct {
	ctx   context.Context
	opts  Options
	owner *owner // of the answers to questions about this story
	theme ui.Theme
	gen   uint64 // of the theme and of pages, for caches

	story  Story // nil where none runs here
	stops  bool  // it was asked to stop
	asked  string
	rootID string
	part   Part // the part shown
	under  Part // the part under way, "" where nothing is
	runs   map[Part]*record.Run
	views  map[string]*rollouts
	report *engine.DeltaReport
	cuts   []Cut
	err    error // of the last read that failed

	follow  bool
	focus   pane
	focused bool // the detail is shown where panes fold to one
	reading bool // the warnings are shown
	width   int

	news    News
	retried map[record.Cause]int
	warned  []record.Warning
	rate    rate
	lastRef time.Time

	resume *kept // where a person was, until that is read
	seen   map[string]bool

	shown    shown
	search   transcript.Search
	pageView ui.Scroll
	pageOf   page
	pageKey  pageKey

	readStory, readSample ui.Question
}

// shown is what plays in the right pane.
type shown struct {
	id    string
	since time.Time
	doc   *transcript.Doc
	live  bool // it is still in flight
	said  int  // length of the stream that is shown
	mark  ui.Mark
	play  ui.Scroll
}

// New is a screen without a story; Open gives it one.
func New(ctx context.Context, o Options) *Model {
	return &Model{ctx: ctx, opts: o, theme: o.Theme, part: PartRun, runs: map[Part]*record.Run{}, views: map[string]*rollouts{}}
}

// Open shows the story of a run; story is nil where it does not run here.
func (m *Model) Open(runID string, story Story) tea.Cmd {
	*m = Model{
		ctx: m.ctx, opts: m.opts, theme: m.theme, gen: m.gen + 1, width: m.width,
		story: story, asked: runID, part: PartRun, runs: map[Part]*record.Run{}, views: map[string]*rollouts{}, seen: m.seen,
		follow: story != nil, owner: new(owner),
	}
	if runID == "" {
		return nil // it comes with the news
	}
	return m.refreshStory()
}

// Enter shows the story of the visited run, at that run.
func (m *Model) Enter(v ui.Visit) tea.Cmd {
	if v.Run == "" || v.Run == m.asked && len(m.runs) == 0 {
		return nil
	}
	for _, part := range Parts() {
		if r := m.runs[part]; r != nil && r.ID == v.Run {
			return m.show(part)
		}
	}
	if m.story != nil {
		return nil // it comes with the news
	}
	return m.Open(v.Run, nil)
}

// Shows reports whether a run belongs to the story that is shown.
func (m *Model) Shows(runID string) bool {
	if runID == "" {
		return false
	}
	for _, r := range m.runs {
		if r.ID == runID {
			return true
		}
	}
	return runID == m.asked
}

// Run is the run of the part shown, of the cut and the delta the story's first.
func (m *Model) Run() string {
	if r := m.run(); r != nil {
		return r.ID
	}
	return m.rootID
}

// Stopping says that the story was asked to stop: how long the rest would take is
// not said any more.
func (m *Model) Stopping() { m.stops = true }

// Ended says that the story that ran here has ended.
func (m *Model) Ended() tea.Cmd {
	m.story, m.under = nil, ""
	m.news.Flights = nil
	for _, v := range m.views {
		v.fly(nil)
	}
	cmds := []tea.Cmd{m.refreshStory()}
	if v := m.view(); v != nil {
		cmds = append(cmds, v.readTail(m), v.askPass(m))
	}
	return tea.Batch(cmds...)
}

// Empty reports whether the screen has nothing to show.
func (m *Model) Empty() bool { return m.asked == "" && m.rootID == "" && m.story == nil }

func (m *Model) refreshStory() tea.Cmd {
	id := m.rootID
	if id == "" {
		id = m.asked
	}
	if id == "" {
		return nil
	}
	if gen, now := m.readStory.Ask(); now {
		return m.owned(readStory(m.ctx, m.opts.Store, gen, id))
	}
	return nil
}

// run is the run of the part shown, nil where it has none yet.
func (m *Model) run() *record.Run { return m.runs[m.part] }

// view is the rollouts of the part shown, nil where it has none.
func (m *Model) view() *rollouts {
	if r := m.run(); r != nil {
		return m.viewOf(r.ID)
	}
	return nil
}

func (m *Model) viewOf(runID string) *rollouts {
	v, ok := m.views[runID]
	if !ok {
		v = newRollouts(runID)
		m.views[runID] = v
	}
	return v
}

// Update takes a message.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case News:
		return m.hear(msg)
	case answer:
		if msg.owner == m.owner {
			return m.answered(msg.msg)
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

func (m *Model) answered(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case storyReadMsg:
		return m.storyRead(msg)
	case headsMsg:
		return m.headsRead(msg)
	case sampleMsg:
		return m.sampleRead(msg)
	case passMsg:
		return m.passRead(msg)
	case armsMsg:
		return m.armsRead(msg)
	case foundMsg:
		m.search.Take(msg.Found, &m.shown.play)
	}
	return nil
}

// hear takes the news of a frame.
func (m *Model) hear(n News) tea.Cmd {
	m.news = n
	m.retried = n.Retried
	m.warned = append(m.warned, n.Warnings...)
	m.warned = m.warned[max(len(m.warned)-maxWarnings, 0):]
	var cmds []tea.Cmd
	for _, run := range n.Runs {
		part, root := partOf(&run)
		if m.rootID == "" {
			m.rootID = root
		}
		if root == m.rootID {
			m.runs[part] = &run
		}
	}
	if n.Part != "" && n.Part != m.under {
		m.under = n.Part
		if m.follow {
			cmds = append(cmds, m.show(n.Part))
		}
	}
	m.mergeCuts(n.Cuts)
	for id, counts := range n.Counts {
		v := m.viewOf(id)
		v.counts, v.counted = counts, true
	}
	for id, batches := range n.Posed {
		v := m.viewOf(id)
		for batch, arms := range batches {
			v.arms[batch] = arms
		}
	}
	if v := m.view(); v != nil {
		v.fly(flightsOf(n.Flights, v.runID))
		if _, committed := n.Counts[v.runID]; committed {
			m.rate.add(n.At, v.runID, v.counts.Done+v.counts.LostTotal())
			cmds = append(cmds, v.readTail(m))
		}
	}
	if n.Reported || len(n.Runs) > 0 || n.At.Sub(m.lastRef) >= Refresh {
		m.lastRef = n.At
		cmds = append(cmds, m.refreshStory())
		if v := m.view(); v != nil {
			cmds = append(cmds, v.askPass(m))
		}
	}
	if n.Reported && m.follow {
		cmds = append(cmds, m.show(PartDelta))
	}
	cmds = append(cmds, m.followNewest(), m.play())
	return tea.Batch(cmds...)
}

// maxWarnings is how many warnings of a story on its way are kept beside those
// that its runs carry.
const maxWarnings = 50

func partOf(run *record.Run) (Part, string) {
	root := run.ID
	if run.Parent != "" {
		root = run.Parent
	}
	switch run.Role {
	case record.RoleBefore:
		return PartBefore, root
	case record.RoleAfter:
		return PartAfter, root
	}
	return PartRun, root
}

func flightsOf(all []Flight, runID string) []Flight {
	var out []Flight
	for _, f := range all {
		if f.RunID == runID {
			out = append(out, f)
		}
	}
	return out
}

func (m *Model) mergeCuts(cuts []Cut) {
	for _, c := range cuts {
		replaced := false
		for i := range m.cuts {
			if m.cuts[i].For == c.For && m.cuts[i].Format == c.Format {
				m.cuts[i], replaced = c, true
			}
		}
		if !replaced {
			m.cuts = append(m.cuts, c)
		}
		m.gen++
	}
}

// show goes to a part of the story.
func (m *Model) show(p Part) tea.Cmd {
	m.reading = false
	if p == m.part {
		return nil
	}
	m.part = p
	m.focus, m.focused = paneList, false
	m.pageView.Reset()
	m.shown = shown{}
	m.readSample.Drop()
	v := m.view()
	if v == nil {
		return nil
	}
	v.fly(flightsOf(m.news.Flights, v.runID))
	return tea.Batch(v.readTail(m), v.askPass(m), v.askArms(m), m.play()) // it may have grown unseen
}

func (m *Model) storyRead(msg storyReadMsg) tea.Cmd {
	current, again := m.readStory.Answered(msg.gen)
	if !current {
		return m.refreshStory()
	}
	if m.err = msg.err; msg.err != nil {
		return nil
	}
	first := m.rootID == "" || len(m.views) == 0
	m.rootID = msg.root.ID
	for part, run := range msg.parts {
		m.runs[part] = run
	}
	if msg.report != nil {
		m.report = msg.report
	}
	m.gen++
	for _, e := range msg.exports {
		if !m.hasCut(e.For, e.Format) {
			m.cuts = append(m.cuts, Cut{For: e.For, Format: e.Format, RowsOut: e.Rows, File: e.File})
		}
	}
	var cmds []tea.Cmd
	if first && !m.follow {
		for part, run := range m.runs {
			if run.ID == m.asked {
				m.part = part
			}
		}
	}
	if first {
		m.restoreList()
	}
	if v := m.view(); v != nil {
		cmds = append(cmds, v.readAround(m), v.askPass(m), v.askArms(m))
	}
	if again {
		cmds = append(cmds, m.refreshStory())
	}
	return tea.Batch(cmds...)
}

func (m *Model) hasCut(target, format string) bool {
	for _, c := range m.cuts {
		if c.For == target && c.Format == format {
			return true
		}
	}
	return false
}

func (m *Model) headsRead(msg headsMsg) tea.Cmd {
	v := m.viewOf(msg.runID)
	current, again := v.reading.Answered(msg.gen)
	if msg.err != nil {
		m.err = msg.err
		return nil
	}
	if current {
		grew := v.take(msg)
		if m.follow && grew && len(v.flights) == 0 && m.run() != nil && m.run().ID == msg.runID {
			v.goTo(v.Len() - 1)
		}
	}
	if again {
		return tea.Batch(v.readTail(m), m.play())
	}
	return tea.Batch(v.readMissing(m, msg.offset/pageSize), m.play())
}

func (m *Model) passRead(msg passMsg) tea.Cmd {
	v := m.viewOf(msg.runID)
	current, again := v.passing.Answered(msg.gen)
	if msg.err != nil {
		m.err = msg.err
		return nil
	}
	if current {
		v.pass, v.heldOut, v.passed = msg.e, msg.heldOut, true
	}
	if again {
		return v.askPass(m)
	}
	return nil
}

func (m *Model) armsRead(msg armsMsg) tea.Cmd {
	v := m.viewOf(msg.runID)
	current, _ := v.arming.Answered(msg.gen)
	if msg.err != nil {
		m.err = msg.err
		return nil
	}
	if current {
		for batch, arms := range msg.arms {
			v.arms[batch] = arms
		}
		v.armed = true
	}
	return nil
}

// Restyle changes the theme.
func (m *Model) Restyle(t ui.Theme) {
	m.theme = t
	m.gen++
	for _, v := range m.views {
		v.list.Forget()
	}
	m.shown.play.Forget()
	if m.shown.doc != nil {
		m.shown.doc.Restyle(t)
	}
	m.pageView.Forget()
}
