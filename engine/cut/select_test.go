package cut_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assay/engine/cut"
	"assay/engine/record"
)

func TestCommonGates(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		gate  string
		spoil func(*record.Sample)
	}{
		{"privileged_leak", func(s *record.Sample) {
			s.Rollout.Privileged = json.RawMessage(`{"hint":[{"deep":"The refund code is 7741-AX"}]}`)
			s.Rollout.FinalText = "Your code: the refund  CODE is 7741-ax, done."
		}},
		{"eval_set", func(s *record.Sample) { s.HeldOut = true }},
		{"unusable_label", func(s *record.Sample) { s.Judgment = nil }},
		{"unusable_label", func(s *record.Sample) { s.Judgment = &record.Judgment{Status: record.JudgeTimeout} }},
		{"unusable_label", func(s *record.Sample) { s.Judgment.Reward = &nan }},
		{"unusable_label", func(s *record.Sample) { s.Rollout.Status = record.StatusLost }},
		{"junk", func(s *record.Sample) { s.Rollout.FinalText = " ...\n" }},
		{"junk", func(s *record.Sample) {
			zero := 0.0
			s.Markers = []record.Marker{{Name: "conduct", Status: record.MarkerOK, Value: &zero, Evidence: []record.Evidence{{Rule: "leaked_harness"}}}}
		}},
	} {
		t.Run(c.gate, func(t *testing.T) {
			p := newPool()
			p.group("a", 1, 1, 0, 1, 0)
			c.spoil(&p.samples[1])
			for _, target := range cut.Targets() {
				s := p.cut(t, target, cut.Options{})
				if lost(s, c.gate) != 1 || slices.Contains(names(s), "a#1") {
					t.Errorf("%s: gates %+v, rows %v", target, s.Gates, names(s))
				}
			}
		})
	}
}

func TestPrivilegedLeakNeedsAQuote(t *testing.T) {
	for _, c := range []struct {
		name       string
		privileged string
		said       string
		leaks      bool
	}{
		{"eleven characters", `{"a":"abcdefghijk"}`, "abcdefghijk", false},
		{"twelve characters", `{"a":"abcdefghijkl"}`, "xx abcdefghijkl", true},
		{"a name of a member", `{"a_long_member_name":"no"}`, "a_long_member_name", false},
		{"other text", `{"a":"the customer is a test account"}`, "All is well with the account.", false},
		{"what the ask says too", `{"a":"Please see to a"}`, "You said: Please see to a", false},
		{"not JSON", `{`, "anything at all", false},
	} {
		p := newPool()
		s := p.add("a", 0, 1)
		s.Rollout.Privileged, s.Rollout.FinalText = json.RawMessage(c.privileged), record.Text(c.said)
		if got := lost(p.cut(t, cut.SFT, cut.Options{}), "privileged_leak") == 1; got != c.leaks {
			t.Errorf("%s: leak = %v", c.name, got)
		}
	}
	p := newPool()
	s := p.add("a", 0, 1)
	s.Rollout.Privileged = json.RawMessage(`{"a":"abcdefghijklmnop"}`)
	s.Rollout.Steps = []record.Step{{Kind: record.StepTool, Tool: "note", Arguments: json.RawMessage(`{"text":"abcdefghijklmnop"}`)}}
	if lost(p.cut(t, cut.SFT, cut.Options{}), "privileged_leak") != 1 {
		t.Error("a quote in a call's arguments is not seen")
	}
}

func TestNothingOfAnEvalRun(t *testing.T) {
	p := newPool()
	p.group("a", 1, 0, 1, 0)
	for _, target := range cut.Targets() {
		s, err := cut.Select(target, p.samples, cut.Options{Mode: record.ModeEval})
		if !errors.Is(err, cut.ErrEmpty) || s.RowsOut != 0 || !strings.Contains(err.Error(), "eval_set 4") {
			t.Errorf("%s of an eval run: %d rows, %v", target, s.RowsOut, err)
		}
	}
}

func TestContamination(t *testing.T) {
	const ask = "I would like to return the blue kettle that I bought last week because the lid does not close"
	eval := []record.Posed{{Task: &record.Task{ID: "e1", SituationID: "se1", Ask: ask}, HeldOut: true}}
	for _, c := range []struct {
		name  string
		task  record.Task
		drops bool
	}{
		{"same situation", record.Task{SituationID: "se1", Ask: "Something else entirely"}, true},
		{"mutated from it", record.Task{SituationID: "x", Parent: "se1", Ask: "Something else entirely"}, true},
		{"same text but for case and stops", record.Task{SituationID: "x", Ask: record.Text(strings.ToUpper(ask) + "!")}, true},
		{"most of its runs", record.Task{SituationID: "x", Ask: ask + " properly"}, true},
		{"half of its runs", record.Task{SituationID: "x", Ask: "I would like to return the blue kettle that I bought but on second thoughts I might rather keep it after all"}, false},
		{"another ask", record.Task{SituationID: "x", Ask: "Where is my parcel"}, false},
	} {
		p := newPool()
		task := c.task
		task.ID = "a"
		p.tasks["a"] = &task
		p.group("a", 1, 0)
		p.group("b", 1, 0)
		s := p.cut(t, cut.RM, cut.Options{EvalTasks: eval})
		if got := lost(s, "contamination") == 2; got != c.drops {
			t.Errorf("%s: gates %+v", c.name, s.Gates)
		}
		if !warned(s, "rule_skipped") {
			t.Errorf("%s: the embedding rule was skipped in silence", c.name)
		}
	}
	p := newPool()
	p.group("a", 1, 0)
	if s := p.cut(t, cut.RM, cut.Options{}); !warned(s, "contamination_unchecked") {
		t.Error("no eval set, and no word of it")
	}
}

func TestDuplicatesWithinATask(t *testing.T) {
	p := newPool()
	p.group("a", 1, 1, 1)
	p.group("b", 1)
	for i := range p.samples {
		p.samples[i].Rollout.FinalText = "All done."
	}
	p.samples[2].Rollout.Steps = []record.Step{{Kind: record.StepText, Text: "One moment"}}
	s := p.cut(t, cut.SFT, cut.Options{})
	if got := names(s); lost(s, "duplicates") != 1 || !slices.Equal(got, []string{"a#0", "a#2", "b#0"}) && !slices.Equal(got, []string{"a#2", "a#0", "b#0"}) {
		t.Errorf("rows %v, gates %+v", got, s.Gates)
	}
}

func TestTruncated(t *testing.T) {
	rows := map[string]int{}
	for _, policy := range []string{cut.TruncatedDrop, cut.TruncatedKeep, cut.TruncatedPenalise} {
		p := newPool()
		p.group("a", 1, 1, 0, 0)
		p.samples[0].Rollout.FinishReason = record.FinishLength
		p.samples[2].Rollout.FinishReason = record.FinishLength
		rm := p.cut(t, cut.RM, cut.Options{Truncated: policy})
		rows[policy] = rm.RowsOut
		sft := p.cut(t, cut.SFT, cut.Options{Truncated: policy})
		rewards := map[string]float64{}
		for _, r := range rm.Rows {
			rewards[r.Sample.Rollout.Key.String()] = r.Reward
		}
		switch policy {
		case cut.TruncatedDrop:
			if lost(rm, "truncated") != 2 || sft.RowsOut != 1 {
				t.Errorf("drop: %+v", rm.Gates)
			}
		case cut.TruncatedKeep:
			if rewards["a#0"] != 1 || sft.RowsOut != 2 {
				t.Errorf("keep: rewards %v, %d passes", rewards, sft.RowsOut)
			}
		case cut.TruncatedPenalise:
			if rewards["a#0"] != 0.5 || rewards["a#2"] != 0 || sft.RowsOut != 1 {
				t.Errorf("penalise: rewards %v, %d passes", rewards, sft.RowsOut)
			}
		}
		if *p.samples[0].Judgment.Reward != 1 {
			t.Error("the sample that was given was written to")
		}
	}
	if rows[cut.TruncatedKeep] < rows[cut.TruncatedDrop] {
		t.Error("keeping keeps fewer than dropping")
	}
}

func TestSFT(t *testing.T) {
	p := newPool()
	p.group("a", 1, 1, 1, 0, 1)
	for i, behaviour := range []string{"x", "x", "y", "z", "x"} {
		p.samples[i].Rollout.Behavior = behaviour
	}
	s := p.cut(t, cut.SFT, cut.Options{})
	if lost(s, "failing") != 1 || s.RowsOut != 4 || s.Rows[0].Loss != cut.LossAssistant {
		t.Fatalf("rows %v, gates %+v", names(s), s.Gates)
	}
	seen := []string{s.Rows[0].Sample.Rollout.Behavior, s.Rows[1].Sample.Rollout.Behavior}
	slices.Sort(seen)
	if !slices.Equal(seen, []string{"x", "y"}) {
		t.Errorf("the first two rows are of behaviours %v: one of each comes first", seen)
	}
	two := p.cut(t, cut.SFT, cut.Options{PerTask: 2})
	if lost(two, "per_task") != 2 || !warned(two, "best_is_any") {
		t.Errorf("two a task: %+v %v", two.Gates, two.Warnings)
	}
}

func TestSFTPicks(t *testing.T) {
	p := newPool()
	for i := range 40 {
		p.group(fmt.Sprint("t", i), 0.6, 0.7, 1.0, 0.8)
	}
	o := cut.Options{PassThreshold: 0.5, PerTask: 1}
	for _, r := range p.cut(t, cut.SFT, o).Rows {
		if r.Reward != 1 {
			t.Errorf("best picked %g", r.Reward)
		}
	}
	o.Pick = cut.PickRandom
	random, sum := p.cut(t, cut.SFT, o), 0.0
	for _, r := range random.Rows {
		sum += r.Reward
	}
	// The control is of the same size, and of the passes' mean, 0.775, not of their best.
	if mean := sum / float64(len(random.Rows)); len(random.Rows) != 40 || math.Abs(mean-0.775) > 0.08 {
		t.Errorf("random picked %d rows of mean %.3f", len(random.Rows), mean)
	}
}

func TestGRPO(t *testing.T) {
	p := newPool()
	p.group("half", 1, 0, 1, 0)
	p.group("low end", 1, 0, 0, 0, 0)
	p.group("high end", 1, 1, 1, 1, 0)
	p.group("under", 1, 0, 0, 0, 0, 0)
	p.group("over", 1, 1, 1, 1, 1, 0)
	p.group("passes", 1, 1, 1)
	p.group("fails", 0, 0, 0)
	p.group("alone", 1)
	p.group("mixed", 1, 0)
	p.samples[len(p.samples)-1].Rollout.PolicyVersion = "p2"
	s := p.cut(t, cut.GRPO, cut.Options{})
	var got []string
	for _, g := range s.Groups {
		got = append(got, g.TaskID)
		if g.PolicyVersion != "p1" {
			t.Errorf("group %s has no policy version", g.TaskID)
		}
	}
	if want := []string{"half", "high end", "low end"}; !slices.Equal(got, want) {
		t.Errorf("groups %v, want %v, the widest spread first", got, want)
	}
	for gate, want := range map[string]int{"probes": 0, "mixed_policy": 2, "too_small": 1, "unanimous": 6, "out_of_band": 12} {
		if n := lost(s, gate); n != want {
			t.Errorf("%s took %d rows, want %d", gate, n, want)
		}
	}
	g := s.Groups[0]
	if g.Mean != 0.5 || g.Std != 0.5 || g.PassRate != 0.5 {
		t.Errorf("mean %v std %v of four rewards 1 0 1 0", g.Mean, g.Std)
	}
	if want := []cut.Tier{{Name: cut.TierFloor, Tasks: 2}, {Name: cut.TierFrontier, Tasks: 4}, {Name: cut.TierSolved, Tasks: 3}}; !slices.Equal(s.Tiers, want) {
		t.Errorf("tiers %v, want %v", s.Tiers, want)
	}
}

// In rl a group goes on only where its probes disagree or are not graded: they are
// left out of the group, of its pass rate and of the unanimity that is asked of it.
func TestGRPOAfterProbes(t *testing.T) {
	p := newPool()
	p.group("a", 1, 0, 1, 1, 1, 1) // after the probes all pass
	p.group("b", 0, 0)             // stopped at its probes
	p.group("c", 1, 0, 1, 0, 0, 1)
	s, err := cut.Select(cut.GRPO, p.samples, cut.Options{Mode: record.ModeRL})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Groups) != 1 || s.Groups[0].TaskID != "c" || len(s.Groups[0].Rows) != 4 || s.Groups[0].PassRate != 0.5 {
		t.Errorf("groups %+v", s.Groups)
	}
	if lost(s, "probes") != 6 || lost(s, "unanimous") != 4 {
		t.Errorf("gates %+v", s.Gates)
	}
	adds(t, s)
}

// Pruning must not move a task into the band: its rate is what was graded.
func TestPassRateIsMeasuredBeforePruning(t *testing.T) {
	p := newPool()
	p.group("a", 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	for k := 3; k < 10; k++ {
		p.samples[k].Rollout.FinishReason = record.FinishLength
	}
	s, err := cut.Select(cut.GRPO, p.samples, cut.Options{})
	if !errors.Is(err, cut.ErrEmpty) || lost(s, "out_of_band") != 3 {
		t.Errorf("a task of rate 0.1 with its failures cut away: %v, %+v", err, s.Gates)
	}
}

func TestDPO(t *testing.T) {
	p := newPool()
	p.group("a", 1, 0, 1, 0, 0.5)
	for i, n := range []int{100, 20, 22, 95, 5} {
		p.samples[i].Rollout.FinalText = record.Text(strings.Repeat("x", n))
	}
	p.group("passes", 1, 1)
	p.group("mixed", 1, 0)
	p.samples[len(p.samples)-1].Rollout.PolicyVersion = "p2"
	p.group("close", 1, 0.7)
	s := p.cut(t, cut.DPO, cut.Options{})
	got := map[string]string{}
	for _, pair := range s.Pairs {
		got[pair.Chosen.Sample.Rollout.Key.String()] = pair.Rejected.Sample.Rollout.Key.String()
		if pair.Margin < 1 || pair.Chosen.Sample.Rollout.PolicyVersion != pair.Rejected.Sample.Rollout.PolicyVersion {
			t.Errorf("pair %+v", pair)
		}
	}
	// 100 goes with 95 and 22 with 20: like length together.
	if len(got) != 2 || got["a#0"] != "a#3" || got["a#2"] != "a#1" {
		t.Errorf("pairs %v", got)
	}
	for gate, want := range map[string]int{"no_contrast": 4, "margin": 3, "length": 0, "unpaired": 0} {
		if n := lost(s, gate); n != want {
			t.Errorf("%s took %d rows, want %d: %+v", gate, n, want, s.Gates)
		}
	}
	if !warned(s, "chosen_longer") {
		t.Error("the chosen side is longer in both pairs, and no word of it")
	}
	p.samples[3].Rollout.FinalText = "x"
	if s := p.cut(t, cut.DPO, cut.Options{LengthRatio: 2}); len(s.Pairs) != 1 || lost(s, "length") != 2 {
		t.Errorf("a pair of 100 and 1 characters: %d pairs, %+v", len(s.Pairs), s.Gates)
	}
}

func TestEmptySelectionSaysWhy(t *testing.T) {
	p := newPool()
	p.group("a", 1, 1, 1)
	p.group("b", 0, 0)
	s, err := cut.Select(cut.GRPO, p.samples, cut.Options{})
	if !errors.Is(err, cut.ErrEmpty) || s == nil || !strings.Contains(err.Error(), "unanimous 5") {
		t.Errorf("selection %v, error %v", s, err)
	}
	if _, err := cut.Select(cut.SFT, nil, cut.Options{}); !errors.Is(err, cut.ErrEmpty) || !strings.Contains(err.Error(), "no rollouts") {
		t.Errorf("no rollouts: %v", err)
	}
}

func TestBadOptions(t *testing.T) {
	for name, o := range map[string]cut.Options{
		"band":      {Band: [2]float64{0.8, 0.2}},
		"truncated": {Truncated: "drp"},
		"pick":      {Pick: "worst"},
		"loss":      {Loss: "user"},
		"margin":    {Margin: -1},
	} {
		var problem *record.Problem
		if _, err := cut.Select(cut.SFT, nil, o); !errors.As(err, &problem) || problem.Fix == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := cut.Select("ppo", nil, cut.Options{}); err == nil || errors.Is(err, cut.ErrEmpty) {
		t.Errorf("unknown target: %v", err)
	}
}

func TestMask(t *testing.T) {
	steps := []record.Step{{Kind: record.StepTool, Tool: "look"}, {Kind: record.StepText, Text: "Found it."}, {Kind: record.StepUser, Text: "Good"}}
	messages := record.Messages("Be kind", "Help", steps, "Done")
	var all, final []string
	for i, m := range messages {
		if cut.Mask(messages, cut.LossAssistant)[i] {
			all = append(all, m.Role)
		}
		if cut.Mask(messages, cut.LossFinal)[i] {
			final = append(final, string(*m.Content))
		}
	}
	if !slices.Equal(all, []string{"assistant", "assistant", "assistant"}) || !slices.Equal(final, []string{"Done"}) {
		t.Errorf("assistant mask on %v, final mask on %v", all, final)
	}
}

// A selection is a function of the samples: their order does not matter, and a row of
// another task changes nothing.
func TestSelectionDependsOnTheTaskAlone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		target := rapid.SampledFrom(cut.Targets()).Draw(rt, "target")
		o := cut.Options{
			PerTask:   rapid.IntRange(0, 2).Draw(rt, "per task"),
			Pick:      rapid.SampledFrom([]string{cut.PickBest, cut.PickRandom}).Draw(rt, "pick"),
			Truncated: rapid.SampledFrom([]string{cut.TruncatedDrop, cut.TruncatedKeep, cut.TruncatedPenalise}).Draw(rt, "truncated"),
			Margin:    0.5,
		}
		p := newPool()
		for i := range rapid.IntRange(1, 4).Draw(rt, "tasks") {
			for k := range rapid.IntRange(1, 6).Draw(rt, "k") {
				s := p.add(fmt.Sprint("t", i), k, rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(rt, "reward"))
				s.Rollout.Behavior = rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "behaviour")
				s.HeldOut = rapid.Bool().Draw(rt, "held out")
				if rapid.Bool().Draw(rt, "cut off") {
					s.Rollout.FinishReason = record.FinishLength
				}
			}
		}
		first := p.cut(t, target, o)
		for _, name := range names(first) {
			at := slices.IndexFunc(p.samples, func(s record.Sample) bool { return s.Rollout.Key.String() == name })
			if p.samples[at].HeldOut {
				rt.Fatalf("%s is held out", name)
			}
		}
		p.samples = rapid.Permutation(p.samples).Draw(rt, "order")
		if again := p.cut(t, target, o); !slices.Equal(names(first), names(again)) {
			rt.Fatalf("%v in another order gives %v", names(first), names(again))
		}
		p.group("zz", 1, 0, 1)
		kept := slices.DeleteFunc(names(p.cut(t, target, o)), func(name string) bool { return strings.HasPrefix(name, "zz") })
		was := names(first)
		slices.Sort(kept)
		slices.Sort(was)
		if !slices.Equal(kept, was) {
			rt.Fatalf("another task changed %v to %v", was, kept)
		}
	})
}

// FuzzPrivileged reads bytes from outside: it must neither panic nor take a row for a
// leak that says nothing.
func FuzzPrivileged(f *testing.F) {
	f.Add([]byte(`{"truth":{"ok":true}}`), "reply")
	f.Add([]byte(`{"a":["x",{"b":"\ud800 lone"}]}`), "\xff\xfe")
	f.Add([]byte(`[[[[`), "")
	f.Fuzz(func(t *testing.T, privileged []byte, said string) {
		p := newPool()
		s := p.add("a", 0, 1)
		s.Rollout.Privileged, s.Rollout.FinalText = privileged, record.Text(said)
		selection, err := cut.Select(cut.RM, p.samples, cut.Options{})
		if err != nil && !errors.Is(err, cut.ErrEmpty) {
			t.Fatal(err)
		}
		if len([]rune(said)) < 12 && lost(selection, "privileged_leak") != 0 {
			t.Errorf("%q quotes 12 characters of %s", said, privileged)
		}
	})
}
