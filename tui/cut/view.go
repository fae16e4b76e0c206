package cut

import (
	"strings"

	"assay/tui/report"
	"assay/tui/ui"
)

// gatesShare is the gates' part of the width: names, two numbers and a bar.
const gatesShare = 0.5

// gatesTop are the lines above the gates: the targets and the pane's title.
const gatesTop = 2

// View draws the screen.
func (m *Model) View(width, height int) []string {
	m.width, m.height = width, height
	var lines []string
	switch {
	case m.preview == nil:
		lines = m.emptyView(width)
	case m.level == levelRows:
		lines = m.rowsView(width, height)
	case m.level == levelRow:
		lines = m.rowView(width, height)
	case m.level == levelWrite:
		lines = m.writeView(width, height)
	default:
		lines = m.cutView(width, height)
	}
	for len(lines) < height {
		lines = append(lines, ui.Spaces(width))
	}
	return lines[:height]
}

func (m *Model) emptyView(width int) []string {
	t := m.theme
	l := report.Lines{Theme: t, Width: width}
	l.Gap()
	switch {
	case m.err != nil:
		l.Text(t.Bad, m.err.Error())
	case m.previewing.Busy():
		l.Row(ui.S(t.Info, t.Running().Sign+" Cutting "+ui.CleanLine(m.asked)+" for every target, in memory …"))
	default:
		l.Row(ui.S(t.Text, "No run is open."))
		l.Row(ui.S(t.Quiet, "Open one from the runs, with "), ui.S(t.Accent, "1"), ui.S(t.Quiet, ", and come back with "), ui.S(t.Accent, "7"), ui.S(t.Quiet, "."))
	}
	return l.All
}

// aboutRows are the lines below the panes that say more of what is under the cursor,
// their rule among them.
func aboutRows(height int) int {
	switch {
	case height < 12:
		return 0
	case height < 18:
		return 3
	}
	return 4
}

func (m *Model) cutView(width, height int) []string {
	t := m.theme
	lines := []string{m.targets(width)}
	about := aboutRows(height)
	body := max(height-1-about, 1)
	left, right, folded := ui.Split(width, gatesShare)
	switch {
	case folded && m.focus == panePool:
		lines = append(lines, m.poolView(width, body)...)
	case folded:
		lines = append(lines, m.gatesView(width, body)...)
	default:
		lines = append(lines, ui.Beside(t, m.gatesView(left, body), m.poolView(right, body))...)
	}
	if about == 0 {
		return lines
	}
	lines = append(lines, ui.Rule(t, width, "", false))
	return append(lines, m.aboutView(width, about-1)...)
}

// targets is what each target would get, in a line.
func (m *Model) targets(width int) string {
	t := m.theme
	spans := []ui.Span{ui.S(t.Text, " ")}
	for i := range m.preview.Targets {
		p := &m.preview.Targets[i]
		name, number := t.Text, t.Quiet
		if p.For == m.plan().For {
			name = t.Accent.With(ui.Bold | ui.Underline)
		}
		got := ui.Count(p.RowsOut)
		if p.Error != nil {
			got, number = t.Fail().Sign, t.Bad
		}
		spans = append(spans, ui.S(t.Text, " "), ui.S(name, ui.CleanLine(p.For)), ui.S(number, " "+got+"  "))
	}
	right := []ui.Span{}
	if m.stale {
		right = append(right, ui.S(t.Warn, "! the run went on since: r "))
	} else if width >= 100 {
		right = append(right, ui.S(t.Quiet, targetSays(m.plan().For)+" "))
	}
	return ui.Sides(width, ui.Style{}, spans, right)
}

func (m *Model) gatesView(width, height int) []string {
	lines := []string{ui.Rule(m.theme, width, "Gates", m.focus == paneGates)}
	return append(lines, m.gates.View(m, width, max(height-1, 0), m.focus == paneGates)...)
}

// poolView is the pass rates and, below them, the hack scan.
func (m *Model) poolView(width, height int) []string {
	const least = 6 // lines of the scan: its head, and some of its ranking
	lines := m.bandView(width, height-least-2)
	lines = append(lines, m.scanHead(width)...)
	m.poolTop = 1 + len(lines)
	return append(lines, m.pool.View(features{m}, width, max(height-len(lines), 0), m.focus == panePool)...)[:max(height, 0)]
}

func (m *Model) aboutView(width, rows int) []string {
	spans := m.about()
	if m.focus == panePool {
		spans = m.aboutFeature()
	}
	return wrapped(width, rows, spans)
}

// wrapped lays spans out on as many lines as there are, at spaces.
func wrapped(width, rows int, spans []ui.Span) []string {
	var lines []string
	var line []ui.Span
	left := width - 4
	flush := func() {
		lines = append(lines, ui.Row(width, ui.Style{}, append([]ui.Span{ui.S(ui.Style{}, "  ")}, line...)...))
		line, left = nil, width-4
	}
	for _, s := range spans {
		for text := s.Text; text != ""; {
			if word, _, _ := strings.Cut(text, " "); ui.Width(word) > left && line != nil {
				flush()
				continue
			}
			piece := ui.Wrap(text, max(left, 1))[0]
			line = append(line, ui.S(s.Style, piece))
			left -= ui.Width(piece)
			if text = text[len(piece):]; text == "" {
				break
			}
			if text[0] == ' ' {
				text = text[1:]
			}
			flush()
		}
	}
	if line != nil {
		flush()
	}
	return lines[:min(len(lines), rows)]
}

func (m *Model) rowView(width, height int) []string {
	t := m.theme
	title := m.rows.title
	var right []ui.Span
	if e := m.rows.under(); e != nil {
		right = []ui.Span{ui.S(t.Quiet, ui.Cut(ui.CleanLine(e.says), max(width/2, 8)))}
	}
	lines := []string{ui.Rule(t, width, title, true, right...)}
	if m.row == nil {
		return append(lines, ui.Row(width, ui.Style{}, ui.S(t.Quiet, "  Reading …")))
	}
	return append(lines, m.scroll.View(m.row, width, max(height-1, 0), true)...)
}
