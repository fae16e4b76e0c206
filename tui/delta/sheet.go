package delta

import (
	"strings"

	"assay/engine"
	"assay/engine/record"
	"assay/tui/report"
	"assay/tui/ui"
)

// part is what a block of a report's sheet is.
type part uint8

const (
	partHeadline part = iota
	partRules
	partCause
	partTitle // a rule across, with the names of the columns
	partMetric
	partLegend
	partSlice
	partWarning
)

type block struct {
	part    part
	at      int // of a slice
	metric  *engine.DeltaMetric
	slice   *engine.DeltaSlice
	warning *record.Warning // of a cause too
	title   string
}

// sheet is a report as blocks: its headline, what makes it so, its metrics, slices and
// warnings.
type sheet struct {
	report *shown
	rules  []engine.DeltaRule
	blocks []block
	open   bool // the rules are unfolded
	theme  ui.Theme
	gen    uint64
	forest *report.Forest // of the width that was drawn last
	width  int
	scroll ui.Scroll
}

func newSheet(t ui.Theme, r *shown) *sheet {
	s := &sheet{report: r, theme: t, rules: r.Rules()}
	s.add(block{part: partHeadline})
	if len(s.rules) > 0 {
		s.add(block{part: partRules})
	}
	causes := report.Causes(&r.DeltaReport)
	for i := range causes {
		s.add(block{part: partCause, warning: &causes[i]})
	}
	metrics := report.InOrder(&r.DeltaReport)
	if len(metrics) > 0 {
		s.add(block{part: partTitle, title: "Metrics"})
	}
	for i := range metrics {
		s.add(block{part: partMetric, metric: &metrics[i]})
	}
	s.add(block{part: partLegend})
	if len(r.Slices) > 0 {
		s.add(block{part: partTitle, title: "Slices of " + ui.CleanLine(r.Target)})
	}
	for i := range r.Slices {
		s.add(block{part: partSlice, slice: &r.Slices[i], at: i})
	}
	if len(r.Warnings) > 0 {
		s.add(block{part: partTitle, title: "Warnings"})
	}
	for i := range r.Warnings {
		s.add(block{part: partWarning, warning: &r.Warnings[i]})
	}
	for i := range s.blocks {
		if s.blocks[i].part == partMetric {
			s.scroll.To(s, i)
			break
		}
	}
	return s
}

func (s *sheet) add(b block) { s.blocks = append(s.blocks, b) }

// under is the block under the cursor.
func (s *sheet) under() *block { return &s.blocks[min(s.scroll.Cursor(), len(s.blocks)-1)] }

// stops reports whether the cursor rests on a block when it goes line by line.
func (s *sheet) stops(i int) bool {
	switch s.blocks[i].part {
	case partTitle, partLegend:
		return false
	}
	return true
}

// move moves the cursor; over what there is nothing to do with it goes on.
func (s *sheet) move(id string) {
	for {
		was := s.scroll.Cursor()
		s.scroll.Move(id, s)
		now := s.scroll.Cursor()
		if now == was || s.stops(now) || id != ui.Up && id != ui.Down {
			return
		}
	}
}

// goTo puts the cursor on a metric or, where by is given, on a slice.
func (s *sheet) goTo(metric, by, value string) {
	for i, b := range s.blocks {
		if by == "" && b.metric != nil && b.metric.Name == metric || by != "" && b.slice != nil && b.slice.By == by && b.slice.Value == value {
			s.scroll.To(s, i)
			return
		}
	}
}

func (s *sheet) restyle(t ui.Theme) {
	s.theme = t
	s.gen++
	s.forest = nil
	s.scroll.Forget()
}

// Len is the number of blocks.
func (s *sheet) Len() int { return len(s.blocks) }

// Version tells drawn blocks apart.
func (s *sheet) Version(i int) uint64 { return s.gen<<32 | uint64(i) }

// Draw draws a block.
func (s *sheet) Draw(i, width int, look ui.Look) []string {
	if s.forest == nil || s.width != width {
		s.forest, s.width = report.NewForest(s.theme, width, &s.report.DeltaReport), width
	}
	t := s.theme
	switch b := &s.blocks[i]; b.part {
	case partHeadline:
		return headline(t, width, s.report, look)
	case partRules:
		return s.drawRules(width, look)
	case partCause:
		return report.Cause(t, width, b.warning, look)
	case partTitle:
		if b.title == "Warnings" {
			return []string{ui.Rule(t, width, b.title, false)}
		}
		head := s.forest.Head()
		if b.title != "Metrics" {
			head = s.forest.SlicesHead()
		}
		return []string{ui.Rule(t, width, b.title, false), head}
	case partMetric:
		return []string{s.forest.Metric(b.metric, look)}
	case partSlice:
		return []string{s.forest.Slice(b.slice, look)}
	case partWarning:
		return report.Warning(t, width, b.warning, look)
	}
	return s.forest.Legend()
}

// headline is the word, its sentence and what it rests on, with a line of air around.
func headline(t ui.Theme, width int, r *shown, look ui.Look) []string {
	lines := append([]string{ui.Spaces(width)}, report.Headline(t, width, &r.DeltaReport)...)
	origin := "compared here and now, not saved"
	if r.saved {
		origin = "as it was saved with its story"
	}
	l := report.Lines{Theme: t, Width: width}
	l.Row(ui.S(t.Quiet, origin))
	if look == ui.Active {
		lines[1] = ui.Row(1, ui.Style{}, ui.S(t.Accent, "▎")) + ui.Row(width-1, ui.Style{}, ui.S(t.Text, " "), ui.S(report.HeadlineStyle(t, &r.DeltaReport), ui.CleanLine(string(r.Headline))))
	}
	return append(append(lines, l.All...), ui.Spaces(width))
}

// drawRules is what makes the headline so: folded its last question alone.
func (s *sheet) drawRules(width int, look ui.Look) []string {
	t := s.theme
	base := t.Base(look)
	row := func(spans ...ui.Span) string {
		lead := ui.S(base, "  ")
		if look == ui.Active {
			lead = ui.S(t.Accent, "▎ ")
		}
		return ui.Row(width, base, append([]ui.Span{lead}, spans...)...)
	}
	if last := s.rules[len(s.rules)-1]; !s.open {
		return []string{row(ui.S(t.Quiet, "▸ because "), ui.S(t.Text, ui.CleanLine(last.Says)))}
	}
	lines := []string{row(ui.S(t.Quiet, "▾ The questions in their order; the first yes is the word."))}
	const word = 21 // the longest of them, and a space
	for _, r := range s.rules {
		sign, style := "no   ", t.Quiet
		if r.Holds {
			sign, style = "yes  ", t.Strong
		}
		name, why, _ := strings.Cut(strings.TrimSuffix(ui.CleanLine(string(r.Headline)), ")"), " (")
		if why != "" {
			name = strings.ToUpper(why) // the same word comes again without it
		}
		for i, line := range ui.Wrap(ui.Clean(r.Says), max(width-4-5-word, 8)) {
			if i > 0 {
				sign, name = "     ", ""
			}
			lines = append(lines, row(ui.S(base, "  "), ui.S(style, sign), ui.S(style, ui.Pad(name, word)), ui.S(t.Text, line)))
		}
	}
	return lines
}

// toggle folds or unfolds the rules, where the cursor is on them.
func (s *sheet) toggle() bool {
	if s.under().part != partRules {
		return false
	}
	s.open = !s.open
	s.gen++
	return true
}
