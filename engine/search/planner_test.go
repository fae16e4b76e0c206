package search

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"assay/engine/record"
)

func TestHowMany(t *testing.T) {
	asks := func(n int) []Given {
		var out []Given
		for i := range n {
			out = append(out, Given{Ask: record.Text(fmt.Sprintf("Please restart billing-%d.", i))})
		}
		return out
	}
	array := arrayOf(t, modelOf(oncallTools(), oncallRules))
	tests := []struct {
		name              string
		situations, given int
		open, grid        int // -1: all rows
	}{
		{name: "a tenth is open-ended", situations: 40, open: 4, grid: 36},
		{name: "the tenth is rounded down", situations: 49, open: 4, grid: 45},
		{name: "few have no open-ended ask", situations: 9, open: 0, grid: 9},
		{name: "given asks come first", situations: 40, given: 7, open: 4, grid: 29},
		{name: "given asks may take all", situations: 7, given: 7, open: 0, grid: 0},
		{name: "given asks leave room for what fits", situations: 20, given: 19, open: 1, grid: 0},
		{name: "by default all rows and one for each nine", situations: 0, given: 3, open: -1, grid: -1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := mustNew(t, Input{Array: array, Tools: oncallTools(), Mode: record.ModeSFT, FaultRate: 1, Situations: test.situations, Given: asks(test.given)})
			got := byArm(all(t, p))
			open, grid := test.open, test.grid
			if grid < 0 {
				grid = len(array.Rows)
				open = grid / 9
			}
			if got[record.ArmGiven] != test.given || got[record.ArmOpenEnded] != open || got[record.ArmStructured]+got[record.ArmLLMGuided] != grid {
				t.Errorf("posed %v, want %d given, %d open-ended, %d of the grid", got, test.given, open, grid)
			}
			if r := p.Report(); r.Asked != test.given+open+grid || r.Situations != r.Asked {
				t.Errorf("report says %d asked, %d posed; want %d", r.Asked, r.Situations, test.given+open+grid)
			}
		})
	}
}

func TestGivenAsksThatDoNotFitAreRefused(t *testing.T) {
	_, err := New(Input{Array: arrayOf(t, narrow(modelOf(oncallTools(), oncallRules), 2)), Tools: oncallTools(), Mode: record.ModeRL, Situations: 2,
		Given: []Given{{Ask: "one"}, {Ask: "two"}, {Ask: "three"}}})
	if err == nil || !strings.Contains(err.Error(), "2 - 3 = -1") || !strings.Contains(err.Error(), "at least 3") {
		t.Fatalf("got %v, want a refusal with the arithmetic", err)
	}
}

func TestGridEndsAndSaysSo(t *testing.T) {
	model := narrow(modelOf(oncallTools(), oncallRules), 2)
	array := arrayOf(t, model)
	points := model.Size()
	for _, block := range array.Blocks {
		if block == 0 {
			points++ // rows that no clause touches are beside the grid of the clauses
		}
	}
	p := mustNew(t, Input{Array: array, Tools: oncallTools(), Mode: record.ModeSFT, FaultRate: 1, Situations: 360})
	posed := all(t, p)
	got := byArm(posed)
	if grid := got[record.ArmStructured] + got[record.ArmLLMGuided]; grid != points {
		t.Errorf("%d points posed of a grid of %d", grid, points)
	}
	want := fmt.Sprintf("grid has %d points, 360 situations asked: %d posed", points, len(posed))
	report := p.Report()
	for _, w := range report.Warnings {
		if w.Code == "grid_ended" && w.Text == want && w.Fix == "raise phrasings or repeats for more" {
			return
		}
	}
	t.Errorf("no warning %q in %v", want, report.Warnings)
}

func TestMoreThanTheArrayGoesOnWithTheGrid(t *testing.T) {
	in := oncallInput(t)
	in.Situations = 2 * len(in.Array.Rows)
	posed := all(t, mustNew(t, in))
	if len(posed) != in.Situations {
		t.Fatalf("%d posed of %d asked", len(posed), in.Situations)
	}
	if c := mustNew(t, in).Coverage(posed); c.Covered != c.Planned || c.Thinned != 0 || c.Posed != len(in.Array.Rows) {
		t.Errorf("the whole array was posed, yet coverage is %+v", c)
	}
}

func TestEvalPosesHeldOutOnly(t *testing.T) {
	in := oncallInput(t)
	in.Holdout = 0.25
	in.Situations = 30
	in.Given = []Given{{Ask: "Restart the billing service."}, {Ask: "Who is on call for payments?"}, {Ask: "Please get me the runbook for checkout."}}
	p := mustNew(t, in)
	posed := all(t, p)
	if len(posed) != 30 {
		t.Fatalf("%d posed of 30", len(posed))
	}
	notHeldOut := 0
	for _, d := range posed {
		if !d.HeldOut && d.Arm != record.ArmGiven {
			t.Errorf("%s task %q is not held out", d.Arm, d.Task.Ask)
		}
		if !d.HeldOut {
			notHeldOut++
		}
	}
	if r := p.Report(); r.GivenNotHeldOut != notHeldOut || r.NotHeldOut == 0 {
		t.Errorf("report counts %d given asks not held out, want %d; %d points left out", r.GivenNotHeldOut, notHeldOut, r.NotHeldOut)
	}
	in.Given, in.Holdout = nil, 0
	if _, err := New(in); err == nil {
		t.Error("eval with nothing held out was not refused")
	}
}

// A situation is held out or not in every mode and under every fault: the
// holdout is the coordinates' own.
func TestHoldoutIsTheCoordinatesOwn(t *testing.T) {
	in := oncallInput(t)
	in.Holdout, in.Situations = 0.25, 600
	if testing.Short() {
		in.Situations = 240
	}
	held := map[string]bool{}
	share := 0
	for _, mode := range []record.Mode{record.ModeSFT, record.ModeRL, record.ModeExplore, record.ModeEval} {
		in.Mode = mode
		in.Batch = 4096
		for _, d := range all(t, mustNew(t, in)) {
			key := d.Task.SituationID
			if d.Task.Axes != nil {
				key = pointKey(d.Task.Axes)
			}
			if was, seen := held[key]; seen && was != d.HeldOut {
				t.Fatalf("mode %s holds %v out = %v, another mode said %v", mode, d.Task.Axes, d.HeldOut, was)
			}
			held[key] = d.HeldOut
			if mode == record.ModeSFT && d.HeldOut {
				share++
			}
		}
	}
	mean, deviation := 0.25*float64(in.Situations), math.Sqrt(0.25*0.75*float64(in.Situations))
	if math.Abs(float64(share)-mean) > 4*deviation {
		t.Errorf("%d of %d held out at a share of 0.25", share, in.Situations)
	}
}

// The same seed gives the same tasks; another seed other words for the same
// situations; and one situation reads the same whatever stands beside it.
func TestPlanIsAFunctionOfItsInput(t *testing.T) {
	in := oncallInput(t)
	in.Situations = 120
	first, again := all(t, mustNew(t, in)), all(t, mustNew(t, in))
	if diff := cmp.Diff(first, again); diff != "" {
		t.Fatalf("the same input gave another plan:\n%s", diff)
	}
	in.Batch = 7
	for i, d := range all(t, mustNew(t, in)) {
		if d.Task.ID != first[i].Task.ID || d.Order != i {
			t.Fatalf("with a batch of 7 the task at %d is %s, not %s", i, d.Task.ID, first[i].Task.ID)
		}
	}
	in.Batch = 0
	asks := map[string]record.Text{}
	for _, d := range first {
		asks[d.Task.SituationID] = d.Task.Ask
	}
	in.Situations = 60
	for _, d := range all(t, mustNew(t, in)) {
		if ask, known := asks[d.Task.SituationID]; known && ask != d.Task.Ask {
			t.Errorf("situation %s reads otherwise in a smaller run", d.Task.SituationID)
		}
	}
	in.Seed = 1
	same := 0
	for _, d := range all(t, mustNew(t, in)) {
		if ask, known := asks[d.Task.SituationID]; known && d.Task.Axes != nil {
			if ask == d.Task.Ask {
				same++
			}
		}
	}
	if same > 2 {
		t.Errorf("%d asks are the same under another seed", same)
	}
}

func TestPhrasings(t *testing.T) {
	in := oncallInput(t)
	in.Situations, in.Phrasings = 30, 3
	in.Given = []Given{{Ask: "Please restart billing-api."}}
	p := mustNew(t, in)
	bySituation := map[string][]*record.Task{}
	for _, d := range all(t, p) {
		bySituation[d.Task.SituationID] = append(bySituation[d.Task.SituationID], d.Task)
	}
	if len(bySituation) != 30 {
		t.Errorf("%d situations of 30", len(bySituation))
	}
	for id, tasks := range bySituation {
		want := 3
		if tasks[0].Origin == record.OriginGiven {
			want = 1
		}
		if len(tasks) != want {
			t.Errorf("situation %s has %d wordings, want %d", id, len(tasks), want)
		}
		for _, task := range tasks[1:] {
			if diff := cmp.Diff(tasks[0].World, task.World); diff != "" {
				t.Errorf("phrasings name other things:\n%s", diff)
			}
		}
	}
}

func TestTrainedTasksAreLeftOut(t *testing.T) {
	in := oncallInput(t)
	in.Situations = 40
	posed := all(t, mustNew(t, in))
	in.Exclude = map[string]bool{posed[0].Task.ID: true, posed[17].Task.ID: true}
	p := mustNew(t, in)
	again := all(t, p)
	if len(again) != 40 || p.Report().Excluded != 2 {
		t.Errorf("%d posed, %d excluded; want 40 and 2", len(again), p.Report().Excluded)
	}
	for _, d := range again {
		if in.Exclude[d.Task.ID] {
			t.Errorf("task %s was exported for training and is posed", d.Task.ID)
		}
	}
}

func TestEqualTasksAreOne(t *testing.T) {
	in := oncallInput(t)
	in.Situations = 12
	in.Given = []Given{{Ask: "Restart billing."}, {Ask: "Restart billing."}, {Ask: "Restart billing.", Reference: []byte(`{"answer":1}`)}}
	p := mustNew(t, in)
	ids := map[string]bool{}
	for _, d := range all(t, p) {
		if ids[d.Task.ID] {
			t.Errorf("task %s posed twice", d.Task.ID)
		}
		ids[d.Task.ID] = true
	}
	if r := p.Report(); r.Given != 2 || r.Equal != 1 || len(ids) != 12 {
		t.Errorf("given %d, equal %d, posed %d; want 2, 1, 12", r.Given, r.Equal, len(ids))
	}
}

func TestBatchesWaitForFeedback(t *testing.T) {
	in := oncallInput(t)
	in.Mode, in.Holdout, in.Batch, in.Situations = record.ModeExplore, 0.25, 20, 80
	p := mustNew(t, in)
	for range 2 {
		if _, ok := p.Next(context.Background()); !ok {
			t.Fatal("the first two batches need no feedback")
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if posed, ok := p.Next(ctx); ok {
		t.Fatalf("a third batch of %d came without the first one's outcomes", len(posed))
	}
	p.Observe(0, nil)
	if _, ok := p.Next(context.Background()); !ok {
		t.Fatal("the third batch did not come after the first one's outcomes")
	}
}

func TestInputIsChecked(t *testing.T) {
	array := arrayOf(t, narrow(modelOf(oncallTools(), oncallRules), 2))
	for name, in := range map[string]Input{
		"situations":   {Situations: -1},
		"holdout":      {Holdout: 1.5},
		"fault_rate":   {FaultRate: -0.1},
		"hard_share":   {HardShare: 2},
		"arm_weights":  {ArmWeights: map[string]float64{"structurd": 1}},
		"arm_weights.": {ArmWeights: map[string]float64{"structured": -1}},
		"all are 0":    {ArmWeights: map[string]float64{"structured": 0}},
	} {
		in.Array, in.Mode = array, record.ModeRL
		if _, err := New(in); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Whatever is asked for, the plan keeps its arithmetic.
func TestPlanProperties(t *testing.T) {
	inputs := []Input{{Array: arrayOf(t, narrow(modelOf(oncallTools(), oncallRules), 4)), Tools: oncallTools()}, {Array: arrayOf(t, narrow(modelOf(airlineTools(), airlineRules), 3)), Tools: airlineTools()}}
	rapid.Check(t, func(t *rapid.T) {
		in := inputs[rapid.IntRange(0, len(inputs)-1).Draw(t, "tools")]
		in.Mode = rapid.SampledFrom([]record.Mode{record.ModeEval, record.ModeRL, record.ModeSFT, record.ModeExplore}).Draw(t, "mode")
		in.Seed = rapid.Int64Range(0, 5).Draw(t, "seed")
		in.Situations = rapid.IntRange(0, 60).Draw(t, "situations")
		in.Phrasings = rapid.IntRange(1, 3).Draw(t, "phrasings")
		in.Batch = rapid.SampledFrom([]int{1, 5, 16, 512}).Draw(t, "batch")
		in.Holdout = rapid.SampledFrom([]float64{0.25, 0.5, 1}).Draw(t, "holdout")
		in.FaultRate = rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "faults")
		p, err := New(in)
		if err != nil {
			t.Fatal(err)
		}
		ids, situations := map[string]bool{}, map[string]bool{}
		for b := 0; ; b++ {
			posed, ok := p.Next(context.Background())
			if !ok {
				break
			}
			if len(posed) == 0 || len(posed) > max(in.Batch, in.Phrasings) {
				t.Fatalf("a batch of %d at a size of %d", len(posed), in.Batch)
			}
			for _, d := range posed {
				if ids[d.Task.ID] || d.Batch != b || d.Order != len(ids) || d.Task.Ask == "" {
					t.Fatalf("task %+v in batch %d after %d tasks", d, b, len(ids))
				}
				ids[d.Task.ID], situations[d.Task.SituationID] = true, true
			}
			p.Observe(b, nil)
		}
		if in.Situations > 0 && len(situations) > in.Situations {
			t.Fatalf("%d situations posed, %d asked", len(situations), in.Situations)
		}
		if r := p.Report(); r.Tasks != len(ids) || r.Situations != len(situations) {
			t.Fatalf("report says %d tasks of %d situations; posed %d of %d", r.Tasks, r.Situations, len(ids), len(situations))
		}
	})
}

func BenchmarkPlan2000(b *testing.B) {
	for name, in := range map[string]Input{
		"oncall":  {Array: arrayOf(b, modelOf(oncallTools(), oncallRules)), Tools: oncallTools()},
		"airline": {Array: arrayOf(b, modelOf(airlineTools(), airlineRules)), Tools: airlineTools()},
	} {
		b.Run(name, func(b *testing.B) {
			in.Mode, in.Holdout, in.FaultRate, in.Situations = record.ModeEval, 1, 1, 2000
			tasks := 0
			for b.Loop() {
				tasks += len(all(b, mustNew(b, in)))
			}
			b.ReportMetric(float64(tasks)/b.Elapsed().Seconds(), "tasks/s")
		})
	}
}
