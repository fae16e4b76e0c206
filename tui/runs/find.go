package runs

import (
	"encoding/json"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"assay/engine/record"
	"assay/tui/ui"
)

// find is the search for a run.
type find struct {
	on    bool
	field ui.Field
	query string // lower case
	from  int    // the row that it began on
}

// Typing reports whether keys are text: in the search, or in the form.
func (m *Model) Typing() bool { return m.find.on || m.mode == fillForm }

// Type takes a key of the text field.
func (m *Model) Type(msg tea.KeyPressMsg) tea.Cmd {
	if m.mode == fillForm {
		return m.typeForm(msg)
	}
	f := &m.find
	switch msg.String() {
	case "enter":
		f.on = false
		return nil
	case "esc":
		f.on = false
		m.runList.Set(f.from, len(m.runs))
		return m.readPass()
	}
	f.field.Key(msg.String(), msg.Text)
	return m.findTyped()
}

func (m *Model) pasted(text string) tea.Cmd {
	switch {
	case m.mode == fillForm:
		m.form.field().Insert(text)
	case m.find.on:
		m.find.field.Insert(text)
		return m.findTyped()
	}
	return nil
}

func (m *Model) beginFind() {
	m.find = find{on: true, from: m.runList.Cursor()}
}

// findTyped goes to the first match from where the search began.
func (m *Model) findTyped() tea.Cmd {
	f := &m.find
	f.query = strings.ToLower(strings.TrimSpace(f.field.Text()))
	if f.query == "" {
		m.runList.Set(f.from, len(m.runs))
		return m.readPass()
	}
	return m.findFrom(f.from, 1)
}

// findFrom goes to the first match at a row or behind it, in one direction, and
// around the end.
func (m *Model) findFrom(row, by int) tea.Cmd {
	n := len(m.runs)
	for i := range n {
		at := ((row+i*by)%n + n) % n
		if m.matches(m.runs[at]) {
			m.runList.Set(at, n)
			return m.readPass()
		}
	}
	if m.find.on {
		return nil // the line says so
	}
	return ui.Toast("No run matches " + ui.CleanLine(m.find.query))
}

func (m *Model) matches(r *record.Run) bool {
	return m.find.query != "" && slices.ContainsFunc([]string{r.Recipe, r.Name, r.ID, r.Role, r.Program}, func(s string) bool {
		return strings.Contains(strings.ToLower(s), m.find.query)
	})
}

// findLine is the search as it is typed.
func (m *Model) findLine(width int) string {
	t := m.theme
	n := 0
	for _, r := range m.runs {
		if m.matches(r) {
			n++
		}
	}
	right := ui.S(t.Quiet, ui.Plural(n, "match")+" ")
	if n != 1 {
		right = ui.S(t.Quiet, ui.Count(n)+" matches ")
	}
	if m.find.query == "" {
		right = ui.S(t.Quiet, "")
	}
	return ui.Sides(width, ui.Style{}, append([]ui.Span{ui.S(t.Accent.With(ui.Bold), " / ")}, m.find.field.Spans(t, width*2/3)...), []ui.Span{right})
}

// mark marks the run under the cursor for a comparison, or takes the mark away.
func (m *Model) mark() tea.Cmd {
	r := m.underCursor()
	if r == nil {
		return nil
	}
	if i := slices.Index(m.marked, r.ID); i >= 0 {
		m.marked = slices.Delete(m.marked, i, i+1)
	} else {
		m.marked = append(m.marked, r.ID)
	}
	m.version++
	m.runList.Move(ui.Down, len(m.runs))
	return m.readPass()
}

// compare opens the comparison of two marked runs, the older as before; of one that
// is marked with the one under the cursor; with none marked, of the story under the
// cursor.
func (m *Model) compare() tea.Cmd {
	under := m.underCursor()
	ids := slices.Clone(m.marked)
	if len(ids) == 1 && under != nil && under.ID != ids[0] {
		ids = append(ids, under.ID)
	}
	switch {
	case len(ids) == 0 && under != nil:
		return ui.Go(ui.ScreenDelta, ui.Visit{Run: under.ID})
	case len(ids) == 1:
		return ui.Toast("One run is marked: mark another with Space, or go to it")
	case len(ids) > 2:
		return ui.Toast("More than two runs are marked: Space takes a mark away")
	}
	before, after := m.byID(ids[0]), m.byID(ids[1])
	if before == nil || after == nil {
		return ui.Toast("A marked run is not in the list any more")
	}
	if after.StartedAt.Before(before.StartedAt) {
		before, after = after, before
	}
	return ui.Go(ui.ScreenDelta, ui.Visit{Run: after.ID, Before: before.ID, After: after.ID})
}

func (m *Model) byID(id string) *record.Run {
	for _, r := range m.runs {
		if r.ID == id {
			return r
		}
	}
	return nil
}

// kept is where a person was, for another day.
type kept struct {
	Run    string   `json:"run,omitempty"`
	Marked []string `json:"marked,omitempty"`
}

// Keep gives the place.
func (m *Model) Keep() any {
	k := kept{Marked: m.marked}
	if r := m.underCursor(); r != nil {
		k.Run = r.ID
	}
	return k
}

// Restore goes back to a place that was kept.
func (m *Model) Restore(raw json.RawMessage) tea.Cmd {
	var k kept
	if json.Unmarshal(raw, &k) == nil {
		m.want, m.marked = k.Run, k.Marked
		m.version++
		if m.read {
			m.toWanted()
		}
	}
	return nil
}
