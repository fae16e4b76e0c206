package delta

import (
	"strings"
	"testing"
	"unicode"

	"assay/engine/record"
	"assay/engine/stats"
)

// TestMarkdownOfHostileText: names from outside make no markup, no new line and no
// cell, and hide nothing.
func TestMarkdownOfHostileText(t *testing.T) {
	v := 0.5
	for _, text := range []string{"a|b", "`code`", "<img src=x>", "line\n# heading", "\x1b[31m", "\u202egnp", "zero\u200bwidth", "[x](http://y)", "**bold**", "cr\rlf", "\xff"} {
		r := Report{Before: text, After: text, Headline: Headline(text), Line: text, Target: text, Interval: text,
			Metrics:  []Metric{{Name: text, Kind: KindRate, Before: &v, After: &v, Delta: &v, Verdict: Verdict(text)}},
			Slices:   []Slice{{By: text, Value: text, Before: &v}},
			Causes:   []record.Warning{{Code: text, Text: text, Fix: text}},
			Warnings: []record.Warning{{Code: text, Text: text, Fix: text}}}
		got := r.Markdown()
		plain := Report{Before: "x", After: "x", Headline: "x", Line: "x", Target: "x", Interval: "x", Metrics: []Metric{{Name: "x", Kind: KindRate, Before: &v, After: &v, Delta: &v}},
			Slices: []Slice{{By: "x", Value: "x", Before: &v}}, Causes: []record.Warning{{Code: "x", Text: "x", Fix: "x"}}, Warnings: []record.Warning{{Code: "x", Text: "x", Fix: "x"}}}.Markdown()
		if a, b := strings.Count(got, "\n"), strings.Count(plain, "\n"); a != b {
			t.Errorf("%q: %d lines, want %d", text, a, b)
		}
		for _, c := range got {
			if c != '\n' && !unicode.IsGraphic(c) || unicode.Is(unicode.Cf, c) {
				t.Errorf("%q: %U is in it", text, c)
			}
		}
		for i, line := range strings.Split(got, "\n") {
			want := strings.Split(plain, "\n")[i]
			if a, b := cells(line), cells(want); a != b {
				t.Errorf("%q: line %q has %d cells, want %d", text, line, a, b)
			}
		}
	}
}

// cells counts the bars of a line that are not escaped.
func cells(line string) int { return strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") }

func TestMarkdownHoldsTheReport(t *testing.T) {
	b, a, d, lo, hi, p := 0.5, 0.75, 0.25, 0.1, 0.4, 0.01
	r := Report{Before: "b1", After: "a1", Headline: Passed, OK: true, Line: "pass_at_1 rose", Target: PassAt1, Paired: 24, Units: 20, Scope: ScopeHeldOut,
		Noise:     &Noise{Band: 0.03, RunStd: 0.01, BeforeRuns: 3, AfterRuns: 3, DF: 4, Q: 2.78},
		Metrics:   []Metric{{Name: PassAt1, Kind: KindReward, Before: &b, After: &a, Delta: &d, Lo: &lo, Hi: &hi, P: &p, PHolm: &p, Band: &lo, Units: 20, Changed: 9, Paired: 24, Verdict: VerdictImproved}},
		Corrected: &stats.CorrectedChange{Corrected: stats.Estimate{Value: &d, Lo: &lo, Hi: &hi, N: 24}, JudgeOnly: stats.Estimate{Value: &b, N: 24}, GoldOnly: stats.Estimate{N: 5}},
		Slices:    []Slice{{By: "stance", Value: "adversarial", Before: &b, After: &a, Delta: &d, Paired: 3, LowN: true}},
		Warnings:  []record.Warning{{Code: "ceiling", Text: "little is left", Fix: "pose harder situations"}}}
	if text := r.Text(); !strings.Contains(text, "pass_at_1 corrected for the judge by gold: +0.250 [+0.100, +0.400] on 24 tasks") {
		t.Errorf("the text does not hold the corrected change:\n%s", text)
	}
	got := r.Markdown()
	for _, want := range []string{"# PASS\n", "pass\\_at\\_1 rose", "| `pass_at_1` | 0.500 | 0.750 | +0.250 | [+0.100, +0.400] | 0.100 | 0.01 | 0.01 | 24 | improved, target |",
		"corrected for the judge by gold: +0.250 [+0.100, +0.400] on 24 tasks (the judge alone +0.500 - on 24 tasks, gold alone - - on 5 tasks; t intervals over situations)", "| stance | `adversarial` | 0.500 | 0.750 | +0.250 | - | 3 (low n) |", "up to 0.030", "10. **PASS**:", "1. not INSUFFICIENT DATA: 20 situations", "- **ceiling** little is left (pose harder situations)"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
}

// Where labels do not allow a corrected change, both forms say how many more would.
func TestLabelsForACorrectedChange(t *testing.T) {
	r := Report{Target: PassAt1, Scope: ScopeHeldOut, Corrected: &stats.CorrectedChange{MissingBefore: 12, MissingAfter: 3}}
	for _, text := range []string{r.Text(), r.Markdown()} {
		if !strings.Contains(text, "label 12 tasks more before and 3 after") {
			t.Errorf("it does not say what is needed:\n%s", text)
		}
	}
	r.Corrected = nil
	if text := r.Text() + r.Markdown(); strings.Contains(text, "gold") {
		t.Errorf("gold is named where there is none:\n%s", text)
	}
}
