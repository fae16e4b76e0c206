package delta_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assay/engine/delta"
	"assay/engine/record"
)

// heldOut makes the rates of held-out tasks, each its own situation, from (graded,
// passed).
func heldOut(counts ...[2]int) []record.TaskRate {
	rates := make([]record.TaskRate, len(counts))
	for i, c := range counts {
		rates[i] = record.TaskRate{TaskID: fmt.Sprint("t", i), SituationID: fmt.Sprint("s", i), HeldOut: true, Done: c[0], Graded: c[0], Passed: c[1]}
	}
	return rates
}

func TestPassByHand(t *testing.T) {
	// c of 4: 4, 2, 1, 0. pass^2 = 1, 1/6, 0, 0. pass@2 = 1, 5/6, 1/2, 0.
	r, err := delta.Pass(heldOut([2]int{4, 4}, [2]int{4, 2}, [2]int{4, 1}, [2]int{4, 0}), 2, delta.PassOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"pass@1", *r.PassAt1.Value, 7.0 / 16},
		{"pass^2", *r.PassPowK.Value, (1 + 1.0/6) / 4},
		{"pass@2", *r.PassAtK.Value, (1 + 5.0/6 + 1.0/2) / 4},
		{"headroom", *r.Headroom, (1+5.0/6+1.0/2)/4 - 7.0/16},
	} {
		if math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
	if r.Tasks != 4 || r.Rows != 16 || r.PassAt1.N != 4 || r.PassAt1.Lo == nil {
		t.Errorf("report %+v", r)
	}
}

func TestPassCountsWhatIsMissing(t *testing.T) {
	rates := heldOut([2]int{4, 4}, [2]int{4, 2}, [2]int{2, 1}, [2]int{0, 0}, [2]int{4, 0})
	rates[2].Done, rates[3].Done, rates[3].Lost, rates[1].Partial = 4, 3, 1, 2
	r, err := delta.Pass(rates, 4, delta.PassOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Tasks != 4 || r.Rows != 19 || r.Unjudged != 5 || r.Lost != 1 || r.Partial != 2 {
		t.Errorf("tasks %d rows %d unjudged %d lost %d partial %d", r.Tasks, r.Rows, r.Unjudged, r.Lost, r.Partial)
	}
	if want := (1 + 0.5 + 0.5 + 0) / 4; *r.PassAt1.Value != want {
		t.Errorf("pass@1 = %v, want %v: what was not judged is not a failure", *r.PassAt1.Value, want)
	}
	if r.PassAtK.N != 3 || r.PassPowK.N != 3 {
		t.Errorf("pass@4 over %d tasks, want the 3 with 4 graded", r.PassAtK.N)
	}
	for _, code := range []string{"unjudged", "lost", "ragged"} {
		if !warned(r.Warnings, code) {
			t.Errorf("no warning %s", code)
		}
	}
	for _, w := range r.Warnings {
		if w.Code == "ragged" && !(strings.Contains(w.Text, "t2") && strings.Contains(w.Text, "t3")) {
			t.Errorf("the short tasks are not named: %s", w.Text)
		}
	}
}

func TestPassOverEvalRuns(t *testing.T) {
	rates := append(heldOut([2]int{2, 2}, [2]int{2, 0}, [2]int{2, 1}), heldOut([2]int{2, 0}, [2]int{2, 0}, [2]int{2, 1})...)
	for i := range rates[3:] {
		rates[3+i].EvalRun = 1
	}
	r, err := delta.Pass(rates, 2, delta.PassOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Tasks != 3 || r.Rows != 12 || *r.PassAt1.Value != (0.5+0+0.5)/3 {
		t.Errorf("two eval runs: %d tasks, %d rows, pass@1 %v", r.Tasks, r.Rows, *r.PassAt1.Value)
	}
}

func TestPassScope(t *testing.T) {
	rates := heldOut([2]int{4, 4}, [2]int{4, 0}, [2]int{4, 2})
	for i := range 3 {
		rates = append(rates, record.TaskRate{TaskID: fmt.Sprint("train", i), SituationID: fmt.Sprint("u", i), Done: 8, Graded: 8, Passed: 8, ProbesGraded: 2, ProbesPassed: 1})
	}
	for _, c := range []struct {
		name    string
		o       delta.PassOptions
		passAt1 float64
		tasks   int
		k       int
		atK     int
	}{
		{"held out alone", delta.PassOptions{Mode: record.ModeRL}, 0.5, 3, 4, 3},
		{"all tasks", delta.PassOptions{AllTasks: true, Mode: record.ModeSFT}, (0.5*3 + 3) / 6, 6, 4, 6},
		{"all tasks of rl: probes alone, too few for k = 4", delta.PassOptions{AllTasks: true, Mode: record.ModeRL}, 0.5, 6, 4, 3},
		{"all tasks of rl, k = 2", delta.PassOptions{AllTasks: true, Mode: record.ModeRL}, 0.5, 6, 2, 6},
	} {
		r, err := delta.Pass(rates, c.k, c.o)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(*r.PassAt1.Value-c.passAt1) > 1e-12 || r.Tasks != c.tasks || r.PassAtK.N != c.atK {
			t.Errorf("%s: pass@1 %v over %d, pass@k over %d; want %v over %d, %d", c.name, *r.PassAt1.Value, r.Tasks, r.PassAtK.N, c.passAt1, c.tasks, c.atK)
		}
		if warned(r.Warnings, "all_tasks") != c.o.AllTasks {
			t.Errorf("%s: warnings %v", c.name, r.Warnings)
		}
	}
	_, err := delta.Pass(rates[3:], 4, delta.PassOptions{})
	var problem *record.Problem
	if !errors.As(err, &problem) || !strings.Contains(problem.Fix, "--all-tasks") {
		t.Errorf("no held-out task: %v", err)
	}
}

func TestPassWithoutRewards(t *testing.T) {
	rates := heldOut([2]int{0, 0}, [2]int{0, 0})
	rates[0].Done, rates[1].Done = 4, 4
	r, err := delta.Pass(rates, 4, delta.PassOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.PassAt1.Value != nil || r.Headroom != nil || r.Unjudged != 8 || !warned(r.Warnings, "no_reward") {
		t.Errorf("report %+v", r)
	}
}

func TestPassWithoutSpread(t *testing.T) {
	r, err := delta.Pass(heldOut([2]int{4, 4}, [2]int{4, 4}, [2]int{4, 4}, [2]int{4, 4}, [2]int{4, 4}), 4, delta.PassOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if *r.PassAt1.Value != 1 || r.PassAt1.Lo != nil || !warned(r.Warnings, "no_variation") || !warned(r.Warnings, "one_verdict") {
		t.Errorf("five perfect tasks: %+v", r)
	}
}

func TestCommonestGroupSize(t *testing.T) {
	r, err := delta.Pass(heldOut([2]int{3, 1}, [2]int{5, 1}, [2]int{5, 2}, [2]int{2, 2}), 0, delta.PassOptions{Mode: record.ModeImport})
	if err != nil || r.K != 5 {
		t.Errorf("k = %d, %v; most groups have 5", r.K, err)
	}
}

func TestPassMembers(t *testing.T) {
	r, _ := delta.Pass(heldOut([2]int{4, 4}, [2]int{4, 0}, [2]int{4, 1}), 4, delta.PassOptions{})
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"run", "scope", "n_tasks", "n_rows", "k", "pass_at_1", "pass_pow_k", "pass_at_k", "headroom", "unjudged", "partial", "warnings"} {
		if _, ok := members[name]; !ok {
			t.Errorf("the report has no %s", name)
		}
	}
}

// pass^k <= pass@1 <= pass@k, whatever was counted.
func TestPassOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 6).Draw(t, "k")
		var counts [][2]int
		for range rapid.IntRange(1, 20).Draw(t, "tasks") {
			n := rapid.IntRange(k, 12).Draw(t, "n")
			counts = append(counts, [2]int{n, rapid.IntRange(0, n).Draw(t, "c")})
		}
		r, err := delta.Pass(heldOut(counts...), k, delta.PassOptions{})
		if err != nil {
			t.Fatal(err)
		}
		pow, one, at := *r.PassPowK.Value, *r.PassAt1.Value, *r.PassAtK.Value
		if pow > one+1e-12 || one > at+1e-12 || *r.Headroom < -1e-12 {
			t.Fatalf("pass^%d %v, pass@1 %v, pass@%d %v", k, pow, one, k, at)
		}
		if e := r.PassAt1; e.Lo != nil && (*e.Lo < 0 || *e.Hi > 1 || *e.Lo > *e.Value || *e.Hi < *e.Value) {
			t.Fatalf("%v outside [%v, %v]", *e.Value, *e.Lo, *e.Hi)
		}
	})
}
