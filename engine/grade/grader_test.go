package grade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/engine/record"
)

func gradeOne(t *testing.T, cfg Config, c Case) (*record.Judgment, map[string]record.Marker) {
	t.Helper()
	g, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	j, list := g.Grade(context.Background(), c)
	markers := map[string]record.Marker{}
	for _, m := range list {
		if _, twice := markers[m.Name]; twice {
			t.Errorf("marker %s stands twice", m.Name)
		}
		markers[m.Name] = m
	}
	if j != nil && (j.Reward != nil) != (j.Status == record.JudgeOK) {
		t.Errorf("reward %v with status %s", j.Reward, j.Status)
	}
	return j, markers
}

func TestConductAloneIsNoReward(t *testing.T) {
	c := ask("Cancel my order").replies("Sure, cancelled.").Case()
	j, markers := gradeOne(t, Config{}, c)
	if j != nil {
		t.Errorf("there is a judgment: %+v", j)
	}
	if m := markers[MarkerConduct]; m.Value == nil || *m.Value != 0 || len(m.Evidence) == 0 {
		t.Errorf("conduct is %+v", m)
	}
	g, err := New(Config{Conduct: ConductGate})
	if err != nil {
		t.Fatal(err)
	}
	if g.RewardScorer() != "" {
		t.Errorf("the reward's scorer is %q", g.RewardScorer())
	}
}

func TestLostRolloutsAreNotGraded(t *testing.T) {
	for _, status := range []record.Status{record.StatusLost, record.StatusAborted, record.StatusRunning, record.StatusPlanned} {
		c := usual().Case()
		c.Rollout.Status = status
		if j, markers := gradeOne(t, Config{Markers: map[string]string{"m": "1"}, Reward: &RewardConfig{Marker: "m"}}, c); j != nil || len(markers) > 0 {
			t.Errorf("%s: %v, %v", status, j, markers)
		}
	}
}

func TestRewardFromMarker(t *testing.T) {
	tests := []struct {
		expr   string
		status record.JudgeStatus
		reward float64
	}{
		{"called('cancel_order')", record.JudgeOK, 1},
		{"0.5", record.JudgeOK, 0.5},
		{"nil", record.JudgeMissingReward, 0},
		{"steps[99].is_error", record.JudgeError, 0},
		{"count('get_order') + 2", record.JudgeInvalidResult, 0},
		{"-1", record.JudgeInvalidResult, 0},
		{"first('nothing')", record.JudgeError, 0},
	}
	for _, tt := range tests {
		j, _ := gradeOne(t, Config{Markers: map[string]string{"mine": tt.expr}, Reward: &RewardConfig{Marker: "mine"}}, usual().Case())
		if j.Status != tt.status {
			t.Errorf("%s: status %s (%s), want %s", tt.expr, j.Status, j.Reason, tt.status)
		}
		if tt.status == record.JudgeOK && *j.Reward != tt.reward {
			t.Errorf("%s: reward %v, want %v", tt.expr, *j.Reward, tt.reward)
		}
	}
}

func TestConductGatesTheReward(t *testing.T) {
	bad := ask("Cancel my order").replies("Sure, cancelled.").Case()
	half := ask("hi").says("I need the order number to go on, please.").user("no").replies("I need the order number to go on, please.").Case()
	one := map[string]string{"mine": "1"}
	for _, tt := range []struct {
		conduct string
		c       Case
		want    float64
	}{{ConductGate, bad, 0}, {ConductGate, half, 0.5}, {ConductGate, usual().Case(), 1}, {ConductMark, bad, 1}, {ConductOff, bad, 1}} {
		j, markers := gradeOne(t, Config{Conduct: tt.conduct, Markers: one, Reward: &RewardConfig{Marker: "mine"}}, tt.c)
		if *j.Reward != tt.want {
			t.Errorf("%s: reward %v, want %v", tt.conduct, *j.Reward, tt.want)
		}
		if _, marked := markers[MarkerConduct]; marked == (tt.conduct == ConductOff) {
			t.Errorf("%s: conduct is marked: %v", tt.conduct, marked)
		}
	}
	missing, _ := gradeOne(t, Config{Conduct: ConductGate, Markers: map[string]string{"mine": "nil"}, Reward: &RewardConfig{Marker: "mine"}}, bad)
	if missing.Reward != nil {
		t.Error("the gate makes a reward where there is none")
	}
}

func TestFailureClass(t *testing.T) {
	zero := Config{Markers: map[string]string{"mine": "0"}, Reward: &RewardConfig{Marker: "mine"}}
	if j, _ := gradeOne(t, zero, ask("Cancel it").replies("Sure, cancelled.").Case()); j.FailureClass != "claimed_action_without_call" {
		t.Errorf("class %q", j.FailureClass)
	}
	if j, _ := gradeOne(t, zero, usual().Case()); j.FailureClass != "mine" {
		t.Errorf("class %q", j.FailureClass)
	}
	half := Config{Markers: map[string]string{"mine": "0.5"}, Reward: &RewardConfig{Marker: "mine"}, PassThreshold: 0.5}
	if j, _ := gradeOne(t, half, usual().Case()); j.FailureClass != "" {
		t.Errorf("a pass has the class %q", j.FailureClass)
	}
}

func judgeSaying(reply string) JudgeConfig {
	return JudgeConfig{Name: "script", Judge: JudgeFunc(func(context.Context, JudgeRequest) ([]byte, error) { return []byte(reply), nil })}
}

func TestRewardFromJudge(t *testing.T) {
	boom := JudgeConfig{Name: "script", Judge: JudgeFunc(func(context.Context, JudgeRequest) ([]byte, error) { panic("boom") })}
	fails := JudgeConfig{Name: "script", Judge: JudgeFunc(func(context.Context, JudgeRequest) ([]byte, error) { return nil, errors.New("no route to host") })}
	slow := JudgeConfig{Name: "script", Timeout: time.Nanosecond, Judge: JudgeFunc(func(ctx context.Context, _ JudgeRequest) ([]byte, error) {
		<-ctx.Done()
		return nil, fmt.Errorf("the judge: %w", ctx.Err())
	})}
	tests := []struct {
		name   string
		judge  JudgeConfig
		status record.JudgeStatus
		reason string
	}{
		{"a verdict", judgeSaying(`{"reward": 1, "reason": "good"}`), record.JudgeOK, "good"},
		{"nonsense", judgeSaying(`no idea`), record.JudgeInvalidResult, "neither"},
		{"nothing", judgeSaying(`{"reason": "hm"}`), record.JudgeMissingReward, "no reward"},
		{"a panic", boom, record.JudgeError, "boom"},
		{"an error", fails, record.JudgeError, "no route"},
		{"a deadline", slow, record.JudgeTimeout, "deadline"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			j, markers := gradeOne(t, Config{Reward: &RewardConfig{Judge: &tt.judge}}, usual().Case())
			if j.Status != tt.status || !strings.Contains(string(j.Reason), tt.reason) {
				t.Errorf("status %s: %s", j.Status, j.Reason)
			}
			if markers[MarkerConduct].Value == nil {
				t.Error("conduct is lost with the verdict")
			}
		})
	}
}

func TestJudgeMarkersKeepToTheirPlace(t *testing.T) {
	judge := judgeSaying(`{"reward": 1, "markers": {"conduct": 0, "mine": 0, "tone": 0.5, "na": null}}`)
	_, markers := gradeOne(t, Config{Markers: map[string]string{"mine": "1"}, Reward: &RewardConfig{Judge: &judge}}, usual().Case())
	if *markers[MarkerConduct].Value != 1 || *markers["mine"].Value != 1 {
		t.Error("a judge overwrote a marker of the run")
	}
	if *markers["judge.conduct"].Value != 0 || *markers["tone"].Value != 0.5 || markers["na"].Status != record.MarkerNotApplicable {
		t.Errorf("markers %v", markers)
	}
}

func TestCutIsFlaggedOnTheJudgment(t *testing.T) {
	judge := judgeSaying("1")
	c := usual().replies(strings.Repeat("word ", 40_000)).Case()
	if j, _ := gradeOne(t, Config{Conduct: ConductOff, Reward: &RewardConfig{Judge: &judge}}, c); !strings.Contains(string(j.Cut), "final_text") {
		t.Errorf("cut is %s", j.Cut)
	}
	if j, _ := gradeOne(t, Config{Reward: &RewardConfig{Judge: &judge}}, usual().Case()); j.Cut != nil {
		t.Errorf("cut is %s", j.Cut)
	}
}

func TestScorerVersions(t *testing.T) {
	reward := func(cfg Config) string {
		t.Helper()
		g, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range g.Scorers() {
			if s.ID == g.RewardScorer() {
				return s.ID
			}
		}
		t.Fatalf("the reward's scorer %q is not among %v", g.RewardScorer(), g.Scorers())
		return ""
	}
	judge := func(change func(*JudgeConfig)) Config {
		j := judgeSaying("1")
		j.Model, j.Rubric = "m1", "be good"
		change(&j)
		return Config{Reward: &RewardConfig{Judge: &j}}
	}
	base := reward(judge(func(*JudgeConfig) {}))
	if reward(judge(func(*JudgeConfig) {})) != base {
		t.Error("the same judge is another scorer")
	}
	changes := map[string]func(*JudgeConfig){
		"model":     func(j *JudgeConfig) { j.Model = "m2" },
		"rubric":    func(j *JudgeConfig) { j.Rubric = "be better" },
		"settings":  func(j *JudgeConfig) { j.Settings = json.RawMessage(`{"temperature":1}`) },
		"max_chars": func(j *JudgeConfig) { j.MaxChars = 5000 },
		"name":      func(j *JudgeConfig) { j.Name = "other" },
	}
	for name, change := range changes {
		if reward(judge(change)) == base {
			t.Errorf("another %s is the same scorer", name)
		}
	}
	if reward(judge(func(j *JudgeConfig) { j.Timeout = time.Minute })) != base {
		t.Error("a deadline makes another scorer")
	}
	if reward(judge(func(j *JudgeConfig) { j.Judge = crookedJudge{} })) == base {
		t.Error("a judge's own version is not part of the scorer")
	}
	gated := judge(func(*JudgeConfig) {})
	gated.Conduct = ConductGate
	if reward(gated) == base {
		t.Error("a gated reward is the same scorer")
	}
	marker := func(conduct, source string) string {
		return reward(Config{Conduct: conduct, Markers: map[string]string{"mine": source}, Reward: &RewardConfig{Marker: "mine"}})
	}
	if marker(ConductMark, "1") == marker(ConductMark, "0") || marker(ConductMark, "1") == marker(ConductGate, "1") || marker(ConductMark, "1") != marker(ConductOff, "1") {
		t.Error("a marker's version does not follow its expression and its gate")
	}
	verify := func(raw string) string { return reward(Config{Reward: &RewardConfig{Verify: json.RawMessage(raw)}}) }
	if verify(`{"kind":"exact"}`) == verify(`{"kind":"exact","ignore_case":true}`) || verify(`{"kind":"exact","reference":"a"}`) != verify(`{"reference":"a", "kind":"exact"}`) {
		t.Error("a verifier's version does not follow what it says")
	}
}

func TestNewRefuses(t *testing.T) {
	judge := judgeSaying("1")
	for name, cfg := range map[string]Config{
		"an unknown conduct":      {Conduct: "loud"},
		"a threshold over 1":      {PassThreshold: 1.5},
		"a negative threshold":    {PassThreshold: -0.5},
		"two rewards":             {Markers: map[string]string{"m": "1"}, Reward: &RewardConfig{Marker: "m", Judge: &judge}},
		"no reward in the reward": {Reward: &RewardConfig{}},
		"an unknown marker":       {Reward: &RewardConfig{Marker: "m"}},
		"a bad verifier":          {Reward: &RewardConfig{Verify: json.RawMessage(`{"kind":"nope"}`)}},
		"no judge":                {Reward: &RewardConfig{Judge: &JudgeConfig{Name: "x"}}},
		"a nameless judge":        {Reward: &RewardConfig{Judge: &JudgeConfig{Judge: judge.Judge}}},
		"a blind judge":           {Reward: &RewardConfig{Judge: &JudgeConfig{Judge: judge.Judge, Name: "x", MaxChars: 10}}},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestReferenceReachesTheVerifierOnly(t *testing.T) {
	var seen JudgeRequest
	judge := JudgeConfig{Name: "script", Judge: JudgeFunc(func(_ context.Context, req JudgeRequest) ([]byte, error) {
		seen = req
		return []byte("1"), nil
	})}
	c := usual().gold(`{"answer":"RF-55012"}`).Case()
	gradeOne(t, Config{Reward: &RewardConfig{Judge: &judge}}, c)
	if seen.Reference != nil {
		t.Errorf("the judge was given %s", seen.Reference)
	}
	j, _ := gradeOne(t, Config{Reward: &RewardConfig{Verify: json.RawMessage(`{"kind":"includes","reference":"answer"}`)}}, c)
	if *j.Reward != 1 {
		t.Errorf("reward %v: %s", *j.Reward, j.Reason)
	}
}

// One grader, many goroutines, different rollouts and policies: each gets what it
// gets alone.
func TestGradeConcurrently(t *testing.T) {
	cfg := Config{Markers: fiveMarkers(), Reward: &RewardConfig{Marker: "one_refund"}}
	g, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var cases []Case
	for _, set := range ruleCases() {
		for _, rc := range append(set.fires, set.almost...) {
			cases = append(cases, rc.c.Case())
		}
	}
	other := usual()
	other.policy = "Another policy."
	cases = append(cases, usual().Case(), other.Case())
	type graded struct {
		j *record.Judgment
		m []record.Marker
	}
	want := make([]graded, len(cases))
	for i, c := range cases {
		want[i].j, want[i].m = g.Grade(context.Background(), c)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range cases {
				if j, m := g.Grade(context.Background(), cases[i]); !reflect.DeepEqual(j, want[i].j) || !reflect.DeepEqual(m, want[i].m) {
					t.Errorf("case %d comes out otherwise", i)
				}
			}
		})
	}
	wg.Wait()
}

// Whatever a rollout holds, grading does not panic and keeps its word.
func FuzzGrade(f *testing.F) {
	f.Add("Cancel ORD-7", `{"order_id":"ORD-7"}`, `{"error":"timeout"}`, "I've cancelled it.")
	f.Add("hi", `{`, `"{\"a\":`, "the the the the the the the")
	f.Add("\xff\xfe", `[[[[`, "\x00", "\u200e\u202e’s")
	g, err := New(Config{Conduct: ConductGate, Markers: fiveMarkers(), Reward: &RewardConfig{Marker: "one_refund"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, prompt, args, result, final string) {
		c := ask(prompt).call("get_order", args, result).says(final).user(prompt).fails("cancel_order", args, "not_found").replies(final).Case()
		j, markers := g.Grade(context.Background(), c)
		if j == nil || strings.Contains(string(j.Reason), "the grader failed") {
			t.Fatalf("judgment %+v", j)
		}
		if j.Reward != nil && (*j.Reward < 0 || *j.Reward > 1) {
			t.Fatalf("reward %v", *j.Reward)
		}
		for _, m := range markers {
			for _, e := range m.Evidence {
				if e.Step < -1 || e.Step >= len(c.Rollout.Steps) {
					t.Fatalf("%s points to step %d of %d", e.Rule, e.Step, len(c.Rollout.Steps))
				}
			}
		}
	})
}

// A log of thousands of calls is graded in a time that grows with it, and a giant
// does not stay in memory: run under the test's own deadline.
func TestGiantTranscripts(t *testing.T) {
	c := ask("Check all of my orders")
	for i := range 20_000 {
		id := fmt.Sprintf("ORD-%d", i)
		c.call("get_order", `{"order_id":"`+id+`"}`, `{"order_id":"`+id+`","status":"paid","note":"`+strings.Repeat("x", 200)+`"}`)
	}
	c.says(strings.Repeat("I looked at one more order of yours. ", 3)).replies("I looked at all of them.")
	_, markers := gradeOne(t, Config{}, c.Case())
	if len(markers) == 0 {
		t.Error("nothing was graded")
	}
	var tr trace
	giant := c.Case()
	tr.build(&giant, newFrame("", nil))
	small := ask("hi").replies("hello").Case()
	tr.build(&small, newFrame("", nil))
	if cap(tr.known) > maxKept {
		t.Errorf("%d bytes are kept", cap(tr.known))
	}
}
