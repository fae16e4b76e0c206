package cut

import (
	"fmt"
	"math"
	"strings"

	"assay/engine"
	"assay/engine/record"
	"assay/tui/report"
	"assay/tui/ui"
)

// bin is a range of pass rates.
type bin struct {
	label string
	tasks int
	tier  string
}

// bins divide the pass rates of the training tasks: none and all apart, since neither
// teaches a group anything, and the band in three.
func bins(p *engine.CutPreview) []bin {
	low, high := p.Band[0], p.Band[1]
	third := (high - low) / 3
	edges := []float64{low, low + third, low + 2*third, high}
	out := []bin{
		{label: "0", tier: "floor"},
		{label: "under " + ui.Share(low), tier: "floor"},
		{label: ui.Share(edges[0]) + " to " + ui.Share(edges[1])},
		{label: ui.Share(edges[1]) + " to " + ui.Share(edges[2])},
		{label: ui.Share(edges[2]) + " to " + ui.Share(edges[3])},
		{label: "over " + ui.Share(high), tier: "solved"},
		{label: "1", tier: "solved"},
	}
	for _, r := range p.Rates {
		out[binOf(r.Rate, edges)].tasks++
	}
	return out
}

func binOf(rate float64, edges []float64) int {
	switch {
	case rate <= 0:
		return 0
	case rate >= 1:
		return 6
	case rate < edges[0]:
		return 1
	case rate > edges[3]:
		return 5
	case rate < edges[1]:
		return 2
	case rate < edges[2]:
		return 3
	}
	return 4
}

// bandView draws the pass rates as a histogram of as many lines as there are; where they
// are few, the three tiers alone.
func (m *Model) bandView(width, rows int) []string {
	t, p := m.theme, m.preview
	var right []ui.Span
	if p.Run.Mode == record.ModeRL {
		right = []ui.Span{ui.S(t.Quiet, "without the probes")}
	}
	lines := []string{ui.Rule(t, width, "Pass rates of "+ui.Plural(len(p.Rates), "task"), false, right...)}
	all := bins(p)
	if rows < len(all)+1 {
		all = tiers(p)
	}
	most := 1
	for _, b := range all {
		most = max(most, b.tasks)
	}
	const label, count, tier = 12, 7, 13
	bar := max(min(width-2-label-count-tier, 60), 4)
	for _, b := range all {
		style, says := t.Good, "in the band"
		switch b.tier {
		case "floor":
			style, says = t.Quiet, "too rare"
		case "solved":
			style, says = t.Quiet, "solved"
		}
		full := (b.tasks*bar + most - 1) / most // any task shows
		lines = append(lines, ui.Row(width, ui.Style{}, ui.S(t.Text, "  "+ui.Pad(b.label, label)), ui.S(t.Strong, ui.PadLeft(ui.Count(b.tasks), count-1)+" "),
			ui.S(style, strings.Repeat("█", full)), ui.S(t.Line, ui.Spaces(bar-full)), ui.S(style, " "+says)))
	}
	return lines
}

// tiers are the rates in three.
func tiers(p *engine.CutPreview) []bin {
	out := []bin{{label: "under " + ui.Share(p.Band[0]), tier: "floor"}, {label: ui.Share(p.Band[0]) + " to " + ui.Share(p.Band[1])}, {label: "over " + ui.Share(p.Band[1]), tier: "solved"}}
	for i, tier := range p.Tiers {
		if i < len(out) {
			out[i].tasks = tier.Tasks
		}
	}
	return out
}

// scanHead are the lines above the ranking.
func (m *Model) scanHead(width int) []string {
	t := m.theme
	right := []ui.Span{}
	says, style := "Reading what goes with the reward …", t.Info
	switch {
	case m.scanErr != nil:
		says, style = m.scanErr.Error(), t.Bad
	case m.scan != nil:
		s := m.scan
		says, style = regimeSays(string(s.Regime)), t.Text
		word := t.Warn
		switch s.Regime {
		case "train":
			word = t.Good
		case "reward_hack":
			word = t.Bad
		}
		right = append(right, ui.S(word.With(ui.Bold), ui.CleanLine(strings.ReplaceAll(string(s.Regime), "_", " "))))
	}
	l := report.Lines{Theme: t, Width: width, All: []string{ui.Rule(t, width, "Hack scan", m.focus == panePool, right...)}}
	l.Text(style, says)
	if m.scan != nil && m.scan.Tau != nil {
		l.Text(t.Quiet, fmt.Sprintf("%s of %s, ┄ the floor ±%.2f", ui.Plural(m.scan.Support.Rows, "row"), ui.Plural(m.scan.Support.Tasks, "task"), *m.scan.Tau))
	}
	return l.All
}

// features are the ranking as rows of a list, and behind it the scan's warnings.
type features struct{ m *Model }

func (f features) Len() int {
	if f.m.scan == nil {
		return 0
	}
	return len(f.m.scan.Features) + len(f.m.scan.Warnings)
}

func (f features) Version(i int) uint64 { return f.m.gen<<32 | uint64(i) }

// Draw draws a feature: how strongly it goes with the reward within a task, against the
// floor.
func (f features) Draw(i, width int, look ui.Look) string {
	t := f.m.theme
	base := t.Base(look)
	lead := ui.S(base, "  ")
	if look == ui.Active {
		lead = ui.S(t.Accent, "▎ ")
	}
	if n := len(f.m.scan.Features); i >= n {
		w := &f.m.scan.Warnings[i-n]
		return ui.Row(width, base, lead, ui.S(t.Warn, "! "), ui.S(t.Text, ui.Line(w.Code, width)), ui.S(t.Quiet, "  "+ui.Line(w.Text, width)))
	}
	feature := &f.m.scan.Features[i]
	sign, style := "  ", t.Quiet
	switch {
	case feature.Endorsed:
		sign, style = "✓ ", t.Good
	case feature.Above:
		sign, style = "▲ ", t.Warn
	}
	floor := math.NaN()
	if f.m.scan.Tau != nil {
		floor = *f.m.scan.Tau
	}
	const number, count = 7, 7
	name := max(min(26, width-2-2-number-count-13), 8)
	bar := min(width-2-2-name-number-count-2, 41)
	if bar%2 == 0 {
		bar--
	}
	spans := []ui.Span{lead, ui.S(style, sign), ui.S(t.Text, ui.Pad(ui.CleanLine(feature.Name), name)), ui.S(style, ui.PadLeft(fmt.Sprintf("%+.2f", feature.RhoWithin), number))}
	if bar >= 9 {
		spans = append(spans, ui.S(base, " "))
		spans = append(spans, ui.DeltaBar(t, style, bar, ui.Interval{Value: feature.RhoWithin, Lo: math.Min(0, feature.RhoWithin), Hi: math.Max(0, feature.RhoWithin)}, 1, floor)...)
	}
	return ui.Row(width, base, append(spans, ui.S(t.Quiet, ui.PadLeft(ui.Count(feature.N), count)))...)
}

// feature is the one under the cursor, nil where there is none.
func (m *Model) feature() *engine.CutFeature {
	if m.scan == nil || m.pool.Cursor() >= len(m.scan.Features) {
		return nil
	}
	return &m.scan.Features[m.pool.Cursor()]
}

// aboutFeature says what the feature under the cursor is.
func (m *Model) aboutFeature() []ui.Span {
	t := m.theme
	f := m.feature()
	if f == nil {
		if at := m.pool.Cursor(); m.scan != nil && at < (features{m}).Len() {
			return warning(t, &m.scan.Warnings[at-len(m.scan.Features)])
		}
		return nil
	}
	says := "no more than chance"
	switch {
	case f.Above && f.Endorsed:
		says = "beyond chance, and meant"
	case f.Above:
		says = "beyond chance: training would follow it"
	}
	return []ui.Span{ui.S(t.Strong, ui.CleanLine(f.Name)), ui.S(t.Text, fmt.Sprintf("  %+.3f within tasks, %+.3f over all, on %s: ", f.RhoWithin, f.RhoPooled, ui.Plural(f.N, "row"))), ui.S(t.Text, says),
		ui.S(t.Quiet, "  e says that the reward is meant to follow it")}
}
