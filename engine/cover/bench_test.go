package cover_test

import (
	"context"
	"fmt"
	"testing"

	"assay/engine/cover"
	"assay/engine/record"
)

// columns are n parameters of v values.
type columns struct{ v, n int }

func free(strength int, specs ...columns) cover.Model {
	m := cover.Model{Strength: strength}
	for _, spec := range specs {
		for range spec.n {
			p := cover.Parameter{Name: fmt.Sprintf("p%d", len(m.Parameters))}
			for v := range spec.v {
				p.Values = append(p.Values, fmt.Sprintf("v%d", v))
			}
			m.Parameters = append(m.Parameters, p)
		}
	}
	return m
}

// stretchEffort is what the stretch sizes are reached with: some three seconds
// of one core for the widest of the models.
const stretchEffort = 30_000_000

// published are the models of the literature that a generator is measured by
// (Cohen, Dalal, Fredman and Patton 1997; Czerwonka 2006), with the rows that are
// asked of this one: at most bar by default, at most stretch with more effort.
var published = []struct {
	name         string
	model        cover.Model
	bar, stretch int
}{
	{"3^4", free(2, columns{3, 4}), 9, 9},
	{"3^13", free(2, columns{3, 13}), 17, 15},
	{"4^15_3^17_2^29", free(2, columns{4, 15}, columns{3, 17}, columns{2, 29}), 34, 28},
	{"4^1_3^39_2^35", free(2, columns{4, 1}, columns{3, 39}, columns{2, 35}), 26, 20},
	{"2^100", free(2, columns{2, 100}), 12, 10},
	{"10^20", free(2, columns{10, 20}), 195, 180},
}

// TestPublishedSizes holds the sizes of the default effort to the bar. Sizes are
// the same on every machine, so this is no timing.
func TestPublishedSizes(t *testing.T) {
	for _, p := range published {
		t.Run(p.name, func(t *testing.T) {
			a, err := cover.Build(context.Background(), p.model, cover.Options{})
			if err != nil {
				t.Fatal(err)
			}
			pairsVerified(t, a)
			if len(a.Rows) > p.bar || len(a.Rows) < a.LowerBound {
				t.Errorf("%d rows, at most %d are asked for, bound %d", len(a.Rows), p.bar, a.LowerBound)
			}
		})
	}
}

// pairsVerified checks a wide array without constraints, whose grid cannot be
// walked: every pair of values of every pair of columns, in nested loops.
func pairsVerified(t testing.TB, a cover.Array) {
	t.Helper()
	for i, p := range a.Model.Parameters {
		for j := i + 1; j < len(a.Model.Parameters); j++ {
			seen := map[[2]string]bool{}
			for _, row := range a.Rows {
				seen[[2]string{p.Values[row[i]], a.Model.Parameters[j].Values[row[j]]}] = true
			}
			if want := len(p.Values) * len(a.Model.Parameters[j].Values); len(seen) != want {
				t.Errorf("columns %d and %d hold %d of %d pairs", i, j, len(seen), want)
			}
		}
	}
}

func report(b *testing.B, a cover.Array) {
	b.Helper()
	if a.Covered != a.Planned {
		b.Fatalf("%d of %d tuples", a.Covered, a.Planned)
	}
	b.ReportMetric(float64(len(a.Rows)), "rows")
	b.ReportMetric(float64(a.LowerBound), "bound")
}

func benchmark(b *testing.B, build func() (cover.Array, error)) {
	b.Helper()
	var a cover.Array
	for b.Loop() {
		var err error
		if a, err = build(); err != nil {
			b.Fatal(err)
		}
	}
	report(b, a)
}

// BenchmarkPairwise reports rows and the lower bound of the published models, by
// the default effort and by the stretch's.
func BenchmarkPairwise(b *testing.B) {
	for _, p := range published {
		build := func(effort int) func(*testing.B) {
			return func(b *testing.B) {
				benchmark(b, func() (cover.Array, error) {
					return cover.Build(context.Background(), p.model, cover.Options{Effort: effort})
				})
			}
		}
		b.Run(p.name+"/default", build(0))
		b.Run(p.name+"/stretch", build(stretchEffort))
	}
}

// BenchmarkStrength3 builds wide models at strength 3.
func BenchmarkStrength3(b *testing.B) {
	build := func(m cover.Model) func(*testing.B) {
		return func(b *testing.B) {
			benchmark(b, func() (cover.Array, error) { return cover.Build(context.Background(), m, cover.Options{}) })
		}
	}
	b.Run("10^10", build(free(3, columns{10, 10})))
	b.Run("3^20_4^10", build(free(3, columns{3, 20}, columns{4, 10})))
}

// BenchmarkDefaultGrid builds what every run builds at its start: six axes of
// three tools and sixteen clauses, with the built-in exclusions.
func BenchmarkDefaultGrid(b *testing.B) {
	m, _, err := cover.FromAxes(recipe(b, 16, nil), nil, cover.DefaultStrength)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("stable", func(b *testing.B) {
		benchmark(b, func() (cover.Array, error) {
			return cover.Stable(context.Background(), m, record.AxisRule, cover.Options{})
		})
	})
	b.Run("joint", func(b *testing.B) {
		benchmark(b, func() (cover.Array, error) { return cover.Build(context.Background(), m, cover.Options{}) })
	})
	b.Run("points", func(b *testing.B) {
		for b.Loop() {
			for range m.Points() {
			}
		}
	})
}
