package main

import (
	"math"
	"strings"
	"testing"

	"assay/engine"
)

// A run's scan has the shape that is promised, and what the reward is made of is found.
func TestScan(t *testing.T) {
	p := newPlace(t)
	p.must("run", "seeded-agent")
	r := decode[engine.ScanReport](t, p.must("scan", "last", "--json"))
	if r.Support.Rows == 0 || r.Support.Mixed == 0 || r.Tau == nil || len(r.Features) == 0 {
		t.Fatalf("%+v", r.Support)
	}
	for i := 1; i < len(r.Features); i++ {
		if math.Abs(r.Features[i].RhoWithin) > math.Abs(r.Features[i-1].RhoWithin)+1e-12 {
			t.Errorf("%s stands behind %s", r.Features[i].Name, r.Features[i-1].Name)
		}
	}
	for _, f := range r.Features {
		if f.Above != (math.Abs(f.RhoWithin) > *r.Tau) {
			t.Errorf("%s: %v above %v is %v", f.Name, f.RhoWithin, *r.Tau, f.Above)
		}
	}
	name := r.Features[0].Name
	endorsed := decode[engine.ScanReport](t, p.must("scan", "last", "--endorse", name, "--json"))
	if !endorsed.Features[0].Endorsed {
		t.Errorf("%s is not endorsed", name)
	}
	text := p.must("scan", "last")
	for _, want := range []string{string(r.Regime), "floor of chance", "variance of the reward"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	if _, errs, code := p.run("scan", "nowhere"); code != exitCouldNot {
		t.Errorf("exit %d, %s", code, errs)
	}
}
