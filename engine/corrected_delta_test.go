package engine

import (
	"fmt"
	"math"
	"testing"

	"assay/engine/delta"
	"assay/engine/record"
	"assay/engine/stats"
)

// judgedPairs are compared tasks of one rollout a side, and the gold of both sides: the
// judge passes all of after, gold half of it, and both agree on before.
func judgedPairs(n int) (delta.Changes, armGold, armGold) {
	changes := delta.Changes{Threshold: 1}
	before, after := armGold{rows: map[string]goldRow{}}, armGold{rows: map[string]goldRow{}}
	for i := range n {
		pass := i%2 == 0
		attempt := func(side string, reward float64, gold armGold, says bool) []delta.Attempt {
			id := fmt.Sprint(side, i)
			gold.rows[id] = goldRow{rolloutID: id, pass: says, kind: record.GoldHuman, chance: 0.5}
			return []delta.Attempt{{RolloutID: id, Reward: &reward}, {RolloutID: id + " lost"}}
		}
		changes.Pairs = append(changes.Pairs, delta.Pair{Task: &record.Task{ID: fmt.Sprint(i), SituationID: fmt.Sprint("s", i)},
			Before: attempt("b", float64(count(pass)), before, pass), After: attempt("a", 1, after, pass)})
	}
	return changes, before, after
}

func TestCorrectedDeltaOfTwoRuns(t *testing.T) {
	of := func(changes delta.Changes, before, after armGold) stats.CorrectedChange {
		t.Helper()
		c, err := stats.CorrectedDelta(goldPairs(changes, before, after), stats.Z95)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	changes, before, after := judgedPairs(60)
	// The judge alone sees a rise of a half; gold on every row sees none.
	c := of(changes, before, after)
	if math.Abs(*c.JudgeOnly.Value-0.5) > 1e-9 || c.Corrected.Value == nil || math.Abs(*c.Corrected.Value) > 1e-9 || c.Paired != 60 {
		t.Errorf("judge %v, corrected %v, %d paired", *c.JudgeOnly.Value, c.Corrected.Value, c.Paired)
	}
	// Gold of unknown choice on a part of the rows stands for nothing.
	delete(after.rows, "a7")
	if c = of(changes, before, after); c.Corrected.Value != nil || c.MissingAfter != stats.MinCorrectedTasks || c.MissingBefore != 0 {
		t.Errorf("gold picked by hand: %v, %d and %d missing", c.Corrected.Value, c.MissingBefore, c.MissingAfter)
	}
	// Drawn by a queue it does; under thirty tasks there is no number, and how many are missing.
	after.drawn, before.drawn = true, true
	if c = of(changes, before, after); c.Corrected.Value == nil || c.Paired != 59 {
		t.Errorf("drawn gold: %v, %d paired", c.Corrected.Value, c.Paired)
	}
	for i := range 35 {
		delete(after.rows, fmt.Sprint("a", i))
	}
	if c = of(changes, before, after); c.Corrected.Value != nil || c.MissingAfter != 5 {
		t.Errorf("25 labels: %v, %d missing", c.Corrected.Value, c.MissingAfter)
	}
	// A task without a verdict on one side is in neither number.
	changes.Pairs[0].After[0].Reward = nil
	if pairs := goldPairs(changes, before, after); len(pairs) != 59 {
		t.Errorf("%d pairs", len(pairs))
	}
}
