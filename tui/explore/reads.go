package explore

import (
	"context"
	"errors"
	"slices"

	tea "charm.land/bubbletea/v2"

	"assay/engine/record"
	"assay/store"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// answer is what came of a question about the run of an epoch.
type answer struct {
	epoch int
	msg   tea.Msg
}

func (m *Model) asked(ask func(ctx context.Context) tea.Msg) tea.Cmd {
	epoch, ctx := m.epoch, m.ctx
	return func() tea.Msg { return answer{epoch, ask(ctx)} }
}

// scan is a question that walks over a run. A new one ends the one before.
type scan struct {
	gen    int
	cancel context.CancelFunc
	busy   bool
}

func (s *scan) stop() {
	if s.cancel != nil {
		s.cancel()
	}
	s.gen++
	s.cancel, s.busy = nil, false
}

// begin ends the scan before and gives the context of the next.
func (s *scan) begin(ctx context.Context) (context.Context, int) {
	s.stop()
	ctx, s.cancel = context.WithCancel(ctx)
	s.busy = true
	return ctx, s.gen
}

type (
	runMsg struct {
		run *record.Run
		err error
	}
	rowsMsg struct {
		gen   int
		rows  []store.Row
		whole bool
		page  int // of the heads
		heads []store.RolloutHead
		err   error
	}
	tasksMsg struct {
		gen   int
		tasks []store.TaskRow
		page  int
		heads []store.RolloutHead
		err   error
	}
	tallyMsg struct {
		gen     int
		tallies []store.Tally
		err     error
	}
	headsMsg struct {
		gen   int
		of    int // the state of the pages that it is for
		view  view
		page  int
		heads []store.RolloutHead
		err   error
	}
	sampleMsg struct {
		gen    int
		asked  [2]string // what was wanted
		id     string
		doc    *transcript.Doc
		task   string
		others []store.RolloutHead
		err    error
	}
	pairMsg struct {
		gen         int
		left, right string
		heads       []store.RolloutHead
		shown       *transcript.Pair
		err         error
	}
	hitsMsg   struct{ found transcript.Found }
	valuesMsg struct {
		field  string
		values []store.Value
		err    error
	}
	chosenMsg struct {
		ids []string
		err error
	}
)

func (m *Model) readRun() tea.Cmd {
	s, id := m.opts.Store, m.runID
	return m.asked(func(ctx context.Context) tea.Msg {
		run, err := s.Run(ctx, id)
		return runMsg{run, err}
	})
}

// pageSize is how many rows are read at once: more than any screen has.
const pageSize = 128

// maxPages bounds the pages that are kept.
const maxPages = 32

// pages are the rows of a list that were read, by page.
type pages struct {
	of     int // the scan that they are of
	kept   map[int][]store.RolloutHead
	asking ui.Question
}

func (p *pages) head(i int) *store.RolloutHead {
	page := p.kept[i/pageSize]
	if at := i % pageSize; at < len(page) {
		return &page[at]
	}
	return nil
}

func (p *pages) keep(page int, heads []store.RolloutHead) {
	if p.kept == nil || len(p.kept) >= maxPages {
		p.kept = map[int][]store.RolloutHead{}
	}
	p.kept[page] = heads
}

// pageOf is a piece of a list.
func pageOf[T any](list []T, page int) []T {
	from := min(page*pageSize, len(list))
	return list[from:min(from+pageSize, len(list))]
}

// readView reads what the view shows, from its beginning.
func (m *Model) readView() tea.Cmd {
	switch m.view {
	case viewTasks:
		return m.readTasks()
	case viewGroups:
		return m.readTally(store.GroupFields()[m.by])
	case viewMap:
		return tea.Batch(m.readTally(m.grid.names()...), m.readSuspects())
	}
	return m.readRows()
}

// firstRows is how many rollouts are asked for before all of them: a page is there
// at once however large the run is.
const firstRows = pageSize

// readRows asks for the first page and then for all. Where the cursor is to stay
// it asks for all at once.
func (m *Model) readRows() tea.Cmd {
	ctx, gen := m.scan.begin(m.ctx)
	limit := 0
	if m.goal >= 0 {
		limit = firstRows
	}
	return m.readRowsUpTo(ctx, gen, limit)
}

func (m *Model) readRowsUpTo(ctx context.Context, gen, limit int) tea.Cmd {
	s, id := m.opts.Store, m.runID
	q := store.RowQuery{Filter: m.filter, Sort: m.sort, Descending: m.falling, Limit: limit}
	at, index := m.rowUnderCursor(), m.lists[viewRollouts].Cursor()
	if m.goal >= 0 {
		at, index = 0, m.goal
	}
	return m.asked(func(context.Context) tea.Msg {
		msg := rowsMsg{gen: gen}
		msg.rows, msg.err = s.FindRows(ctx, id, q)
		msg.whole = limit == 0 || len(msg.rows) < limit
		if msg.err != nil {
			return msg
		}
		if i := slices.Index(msg.rows, at); i >= 0 {
			index = i
		}
		msg.page = max(min(index, len(msg.rows)-1), 0) / pageSize
		msg.heads, msg.err = s.HeadsAt(ctx, pageOf(msg.rows, msg.page))
		return msg
	})
}

func (m *Model) readTasks() tea.Cmd {
	ctx, gen := m.scan.begin(m.ctx)
	s, id := m.opts.Store, m.runID
	q := store.RowQuery{Filter: m.filter, Sort: m.sort, Descending: m.falling}
	at, index := m.taskUnderCursor(), m.lists[viewTasks].Cursor()
	if m.goal >= 0 {
		at, index = "", m.goal
	}
	return m.asked(func(context.Context) tea.Msg {
		msg := tasksMsg{gen: gen}
		msg.tasks, msg.err = s.TaskRows(ctx, id, q)
		if msg.err != nil {
			return msg
		}
		if i := slices.IndexFunc(msg.tasks, func(t store.TaskRow) bool { return t.TaskID == at }); i >= 0 {
			index = i
		}
		msg.page = max(min(index, len(msg.tasks)-1), 0) / pageSize
		msg.heads, msg.err = s.TaskHeads(ctx, id, taskIDs(pageOf(msg.tasks, msg.page)))
		return msg
	})
}

func taskIDs(tasks []store.TaskRow) []string {
	ids := make([]string, len(tasks))
	for i := range tasks {
		ids[i] = tasks[i].TaskID
	}
	return ids
}

func (m *Model) readTally(names ...string) tea.Cmd {
	ctx, gen := m.scan.begin(m.ctx)
	s, id, filter := m.opts.Store, m.runID, m.filter
	return m.asked(func(context.Context) tea.Msg {
		tallies, err := s.TallyBy(ctx, id, filter, names...)
		return tallyMsg{gen, tallies, err}
	})
}

// readAround reads the page of a row in sight that is not there yet.
func (m *Model) readAround() tea.Cmd {
	if m.view != viewRollouts && m.view != viewTasks {
		return nil
	}
	list := m.lists[m.view] // a copy: looking does not scroll
	from, to := list.Window(m.length(), max(m.height, 1))
	for _, row := range []int{list.Cursor(), from, to - 1} {
		if row >= 0 && row < m.length() && m.heads[m.view].head(row) == nil {
			return m.readPage(row / pageSize)
		}
	}
	return nil
}

func (m *Model) readPage(page int) tea.Cmd {
	pages, v := &m.heads[m.view], m.view
	gen, now := pages.asking.Ask()
	if !now {
		return nil
	}
	s, id, of := m.opts.Store, m.runID, pages.of
	if m.view == viewTasks {
		ids := taskIDs(pageOf(m.tasks, page))
		return m.asked(func(ctx context.Context) tea.Msg {
			heads, err := s.TaskHeads(ctx, id, ids)
			return headsMsg{gen, of, v, page, heads, err}
		})
	}
	rows := slices.Clone(pageOf(m.rows, page))
	return m.asked(func(ctx context.Context) tea.Msg {
		heads, err := s.HeadsAt(ctx, rows)
		return headsMsg{gen, of, v, page, heads, err}
	})
}

func (m *Model) answered(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case runMsg:
		return m.runRead(msg)
	case rowsMsg:
		return m.rowsRead(msg)
	case tasksMsg:
		return m.tasksRead(msg)
	case tallyMsg:
		return m.tallyRead(msg)
	case headsMsg:
		return m.headsRead(msg)
	case sampleMsg:
		return m.sampleRead(msg)
	case pairMsg:
		return m.pairRead(msg)
	case replayMsg:
		return m.replayRead(msg)
	case suspectsMsg:
		return m.suspectsRead(msg)
	case correctionsMsg:
		if msg.err != nil {
			return ui.Failed(msg.err)
		}
		for _, c := range msg.all {
			m.causes[c.RolloutID] = c
		}
	case correctedMsg:
		return m.correctionKept(msg)
	case tableMsg:
		return m.tableRead(msg)
	case namedMsg:
		if msg.err != nil {
			return ui.Failed(msg.err)
		}
		m.sql.on = false
		return ui.Go(ui.ScreenExplore, ui.Visit{Run: msg.run, Rollout: msg.id})
	case hitsMsg:
		m.detail.search.Take(msg.found, &m.detail.play)
	case valuesMsg:
		m.edit.offer(msg)
	case chosenMsg:
		if msg.err != nil {
			return ui.Failed(msg.err)
		}
		return ui.Go(ui.ScreenLabel, ui.Visit{Run: m.runID, Rollouts: msg.ids})
	}
	return nil
}

// failed takes note of an error of the scan; that it was ended is none.
func (m *Model) failed(err error) bool {
	if err == nil {
		return false
	}
	if !errors.Is(err, context.Canceled) {
		m.err = err
	}
	return true
}

func (m *Model) runRead(msg runMsg) tea.Cmd {
	if m.failed(msg.err) {
		return nil
	}
	was := m.run
	m.run = msg.run
	m.gen++
	if was != nil && ended(was) != ended(m.run) { // it went on meanwhile, here or elsewhere
		return m.again()
	}
	return m.restoreTyping()
}

// ended is how many rollouts of a run have ended.
func ended(r *record.Run) int { return r.Counts.Done + r.Counts.LostTotal() }

func (m *Model) rowsRead(msg rowsMsg) tea.Cmd {
	if msg.gen != m.scan.gen {
		return nil
	}
	if m.failed(msg.err) {
		m.scan.busy = false
		return nil
	}
	at := m.rowUnderCursor()
	m.err, m.rows, m.whole = nil, msg.rows, msg.whole
	list := &m.lists[viewRollouts]
	switch i := slices.Index(m.rows, at); {
	case m.goal >= 0 && (m.goal < len(m.rows) || m.whole):
		m.reach(viewRollouts, len(m.rows))
	case m.goal < 0 && i >= 0:
		list.Set(i, len(m.rows))
	}
	m.newHeads(viewRollouts, msg.page, msg.heads)
	if msg.whole {
		m.scan.busy = false
		return m.follow()
	}
	ctx, gen := m.scan.begin(m.ctx)
	return tea.Batch(m.follow(), m.readRowsUpTo(ctx, gen, 0))
}

// reach puts the cursor where it was to be, among n rows that are there now.
func (m *Model) reach(v view, n int) {
	list := &m.lists[v]
	list.Set(m.goal, n)
	if m.top >= 0 {
		list.SetTop(m.top)
	}
	m.goal, m.top = -1, -1
}

// newHeads begins the pages anew with one that was read along.
func (m *Model) newHeads(of view, page int, heads []store.RolloutHead) {
	m.heads[of].of++
	m.heads[of].kept = map[int][]store.RolloutHead{page: heads}
	m.lists[of].Forget()
}

func (m *Model) tasksRead(msg tasksMsg) tea.Cmd {
	if msg.gen != m.scan.gen {
		return nil
	}
	m.scan.busy = false
	if m.failed(msg.err) {
		return nil
	}
	at := m.taskUnderCursor()
	m.err, m.tasks = nil, msg.tasks
	switch i := slices.IndexFunc(m.tasks, func(t store.TaskRow) bool { return t.TaskID == at }); {
	case m.goal >= 0:
		m.reach(viewTasks, len(m.tasks))
	case i >= 0:
		m.lists[viewTasks].Set(i, len(m.tasks))
	}
	m.newHeads(viewTasks, msg.page, msg.heads)
	return m.follow()
}

func (m *Model) tallyRead(msg tallyMsg) tea.Cmd {
	if msg.gen != m.scan.gen {
		return nil
	}
	m.scan.busy = false
	if m.failed(msg.err) {
		return nil
	}
	m.err = nil
	m.gen++
	if m.view == viewMap {
		m.grid.fill(msg.tallies)
		return nil
	}
	if m.by == 0 && !m.byAsked && saysNothing(msg.tallies) {
		m.by = slices.Index(store.GroupFields(), record.AxisTool)
		return m.readView()
	}
	m.groups = msg.tallies
	if m.goal >= 0 {
		m.reach(viewGroups, len(m.groups))
	}
	return nil
}

// saysNothing is true of groups by failure class where there is at most one class:
// they tell only what failed from what passed, as where the reward is a marker.
func saysNothing(byClass []store.Tally) bool {
	classes := 0
	for _, t := range byClass {
		if t.Values[0] != "" {
			classes++
		}
	}
	return classes < 2
}

func (m *Model) headsRead(msg headsMsg) tea.Cmd {
	pages := &m.heads[msg.view]
	current, _ := pages.asking.Answered(msg.gen)
	if m.failed(msg.err) {
		return nil
	}
	if current && msg.of == pages.of && msg.view == m.view {
		pages.keep(msg.page, msg.heads)
		if len(msg.heads) < pageSize && len(msg.heads) < m.length()-msg.page*pageSize {
			return nil // some are gone: the scan that is on its way says more
		}
	}
	return m.follow()
}
