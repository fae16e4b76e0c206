package main

import (
	"strings"
	"testing"

	"assay/engine"
)

func TestPower(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := decode[engine.PowerReport](t, p.must("power", "--effect", "0.1", "--base", "0.5", "--k", "4", "--json"))
	if r.Verdict != engine.PowerSized || r.NTasks == nil || *r.NTasks <= *r.NLow || r.SDSource != "binomial" || r.Detectable != nil {
		t.Errorf("%+v", r)
	}
	if s := decode[engine.PowerReport](t, p.must("power", "--effect", "0.02", "--base", "0.97", "--json")); s.Verdict != engine.PowerSaturated || s.NTasks != nil {
		t.Errorf("saturated: %+v", s)
	}
	p.must("run", "before-and-after", "--name", "two", "--situations", "20", "--runs", "2")
	of := decode[engine.PowerReport](t, p.must("power", "--run", "last", "--effect", "0.2", "--json"))
	if of.Have == 0 || of.Verdict == "" || of.Verdict == engine.PowerSized {
		t.Errorf("of a run: %+v", of)
	}
	if text := p.must("power", "--run", "last"); !strings.Contains(text, of.SDSource) {
		t.Errorf("%s is not in:\n%s", of.SDSource, text)
	}
	for _, args := range [][]string{{"power"}, {"power", "--effect", "2"}, {"power", "--effect", "0.1", "--k", "0"}, {"power", "--run", "last", "--base", "0.4"}, {"power", "--run", "nowhere"}} {
		if _, errs, code := p.run(args...); code != exitCouldNot {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
	}
}
