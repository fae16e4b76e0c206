package grade

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"assay/engine/record"
)

// What careful users of such tools expect, by its number. The tests below and in other
// files are named after it where it is one thing; where an older test holds it, that is
// named here, with its package's folder, and must exist.
var expectations = map[string][]string{
	"G1":  {".TestG1RaisingJudgeIsAnErrorNeverZero", ".TestRewardFromJudge"},
	"G2":  {".TestG2UnreadableVerdictsAreInvalid", ".TestParseVerdict", ".FuzzParseVerdict"},
	"G3":  {".TestG3ContradictingScoreIsUngraded"},
	"G4":  {".TestG4PartialRewardsAreCounted", "../delta.TestPassByHand"},
	"G5":  {".TestG5ConstantScorerIsNamed"},
	"G6":  {".TestG6LongPayloadShrinksFieldByField", ".TestFitAlwaysFits"},
	"G7":  {".TestG7ToolsCalledAndNotCalled"},
	"G8":  {".TestG8HardCriteriaGate", ".TestHardCriterionMakesTheRewardZero"},
	"G9":  {".TestG9UncallableGraderIsRefused"},
	"G10": {".TestReasonNeverQuotesTheReference", ".TestCodeAgainstHiddenTests"},
	"G11": {".TestG11TruncatedStampSurvivesRegrading"},
	"G12": {".TestG12JudgeHasAnIdentity", ".TestScorerVersions"},
	"G13": {".TestVerdictKeepsWhatItHasNoPlaceFor"},
	"G14": {".TestG14ConductAloneIsNoReward", ".TestConductAloneIsNoReward"},
	"G15": {".TestG15RatingScaleIsMappedExplicitly"},
	"G16": {".TestG16JudgeIsWarmedOnce"},
	"G17": {".TestMissingReferenceIsNoFailure", ".TestCodeAgainstHiddenTests"},
	"G18": {"../delta.TestPassCountsWhatIsMissing"},
	"G19": {".TestG19MarkersAreNullWhereTheyDoNotApply", ".TestMarkerThatDoesNotApply"},
	"G20": {"../delta.TestPassWithoutSpread", ".TestTry"},

	"J1":  {".TestJ1NoLabelsAreNotMeasured"},
	"J2":  {".TestJ2ModelGoldNeverPasses"},
	"J3":  {".TestJ3BothFloorsAtTheirLowerEnds", "../stats.TestTrustDecides"},
	"J4":  {".TestJ4LabelsStillNeeded", "../stats.TestTrustNeededIsExact"},
	"J5":  {".TestJ5GoldOfOneClass"},
	"J6":  {".TestJ6UnjudgedRowsAreInconclusive"},
	"J7":  {".TestJ7AnotherJudgeIsNotVouchedFor"},
	"J8":  {".TestJ8GuessingIsNamedWithoutLengthAdvice"},
	"J9":  {"../../store/exchange.TestLabelKeys", "../../store/exchange.TestLabelFileRefused", "../gold_test.go.TestWhichGoldCounts"},
	"J10": {".TestJ10ProbesCountNetFlips", ".TestProbeNeedsRows"},
	"J11": {".TestJ11AuditorDiffersFromGrader"},
	"J12": {".TestJ12DeterminismIsNoEvidence"},
	"J13": {".TestLengthSensitivityInsideOneClass"},
	"J14": {".TestJ14HalvesAreSplitByTask", ".TestRevisedRubricIsMeasuredOnTheOtherHalf"},
	"J15": {".TestCompareJudges", "../stats.TestMcNemarExactAgainstBigIntegers"},
	"J16": {".TestJ16OrderFlipIsATie", ".TestRubricJudgeOfPairs", "../agent.TestJudgeComparesTwo", "../../cmd/assay.TestTrustOfPairs"},
	"J17": {".TestJ17BestIsNamedWhereNoneClears"},
	"J18": {".TestJ18AlwaysPassIsNotSkill", "../stats.TestAlwaysPassIsNotSkill"},
	"J19": {".TestJ19CheatProbes"},
}

func TestEveryExpectationHasItsTest(t *testing.T) {
	if len(expectations) != 20+19 {
		t.Errorf("%d expectations, want G1 to G20 and J1 to J19", len(expectations))
	}
	for name, tests := range expectations {
		for _, test := range tests {
			at := strings.LastIndexByte(test, '.')
			files, err := filepath.Glob(filepath.Join(".", test[:at], "*_test.go"))
			if strings.HasSuffix(test[:at], ".go") {
				files = []string{test[:at]}
			}
			if err != nil || len(files) == 0 {
				t.Errorf("%s: no tests in %q: %v", name, test[:at], err)
			}
			found := false
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				found = found || strings.Contains(string(text), "\nfunc "+test[at+1:]+"(")
			}
			if !found {
				t.Errorf("%s: there is no %s", name, test)
			}
		}
	}
}

func TestG1RaisingJudgeIsAnErrorNeverZero(t *testing.T) {
	raises := JudgeConfig{Name: "j", Judge: JudgeFunc(func(context.Context, JudgeRequest) ([]byte, error) { return []byte("1"), errors.New("500") })}
	j, _ := gradeOne(t, Config{Reward: &RewardConfig{Judge: &raises}}, usual().Case())
	if j.Status != record.JudgeError || j.Reward != nil {
		t.Errorf("%s, %v", j.Status, j.Reward)
	}
	var tally Tally
	tally.Add(j, 1)
	tally.Add(&record.Judgment{Status: record.JudgeOK, Reward: ptr(1.0)}, 1)
	if tally.N != 2 || tally.Passed != 1 || tally.Unjudged() != 1 || tally.Warnings("r1")[0].Code != "unjudged" {
		t.Errorf("%+v, %v", tally, tally.Warnings("r1"))
	}
}

func ptr[T any](v T) *T { return &v }

func TestG2UnreadableVerdictsAreInvalid(t *testing.T) {
	for _, reply := range []string{"I think so", "1.5", "NaN", "true", `"1"`, `{"reward": 1, "reward": 1}`, `{"reward": "0.5"}`, `{"reward": False}`} {
		if v := ParseVerdict([]byte(reply)); v.Status != record.JudgeInvalidResult || v.Reward != nil {
			t.Errorf("%s: %s, %v", reply, v.Status, v.Reward)
		}
	}
}

func TestG3ContradictingScoreIsUngraded(t *testing.T) {
	if v := ParseVerdict([]byte(`{"score": 0, "reward": 1}`)); v.Reward != nil || v.Status != record.JudgeInvalidResult {
		t.Errorf("%v, %s", v.Reward, v.Status)
	}
	if v := ParseVerdict([]byte(`{"score": 1, "reward": 1}`)); v.Reward == nil {
		t.Errorf("%s", v.Reason)
	}
}

func TestG4PartialRewardsAreCounted(t *testing.T) {
	var tally Tally
	for _, reward := range []float64{0, 0.001, 0.5, 0.999, 1, 1} {
		tally.Add(&record.Judgment{Status: record.JudgeOK, Reward: &reward}, 0.5)
	}
	raw, err := json.Marshal(tally)
	if err != nil || tally.Partial != 3 || tally.Passed != 4 || !strings.Contains(string(raw), `"n_partial":3`) {
		t.Errorf("%s, %v", raw, err)
	}
}

func TestG5ConstantScorerIsNamed(t *testing.T) {
	tally := func(rewards ...float64) *Tally {
		var tally Tally
		for _, reward := range rewards {
			tally.Add(&record.Judgment{Status: record.JudgeOK, Reward: &reward}, 1)
		}
		tally.Add(&record.Judgment{Status: record.JudgeTimeout}, 1)
		return &tally
	}
	if same := tally(0.5, 0.5, 0.5); same.Constant == nil || *same.Constant != 0.5 || same.Warnings("r1")[0].Code != "constant_judge" || !strings.Contains(same.Warnings("r1")[0].Text, "check the judge") {
		t.Errorf("%+v", same)
	}
	for _, varied := range []*Tally{tally(0.5, 0.5, 0.4), tally(0.4, 0.5, 0.4), tally(1), tally()} {
		if varied.Constant != nil {
			t.Errorf("%+v", varied)
		}
	}
}

func TestG6LongPayloadShrinksFieldByField(t *testing.T) {
	c := usual().replies(strings.Repeat("final ", 30_000)).Case()
	c.SystemPrompt = record.Text(strings.Repeat("policy ", 30_000))
	whole := newJudgeRequest(&c, "")
	for _, bound := range []int{200_000, DefaultMaxChars, 20_000, 2_000, minChars} {
		req, cut := fit(whole, bound)
		raw, err := record.Marshal(req)
		if err != nil || !json.Valid(raw) {
			t.Fatalf("at %d it is no JSON: %v", bound, err)
		}
		var fields map[string]CutField
		if err := json.Unmarshal(cut, &fields); err != nil {
			t.Fatalf("at %d what was cut is not said: %v", bound, err)
		}
		if f := fields["final_text"]; f.Chars <= 0 || f.Chars >= f.Of || f.Of < 180_000 {
			t.Errorf("at %d: %+v", bound, fields)
		}
	}
}

// The stamp that a reply was cut off is the rollout's: no grader takes it away, and every
// one marks it.
func TestG11TruncatedStampSurvivesRegrading(t *testing.T) {
	c := usual().finish(record.FinishLength).replies("I have cancelled the order and will now go on to refu").Case()
	before := *c.Rollout
	generous, strict := judgeSaying("1"), judgeSaying("0")
	for range 2 {
		for _, judge := range []*JudgeConfig{&generous, &strict} {
			_, markers := gradeOne(t, Config{Reward: &RewardConfig{Judge: judge}}, c)
			conduct := markers[MarkerConduct]
			cut := false
			for _, e := range conduct.Evidence {
				cut = cut || e.Rule == "cut_off"
			}
			if !cut {
				t.Errorf("conduct %v without cut_off: %+v", *conduct.Value, conduct.Evidence)
			}
		}
	}
	if c.Rollout.FinishReason != record.FinishLength || !reflect.DeepEqual(*c.Rollout, before) {
		t.Errorf("grading changed the rollout: %+v", c.Rollout)
	}
}

func TestG14ConductAloneIsNoReward(t *testing.T) {
	c := ask("Cancel my order ORD-7").replies("Sure, cancelled.").Case()
	j, markers := gradeOne(t, Config{}, c)
	if j != nil || *markers[MarkerConduct].Value != 0 {
		t.Errorf("judgment %v, conduct %v", j, *markers[MarkerConduct].Value)
	}
}

func TestG19MarkersAreNullWhereTheyDoNotApply(t *testing.T) {
	exprs := map[string]string{"good": "called('get_order')", "bad": "called('delete_account')", "not_here": "called('delete_account') ? 1 : nil"}
	_, markers := gradeOne(t, Config{Markers: exprs}, usual().Case())
	if *markers["good"].Value != 1 || *markers["bad"].Value != 0 || markers["not_here"].Value != nil || markers["not_here"].Status != record.MarkerNotApplicable {
		t.Errorf("%+v", markers)
	}
	o := record.Outcome{Markers: []record.Marker{markers["not_here"], markers["good"]}}
	if o.Marker("not_here") != nil || *o.Marker("good") != 1 {
		t.Error("what does not apply is in the denominator")
	}
}
