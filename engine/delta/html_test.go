package delta

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"unicode"

	"assay/engine/record"
	"assay/engine/stats"
)

// page is a report with a text from outside in every place that takes one.
func page(text string) Report {
	v, lo, hi, band := 0.1, -0.05, 0.25, 0.03
	return Report{Before: text, After: text, Headline: Headline(text), Line: text, Target: text, Interval: text, Units: 20,
		Metrics: []Metric{{Name: text, Kind: KindRate, Before: &v, After: &v, Delta: &v, Lo: &lo, Hi: &hi, Band: &band, Verdict: Verdict(text)},
			{Name: text, Kind: KindNumber, Before: &v, After: &v, Delta: &v}},
		Slices:   []Slice{{By: text, Value: text, Before: &v, Delta: &v, Lo: &lo, Hi: &hi}},
		Causes:   []record.Warning{{Code: text, Text: text, Fix: text}},
		Warnings: []record.Warning{{Code: text, Text: text, Fix: text}}}
}

// elements are a page's, in their order, with their attributes' names; the text
// between is left out.
func elements(t *testing.T, text string) string {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var b strings.Builder
	for {
		token, err := d.Token()
		if err == io.EOF {
			return b.String()
		}
		if err != nil {
			t.Fatalf("%v in:\n%s", err, text)
		}
		if e, ok := token.(xml.StartElement); ok {
			b.WriteString("<" + e.Name.Local)
			for _, a := range e.Attr {
				b.WriteString(" " + a.Name.Local)
			}
			b.WriteString(">")
		}
	}
}

// TestHTMLOfHostileText: names from outside make no element and no attribute, and hide
// nothing.
func TestHTMLOfHostileText(t *testing.T) {
	want := elements(t, page("x").HTML())
	for _, text := range []string{"<img src=x onerror=alert(1)>", "</title><script>alert(1)</script>", `" onload="alert(1)`, "' onload='alert(1)", "--></svg><b>", "&lt;b&gt;", "line\n<h1>",
		"\x1b[31m", "\u202egnp", "zero\u200bwidth", "\x00", "\xff", strings.Repeat("<", 100), "%s%n"} {
		got := page(text).HTML()
		if e := elements(t, got); e != want {
			t.Errorf("%q: the page's elements are\n%s\nwant\n%s", text, e, want)
		}
		for _, c := range got {
			if c != '\n' && !unicode.IsGraphic(c) || unicode.Is(unicode.Cf, c) {
				t.Errorf("%q: %U is in it", text, c)
			}
		}
	}
}

// TestHTMLHoldsTheReport in figures and as pictures, and loads nothing.
func TestHTMLHoldsTheReport(t *testing.T) {
	r := page("x")
	r.Headline, r.Line, r.Target, r.Metrics[0].Name, r.Metrics[0].Verdict, r.Metrics[0].Guard = Fail, "conduct fell", "conduct", "conduct", VerdictRegressed, true
	r.LostBefore, r.LostAfter, r.LossBound = 0.1, 0.2, 0.361
	r.Corrected = &stats.CorrectedChange{}
	r.Corrected.MissingBefore, r.Corrected.MissingAfter = 12, 7
	got := r.HTML()
	for _, want := range []string{"10.0% of rollouts were lost before and 20.0% after", "could move a rate by up to 0.361", "label 12 tasks more before and 7 after", "<title>FAIL</title>", `<h1 class="bad">FAIL</h1>`, "conduct fell", "<code>conduct</code>", `<td class="n">[-0.050, +0.250]</td>`, "regressed, target, guard", "<strong>FAIL</strong>", `<g class="bad"><rect`, "+0.25<"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	if n := strings.Count(got, "<svg"); n != 2 {
		t.Errorf("%d pictures, want one of the metrics and one of the slices", n)
	}
	if n := strings.Count(got, "<circle"); n != 2 {
		t.Errorf("%d dots, want one for the share and one for the slice: a number has another scale", n)
	}
	for _, never := range []string{"<script", "http:", "https:", "url(", "@import"} {
		if strings.Contains(got, never) {
			t.Errorf("the page holds %q", never)
		}
	}
	if (Report{}).HTML() == "" {
		t.Error("an empty report is no page")
	}
}
