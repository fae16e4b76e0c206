package engine_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"assay/engine"
)

var suspectFields = []string{"tool", "stance", "history"}

// drawn are situations over three fields of four, three and two values, of which each
// fails by the chance that is said of it.
func drawn(rng *rand.Rand, n int, chance func(v []string) float64) []engine.SuspectUnit {
	units := make([]engine.SuspectUnit, n)
	for i := range units {
		v := []string{[]string{"get", "refund", "cancel", "list"}[rng.IntN(4)], []string{"ordinary", "hurried", "adversarial"}[rng.IntN(3)], []string{"fresh", "prior"}[rng.IntN(2)]}
		units[i] = engine.SuspectUnit{Values: v, Failed: rng.Float64() < chance(v)}
	}
	return units
}

func TestSuspectsFindWhatWasPlanted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pair, triple := 0, 0
	for range 20 {
		found, tested := engine.Suspects(suspectFields, drawn(rng, 240, func(v []string) float64 {
			switch {
			case v[0] == "refund" && v[1] == "hurried":
				return 0.9
			case v[0] == "cancel" && v[1] == "adversarial" && v[2] == "prior":
				return 0.95
			}
			return 0.1
		}))
		if tested > 12+8+6+24 || tested < 40 { // a triple can be too rare
			t.Fatalf("%d were tested", tested)
		}
		if slices.ContainsFunc(found, func(s engine.Suspect) bool { return slices.Equal(s.Values, []string{"refund", "hurried"}) }) {
			pair++
		}
		if slices.ContainsFunc(found, func(s engine.Suspect) bool {
			return slices.Equal(s.Values, []string{"cancel", "adversarial", "prior"}) && slices.Equal(s.Fields, suspectFields)
		}) {
			triple++
		}
		for _, s := range found {
			if s.P > s.Q || s.Q > engine.SuspectLevel || float64(s.Failed)/float64(s.Units) <= s.Beside {
				t.Errorf("named %+v", s)
			}
		}
	}
	if pair < 19 || triple < 12 {
		t.Errorf("of 20 plants the pair was found %d times, the triple %d", pair, triple)
	}
}

// TestSuspectsAreNotWhatOneValueExplains: a tool that fails everywhere is no pair, and
// noise names something in a tenth of runs at the most.
func TestSuspectsAreNotWhatOneValueExplains(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for name, chance := range map[string]func(v []string) float64{
		"nothing":   func([]string) float64 { return 0.3 },
		"a half":    func([]string) float64 { return 0.5 },
		"one value": func(v []string) float64 { return map[bool]float64{true: 0.9, false: 0.1}[v[0] == "refund"] },
	} {
		runs, wrong := 60, 0
		for range runs {
			if found, _ := engine.Suspects(suspectFields, drawn(rng, 200, chance)); len(found) > 0 {
				wrong++
			}
		}
		t.Logf("%s: something was named in %d of %d runs", name, wrong, runs)
		if wrong > runs/10+5 { // a tenth, and three errors of a share of 60
			t.Errorf("%s: something was named in %d of %d runs", name, wrong, runs)
		}
	}
}

// What no situation tells apart is not tested: with one value of a field, a pair with
// it is the other value alone.
func TestSuspectsThatCannotBeTold(t *testing.T) {
	var units []engine.SuspectUnit
	for i := range 40 {
		units = append(units, engine.SuspectUnit{Values: []string{"refund", []string{"hurried", ""}[i%2], "fresh"}, Failed: i%2 == 0})
	}
	if found, tested := engine.Suspects(suspectFields, units); len(found)+tested != 0 {
		t.Errorf("named %v of %d", found, tested)
	}
}
