package live

import (
	"slices"

	"assay/engine/record"
	"assay/tui/report"
	"assay/tui/ui"
)

// listShare is the list's part of the width: the transcript needs more. At 80
// columns it leaves the list 35 cells and the transcript 44.
const listShare = 0.45

// topRows are the lines above the panes: the story's parts and the panes' titles.
const topRows = 2

// bottomRows are the lines below the panes, with their rule.
func (m *Model) bottomRows(height int) int {
	switch {
	case height < 12:
		return 0
	case height < 20:
		return 3
	case height < 34:
		return 5
	}
	return 7
}

// rows is how many lines the panes had when last drawn.
func (m *Model) rows() int {
	if v := m.view(); v != nil {
		return max(v.shownRows, 1)
	}
	return 1
}

// View draws the screen.
func (m *Model) View(width, height int) []string {
	m.width = width
	if m.Empty() {
		return m.emptyView(width, height)
	}
	lines := []string{m.partsLine(width)}
	if m.onPage() {
		return append(lines, m.pageLines(width, height-1)...)
	}
	bottom := m.bottomRows(height)
	body := max(height-topRows-bottom, 1)
	lines = append(lines, m.panes(width, body)...)
	if bottom > 0 {
		lines = append(lines, m.numbers(width, bottom)...)
	}
	return lines[:min(len(lines), height)]
}

func (m *Model) emptyView(width, height int) []string {
	lines := make([]string, height)
	for i := range lines {
		lines[i] = ui.Spaces(width)
	}
	if height > 3 {
		lines[1] = ui.Row(width, ui.Style{}, ui.S(m.theme.Text, "  Nothing runs, and no run is open."))
		lines[2] = ui.Row(width, ui.Style{}, ui.S(m.theme.Quiet, "  Open one from the runs, with "), ui.S(m.theme.Accent, "1"), ui.S(m.theme.Quiet, " and then "), ui.S(m.theme.Accent, "Enter"), ui.S(m.theme.Quiet, "."))
	}
	return lines
}

// partsLine is the story's parts with how each stands.
func (m *Model) partsLine(width int) string {
	t := m.theme
	spans := []ui.Span{ui.S(t.Text, " ")}
	for i, p := range Parts() {
		if i > 0 {
			spans = append(spans, ui.S(t.Line, " ─ "))
		}
		sign, style := m.partSign(p)
		label := string(p)
		switch {
		case p == m.part:
			spans = append(spans, ui.S(style, sign+" "), ui.S(t.Accent.With(ui.Bold|ui.Underline), label))
		case m.has(p):
			spans = append(spans, ui.S(style, sign+" "), ui.S(t.Text, label))
		default:
			spans = append(spans, ui.S(t.Line, sign+" "), ui.S(t.Quiet, label))
		}
	}
	if m.err != nil {
		return ui.Row(width, ui.Style{}, append(spans, ui.S(t.Bad, "   "+ui.CleanLine(m.err.Error())))...)
	}
	return ui.Sides(width, ui.Style{}, spans, m.state())
}

// state says in words how the run of this part stands.
func (m *Model) state() []ui.Span {
	t := m.theme
	if m.story != nil && m.story.Paused() {
		return []ui.Span{ui.S(t.Warn, "paused ")}
	}
	r := m.run()
	if r == nil {
		return nil
	}
	switch r.Status {
	case record.RunRunning:
		if m.story == nil {
			return []ui.Span{ui.S(t.Info, "running elsewhere, or was cut off ")}
		}
		if m.follow {
			return []ui.Span{ui.S(t.Info, "following ")}
		}
		return nil
	case record.RunDone:
		return []ui.Span{ui.S(t.Quiet, "done ")}
	case record.RunFailed:
		return []ui.Span{ui.S(t.Bad, "failed: "+ui.CleanLine(string(r.StoppedBecause))+" ")}
	}
	return []ui.Span{ui.S(t.Warn, "stopped: "+ui.CleanLine(string(r.StoppedBecause))+" ")}
}

func (m *Model) partSign(p Part) (string, ui.Style) {
	t := m.theme
	if p == m.under && m.story != nil {
		return t.Running().Sign, t.Info
	}
	switch p {
	case PartCut:
		if len(m.cuts) > 0 {
			for _, c := range m.cuts {
				if c.Error != "" {
					return t.Lost().Sign, t.Warn
				}
			}
			return "✓", t.Good
		}
	case PartDelta:
		if m.report != nil {
			return "✓", t.Good
		}
	default:
		if r := m.runs[p]; r != nil {
			switch r.Status {
			case record.RunDone:
				return "✓", t.Good
			case record.RunFailed:
				return "✗", t.Bad
			case record.RunStopped:
				return "~", t.Warn
			}
			return t.Running().Sign, t.Info
		}
	}
	return "·", t.Line
}

func (m *Model) panes(width, body int) []string {
	t := m.theme
	left, right, folded := ui.Split(width, listShare)
	v := m.view()
	if v == nil {
		lines := []string{ui.Rule(t, width, "Rollouts", true)}
		for range body {
			lines = append(lines, ui.Spaces(width))
		}
		if body > 1 {
			lines[2] = ui.Row(width, ui.Style{}, ui.S(t.Quiet, "  This part has not begun."))
		}
		return lines
	}
	v.shownRows, v.theme, v.threshold = body, t, m.threshold()
	list := func(w int) []string {
		title := "Rollouts"
		count := ui.Count(v.total)
		if n := v.inFlight(); n > 0 {
			count += " + " + ui.Count(n) + " in flight"
		}
		lines := []string{ui.Rule(t, w, title, m.focus == paneList, ui.S(t.Quiet, count))}
		m.saw()
		return append(lines, v.list.View(v, w, body, m.focus == paneList)...)
	}
	detail := func(w int) []string { return m.detail(w, body) }
	switch {
	case folded && m.focused:
		return detail(width)
	case folded:
		return list(width)
	}
	return ui.Beside(t, list(left), detail(right))
}

func (m *Model) threshold() float64 {
	if r := m.run(); r != nil && r.PassThreshold > 0 {
		return r.PassThreshold
	}
	return 1
}

func (m *Model) detail(width, body int) []string {
	t := m.theme
	s := &m.shown
	title := "Transcript"
	var right []ui.Span
	if s.id != "" {
		right = []ui.Span{ui.S(t.Quiet, s.id)}
		if s.live {
			right = []ui.Span{ui.S(t.Info, t.Running().Sign+" in flight")}
		}
	}
	if text := m.search.Text(); text != "" && m.focus == paneDetail {
		right = []ui.Span{ui.S(t.Accent, text)}
	}
	lines := []string{ui.Rule(t, width, title, m.focus == paneDetail, right...)}
	if m.search.Typing && body > 1 {
		lines = append(lines, m.search.Line(t, width))
		body--
	}
	if s.doc == nil {
		for range body {
			lines = append(lines, ui.Spaces(width))
		}
		return lines
	}
	if !s.live && s.id != "" {
		m.sawOne(s.id)
	}
	return append(lines, s.play.View(s.doc, width, body, m.focus == paneDetail)...)
}

// pageKey is what a page was laid out for.
type pageKey struct {
	part     Part
	warnings int // how many are shown, -1 for another page
	width    int
	gen      uint64
	theme    string
}

func (m *Model) pageLines(width, height int) []string {
	key := pageKey{m.part, -1, width, m.gen, m.theme.Name}
	if m.reading {
		key.warnings = len(m.warnings())
	}
	if key != m.pageKey {
		m.pageKey = key
		m.pageOf.gen++
		switch {
		case m.reading:
			m.pageOf.lines = warningsPage(m.theme, width, m.warnings())
		case m.part == PartCut:
			m.pageOf.lines = cutPage(m.theme, width, m.cuts, m.under == PartCut)
		case m.report != nil:
			m.pageOf.lines = report.Page(m.theme, width, m.report)
		default:
			m.pageOf.lines = []string{ui.Spaces(width), ui.Row(width, ui.Style{}, ui.S(m.theme.Quiet, "  The delta is being computed."))}
		}
	}
	title := "Delta"
	switch {
	case m.reading:
		title = "Warnings"
	case m.part == PartCut:
		title = "Cut"
	}
	return append([]string{ui.Rule(m.theme, width, title, true)}, m.pageView.View(&m.pageOf, width, height-1, true)...)
}

// warnings are those that the run carries and, behind them, those heard since.
func (m *Model) warnings() []record.Warning {
	var out []record.Warning
	if r := m.run(); r != nil {
		out = append(out, r.Warnings...)
		if r.Error != "" {
			out = append(out, record.Warning{Code: string(r.StoppedBecause), Text: string(r.Error)})
		}
	}
	for _, w := range m.warned {
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// Status is how the story stands, in few words, for the line at the top.
func (m *Model) Status() []ui.Span {
	t := m.theme
	if m.story == nil {
		if m.report != nil {
			return []ui.Span{ui.S(t.Quiet, "delta "), ui.S(report.HeadlineStyle(t, m.report), ui.CleanLine(string(m.report.Headline)))}
		}
		return nil
	}
	return []ui.Span{ui.S(t.Info, t.Running().Sign+" "), ui.S(t.Text, string(m.under))}
}
