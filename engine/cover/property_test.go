package cover_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/engine/cover"

	"pgregory.net/rapid"
)

// drawModel draws a small model with constraints, so small that the whole grid
// can be walked.
func drawModel(t *rapid.T) cover.Model {
	sizes := rapid.SliceOfN(rapid.IntRange(1, 4), 2, 6).Draw(t, "sizes")
	m := table(rapid.IntRange(2, 4).Draw(t, "strength"), sizes...)
	for range rapid.IntRange(0, 8).Draw(t, "forbidden") {
		m.Forbidden = append(m.Forbidden, drawTuple(t, sizes))
	}
	return m
}

func drawTuple(t *rapid.T, sizes []int) cover.Tuple {
	width := rapid.IntRange(1, min(3, len(sizes))).Draw(t, "width")
	if width == 1 && rapid.IntRange(0, 3).Draw(t, "rarely") > 0 {
		width = 2 // single values forbid so much that the rest is seldom of interest
	}
	columns := rapid.Permutation(columnsOf(sizes)).Draw(t, "columns")[:width]
	slices.Sort(columns)
	var tuple cover.Tuple
	for _, c := range columns {
		tuple = append(tuple, cover.Literal{Parameter: c, Value: rapid.IntRange(0, sizes[c]-1).Draw(t, "value")})
	}
	return tuple
}

func columnsOf(sizes []int) []int {
	out := make([]int, len(sizes))
	for i := range out {
		out[i] = i
	}
	return out
}

var quick = cover.Options{Effort: 2000}

func TestRandomModels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		v := ofModel(m)
		a, err := cover.Build(context.Background(), m, quick)
		if len(v.grid()) == 0 {
			if !errors.Is(err, cover.ErrUnsatisfiable) {
				t.Fatalf("no row is allowed, and Build says %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		v.verify(t, a)
		if a.LowerBound > len(a.Rows) {
			t.Errorf("lower bound %d, yet %d rows do", a.LowerBound, len(a.Rows))
		}
	})
}

// The greedy part alone must cover too: the search starts from what it leaves.
func TestRandomModelsWithoutEffort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		v := ofModel(m)
		a, err := cover.Build(context.Background(), m, cover.Options{Effort: -1})
		if err != nil {
			return
		}
		v.verify(t, a)
	})
}

func TestGridIsWhatIsAllowed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		grid := ofModel(m).grid()
		if n := m.Size(); n != len(grid) {
			t.Errorf("Size says %d, the grid has %d points", n, len(grid))
		}
		seen := map[string]bool{}
		last := uint64(0)
		for row := range m.Points() {
			if rank := m.Rank(row); rank < last {
				t.Errorf("point %v is out of the order of hashes", row)
			} else {
				last = rank
			}
			seen[fmt.Sprint(named(m, [][]int{row})[0])] = true
			if !m.Allows(row) {
				t.Errorf("point %v is not allowed", row)
			}
		}
		if len(seen) != len(grid) {
			t.Errorf("%d points, the grid has %d", len(seen), len(grid))
		}
	})
}

func TestCoverageOfWhatCameBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		v := ofModel(m)
		a, err := cover.Build(context.Background(), m, quick)
		if err != nil {
			return
		}
		var back [][]int
		for _, row := range a.Rows {
			if rapid.Bool().Draw(t, "came back") {
				back = append(back, row)
			}
		}
		covered, missing := a.Coverage(back)
		have, all := v.tuples(named(m, back)), v.tuples(v.grid())
		if covered != len(have) || covered+len(missing) != len(all) {
			t.Errorf("covered %d and %d missing of %d; the verifier counts %d", covered, len(missing), len(all), len(have))
		}
		for _, tuple := range missing {
			if have[tuple] || !all[tuple] {
				t.Errorf("%q is called missing", tuple)
			}
		}
		want, held, lost := a.Between(a.Rows, back)
		if want != len(all) || held != covered || !slices.Equal(lost, missing) {
			t.Errorf("Between says %d of %d, %d lost", held, want, len(lost))
		}
	})
}

func TestPinnedRowsStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		var pinned [][]int
		for row := range m.Points() {
			if rapid.IntRange(0, 3).Draw(t, "pin") == 0 {
				pinned = append(pinned, row)
			}
			if len(pinned) == 3 {
				break
			}
		}
		a, err := cover.Build(context.Background(), m, cover.Options{Effort: 2000, Pinned: pinned})
		if err != nil {
			return
		}
		ofModel(m).verify(t, a)
		if !slices.EqualFunc(a.Rows[:len(pinned)], pinned, slices.Equal) {
			t.Errorf("pinned %v, have %v", pinned, a.Rows)
		}
	})
}

// drawStable draws a model whose first parameter stands for the clauses, with a
// spare value.
func drawStable(t *rapid.T) cover.Model {
	m := drawModel(t)
	m.Parameters[0].Values = append(m.Parameters[0].Values, "unspecified")
	m.Parameters[0].Spare = 1
	return m
}

func TestStableCovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawStable(t)
		v := ofModel(m)
		a, err := cover.Stable(context.Background(), m, "a", quick)
		if len(v.grid()) == 0 {
			if !errors.Is(err, cover.ErrUnsatisfiable) {
				t.Fatalf("no row is allowed, and Stable says %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		v.verify(t, a)
		for i, row := range a.Rows {
			spare := len(m.Parameters[0].Values) - 1
			if block := a.Blocks[i]; block == 0 && row[0] != spare || block > 0 && row[0] != block-1 {
				t.Errorf("row %v stands in block %d", row, block)
			}
		}
	})
}

// Editing one clause, and what the constraints say of it, leaves every row of
// the other blocks as it was, wherever the clause stands in the list.
func TestStableIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawStable(t)
		before, err := cover.Stable(context.Background(), m, "a", quick)
		if err != nil {
			return
		}
		clauses := len(m.Parameters[0].Values) - 1
		edited := rapid.IntRange(0, clauses-1).Draw(t, "edited")
		changed := m
		changed.Parameters = slices.Clone(m.Parameters)
		changed.Parameters[0].Values = slices.Clone(m.Parameters[0].Values)
		changed.Parameters[0].Values[edited] = "a new wording"
		changed.Forbidden = slices.DeleteFunc(slices.Clone(m.Forbidden), func(f cover.Tuple) bool {
			return slices.Contains(f, cover.Literal{Parameter: 0, Value: edited})
		})
		after, err := cover.Stable(context.Background(), changed, "a", quick)
		if err != nil {
			t.Fatal(err)
		}
		want, have := ids(before, 1+edited), ids(after, 1+edited)
		if !slices.Equal(want, have) {
			t.Errorf("rows of other blocks moved:\n%v\n%v", want, have)
		}
	})
}

// ids are the ranks of the rows outside of a block.
func ids(a cover.Array, without int) []uint64 {
	var out []uint64
	for i, row := range a.Rows {
		if a.Blocks[i] != without {
			out = append(out, a.Model.Rank(row))
		}
	}
	slices.Sort(out)
	return out
}

func TestPrefixIsNested(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, err := cover.Stable(context.Background(), drawStable(t), "a", quick)
		if err != nil {
			return
		}
		all := a.Prefix(len(a.Rows) + 5)
		if sorted := slices.Sorted(slices.Values(all)); !slices.Equal(sorted, columnsOf(make([]int, len(a.Rows)))) {
			t.Fatalf("not a permutation of the rows: %v", all)
		}
		n := rapid.IntRange(-1, len(a.Rows)).Draw(t, "n")
		if got := a.Prefix(n); !slices.Equal(got, all[:max(n, 0)]) {
			t.Errorf("the first %d are %v, of all %v", n, got, all)
		}
	})
}

// Every block has its share in a prefix, to within one row.
func TestPrefixIsInterleaved(t *testing.T) {
	m := table(2, 4, 5, 5, 4)
	m.Parameters[0].Values, m.Parameters[0].Spare = append(m.Parameters[0].Values, "unspecified"), 1
	a, err := cover.Stable(context.Background(), m, "a", quick)
	if err != nil {
		t.Fatal(err)
	}
	size := map[int]int{}
	for _, b := range a.Blocks {
		size[b]++
	}
	for n := range a.Rows {
		taken := map[int]int{}
		for _, row := range a.Prefix(n) {
			taken[a.Blocks[row]]++
		}
		for b, whole := range size {
			share := float64(n) * float64(whole) / float64(len(a.Rows))
			if got := float64(taken[b]); got < share-1 || got > share+1 {
				t.Errorf("%d rows: block %d gives %v of %d, its share is %.2f", n, b, got, whole, share)
			}
		}
	}
}

// The same model gives the same array; another order of its constraints too may
// not lose anything.
func TestBuildIsDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		a, errA := cover.Build(context.Background(), m, quick)
		b, errB := cover.Build(context.Background(), m, quick)
		if fmt.Sprint(errA) != fmt.Sprint(errB) || !slices.EqualFunc(a.Rows, b.Rows, slices.Equal) {
			t.Errorf("two builds differ")
		}
	})
}

func TestWriteCSV(t *testing.T) {
	m := cover.Model{Strength: 2, Parameters: []cover.Parameter{{Name: "plain", Values: []string{"x"}}, {Name: `odd, "name"`, Values: []string{"a, b"}}}}
	a, err := cover.Build(context.Background(), m, cover.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := a.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	if want := "plain,\"odd, \"\"name\"\"\"\nx,\"a, b\"\n"; b.String() != want {
		t.Errorf("have %q, want %q", b.String(), want)
	}
}

func TestCancelledBuild(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := cover.Build(ctx, table(2, 3, 3, 3), cover.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled build says %v", err)
	}
}
