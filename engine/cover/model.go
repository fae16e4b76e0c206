package cover

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/engine/record"
)

// Bounds of a model. Beyond them an array would take minutes and gigabytes, and
// nobody runs it; the error says which bound and what to do.
const (
	MinStrength = 2
	MaxStrength = 4
	maxTuples   = 1 << 27 // tuples to cover
	maxValues   = 1 << 14 // values of all parameters: 32 MB of bits at strength 2
)

// Parameter is one thing that varies.
type Parameter struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
	// Spare is how many values at the end of Values may stand in a row but are not
	// asked for: no tuple with one is planned. A stable array's block that no clause
	// touches holds such a value.
	Spare int `json:"spare,omitempty"`
}

// planned is how many of the values are to be covered.
func (p Parameter) planned() int { return len(p.Values) - p.Spare }

// Literal is one parameter at one of its values.
type Literal struct {
	Parameter int `json:"parameter"`
	Value     int `json:"value"`
}

// Tuple is values of different parameters, in the order of the parameters.
type Tuple []Literal

// Model is what is to be covered: every tuple of Strength values that some
// allowed row holds.
type Model struct {
	Parameters []Parameter `json:"parameters"`
	// Forbidden are the tuples that no row may hold.
	Forbidden []Tuple `json:"forbidden,omitempty"`
	Strength  int     `json:"strength"`
	// Submodels are parameters that are covered at a strength of their own, where it
	// is above the model's.
	Submodels []Submodel `json:"submodels,omitempty"`
}

// Check reports what is wrong with a model: a strength out of range, a parameter
// without values or with a value twice, a forbidden tuple of no parameter, no
// allowed row, or more tuples than can be covered.
func (m Model) Check() error {
	if m.Strength < MinStrength || m.Strength > MaxStrength {
		return fmt.Errorf("strength %d: want %d to %d", m.Strength, MinStrength, MaxStrength)
	}
	if len(m.Parameters) == 0 {
		return errors.New("a model needs at least one parameter")
	}
	for i, p := range m.Parameters {
		if p.Spare < 0 || p.planned() < 1 {
			return fmt.Errorf("parameter %q has no value; give it at least one", p.Name)
		}
		if j := slices.IndexFunc(m.Parameters[:i], func(q Parameter) bool { return q.Name == p.Name }); j >= 0 {
			return fmt.Errorf("two parameters are named %q; rename one", p.Name)
		}
		seen := make(map[string]bool, len(p.Values))
		for _, v := range p.Values {
			if seen[v] {
				return fmt.Errorf("parameter %q has the value %q twice; remove one", p.Name, v)
			}
			seen[v] = true
		}
	}
	for _, t := range m.Forbidden {
		if err := m.checkTuple(t); err != nil {
			return err
		}
	}
	for _, sub := range m.Submodels {
		if err := m.checkSubmodel(sub); err != nil {
			return err
		}
	}
	values := 0
	for _, p := range m.Parameters {
		values += len(p.Values)
	}
	if values > maxValues {
		return fmt.Errorf("%d values over all parameters are more than %d; drop some", values, maxValues)
	}
	if n := tuplesOf(m.sizes(), m.strength()); n > maxTuples {
		return fmt.Errorf("strength %d over %d parameters means more than %d tuples; lower the strength or drop values", m.Strength, len(m.Parameters), maxTuples)
	}
	return nil
}

func (m Model) checkTuple(t Tuple) error {
	if len(t) == 0 {
		return errors.New("an empty forbidden tuple allows no row")
	}
	for i, l := range t {
		if l.Parameter < 0 || l.Parameter >= len(m.Parameters) || l.Value < 0 || l.Value >= len(m.Parameters[l.Parameter].Values) {
			return fmt.Errorf("forbidden tuple %v names a value that is not there", t)
		}
		if i > 0 && l.Parameter <= t[i-1].Parameter {
			return fmt.Errorf("forbidden tuple %v is not in the order of its parameters", t)
		}
	}
	return nil
}

// strength is the strength that can be reached: a model of one parameter has no
// pairs, so its values are covered one by one.
func (m Model) strength() int { return min(m.Strength, len(m.Parameters)) }

// sizes is how many values of each parameter are to be covered.
func (m Model) sizes() []int {
	sizes := make([]int, len(m.Parameters))
	for i, p := range m.Parameters {
		sizes[i] = p.planned()
	}
	return sizes
}

// key is the identity of the model: what an array is a function of.
func (m Model) key() string { return record.Identity("cover", m) }

// Allows reports whether a whole row holds no forbidden tuple. The values of row
// are indices into the parameters' values.
func (m Model) Allows(row []int) bool {
	if len(row) != len(m.Parameters) {
		return false
	}
	for i, v := range row {
		if v < 0 || v >= len(m.Parameters[i].Values) {
			return false
		}
	}
	return !slices.ContainsFunc(m.Forbidden, func(t Tuple) bool { return t.in(row) })
}

// in reports whether the row holds the tuple.
func (t Tuple) in(row []int) bool {
	for _, l := range t {
		if row[l.Parameter] != l.Value {
			return false
		}
	}
	return true
}

// Axes are a row's coordinates by name.
func (m Model) Axes(row []int) record.Axes {
	axes := make(record.Axes, len(row))
	for i, v := range row {
		if v >= 0 {
			axes[m.Parameters[i].Name] = m.Parameters[i].Values[v]
		}
	}
	return axes
}

// Point is the row of coordinates; -1 where they name no value of the parameter.
func (m Model) Point(axes record.Axes) []int {
	row := make([]int, len(m.Parameters))
	for i, p := range m.Parameters {
		row[i] = -1
		if v, ok := axes[p.Name]; ok {
			row[i] = slices.Index(p.Values, v)
		}
	}
	return row
}

// Rank is the row's own hash, by its content: equal rows rank equal whatever
// stands beside them.
func (m Model) Rank(row []int) uint64 {
	parts := make([]any, 1, 1+2*len(row))
	parts[0] = "point"
	for i, v := range row {
		parts = append(parts, m.Parameters[i].Name, m.Parameters[i].Values[v])
	}
	return record.Rank(parts...)
}

// Describe is a tuple in words: "tool=cancel_order, stance=hurried".
func (m Model) Describe(t Tuple) string {
	parts := make([]string, len(t))
	for i, l := range t {
		p := m.Parameters[l.Parameter]
		parts[i] = p.Name + "=" + p.Values[l.Value]
	}
	return strings.Join(parts, ", ")
}
