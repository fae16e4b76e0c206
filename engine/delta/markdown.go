package delta

import (
	"fmt"
	"strings"
	"unicode"

	"assay/engine/record"
)

// Markdown is the report as GitHub's Markdown: what [Report.Text] says, in tables. Names
// and texts from outside cannot act in it, nor hide.
func (r Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n", escaped(string(r.Headline)), escaped(r.Line))
	fmt.Fprintf(&b, "- before `%s`, after `%s`\n", spelled(r.Before, true), spelled(r.After, true))
	fmt.Fprintf(&b, "- %s on both sides (%s), %d on one only\n", record.Counted(r.Paired, scopeName(r.Scope)), record.Counted(r.Units, "situation"), r.Unpaired)
	fmt.Fprintf(&b, "- intervals: %s\n", escaped(r.Interval))
	if n := r.Noise; n != nil {
		t := r.target()
		fmt.Fprintf(&b, "- noise between eval runs: up to %s (run std %s, %d and %d runs, t %.2f at %d)\n", number(t, n.Band), number(t, n.RunStd), n.BeforeRuns, n.AfterRuns, n.Q, n.DF)
	} else {
		b.WriteString("- noise between eval runs: not known, neither side has two\n")
	}
	if r.LossBound > 0 {
		fmt.Fprintf(&b, "- %s\n", escaped(r.saysLost()))
	}
	if text := r.correctedText(escaped(PassAt1)); text != "" {
		fmt.Fprintf(&b, "- %s\n", text)
	}
	r.rulesMarkdown(&b)
	r.metricsMarkdown(&b)
	r.slicesMarkdown(&b)
	warningsMarkdown(&b, "Not comparable", r.Causes)
	warningsMarkdown(&b, "Warnings", r.Warnings)
	return b.String()
}

func (r Report) rulesMarkdown(b *strings.Builder) {
	rules := r.Rules()
	if len(rules) == 0 {
		return
	}
	b.WriteString("\n## What makes it so\n\n")
	for i, rule := range rules {
		verdict := "not " + string(rule.Headline)
		if rule.Holds {
			verdict = "**" + string(rule.Headline) + "**"
		}
		fmt.Fprintf(b, "%d. %s: %s\n", i+1, verdict, escaped(rule.Says))
	}
}

func (r Report) metricsMarkdown(b *strings.Builder) {
	if len(r.Metrics) == 0 {
		return
	}
	b.WriteString("\n## Metrics\n\n| metric | before | after | delta | 95% interval | noise | p | p (Holm) | tasks | verdict |\n|---|--:|--:|--:|:-:|--:|--:|--:|--:|---|\n")
	for i := range r.Metrics {
		m := &r.Metrics[i]
		verdict := strings.Join(append([]string{escaped(string(m.Verdict))}, r.notes(m)...), ", ")
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s | %s | %s | %s | %d | %s |\n", spelled(m.Name, true), cellText(m, m.Before, false), cellText(m, m.After, false), cellText(m, m.Delta, true),
			spanText(m), cellText(m, m.Band, false), pText(m.P), pText(m.PHolm), m.Paired, verdict)
	}
}

func (r Report) slicesMarkdown(b *strings.Builder) {
	if len(r.Slices) == 0 {
		return
	}
	m := r.target()
	fmt.Fprintf(b, "\n## `%s` by slice\n\n| by | value | before | after | delta | 95%% interval | tasks |\n|---|---|--:|--:|--:|:-:|--:|\n", spelled(r.Target, true))
	for _, s := range r.Slices {
		low := ""
		if s.LowN {
			low = " (low n)"
		}
		span := &Metric{Kind: m.Kind, Lo: s.Lo, Hi: s.Hi}
		fmt.Fprintf(b, "| %s | `%s` | %s | %s | %s | %s | %d%s |\n", escaped(s.By), spelled(s.Value, true), cellText(m, s.Before, false), cellText(m, s.After, false), cellText(m, s.Delta, true), spanText(span), s.Paired, low)
	}
}

func warningsMarkdown(b *strings.Builder, title string, warnings []record.Warning) {
	if len(warnings) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", title)
	for _, w := range warnings {
		fmt.Fprintf(b, "- **%s** %s", escaped(w.Code), escaped(w.Text))
		if w.Fix != "" {
			fmt.Fprintf(b, " (%s)", escaped(w.Fix))
		}
		b.WriteByte('\n')
	}
}

// markup are the characters that can act in Markdown wherever they stand.
const markup = "\\`*_{}[]<>|#~!&$"

// escaped is text from outside in a paragraph or a cell of a table: on one line, with
// nothing in it that acts.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range spelled(s, false) {
		if strings.ContainsRune(markup, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// spelled is text with every character that would not be seen spelled out. In code no
// backslash helps, so there the marks that would end it or its cell are spelled too.
func spelled(s string, code bool) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == unicode.ReplacementChar, !unicode.IsGraphic(r), r != ' ' && unicode.IsSpace(r), unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector),
			code && (r == '`' || r == '|'):
			fmt.Fprintf(&b, "(U+%04X)", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
