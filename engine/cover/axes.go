package cover

import (
	"fmt"
	"slices"
	"strings"

	"assay/engine/axes"
	"assay/engine/record"
)

// DefaultStrength is two: most failures take two factors (Kuhn, Wallace and
// Gallo 2004 found 70 to 95% of faults within pairs).
const DefaultStrength = 2

// builtIn are the exclusions that drop nonsense, each with its reason.
func builtIn(set axes.Set) []Exclusion {
	out := []Exclusion{
		{Expr: "tool == 'unrelated' and tool_condition != 'success'", Reason: "an ask for none of the tools calls none, so none can fail"},
		{Expr: "tool == 'unrelated' and world_state in ['missing', 'already_acted', 'duplicate', 'partial']", Reason: "an ask for none of the tools is about nothing that has a state"},
		{Expr: "tool == 'unrelated' and history == 'prior_partial_action'", Reason: "an ask for none of the tools has no action that could be half done"},
		{Expr: "stance == 'retry' and history == 'fresh'", Reason: "who tries again has been here before"},
	}
	if bare := withoutReference(set); len(bare) > 0 {
		out = append(out, Exclusion{
			Expr:   fmt.Sprintf("tool in [%s] and world_state in ['missing', 'already_acted', 'duplicate', 'partial']", quoted(bare)),
			Reason: "a tool that takes no reference finds nothing by one",
		})
	}
	for i := range out {
		out[i].BuiltIn = true
	}
	return out
}

// withoutReference are the tools on the axis that take no reference, where
// others do.
func withoutReference(set axes.Set) []string {
	if len(set.References) == 0 {
		return nil
	}
	var out []string
	for _, t := range set.Tools {
		if !slices.ContainsFunc(set.References, func(r axes.Reference) bool { return r.Tool == t.Name }) {
			out = append(out, t.Name)
		}
	}
	return out
}

func quoted(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(out, ", ")
}

// FromAxes makes the model of a set of axes: the axes as parameters, and the
// exclusions, the user's and the built-in ones, as forbidden tuples. The
// exclusions returned are those that apply, with what each comes to.
//
// The rule axis gets "unspecified" as a spare value, for the block of a stable
// array that no clause touches. A built-in exclusion that would take the last
// row from a value that the user named, or from the whole grid, is left out.
//
// Errors name the exclusion, the column, and the nearest right name; where
// exclusions leave no row they say which, and which axis they empty.
func FromAxes(set axes.Set, exclude []string, strength int) (Model, []Exclusion, error) {
	m := Model{Strength: strength}
	known := map[string][]string{}
	for _, a := range set.Axes {
		p := Parameter{Name: a.Name, Values: slices.Clone(a.Values)}
		if a.Name == record.AxisRule && !slices.Contains(p.Values, record.Unspecified) {
			p.Values, p.Spare = append(p.Values, record.Unspecified), 1
		}
		m.Parameters = append(m.Parameters, p)
		known[a.Name] = knownValues(set, a.Name)
	}
	var applied []Exclusion
	var tuples [][]Tuple
	for i, source := range exclude {
		forbidden, err := compileExclusion(source, m.Parameters, known)
		if err != nil {
			return Model{}, nil, fmt.Errorf("exclude[%d] %q: %w", i, source, err)
		}
		applied = append(applied, Exclusion{Expr: source, Reason: "excluded by the recipe", Tuples: len(forbidden)})
		tuples = append(tuples, forbidden)
		m.Forbidden = append(m.Forbidden, forbidden...)
	}
	if err := m.contradiction(tuples, func(i int) string { return fmt.Sprintf("exclude[%d] %q", i, exclude[i]) }); err != nil {
		return Model{}, nil, err
	}
	for _, e := range builtIn(set) {
		forbidden, err := compileExclusion(e.Expr, m.Parameters, known)
		if err != nil {
			return Model{}, nil, fmt.Errorf("built-in exclusion %q: %w", e.Expr, err)
		}
		if len(forbidden) == 0 || m.takesGiven(set, forbidden) {
			continue
		}
		e.Tuples = len(forbidden)
		applied = append(applied, e)
		m.Forbidden = append(m.Forbidden, forbidden...)
	}
	m.Forbidden = distinct(m.Forbidden)
	if err := m.Check(); err != nil {
		return Model{}, nil, err
	}
	return m, applied, nil
}

// knownValues are the values that an exclusion may name though the grid does not
// hold them.
func knownValues(set axes.Set, axis string) []string {
	switch axis {
	case record.AxisTool:
		out := []string{record.ToolUnrelated, record.ToolMulti}
		for _, t := range set.Tools {
			out = append(out, t.Name)
		}
		return out
	case record.AxisRule:
		return append(slices.Clone(set.Clauses), record.Unspecified)
	case record.AxisStance:
		return axes.Stances()
	case record.AxisWorldState:
		return append(axes.WorldStates(), record.Unspecified)
	case record.AxisToolCondition:
		return axes.Conditions()
	case record.AxisHistory:
		return axes.Histories()
	}
	return nil
}

// takesGiven reports whether more forbidden tuples would take the last row from
// a value that the user named, or from the grid.
func (m Model) takesGiven(set axes.Set, more []Tuple) bool {
	before := newSolver(m.sizes(), m.Forbidden)
	after := newSolver(m.sizes(), append(slices.Clone(m.Forbidden), more...))
	if !before.start() || !after.start() {
		return true
	}
	for i, a := range set.Axes {
		if !a.Given {
			continue
		}
		for v := range a.Values {
			t := Tuple{{i, v}}
			if before.valid(t) && !after.valid(t) {
				return true
			}
		}
	}
	return false
}

// distinct drops tuples that stand there twice or that a shorter one implies.
func distinct(tuples []Tuple) []Tuple {
	var out []Tuple
	for i, t := range tuples {
		implied := false
		for j, other := range tuples {
			if other.within(t) && (len(other) < len(t) || j < i) {
				implied = true
				break
			}
		}
		if !implied {
			out = append(out, t)
		}
	}
	return out
}

// contradiction is an error where groups of forbidden tuples leave no row: it
// names the fewest groups found that do so together, and an axis that they empty
// where there is one. name is a group in words.
func (m Model) contradiction(groups [][]Tuple, name func(int) string) error {
	left := make([]int, len(groups))
	for i := range groups {
		left[i] = i
	}
	satisfiable := func(chosen []int) bool {
		var forbidden []Tuple
		for _, i := range chosen {
			forbidden = append(forbidden, groups[i]...)
		}
		return newSolver(m.sizes(), forbidden).start()
	}
	if satisfiable(left) {
		return nil
	}
	// Each group is left out in turn and stays out if the rest contradicts still.
	for i := 0; i < len(left); {
		rest := slices.Delete(slices.Clone(left), i, i+1)
		if satisfiable(rest) {
			i++
		} else {
			left = rest
		}
	}
	said := make([]string, len(left))
	for i, g := range left {
		said[i] = name(g)
	}
	says := strings.Join(said, " and ")
	if axis := m.emptied(groups, left); axis != "" {
		return fmt.Errorf("%s: no value of axis %s is left; %w", says, axis, ErrUnsatisfiable)
	}
	if len(left) > 1 {
		says += " contradict each other"
	}
	return fmt.Errorf("%s: %w", says, ErrUnsatisfiable)
}

// emptied is the parameter whose every value the chosen groups forbid by itself,
// "" where there is none.
func (m Model) emptied(groups [][]Tuple, chosen []int) string {
	for p, n := range m.sizes() {
		gone := map[int]bool{}
		for _, g := range chosen {
			for _, t := range groups[g] {
				if len(t) == 1 && t[0].Parameter == p && t[0].Value < n {
					gone[t[0].Value] = true
				}
			}
		}
		if len(gone) == n {
			return m.Parameters[p].Name
		}
	}
	return ""
}
