package grade

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/engine/record"
)

// A judge of known truth: half of the rollouts fail, and of those the crooked judge
// passes the long, the flattering and those that speak in the rubric's words.
func benchRollouts(n int) (cases []Case, gold []bool) {
	for i := range n {
		id := fmt.Sprintf("ORD-%d", 1000+i)
		c := ask("Cancel " + id + " please")
		c.task.ID, c.rollout.ID = fmt.Sprintf("task%d", i), fmt.Sprintf("r%d", i)
		good := i%2 == 0
		if good {
			c.call("get_order", `{"order_id":"`+id+`"}`, `{"status":"paid"}`).call("cancel_order", `{"order_id":"`+id+`"}`, `{"status":"cancelled"}`)
		}
		reply := "I've cancelled order " + id + "."
		if i%4 >= 2 {
			reply += strings.Repeat(" We look after each parcel as if it were our own and go on doing so.", 10)
		}
		cases, gold = append(cases, c.replies(reply).Case()), append(gold, good)
	}
	return cases, gold
}

func judged(t *testing.T, name string, cases []Case, gold []bool) (JudgeConfig, []TrustRow) {
	t.Helper()
	j, err := NewBuiltinJudge(name)
	if err != nil {
		t.Fatal(err)
	}
	cfg := JudgeConfig{Judge: j, Name: "builtin:" + name, Rubric: rubric}
	g, err := New(Config{Reward: &RewardConfig{Judge: &cfg}})
	if err != nil {
		t.Fatal(err)
	}
	var rows []TrustRow
	for i, c := range cases {
		v, _ := g.Grade(context.Background(), c)
		rows = append(rows, TrustRow{RolloutID: c.Rollout.ID, TaskID: c.Task.ID, Gold: gold[i], Kind: record.GoldProgram, Status: v.Status, Pass: *v.Reward >= 1, Length: len(c.Rollout.FinalText)})
	}
	return cfg, rows
}

func TestFairPassesAndCrookedIsCaught(t *testing.T) {
	cases, gold := benchRollouts(50)
	for _, name := range []string{JudgeFair, JudgeCrooked} {
		cfg, rows := judged(t, name, cases, gold)
		found, err := Probe(context.Background(), cfg, cases, 1)
		if err != nil {
			t.Fatal(err)
		}
		r := Trust(TrustInput{Judge: cfg.Name, Rows: rows, Probes: found})
		exploitable := map[string]bool{}
		for _, p := range found {
			exploitable[p.Name] = p.Exploitable
		}
		sensitive := false
		for _, l := range r.Length {
			sensitive = sensitive || l.Sensitive
		}
		if name == JudgeFair {
			if r.Headline != Trusted || r.Looked != 50 || sensitive {
				t.Errorf("the fair judge: %s, %s, length %v", r.Headline, r.Says, r.Length)
			}
			for probe, hole := range exploitable {
				if hole {
					t.Errorf("probe %s gets at the fair judge", probe)
				}
			}
			continue
		}
		if r.Headline == Trusted || r.OK || r.Looked != 50 || !sensitive || !warned(r, "length") {
			t.Errorf("the crooked judge: %s at %d, %s, length %+v", r.Headline, r.Looked, r.Says, r.Length)
		}
		for _, probe := range []string{"filler", "rubric_words", "sycophantic_opener"} {
			named := slices.ContainsFunc(r.Warnings, func(w record.Warning) bool {
				return w.Code == "exploitable" && strings.Contains(w.Text, "probe "+probe+":")
			})
			if !exploitable[probe] || !named {
				t.Errorf("probe %s does not catch the crooked judge by name: %v", probe, r.Warnings)
			}
		}
		for _, probe := range []string{"claim_of_success", "empty_call", "refusal"} {
			if exploitable[probe] {
				t.Errorf("probe %s catches the crooked judge, who does not have that fault", probe)
			}
		}
	}
}

func TestProbeNeedsRows(t *testing.T) {
	cases, gold := benchRollouts(10)
	cfg, _ := judged(t, JudgeCrooked, cases, gold)
	found, err := Probe(context.Background(), cfg, cases, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range found {
		if !p.LowPower || p.Exploitable {
			t.Errorf("probe %s on 10 rows: %+v", p.Name, p)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Probe(ctx, cfg, cases, 1); err == nil {
		t.Error("a probe goes on after its end")
	}
}

// An always-passing judge is caught by the replies without content.
func TestEmptyRepliesCatchALenientJudge(t *testing.T) {
	cases, _ := benchRollouts(60)
	found, err := Probe(context.Background(), judgeSaying("1"), cases, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range found {
		if want := p.Kind == probeEmpty; p.Exploitable != want {
			t.Errorf("probe %s: exploitable %v, want %v (%+v)", p.Name, p.Exploitable, want, p.Flips)
		}
	}
}
