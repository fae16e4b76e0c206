package cover_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/engine/axes"
	"assay/engine/cover"
	"assay/engine/record"

	"github.com/google/go-cmp/cmp"
)

const orderTools = `[
	{"name":"get_order","parameters":{"type":"object","properties":{"order_id":{"type":"string"}}}},
	{"name":"cancel_order","parameters":{"type":"object","properties":{"order_id":{"type":"string"}}}},
	{"name":"search_help","parameters":{"type":"object","properties":{"query":{"type":"string"}}}}]`

// recipe is the axes of three tools and a policy of n clauses.
func recipe(t testing.TB, n int, dimensions map[string][]string) axes.Set {
	t.Helper()
	tools, err := axes.LoadTools([]byte(orderTools))
	if err != nil {
		t.Fatal(err)
	}
	var policy strings.Builder
	for i := range n {
		fmt.Fprintf(&policy, "- Never break rule number %d.\n", i)
	}
	set, err := axes.Build(tools, policy.String(), dimensions)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// nonsense says by itself, in Go, what the built-in exclusions drop.
func nonsense(p record.Axes) bool {
	bare := p["tool"] == "unrelated" || p["tool"] == "search_help"
	about := slices.Contains([]string{"missing", "already_acted", "duplicate", "partial"}, p["world_state"])
	return bare && about ||
		p["tool"] == "unrelated" && (p["tool_condition"] != "success" || p["history"] == "prior_partial_action") ||
		p["stance"] == "retry" && p["history"] == "fresh"
}

// coordinates are a row of values by axis.
func coordinates(m cover.Model, values []string) record.Axes {
	out := record.Axes{}
	for i, v := range values {
		out[m.Parameters[i].Name] = v
	}
	return out
}

// The default grid, joint and stable, against the verifier with predicates
// written anew: exclusions lose no valid pair and let no nonsense through.
func TestDefaultGrid(t *testing.T) {
	exclude := []string{"stance == 'hurried' and history != 'fresh'", "rule contains 'number 2' and tool == 'cancel_order'"}
	// Four stances of ten keep the grid small enough to walk.
	set := recipe(t, 3, map[string][]string{record.AxisStance: {"ordinary", "hurried", "retry", "adversarial"}})
	m, exclusions, err := cover.FromAxes(set, exclude, 2)
	if err != nil {
		t.Fatal(err)
	}
	v := ofModel(m)
	v.allowed = func(values []string) bool {
		p := coordinates(m, values)
		return !nonsense(p) && !(p["stance"] == "hurried" && p["history"] != "fresh") &&
			!(strings.Contains(p["rule"], "number 2") && p["tool"] == "cancel_order")
	}
	joint, err := cover.Build(context.Background(), m, cover.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v.verify(t, joint)
	stable, err := cover.Stable(context.Background(), m, record.AxisRule, cover.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v.verify(t, stable)
	if stable.LowerBound != joint.LowerBound || stable.Planned != joint.Planned {
		t.Errorf("joint %d planned, bound %d; stable %d planned, bound %d", joint.Planned, joint.LowerBound, stable.Planned, stable.LowerBound)
	}
	for _, e := range exclusions {
		if e.Reason == "" || e.Tuples == 0 || e.BuiltIn == slices.Contains(exclude, e.Expr) {
			t.Errorf("exclusion %+v", e)
		}
	}
	if len(exclusions) != len(exclude)+5 {
		t.Errorf("%d exclusions: %+v", len(exclusions), exclusions)
	}
}

// A4: editing a clause of a real set of axes keeps every other situation's id.
func TestEditingAClauseKeepsOtherSituations(t *testing.T) {
	situations := func(edit string) map[string]bool {
		set := recipe(t, 6, nil)
		if edit != "" {
			rule := slices.IndexFunc(set.Axes, func(a axes.Axis) bool { return a.Name == record.AxisRule })
			set.Axes[rule].Values[2] = edit
		}
		m, _, err := cover.FromAxes(set, nil, 2)
		if err != nil {
			t.Fatal(err)
		}
		a, err := cover.Stable(context.Background(), m, record.AxisRule, cover.Options{})
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]bool{}
		for _, row := range a.Rows {
			point := m.Axes(row)
			out[record.SituationID(point, nil)] = strings.Contains(point[record.AxisRule], "number 2") || point[record.AxisRule] == edit
		}
		return out
	}
	before, after := situations(""), situations("Always keep rule two")
	kept := 0
	for id, touched := range before {
		_, still := after[id]
		if still == touched {
			t.Errorf("situation %s: touched %v, still there %v", id, touched, still)
		}
		if still {
			kept++
		}
	}
	if kept < 100 {
		t.Errorf("only %d situations kept", kept)
	}
}

func TestPolicyFree(t *testing.T) {
	m, _, err := cover.FromAxes(recipe(t, 0, nil), nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	joint, err := cover.Build(context.Background(), m, cover.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stable, err := cover.Stable(context.Background(), m, record.AxisRule, cover.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(joint.Rows, stable.Rows); diff != "" {
		t.Errorf("without a policy there is one block:\n%s", diff)
	}
	bare, err := axes.Build(nil, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err = cover.FromAxes(bare, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	a, err := cover.Build(context.Background(), m, cover.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range a.Rows {
		if p := m.Axes(row); p[record.AxisToolCondition] != record.ConditionSuccess {
			t.Errorf("no tool, yet one fails: %v", p)
		}
	}
}

// A built-in exclusion gives way to what the user names.
func TestBuiltInGivesWay(t *testing.T) {
	set := recipe(t, 2, map[string][]string{"tool": {"unrelated"}, "tool_condition": {"timeout"}, "stance": {"retry"}, "history": {"fresh"}})
	m, exclusions, err := cover.FromAxes(set, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range exclusions {
		if strings.Contains(e.Expr, "tool_condition") || strings.Contains(e.Expr, "retry") {
			t.Errorf("%q empties the grid that the user asked for", e.Expr)
		}
	}
	if m.Size() == 0 {
		t.Error("the grid is empty")
	}
}

func TestExcludeErrors(t *testing.T) {
	for _, c := range []struct {
		exclude []string
		says    []string
	}{
		{[]string{"stanc == 'hurried'"}, []string{`exclude[0] "stanc == 'hurried'"`, `column 1: unknown axis "stanc" (did you mean "stance"?)`, "the axes are tool, rule"}},
		{[]string{"tool == 'unrelated'", "stance == 'huried'"}, []string{"exclude[1]", `column 11: axis stance has no value "huried" (did you mean "hurried"?)`}},
		{[]string{"stance in ['ordinary', 'hasty']"}, []string{`axis stance has no value "hasty"`}},
		{[]string{"tool == "}, []string{"exclude[0]", "column"}},
		{[]string{""}, []string{"an empty expression"}},
		{[]string{"1 == 1"}, []string{"names no axis"}},
		{[]string{"len(stance)"}, []string{"expected bool"}},
		{[]string{"now() > now() and stance == 'hurried'"}, []string{"now"}},
		{[]string{"stance == 3"}, []string{"exclude[0]"}},
		{[]string{"tool != 'get_order'", "stance == 'hurried'", "tool == 'get_order'"},
			[]string{`exclude[0] "tool != 'get_order'" and exclude[2] "tool == 'get_order'"`, "no value of axis tool is left"}},
		{[]string{"stance in ['ordinary', 'ambiguous', 'boundary', 'adversarial', 'hurried', 'unsure', 'retry', 'mistaken', 'exploratory', 'conflicting']"},
			[]string{"exclude[0]", "no value of axis stance is left"}},
		{[]string{"stance == 'retry' and tool == 'get_order'", "history == 'fresh'", "stance != 'retry'", "tool != 'get_order'"},
			[]string{"exclude[0]", "exclude[2]", "exclude[3]", "contradict each other"}},
	} {
		_, _, err := cover.FromAxes(recipe(t, 2, nil), c.exclude, 2)
		for _, want := range c.says {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q\nsays %v\nwant %s", c.exclude, err, want)
			}
		}
	}
	_, _, err := cover.FromAxes(recipe(t, 2, nil), []string{"stance == 'retry' and tool == 'get_order'", "history == 'fresh'", "stance != 'retry'", "tool != 'get_order'"}, 2)
	if !errors.Is(err, cover.ErrUnsatisfiable) || strings.Contains(err.Error(), "exclude[1]") {
		t.Errorf("blames an exclusion that has no part in it: %v", err)
	}
}

// A value that the grid does not hold may be named: the exclusion then says
// nothing here, and says so by its count.
func TestExcludeMayNameWhatIsElsewhere(t *testing.T) {
	set := recipe(t, 20, map[string][]string{"stance": {"ordinary"}})
	_, exclusions, err := cover.FromAxes(set, []string{"stance == 'hurried'", "rule == 'Never break rule number 19'"}, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range exclusions[:2] {
		if e.Tuples != 0 {
			t.Errorf("%+v", e)
		}
	}
}

func TestStrengths(t *testing.T) {
	for strength := 0; strength <= 5; strength++ {
		m, _, err := cover.FromAxes(recipe(t, 2, nil), nil, strength)
		if ok := strength >= 2 && strength <= 4; ok != (err == nil) {
			t.Errorf("strength %d: %v", strength, err)
		} else if ok && m.Strength != strength {
			t.Errorf("strength %d became %d", strength, m.Strength)
		}
	}
}

func TestStableErrors(t *testing.T) {
	m, _, err := cover.FromAxes(recipe(t, 2, nil), nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cover.Stable(context.Background(), m, "colour", cover.Options{}); err == nil {
		t.Error("an axis that is not there passes")
	}
	if _, err := cover.Stable(context.Background(), m, "rule", cover.Options{Pinned: [][]int{{0, 0, 0, 0, 0, 0}}}); err == nil {
		t.Error("pinned rows pass")
	}
	if _, err := cover.Build(context.Background(), m, cover.Options{Pinned: [][]int{{0}}}); err == nil {
		t.Error("a pinned row of one value passes")
	}
}

func TestModelCheck(t *testing.T) {
	a, b := cover.Parameter{Name: "a", Values: []string{"x", "y"}}, cover.Parameter{Name: "b", Values: []string{"x"}}
	wide := cover.Parameter{Name: "w"}
	for i := range 8_000 {
		wide.Values = append(wide.Values, fmt.Sprint(i))
	}
	widest := cover.Parameter{Name: "u"}
	for i := range 20_000 {
		widest.Values = append(widest.Values, fmt.Sprint(i))
	}
	wider := wide
	wider.Name = "v"
	for says, m := range map[string]cover.Model{
		"strength 1":             {Parameters: []cover.Parameter{a}, Strength: 1},
		"at least one parameter": {Strength: 2},
		"has no value":           {Parameters: []cover.Parameter{{Name: "a"}}, Strength: 2},
		`named "a"`:              {Parameters: []cover.Parameter{a, a}, Strength: 2},
		`the value "x" twice`:    {Parameters: []cover.Parameter{{Name: "a", Values: []string{"x", "x"}}}, Strength: 2},
		"is not there":           {Parameters: []cover.Parameter{a, b}, Strength: 2, Forbidden: []cover.Tuple{{{Parameter: 1, Value: 1}}}},
		"in the order":           {Parameters: []cover.Parameter{a, b}, Strength: 2, Forbidden: []cover.Tuple{{{Parameter: 1}, {Parameter: 0}}}},
		"empty forbidden tuple":  {Parameters: []cover.Parameter{a, b}, Strength: 2, Forbidden: []cover.Tuple{{}}},
		"lower the strength":     {Parameters: []cover.Parameter{wide, wider, {Name: "more", Values: wide.Values[:300]}}, Strength: 3},
		"over all parameters":    {Parameters: []cover.Parameter{widest, a}, Strength: 2},
		"spare":                  {Parameters: []cover.Parameter{{Name: "spare", Values: []string{"x"}, Spare: 1}}, Strength: 2},
	} {
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("says %v, want %s", err, says)
		}
	}
}

// TestRealPolicy covers the policy of tau-bench's airline domain under the tools
// that its agents called.
func TestRealPolicy(t *testing.T) {
	folder := os.Getenv("ASSAY_CASES")
	if folder == "" {
		t.Skip("ASSAY_CASES is not set")
	}
	policy, err := os.ReadFile(filepath.Join(folder, "taubench_airline_system_prompt.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, name := range []string{"book_reservation", "cancel_reservation", "get_reservation_details", "get_user_details", "update_reservation_flights", "think"} {
		list = append(list, fmt.Sprintf(`{"name":%q,"parameters":{"type":"object","properties":{"reservation_id":{"type":"string"}}}}`, name))
	}
	tools, err := axes.LoadTools([]byte("[" + strings.Join(list, ",") + "]"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := axes.Build(tools, string(policy), nil)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := cover.FromAxes(set, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	for name, build := range map[string]func() (cover.Array, error){
		"joint": func() (cover.Array, error) { return cover.Build(context.Background(), m, cover.Options{}) },
		"stable": func() (cover.Array, error) {
			return cover.Stable(context.Background(), m, record.AxisRule, cover.Options{})
		},
	} {
		a, err := build()
		if err != nil {
			t.Fatal(err)
		}
		if a.Covered != a.Planned {
			t.Errorf("%s: %d of %d", name, a.Covered, a.Planned)
		}
		t.Logf("%s: %d rows, bound %d, %d pairs", name, len(a.Rows), a.LowerBound, a.Planned)
	}
}

// A tool may be named by anybody; the built-in exclusions speak of it still.
func TestOddToolNames(t *testing.T) {
	raw := `[{"name":"we\"ird'\\ \u0001\u202e\ud83d\ude00","parameters":{"type":"object","properties":{"query":{"type":"string"}}}},
		{"name":"get_order","parameters":{"type":"object","properties":{"order_id":{"type":"string"}}}}]`
	tools, err := axes.LoadTools([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	set, err := axes.Build(tools, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := cover.FromAxes(set, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	point := m.Point(record.Axes{"tool": tools[0].Name, "rule": "unspecified", "stance": "ordinary", "world_state": "missing", "tool_condition": "success", "history": "fresh"})
	if slices.Contains(point, -1) || m.Allows(point) {
		t.Errorf("point %v is allowed", point)
	}
}
