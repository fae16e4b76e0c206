package cover_test

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"assay/engine/cover"
)

// The verifier shares no code with the generator: it walks the whole grid, keeps
// the rows that a predicate allows, and holds tuples as text in maps. It is slow
// and obvious, which is its use.
type verifier struct {
	parameters []cover.Parameter
	allowed    func(values []string) bool
	strength   int
}

// forbiddenTuples is the predicate of a list of tuples, read anew.
func forbiddenTuples(parameters []cover.Parameter, tuples []cover.Tuple) func([]string) bool {
	return func(values []string) bool {
		for _, tuple := range tuples {
			hits := 0
			for _, l := range tuple {
				if values[l.Parameter] == parameters[l.Parameter].Values[l.Value] {
					hits++
				}
			}
			if hits == len(tuple) {
				return false
			}
		}
		return true
	}
}

func ofModel(m cover.Model) verifier {
	return verifier{m.Parameters, forbiddenTuples(m.Parameters, m.Forbidden), m.Strength}
}

// grid is every allowed row over the values that are asked for.
func (v verifier) grid() [][]string {
	rows := [][]string{nil}
	for _, p := range v.parameters {
		var longer [][]string
		for _, row := range rows {
			for _, value := range p.Values[:len(p.Values)-p.Spare] {
				longer = append(longer, append(append([]string(nil), row...), value))
			}
		}
		rows = longer
	}
	var out [][]string
	for _, row := range rows {
		if v.allowed(row) {
			out = append(out, row)
		}
	}
	return out
}

// tuples are the tuples that some row holds, in words. A row's spare values are
// asked for by no tuple.
func (v verifier) tuples(rows [][]string) map[string]bool {
	out := map[string]bool{}
	width := v.strength
	if width > len(v.parameters) {
		width = len(v.parameters)
	}
	for _, row := range rows {
		for mask := 1; mask < 1<<len(row); mask++ {
			var parts []string
			spare := false
			for i, value := range row {
				if mask&(1<<i) != 0 {
					parts = append(parts, v.parameters[i].Name+"="+value)
					p := v.parameters[i]
					for _, s := range p.Values[len(p.Values)-p.Spare:] {
						spare = spare || s == value
					}
				}
			}
			if len(parts) == width && !spare {
				out[strings.Join(parts, ", ")] = true
			}
		}
	}
	return out
}

func named(m cover.Model, rows [][]int) [][]string {
	out := make([][]string, len(rows))
	for i, row := range rows {
		for p, v := range row {
			out[i] = append(out[i], m.Parameters[p].Values[v])
		}
	}
	return out
}

// verify checks all that is promised of an array.
func (v verifier) verify(t interface {
	Helper()
	Errorf(string, ...any)
}, a cover.Array) {
	t.Helper()
	rows := named(a.Model, a.Rows)
	for i, row := range rows {
		if !v.allowed(row) {
			t.Errorf("row %d is not allowed: %v", i, row)
		}
	}
	want, have := v.tuples(v.grid()), v.tuples(rows)
	if a.Planned != len(want) {
		t.Errorf("planned %d tuples, %d can be covered", a.Planned, len(want))
	}
	if a.Covered != len(want) {
		t.Errorf("says that it covers %d of %d tuples", a.Covered, len(want))
	}
	var missing []string
	for tuple := range want {
		if !have[tuple] {
			missing = append(missing, tuple)
		}
	}
	sort.Strings(missing)
	if len(missing) > 0 {
		t.Errorf("%d tuples in no row: %v", len(missing), missing)
	}
	open := v.withSpare()
	for tuple := range have {
		// In a stable array's first block the other values may only go together where
		// the axis has its spare value; everything else is some allowed row's.
		if !want[tuple] && !open[tuple] {
			t.Errorf("tuple %q is in a row though no allowed row holds it", tuple)
		}
	}
	if len(a.Blocks) != len(a.Rows) {
		t.Errorf("%d rows, %d blocks", len(a.Rows), len(a.Blocks))
	}
}

// withSpare are the tuples of rows that may hold spare values.
func (v verifier) withSpare() map[string]bool {
	open := v
	open.parameters = slices.Clone(v.parameters)
	for i := range open.parameters {
		open.parameters[i].Spare = 0
	}
	return open.tuples(open.grid())
}

// table is a model of the given sizes with named parameters and values.
func table(strength int, sizes ...int) cover.Model {
	m := cover.Model{Strength: strength}
	for i, n := range sizes {
		p := cover.Parameter{Name: string(rune('a' + i))}
		for v := range n {
			p.Values = append(p.Values, fmt.Sprintf("%c%d", 'a'+i, v))
		}
		m.Parameters = append(m.Parameters, p)
	}
	return m
}

// The verifier must be able to say no.
func TestVerifierSeesFaults(t *testing.T) {
	m := table(2, 2, 2, 2)
	v := ofModel(m)
	good := cover.Array{Model: m, Rows: [][]int{{0, 0, 0}, {0, 1, 1}, {1, 0, 1}, {1, 1, 0}}, Blocks: make([]int, 4), Planned: 12, Covered: 12}
	short := good
	short.Rows, short.Blocks = good.Rows[:3], good.Blocks[:3]
	forbidden := v
	forbidden.allowed = func(values []string) bool { return values[0] != "a1" }
	for name, c := range map[string]struct {
		v     verifier
		array cover.Array
		fails bool
	}{"whole": {v, good, false}, "a row short": {v, short, true}, "a row forbidden": {forbidden, good, true}} {
		var count counter
		c.v.verify(&count, c.array)
		if (count > 0) != c.fails {
			t.Errorf("%s: %d complaints", name, count)
		}
	}
}

type counter int

func (c *counter) Helper()               {}
func (c *counter) Errorf(string, ...any) { *c++ }
