package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/engine"
	"assay/engine/record"
)

// A11: the report names the rules and tools that no ask reaches, that all is said in
// one message, that nothing presses, and the axes that the asks do not show.
func TestA11CoverageGapOfAFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("asks.txt", "Where is my order ORD-1?\n\n"+
		`"Where is my order ORD-1?"`+"\n"+
		`{"ask": "please cancel order ORD-2"}`+"\n"+
		`{"messages": [{"role": "user", "content": "keep your answers short"}, {"role": "assistant", "content": "Yes."}]}`+"\n")
	report := decode[engine.GapReport](t, p.must("cover", "seeded-agent", "--asks", "asks.txt", "--json"))
	want := []string{"Look up the order before you refund it", "Ask the customer to confirm before you cancel an order"}
	if diff := cmp.Diff(want, report.Rules); diff != "" {
		t.Error(diff)
	}
	if report.Asks != 3 || report.RulesOf != 3 || report.ToolsOf != 3 || !slices.Equal(report.Tools, []string{"refund_order"}) || !report.SingleShot || !report.NoPressure || report.Unlabelled != 3 {
		t.Errorf("%+v", report)
	}
	if want := []string{record.AxisStance, record.AxisWorldState, record.AxisToolCondition, record.AxisHistory}; !slices.Equal(report.Axes, want) {
		t.Errorf("axes that cannot be read: %v", report.Axes)
	}
	text := p.must("cover", "seeded-agent", "--asks", "asks.txt")
	for _, said := range []string{"3 different asks: 2 of 3 rules and 1 of 3 tools", "    " + want[0] + "\n", "    refund_order\n", "beyond its first message", "press the agent", "cannot be read from the asks", "unlabelled"} {
		if !strings.Contains(text, said) {
			t.Errorf("it does not say %q:\n%s", said, text)
		}
	}
}

// A run that was posed by the grid, with users that answer, leaves nothing to say;
// its rows in a file say the same as the run.
func TestA11CoverageGapOfARun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.hunting()
	p.must("run", "hunting", "--situations", "40", "--name", "r")
	ran := p.must("cover", "hunting", "--run", "r", "--json")
	report := decode[engine.GapReport](t, ran)
	if report.Asks < 20 || len(report.Rules)+len(report.Tools)+len(report.Axes) > 0 || report.SingleShot || report.NoPressure {
		t.Errorf("%+v", report)
	}
	p.write("rows.jsonl", p.must("rows", "r"))
	if again := p.must("cover", "hunting", "--asks", "rows.jsonl", "--json"); again != ran {
		t.Errorf("its rows give\n%s\nthe run\n%s", again, ran)
	}
}

func TestCoverageGapRefusals(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("asks.jsonl", "Where is it?\n{\"ask\": \n")
	p.write("empty.txt", "\n\n")
	for line, says := range map[string]string{
		"seeded-agent --asks asks.jsonl":              "line 2 of asks.jsonl is no ask",
		"seeded-agent --asks empty.txt":               "no ask to read",
		"seeded-agent --asks gone.txt":                "gone.txt",
		"seeded-agent --run last":                     "no database",
		"--asks asks.jsonl":                           "no recipe is named",
		"seeded-agent --asks asks.jsonl --csv":        "--csv",
		"--asks asks.jsonl --model asks.jsonl":        "--model",
		"seeded-agent --asks asks.jsonl --strength 3": "--strength",
	} {
		out, errs, code := p.run(append([]string{"cover"}, strings.Fields(line)...)...)
		if code != exitCouldNot || out != "" || !strings.Contains(errs, says) {
			t.Errorf("assay cover %s: exit %d, %s%s", line, code, out, errs)
		}
	}
}
