package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"assay/engine/stats"
)

// changeWorld draws pairs of tasks with known truth.
type changeWorld struct {
	tasks         int
	before, after float64 // gold's pass rates
	alike         float64 // chance that both sides of a task come out by one draw
	tpr, tnr      float64 // the judge's
	fooled        float64 // what the judge's tnr loses after the change
	together      bool    // both sides of the same tasks are labelled, else of tasks drawn anew
	labelled      int     // tasks in each arm
}

func (w changeWorld) draw(rng *rand.Rand) []stats.GradedPair {
	labelled := [2]map[int]bool{}
	drawn := rng.Perm(w.tasks)
	for side := range labelled {
		if side == 1 && !w.together {
			drawn = rng.Perm(w.tasks)
		}
		labelled[side] = map[int]bool{}
		for _, i := range drawn[:w.labelled] {
			labelled[side][i] = true
		}
	}
	row := func(i, side int, luck float64) stats.Graded {
		rate, tnr := w.before, w.tnr
		if side == 1 {
			rate, tnr = w.after, w.tnr-w.fooled
		}
		gold := luck < rate
		judge := rng.Float64() < 1-tnr
		if gold {
			judge = rng.Float64() < w.tpr
		}
		return stats.Graded{Judge: one(judge), Gold: one(gold), Labelled: labelled[side][i], Inclusion: float64(w.labelled) / float64(w.tasks)}
	}
	pairs := make([]stats.GradedPair, w.tasks)
	for i := range pairs {
		luck := rng.Float64()
		pairs[i].Before = []stats.Graded{row(i, 0, luck)}
		if rng.Float64() >= w.alike {
			luck = rng.Float64()
		}
		pairs[i].After = []stats.Graded{row(i, 1, luck)}
	}
	return pairs
}

func change(t testing.TB, pairs []stats.GradedPair) stats.CorrectedChange {
	t.Helper()
	c, err := stats.CorrectedDelta(pairs, stats.Z95)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Where both sides of the same tasks are labelled, the corrected delta is the corrected
// mean of the differences: the closed form of PPI++ on them, which shares no code.
func TestCorrectedDeltaOfLabelledPairsIsPPIOfDifferences(t *testing.T) {
	w := changeWorld{tasks: 3000, before: 0.5, after: 0.6, alike: 0.6, tpr: 0.9, tnr: 0.8, together: true, labelled: 600}
	pairs := w.draw(seeded(81))
	var y, f, u []float64
	for _, p := range pairs {
		d := p.After[0].Judge - p.Before[0].Judge
		if p.Before[0].Labelled {
			y, f = append(y, p.After[0].Gold-p.Before[0].Gold), append(f, d)
		} else {
			u = append(u, d)
		}
	}
	cov := func(a, b []float64) float64 {
		sum := 0.0
		for i := range a {
			sum += (a[i] - stats.Mean(a)) * (b[i] - stats.Mean(b))
		}
		return sum / float64(len(a)-1)
	}
	n, rest := float64(len(y)), float64(len(u))
	lambda, se, goldSE, _, _, err := stats.DeltaErrors(pairs)
	if err != nil {
		t.Fatal(err)
	}
	weight := lambda / (1 + n/rest)
	near(t, "weight", weight, cov(y, f)/((1+n/rest)*cov(u, u)), 0.04)
	near(t, "estimate", *change(t, pairs).Corrected.Value, stats.Mean(y)+weight*(stats.Mean(u)-stats.Mean(f)), 1e-12)
	want := math.Sqrt(weight*weight*cov(u, u)/rest + (cov(y, y)+weight*weight*cov(f, f)-2*weight*cov(y, f))/n)
	near(t, "standard error", se, want, 0.02*want)
	near(t, "gold's standard error", goldSE, math.Sqrt(cov(y, y)/n), 1e-3*goldSE)
	if c := change(t, pairs); c.Paired != 600 || c.GoldOnly.N != 600 || c.Corrected.N != 3000 {
		t.Errorf("counts: %s", marshal(t, c))
	}
}

// Where no task is labelled on both sides the arms' variances of gold add up; where all
// are, what both sides share cancels.
func TestCorrectedDeltaPairsOrSums(t *testing.T) {
	w := changeWorld{tasks: 1000, before: 0.5, after: 0.6, alike: 0.9, tpr: 0.9, tnr: 0.8, together: true, labelled: 200}
	pairs := w.draw(seeded(82))
	_, _, gold, before, after, err := stats.DeltaErrors(pairs)
	if err != nil {
		t.Fatal(err)
	}
	if sum := math.Hypot(before, after); gold > 0.6*sum {
		t.Errorf("paired labels give a standard error of %.4f, their arms' sum %.4f", gold, sum)
	}
	for i := range pairs { // labels of the second half of the arm move to tasks without any
		p := &pairs[i]
		p.After[0].Labelled = !p.Before[0].Labelled && i%4 == 0
	}
	if _, _, gold, before, after, err = stats.DeltaErrors(pairs); err != nil {
		t.Fatal(err)
	}
	near(t, "standard error", gold, math.Hypot(before, after), 1e-12)
	if c := change(t, pairs); c.Paired != 0 {
		t.Errorf("%d tasks are labelled on both sides", c.Paired)
	}
}

func TestCorrectedDeltaNeedsThirtyInEachArm(t *testing.T) {
	w := changeWorld{tasks: 100, before: 0.5, after: 0.5, tpr: 0.9, tnr: 0.9, labelled: 30}
	pairs := w.draw(seeded(83))
	if c := change(t, pairs); c.MissingBefore+c.MissingAfter != 0 || c.Corrected.Lo == nil || c.Lambda == nil {
		t.Errorf("of 30 in each arm: %s", marshal(t, c))
	}
	for i := range pairs {
		if pairs[i].After[0].Labelled {
			pairs[i].After[0].Labelled = false
			break
		}
	}
	if c := change(t, pairs); c.MissingBefore != 0 || c.MissingAfter != 1 || c.Corrected.Value != nil || c.Lambda != nil || c.GoldOnly.Lo == nil || c.JudgeOnly.Lo == nil {
		t.Errorf("of 30 and 29: %s", marshal(t, c))
	}
	for i := range pairs {
		pairs[i].Before[0].Labelled, pairs[i].After[0].Labelled = false, false
	}
	if c := change(t, pairs); c.MissingBefore != 30 || c.MissingAfter != 30 || c.GoldOnly.Value != nil || c.JudgeOnly.Value == nil {
		t.Errorf("of no labels: %s", marshal(t, c))
	}
	if c := change(t, nil); c.MissingAfter != 30 || c.JudgeOnly.Value != nil {
		t.Errorf("of no tasks: %s", marshal(t, c))
	}
	if _, err := stats.CorrectedDelta([]stats.GradedPair{{Before: []stats.Graded{{}}}}, stats.Z95); err == nil {
		t.Error("a task with one side alone is taken")
	}
}

// The judge lets more failures pass after the change than before, as one does that a
// policy was trained on: by its own word the change helped. Corrected it is what it is.
func TestCorrectedDeltaCovers(t *testing.T) {
	const trials = 600
	for i, c := range []struct {
		name string
		w    changeWorld
		lies bool
	}{
		{"no change, good judge", changeWorld{before: 0.6, after: 0.6, tpr: 0.95, tnr: 0.95}, false},
		{"a change, good judge", changeWorld{before: 0.5, after: 0.65, tpr: 0.95, tnr: 0.95}, false},
		{"no change, a judge that is fooled after it", changeWorld{before: 0.6, after: 0.6, tpr: 0.95, tnr: 0.9, fooled: 0.5}, true},
		{"a change, a judge that tosses a coin", changeWorld{before: 0.5, after: 0.65, tpr: 0.5, tnr: 0.5}, true},
	} {
		for _, together := range []bool{true, false} {
			w := c.w
			w.tasks, w.alike, w.labelled, w.together = 300, 0.6, 50, together
			rng := seeded(uint64(90 + i))
			var covered, gold, judge, width, goldWidth float64
			for range trials {
				got, truth := change(t, w.draw(rng)), w.after-w.before
				covered += one(*got.Corrected.Lo <= truth && truth <= *got.Corrected.Hi) / trials
				gold += one(*got.GoldOnly.Lo <= truth && truth <= *got.GoldOnly.Hi) / trials
				judge += one(*got.JudgeOnly.Lo <= truth && truth <= *got.JudgeOnly.Hi) / trials
				width += *got.Corrected.Hi - *got.Corrected.Lo
				goldWidth += *got.GoldOnly.Hi - *got.GoldOnly.Lo
			}
			t.Logf("%s, labels together %v: covers %.3f (gold alone %.3f, judge alone %.3f), width %.2f of gold's", c.name, together, covered, gold, judge, width/goldWidth)
			// Three Monte Carlo errors at 600 trials are 0.027.
			if covered < 0.95-0.027 || gold < 0.95-0.027 {
				t.Errorf("%s, labels together %v: covers %.3f, gold's %.3f", c.name, together, covered, gold)
			}
			if c.lies && judge > 0.5 {
				t.Errorf("%s: the judge alone covers %.3f", c.name, judge)
			}
			if width > 1.03*goldWidth {
				t.Errorf("%s: the corrected interval is %.3f of gold's", c.name, width/goldWidth)
			}
		}
	}
}
