package record

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGoldOf(t *testing.T) {
	one, zero := 1.0, 0.0
	label := func(id int64, who string, v Verdict, kind GoldKind) Label {
		return Label{ID: id, Annotator: who, Verdict: v, Kind: kind, Purpose: PurposeFirst}
	}
	recheck := func(id int64, who string, v Verdict) Label {
		return Label{ID: id, Annotator: who, Verdict: v, Kind: GoldHuman, Purpose: PurposeRecheck}
	}
	for _, c := range []struct {
		name   string
		labels []Label
		reward *float64
		kind   GoldKind
		voters int
		ok     bool
	}{
		{"nobody", nil, nil, "", 0, false},
		{"one passes", []Label{label(1, "a", VerdictPass, GoldHuman)}, &one, GoldHuman, 1, true},
		{"the last word of each counts", []Label{label(1, "a", VerdictPass, GoldHuman), label(2, "a", VerdictFail, GoldHuman)}, &zero, GoldHuman, 1, true},
		{"in whatever order they come", []Label{label(2, "a", VerdictFail, GoldHuman), label(1, "a", VerdictPass, GoldHuman)}, &zero, GoldHuman, 1, true},
		{"taken back is none, not 0", []Label{label(1, "a", VerdictPass, GoldHuman), label(2, "a", VerdictRetracted, GoldHuman)}, nil, "", 0, false},
		{"taken back and given again", []Label{label(1, "a", VerdictPass, GoldHuman), label(2, "a", VerdictRetracted, GoldHuman), label(3, "a", VerdictFail, GoldHuman)}, &zero, GoldHuman, 1, true},
		{"a tie", []Label{label(1, "a", VerdictPass, GoldHuman), label(2, "b", VerdictFail, GoldHuman)}, nil, GoldHuman, 2, true},
		{"a majority", []Label{label(1, "a", VerdictPass, GoldHuman), label(2, "b", VerdictFail, GoldHuman), label(3, "c", VerdictFail, GoldHuman)}, &zero, GoldHuman, 3, true},
		{"unsure and skip do not vote", []Label{label(1, "a", VerdictPass, GoldHuman), label(2, "b", VerdictUnsure, GoldModel), label(3, "c", VerdictSkip, GoldUnknown)}, &one, GoldHuman, 1, true},
		{"unsure alone", []Label{label(1, "a", VerdictUnsure, GoldHuman)}, nil, "", 0, false},
		{"unsure replaces a vote", []Label{label(1, "a", VerdictPass, GoldHuman), label(2, "a", VerdictUnsure, GoldHuman)}, nil, "", 0, false},
		{"a recheck never votes", []Label{recheck(1, "a", VerdictPass)}, nil, "", 0, false},
		{"nor replaces the first look", []Label{label(1, "a", VerdictPass, GoldHuman), recheck(2, "a", VerdictFail)}, &one, GoldHuman, 1, true},
		{"program", []Label{label(1, "a", VerdictPass, GoldHuman), label(2, "p", VerdictPass, GoldProgram)}, &one, GoldProgram, 2, true},
		{"the weakest kind", []Label{label(1, "a", VerdictPass, GoldHuman), label(2, "p", VerdictPass, GoldProgram), label(3, "m", VerdictPass, GoldModel)}, &one, GoldModel, 3, true},
		{"a kind of no name", []Label{label(1, "a", VerdictPass, "oracle")}, &one, GoldUnknown, 1, true},
	} {
		gold, ok := GoldOf(c.labels)
		if ok != c.ok || gold.Voters != c.voters || gold.Kind != c.kind || cmp.Diff(c.reward, gold.Reward) != "" {
			t.Errorf("%s: %+v, %v", c.name, gold, ok)
		}
	}
}
