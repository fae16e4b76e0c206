package main

import (
	"os"
	"strings"
	"testing"

	"assay/engine"
)

// TestDeltaInEveryForm says one report as text, Markdown, JSON and a page, and lets
// --require decide the exit code.
func TestDeltaInEveryForm(t *testing.T) {
	p := newPlace(t)
	p.must("run", "seeded-agent", "--name", "story", "--runs", "2")
	text := p.must("delta", "story:before", "story:after")
	markdown := p.must("delta", "story:before", "story:after", "--format", "markdown", "--html", "delta.html")
	r := decode[engine.DeltaReport](t, p.must("delta", "story:before", "story:after", "--format", "json"))
	page, err := os.ReadFile(p.file("delta.html"))
	if err != nil {
		t.Fatal(err)
	}
	word := string(r.Headline)
	for form, ok := range map[string]bool{
		"text":     strings.HasPrefix(text, word+"  "),
		"markdown": strings.HasPrefix(markdown, "# "+word+"\n") && strings.Contains(markdown, "| `pass_at_1` |"),
		"page":     strings.Contains(string(page), "<title>"+word+"</title>") && strings.Contains(string(page), "<svg"),
	} {
		if !ok {
			t.Errorf("as %s it does not say %s", form, word)
		}
	}
	for _, args := range [][]string{{"--format", "html"}, {"--require", "FAIL"}, {"--html", "no/where.html"}} {
		out, errs, code := p.run(append([]string{"delta", "story:before", "story:after"}, args...)...)
		if code != exitCouldNot || out != "" || errs == "" {
			t.Errorf("delta %v: exit %d, %.100q, %q", args, code, out, errs)
		}
	}
	want := map[bool]int{true: exitOK, false: exitGate}[r.OK]
	if _, _, code := p.run("delta", "story:before", "story:after", "--require", "PASS"); code != want {
		t.Errorf("a report of %s with --require PASS: exit %d, want %d", word, code, want)
	}
	if _, _, code := p.run("delta", "story:after", "story:before", "--require", "PASS"); code == exitOK {
		t.Error("the other way round it passes too")
	}
}
