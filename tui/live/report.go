package live

import (
	"math"
	"slices"
	"strings"

	"assay/engine/record"
	"assay/tui/ui"
)

// Report is what the screen reads of a saved delta report, by its public names.
type Report struct {
	Before, After string
	Headline      string
	Line          string
	OK            bool
	Scope         string
	Target        string
	NPaired       int `json:"n_paired"`
	NUnpaired     int `json:"n_unpaired"`
	Metrics       []Metric
	Noise         *Noise
	NotComparable []string `json:"not_comparable"`
	Warnings      []record.Warning
}

// Metric is one line of a report.
type Metric struct {
	Name          string
	Kind          string // reward, rate or number
	Before, After *float64
	Delta, Lo, Hi *float64
	P             *float64
	NPaired       int `json:"n_paired"`
	Verdict       string
	Guard         bool
	LowerIsBetter bool `json:"lower_is_better"`
}

// Noise is how much the target moves by itself.
type Noise struct {
	Band  *float64
	Rough bool
}

// page is text of single lines that scrolls as a whole.
type page struct {
	lines []string
	gen   uint64
}

func (p *page) Len() int             { return len(p.lines) }
func (p *page) Version(i int) uint64 { return p.gen }
func (p *page) Draw(i, width int, _ ui.Look) []string {
	return []string{p.lines[i]}
}

// writer collects the lines of a page of one width.
type writer struct {
	theme ui.Theme
	width int
	lines []string
}

func (w *writer) row(spans ...ui.Span) {
	w.lines = append(w.lines, ui.Row(w.width, ui.Style{}, append([]ui.Span{ui.S(ui.Style{}, "  ")}, spans...)...))
}

func (w *writer) gap() { w.lines = append(w.lines, ui.Spaces(w.width)) }

func (w *writer) text(style ui.Style, text string) {
	for _, line := range ui.Wrap(ui.Clean(text), w.width-4) {
		w.row(ui.S(style, line))
	}
}

func (w *writer) warnings(warnings []record.Warning) {
	for _, warning := range warnings {
		w.row(ui.S(w.theme.Warn, "! "), ui.S(w.theme.Strong, ui.CleanLine(warning.Code)))
		for _, text := range []string{warning.Text, warning.Fix} {
			if text == "" {
				continue
			}
			for _, line := range ui.Wrap(ui.Clean(text), w.width-6) {
				w.row(ui.S(ui.Style{}, "  "), ui.S(w.theme.Quiet, line))
			}
		}
	}
}

// deltaPage is the report of before and after.
func deltaPage(t ui.Theme, width int, r *Report) []string {
	w := &writer{theme: t, width: width}
	w.gap()
	w.row(ui.S(headlineStyle(t, r), ui.CleanLine(r.Headline)))
	if r.Line != "" {
		w.text(t.Text, r.Line)
	}
	w.gap()
	scope := "held-out tasks"
	if r.Scope != "held_out" {
		scope = "all tasks, training tasks too"
	}
	paired := ui.Plural(r.NPaired, "task") + " paired"
	if r.NUnpaired > 0 {
		paired += ", " + ui.Count(r.NUnpaired) + " on one side only"
	}
	w.text(t.Quiet, "on "+scope+"  ·  "+paired)
	for _, cause := range r.NotComparable {
		w.text(t.Bad, "not comparable: "+cause)
	}
	w.gap()
	w.metrics(r)
	w.legend(r)
	w.noise(r)
	if len(r.Warnings) > 0 {
		w.gap()
		w.warnings(r.Warnings)
	}
	return w.lines
}

func headlineStyle(t ui.Theme, r *Report) ui.Style {
	switch {
	case r.OK:
		return t.Good.With(ui.Bold)
	case r.Headline == "FAIL":
		return t.Bad.With(ui.Bold)
	}
	return t.Warn.With(ui.Bold)
}

// columns of the metrics' table, in cells.
const (
	nameWidth    = 26
	nameNarrow   = 18
	shareWidth   = 8
	boundsWidth  = 18
	pWidth       = 7
	verdictWidth = 16
	barMost      = 48
	barLeast     = 11
)

func (w *writer) metrics(r *Report) {
	t := w.theme
	name := nameWidth
	if w.width < 110 {
		name = nameNarrow
	}
	fixed := 2 + name + 3*shareWidth + verdictWidth
	bounds := w.width >= fixed+boundsWidth+barLeast+2
	p := w.width >= fixed+boundsWidth+pWidth+barLeast+2
	if bounds {
		fixed += boundsWidth
	}
	if p {
		fixed += pWidth
	}
	bar := min(w.width-fixed-4, barMost)
	if bar < barLeast {
		bar = 0
	}
	if bar > 0 && bar%2 == 0 {
		bar-- // so that zero has a cell of its own in the middle
	}
	head := []ui.Span{
		ui.S(t.Quiet, ui.Pad("metric", name)), ui.S(t.Quiet, ui.PadLeft("before", shareWidth)),
		ui.S(t.Quiet, ui.PadLeft("after", shareWidth)), ui.S(t.Quiet, ui.PadLeft("delta", shareWidth)),
	}
	if bounds {
		head = append(head, ui.S(t.Quiet, ui.PadLeft("95% interval", boundsWidth)))
	}
	if p {
		head = append(head, ui.S(t.Quiet, ui.PadLeft("p", pWidth)))
	}
	reach := reachOf(r)
	if bar > 0 {
		left := "−" + ui.Share(reach)
		right := "+" + ui.Share(reach)
		middle := bar - ui.Width(left) - ui.Width(right)
		head = append(head, ui.S(t.Quiet, "  "+left+ui.Pad(ui.PadLeft("0", middle/2+1), middle)+right))
	}
	w.row(head...)
	band := math.NaN()
	if r.Noise != nil && r.Noise.Band != nil {
		band = *r.Noise.Band
	}
	for _, m := range r.inOrder() {
		in := ui.NewInterval(m.Delta, m.Lo, m.Hi)
		mark, style, word := verdictMark(t, m.Verdict)
		title := ui.CleanLine(m.Name)
		style2 := t.Text
		switch {
		case m.Guard:
			title = "◆ " + title
		case m.Name == r.Target:
			style2 = t.Strong
		}
		if m.LowerIsBetter {
			title += " ↓" // lower is better
		}
		spans := []ui.Span{
			ui.S(style2, ui.Pad(title, name)),
			ui.S(t.Quiet, ui.PadLeft(share(m.Before), shareWidth)), ui.S(t.Text, ui.PadLeft(share(m.After), shareWidth)),
			ui.S(style, ui.PadLeft(ui.Signed(in.Value), shareWidth)),
		}
		if bounds {
			text := ""
			if in.HasBounds() {
				text = "[" + ui.Signed(in.Lo) + ", " + ui.Signed(in.Hi) + "]"
			}
			spans = append(spans, ui.S(t.Quiet, ui.PadLeft(text, boundsWidth)))
		}
		if p {
			text := "–"
			if m.P != nil {
				text = pValue(*m.P)
			}
			spans = append(spans, ui.S(t.Quiet, ui.PadLeft(text, pWidth)))
		}
		if bar > 0 && m.Kind == kindNumber {
			spans = append(spans, ui.S(t.Quiet, ui.Pad("  in its own unit", bar+2)))
		} else if bar > 0 {
			b := math.NaN()
			if m.Name == r.Target || m.Name == "pass_at_1" {
				b = band // the band is the target's noise; other metrics have none of their own
			}
			spans = append(append(spans, ui.S(t.Text, "  ")), ui.DeltaBar(t, style, bar, in, reach, b)...)
		}
		spans = append(spans, ui.S(style, "  "+mark+" "+word))
		w.row(spans...)
	}
}

// inOrder is the metrics with what decides first: the target, then the guards.
func (r *Report) inOrder() []Metric {
	rank := func(m Metric) int {
		switch {
		case m.Name == r.Target:
			return 0
		case m.Guard:
			return 1
		}
		return 2
	}
	out := slices.Clone(r.Metrics)
	slices.SortStableFunc(out, func(a, b Metric) int { return rank(a) - rank(b) })
	return out
}

// legend says what the signs beside the names mean, of those that are there.
func (w *writer) legend(r *Report) {
	var parts []string
	for _, m := range r.Metrics {
		if m.Guard {
			parts = append(parts, "◆ must not regress")
			break
		}
	}
	for _, m := range r.Metrics {
		if m.LowerIsBetter {
			parts = append(parts, "↓ lower is better")
			break
		}
	}
	if len(parts) > 0 {
		w.gap()
		w.row(ui.S(w.theme.Quiet, strings.Join(parts, "   ")))
	}
}

func share(v *float64) string {
	if v == nil {
		return "–"
	}
	return ui.Share(*v)
}

func pValue(p float64) string {
	if p < 0.001 {
		return "<.001"
	}
	return ui.Signed(p)[1:]
}

// kindNumber is a metric that is no share: it has no place on the others' scale.
const kindNumber = "number"

// reachOf is how far the bars reach to either side: the farthest end of an
// interval, at least a tenth, so that small changes look small.
func reachOf(r *Report) float64 {
	reach := 0.1
	for _, m := range r.Metrics {
		if m.Kind == kindNumber {
			continue
		}
		for _, v := range []*float64{m.Delta, m.Lo, m.Hi} {
			if v != nil && !math.IsInf(*v, 0) && !math.IsNaN(*v) {
				reach = math.Max(reach, math.Abs(*v))
			}
		}
	}
	return math.Ceil(reach*10-1e-9) / 10
}

func verdictMark(t ui.Theme, verdict string) (sign string, style ui.Style, word string) {
	switch verdict {
	case "improved":
		return "▲", t.Good, "improved"
	case "regressed":
		return "▼", t.Bad, "regressed"
	case "within_noise":
		return "≈", t.Warn, "within noise"
	case "no_difference":
		return "=", t.Quiet, "no difference"
	case "insufficient":
		return "?", t.Warn, "too few tasks"
	case "degenerate":
		return "·", t.Quiet, "never varied"
	case "not_measured":
		return "?", t.Warn, "not measured"
	}
	return "·", t.Quiet, ui.CleanLine(verdict)
}

func (w *writer) noise(r *Report) {
	if r.Noise == nil {
		return
	}
	if r.Noise.Band == nil {
		w.row(ui.S(w.theme.Quiet, "no noise band: neither side has two eval runs"))
		return
	}
	text := "noise band ┄ of " + r.targetName() + " ±" + ui.Share(*r.Noise.Band) + ": a change no larger than this is not a change"
	if r.Noise.Rough {
		text += " (rough: two eval runs)"
	}
	w.text(w.theme.Quiet, text)
}

func (r *Report) targetName() string {
	if r.Target == "" {
		return "pass_at_1"
	}
	return ui.CleanLine(r.Target)
}

// cutPage is what became of the training files.
func cutPage(t ui.Theme, width int, cuts []Cut, underway bool) []string {
	w := &writer{theme: t, width: width}
	w.gap()
	if len(cuts) == 0 && underway {
		w.row(ui.S(t.Quiet, "The training files are being cut."))
		return w.lines
	}
	if len(cuts) == 0 {
		w.row(ui.S(t.Quiet, "No training file was written."))
		return w.lines
	}
	for _, c := range cuts {
		mark := t.Pass()
		if c.Error != "" {
			mark = t.Fail()
		}
		rows := ui.Plural(c.RowsOut, "row")
		if c.RowsIn > 0 {
			rows = ui.Count(c.RowsOut) + " of " + ui.Plural(c.RowsIn, "row")
		}
		w.row(ui.S(mark.Style, mark.Sign+" "), ui.S(t.Strong, ui.CleanLine(c.For)), ui.S(t.Quiet, "  "+ui.CleanLine(c.Format)+"  "), ui.S(t.Text, rows))
		if c.File != "" {
			w.row(ui.S(t.Quiet, "  "+ui.CleanLine(c.File)))
		}
		if c.Error != "" {
			w.text(t.Bad, "  "+c.Error)
		}
		for _, g := range c.Gates {
			if g.In == g.Out {
				continue
			}
			w.row(ui.S(t.Text, "  "+ui.Pad(ui.CleanLine(g.Name), 28)), ui.S(t.Bad, ui.PadLeft("−"+ui.Count(g.In-g.Out), 8)),
				ui.S(t.Quiet, "  "+ui.Count(g.In)+" → "+ui.Count(g.Out)))
		}
		w.warnings(c.Warnings)
		w.gap()
	}
	return w.lines
}

// warningsPage is every warning whole, with what to do, the newest first.
func warningsPage(t ui.Theme, width int, warnings []record.Warning) []string {
	w := &writer{theme: t, width: width}
	w.gap()
	if len(warnings) == 0 {
		w.row(ui.S(t.Quiet, "There are no warnings."))
	}
	newest := slices.Clone(warnings)
	slices.Reverse(newest)
	w.warnings(newest)
	return w.lines
}
