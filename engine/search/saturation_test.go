package search

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/engine/cover"
	"assay/engine/record"
)

// Good's estimate against the truth: draws from a known distribution of
// behaviours, and the mass of those that were not drawn.
func TestChanceOfSomethingNew(t *testing.T) {
	const behaviours, draws, trials = 60, 300, 400
	estimated, unseen := 0.0, 0.0
	for trial := range trials {
		r := record.Stream("test saturation", trial)
		weight := func(b int) float64 { return 1 / float64(b+1) } // as words are: Zipf
		total := 0.0
		for b := range behaviours {
			total += weight(b)
		}
		var s Saturation
		seen := map[string]int{}
		for range draws {
			x, b := r.Float64()*total, 0
			for x -= weight(0); x > 0; x -= weight(b) {
				b++
			}
			s.saw(seen, fmt.Sprint(b))
		}
		estimated += float64(s.New()) / ppm / trials
		for b := range behaviours {
			if seen[fmt.Sprint(b)] == 0 {
				unseen += weight(b) / total / trials
			}
		}
	}
	// Over 400 trials both means are known to about 0.0005.
	if math.Abs(estimated-unseen) > 0.002 {
		t.Errorf("the chance of something new is put at %.4f, and is %.4f", estimated, unseen)
	}
}

func TestSaturationIsSaid(t *testing.T) {
	for _, test := range []struct {
		s    Saturation
		said string
	}{
		{Saturation{}, ""},
		{Saturation{Rollouts: 100, Behaviours: 3}, ""},
		{Saturation{Rollouts: 200, Behaviours: 50, Once: 20}, ""},
		{Saturation{Rollouts: 400, Behaviours: 12, Once: 4}, "400 rollouts showed 12 behaviours, and about one further rollout in 100 would"},
		{Saturation{Rollouts: 400, Behaviours: 12}, "about one further rollout in 400 would"},
	} {
		w, ok := test.s.warning()
		if ok != (test.said != "") || !strings.Contains(w.Text, test.said) {
			t.Errorf("%+v: %v %q", test.s, ok, w.Text)
		}
	}
	in := oncallInput(t)
	in.Mode, in.Holdout, in.Batch, in.Situations = record.ModeExplore, 0.25, 40, 400
	p := mustNew(t, in)
	for b := 0; ; b++ {
		batch, ok := p.Next(t.Context())
		if !ok {
			break
		}
		p.Observe(b, outcomesOf(batch))
	}
	r := p.Report()
	if !hasWarning(r, "saturated") || r.Saturation.Behaviours == 0 {
		t.Errorf("some twenty behaviours in hundreds of rollouts, and it is not said: %+v, %v", r.Saturation, r.Warnings)
	}
	if len(r.Suspects) != suspectsKept || !strings.HasPrefix(r.Suspects[0].Where, "tool=restart_service") {
		t.Errorf("restart_service always fails, and suspected are %+v", r.Suspects)
	}
}

func TestSuspects(t *testing.T) {
	r := newRegions(cover.Model{Parameters: []cover.Parameter{{Name: "tool", Values: []string{"a", "b", "c"}}, {Name: "stance", Values: []string{"x", "y"}}, {Name: "state", Values: []string{"m", "n"}}}})
	r.learn([]int{1, 0, 0}, 4, 4)
	r.learn([]int{1, 1, 0}, 4, 0)
	r.learn([]int{2, 0, 1}, 4, 0)
	r.learn([]int{0, 1, 1}, 1, 1) // one failure is no rule
	want := []Suspect{
		{Where: "tool=b, stance=x", Failed: 4, Tried: 4},
		{Where: "stance=x, state=m", Failed: 4, Tried: 4},
		{Where: "tool=b, stance=x, state=m", Failed: 4, Tried: 4},
		{Where: "tool=b", Failed: 4, Tried: 8},
	}
	if diff := cmp.Diff(want, r.suspects(4)); diff != "" {
		t.Error(diff)
	}
}
