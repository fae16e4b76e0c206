package grade

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"assay/engine/record"
	"assay/engine/stats"
)

// bench makes labelled rows, each of a task of its own, mixed by their hash.
func bench(tp, fp, fn, tn int) []TrustRow {
	var rows []TrustRow
	add := func(n int, gold, pass bool) {
		for range n {
			id := fmt.Sprintf("t%d", len(rows))
			rows = append(rows, TrustRow{RolloutID: id, TaskID: id, Gold: gold, Pass: pass, Kind: record.GoldHuman, Status: record.JudgeOK, Length: 100 + len(rows)%7})
		}
	}
	add(tp, true, true)
	add(fp, false, true)
	add(fn, true, false)
	add(tn, false, false)
	return shuffled(rows, "bench")
}

func shuffled(rows []TrustRow, name string) []TrustRow {
	out := append([]TrustRow(nil), rows...)
	record.Stream("shuffle", name).Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func TestTrustWords(t *testing.T) {
	human := func(rows []TrustRow) TrustInput { return TrustInput{Judge: "judge:a@1", Rows: rows} }
	tests := []struct {
		name   string
		in     TrustInput
		want   Headline
		ok     bool
		says   string
		needed int // -1: nil
	}{
		{"no labels", human(nil), NotMeasured, false, "no label", 50},
		{"15 of 15", human(bench(8, 0, 0, 7)), Inconclusive, false, "35 more", 35},
		{"49 of 49", human(bench(25, 0, 0, 24)), Inconclusive, false, "1 more", 1},
		{"50 of 50", human(bench(25, 0, 0, 25)), Trusted, true, "at 50 labels", -1},
		{"48 of 50", human(bench(24, 1, 1, 24)), Trusted, true, "at 50 labels", -1},
		{"45 of 50", human(bench(23, 3, 2, 22)), Inconclusive, false, "more labels", 50},
		{"a coin", human(bench(13, 12, 12, 13)), NotTrusted, false, "below the floor", 150}, // and may turn out well yet
		{"always passes on 40%", human(bench(20, 30, 0, 0)), NotTrusted, false, "below the floor", -1},
		{"one class", human(bench(50, 0, 0, 0)), Inconclusive, false, "one class", 50},
		{"9 of one class", human(bench(41, 0, 0, 9)), Inconclusive, false, "fewer than 10", 50},
		{"170 of 200", human(bench(85, 15, 15, 85)), NotTrusted, false, "cannot pass within 200", -1},
		{"190 of 200", human(bench(95, 5, 5, 95)), Trusted, true, "at 200 labels", -1},
		{"between looks the word stands", human(append(bench(25, 0, 0, 25), bench(0, 20, 20, 0)...)), Trusted, true, "at 50 labels", -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := Trust(tt.in)
			if r.Headline != tt.want || r.OK != tt.ok || !strings.Contains(r.Says, tt.says) {
				t.Errorf("%s (%v): %s; want %s, %q", r.Headline, r.OK, r.Says, tt.want, tt.says)
			}
			switch {
			case tt.needed == -1 && r.LabelsNeeded != nil:
				t.Errorf("%d labels needed, want none", *r.LabelsNeeded)
			case tt.needed != -1 && (r.LabelsNeeded == nil || *r.LabelsNeeded != tt.needed):
				t.Errorf("labels needed %v, want %d", r.LabelsNeeded, tt.needed)
			}
		})
	}
}

func TestTrustCountsOnlyWhatCounts(t *testing.T) {
	good := bench(30, 0, 0, 30)
	model := bench(30, 0, 0, 30)
	for i := range model {
		model[i].Kind = []record.GoldKind{record.GoldModel, record.GoldUnknown}[i%2]
	}
	if r := Trust(TrustInput{Rows: model}); r.Headline != NotMeasured || r.OK || r.Skipped.ModelGold != 60 {
		t.Errorf("model gold: %s, %+v", r.Headline, r.Skipped)
	}
	picked := bench(0, 40, 40, 0)
	for i := range picked {
		picked[i].Diagnostic = true
	}
	if r := Trust(TrustInput{Rows: append(picked, good...)}); r.Headline != Trusted || r.N != 60 || r.Skipped.Diagnostic != 80 {
		t.Errorf("diagnostic rows: %s, n %d, %+v", r.Headline, r.N, r.Skipped)
	}
	unjudged := bench(30, 0, 0, 30)
	for i := range 8 {
		unjudged[i*6].Status = record.JudgeTimeout
	}
	if r := Trust(TrustInput{Rows: unjudged}); r.Headline != Inconclusive || r.Skipped.Unjudged != 8 || !strings.Contains(r.Says, "no verdict") {
		t.Errorf("unjudged rows: %s, %s, %+v", r.Headline, r.Says, r.Skipped)
	}
	program := bench(30, 0, 0, 30)
	for i := range program {
		program[i].Kind = record.GoldProgram
	}
	if r := Trust(TrustInput{Rows: program}); r.Headline != Trusted || r.GoldKind != record.GoldProgram {
		t.Errorf("program gold: %s, %s", r.Headline, r.GoldKind)
	}
	if r := Trust(TrustInput{Judge: "judge:a@1", RunScorer: "judge:b@1", Rows: good}); r.OK || r.Warnings[0].Code != "other_judge" {
		t.Errorf("another judge's run: ok %v, %v", r.OK, r.Warnings)
	}
}

func TestTrustLooks(t *testing.T) {
	// 60 good labels, then nonsense up to 99: the look at 100 is not reached.
	rows := append(bench(30, 0, 0, 30), bench(0, 20, 19, 0)...)
	if r := Trust(TrustInput{Rows: rows}); r.Looked != 50 || r.Headline != Trusted || *r.Agreement.Value > 0.7 {
		t.Errorf("looked at %d: %s; agreement %v", r.Looked, r.Headline, *r.Agreement.Value)
	}
	// One look, fixed before: nothing before it, and its own quantile at it.
	good := bench(36, 2, 2, 36)
	if r := Trust(TrustInput{Rows: good, TrustAt: 76}); r.Headline != Trusted || r.Looked != 76 {
		t.Errorf("trust_at 76: %s, %s", r.Headline, r.Says)
	}
	if r := Trust(TrustInput{Rows: good, TrustAt: 80}); r.Headline != Inconclusive || *r.LabelsNeeded != 4 {
		t.Errorf("trust_at 80: %s, %s", r.Headline, r.Says)
	}
	if r := Trust(TrustInput{Rows: good, Unordered: true}); r.Headline != Trusted || r.Looked != 76 {
		t.Errorf("unordered: %s, %s", r.Headline, r.Says)
	}
}

func TestRevisedRubricIsMeasuredOnTheOtherHalf(t *testing.T) {
	rows := bench(100, 0, 0, 100)
	tuning := 0
	for _, row := range rows {
		tuning += count(inTuningHalf(row.TaskID))
	}
	if tuning < 70 || tuning > 130 {
		t.Fatalf("%d of 200 tasks are in the tuning half", tuning)
	}
	r := Trust(TrustInput{Rows: rows, Revised: true})
	if r.N != 200-tuning || r.Skipped.TunedOn != tuning || r.Headline != Trusted {
		t.Errorf("n %d, %+v, %s", r.N, r.Skipped, r.Headline)
	}
	for i := range rows { // right on the half it was tuned on, guessing on the other
		rows[i].Pass = rows[i].Gold
		if !inTuningHalf(rows[i].TaskID) {
			rows[i].Pass = i%2 == 0
		}
	}
	fitted := Trust(TrustInput{Rows: rows})
	if fitted.Halves == nil || !fitted.Halves.Fitted {
		t.Errorf("halves %+v", fitted.Halves)
	}
	if again := Trust(TrustInput{Rows: rows, Revised: true}); again.Headline == Trusted {
		t.Errorf("a rubric fitted to its examples is %s", again.Headline)
	}
}

func TestClusteredRowsAreCountedByTask(t *testing.T) {
	rows := bench(25, 0, 0, 25)
	for i := range rows { // 50 rows of 5 tasks
		rows[i].TaskID = fmt.Sprintf("t%d", i%5)
	}
	if r := Trust(TrustInput{Rows: rows}); r.Headline == Trusted || *r.Agreement.Lo > 0.6 {
		t.Errorf("50 rows of 5 tasks: %s, agreement from %v", r.Headline, *r.Agreement.Lo)
	}
	mixed := bench(40, 10, 10, 40)
	alone := Trust(TrustInput{Rows: mixed})
	for i := range mixed { // whole tasks are right or wrong
		kind := 0
		if mixed[i].Pass != mixed[i].Gold {
			kind = 1
		}
		mixed[i].TaskID = fmt.Sprintf("k%d-%d", kind, i%5)
	}
	together := Trust(TrustInput{Rows: mixed})
	if *together.Agreement.Lo >= *alone.Agreement.Lo || *together.Agreement.Value != *alone.Agreement.Value {
		t.Errorf("clustered %v, alone %v", *together.Agreement.Lo, *alone.Agreement.Lo)
	}
}

func TestLengthSensitivityInsideOneClass(t *testing.T) {
	rows := bench(50, 0, 0, 50)
	for i := range rows {
		rows[i].Length = 100
		if i%2 == 0 {
			rows[i].Length = 900
		}
		rows[i].Pass = rows[i].Gold || rows[i].Length > 500
	}
	r := Trust(TrustInput{Rows: rows})
	flagged := map[string]bool{}
	for _, l := range r.Length {
		flagged[l.Gold] = l.Sensitive
	}
	if !flagged["fail"] || flagged["pass"] {
		t.Errorf("length %+v", r.Length)
	}
	// Longer replies are better, and the judge knows it: inside a class length is
	// worth nothing.
	honest := bench(50, 0, 0, 50)
	for i := range honest {
		honest[i].Length = 100 + i%5
		if honest[i].Gold {
			honest[i].Length += 800
		}
	}
	for _, l := range Trust(TrustInput{Rows: honest}).Length {
		if l.Sensitive {
			t.Errorf("an honest judge is sensitive: %+v", l)
		}
	}
	if r := Trust(TrustInput{Rows: bench(25, 25, 25, 25)}); len(r.Length) != 0 {
		t.Errorf("a judge that guesses is given advice on length: %+v", r.Length)
	}
}

func TestCutRowsAreToldApart(t *testing.T) {
	rows := bench(30, 0, 0, 30)
	if r := Trust(TrustInput{Rows: rows}); r.CutRows != nil {
		t.Errorf("nothing was cut: %+v", r.CutRows)
	}
	for i := range 20 {
		rows[i].Cut = true
		rows[i].Pass = !rows[i].Gold
	}
	r := Trust(TrustInput{Rows: rows})
	if *r.CutRows.Cut.Value != 0 || *r.CutRows.Whole.Value != 1 {
		t.Errorf("cut %v, whole %v", *r.CutRows.Cut.Value, *r.CutRows.Whole.Value)
	}
}

// The published judge calibrations.
func TestPublishedCalibrations(t *testing.T) {
	raw, err := io.ReadAll(casesFile(t, "golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Block struct {
			Tolerance float64 `json:"tolerance"`
			Cases     []struct {
				Name           string
				TP, FP, FN, TN int
				Agreement      float64
				Lo             float64 `json:"agreement_lo"`
				Hi             float64 `json:"agreement_hi"`
				Kappa          float64
				Leak           float64 `json:"leak_rate"`
				Miss           float64 `json:"miss_rate"`
			}
		} `json:"agreement_kappa"`
	}
	if err := json.Unmarshal(raw, &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden.Block.Cases) == 0 {
		t.Fatal("no case in the file")
	}
	for _, c := range golden.Block.Cases {
		r := Trust(TrustInput{Rows: bench(c.TP, c.FP, c.FN, c.TN), Unordered: true})
		for what, pair := range map[string][2]float64{
			"agreement": {*r.Agreement.Value, c.Agreement}, "agreement lo": {*r.Agreement.Lo, c.Lo}, "agreement hi": {*r.Agreement.Hi, c.Hi},
			"kappa": {*r.Kappa.Value, c.Kappa}, "leak": {*r.PassWhenGoldFail.Value, c.Leak}, "miss": {*r.FailWhenGoldPass.Value, c.Miss},
		} {
			if math.Abs(pair[0]-pair[1]) > golden.Block.Tolerance {
				t.Errorf("%s: %s %v, published %v", c.Name, what, pair[0], pair[1])
			}
		}
		// One of them is a second person instead of a judge, to show that the floors can
		// be met.
		if control := strings.Contains(c.Name, "positive control"); r.OK != control {
			t.Errorf("%s: %s, %s", c.Name, r.Headline, r.Says)
		}
	}
}

// labelsNeeded against a search that shares nothing with it but the rule: every
// completion up to the looks, judged by Trust itself.
func TestLabelsNeededIsExact(t *testing.T) {
	for _, c := range [][4]int{{23, 3, 2, 22}, {40, 6, 6, 48}, {30, 10, 10, 30}, {60, 15, 15, 60}, {45, 0, 5, 0}, {80, 10, 9, 51}} {
		rows := bench(c[0], c[1], c[2], c[3])
		got := Trust(TrustInput{Rows: rows})
		if got.Headline == Trusted {
			continue
		}
		want := -1
		for _, look := range stats.TrustLooks() {
			for passes := 0; want < 0 && look > len(rows) && passes <= look-len(rows); passes++ {
				if Trust(TrustInput{Rows: append(append([]TrustRow(nil), rows...), bench(passes, 0, 0, look-len(rows)-passes)...)}).Headline == Trusted {
					want = look - len(rows)
				}
			}
		}
		switch {
		case want < 0 && got.LabelsNeeded != nil:
			t.Errorf("%v: %d labels can help, and no completion does", c, *got.LabelsNeeded)
		case want >= 0 && (got.LabelsNeeded == nil || *got.LabelsNeeded != want) && got.Headline == Inconclusive:
			t.Errorf("%v: labels needed %v, want %d", c, got.LabelsNeeded, want)
		}
	}
}

func TestCompareJudges(t *testing.T) {
	a, b := bench(20, 0, 0, 20), bench(20, 0, 0, 20)
	for i := range b {
		a[i].RolloutID, b[i].RolloutID = fmt.Sprint(i), fmt.Sprint(i)
		if i < 9 {
			b[i].Pass = !b[i].Gold
		}
	}
	a[30].Pass = !a[30].Gold
	b[39].Status = record.JudgeError
	c := CompareJudges(a, b)
	if c.N != 39 || c.OnlyFirst != 9 || c.OnlySecond != 1 || math.Abs(c.P-0.0215) > 5e-5 {
		t.Errorf("%+v", c)
	}
}
