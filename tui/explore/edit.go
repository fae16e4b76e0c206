package explore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"assay/store"
	"assay/tui/ui"
)

// edit is the filter as it is typed, with what it could go on with.
type edit struct {
	on      bool
	field   ui.Field
	problem string
	values  map[string][]store.Value // of fields that were asked for
	asked   map[string]bool
	offers  []offer
	at      int // the offer under the cursor
}

// offer is something that the line could go on with.
type offer struct {
	insert string
	about  string
	raw    int // how many characters before the cursor it replaces
}

// maxOffers is how many are shown. Convention: as many as are read at a glance.
const maxOffers = 8

// Typing reports whether keys are text.
func (m *Model) Typing() bool { return m.edit.on || m.detail.search.Typing || m.sql.typing }

func (m *Model) beginFilter() tea.Cmd {
	m.edit = edit{on: true, values: m.edit.values, asked: m.edit.asked}
	line := m.filter.String()
	if line != "" {
		line += " "
	}
	m.edit.field.Set(line)
	return m.suggest()
}

// Type takes a key of the line.
func (m *Model) Type(msg tea.KeyPressMsg) tea.Cmd {
	if m.sql.typing {
		return m.typeSQL(msg)
	}
	if m.detail.search.Typing {
		if m.detail.search.Key(msg.String(), msg.Text) {
			m.focus = paneDetail
			return m.search()
		}
		return nil
	}
	e := &m.edit
	switch key := msg.String(); key {
	case "esc":
		e.on = false
		return nil
	case "enter":
		return m.applyLine()
	case "tab":
		return m.takeOffer()
	case "up", "ctrl+n", "down":
		by := 1
		if key == "up" {
			by = -1
		}
		if n := len(e.offers); n > 0 {
			e.at = (e.at + by + n) % n
		}
		return nil
	default:
		if !e.field.Key(key, msg.Text) {
			return nil
		}
	}
	return m.suggest()
}

func (m *Model) pasted(text string) tea.Cmd {
	if m.sql.typing {
		m.sql.field.Insert(text)
		return nil
	}
	if m.detail.search.Typing {
		m.detail.search.Field.Insert(text)
		return nil
	}
	m.edit.field.Insert(text)
	return m.suggest()
}

func (m *Model) applyLine() tea.Cmd {
	line := strings.TrimSpace(m.edit.field.Text())
	if _, err := store.ParseFilter(line); err != nil {
		m.edit.problem = ui.CleanLine(err.Error())
		return nil
	}
	m.edit.on = false
	return m.filterBy(line, m.view)
}

// filterBy keeps what a line keeps and remembers where one came from.
func (m *Model) filterBy(line string, to view) tea.Cmd {
	f, err := store.ParseFilter(line)
	if err != nil {
		return ui.Failed(err)
	}
	if f.String() == m.filter.String() && to == m.view {
		return nil
	}
	m.past = append(m.past, place{m.view, m.filter, m.list().Cursor(), m.list().Top()})
	if len(m.past) > maxPast {
		m.past = m.past[1:]
	}
	m.filter, m.view = f, to
	m.focus = paneList
	return m.anew(0)
}

// maxPast is how many steps back are kept. Convention.
const maxPast = 100

// goBack returns to the filter and the view before; ok is false where there is
// none.
func (m *Model) goBack() (cmd tea.Cmd, ok bool) {
	n := len(m.past)
	if n == 0 {
		return nil, false
	}
	p := m.past[n-1]
	m.past = m.past[:n-1]
	m.filter, m.view = p.filter, p.view
	m.focus = paneList
	cmd = m.anew(p.cursor)
	m.top = p.top
	return cmd, true
}

// suggest says what the line could go on with.
func (m *Model) suggest() tea.Cmd {
	e := &m.edit
	e.problem, e.offers, e.at = "", nil, 0
	typing := store.TypingAt(e.field.Before())
	if typing.Field == "" {
		e.offers = nameOffers(typing)
		return nil
	}
	if e.values == nil {
		e.values, e.asked = map[string][]store.Value{}, map[string]bool{}
	}
	e.offers = valueOffers(typing, e.values[typing.Field])
	if e.asked[typing.Field] {
		return nil
	}
	e.asked[typing.Field] = true
	s, id, name := m.opts.Store, m.runID, typing.Field
	return m.asked(func(ctx context.Context) tea.Msg {
		values, err := s.FieldValues(ctx, id, name)
		return valuesMsg{name, values, err}
	})
}

// offer takes the values of a field that were asked for.
func (e *edit) offer(msg valuesMsg) {
	if msg.err != nil || e.values == nil {
		return // the line can be typed without
	}
	e.values[msg.field] = msg.values
	if typing := store.TypingAt(e.field.Before()); e.on && typing.Field == msg.field {
		e.offers = valueOffers(typing, msg.values)
	}
}

func nameOffers(typing store.Typing) []offer {
	if strings.HasPrefix(typing.Part, `"`) {
		return nil
	}
	var out []offer
	add := func(insert, about string) {
		if strings.Contains(insert, typing.Part) {
			out = append(out, offer{insert, about, typing.Raw})
		}
	}
	for i, f := range store.Fields() {
		if i == 3 { // behind the fields that most filters begin with
			add("tool:", "called that tool")
			add("k-split ", "the task's verdicts differ")
		}
		add(f.Name+"=", f.About)
	}
	add("marker:", "the number of a marker: marker:NAME<1")
	slices.SortStableFunc(out, func(a, b offer) int {
		return cmp.Compare(strings.Index(a.insert, typing.Part), strings.Index(b.insert, typing.Part))
	})
	return out
}

func valueOffers(typing store.Typing, values []store.Value) []offer {
	var out []offer
	for _, v := range values {
		if !strings.Contains(strings.ToLower(v.Value), strings.ToLower(typing.Part)) {
			continue
		}
		about := ""
		if v.N > 0 {
			about = ui.Count(v.N)
		}
		insert := store.Quote(v.Value) + " "
		if typing.Field == "marker:" {
			insert = store.Quote(v.Value) + "<1 "
		}
		out = append(out, offer{insert, about, typing.Raw})
	}
	return out
}

// takeOffer puts the offer under the cursor into the line.
func (m *Model) takeOffer() tea.Cmd {
	e := &m.edit
	if e.at >= len(e.offers) {
		return nil
	}
	o := e.offers[e.at]
	e.field.Replace(o.raw, o.insert)
	return m.suggest()
}

// filterLine is the filter as it stands, or as it is typed.
func (m *Model) filterLine(width int) string {
	t, e := m.theme, &m.edit
	switch {
	case e.on:
		spans := []ui.Span{ui.S(t.Accent.With(ui.Bold), " / ")}
		spans = append(spans, e.field.Spans(t, width-4)...)
		return ui.Row(width, ui.Style{}, spans...)
	case m.filter.Empty():
		return ui.Row(width, ui.Style{}, ui.S(t.Accent, " / "), ui.S(t.Quiet, "all rollouts: no filter"))
	}
	return ui.Row(width, ui.Style{}, ui.S(t.Accent, " / "), ui.S(t.Text, ui.CleanLine(m.filter.String())))
}

// offersView is what stands below the line while it is typed.
func (m *Model) offersView(width int) []string {
	t, e := m.theme, &m.edit
	if !e.on {
		return nil
	}
	if e.problem != "" {
		return []string{ui.Row(width, ui.Style{}, ui.S(t.Bad, "   ✗ "+e.problem))}
	}
	first := window(0, e.at, maxOffers, len(e.offers))
	var lines []string
	for i := first; i < min(first+maxOffers, len(e.offers)); i++ {
		o := e.offers[i]
		look := ui.Plain
		if i == e.at {
			look = ui.Active
		}
		base := t.Base(look)
		spans := []ui.Span{ui.S(base, "   "), ui.S(t.Text, ui.Pad(ui.Line(o.insert, 40), 24)), ui.S(t.Quiet, " "+ui.CleanLine(o.about))}
		lines = append(lines, ui.Row(width, base, spans...))
	}
	if more := len(e.offers) - len(lines); more > 0 && len(lines) > 0 {
		lines = append(lines, ui.Row(width, ui.Style{}, ui.S(t.Quiet, fmt.Sprintf("   %d more; Tab takes one, ↑ ↓ choose, Enter filters", more))))
	}
	return lines
}
