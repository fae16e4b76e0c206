package judge

import (
	"assay/engine/record"
	"assay/store"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// listShare is the list's part of the width, as on Explore; a report needs more.
const (
	listShare = 0.42
	pageShare = 0.55
)

// View draws the screen.
func (m *Model) View(width, height int) []string {
	switch {
	case m.runID == "":
		return m.sentence(width, height, "No run is open.", "Choose one among the runs, with 1 and then 5.")
	case m.err != nil:
		return m.sentence(width, height, "This run's judge cannot be shown.", ui.CleanLine(m.err.Error()))
	case m.run == nil:
		return m.sentence(width, height, "", "")
	}
	m.width, m.height, m.top = width, max(height-1, 0), 1
	left, right, folded := ui.Split(width, m.share())
	switch {
	case m.detail == nil:
		return m.leftView(width, height)
	case folded && m.focus == paneDetail:
		return m.detailView(width, height)
	case folded:
		return m.leftView(width, height)
	}
	return ui.Beside(m.theme, m.leftView(left, height), m.detailView(right, height))
}

// share is the left pane's part of the width.
func (m *Model) share() float64 {
	if m.view == viewDisagreements {
		return listShare
	}
	return pageShare
}

func (m *Model) sentence(width, height int, text, hint string) []string {
	lines := []string{ui.Spaces(width)}
	for i, said := range []string{text, hint} {
		style := m.theme.Text
		if i > 0 {
			style = m.theme.Quiet
		}
		for _, line := range ui.Wrap(said, width-3) {
			lines = append(lines, ui.Row(width, ui.Style{}, ui.S(style, "  "+line)))
		}
	}
	lines = lines[:min(len(lines), max(height, 0))]
	for len(lines) < height {
		lines = append(lines, ui.Spaces(width))
	}
	return lines
}

func (m *Model) leftView(width, height int) []string {
	if height <= 0 {
		return nil
	}
	t, focused := m.theme, m.focus == paneLeft
	if m.view == viewDisagreements {
		count := ui.Count(len(m.rows))
		if m.more {
			count = "the first " + count
		}
		lines := []string{ui.Rule(t, width, "Where judge and gold differ", focused, ui.S(t.Quiet, count))}
		if len(m.rows) == 0 {
			return append(lines, m.sentence(width, height-1, "There is no disagreement.", m.hintNone())...)
		}
		m.sawRows(height - 1)
		return append(lines, m.list.View(listed{m}, width, height-1, focused)...)
	}
	if m.view == viewTrial && m.trial != nil {
		return m.trialView(width, height, focused)
	}
	var more []ui.Span
	if m.report != nil && !m.scroll.AtBottom(book{m}) {
		more = []ui.Span{ui.S(t.Quiet, "more below ↓")}
	}
	lines := []string{ui.Rule(t, width, "Can the judge be trusted", focused, more...)}
	if m.report == nil {
		return append(lines, m.sentence(width, height-1, "This run's judge has not been measured.", "Label first, with 4; then m measures the judge on the labels. That is a look at the half of gold that rubrics are not tuned on, and looks are counted.")...)
	}
	return append(lines, m.scroll.View(book{m}, width, height-1, focused)...)
}

func (m *Model) hintNone() string {
	if len(m.labels) == 0 {
		return "Nobody has labelled a rollout of this run: 4 begins."
	}
	return "Judge and gold say the same of every row that both judged."
}

func (m *Model) detailView(width, height int) []string {
	t := m.theme
	right := ui.S(t.Quiet, ui.Line(m.detail.id, 24))
	if text := m.search.Text(); text != "" && m.focus == paneDetail {
		right = ui.S(t.Accent, text)
	}
	lines := []string{ui.Rule(t, width, "Transcript", m.focus == paneDetail, right)}
	if m.search.Typing && height > 2 {
		lines = append(lines, m.search.Line(t, width))
	}
	m.seen[m.detail.id] = true
	return append(lines, m.play.View(m.detail, width, height-len(lines), m.focus == paneDetail)...)
}

// sawRows takes note of the verdicts that the list shows.
func (m *Model) sawRows(height int) {
	from, to := m.list.Window(len(m.rows), height)
	for i := from; i < to; i++ {
		m.seen[m.rows[i].ID] = true
	}
}

// overDetail reports whether a column is the transcript's.
func (m *Model) overDetail(x int) bool {
	if m.detail == nil {
		return false
	}
	left, _, folded := ui.Split(m.width, m.share())
	return folded && m.focus == paneDetail || !folded && x > left
}

// listed is the disagreements as rows: gold, the judge, what was asked.
type listed struct{ m *Model }

func (l listed) Len() int           { return len(l.m.rows) }
func (l listed) Version(int) uint64 { return l.m.page.gen }
func (l listed) Draw(i, width int, look ui.Look) string {
	m, t, h := l.m, l.m.theme, &l.m.rows[i]
	judged := m.judged(h)
	spans := []ui.Span{transcript.Cursor(t, look), ui.S(t.Quiet, "gold ")}
	if gold, _ := record.GoldOf(m.labels[h.ID]); gold.Reward != nil {
		mark := m.passes(*gold.Reward > 0)
		spans = append(spans, ui.S(mark.Style, mark.Sign))
	} else {
		spans = append(spans, ui.S(t.Quiet, "·"))
	}
	spans = append(spans, ui.S(t.Quiet, "  judge "), ui.S(judged.Style, judged.Sign+"  "), ui.S(t.Text, ask(h, width)))
	return ui.Row(width, t.Base(look), spans...)
}

func ask(h *store.RolloutHead, width int) string { return ui.Line(string(h.Ask), width) }
