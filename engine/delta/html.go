package delta

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"assay/engine/record"
)

// HTML is the report as one page that needs nothing else: what [Report.Markdown] says,
// with the intervals as pictures. It holds no script and loads nothing; names and texts
// from outside cannot act in it, nor hide.
func (r Report) HTML() string {
	var b strings.Builder
	fmt.Fprintf(&b, pageHead, shown(string(r.Headline)))
	class := "undecided"
	switch {
	case r.OK:
		class = "good"
	case r.Headline == Fail:
		class = "bad"
	}
	fmt.Fprintf(&b, "<h1 class=%q>%s</h1>\n<p>%s</p>\n<ul>\n", class, shown(string(r.Headline)), shown(r.Line))
	for _, line := range r.standing() {
		fmt.Fprintf(&b, "<li>%s</li>\n", line)
	}
	b.WriteString("</ul>\n")
	r.rulesHTML(&b)
	r.metricsHTML(&b)
	r.slicesHTML(&b)
	warningsHTML(&b, "Not comparable", r.Causes)
	warningsHTML(&b, "Warnings", r.Warnings)
	b.WriteString("</body>\n</html>\n")
	return b.String()
}

// pageHead begins the page; its policy forbids scripts and anything from elsewhere.
const pageHead = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>%s</title>
<style>
:root { color-scheme: light dark; --good: light-dark(#0a6b2d, #6fd08c); --bad: light-dark(#a8201a, #ff8f86); --quiet: light-dark(#555, #aaa); --band: light-dark(#e4e4e4, #3a3a3a); }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { padding: .2em .8em .2em 0; text-align: left; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
thead th { border-bottom: 1px solid var(--quiet); }
svg { display: block; max-width: 100%%; height: auto; }
svg text { font: 13px system-ui, sans-serif; fill: currentColor; }
.good { color: var(--good); } .bad { color: var(--bad); } .undecided, .quiet { color: var(--quiet); }
</style>
</head>
<body>
`

// standing is what the report rests on, a sentence each, safe to stand in a page.
func (r Report) standing() []string {
	lines := []string{
		fmt.Sprintf("before <code>%s</code>, after <code>%s</code>", shown(r.Before), shown(r.After)),
		fmt.Sprintf("%s on both sides (%s), %d on one only", record.Counted(r.Paired, scopeName(r.Scope)), record.Counted(r.Units, "situation"), r.Unpaired),
		"intervals: " + shown(r.Interval),
	}
	if n := r.Noise; n != nil {
		t := r.target()
		lines = append(lines, fmt.Sprintf("noise between eval runs: up to %s (run std %s, %d and %d runs, t %.2f at %d)", number(t, n.Band), number(t, n.RunStd), n.BeforeRuns, n.AfterRuns, n.Q, n.DF))
	} else {
		lines = append(lines, "noise between eval runs: not known, neither side has two")
	}
	if r.LossBound > 0 {
		lines = append(lines, shown(r.saysLost()))
	}
	if text := r.correctedText(PassAt1); text != "" {
		lines = append(lines, shown(text))
	}
	return lines
}

func (r Report) rulesHTML(b *strings.Builder) {
	rules := r.Rules()
	if len(rules) == 0 {
		return
	}
	b.WriteString("<h2>What makes it so</h2>\n<ol>\n")
	for _, rule := range rules {
		verdict := "not " + shown(string(rule.Headline))
		if rule.Holds {
			verdict = "<strong>" + shown(string(rule.Headline)) + "</strong>"
		}
		fmt.Fprintf(b, "<li>%s: %s</li>\n", verdict, shown(rule.Says))
	}
	b.WriteString("</ol>\n")
}

func (r Report) metricsHTML(b *strings.Builder) {
	if len(r.Metrics) == 0 {
		return
	}
	b.WriteString("<h2>Metrics</h2>\n")
	r.metricsForest().draw(b)
	b.WriteString(`<table><thead><tr><th>metric</th><th class="n">before</th><th class="n">after</th><th class="n">delta</th><th class="n">95% interval</th><th class="n">noise</th><th class="n">p</th><th class="n">p (Holm)</th><th class="n">tasks</th><th>verdict</th></tr></thead>` + "\n")
	for i := range r.Metrics {
		m := &r.Metrics[i]
		verdict := strings.Join(append([]string{string(m.Verdict)}, r.notes(m)...), ", ")
		row(b, m.Name, cellText(m, m.Before, false), cellText(m, m.After, false), cellText(m, m.Delta, true), spanText(m), cellText(m, m.Band, false), pText(m.P), pText(m.PHolm), fmt.Sprint(m.Paired), verdict)
	}
	b.WriteString("</table>\n")
}

func (r Report) slicesHTML(b *strings.Builder) {
	if len(r.Slices) == 0 {
		return
	}
	m := r.target()
	fmt.Fprintf(b, "<h2><code>%s</code> by slice</h2>\n", shown(r.Target))
	r.slicesForest().draw(b)
	b.WriteString(`<table><thead><tr><th>slice</th><th class="n">before</th><th class="n">after</th><th class="n">delta</th><th class="n">95% interval</th><th class="n">tasks</th><th></th></tr></thead>` + "\n")
	for _, s := range r.Slices {
		low := ""
		if s.LowN {
			low = "low n"
		}
		span := &Metric{Kind: m.Kind, Lo: s.Lo, Hi: s.Hi}
		row(b, s.By+" "+s.Value, cellText(m, s.Before, false), cellText(m, s.After, false), cellText(m, s.Delta, true), spanText(span), fmt.Sprint(s.Paired), low)
	}
	b.WriteString("</table>\n")
}

// row is a row of a table: a name, figures, and a word.
func row(b *strings.Builder, cells ...string) {
	b.WriteString("<tr>")
	for i, c := range cells {
		switch i {
		case 0:
			fmt.Fprintf(b, "<td><code>%s</code></td>", shown(c))
		case len(cells) - 1:
			fmt.Fprintf(b, "<td>%s</td>", shown(c))
		default:
			fmt.Fprintf(b, `<td class="n">%s</td>`, shown(c))
		}
	}
	b.WriteString("</tr>\n")
}

func warningsHTML(b *strings.Builder, title string, warnings []record.Warning) {
	if len(warnings) == 0 {
		return
	}
	fmt.Fprintf(b, "<h2>%s</h2>\n<ul>\n", title)
	for _, w := range warnings {
		fmt.Fprintf(b, "<li><strong>%s</strong> %s", shown(w.Code), shown(w.Text))
		if w.Fix != "" {
			fmt.Fprintf(b, ` <span class="quiet">(%s)</span>`, shown(w.Fix))
		}
		b.WriteString("</li>\n")
	}
	b.WriteString("</ul>\n")
}

// shown is text from outside as it may stand in a page: what would not be seen spelled
// out, and nothing in it that acts.
func shown(s string) string { return html.EscapeString(spelled(s, false)) }

// metricsForest pictures the changes of the metrics that are shares, the target and the
// guards first. A metric of other units has no place on their scale: the table has it.
func (r Report) metricsForest() *forest {
	f := &forest{title: "Change of each metric, its 95% interval, and the noise between eval runs"}
	rank := func(m Metric) int {
		switch {
		case m.Name == r.Target:
			return 0
		case m.Guard:
			return 1
		}
		return 2
	}
	metrics := slices.Clone(r.Metrics)
	slices.SortStableFunc(metrics, func(a, b Metric) int { return rank(a) - rank(b) })
	for _, m := range metrics {
		if m.Delta == nil || m.Kind == KindNumber {
			continue
		}
		class := "quiet"
		switch m.Verdict {
		case VerdictImproved:
			class = "good"
		case VerdictRegressed:
			class = "bad"
		}
		f.lines = append(f.lines, forestLine{name: m.Name, says: strings.Join(append([]string{string(m.Verdict)}, r.notes(&m)...), ", "),
			figure: signed(&m, *m.Delta), class: class, at: *m.Delta, lo: m.Lo, hi: m.Hi, band: m.Band})
	}
	return f
}

func (r Report) slicesForest() *forest {
	m := r.target()
	f := &forest{title: "Change of the target in each slice and its 95% interval"}
	if m.Kind == KindNumber {
		return f
	}
	for _, s := range r.Slices {
		if s.Delta == nil {
			continue
		}
		says := record.Counted(s.Paired, "task")
		if s.LowN {
			says += ", too few to read the interval of"
		}
		f.lines = append(f.lines, forestLine{name: s.By + " " + s.Value, says: says, figure: signed(m, *s.Delta), class: "quiet", at: *s.Delta, lo: s.Lo, hi: s.Hi})
	}
	return f
}
