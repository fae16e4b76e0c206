package explore

import (
	"context"
	"regexp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"assay/store"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// sqlPane is a query that a person types, and what came of it.
type sqlPane struct {
	typing  bool
	on      bool // the rows are shown
	ask     scan
	field   ui.Field
	query   string
	problem string
	table   store.Table
	widths  []int
	list    ui.List
	gen     uint64
}

type tableMsg struct {
	gen   int
	table store.Table
	err   error
}

// maxQueried is how many rows of a query are shown: more is for `assay rows`.
// Convention.
const maxQueried = 1000

func (m *Model) beginSQL() {
	m.sql.typing, m.sql.problem = true, ""
	if m.sql.query == "" {
		m.sql.field.Set("SELECT rollout_id, k, tool_calls FROM rollouts LIMIT 100")
		return
	}
	m.sql.field.Set(m.sql.query)
}

func (m *Model) typeSQL(msg tea.KeyPressMsg) tea.Cmd {
	p := &m.sql
	switch key := msg.String(); key {
	case "esc":
		p.ask.stop()
		p.typing = false
	case "enter":
		return m.askSQL()
	default:
		p.field.Key(key, msg.Text)
	}
	return nil
}

func (m *Model) askSQL() tea.Cmd {
	p := &m.sql
	if p.ask.busy {
		return nil
	}
	ctx, gen := p.ask.begin(m.ctx)
	p.query, p.problem = strings.TrimSpace(p.field.Text()), ""
	s, query := m.opts.Store, p.query
	return m.asked(func(context.Context) tea.Msg {
		table, err := s.Query(ctx, query, maxQueried)
		return tableMsg{gen, table, err}
	})
}

func (m *Model) tableRead(msg tableMsg) tea.Cmd {
	p := &m.sql
	if msg.gen != p.ask.gen {
		return nil // it was left
	}
	p.ask.stop()
	switch {
	case msg.err != nil:
		p.problem = ui.CleanLine(msg.err.Error())
		return nil
	case verdictsOfNobody(p.query, msg.table.Columns):
		p.problem = "that reads verdicts: select rollout_id as well, so that labels know what was shown, or group them"
		return nil
	}
	p.typing, p.on, p.table = false, true, msg.table
	p.gen++
	p.list = ui.List{}
	p.widths = make([]int, len(p.table.Columns))
	for _, row := range append([][]string{p.table.Columns}, p.table.Rows...) {
		for i, cell := range row {
			p.widths[i] = max(p.widths[i], min(ui.Width(ui.Line(cell, widestCell)), widestCell))
		}
	}
	return nil
}

// Words of a query that reads what labellers must not have seen, and of one that sums
// it up, which shows nobody's.
var (
	readsVerdicts = regexp.MustCompile(`(?i)\b(judgments|labels|markers|preferences)\b`)
	sumsUp        = regexp.MustCompile(`(?i)\bgroup\s+by\b|\b(count|avg|sum|total)\s*\(`)
)

// verdictsOfNobody says whether a table may hold verdicts of rollouts that it does not
// name: a label given after could not be known to be blind.
func verdictsOfNobody(query string, columns []string) bool {
	return readsVerdicts.MatchString(query) && !sumsUp.MatchString(query) && !slices.Contains(columns, rolloutID)
}

// sawQueried takes note of the rollouts in sight whose verdicts may be.
func (m *Model) sawQueried(height int) {
	p := &m.sql
	at := slices.Index(p.table.Columns, rolloutID)
	if at < 0 || !readsVerdicts.MatchString(p.query) {
		return
	}
	list := p.list
	from, to := list.Window(len(p.table.Rows), max(height, 1))
	for _, row := range p.table.Rows[from:to] {
		m.seen[row[at]] = true
	}
}

// rolloutID is the column that names a row's rollout.
const rolloutID = "rollout_id"

// widestCell is the most that a column takes: others are to be seen too. y copies all.
const widestCell = 40

func (m *Model) sqlActions() []ui.Action {
	if m.sql.typing {
		return []ui.Action{ui.Reserve(ui.Open, "ask", "Ask the query", 1), ui.Reserve(ui.Back, "leave it", "Leave things as they were", 2)}
	}
	return append(ui.Moves(), ui.Reserve(ui.Open, "open", "Open the rollout of the row, where there is a column rollout_id", 1),
		ui.Action{ID: doSQL, Keys: []string{"Q"}, Name: "sql", Help: sqlHelp},
		ui.Reserve(ui.Find, "edit", "Change the query", 2),
		ui.Reserve(ui.Copy, "", "Copy the row, cells apart by tabs", 3), ui.Reserve(ui.Back, "back", "Go back to the list", 4))
}

const sqlHelp = "Ask the file a query in SQL: it only reads"

func (m *Model) doQueried(id string) tea.Cmd {
	p := &m.sql
	if p.list.Move(id, len(p.table.Rows)) {
		return nil
	}
	switch id {
	case ui.Back:
		p.on = false
	case ui.Find, doSQL:
		m.beginSQL()
	case ui.Copy:
		if at := p.list.Cursor(); at < len(p.table.Rows) {
			return copied(strings.Join(p.table.Rows[at], "\t"), "of the row")
		}
	case ui.Open:
		at := slices.Index(p.table.Columns, rolloutID)
		switch {
		case p.list.Cursor() >= len(p.table.Rows):
		case at < 0 || p.table.Rows[p.list.Cursor()][at] == "":
			return ui.Toast("No rollout is named: select rollout_id as well")
		default:
			return m.openNamed(p.table.Rows[p.list.Cursor()][at])
		}
	}
	return nil
}

// openNamed goes to a rollout by its id, in its own run.
func (m *Model) openNamed(id string) tea.Cmd {
	s := m.opts.Store
	return m.asked(func(ctx context.Context) tea.Msg {
		sample, err := s.Sample(ctx, id)
		if err != nil {
			return namedMsg{err: err}
		}
		return namedMsg{run: sample.Rollout.RunID, id: id}
	})
}

type namedMsg struct {
	run, id string
	err     error
}

func (m *Model) sqlView(width, height int) []string {
	t, p := m.theme, &m.sql
	var lines []string
	if p.typing {
		lines = append(lines, ui.Row(width, ui.Style{}, append([]ui.Span{ui.S(t.Accent.With(ui.Bold), " sql ")}, p.field.Spans(t, width-6)...)...))
		switch {
		case p.ask.busy:
			lines = append(lines, ui.Row(width, ui.Style{}, ui.S(t.Info, "   "+t.Running().Sign+" asking")))
		case p.problem != "":
			for _, row := range ui.Wrap("✗ "+p.problem, width-4) {
				lines = append(lines, ui.Row(width, ui.Style{}, ui.S(t.Bad, "   "+row)))
			}
		default:
			lines = append(lines, ui.Row(width, ui.Style{}, ui.S(t.Quiet, "   one SELECT over runs, tasks, rollouts, judgments, markers, labels …; it only reads, for ten seconds at most")))
		}
	} else {
		lines = append(lines, ui.Row(width, ui.Style{}, ui.S(t.Accent, " sql "), ui.S(t.Text, ui.Line(p.query, width))))
	}
	count := ui.Plural(len(p.table.Rows), "row")
	if p.table.More {
		count = "the first " + count
	}
	lines = append(lines, ui.Rule(t, width, "What the file says", !p.typing, ui.S(t.Quiet, count)), m.sqlRow(p.table.Columns, width, t.Quiet, ui.Plain))
	lines = lines[:min(len(lines), max(height, 0))]
	m.sawQueried(height - len(lines))
	return append(lines, p.list.View(queriedRows{m}, width, height-len(lines), !p.typing)...)
}

func (m *Model) sqlRow(cells []string, width int, style ui.Style, look ui.Look) string {
	spans := []ui.Span{transcript.Cursor(m.theme, look)}
	for i, cell := range cells {
		spans = append(spans, ui.S(style, ui.Pad(ui.Line(cell, m.sql.widths[i]), m.sql.widths[i])+"  "))
	}
	return ui.Row(width, m.theme.Base(look), spans...)
}

type queriedRows struct{ m *Model }

func (r queriedRows) Len() int             { return len(r.m.sql.table.Rows) }
func (r queriedRows) Version(i int) uint64 { return r.m.sql.gen<<20 | uint64(i) }
func (r queriedRows) Draw(i, width int, look ui.Look) string {
	return r.m.sqlRow(r.m.sql.table.Rows[i], width, r.m.theme.Text, look)
}
