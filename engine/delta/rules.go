package delta

import (
	"fmt"
	"math"
	"strings"

	"assay/engine/record"
)

// Rule is one question on the way to a headline, with how it stood.
type Rule struct {
	Headline Headline // what the report is called where it holds
	Says     string
	Holds    bool
}

// Rules are the questions that were asked for the headline, in their order; the last of
// them holds and is the headline. It reads the report alone, so that one saved long ago
// explains itself too.
func (r Report) Rules() []Rule {
	var out []Rule
	for _, rule := range []struct {
		headline Headline
		says     func() string
	}{
		{InsufficientData, r.saysPaired}, {NotComparable, r.saysComparable}, {TargetNotMeasured, r.saysMeasured}, {Fail, r.saysFailed},
		{InsufficientData, r.saysChanged}, {Unresolved, r.saysResolved}, {Inconclusive, r.saysLost}, {Inconclusive, r.saysNoise}, {WithinNoise, r.saysOutside}, {Passed, r.saysBetter}, {NoDifference, r.saysNothing},
	} {
		holds := rule.headline == r.Headline
		switch rule.headline { // tried twice, each for a reason of its own
		case InsufficientData:
			holds = holds && (len(out) == 0) == (r.Units < minPaired)
		case Inconclusive:
			holds = holds && (out[len(out)-1].Headline != Inconclusive) == r.undoneByLoss()
		}
		out = append(out, Rule{rule.headline, rule.says(), holds})
		if holds {
			return out
		}
	}
	return nil // a headline that this version does not know
}

func (r Report) saysPaired() string {
	return fmt.Sprintf("%s on both sides, at least %d are needed", record.Counted(r.Units, "situation"), minPaired)
}

func (r Report) saysComparable() string {
	if len(r.NotComparable) == 0 {
		return "one scorer version, one set of tasks, one world on both sides"
	}
	return strings.Join(r.NotComparable, "; ")
}

func (r Report) saysMeasured() string {
	return fmt.Sprintf("%s was measured on both sides in %s", r.Target, record.Counted(r.target().Paired, "task"))
}

func (r Report) saysFailed() string {
	if r.Headline == Fail {
		return r.Line
	}
	guards := 0
	for i := range r.Metrics {
		if r.Metrics[i].Guard {
			guards++
		}
	}
	held := "no guard was set"
	if guards > 0 {
		held = record.Counted(guards, "guard") + " kept from regressing"
	}
	return fmt.Sprintf("%s, and %s did not fall beyond the noise", held, r.Target)
}

func (r Report) saysChanged() string {
	t := r.target()
	return fmt.Sprintf("%s changed in %d of %s; under %d situations, more than %d must change", t.Name, t.Changed, record.Counted(t.Units, "situation"), fewPaired, fewChanged)
}

func (r Report) saysResolved() string {
	if r.Headline == Unresolved {
		return r.Line
	}
	return "the same weights on both sides, or more than one training seed"
}

func (r Report) saysNoise() string {
	n := r.Noise
	if n == nil {
		return "the noise between eval runs is not known: neither side has two"
	}
	return fmt.Sprintf("eval runs of one agent differ by up to %s (%d before, %d after)", number(r.target(), n.Band), n.BeforeRuns, n.AfterRuns)
}

func (r Report) saysOutside() string {
	t := r.target()
	if t.Delta == nil || r.Noise == nil {
		return "the change is not known"
	}
	is := "no larger than"
	if math.Abs(*t.Delta) > r.Noise.Band {
		is = "larger than"
	}
	return fmt.Sprintf("a change of %s is %s the noise of %s", signed(t, *t.Delta), is, number(t, r.Noise.Band))
}

func (r Report) saysBetter() string {
	t := r.target()
	switch {
	case t.Lo == nil:
		return "there is no interval"
	case r.Headline == Passed:
		return fmt.Sprintf("the interval [%s, %s] lies wholly on the good side of 0", signed(t, *t.Lo), signed(t, *t.Hi))
	}
	return fmt.Sprintf("the interval [%s, %s] does not lie wholly on the good side of 0", signed(t, *t.Lo), signed(t, *t.Hi))
}

func (r Report) saysNothing() string { return r.Line }
