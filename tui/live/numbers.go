package live

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"assay/engine/record"
	"assay/tui/ui"
)

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
	spans = append(spans, m.lostSpans(c, width-spansWidth(spans))...)
	if n := total(m.retried); n > 0 {
		spans = append(spans, ui.S(t.Warn, "  retried "+ui.Count(n)))
	}
	spans = append(spans, m.spentSpans(c.Spent.Total(), width-spansWidth(spans))...)
	return ui.Row(width, ui.Style{}, spans...)
}

// spentSpans is what the run's models used up, where so many cells hold it: the money
// alone where they do not hold both.
func (m *Model) spentSpans(u record.Usage, room int) []ui.Span {
	tokens, cost := "", ""
	if u.Tokens() > 0 {
		tokens = "  " + ui.Count(int(u.Tokens())) + " tokens"
	}
	if u.Cost > 0 {
		cost = fmt.Sprintf("  cost %.4g", u.Cost)
	}
	if cost != "" && ui.Width(tokens+cost) > room {
		tokens = ""
	}
	if says := tokens + cost; says != "" && ui.Width(says) <= room {
		return []ui.Span{ui.S(m.theme.Quiet, says)}
	}
	return nil
}

// lostSpans is what was lost, by cause where so many cells hold that.
func (m *Model) lostSpans(c record.Counts, room int) []ui.Span {
	if c.LostTotal() == 0 {
		return nil
	}
	var parts []string
	for _, cause := range slices.Sorted(maps.Keys(c.Lost)) {
		if n := c.Lost[cause]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", ui.CleanLine(string(cause)), n))
		}
	}
	says := "  ! lost " + strings.Join(parts, ", ")
	if ui.Width(says) > room {
		says = "  ! lost " + ui.Count(c.LostTotal())
	}
	return []ui.Span{ui.S(m.theme.Warn, says)}
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
	c, r := m.countsOf(v), m.run()
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
	case c.Done > 0 && c.Graded == 0 && r != nil && r.Scorer != "":
		spans = append(spans, ui.S(t.Warn, " none of the verdicts could be used"))
	case c.Done > 0 && c.Graded == 0:
		spans = append(spans, ui.S(t.Quiet, " no verdicts: this run has no reward"))
	case r != nil && r.Status != record.RunRunning:
		spans = append(spans, ui.S(t.Quiet, " no verdict came back"))
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
	r := m.run()
	if r == nil || r.Coverage == nil || r.Coverage.Planned == 0 {
		spans := []ui.Span{m.label("covered")}
		if width >= roomForArms {
			spans = append(append(spans, ui.Progress(t, t.Info, barWidth(width), 0, 0)...), ui.S(t.Text, " "))
		}
		spans = append(spans, ui.S(t.Quiet, notCovered(r)))
		return ui.Row(width, ui.Style{}, append(spans, m.armSpans(v, width-spansWidth(spans))...)...)
	}
	c := r.Coverage
	what := "pairs"
	if c.Strength > 2 {
		what = fmt.Sprintf("%d-tuples", c.Strength)
	}
	spans := []ui.Span{m.label("covered")}
	number := []ui.Span{ui.S(t.Text, ui.Count(c.Covered)+"/"+ui.Count(c.Planned)), ui.S(t.Quiet, " "+what)}
	if bar := barWidth(width); width >= roomForArms {
		spans = append(append(spans, ui.Progress(t, t.Info, bar, c.Covered, c.Planned)...), ui.S(t.Text, " "))
	}
	spans = append(spans, number...)
	return ui.Row(width, ui.Style{}, append(spans, m.armSpans(v, width-spansWidth(spans))...)...)
}

// roomForArms is the width from which on the bar of what is covered leaves room for
// the arms.
const roomForArms = 100

// notCovered says why nothing is said of what a run covers.
func notCovered(r *record.Run) string {
	switch {
	case r == nil || r.Status == record.RunRunning:
		return "counted as rollouts come back"
	case r.PosedBy != "" || r.Role == record.RoleBefore || r.Role == record.RoleAfter:
		return "the tasks are another run's"
	case r.Counts.Done == 0:
		return "nothing came back"
	}
	return "not counted: this run was not planned over axes"
}

func spansWidth(spans []ui.Span) int {
	n := 0
	for _, s := range spans {
		n += ui.Width(s.Text)
	}
	return n
}

// armSpans is how many tasks each arm of the search brought, in at most so many
// cells: the largest first, and how many more there are.
func (m *Model) armSpans(v *rollouts, room int) []ui.Span {
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
	room -= spansWidth(spans)
	steps := []rune("▁▂▃▄▅▆▇█")
	byCount := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
	for i, arm := range byCount {
		column := string(steps[min(counts[arm]*len(steps)/(most+1), len(steps)-1)])
		one := []ui.Span{ui.S(t.Info, "  "+column), ui.S(t.Quiet, " "+ui.CleanLine(armName(arm))), ui.S(t.Text, " "+ui.Count(counts[arm]))}
		more := fmt.Sprintf("  +%d", len(byCount)-i)
		if need := spansWidth(one); need > room || i < len(byCount)-1 && need+len(more) > room {
			return append(spans, ui.S(t.Quiet, more))
		}
		room -= spansWidth(one)
		spans = append(spans, one...)
	}
	return spans
}

// armName is an arm in one word.
func armName(arm string) string {
	switch arm {
	case record.ArmLLMGuided:
		return "guided"
	case record.ArmOpenEnded:
		return "open"
	case record.ArmBehaviorTargeted:
		return "behavior"
	case record.ArmFailureMutation:
		return "mutation"
	}
	return strings.ReplaceAll(arm, "_", " ")
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
