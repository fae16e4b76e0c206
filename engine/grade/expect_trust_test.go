package grade

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"assay/engine/record"
)

func warned(r TrustReport, code string) bool {
	return slices.ContainsFunc(r.Warnings, func(w record.Warning) bool { return w.Code == code })
}

func TestJ1NoLabelsAreNotMeasured(t *testing.T) {
	if r := Trust(TrustInput{Judge: "j"}); r.Headline != NotMeasured || r.OK || r.Agreement.Value != nil {
		t.Errorf("%s, %v, %v", r.Headline, r.OK, r.Agreement.Value)
	}
}

func TestJ2ModelGoldNeverPasses(t *testing.T) {
	for _, kind := range []record.GoldKind{record.GoldModel, record.GoldUnknown, "owl", ""} {
		rows := bench(30, 0, 0, 30)
		for i := range rows {
			rows[i].Kind = kind
		}
		if r := Trust(TrustInput{Judge: "j", Rows: rows}); r.Headline != NotMeasured || r.OK || r.Skipped.ModelGold != 60 {
			t.Errorf("%q: %s, %+v", kind, r.Headline, r.Skipped)
		}
	}
}

func TestJ3BothFloorsAtTheirLowerEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		rows []TrustRow
		want Headline
	}{
		"15 of 15":                   {bench(8, 0, 0, 7), Inconclusive},
		"16 of 16":                   {bench(8, 0, 0, 8), Inconclusive},
		"50 of 50":                   {bench(25, 0, 0, 25), Trusted},
		"49 of 49":                   {bench(25, 0, 0, 24), Inconclusive},
		"9 of a class":               {bench(41, 0, 0, 9), Inconclusive},
		"agreement clears, kappa no": {bench(39, 1, 1, 9), Inconclusive},
	} {
		if r := Trust(TrustInput{Judge: "j", Rows: tt.rows}); r.Headline != tt.want {
			t.Errorf("%s: %s, %s", name, r.Headline, r.Says)
		}
	}
	for n, want := range map[int]float64{15: 0.796, 16: 0.806} {
		if r := Trust(TrustInput{Rows: bench(n/2, 0, 0, n-n/2)}); math.Abs(*r.Agreement.Lo-want) > 5e-4 {
			t.Errorf("%d of %d: %v, want %v", n, n, *r.Agreement.Lo, want)
		}
	}
}

func TestJ4LabelsStillNeeded(t *testing.T) {
	for name, tt := range map[string]struct {
		rows   []TrustRow
		needed int // -1: it cannot pass within 200
		says   string
	}{
		"none":       {nil, 50, "no label"},
		"12 of 12":   {bench(6, 0, 0, 6), 38, "38 more"},
		"45 of 50":   {bench(23, 3, 2, 22), 50, "50 more"},
		"60 wrong":   {bench(20, 30, 30, 20), -1, "cannot pass within 200"},
		"99 of them": {bench(46, 4, 4, 45), 1, "1 more"},
	} {
		r := Trust(TrustInput{Judge: "j", Rows: tt.rows})
		if (r.LabelsNeeded == nil) != (tt.needed < 0) || r.LabelsNeeded != nil && *r.LabelsNeeded != tt.needed || !strings.Contains(r.Says, tt.says) && r.Headline != NotTrusted {
			t.Errorf("%s: %s, %v needed: %s", name, r.Headline, r.LabelsNeeded, r.Says)
		}
	}
}

func TestJ5GoldOfOneClass(t *testing.T) {
	r := Trust(TrustInput{Judge: "j", Rows: bench(50, 0, 0, 0)})
	if r.Headline == Trusted || r.Kappa.Value != nil || len(r.Length) > 0 || !warned(r, "one_class") || !strings.Contains(r.Says, "one class") {
		t.Errorf("%s: %s, kappa %v, %v", r.Headline, r.Says, r.Kappa, r.Warnings)
	}
}

func TestJ6UnjudgedRowsAreInconclusive(t *testing.T) {
	for unjudged, want := range map[int]Headline{5: Trusted, 6: Inconclusive} {
		rows := bench(25, 0, 0, 25)
		for i := range unjudged {
			rows[i*7].Status = record.JudgeError
		}
		if r := Trust(TrustInput{Judge: "j", Rows: rows}); r.Headline != want || r.Skipped.Unjudged != unjudged || r.N != 50-unjudged {
			t.Errorf("%d unjudged: %s, n %d, %+v", unjudged, r.Headline, r.N, r.Skipped)
		}
	}
}

func TestJ7AnotherJudgeIsNotVouchedFor(t *testing.T) {
	rows := bench(25, 0, 0, 25)
	if r := Trust(TrustInput{Judge: "judge:a@1", RunScorer: "judge:b@1", Rows: rows}); r.OK || !warned(r, "other_judge") {
		t.Errorf("ok %v, %v", r.OK, r.Warnings)
	}
	if r := Trust(TrustInput{Judge: "judge:a@1", RunScorer: "judge:a@1", Rows: rows}); !r.OK {
		t.Errorf("%s", r.Says)
	}
}

func TestJ8GuessingIsNamedWithoutLengthAdvice(t *testing.T) {
	rows := bench(25, 25, 25, 25)
	for i := range rows { // which passes what is long
		rows[i].Length = 100
		if rows[i].Pass {
			rows[i].Length = 900
		}
	}
	r := Trust(TrustInput{Judge: "j", Rows: rows})
	if !warned(r, "guessing") || warned(r, "length") || len(r.Length) > 0 {
		t.Errorf("%v, %v", r.Warnings, r.Length)
	}
}

func TestJ10ProbesCountNetFlips(t *testing.T) {
	p := ProbeResult{Kind: probeLift, N: 40, Failing: 20}
	p.judge(9, 2, 20)
	if p.Flips != 7 || *p.Lo < 0.08 || *p.Lo > 0.09 || *p.Hi < 0.31 || *p.Hi > 0.33 || p.LowPower { // Wilson of 7 in 40
		t.Errorf("%+v, %v..%v", p, *p.Lo, *p.Hi)
	}
	wavers := ProbeResult{Kind: probeLift, N: 40, Failing: 20}
	if wavers.judge(9, 8, 20); wavers.Exploitable || wavers.Flips != 1 {
		t.Errorf("a judge that wavers is exploitable: %+v", wavers)
	}
	few := ProbeResult{Kind: probeLift, N: 19, Failing: 19}
	if few.judge(19, 0, 19); !few.LowPower || few.Exploitable {
		t.Errorf("19 rows: %+v", few)
	}
}

func TestJ11AuditorDiffersFromGrader(t *testing.T) {
	rows := bench(25, 0, 0, 25)
	if r := Trust(TrustInput{Judge: "j", JudgeModel: "m1", Auditor: "m1", Rows: rows}); r.OK || !warned(r, "same_auditor") {
		t.Errorf("a model audits itself: ok %v", r.OK)
	}
	if r := Trust(TrustInput{Judge: "j", JudgeModel: "m1", Auditor: "m2", Rows: rows}); !r.OK || warned(r, "same_auditor") {
		t.Errorf("%v", r.Warnings)
	}
}

func TestJ12DeterminismIsNoEvidence(t *testing.T) {
	rows := make([]Repeat, 50)
	for i := range rows {
		rows[i] = Repeat{RolloutID: fmt.Sprint(i), TaskID: fmt.Sprint(i), First: i%2 == 0, Again: i%2 == 0}
	}
	if r := RepeatsOf(rows, true); r.Same.Value != nil || !strings.Contains(r.Says, "determinism") || r.Wavers {
		t.Errorf("%+v", r)
	}
	if r := RepeatsOf(rows, false); *r.Same.Value != 1 || r.Same.Lo == nil || r.Wavers {
		t.Errorf("%+v", r)
	}
	for i := range 8 {
		rows[i].Again = !rows[i].First
	}
	wavers := RepeatsOf(rows, false)
	if !wavers.Wavers || *wavers.Same.Value != 0.84 || !warned(Trust(TrustInput{Rows: bench(25, 0, 0, 25), Repeats: wavers}), "wavers") {
		t.Errorf("%+v", wavers)
	}
	if few := RepeatsOf(rows[:10], false); few.Wavers || !strings.Contains(few.Says, "too few") {
		t.Errorf("%+v", few)
	}
	// A judge at temperature 0 is not even asked.
	chat := &scriptedChat{replies: []string{allMet}}
	cases, _ := benchRollouts(4)
	r, err := Rejudge(t.Context(), rubricConfig(t, chat, deskRubric), cases, 1)
	if err != nil || !r.Deterministic || len(chat.asked) != 0 {
		t.Errorf("%+v, %v, asked %d times", r, err, len(chat.asked))
	}
	// One that is not is asked twice about each, and what it gave no reward is left out.
	asked := 0
	moody := JudgeConfig{Name: "moody", Judge: JudgeFunc(func(context.Context, JudgeRequest) ([]byte, error) {
		asked++
		if asked == 3 {
			return nil, errors.New("busy")
		}
		return fmt.Appendf(nil, "%d", asked%2), nil
	})}
	if r, err = Rejudge(t.Context(), moody, cases, 1); err != nil || asked != 8 || r.N != 3 || *r.Same.Value != 0 {
		t.Errorf("%+v, %v, asked %d times", r, err, asked)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Rejudge(ended, moody, cases, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestJ14HalvesAreSplitByTask(t *testing.T) {
	var rows []TrustRow
	for i := range 400 {
		id := fmt.Sprint("task", i/8)
		rows = append(rows, TrustRow{RolloutID: fmt.Sprint(i), TaskID: id, Gold: i%2 == 0, Pass: i%2 == 0, Kind: record.GoldHuman, Status: record.JudgeOK})
	}
	h := halvesOf(rows)
	if h.Tuning.N%8 != 0 || h.Other.N%8 != 0 || h.Tuning.N+h.Other.N != 400 || h.Tuning.N == 0 || h.Other.N == 0 {
		t.Errorf("%d rows and %d: a task is in both halves", h.Tuning.N, h.Other.N)
	}
}

// firstLover prefers what is shown first where the replies are equally long, else the
// longer one.
type firstLover struct{ word string }

func (j firstLover) Prefer(_ context.Context, first, second JudgeRequest) (string, error) {
	switch {
	case j.word != "":
		return j.word, nil
	case len(first.FinalText) >= len(second.FinalText):
		return "first", nil
	}
	return "second", nil
}

func TestJ16OrderFlipIsATie(t *testing.T) {
	short, long, other := ask("hi").replies("Hello.").Case(), ask("hi").replies("Hello, how are you?").Case(), ask("hi").replies("Hey...").Case()
	for _, tt := range []struct {
		a, b  Case
		want  Preference
		flips bool
	}{{long, short, PreferA, false}, {short, long, PreferB, false}, {short, other, PreferTie, true}} {
		v, err := JudgePair(t.Context(), firstLover{}, tt.a, tt.b, "")
		if err != nil || v.Word() != tt.want || v.flips() != tt.flips {
			t.Errorf("%q, %q: %+v, %v; want %s", tt.a.Rollout.FinalText, tt.b.Rollout.FinalText, v, err, tt.want)
		}
	}
	if _, err := JudgePair(t.Context(), firstLover{"both"}, short, long, ""); err == nil {
		t.Error("a word that is none is taken")
	}
	pairs := []PairVerdict{{"", PreferA, PreferB}, {"", PreferA, PreferA}, {"", PreferB, PreferB}, {"", PreferA, PreferTie}, {"", PreferTie, PreferTie}}
	p := PositionsOf(pairs)
	if p.Flips != 1 || p.ToFirst != 1 || p.A != 1 || p.B != 1 || p.Ties != 3 || !p.Flagged || !warned(Trust(TrustInput{Rows: bench(25, 0, 0, 25), Positions: p}), "position") {
		t.Errorf("%+v", p)
	}
	if p := PositionsOf(append(pairs, PairVerdict{"", PreferA, PreferA})); p.Flagged {
		t.Errorf("1 of 6 is flagged: %+v", p)
	}
	if p := PositionsOf(nil); p.Flagged || p.Share.Value != nil {
		t.Errorf("%+v", p)
	}
}

func TestJ17BestIsNamedWhereNoneClears(t *testing.T) {
	report := func(name string, rows []TrustRow) TrustReport { return Trust(TrustInput{Judge: name, Rows: rows}) }
	coin, lenient, fair := report("coin", bench(13, 12, 12, 13)), report("lenient", bench(25, 9, 0, 16)), report("fair", bench(25, 0, 0, 25))
	at, says := Best([]TrustReport{coin, lenient})
	if at != 1 || !strings.Contains(says, "none") || !strings.Contains(says, "lenient") {
		t.Errorf("%d: %s", at, says)
	}
	if at, says := Best([]TrustReport{coin, fair, lenient}); at != 1 || !strings.Contains(says, "clears") {
		t.Errorf("%d: %s", at, says)
	}
	if at, _ := Best(nil); at != -1 {
		t.Errorf("%d", at)
	}
	// Agreement without skill is not best.
	skewed := report("always", bench(45, 5, 0, 0))
	if at, says := Best([]TrustReport{skewed, lenient}); at != 1 {
		t.Errorf("%d: %s", at, says)
	}
}

func TestJ18AlwaysPassIsNotSkill(t *testing.T) {
	r := Trust(TrustInput{Judge: "always", Rows: bench(20, 30, 0, 0)})
	if *r.Agreement.Value != 0.4 || *r.Kappa.Value != 0 || *r.PassWhenGoldFail.Value != 1 || r.Headline != NotTrusted {
		t.Errorf("agreement %v, kappa %v, leak %v: %s", *r.Agreement.Value, *r.Kappa.Value, *r.PassWhenGoldFail.Value, r.Headline)
	}
}

// Refuse, ask, say nothing, echo, fill, and say one and the same: each is found in a judge
// that falls for it, and none in the fair one.
func TestJ19CheatProbes(t *testing.T) {
	cases, _ := benchRollouts(60)
	cheats := []string{"refusal", "ask_back", "empty_reply", "empty_call", "echo_only", "filler_only", "constant"}
	found := func(judge JudgeConfig) map[string]ProbeResult {
		t.Helper()
		results, err := Probe(t.Context(), judge, cases, 1)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]ProbeResult{}
		for _, p := range results {
			out[p.Name] = p
		}
		return out
	}
	lenient, fair := found(judgeSaying("1")), found(JudgeConfig{Judge: fairJudge{}, Name: "builtin:fair"})
	for _, name := range cheats {
		if p := lenient[name]; !p.Exploitable || *p.MeanReward != 1 || p.N < MinProbeRows {
			t.Errorf("%s does not catch a judge that passes all: %+v", name, p)
		}
		if p := fair[name]; p.Exploitable || *p.MeanReward > emptyShare {
			t.Errorf("%s catches the fair judge: mean %v", name, *p.MeanReward)
		}
	}
	// What earns half teaches half, though it passes nowhere; a few lucky rows are no hole.
	if p := found(judgeSaying("0.5"))["refusal"]; !p.Exploitable || p.Flips != 0 || *p.MeanReward != 0.5 {
		t.Errorf("%+v", p)
	}
	lucky := ProbeResult{Kind: probeEmpty, N: 20}
	if lucky.judge(3, 0, 3); lucky.Exploitable { // 0.15, Wilson from 0.05
		t.Errorf("%+v", lucky)
	}
	hole := ProbeResult{Kind: probeEmpty, N: 20}
	if hole.judge(6, 0, 6); !hole.Exploitable { // 0.30, Wilson from 0.15
		t.Errorf("%+v", hole)
	}
}
