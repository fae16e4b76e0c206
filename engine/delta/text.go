package delta

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"assay/engine/record"
	"assay/engine/stats"
)

// Text is the report for people: plain, aligned, at most a line a metric, slice or
// warning. It holds names from outside and is not safe to print raw.
func (r Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n\n", r.Headline, r.Line)
	fmt.Fprintf(&b, "before %s, after %s\n", r.Before, r.After)
	fmt.Fprintf(&b, "%s on both sides (%s), %d on one only; %s\n", record.Counted(r.Paired, scopeName(r.Scope)), record.Counted(r.Units, "situation"), r.Unpaired, r.Interval)
	if n := r.Noise; n != nil {
		t := r.target()
		fmt.Fprintf(&b, "noise between eval runs: up to %s (run std %s, %d and %d runs, t %.2f at %d)\n\n", number(t, n.Band), number(t, n.RunStd), n.BeforeRuns, n.AfterRuns, n.Q, n.DF)
	} else {
		b.WriteString("noise between eval runs: not known, neither side has two\n\n")
	}
	r.metricsText(&b)
	if text := r.correctedText(PassAt1); text != "" {
		b.WriteString(text + "\n\n")
	}
	r.slicesText(&b)
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "! %s", w.Text)
		if w.Fix != "" {
			fmt.Fprintf(&b, " (%s)", w.Fix)
		}
		b.WriteByte('\n')
	}
	return trimmed(b.String())
}

// correctedText is the change of the pass rate corrected for the judge by gold, beside
// what the judge and gold say alone, or how many labels that still needs; "" where neither
// run has gold that counts. name is the pass rate's.
func (r Report) correctedText(name string) string {
	c := r.Corrected
	switch {
	case c == nil:
		return ""
	case c.Corrected.Value == nil:
		return fmt.Sprintf("%s is the judge's word: to correct it by gold, label %s more before and %d after, drawn at random", name, record.Counted(c.MissingBefore, "task"), c.MissingAfter)
	}
	return fmt.Sprintf("%s corrected for the judge by gold: %s (the judge alone %s, gold alone %s; t intervals over situations)", name, changeText(c.Corrected), changeText(c.JudgeOnly), changeText(c.GoldOnly))
}

// changeText is a change of a rate with its interval.
func changeText(e stats.Estimate) string {
	m := &Metric{Kind: KindRate, Lo: e.Lo, Hi: e.Hi}
	return fmt.Sprintf("%s %s on %s", cellText(m, e.Value, true), spanText(m), record.Counted(e.N, "task"))
}

// trimmed takes the padding off the ends of lines.
func trimmed(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(strings.TrimRight(line, " \n"))
		b.WriteByte('\n')
	}
	return b.String()
}

// target is the target's metric, a bare rate where it was not measured at all.
func (r Report) target() *Metric {
	for i := range r.Metrics {
		if r.Metrics[i].Name == r.Target {
			return &r.Metrics[i]
		}
	}
	return &Metric{Name: r.Target, Kind: KindRate}
}

func scopeName(scope string) string {
	if scope == ScopeAllTasks {
		return "task"
	}
	return "held-out task"
}

func (r Report) metricsText(b *strings.Builder) {
	if len(r.Metrics) == 0 {
		return
	}
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "metric\tbefore\tafter\tdelta\t95% interval\tp\tp_holm\ttasks\tverdict\t")
	for i := range r.Metrics {
		m := &r.Metrics[i]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", m.Name, cellText(m, m.Before, false), cellText(m, m.After, false), cellText(m, m.Delta, true),
			spanText(m), pText(m.P), pText(m.PHolm), m.Paired, m.Verdict, strings.Join(r.notes(m), ", "))
	}
	w.Flush()
	b.WriteByte('\n')
}

// notes says what a metric is to this report.
func (r Report) notes(m *Metric) []string {
	var notes []string
	if m.Name == r.Target {
		notes = append(notes, "target")
	}
	if m.Guard {
		notes = append(notes, "guard")
		if m.CouldMiss != nil && m.Verdict != VerdictRegressed {
			notes = append(notes, "could miss "+number(m, *m.CouldMiss))
		}
	}
	if p := m.disputed(); p != "" {
		notes = append(notes, p+" disagrees")
	}
	if m.LowerIsBetter {
		notes = append(notes, "lower is better")
	}
	return notes
}

func (r Report) slicesText(b *strings.Builder) {
	if len(r.Slices) == 0 {
		return
	}
	m := r.target()
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s by\t\tbefore\tafter\tdelta\t95%% interval\ttasks\t\n", r.Target)
	for _, s := range r.Slices {
		low := ""
		if s.LowN {
			low = "low n"
		}
		span := &Metric{Kind: m.Kind, Lo: s.Lo, Hi: s.Hi}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\n", s.By, s.Value, cellText(m, s.Before, false), cellText(m, s.After, false), cellText(m, s.Delta, true), spanText(span), s.Paired, low)
	}
	w.Flush()
	b.WriteByte('\n')
}

func cellText(m *Metric, v *float64, sign bool) string {
	switch {
	case v == nil:
		return "-"
	case sign:
		return signed(m, *v)
	}
	return number(m, *v)
}

func spanText(m *Metric) string {
	if m.Lo == nil {
		return "-"
	}
	return fmt.Sprintf("[%s, %s]", signed(m, *m.Lo), signed(m, *m.Hi))
}

func pText(p *float64) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprintf("%.3g", *p)
}

// Text is the report for people: plain and aligned.
func (r PassReport) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s, %s, k = %d\n\n", record.Counted(r.Tasks, scopeName(r.Scope)), r.Run, record.Counted(r.Rows, "rollout"), r.K)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, line := range []struct {
		name string
		e    stats.Estimate
	}{{"pass@1", r.PassAt1}, {fmt.Sprintf("pass^%d", r.K), r.PassPowK}, {fmt.Sprintf("pass@%d", r.K), r.PassAtK}} {
		m := &Metric{Kind: KindRate, Lo: line.e.Lo, Hi: line.e.Hi}
		span := "-"
		if m.Lo != nil {
			span = fmt.Sprintf("[%.3f, %.3f]", *m.Lo, *m.Hi)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", line.name, cellText(m, line.e.Value, false), span, record.Counted(line.e.N, "task"))
	}
	w.Flush()
	if r.Headroom != nil {
		fmt.Fprintf(&b, "headroom %.3f", *r.Headroom)
	}
	fmt.Fprintf(&b, "  unjudged %d  partial %d  lost %d\n%s\n", r.Unjudged, r.Partial, r.Lost, r.Interval)
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "! %s\n", warning.Text)
	}
	return trimmed(b.String())
}
