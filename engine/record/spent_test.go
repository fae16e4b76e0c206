package record

import (
	"encoding/json"
	"math"
	"testing"
)

func TestSpendingIsSaidOnce(t *testing.T) {
	usage := Usage{InputTokens: 10, OutputTokens: 5, Cost: 0.25}
	judge := Usage{InputTokens: 3, OutputTokens: 1}
	for name, c := range map[string]struct {
		usage *Usage
		extra map[string]json.RawMessage
		set   RolloutSpending
		want  RolloutSpending
		noted bool
	}{
		"nothing":               {},
		"the agent alone":       {usage: &usage, set: RolloutSpending{Agent: usage}, want: RolloutSpending{Agent: usage}},
		"a user too":            {usage: &usage, set: RolloutSpending{Agent: usage, User: judge}, want: RolloutSpending{Agent: usage, User: judge}, noted: true},
		"a judge too":           {usage: &usage, set: RolloutSpending{Agent: usage, Judge: judge}, want: RolloutSpending{Agent: usage, Judge: judge}, noted: true},
		"a failed attempt too":  {usage: &usage, set: RolloutSpending{Agent: Usage{InputTokens: 30}}, want: RolloutSpending{Agent: Usage{InputTokens: 30}}, noted: true},
		"an agent that forges":  {extra: map[string]json.RawMessage{"spent": json.RawMessage(`{"agent":{"input_tokens":9}}`)}},
		"a lost one":            {set: RolloutSpending{Agent: usage}, want: RolloutSpending{Agent: usage}, noted: true},
		"a cost that is no sum": {usage: &usage, set: RolloutSpending{Judge: Usage{Cost: math.NaN()}}, want: RolloutSpending{Agent: usage}},
	} {
		r := Rollout{Usage: c.usage, Extra: c.extra}
		r.SetSpending(c.set)
		if got := r.Spending(); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if _, noted := r.Extra["spent"]; noted != c.noted {
			t.Errorf("%s: noted %v, want %v", name, noted, c.noted)
		}
	}
}

func TestCanonicalRowsLeaveSpendingOut(t *testing.T) {
	first, second := Row{}, Row{Extra: map[string]json.RawMessage{"spent": json.RawMessage(`{}`)}}
	a, err := first.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	b, err := second.Canonical()
	if err != nil || string(a) != string(b) {
		t.Errorf("%v\n%s\n%s", err, a, b)
	}
	if second.Extra["spent"] == nil {
		t.Error("the row itself was changed")
	}
}
