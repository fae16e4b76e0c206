package cover_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assay/engine/cover"
)

// verifyMixed checks an array with submodels by the verifier, which walks the grid:
// the whole model at its strength, and each submodel over what the allowed rows
// leave of its parameters.
func verifyMixed(t interface {
	Helper()
	Errorf(string, ...any)
}, a cover.Array) {
	t.Helper()
	v := ofModel(a.Model)
	rows := named(a.Model, a.Rows)
	for i, row := range rows {
		if !v.allowed(row) {
			t.Errorf("row %d is not allowed: %v", i, row)
		}
	}
	planned := 0
	check := func(parameters []int, strength int) {
		part := verifier{strength: strength}
		project := func(rows [][]string) [][]string {
			out := make([][]string, len(rows))
			for i, row := range rows {
				for _, p := range parameters {
					out[i] = append(out[i], row[p])
				}
			}
			return out
		}
		for _, p := range parameters {
			part.parameters = append(part.parameters, v.parameters[p])
		}
		want, have := part.tuples(project(v.grid())), part.tuples(project(rows))
		planned += len(want)
		if !maps.Equal(want, have) {
			t.Errorf("over %v at strength %d: %d of %d tuples", parameters, strength, len(have), len(want))
		}
	}
	var every []int
	for i := range a.Model.Parameters {
		every = append(every, i)
	}
	check(every, a.Model.Strength)
	for _, sub := range a.Model.Submodels {
		if sub.Strength > a.Model.Strength {
			check(sub.Parameters, sub.Strength)
		}
	}
	if covered, missing := a.Coverage(a.Rows); a.Planned != planned || a.Covered != planned || covered != planned || len(missing) > 0 {
		t.Errorf("says %d planned and %d covered, then %d; there are %d", a.Planned, a.Covered, covered, planned)
	}
	if len(a.Rows) < a.LowerBound {
		t.Errorf("%d rows are under the bound of %d", len(a.Rows), a.LowerBound)
	}
}

func TestSubmodels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sizes []int
		for range rapid.IntRange(3, 6).Draw(t, "parameters") {
			sizes = append(sizes, rapid.IntRange(1, 3).Draw(t, "values"))
		}
		m := table(2, sizes...)
		for range rapid.IntRange(0, 3).Draw(t, "constraints") {
			var tuple cover.Tuple
			for p, n := range sizes {
				if rapid.IntRange(0, 2).Draw(t, "in") == 0 {
					tuple = append(tuple, cover.Literal{Parameter: p, Value: rapid.IntRange(0, n-1).Draw(t, "value")})
				}
			}
			if len(tuple) > 0 {
				m.Forbidden = append(m.Forbidden, tuple)
			}
		}
		for range rapid.IntRange(1, 2).Draw(t, "submodels") {
			count := rapid.IntRange(3, len(sizes)).Draw(t, "of")
			chosen := rapid.Permutation([]int{0, 1, 2, 3, 4, 5}[:len(sizes)]).Draw(t, "which")[:count]
			chosen = slices.Clone(chosen)
			slices.Sort(chosen)
			m.Submodels = append(m.Submodels, cover.Submodel{Parameters: chosen, Strength: rapid.IntRange(1, min(4, count)).Draw(t, "strength")})
		}
		if len(ofModel(m).grid()) == 0 {
			return
		}
		a, err := cover.Build(context.Background(), m, quick)
		if err != nil {
			t.Fatal(err)
		}
		verifyMixed(t, a)
	})
}

func TestPICTSubmodels(t *testing.T) {
	m, err := cover.ParsePICT(strings.NewReader(`
Platform: x86, x64, arm
CPUs: 1, 2, 4
RAM: 1, 4, 64
Disk: scsi, ide
OS: a, b, c
Browser: d, e, f
{ PLATFORM, CPUS, RAM } @ 3
{ OS, Browser } @ 2
{ Disk, OS }
IF [Platform] = "arm" THEN [CPUs] <> 1;
`))
	if err != nil {
		t.Fatal(err)
	}
	a, err := cover.Build(context.Background(), m, cover.Options{})
	if err != nil {
		t.Fatal(err)
	}
	verifyMixed(t, a)
	// 3x3x3 less the three of one arm processor; each takes a row.
	if a.LowerBound != 24 || len(a.Rows) > 26 {
		t.Errorf("%d rows, at least %d", len(a.Rows), a.LowerBound)
	}
	if _, err := cover.Stable(context.Background(), cover.Model{Parameters: m.Parameters, Strength: 2, Submodels: m.Submodels}, "OS", quick); err == nil {
		t.Error("a stable array takes submodels")
	}
}
