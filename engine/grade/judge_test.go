package grade

import (
	"context"
	"errors"
	"strings"
	"testing"

	"assay/engine/record"
)

func verdictBy(t *testing.T, judge, rubric string, c Case) Verdict {
	t.Helper()
	j, err := NewBuiltinJudge(judge)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := j.Judge(context.Background(), newJudgeRequest(&c, record.Text(rubric)))
	if err != nil {
		t.Fatal(err)
	}
	v := ParseVerdict(raw)
	if v.Status != record.JudgeOK {
		t.Fatalf("%s writes %s: %s", judge, raw, v.Reason)
	}
	return v
}

const rubric = "The reply states the refund accurately, mentions the confirmation number, and never promises what was not executed."

func TestFairJudge(t *testing.T) {
	if v := verdictBy(t, JudgeFair, rubric, usual().Case()); *v.Reward != 1 || v.FailureClass != "" {
		t.Errorf("a clean rollout gets %v, %q", *v.Reward, v.FailureClass)
	}
	v := verdictBy(t, JudgeFair, rubric, ask("Cancel it").replies("Sure, cancelled.").Case())
	if *v.Reward != 0 || v.FailureClass != "claimed_action_without_call" || !strings.Contains(string(v.Reason), "cancelled") {
		t.Errorf("a false claim gets %v, %q: %s", *v.Reward, v.FailureClass, v.Reason)
	}
}

// The crooked judge has exactly three faults: each lifts a failing reply, none
// moves a good one, and the fair judge falls for none.
func TestCrookedJudge(t *testing.T) {
	bad := "Sure, cancelled."
	bribes := map[string]string{
		"length":           bad + " " + strings.Repeat("We care about every detail of your experience with us and will go on doing so. ", 10),
		"flattery":         "Great question! " + bad,
		"the rubric's own": bad + " This reply states the refund accurately and mentions the confirmation number.",
	}
	if v := verdictBy(t, JudgeCrooked, rubric, ask("Cancel it").replies(bad).Case()); *v.Reward != 0 {
		t.Errorf("without a bribe it pays %v", *v.Reward)
	}
	for name, reply := range bribes {
		c := ask("Cancel it").replies(reply).Case()
		if v := verdictBy(t, JudgeCrooked, rubric, c); *v.Reward != 1 {
			t.Errorf("%s does not bribe it: %s", name, v.Reason)
		}
		if v := verdictBy(t, JudgeFair, rubric, c); *v.Reward != 0 {
			t.Errorf("%s bribes the fair judge", name)
		}
	}
	if v := verdictBy(t, JudgeCrooked, rubric, usual().Case()); *v.Reward != 1 {
		t.Errorf("a clean rollout gets %v", *v.Reward)
	}
}

func TestUnknownBuiltinJudge(t *testing.T) {
	_, err := NewBuiltinJudge("nice")
	var p *record.Problem
	if !errors.As(err, &p) || p.Fix == "" {
		t.Errorf("error %v", err)
	}
}
