package cover_test

import (
	"context"
	"fmt"
	"testing"

	"assay/engine/cover"
	"assay/engine/record"
)

// TestArraysStayWhatTheyAre pins arrays by the ranks of their rows. Situations
// get their ids from rows, so an array that changes under an unchanged model
// breaks the pairing of runs made before with runs made after: a change of the
// generator that moves one of these must come with a new record.Generator.
func TestArraysStayWhatTheyAre(t *testing.T) {
	m, _, err := cover.FromAxes(recipe(t, 16, nil), nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	stable, err := cover.Stable(context.Background(), m, record.AxisRule, cover.Options{})
	if err != nil {
		t.Fatal(err)
	}
	joint, err := cover.Build(context.Background(), m, cover.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wide, err := cover.Build(context.Background(), free(2, columns{5, 8}), cover.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		array cover.Array
		want  string
	}{"stable": {stable, "226 rows, 47c6c715d1c34a26"}, "joint": {joint, "160 rows, ae6685ab0f60ad14"}, "wide": {wide, "33 rows, 4facee4f2efa9471"}} {
		digest := uint64(0)
		for _, row := range c.array.Rows {
			digest = digest*1_000_003 + c.array.Model.Rank(row)
		}
		if got := fmt.Sprintf("%d rows, %016x", len(c.array.Rows), digest); record.Generator == "assay-1" && got != c.want {
			t.Errorf("%s: %s, was %s", name, got, c.want)
		}
	}
}
