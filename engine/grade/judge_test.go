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

func TestFairJudgeReadsTheOrdersOfAPolicy(t *testing.T) {
	acts := func() *conversation {
		return ask("Cancel ORD-7").call("cancel_order", `{"order_id":"ORD-7"}`, `{"ok":true}`).replies("I've cancelled ORD-7.")
	}
	looked := func(id string) *conversation {
		return ask("Cancel ORD-7 and ORD-8").call("get_order", `{"order_id":"`+id+`"}`, `{"order_id":"ORD-7"}`).call("cancel_order", `{"order_id":"ORD-7"}`, `{"ok":true}`).replies("I've cancelled ORD-7.")
	}
	tests := []struct {
		name, policy string
		c            *conversation
		want         float64
	}{
		{"the look is skipped", "Look up the order before you cancel it.", acts(), 0},
		{"the look is there", "Look up the order before you cancel it.", looked("ORD-7"), 1},
		{"another thing was looked up", "Look up the order before you cancel it.", looked("ORD-8"), 0},
		{"said the other way", "Never cancel without a look at the order.", acts(), 0},
		{"no order is given", "Be polite before lunch.", acts(), 1},
		{"no yes", "Ask for confirmation before cancelling.", acts(), 0},
		{"a yes", "Ask for confirmation before cancelling.", ask("Cancel ORD-7").says("Shall I?").user("yes").call("cancel_order", `{"order_id":"ORD-7"}`, `{"ok":true}`).replies("I've cancelled ORD-7."), 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.c.policy = record.Text(tt.policy)
			if v := verdictBy(t, JudgeFair, "", tt.c.Case()); *v.Reward != tt.want {
				t.Errorf("reward %v, want %v: %s", *v.Reward, tt.want, v.Reason)
			}
		})
	}
}
