package grade

import (
	"fmt"
	"strings"
	"testing"
)

// Every label has its place: those that count, and for each that does not, why.
func TestLabelsThatDoNotCountAreSaid(t *testing.T) {
	rows := bench(25, 0, 0, 25)
	rows[0].Diagnostic = true
	r := Trust(TrustInput{Judge: "j", Rows: rows, Tied: 3, Undone: 2})
	if got, want := r.Skipped.Says(), "1 picked rather than drawn, 3 with tied votes, 2 of rollouts that are not done"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if says := (Skipped{}).Says(); says != "" {
		t.Errorf("where all count it says %q", says)
	}
}

// The interval of a look is wider than that of the same figure in the table, and the
// sentence says so; what kind the table's are is named.
func TestWhichIntervalIsSaid(t *testing.T) {
	rows := bench(25, 0, 0, 25)
	looked, once := Trust(TrustInput{Rows: rows}), Trust(TrustInput{Rows: rows, Unordered: true})
	if !strings.Contains(looked.Says, "z 2.39") || strings.Contains(once.Says, "z 2.39") {
		t.Errorf("%s; %s", looked.Says, once.Says)
	}
	if !strings.Contains(looked.Intervals, "Wilson") || !strings.Contains(looked.Intervals, "independent labels") {
		t.Errorf("%s", looked.Intervals)
	}
	for i := range rows {
		rows[i].TaskID = fmt.Sprint("task", i/2)
	}
	if r := Trust(TrustInput{Rows: rows}); !strings.Contains(r.Intervals, "50 labels clustered in 25 tasks") {
		t.Errorf("%s", r.Intervals)
	}
}

// A sign says which way replies flipped; of replies without content only what passes can be
// counted.
func TestNetFlipsHaveASign(t *testing.T) {
	for want, p := range map[string]ProbeResult{
		"+14": {Kind: probeLift, Flips: 14}, "-3": {Kind: probeLift, Flips: -3}, "0": {Kind: probeLift}, "12": {Kind: probeEmpty, Flips: 12},
	} {
		if got := p.Net(); got != want {
			t.Errorf("%+v: %s, want %s", p, got, want)
		}
	}
}
