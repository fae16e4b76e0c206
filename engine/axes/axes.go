package axes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/engine/record"
)

// RuleCap is how many clauses the grid takes. Each clause adds a block of about
// as many rows as the longest other axis has values, so sixteen clauses under
// ten stances are some 160 situations: an evening's run. Convention, untested.
const RuleCap = 16

// Axis is one thing that varies, with the values that the grid takes.
type Axis struct {
	Name   string
	Values []string
	// Total is how many values there were before the cap; above len(Values) only
	// where the grid was capped.
	Total int
	// Given says that the values are the user's own.
	Given bool
}

// Reference is one argument of a tool that takes a reference to a thing of the
// world.
type Reference struct {
	Tool     string
	Argument string
}

// Set is what the tools and the policy say can vary.
type Set struct {
	Axes       []Axis   // in the order of record.AxisNames
	Clauses    []string // every clause of the policy, beyond the cap too
	Tools      []record.Tool
	References []Reference
}

// Axis is the axis of that name; false where there is none.
func (s Set) Axis(name string) (Axis, bool) {
	i := slices.IndexFunc(s.Axes, func(a Axis) bool { return a.Name == name })
	if i < 0 {
		return Axis{}, false
	}
	return s.Axes[i], true
}

// Warnings says what the axes leave out, so that no cap is silent.
func (s Set) Warnings() []record.Warning {
	var out []record.Warning
	for _, a := range s.Axes {
		if dropped := a.Total - len(a.Values); dropped > 0 {
			of := "values"
			if a.Name == record.AxisRule && !a.Given {
				of = "clauses of the policy"
			}
			out = append(out, record.Warning{
				Code: "axis_capped",
				Text: fmt.Sprintf("axis %s takes %d of %d %s; %d are not in the grid", a.Name, len(a.Values), a.Total, of, dropped),
				Fix:  fmt.Sprintf("name the ones that matter under dimensions.%s", a.Name),
			})
		}
	}
	return out
}

// Stances are the ways in which a user may ask.
func Stances() []string {
	return []string{"ordinary", "ambiguous", "boundary", "adversarial", "hurried", "unsure", "retry", "mistaken", "exploratory", "conflicting"}
}

// WorldStates are the states in which the asked-for thing may be.
func WorldStates() []string {
	return []string{record.EntityExists, record.EntityMissing, record.EntityActedOn, record.EntityDuplicate, record.EntityPartial, record.EntityUnknown}
}

// Conditions are the ways in which a tool may answer.
func Conditions() []string {
	return []string{record.ConditionSuccess, record.ConditionTimeout, record.ConditionMalformed, record.ConditionStale, record.ConditionPermissionDenied}
}

// Histories are what may have gone before the ask.
func Histories() []string {
	return []string{"fresh", "prior_failure", "prior_partial_action", "contradicts_earlier", "repeat_visit"}
}

// Build makes the six axes from the tools and the policy. dimensions replaces
// the values of the axes that it names and leaves the rest.
//
// multi_tool needs two tools and is left out where there are fewer. An axis or
// a value that does not exist, and an empty list, are errors that name the fix.
func Build(tools []record.Tool, policy string, dimensions map[string][]string) (Set, error) {
	s := Set{Clauses: Clauses(policy), Tools: tools}
	for _, t := range tools {
		for _, argument := range ReferenceArguments(t) {
			s.References = append(s.References, Reference{Tool: t.Name, Argument: argument})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(dimensions)) {
		if !slices.Contains(record.AxisNames(), name) {
			return Set{}, fmt.Errorf("dimensions: unknown axis %q%s; the axes are %s", name, Suggest(name, record.AxisNames()), strings.Join(record.AxisNames(), ", "))
		}
	}
	for _, name := range record.AxisNames() {
		axis := s.generated(name)
		if given, ok := dimensions[name]; ok {
			if err := checkGiven(name, given, s.allowed(name)); err != nil {
				return Set{}, err
			}
			axis = Axis{Name: name, Values: slices.Clone(given), Total: len(given), Given: true}
		}
		s.Axes = append(s.Axes, axis)
	}
	return s, nil
}

// generated is the axis as the tools and the policy alone give it.
func (s Set) generated(name string) Axis {
	values := s.allowed(name)
	switch name {
	case record.AxisRule:
		values = s.Clauses
		if len(values) == 0 {
			values = []string{record.Unspecified}
		}
		return Axis{Name: name, Values: slices.Clone(values[:min(len(values), RuleCap)]), Total: len(values)}
	case record.AxisWorldState:
		values = WorldStates()
		if len(s.References) == 0 {
			values = []string{record.Unspecified}
		}
	}
	return Axis{Name: name, Values: values, Total: len(values)}
}

// allowed is every value that the axis may take, nil where any text may stand.
func (s Set) allowed(name string) []string {
	switch name {
	case record.AxisTool:
		values := make([]string, 0, len(s.Tools)+2)
		for _, t := range s.Tools {
			values = append(values, t.Name)
		}
		values = append(values, record.ToolUnrelated)
		if len(s.Tools) > 1 {
			values = append(values, record.ToolMulti)
		}
		return values
	case record.AxisStance:
		return Stances()
	case record.AxisWorldState:
		return append(WorldStates(), record.Unspecified)
	case record.AxisToolCondition:
		return Conditions()
	case record.AxisHistory:
		return Histories()
	}
	return nil
}

func checkGiven(axis string, given, allowed []string) error {
	if len(given) == 0 {
		return fmt.Errorf("dimensions.%s: the list is empty; give at least one value, or leave the axis out to have it generated", axis)
	}
	for i, value := range given {
		switch {
		case strings.TrimSpace(value) == "":
			return fmt.Errorf("dimensions.%s[%d]: an empty value; write some text or remove it", axis, i)
		case slices.Contains(given[:i], value):
			return fmt.Errorf("dimensions.%s[%d]: %q stands there twice; remove one", axis, i, value)
		case allowed != nil && !slices.Contains(allowed, value):
			return fmt.Errorf("dimensions.%s[%d]: unknown value %q%s; it takes %s", axis, i, value, Suggest(value, allowed), strings.Join(allowed, ", "))
		}
	}
	return nil
}
