package judge

import (
	"fmt"
	"math"
	"strings"

	"assay/engine"
	"assay/engine/stats"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// page is the report as lines, in the order in which they are read.
type page struct {
	gen   uint64
	lines []line
	open  map[string]bool // probes that are unfolded, by name
}

// line is one block of the page.
type line struct {
	draw func(width int, look ui.Look) []string
	// probe is the index of the probe that the line belongs to, -1 for none, and row
	// that of one of its rows, -1 for the probe itself.
	probe, row int
	text       string // for copying
}

// book is the page as blocks.
type book struct{ m *Model }

func (b book) Len() int             { return len(b.m.page.lines) }
func (b book) Version(i int) uint64 { return b.m.page.gen<<24 | uint64(i) }
func (b book) Draw(i, width int, look ui.Look) []string {
	return b.m.page.lines[i].draw(width, look)
}

// word is the headline with its mark.
func (m *Model) word() ui.Mark {
	t, said := m.theme, ui.CleanLine(string(m.report.Headline))
	switch string(m.report.Headline) {
	case string(stats.TrustTrusted):
		return ui.Mark{Sign: t.Pass().Sign, Word: said, Style: t.Good}
	case string(stats.TrustFail):
		return ui.Mark{Sign: t.Fail().Sign, Word: said, Style: t.Bad}
	}
	return ui.Mark{Sign: t.Unjudged().Sign, Word: said, Style: t.Warn}
}

// setReport lays a report out; the cursor stays where it is.
func (m *Model) setReport(r *engine.TrustReport) {
	m.report = r
	m.layOut()
}

func (m *Model) layOut() {
	p := &m.page
	p.gen++
	p.lines = nil
	if p.open == nil {
		p.open = map[string]bool{}
	}
	r := m.report
	if r == nil {
		return
	}
	m.headline(r)
	if r.N > 0 {
		m.floors(r)
		m.confusion(r)
		m.halves(r)
		m.lengths(r)
	}
	m.probes(r)
	m.again(r)
	m.positions(r)
	m.people(r)
	m.others(r)
	m.notes(r)
}

func (m *Model) addLine(l line) { m.page.lines = append(m.page.lines, l) }

// say adds a paragraph with a sign before it.
func (m *Model) say(sign ui.Mark, style func(ui.Theme) ui.Style, text string) {
	text = ui.CleanLine(text)
	m.addLine(line{probe: -1, row: -1, text: text, draw: func(width int, look ui.Look) []string {
		t := m.theme
		base := t.Base(look)
		var out []string
		for i, part := range ui.Wrap(text, width-5) {
			lead := ui.S(sign.Style, " "+sign.Sign+" ")
			if i > 0 || sign.Sign == "" {
				lead = ui.S(base, "   ")
			}
			out = append(out, ui.Row(width, base, transcript.Cursor(t, look), lead, ui.S(style(t), part)))
		}
		return out
	}})
}

func plain(t ui.Theme) ui.Style { return t.Text }
func quiet(t ui.Theme) ui.Style { return t.Quiet }

func (m *Model) heading(title string) {
	m.addLine(line{probe: -1, row: -1, text: title, draw: func(width int, look ui.Look) []string {
		t := m.theme
		base := t.Base(look)
		fill := strings.Repeat("─", max(width-ui.Width(title)-6, 0))
		return []string{ui.Spaces(width), ui.Row(width, base, transcript.Cursor(t, look), ui.S(t.Line, "── "), ui.S(t.Strong, title), ui.S(t.Line, " "+fill))}
	}})
}

// barWidth is as wide as tells a twentieth apart. Convention.
const barWidth = 20

// roomForBar is the width from which a bar leaves room for the floor behind it.
const roomForBar = 82

// nameWidth holds the longest name of a figure.
const nameWidth = 24

// figure adds a number with its interval as a bar; floor is NaN for a number that is
// held against none.
func (m *Model) figure(name string, e stats.Estimate, floor float64) {
	in := ui.NewInterval(e.Value, e.Lo, e.Hi)
	m.addLine(line{probe: -1, row: -1, text: fmt.Sprintf("%s %s %s, n %d", name, ui.Share(in.Value), in.Bounds(), e.N), draw: func(width int, look ui.Look) []string {
		t := m.theme
		base := t.Base(look)
		mark, style := t.Finished(), t.Accent
		if !math.IsNaN(floor) {
			mark = t.Unjudged()
			if in.HasBounds() {
				mark = t.Fail()
				if in.Lo >= floor {
					mark = t.Pass()
				}
			}
			style = mark.Style
		}
		spans := []ui.Span{transcript.Cursor(t, look), ui.S(mark.Style, " "+mark.Sign+" "), ui.S(t.Text, ui.Pad(name, nameWidth)+" ")}
		if width >= roomForBar {
			spans = append(append(spans, ui.IntervalBar(t, style, barWidth, in)...), ui.S(base, "  "))
		}
		spans = append(spans, ui.S(t.Strong, ui.PadLeft(ui.Share(in.Value), 4)), ui.S(t.Quiet, " "+ui.Pad(in.Bounds(), 12)))
		if !math.IsNaN(floor) {
			spans = append(spans, ui.S(t.Quiet, "  floor "), ui.S(t.Text, ui.Share(floor)))
		} else {
			spans = append(spans, ui.S(t.Quiet, fmt.Sprintf("  n %d", e.N)))
		}
		return []string{ui.Row(width, base, spans...)}
	}})
}
