package live

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

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

// numbers is what the run comes to so far, in so many lines with their rule.
func (m *Model) numbers(width, height int) []string {
	t := m.theme
	v := m.view()
	lines := []string{ui.Rule(t, width, "", false)}
	if v != nil {
		lines = append(lines, m.progressLine(v, width), m.rateLine(v, width))
		if height > 4 {
			lines = append(lines, m.coverLine(v, width), m.warnLine(width, 0))
		}
		if height > 6 {
			lines = append(lines, m.warnLine(width, 1), m.warnLine(width, 2))
		}
	}
	for len(lines) < height {
		lines = append(lines, ui.Spaces(width))
	}
	return lines[:height]
}

// countsOf is the latest that is known of a run's counts: what was heard while it
// runs, else what the store says.
func (m *Model) countsOf(v *rollouts) record.Counts {
	r := m.run()
	if v.counted && (r == nil || r.Status == record.RunRunning) {
		return v.counts
	}
	if r != nil {
		return r.Counts
	}
	return v.counts
}

// barWidth is the width of the bars at the left of the numbers.
func barWidth(width int) int { return max(min(width/4, 40), 12) }

const labelWidth = 9

func (m *Model) label(text string) ui.Span {
	return ui.S(m.theme.Quiet, " "+ui.Pad(text, labelWidth))
}

func (m *Model) progressLine(v *rollouts, width int) string {
	t := m.theme
	c := m.countsOf(v)
	ended := c.Done + c.LostTotal()
	spans := []ui.Span{m.label("rollouts")}
	spans = append(spans, ui.Progress(t, t.Accent, barWidth(width), ended, c.Planned)...)
	spans = append(spans, ui.S(t.Text, " "+ui.Count(ended)+"/"+ui.Count(c.Planned)))
	if m.story != nil && m.under == m.part {
		perSecond := m.rate.perSecond(v.runID)
		spans = append(spans, ui.S(t.Quiet, fmt.Sprintf("  %s/s", rateText(perSecond))))
		if width >= 100 {
			spans = append(spans, ui.S(t.Info, " "+ui.Sparkline(12, m.rate.history(v.runID))))
		}
		if left := c.Planned - ended; left > 0 && perSecond > 0 && !m.stops && !m.story.Paused() {
			spans = append(spans, ui.S(t.Quiet, "  left "), ui.S(t.Text, ui.Duration(time.Duration(float64(left)/perSecond*float64(time.Second)))))
		}
		spans = append(spans, ui.S(t.Quiet, fmt.Sprintf("  in flight %d/%d", v.inFlight(), m.story.Concurrency())))
	} else if r := m.run(); r != nil && !r.FinishedAt.IsZero() {
		spans = append(spans, ui.S(t.Quiet, "  took "+ui.Duration(r.FinishedAt.Sub(r.StartedAt))))
	}
	if n := total(m.retried); n > 0 {
		spans = append(spans, ui.S(t.Warn, "  tried again "+ui.Count(n)))
	}
	return ui.Row(width, ui.Style{}, append(spans, m.lostSpans(c)...)...)
}

// lostSpans is what was lost, by cause.
func (m *Model) lostSpans(c record.Counts) []ui.Span {
	if c.LostTotal() == 0 {
		return nil
	}
	var parts []string
	for _, cause := range slices.Sorted(maps.Keys(c.Lost)) {
		if n := c.Lost[cause]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", ui.CleanLine(string(cause)), n))
		}
	}
	return []ui.Span{ui.S(m.theme.Warn, "  ! lost "+strings.Join(parts, ", "))}
}

func total(byCause map[record.Cause]int) int {
	n := 0
	for _, v := range byCause {
		n += v
	}
	return n
}

func rateText(v float64) string {
	if v < 9.95 {
		return fmt.Sprintf("%.1f", v)
	}
	return ui.Count(int(v + 0.5))
}

func (m *Model) rateLine(v *rollouts, width int) string {
	t := m.theme
	c := m.countsOf(v)
	in := ui.NewInterval(v.pass.Value, v.pass.Lo, v.pass.Hi)
	spans := append([]ui.Span{m.label("pass@1")}, ui.IntervalBar(t, t.Accent, barWidth(width), in)...)
	switch {
	case in.Known():
		scope := "task"
		if v.heldOut {
			scope = "held-out task"
		}
		spans = append(spans, ui.S(t.Strong, " "+ui.Share(in.Value)), ui.S(t.Text, " "+in.Bounds()),
			ui.S(t.Quiet, "  "+ui.Plural(v.pass.N, scope)))
	case c.Done > 0 && c.Graded == 0:
		spans = append(spans, ui.S(t.Quiet, " no verdicts: this run has no reward"))
	default:
		spans = append(spans, ui.S(t.Quiet, " not yet"))
	}
	spans = append(spans, ui.S(t.Text, "  "),
		ui.S(t.Good, t.Pass().Sign+" "+ui.Count(c.Passed)), ui.S(t.Bad, "  "+t.Fail().Sign+" "+ui.Count(c.Graded-c.Passed)))
	if open := c.Done - c.Graded; open > 0 && c.Graded > 0 {
		spans = append(spans, ui.S(t.Warn, "  "+t.Unjudged().Sign+" "+ui.Count(open)))
	}
	return ui.Row(width, ui.Style{}, spans...)
}

func (m *Model) coverLine(v *rollouts, width int) string {
	t := m.theme
	spans := []ui.Span{m.label("covered")}
	r := m.run()
	if r != nil && r.Coverage != nil && r.Coverage.Planned > 0 {
		c := r.Coverage
		what := "pairs"
		if c.Strength > 2 {
			what = fmt.Sprintf("%d-tuples", c.Strength)
		}
		spans = append(spans, ui.Progress(t, t.Info, barWidth(width), c.Covered, c.Planned)...)
		spans = append(spans, ui.S(t.Text, " "+ui.Count(c.Covered)+"/"+ui.Count(c.Planned)), ui.S(t.Quiet, " "+what))
	} else {
		spans = append(spans, ui.Progress(t, t.Info, barWidth(width), 0, 0)...)
		spans = append(spans, ui.S(t.Quiet, " counted as rollouts come back"))
	}
	return ui.Row(width, ui.Style{}, append(spans, m.armSpans(v)...)...)
}

// armSpans is how many tasks each arm of the search brought.
func (m *Model) armSpans(v *rollouts) []ui.Span {
	t := m.theme
	counts := map[string]int{}
	most := 0
	for _, arms := range v.arms {
		for arm, n := range arms {
			counts[arm] += n
			most = max(most, counts[arm])
		}
	}
	if most == 0 {
		return nil
	}
	spans := []ui.Span{ui.S(t.Quiet, "   arms")}
	steps := []rune("▁▂▃▄▅▆▇█")
	byCount := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
	for _, arm := range byCount {
		column := string(steps[min(counts[arm]*len(steps)/(most+1), len(steps)-1)])
		spans = append(spans, ui.S(t.Info, "  "+column), ui.S(t.Quiet, " "+ui.CleanLine(strings.ReplaceAll(arm, "_", " "))), ui.S(t.Text, " "+ui.Count(counts[arm])))
	}
	return spans
}

// warnLine is the nth warning, the newest first.
func (m *Model) warnLine(width, n int) string {
	t := m.theme
	warnings := m.warnings()
	if n >= len(warnings) {
		if n == 0 {
			return ui.Row(width, ui.Style{}, m.label("warnings"), ui.S(t.Quiet, "none"))
		}
		return ui.Spaces(width)
	}
	w := warnings[len(warnings)-1-n]
	text := ui.CleanLine(w.Text)
	if w.Fix != "" {
		text += "; " + ui.CleanLine(w.Fix)
	}
	label := m.label("")
	if n == 0 {
		label = m.label("warnings")
	}
	count := ""
	if len(warnings) > 1 && n == 0 {
		count = fmt.Sprintf("%d  ", len(warnings))
	}
	return ui.Row(width, ui.Style{}, label, ui.S(t.Warn, "! "+count+ui.CleanLine(w.Code)+" "), ui.S(t.Quiet, text))
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
