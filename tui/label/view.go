package label

import (
	"fmt"
	"strings"

	"assay/engine/stats"
	"assay/tui/ui"
)

// sideWidth is the column beside the card, where the window has room for it and
// for a line of text that is read with ease.
const (
	sideWidth = 34
	roomy     = 100
)

// View draws the screen.
func (m *Model) View(width, height int) []string {
	switch {
	case m.runID == "":
		return m.sentence(width, height, "No run is open.", "Choose one among the runs, with F1 and then F4.")
	case m.opts.Annotator == "":
		return m.sentence(width, height, "Nobody is named who labels.", "Labels of two people are kept apart: set $USER, or start with --annotator NAME.")
	case m.err != nil:
		return m.sentence(width, height, "There is no card to label.", ui.CleanLine(m.err.Error()))
	case m.cards == nil:
		return m.sentence(width, height, "", "")
	}
	if m.pairs != nil && m.pane == paneCard {
		return m.pairView(width, height)
	}
	var lines []string
	if width >= roomy {
		left := width - sideWidth - 1
		lines = ui.Beside(m.theme, m.large(left, height), m.side(sideWidth, height))
	} else {
		strip := m.strip(width)
		strip = strip[:min(len(strip), max(height-2, 0))]
		lines = append(m.large(width, height-len(strip)), strip...)
	}
	if c := m.shown; c != nil && c.drawn.IsZero() && c.at == m.at && m.pane == paneCard {
		c.drawn = m.opts.Now()
	}
	return lines
}

func (m *Model) sentence(width, height int, text, hint string) []string {
	lines := make([]string, 0, height)
	add := func(style ui.Style, text string) {
		for _, line := range ui.Wrap(text, width-3) {
			lines = append(lines, ui.Row(width, ui.Style{}, ui.S(style, "  "+line)))
		}
	}
	lines = append(lines, ui.Spaces(width))
	add(m.theme.Text, text)
	add(m.theme.Quiet, hint)
	lines = lines[:min(len(lines), height)]
	for len(lines) < height {
		lines = append(lines, ui.Spaces(width))
	}
	return lines
}

// large is the card, or rubric and policy in its place, with the line that is typed.
func (m *Model) large(width, height int) []string {
	if height <= 0 {
		return nil
	}
	lines := []string{m.heading(width)}
	m.top, m.height = 1, height-1
	var foot []string
	switch {
	case height <= 2:
	case m.search.Typing:
		foot = append(foot, m.search.Line(m.theme, width))
		m.height--
	case m.edit != editNothing:
		foot = append(foot, m.line(width))
		m.height--
	}
	scroll, blocks := m.front()
	if blocks == nil {
		for range m.height {
			lines = append(lines, ui.Spaces(width))
		}
		return append(lines, foot...)
	}
	if blocks.Len() == 0 {
		lines = append(lines, m.sentence(width, m.height, "This run has neither rubric nor policy.", "")...)
		return append(lines, foot...)
	}
	return append(append(lines, scroll.View(blocks, width, m.height, m.edit == editNothing)...), foot...)
}

func (m *Model) heading(width int) string {
	t := m.theme
	if m.pane == paneRubric {
		return ui.Rule(t, width, "Rubric and policy", true, ui.S(t.Quiet, "r: the card again"))
	}
	right := []ui.Span{ui.S(t.Quiet, "not labelled")}
	if m.shown != nil {
		if v := m.cards[m.shown.at].Verdict; v != "" {
			right = []ui.Span{ui.S(t.Quiet, "you said "), ui.S(t.Text, string(v))}
		}
	}
	if text := m.search.Text(); text != "" {
		right = []ui.Span{ui.S(t.Accent, text)}
	}
	if m.saving {
		right = []ui.Span{ui.S(t.Info, "saving")}
	}
	return ui.Rule(t, width, fmt.Sprintf("Card %d of %d", m.at+1, len(m.cards)), true, right...)
}

func (m *Model) line(width int) string {
	t, name := m.theme, " note "
	if m.edit == editTag {
		name = " new failure tag "
	}
	return ui.Row(width, ui.Style{}, append([]ui.Span{ui.S(t.Accent.With(ui.Bold), name)}, m.field.Spans(t, width-ui.Width(name)-1)...)...)
}

// side is the column beside the card: progress, what it has bought, tags, note.
func (m *Model) side(width, height int) []string {
	t := m.theme
	var lines []string
	add := func(spans ...ui.Span) {
		lines = append(lines, ui.Row(width, ui.Style{}, append([]ui.Span{ui.S(t.Text, " ")}, spans...)...))
	}
	heading := func(title string) {
		if len(lines) > 0 {
			lines = append(lines, ui.Spaces(width))
		}
		lines = append(lines, ui.Rule(t, width, title, false))
	}
	heading("Labels")
	for _, row := range m.progress() {
		add(row...)
	}
	add(ui.Progress(t, t.Accent, width-2, len(m.cards)-m.left(), len(m.cards))...)
	if m.last != "" {
		style := t.Quiet
		if m.lastBad {
			style = t.Bad
		}
		add(ui.S(t.Quiet, "last  "), ui.S(style, m.last))
	}
	heading("What they have bought")
	for _, row := range m.bought(width - 2) {
		add(row...)
	}
	heading("Failure tags")
	if len(m.tags) == 0 {
		add(ui.S(t.Quiet, "none yet: T names one"))
	}
	for n := range m.tags[:min(len(m.tags), maxTags)] {
		add(m.tagSpans(n, width-2)...)
	}
	heading("Note")
	note := "none: M writes one"
	style := t.Quiet
	if m.shown != nil && m.shown.note != "" {
		note, style = string(m.shown.note), t.Text
	}
	for _, line := range ui.Wrap(ui.Line(note, width*6), width-2) {
		add(ui.S(style, line))
	}
	lines = lines[:min(len(lines), height)]
	for len(lines) < height {
		lines = append(lines, ui.Spaces(width))
	}
	return lines
}

func (m *Model) tagSpans(n, width int) []ui.Span {
	t, name := m.theme, m.tags[n].Name
	mark, style := "  ", t.Quiet
	if m.shown != nil && m.shown.tags[name] {
		mark, style = "● ", t.Accent
	}
	return []ui.Span{ui.S(t.Accent, fmt.Sprintf("%d ", n+1)), ui.S(style, mark+ui.Line(name, width-4))}
}

// progress is how far the queue has come.
func (m *Model) progress() [][]ui.Span {
	t := m.theme
	rows := [][]ui.Span{{ui.S(t.Text, ui.Count(len(m.cards)-m.left())), ui.S(t.Quiet, " of "+ui.Plural(len(m.cards), "card")+" labelled")}}
	rate := []ui.Span{ui.S(t.Quiet, "this sitting "), ui.S(t.Text, ui.Count(m.done))}
	if n, ok := m.perHour(); ok {
		rate = append(rate, ui.S(t.Quiet, ", "), ui.S(t.Text, ui.Count(n)), ui.S(t.Quiet, " an hour"))
	}
	return append(rows, rate)
}

// bought is what the labels say so far. The judge's numbers are there only once
// they were asked for.
func (m *Model) bought(width int) [][]ui.Span {
	t := m.theme
	if m.meter == nil {
		return [][]ui.Span{{ui.S(t.Quiet, "…")}}
	}
	rows := [][]ui.Span{{ui.S(t.Text, ui.Count(m.meter.Counted)), ui.S(t.Quiet, " count towards trust")}}
	if n := m.meter.NextLook; n > 0 {
		rows = append(rows, []ui.Span{ui.S(t.Text, ui.Count(n-m.meter.Counted)+" more"), ui.S(t.Quiet, fmt.Sprintf(" to the look at %d", n))})
	} else {
		rows = append(rows, []ui.Span{ui.S(t.Quiet, fmt.Sprintf("the word of the look at %d stands", m.meter.LastLook))})
	}
	if m.meter.Tied > 0 {
		rows = append(rows, []ui.Span{ui.S(t.Warn, "! "), ui.S(t.Text, ui.Count(m.meter.Tied)), ui.S(t.Quiet, " have no gold: votes tied")})
	}
	if !m.asked {
		return append(rows, []ui.Span{ui.S(t.Quiet, "judge's numbers: hidden, J shows")})
	}
	if m.meter.CannotPass {
		rows = append(rows, []ui.Span{ui.S(t.Warn, "! cannot pass within 200")})
	}
	tuning := m.meter.Tuning
	return append(rows, []ui.Span{ui.S(t.Quiet, fmt.Sprintf("tuning half, %d", tuning.Agreement.N))},
		m.figure("agreement", tuning.Agreement, stats.AgreementFloor), m.figure("kappa", tuning.Kappa, stats.KappaFloor))
}

// figure is a number with its interval and its floor; the mark says whether its lower
// end is over it.
func (m *Model) figure(name string, e stats.Estimate, floor float64) []ui.Span {
	t := m.theme
	in := ui.NewInterval(e.Value, e.Lo, e.Hi)
	mark := t.Unjudged()
	if in.HasBounds() {
		if mark = t.Fail(); in.Lo >= floor {
			mark = t.Pass()
		}
	}
	return []ui.Span{ui.S(mark.Style, mark.Sign+" "), ui.S(t.Quiet, name+" "), ui.S(t.Text, ui.Share(in.Value)+" "+in.Bounds()), ui.S(t.Quiet, " ≥"+ui.Share(floor))}
}

// strip is the same in a few lines below the card, where there is no room beside.
func (m *Model) strip(width int) []string {
	t := m.theme
	join := func(rows [][]ui.Span) []ui.Span {
		var spans []ui.Span
		for i, row := range rows {
			if i > 0 {
				spans = append(spans, ui.S(t.Line, " · "))
			}
			spans = append(spans, row...)
		}
		return spans
	}
	lead := ui.S(t.Text, " ")
	lines := []string{ui.Rule(t, width, "", false), ui.Row(width, ui.Style{}, append([]ui.Span{lead}, join(m.progress())...)...)}
	bought := m.bought(width)
	lines = append(lines, ui.Row(width, ui.Style{}, append([]ui.Span{lead}, join(bought[:min(len(bought), 3)])...)...))
	if len(bought) > 3 {
		lines = append(lines, ui.Row(width, ui.Style{}, append([]ui.Span{lead}, join(bought[3:])...)...))
	}
	var tags []ui.Span
	for n := range m.tags[:min(len(m.tags), maxTags)] {
		tags = append(append(tags, m.tagSpans(n, 24)...), ui.S(t.Text, "  "))
	}
	if len(m.tags) == 0 {
		tags = []ui.Span{ui.S(t.Quiet, "T names a failure tag")}
	}
	if m.shown != nil && m.shown.note != "" {
		tags = append(tags, ui.S(t.Quiet, "  note "), ui.S(t.Text, ui.Line(strings.TrimSpace(string(m.shown.note)), width)))
	}
	return append(lines, ui.Row(width, ui.Style{}, append([]ui.Span{lead}, tags...)...))
}
