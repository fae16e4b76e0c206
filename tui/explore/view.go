package explore

import (
	"assay/store"
	"assay/tui/ui"
)

// listShare is the list's part of the width, as on Live.
const listShare = 0.45

// View draws the screen.
func (m *Model) View(width, height int) []string {
	m.width = width
	if m.runID == "" {
		return m.sentence(width, height, "No run is open.", "Choose one among the runs, with 1 and then 3.")
	}
	switch {
	case m.pair.on:
		return m.pairView(width, height)
	case m.replay.on:
		return m.replayView(width, height)
	case m.sql.on || m.sql.typing:
		return m.sqlView(width, height)
	}
	lines := []string{m.viewsLine(width), m.filterLine(width)}
	lines = append(append(lines, m.offersView(width)...), m.causeView(width)...)
	lines = lines[:min(len(lines), height)]
	return append(lines, m.body(width, height-len(lines), len(lines))...)
}

func (m *Model) sentence(width, height int, text, hint string) []string {
	lines := make([]string, height)
	for i := range lines {
		lines[i] = ui.Spaces(width)
	}
	if height > 3 {
		lines[1] = ui.Row(width, ui.Style{}, ui.S(m.theme.Text, "  "+text))
		lines[2] = ui.Row(width, ui.Style{}, ui.S(m.theme.Quiet, "  "+hint))
	}
	return lines
}

// viewsLine is the views, and how much of the run is kept.
func (m *Model) viewsLine(width int) string {
	t := m.theme
	spans := []ui.Span{ui.S(t.Text, " ")}
	for v := range views {
		name := v.String()
		style := t.Quiet
		if v == m.view {
			style = t.Accent.With(ui.Bold | ui.Underline)
			if v == viewGroups {
				name += " by " + store.GroupFields()[m.by]
			}
		}
		spans = append(spans, ui.S(style, name), ui.S(t.Text, "   "))
	}
	if m.err != nil {
		return ui.Row(width, ui.Style{}, append(spans, ui.S(t.Bad, "✗ "+ui.CleanLine(m.err.Error())))...)
	}
	return ui.Sides(width, ui.Style{}, spans, append(m.sortSpans(), ui.S(t.Text, " ")))
}

func (m *Model) sortSpans() []ui.Span {
	if m.sort == "" && !m.falling || m.view > viewTasks {
		return nil
	}
	name, arrow := m.sort, "↑"
	if name == "" {
		name = "order"
	}
	if m.falling {
		arrow = "↓"
	}
	return []ui.Span{ui.S(m.theme.Quiet, "sorted by "), ui.S(m.theme.Text, name+" "+arrow)}
}

// count is how many rows there are, as far as that is known.
func (m *Model) count() string {
	n := ui.Count(m.length())
	if m.scan.busy && (m.view != viewRollouts || !m.whole) {
		if m.length() == 0 {
			return "…"
		}
		return n + " and more …"
	}
	if m.view == viewRollouts && m.run != nil && !m.filter.Empty() {
		return n + " of " + ui.Count(m.run.Counts.Done+m.run.Counts.LostTotal())
	}
	return n
}

// body draws the view below the top lines.
func (m *Model) body(width, height, top int) []string {
	if height <= 0 {
		return nil
	}
	m.height, m.first = max(height-1, 1), top+1
	switch {
	case m.view == viewMap:
		return m.mapView(width, height)
	case m.view == viewGroups:
		return m.groupView(width, height)
	}
	left, right, folded := ui.Split(width, listShare)
	switch {
	case folded && m.focus == paneDetail:
		return m.detailView(width, height)
	case folded:
		return m.listView(width, height)
	}
	return ui.Beside(m.theme, m.listView(left, height), m.detailView(right, height))
}

func (m *Model) listView(width, height int) []string {
	var rows ui.Rows = rolloutRows{m}
	title := "Rollouts"
	if m.view == viewTasks {
		rows, title = taskRows{m}, "Tasks"
	}
	focused := m.focus == paneList && !m.edit.on
	lines := []string{ui.Rule(m.theme, width, title, focused, ui.S(m.theme.Quiet, m.count()))}
	if m.length() == 0 && !m.scan.busy && m.err == nil {
		return append(lines, m.sentence(width, height-1, m.nothing(), "")...)
	}
	m.sawRows()
	return append(lines, m.list().View(rows, width, height-1, focused)...)
}

// nothing says why a list is empty.
func (m *Model) nothing() string {
	if m.filter.Empty() {
		return "This run has no rollouts yet."
	}
	return "Nothing is kept by this filter. Esc goes back."
}

func (m *Model) groupView(width, height int) []string {
	t := m.theme
	lines := []string{ui.Rule(t, width, "Groups by "+store.GroupFields()[m.by], !m.edit.on, ui.S(t.Quiet, m.count()+", failed of graded"))}
	if len(m.groups) == 0 && !m.scan.busy {
		return append(lines, m.sentence(width, height-1, m.nothing(), "")...)
	}
	return append(lines, m.list().View(groupRows{m}, width, height-1, !m.edit.on)...)
}

func (m *Model) mapView(width, height int) []string {
	names := m.grid.names()
	lines := []string{ui.Rule(m.theme, width, "Map of "+names[0]+" and "+names[1], !m.edit.on && !m.suspects.focus, ui.S(m.theme.Quiet, "share that failed"))}
	below := m.suspectRows(height)
	body := m.grid.View(m.theme, width, height-1-below)
	if body == nil {
		text := m.nothing()
		if m.scan.busy {
			text = "Counting …"
		}
		body = m.sentence(width, height-1-below, text, "")
	}
	return append(append(lines, body...), m.suspectsView(width, below)...)
}

func (m *Model) detailView(width, height int) []string {
	t, d := m.theme, &m.detail
	focused := m.focus == paneDetail && !m.edit.on
	var right []ui.Span
	if d.id != "" && m.length() > 0 {
		right = []ui.Span{ui.S(t.Quiet, ui.CleanLine(d.id))}
		if c := m.causes[d.id]; c.Cause != "" {
			right = []ui.Span{ui.S(t.Quiet, "put down to "), ui.S(t.Warn, string(c.Cause)), ui.S(t.Quiet, " by "+ui.Line(c.Annotator, 20))}
		}
	}
	if text := d.search.Text(); text != "" && m.focus == paneDetail {
		right = []ui.Span{ui.S(t.Accent, text)}
	}
	lines := []string{ui.Rule(t, width, "Transcript", focused, right...)}
	rest := height - 1
	if d.search.Typing && rest > 1 {
		lines = append(lines, d.search.Line(t, width))
		rest--
	}
	if d.doc == nil || m.length() == 0 {
		for range rest {
			lines = append(lines, ui.Spaces(width))
		}
		return lines
	}
	m.sawDetail()
	return append(lines, d.play.View(d.doc, width, rest, focused)...)
}
