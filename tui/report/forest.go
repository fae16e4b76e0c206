package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/engine"
	"assay/engine/stats"
	"assay/tui/ui"
)

// PassAt1 is the name of the reward's metric.
const PassAt1 = "pass_at_1"

// kindNumber is a metric that is no share: it has no place on the others' scale.
const kindNumber = "number"

// widths of the columns, in cells.
const (
	nameLeast, nameMost = 18, 30
	shareWidth          = 7
	boundsWidth         = 18
	pWidth              = 7
	tasksWidth          = 7
	verdictWidth        = 18
	barLeast, barMost   = 11, 61
	barFair             = 27 // figures that stand below the list too come after a bar of this width
)

// Forest lays out the metrics and slices of a report as lines of one width: before,
// after, the change, and its interval drawn against zero and the noise.
type Forest struct {
	theme         ui.Theme
	width         int
	report        *engine.DeltaReport
	name, bar     int
	bounds, p     bool
	holm, tasks   bool
	reach, slices float64 // how far the bars reach to either side
	targetMetric  *engine.DeltaMetric
}

// NewForest finds the columns that a width has room for: the bar first, then the
// interval in figures, p, the adjusted p, and how many tasks there are.
func NewForest(t ui.Theme, width int, r *engine.DeltaReport) *Forest {
	f := &Forest{theme: t, width: width, report: r}
	f.reach, f.slices = reaches(r)
	for i := range r.Metrics {
		f.name = max(f.name, ui.Width(f.title(&r.Metrics[i])))
		if r.Metrics[i].Name == r.Target {
			f.targetMetric = &r.Metrics[i]
		}
	}
	for i := range r.Slices {
		f.name = max(f.name, ui.Width(sliceTitle(&r.Slices[i])))
	}
	most := nameMost
	if width < 110 {
		most = nameLeast + 2
	}
	f.name = max(min(f.name, most), nameLeast)
	left := width - (2 + f.name + 3*shareWidth + verdictWidth)
	for _, c := range []struct {
		shown      *bool
		width, bar int // what the bar must still have
	}{{&f.bounds, boundsWidth, barLeast}, {&f.p, pWidth, barFair}, {&f.holm, pWidth, barFair}, {&f.tasks, tasksWidth, barFair}} {
		if left < c.width+c.bar+2 {
			break
		}
		*c.shown = true
		left -= c.width
	}
	f.bar = min(left-2, barMost)
	if f.bar < barLeast {
		f.bar = 0
	}
	if f.bar > 0 && f.bar%2 == 0 {
		f.bar-- // so that zero has a cell of its own in the middle
	}
	return f
}

// InOrder is the metrics with what decides first: the target, then the guards.
func InOrder(r *engine.DeltaReport) []engine.DeltaMetric {
	rank := func(m engine.DeltaMetric) int {
		switch {
		case m.Name == r.Target:
			return 0
		case m.Guard:
			return 1
		}
		return 2
	}
	out := slices.Clone(r.Metrics)
	slices.SortStableFunc(out, func(a, b engine.DeltaMetric) int { return rank(a) - rank(b) })
	return out
}

// Head names the columns of the metrics, SlicesHead those of the slices.
func (f *Forest) Head() string { return f.head("metric", f.reach) }

// SlicesHead names the columns of the slices.
func (f *Forest) SlicesHead() string { return f.head("by", f.slices) }

func (f *Forest) head(title string, reach float64) string {
	t := f.theme
	spans := []ui.Span{ui.S(t.Quiet, "  "+ui.Pad(title, f.name))}
	add := func(shown bool, name string, width int) {
		if shown {
			spans = append(spans, ui.S(t.Quiet, ui.PadLeft(name, width)))
		}
	}
	add(true, "before", shareWidth)
	add(true, "after", shareWidth)
	add(true, "delta", shareWidth)
	add(f.bounds, "95% interval", boundsWidth)
	add(f.p, "p", pWidth)
	add(f.holm, "p Holm", pWidth)
	add(f.tasks, "tasks", tasksWidth)
	if f.bar > 0 {
		left, right := "−"+ui.Share(reach), "+"+ui.Share(reach)
		middle := f.bar - ui.Width(left) - ui.Width(right)
		at := f.bar/2 - ui.Width(left)
		spans = append(spans, ui.S(t.Quiet, "  "+left+ui.Spaces(at)+"0"+ui.Spaces(middle-at-1)+right))
	}
	return ui.Row(f.width, ui.Style{}, spans...)
}

// Metric is the line of one metric.
func (f *Forest) Metric(m *engine.DeltaMetric, look ui.Look) string {
	t := f.theme
	mark := VerdictMark(t, string(m.Verdict))
	name := t.Text
	if m.Name == f.report.Target {
		name = t.Strong
	}
	band := math.NaN()
	if m.Band != nil {
		band = *m.Band
	}
	line := line{title: []ui.Span{ui.S(name, ui.Pad(f.title(m), f.name))}, kind: m.Kind, before: m.Before, after: m.After,
		in: ui.NewInterval(m.Delta, m.Lo, m.Hi), p: m.P, holm: m.PHolm, tasks: m.Paired, band: band, reach: f.reach, style: mark.Style, end: mark.Sign + " " + mark.Word}
	return f.draw(&line, look)
}

// Slice is the line of one slice of the target.
func (f *Forest) Slice(s *engine.DeltaSlice, look ui.Look) string {
	t := f.theme
	kind := "rate"
	if f.targetMetric != nil {
		kind = f.targetMetric.Kind
	}
	in := ui.NewInterval(s.Delta, s.Lo, s.Hi)
	style, end := t.Quiet, ui.Plural(s.Paired, "task")
	lower := f.targetMetric != nil && f.targetMetric.LowerIsBetter
	rose, fell := in.Lo > 0, in.Hi < 0 // false where there is no interval
	switch {
	case s.LowN:
		style, end = t.Warn, "? "+end+", low"
	case rose && !lower, fell && lower:
		style, end = t.Good, "▲ "+end
	case rose, fell:
		style, end = t.Bad, "▼ "+end
	default:
		end = "= " + end
	}
	title := sliceTitle(s)
	by := min(len(ui.CleanLine(s.By))+1, len(title))
	spans := []ui.Span{ui.S(t.Text, ui.Pad(title, f.name))}
	if f.name >= ui.Width(title) {
		spans = []ui.Span{ui.S(t.Quiet, title[:by]), ui.S(t.Text, title[by:]+ui.Spaces(f.name-ui.Width(title)))}
	}
	line := line{title: spans, slice: true, kind: kind, before: s.Before, after: s.After, in: in, tasks: s.Paired, band: math.NaN(), reach: f.slices, style: style, end: end}
	return f.draw(&line, look)
}

func sliceTitle(s *engine.DeltaSlice) string { return ui.CleanLine(s.By) + " " + ui.CleanLine(s.Value) }

// line is what the lines of metrics and of slices have in common.
type line struct {
	title         []ui.Span
	kind          string
	before, after *float64
	in            ui.Interval
	p, holm       *float64
	slice         bool
	tasks         int
	band, reach   float64
	style         ui.Style
	end           string
}

func (f *Forest) draw(l *line, look ui.Look) string {
	t := f.theme
	base := t.Base(look)
	spans := append([]ui.Span{cursor(t, base, look), ui.S(base, " ")}, l.title...)
	add := func(shown bool, style ui.Style, text string, width int) {
		if shown {
			spans = append(spans, ui.S(style, ui.PadLeft(text, width)))
		}
	}
	add(true, t.Quiet, Value(l.kind, l.before), shareWidth)
	add(true, t.Text, Value(l.kind, l.after), shareWidth)
	add(true, l.style, Change(l.kind, l.in.Value), shareWidth)
	bounds := ""
	if l.in.HasBounds() {
		bounds = "[" + Change(l.kind, l.in.Lo) + ", " + Change(l.kind, l.in.Hi) + "]"
	}
	add(f.bounds, t.Quiet, bounds, boundsWidth)
	p, holm := PValue(l.p), PValue(l.holm)
	if l.slice {
		p, holm = "", "" // slices are not tested
	}
	add(f.p, t.Quiet, p, pWidth)
	add(f.holm, t.Quiet, holm, pWidth)
	add(f.tasks, t.Quiet, ui.Count(l.tasks), tasksWidth)
	switch {
	case f.bar > 0 && l.kind == kindNumber:
		spans = append(spans, ui.S(t.Quiet, ui.Pad("  in its own unit", f.bar+2)))
	case f.bar > 0:
		spans = append(append(spans, ui.S(base, "  ")), ui.DeltaBar(t, l.style, f.bar, l.in, l.reach, l.band)...)
	}
	return ui.Row(f.width, base, append(spans, ui.S(l.style, "  "+l.end))...)
}

// title is a metric's name with what it is to the report.
func (f *Forest) title(m *engine.DeltaMetric) string {
	title := ui.CleanLine(m.Name)
	switch target := m.Name == f.report.Target; {
	case target && m.Guard:
		title = "◉◆ " + title
	case target:
		title = "◉ " + title
	case m.Guard:
		title = "◆ " + title
	}
	if m.LowerIsBetter {
		title += " ↓"
	}
	return title
}

// Legend says what the signs beside the names mean, of those that are there, and what
// the noise is.
func (f *Forest) Legend() []string {
	t, r := f.theme, f.report
	l := Lines{Theme: t, Width: f.width}
	parts := []string{"◉ target"}
	has := func(is func(*engine.DeltaMetric) bool) bool {
		for i := range r.Metrics {
			if is(&r.Metrics[i]) {
				return true
			}
		}
		return false
	}
	if has(func(m *engine.DeltaMetric) bool { return m.Guard }) {
		parts = append(parts, "◆ must not regress")
	}
	if has(func(m *engine.DeltaMetric) bool { return m.LowerIsBetter }) {
		parts = append(parts, "↓ lower is better")
	}
	if f.bar > 0 && has(func(m *engine.DeltaMetric) bool { return m.Band != nil }) {
		parts = append(parts, "┄ noise")
	}
	l.Text(t.Quiet, strings.Join(parts, "   "))
	switch n := r.Noise; {
	case n == nil:
		l.Text(t.Quiet, "no noise band: neither side has two eval runs")
	default:
		text := fmt.Sprintf("noise band of %s ±%s: eval runs of one agent differ by that much", targetName(r), Value(f.targetKind(), &n.Band))
		if n.Rough {
			text += " (rough: two eval runs)"
		}
		l.Text(t.Quiet, text)
	}
	if text := corrected(r); text != "" {
		l.Text(t.Text, text)
	}
	return l.All
}

// corrected says the change of the pass rate corrected for the judge by gold, or how many
// labels that still needs; "" where nobody labelled.
func corrected(r *engine.DeltaReport) string {
	c := r.Corrected
	if c == nil {
		return ""
	}
	change := func(e stats.Estimate) string {
		in := ui.NewInterval(e.Value, e.Lo, e.Hi)
		text := ui.Signed(in.Value)
		if in.HasBounds() {
			text += " [" + ui.Signed(in.Lo) + ", " + ui.Signed(in.Hi) + "]"
		}
		return text
	}
	if c.Corrected.Value == nil {
		return fmt.Sprintf("%s by the judge alone; to correct it by gold, label %s more before and %d after", PassAt1, ui.Plural(c.MissingBefore, "task"), c.MissingAfter)
	}
	return fmt.Sprintf("%s corrected for the judge by gold: %s (the judge alone %s, gold alone %s on %s)", PassAt1, change(c.Corrected), change(c.JudgeOnly), change(c.GoldOnly), ui.Plural(c.GoldOnly.N, "task"))
}

func (f *Forest) targetKind() string {
	if f.targetMetric == nil {
		return "rate"
	}
	return f.targetMetric.Kind
}

func targetName(r *engine.DeltaReport) string {
	if r.Target == "" {
		return PassAt1
	}
	return r.Target
}

// Value is a metric's value: a share in two decimals, another number in four digits.
func Value(kind string, v *float64) string {
	switch {
	case v == nil || math.IsNaN(*v):
		return "–"
	case kind == kindNumber:
		return fmt.Sprintf("%.4g", *v)
	}
	return ui.Share(*v)
}

// Change is a change of a metric, with its sign.
func Change(kind string, v float64) string {
	switch {
	case kind != kindNumber || math.IsNaN(v):
		return ui.Signed(v)
	case math.Abs(v) < 100:
		return fmt.Sprintf("%+.2f", v)
	}
	return fmt.Sprintf("%+.3g", v)
}

// PValue is a p-value, a dash where there is none.
func PValue(p *float64) string {
	switch {
	case p == nil || math.IsNaN(*p):
		return "–"
	case *p < 0.001:
		return "<.001"
	case *p > 0.9995:
		return "1.0"
	}
	return fmt.Sprintf("%.3f", *p)[1:]
}

// reaches are how far the bars of metrics and of slices reach to either side: the
// farthest end of an interval, at least a tenth, so that small changes look small.
func reaches(r *engine.DeltaReport) (metrics, slices float64) {
	metrics, slices = leastReach, leastReach
	see := func(reach *float64, values ...*float64) {
		for _, v := range values {
			if v != nil && !math.IsInf(*v, 0) && !math.IsNaN(*v) {
				*reach = math.Max(*reach, math.Abs(*v))
			}
		}
	}
	for i := range r.Metrics {
		if m := &r.Metrics[i]; m.Kind != kindNumber {
			see(&metrics, m.Delta, m.Lo, m.Hi)
		}
	}
	for i := range r.Slices {
		see(&slices, r.Slices[i].Delta, r.Slices[i].Lo, r.Slices[i].Hi)
	}
	tenths := func(v float64) float64 { return math.Ceil(v*10-1e-9) / 10 }
	return tenths(metrics), tenths(slices)
}

// leastReach is the least that a bar reaches to. Convention.
const leastReach = 0.1

// VerdictMark is the sign and the words of a metric's verdict.
func VerdictMark(t ui.Theme, verdict string) ui.Mark {
	switch verdict {
	case "improved":
		return ui.Mark{Sign: "▲", Word: "improved", Style: t.Good}
	case "regressed":
		return ui.Mark{Sign: "▼", Word: "regressed", Style: t.Bad}
	case "within_noise":
		return ui.Mark{Sign: "≈", Word: "within noise", Style: t.Warn}
	case "no_difference":
		return ui.Mark{Sign: "=", Word: "no difference", Style: t.Quiet}
	case "insufficient":
		return ui.Mark{Sign: "?", Word: "too few tasks", Style: t.Warn}
	case "degenerate":
		return ui.Mark{Sign: "·", Word: "never varied", Style: t.Quiet}
	case "not_measured":
		return ui.Mark{Sign: "?", Word: "not measured", Style: t.Warn}
	}
	return ui.Mark{Sign: "·", Word: ui.CleanLine(verdict), Style: t.Quiet}
}
