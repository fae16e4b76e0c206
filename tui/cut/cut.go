package cut

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/engine/record"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// Options of the screen. All are needed.
type Options struct {
	Store  Store
	Engine Engine
	// Dir is the folder that training files are written into.
	Dir   string
	Theme ui.Theme
}

// level is how deep one has gone: from the gates to a row's transcript.
type level int

const (
	levelCut level = iota
	levelRows
	levelRow
	levelWrite
)

// pane is where the cursor is.
type pane int

const (
	paneGates pane = iota
	panePool
)

// Model is the screen.
type Model struct {
	ctx   context.Context
	opts  Options
	theme ui.Theme
	gen   uint64 // of what is drawn, for caches

	asked    string             // the run that was asked for
	back     string             // the run to go back to
	preview  *engine.CutPreview // nil until it is read
	tasks    map[string]int     // of each target's kept rows
	exports  []record.ExportRecord
	scan     *engine.ScanReport
	endorsed []string
	target   string
	stale    bool // the run went on since
	err      error
	scanErr  error

	level  level
	focus  pane
	gates  ui.List
	pool   ui.List
	rows   *rows
	row    *transcript.Doc
	scroll ui.Scroll
	write  *writing

	seen          map[string]bool // rollouts whose verdicts were drawn since Seen was asked
	width, height int             // of the body when last drawn
	poolTop       int             // lines above the ranking when last drawn

	previewing, scanning, reading, looking, writes ui.Latest
}

// New is the screen without a run; Enter gives it one.
func New(ctx context.Context, o Options) *Model {
	return &Model{ctx: ctx, opts: o, theme: o.Theme, target: "sft", seen: map[string]bool{}}
}

// Enter shows what can be cut of a run.
func (m *Model) Enter(v ui.Visit) tea.Cmd {
	if v.Run == "" {
		v.Run = m.back
	}
	m.back = ""
	if v.Run == "" || v.Run == m.asked && m.err == nil || m.preview != nil && v.Run == m.preview.Run.ID {
		return nil
	}
	m.asked, m.preview, m.scan, m.exports = v.Run, nil, nil, nil
	m.level, m.rows, m.row, m.write = levelCut, nil, nil, nil
	m.gates, m.pool = ui.List{}, ui.List{}
	return m.read()
}

// read asks for the run anew.
func (m *Model) read() tea.Cmd {
	m.err, m.scanErr, m.stale = nil, nil, false
	m.reading.Drop()
	m.scanning.Drop()
	ctx, gen := m.previewing.Ask(m.ctx)
	return readPreview(ctx, m.opts.Store, m.opts.Engine, gen, m.asked)
}

// Update takes a message.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case previewMsg:
		if m.previewing.Answered(msg.gen) {
			return m.previewRead(msg)
		}
	case scanMsg:
		if m.scanning.Answered(msg.gen) {
			m.scanErr = msg.err
			if msg.err == nil {
				m.scan = &msg.report
			}
			m.gen++
		}
	case sampleMsg:
		if m.reading.Answered(msg.gen) {
			return m.sampleRead(msg)
		}
	case thereMsg:
		if m.looking.Answered(msg.gen) {
			return m.lookedFor(msg)
		}
	case wroteMsg:
		if m.writes.Answered(msg.gen) {
			return m.wrote(msg)
		}
	case writeMsg:
		return m.begin(msg.format)
	case ui.ChangedMsg:
		if m.preview != nil && msg.Runs[m.preview.Run.ID] {
			m.stale = true
		}
	case tea.PasteMsg:
		if m.Typing() {
			m.write.field.Insert(msg.Content)
		}
	case tea.MouseWheelMsg:
		return m.wheel(msg)
	case tea.MouseClickMsg:
		return m.click(msg)
	}
	return nil
}

func (m *Model) previewRead(msg previewMsg) tea.Cmd {
	m.gen++
	if msg.err != nil {
		m.err = msg.err
		return nil
	}
	again := m.preview != nil && m.preview.Run.ID == msg.preview.Run.ID
	m.preview, m.tasks, m.exports = &msg.preview, msg.tasks, msg.exports
	if !again {
		m.gates.Set(m.firstLine(), m.Len())
	}
	m.level, m.rows, m.row = levelCut, nil, nil // rows may be others now
	return m.rescan()
}

func (m *Model) rescan() tea.Cmd {
	ctx, gen := m.scanning.Ask(m.ctx)
	return readScan(ctx, m.opts.Engine, gen, m.preview.Run.ID, slices.Clone(m.endorsed))
}

func (m *Model) sampleRead(msg sampleMsg) tea.Cmd {
	if msg.err != nil {
		m.level = levelRows
		return ui.Failed(msg.err)
	}
	m.row = msg.doc
	m.row.Restyle(m.theme) // it may have changed meanwhile
	m.scroll.Reset()
	return nil
}

// plan is what the target would get, nil until that is read.
func (m *Model) plan() *engine.CutPlan {
	if m.preview == nil {
		return nil
	}
	for i := range m.preview.Targets {
		if m.preview.Targets[i].For == m.target {
			return &m.preview.Targets[i]
		}
	}
	return &m.preview.Targets[0]
}

// otherTarget goes to the target beside.
func (m *Model) otherTarget(by int) {
	if m.preview == nil {
		return
	}
	at := slices.IndexFunc(m.preview.Targets, func(p engine.CutPlan) bool { return p.For == m.plan().For })
	if next := at + by; next >= 0 && next < len(m.preview.Targets) {
		m.target = m.preview.Targets[next].For
		m.gates.Set(m.firstLine(), m.Len())
		m.gen++
	}
}

// Restyle changes the theme.
func (m *Model) Restyle(t ui.Theme) {
	m.theme = t
	m.gen++
	m.gates.Forget()
	m.pool.Forget()
	m.scroll.Forget()
	if m.rows != nil {
		m.rows.list.Forget()
	}
	if m.row != nil {
		m.row.Restyle(t)
	}
}

// Run is the run that is cut.
func (m *Model) Run() string {
	switch {
	case m.preview != nil:
		return m.preview.Run.ID
	case m.asked != "":
		return m.asked
	}
	return m.back
}

// Seen gives the rollouts whose verdicts were on the screen since it was last asked.
func (m *Model) Seen() ui.Seen {
	out := ui.Seen{Rollouts: slices.Sorted(maps.Keys(m.seen))}
	clear(m.seen)
	return out
}

// Where says what the screen shows.
func (m *Model) Where() string {
	if m.preview == nil {
		return ""
	}
	where := ui.CleanLine(m.preview.Run.Recipe) + "  ·  " + ui.CleanLine(m.preview.Run.ID)
	if m.level != levelCut {
		where += "  ·  " + ui.CleanLine(m.plan().For)
	}
	return where
}

// Status is what the target would get.
func (m *Model) Status() []ui.Span {
	t := m.theme
	switch p := m.plan(); {
	case m.previewing.Busy():
		return []ui.Span{ui.S(t.Info, t.Running().Sign+" reading")}
	case p == nil:
		return nil
	case p.Error != nil:
		return []ui.Span{ui.S(t.Warn, "nothing for "+ui.CleanLine(p.For))}
	default:
		return []ui.Span{ui.S(t.Text, ui.Count(p.RowsOut)+" of "+ui.Plural(p.RowsIn, "row"))}
	}
}

// kept is the place that is kept from one day to the next.
type kept struct {
	Run      string
	Target   string
	Endorsed []string `json:",omitempty"`
}

// Keep is where one is.
func (m *Model) Keep() any { return kept{m.Run(), m.target, m.endorsed} }

// Restore goes back to a place.
func (m *Model) Restore(raw json.RawMessage) tea.Cmd {
	var k kept
	if json.Unmarshal(raw, &k) == nil && k.Target != "" {
		m.back, m.target, m.endorsed = k.Run, k.Target, k.Endorsed
	}
	return nil
}
