package cover

import (
	"context"
	"fmt"
	"testing"
)

// uniform is a model of free parameters: pairs of (number of values, columns).
func uniform(strength int, specs ...[2]int) Model {
	m := Model{Strength: strength}
	for _, spec := range specs {
		for range spec[1] {
			p := Parameter{Name: fmt.Sprintf("p%d", len(m.Parameters))}
			for v := range spec[0] {
				p.Values = append(p.Values, fmt.Sprintf("v%d", v))
			}
			m.Parameters = append(m.Parameters, p)
		}
	}
	return m
}

func mustBuild(t testing.TB, m Model, o Options) Array {
	t.Helper()
	a, err := Build(context.Background(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestBuildCoversAll(t *testing.T) {
	for _, m := range []Model{
		uniform(2, [2]int{3, 4}),
		uniform(2, [2]int{5, 1}),
		uniform(2, [2]int{4, 3}, [2]int{1, 2}, [2]int{2, 5}),
		uniform(3, [2]int{3, 6}),
		uniform(4, [2]int{2, 7}),
	} {
		a := mustBuild(t, m, Options{})
		if a.Covered != a.Planned || a.Planned == 0 || len(a.Rows) < a.LowerBound {
			t.Errorf("strength %d, %d parameters: %d of %d tuples in %d rows, bound %d", m.Strength, len(m.Parameters), a.Covered, a.Planned, len(a.Rows), a.LowerBound)
		}
	}
}
