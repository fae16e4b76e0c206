package main

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/engine"
	"assay/store"
)

// TestWhatScreensAskAgreesWithTheStory: the tasks behind a report come to its numbers, a
// preview holds what the story's training files got, and a comparison is asked for as
// the recipe asks.
func TestWhatScreensAskAgreesWithTheStory(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := decode[engine.StoryResult](t, p.must("run", "seeded-agent", "--situations", "60", "--json"))
	if r.Delta == nil || r.Before == nil || r.After == nil || len(r.Cut) == 0 {
		t.Fatalf("the story is not whole: %+v", r)
	}
	ctx := t.Context()
	db, err := store.OpenReadOnly(ctx, p.file("assay.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	e := (&session{}).newEngine(db, nil)

	asked, err := e.DeltaAsked(ctx, *r.After)
	if err != nil || !slices.Equal(asked.MustNotRegress, []string{"argument_grounding"}) || asked.Target != "pass_at_1" {
		t.Errorf("asked %+v, %v", asked, err)
	}
	again, err := e.Delta(ctx, *r.Before, *r.After, asked)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Delta, &again); diff != "" {
		t.Errorf("compared again (-story +again):\n%s", diff)
	}

	tasks, err := e.DeltaTasks(ctx, r.Delta)
	if err != nil || len(tasks.Pairs) != r.Delta.Paired {
		t.Fatalf("%d tasks, the report has %d; %v", len(tasks.Pairs), r.Delta.Paired, err)
	}
	for _, m := range r.Delta.Metrics {
		q, ok := tasks.Queues(m.Name, m.LowerIsBetter)
		sum := 0.0
		for _, move := range slices.Concat(q.Regressed, q.Improved) {
			sum += move.Change
		}
		if !ok || m.Delta != nil && math.Abs(sum/float64(m.Paired)-*m.Delta) > 1e-9 {
			t.Errorf("%s: the tasks come to %g, the report to %g", m.Name, sum/float64(m.Paired), *m.Delta)
		}
	}

	preview, err := e.CutPreview(ctx, r.Run)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Cut {
		at := slices.IndexFunc(preview.Targets, func(p engine.CutPlan) bool { return p.For == c.For })
		plan := preview.Targets[at]
		if diff := cmp.Diff(c.Gates, plan.Gates); diff != "" || plan.RowsIn != c.RowsIn || plan.RowsOut != c.RowsOut || len(plan.Kept) != c.RowsOut {
			t.Errorf("%s: the preview keeps %d of %d, the story %d of %d; gates (-story +preview):\n%s", c.For, plan.RowsOut, plan.RowsIn, c.RowsOut, c.RowsIn, diff)
		}
	}
	scan, err := e.Scan(ctx, r.Run, nil)
	if err != nil || scan.Support.Tasks == 0 || scan.Support.Tasks > len(preview.Rates) {
		t.Errorf("scan %+v of %d tasks, %v", scan.Support, len(preview.Rates), err)
	}
}
