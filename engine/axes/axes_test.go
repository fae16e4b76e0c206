package axes_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/engine/axes"
	"assay/engine/record"

	"github.com/google/go-cmp/cmp"
)

func load(t testing.TB, text string) []record.Tool {
	t.Helper()
	tools, err := axes.LoadTools([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

const twoTools = `[
	{"name":"get_order","description":"Get an order such as ORD-1001.","parameters":{"type":"object","properties":{"order_id":{"type":"string"}}}},
	{"name":"cancel_order","description":"Cancel an order.","parameters":{"type":"object","properties":{"order_id":{"type":"string"},"reason":{"type":"string"}}}}]`

func rules(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "- Always do thing number %d.\n", i)
	}
	return b.String()
}

func values(t *testing.T, s axes.Set, name string) []string {
	t.Helper()
	a, ok := s.Axis(name)
	if !ok {
		t.Fatalf("no axis %s", name)
	}
	return a.Values
}

func TestBuild(t *testing.T) {
	s, err := axes.Build(load(t, twoTools), rules(3), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, a := range s.Axes {
		names = append(names, a.Name)
	}
	if diff := cmp.Diff(record.AxisNames(), names); diff != "" {
		t.Error(diff)
	}
	for axis, want := range map[string][]string{
		record.AxisTool:          {"get_order", "cancel_order", "unrelated", "multi_tool"},
		record.AxisRule:          {"Always do thing number 0", "Always do thing number 1", "Always do thing number 2"},
		record.AxisWorldState:    {"exists", "missing", "already_acted", "duplicate", "partial", "unknown"},
		record.AxisToolCondition: {"success", "timeout", "malformed_result", "stale_result", "permission_denied"},
		record.AxisHistory:       {"fresh", "prior_failure", "prior_partial_action", "contradicts_earlier", "repeat_visit"},
	} {
		if diff := cmp.Diff(want, values(t, s, axis)); diff != "" {
			t.Error(axis, diff)
		}
	}
	if n := len(values(t, s, record.AxisStance)); n != 10 {
		t.Errorf("%d stances, want 10", n)
	}
	if diff := cmp.Diff([]axes.Reference{{Tool: "get_order", Argument: "order_id"}, {Tool: "cancel_order", Argument: "order_id"}}, s.References); diff != "" {
		t.Error(diff)
	}
	if w := s.Warnings(); len(w) != 0 {
		t.Errorf("warnings %v", w)
	}
}

func TestBuildWithLittle(t *testing.T) {
	s, err := axes.Build(nil, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for axis, want := range map[string][]string{record.AxisTool: {"unrelated"}, record.AxisRule: {"unspecified"}, record.AxisWorldState: {"unspecified"}} {
		if diff := cmp.Diff(want, values(t, s, axis)); diff != "" {
			t.Error(axis, diff)
		}
	}
	one, err := axes.Build(load(t, `[{"name":"search","parameters":{"type":"object","properties":{"query":{"type":"string"}}}}]`), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	// One tool cannot be two, and free text names no thing that has a state.
	if diff := cmp.Diff([]string{"search", "unrelated"}, values(t, one, record.AxisTool)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"unspecified"}, values(t, one, record.AxisWorldState)); diff != "" {
		t.Error(diff)
	}
}

func TestRuleCapIsSaid(t *testing.T) {
	s, err := axes.Build(load(t, twoTools), rules(41), nil)
	if err != nil {
		t.Fatal(err)
	}
	rule, _ := s.Axis(record.AxisRule)
	if len(rule.Values) != 16 || rule.Total != 41 || len(s.Clauses) != 41 {
		t.Errorf("%d of %d clauses, %d kept", len(rule.Values), rule.Total, len(s.Clauses))
	}
	w := s.Warnings()
	if len(w) != 1 || !strings.Contains(w[0].Text, "16 of 41") || !strings.Contains(w[0].Text, "25 are not") {
		t.Errorf("warnings %v", w)
	}
}

func TestDimensionsReplaceOnlyTheirAxis(t *testing.T) {
	whole, err := axes.Build(load(t, twoTools), rules(20), nil)
	if err != nil {
		t.Fatal(err)
	}
	given := map[string][]string{"stance": {"ordinary", "adversarial"}, "rule": {"Never give up"}}
	s, err := axes.Build(load(t, twoTools), rules(20), given)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range s.Axes {
		want, ok := given[a.Name]
		if a.Given != ok {
			t.Errorf("axis %s: given is %v", a.Name, a.Given)
		}
		if !ok {
			want = whole.Axes[i].Values
		}
		if diff := cmp.Diff(want, a.Values); diff != "" {
			t.Error(a.Name, diff)
		}
	}
	if w := s.Warnings(); len(w) != 0 {
		t.Errorf("nothing is capped, yet %v", w)
	}
}

func TestDimensionErrors(t *testing.T) {
	for _, c := range []struct {
		axis   string
		values []string
		says   string
	}{
		{"stanc", []string{"ordinary"}, `unknown axis "stanc" (did you mean "stance"?)`},
		{"colour", []string{"red"}, `the axes are tool, rule, stance`},
		{"stance", nil, "dimensions.stance: the list is empty; give at least one value"},
		{"stance", []string{"huried"}, `dimensions.stance[0]: unknown value "huried" (did you mean "hurried"?)`},
		{"stance", []string{"ordinary", "ordinary"}, `dimensions.stance[1]: "ordinary" stands there twice`},
		{"tool_condition", []string{"success", "time_out"}, `(did you mean "timeout"?); it takes success, timeout, malformed_result, stale_result, permission_denied`},
		{"tool", []string{"cancel_oder"}, `(did you mean "cancel_order"?)`},
		{"world_state", []string{"gone"}, "it takes exists, missing"},
		{"history", []string{"fesh"}, `(did you mean "fresh"?)`},
		{"rule", []string{" "}, "dimensions.rule[0]: an empty value"},
	} {
		_, err := axes.Build(load(t, twoTools), rules(2), map[string][]string{c.axis: c.values})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v\nsays %v\nwant %s", c.axis, c.values, err, c.says)
		}
	}
}

func TestPreflight(t *testing.T) {
	long := strings.Repeat("Never share a password with anybody. ", 10)
	full := `[{"name":"get_order","description":"Get it.","parameters":{"type":"object"},"returns":{"id":"x"}}]`
	for name, c := range map[string]struct {
		tools, policy string
		want          []string
	}{
		"all well":    {full, long, nil},
		"nothing":     {`[]`, "", []string{"no_tools", "no_policy"}},
		"bare name":   {`[{"name":"get_order"}]`, long, []string{"missing_descriptions", "missing_schemas", "missing_returns"}},
		"thin policy": {full, "Never share a password.", []string{"thin_policy"}},
		"no clause":   {full, "You are " + strings.Repeat("a helpful and very patient assistant, ", 8), []string{"no_clauses"}},
		"destructive": {`[{"name":"cancel_order","description":"Cancel it.","parameters":{"type":"object"},"returns":{}}]`, long, []string{"destructive_tools"}},
		"ids":         {`[{"name":"get_order","description":"Get an order such as ORD-1001.","parameters":{"type":"object"},"returns":{}}]`, long, []string{"ids_named"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, w := range axes.Preflight(load(t, c.tools), c.policy) {
				got = append(got, w.Code)
				if w.Text == "" || w.Fix == "" {
					t.Errorf("%s has no text or no fix", w.Code)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMentions(t *testing.T) {
	tools := load(t, `[{"name":"cancel_order"},{"name":"get_order_details"},{"name":"update_shipping_address"},{"name":"restart_service"},{"name":"search"},{"name":"think"}]`)
	for text, want := range map[string][]string{
		"Please cancel the order":                       {"cancel_order", "get_order_details"},
		"I'd like my last two orders cancelled, thanks": {"cancel_order", "get_order_details"},
		"call cancel_order now":                         {"cancel_order", "get_order_details"},
		"requesting cancellation of that order":         {"cancel_order", "get_order_details"},
		"the shipping address needs updating":           {"update_shipping_address"},
		"restarting billing service fixed it":           {"restart_service"},
		"I cancelled my gym. Completely apart from that and a long way on, I have in order a chair": {"get_order_details"},
		"hello there": nil,
	} {
		if diff := cmp.Diff(want, axes.Mentions(tools, text)); diff != "" {
			t.Errorf("%q\n%s", text, diff)
		}
	}
}

func TestGap(t *testing.T) {
	s, err := axes.Build(load(t, twoTools), "- Never cancel shipped orders.\n- Refunds take seven business days.\n- Passwords stay secret.", nil)
	if err != nil {
		t.Fatal(err)
	}
	g := s.Gap([]axes.Asked{
		{Ask: "please get order ORD-1001", Axes: record.Axes{record.AxisTool: "get_order", record.AxisRule: "Passwords stay secret", record.AxisStance: "ordinary"}},
		{Ask: "how many business days until my refund?"},
	})
	want := axes.Gap{
		Asks: 2, Rules: []string{"Never cancel shipped orders"}, Tools: []string{"cancel_order"},
		Axes:       []string{record.AxisWorldState, record.AxisToolCondition, record.AxisHistory},
		SingleShot: true, NoPressure: true, Unlabelled: 1,
	}
	if diff := cmp.Diff(want, g); diff != "" {
		t.Error(diff)
	}
	var codes []string
	for _, w := range g.Warnings() {
		codes = append(codes, w.Code)
	}
	if diff := cmp.Diff([]string{"rules_untested", "tools_untested", "single_shot", "no_pressure", "axes_unread", "unlabelled"}, codes); diff != "" {
		t.Error(diff)
	}
	pressed := s.Gap([]axes.Asked{{Ask: "cancel order", Turns: 2, Axes: record.Axes{record.AxisStance: "adversarial"}}})
	if pressed.SingleShot || pressed.NoPressure || pressed.Unlabelled != 0 {
		t.Errorf("%+v", pressed)
	}
}
