package grade

import (
	"context"
	"errors"
	"iter"
	"math"
	"strings"
	"testing"

	"assay/engine/record"
)

// valueOf compiles and runs one expression.
func valueOf(t *testing.T, source string, c Case) record.Marker {
	t.Helper()
	m, err := CompileMarker("m", source)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	e := newEvaluator()
	e.hold(traceOf(c), m.uses)
	return m.mark(e)
}

func TestMarkerExpressions(t *testing.T) {
	c := usual().at(record.Axes{"stance": "hurried", "tool": "cancel_order"})
	c.rollout.Usage = &record.Usage{InputTokens: 900, OutputTokens: 120}
	c.rollout.Key = record.Key{TaskID: "t1", EvalRun: 2, K: 3}
	tests := []struct {
		source string
		want   float64
	}{
		{"called('cancel_order')", 1},
		{"called('nothing')", 0},
		{"first('get_order')", 0},
		{"first('cancel_order')", 3},
		{"first('nothing') > 1e300", 1},
		{"first('get_order') < first('cancel_order')", 1},
		{"!called('cancel_order') || first('get_order') < first('cancel_order')", 1},
		{"count('get_order')", 1},
		{"count('nothing')", 0},
		{"args('cancel_order').order_id == 'ORD-4821'", 1},
		{"args('nothing').order_id == 'ORD-4821'", 0},
		{"result('refund_order').amount", 209.3},
		{"result('nothing').amount == nil", 1},
		{"result('get_order').items[0].quantity + 1", 2},
		{"said('rf-55012')", 1},
		{"said('no such thing')", 0},
		{"asked('GOLD customer')", 1},
		{"asked('go ahead')", 1},
		{"prompt contains 'yesterday' and final_text startsWith 'Done'", 1},
		{"len(steps)", 5},
		{"all(steps, .kind != 'tool' or !.is_error)", 1},
		{"len(filter(steps, .tool == 'cancel_order'))", 1},
		{"any(steps, .arguments?.order_id == 'ORD-4821')", 1},
		{"axes.stance == 'hurried'", 1},
		{"axes.nothing == ''", 1},
		{"usage.output_tokens", 120},
		{"rollout_index * 10 + eval_run", 32},
		{"finish_reason == 'stop' and ended_by == 'agent'", 1},
		{"task_id + '/' + situation_id == 't1/s1'", 1},
		{"min(3, 1, 2) + max(1.5, 2)", 3},
		{"called('cancel_order') ? 0.25 : nil", 0.25},
		{"final_text matches 'CX-[0-9]+'", 1},
		{"let n = len(final_text); n > 100 and n < 1000", 1},
	}
	for _, tt := range tests {
		m := valueOf(t, tt.source, c.Case())
		if m.Status != record.MarkerOK {
			t.Errorf("%s: %s (%s)", tt.source, m.Status, m.Note)
			continue
		}
		if *m.Value != tt.want {
			t.Errorf("%s = %v, want %v", tt.source, *m.Value, tt.want)
		}
	}
}

func TestMarkerThatDoesNotApply(t *testing.T) {
	m := valueOf(t, "called('delete_account') ? 1 : nil", usual().Case())
	if m.Status != record.MarkerNotApplicable || m.Value != nil {
		t.Errorf("status %s, value %v", m.Status, m.Value)
	}
}

func TestMarkerRuntimeErrors(t *testing.T) {
	for source, part := range map[string]string{
		"result('get_order').status > 3":             "column 28",
		"first('nothing')":                           "not finite",
		"1 - first('nothing')":                       "not finite",
		"0.0 / 0.0":                                  "not finite",
		"result('get_order').status":                 "a text",
		"result('get_order')":                        "an object",
		"steps[99].is_error":                         "out of range",
		"final_text matches prompt + '('":            "missing closing",
		"len(map(1..1000000, #))":                    "budget",
		"all(1..90000, all(steps, .kind != 'none'))": "over",
		"let a = final_text + final_text; let b = a+a+a+a+a+a+a+a; let c = b+b+b+b+b+b+b+b; let d = c+c+c+c+c+c+c+c; let e = d+d+d+d+d+d+d+d; len(e)": "grows over",
	} {
		m := valueOf(t, source, usual().Case())
		if m.Status != record.MarkerError || m.Value != nil {
			t.Errorf("%s: status %s, value %v", source, m.Status, m.Value)
			continue
		}
		if !strings.Contains(string(m.Note), part) {
			t.Errorf("%s: the note %q lacks %q", source, m.Note, part)
		}
	}
}

func TestMarkerCompileErrors(t *testing.T) {
	tests := []struct {
		source  string
		line    int
		column  int
		message string
		nearest string
	}{
		{"called('a') && frist('b') > 0", 1, 16, "unknown name frist", "first"},
		{"true and\n  final_txt == ''", 2, 3, "unknown name final_txt", "final_text"},
		{"called(", 1, 7, "unexpected", ""},
		{"called(5)", 1, 8, "cannot use", ""},
		{"all(steps, .tol == 'x')", 1, 13, "tol", ""},
		{"final_text", 0, 0, "this is a text", ""},
		{"steps", 0, 0, "this is a list", ""},
		{"called", 0, 0, "call it with ()", ""},
		{"now().Unix()", 1, 1, "unknown name now", ""},
		{"len(keys(axes))", 1, 5, "unknown name keys", ""},
		{"repeat('a', 1000000) == ''", 1, 1, "unknown name repeat", ""},
		{"$env == 1", 1, 1, "not part", ""},
		{"", 0, 0, "empty", ""},
		{"1" + strings.Repeat("+1", 600), 0, 0, "nodes", ""},
	}
	for _, tt := range tests {
		_, err := CompileMarker("safe", tt.source)
		var e *ExprError
		if !errors.As(err, &e) {
			t.Errorf("%s: error %v", tt.source, err)
			continue
		}
		if !strings.Contains(e.Message, tt.message) || !strings.Contains(err.Error(), "marker safe") {
			t.Errorf("%s: %v lacks %q", tt.source, err, tt.message)
		}
		if tt.line > 0 && (e.Line != tt.line || e.Column != tt.column) {
			t.Errorf("%s: line %d, column %d, want %d and %d (%s)", tt.source, e.Line, e.Column, tt.line, tt.column, e.Message)
		}
		if e.Nearest != tt.nearest {
			t.Errorf("%s: nearest %q, want %q", tt.source, e.Nearest, tt.nearest)
		}
	}
}

// Every name of the vocabulary compiles as it is listed.
func TestVocabularyIsTrue(t *testing.T) {
	for _, w := range Vocabulary() {
		name, rest, isCall := strings.Cut(w.Name, "(")
		source := name + " == nil"
		switch {
		case isCall && strings.HasPrefix(rest, "a,"):
			source = name + "(1, 2) == 1"
		case isCall:
			source = name + "('x') == nil"
		}
		if _, err := CompileMarker("m", source); err != nil && !strings.Contains(err.Error(), "mismatched") && !strings.Contains(err.Error(), "invalid operation") {
			t.Errorf("%s: %v", w.Name, err)
		}
	}
}

// What completes an expression begins with it, compiles with the rest of a call, and is
// offered only where a name may stand.
func TestCompleted(t *testing.T) {
	for source, want := range map[string]string{
		"fi":                        "first( final_text finish_reason",
		"called('a') && fi":         "called('a') && first( called('a') && final_text called('a') && finish_reason",
		"count":                     "count(",
		"called('fi":                "",
		`called("fi`:                "",
		"axes.fi":                   "",
		"frist":                     "",
		"called('a') ? 1 : rollout": "called('a') ? 1 : rollout_index",
	} {
		var got []string
		for _, w := range Completed(source) {
			got = append(got, w.Name)
			if w.Says == "" {
				t.Errorf("%s: %s says nothing", source, w.Name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s goes on as %q, want %q", source, got, want)
		}
	}
	if all := Completed(""); len(all) != len(Vocabulary()) {
		t.Errorf("an empty expression goes on in %d ways, want %d", len(all), len(Vocabulary()))
	}
}

// Results of one row never show in the next.
func TestEvaluatorForgets(t *testing.T) {
	m, err := CompileMarker("m", "result('get_order').total ?? -1")
	if err != nil {
		t.Fatal(err)
	}
	e := newEvaluator()
	for _, tt := range []struct {
		c    Case
		want float64
	}{{usual().Case(), 209.3}, {ask("hi").replies("hello").Case(), -1}, {usual().Case(), 209.3}} {
		e.hold(traceOf(tt.c), m.uses)
		if got := m.mark(e); got.Value == nil || *got.Value != tt.want {
			t.Errorf("value %v (%s), want %v", got.Value, got.Note, tt.want)
		}
		e.release()
	}
}

func casesOf(cases ...Case) iter.Seq2[Case, error] {
	return func(yield func(Case, error) bool) {
		for _, c := range cases {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func TestTry(t *testing.T) {
	lost := ask("x").Case()
	lost.Rollout.Status = record.StatusLost
	trial, err := Try("called('cancel_order') ? result('refund_order').amount / 100 : (called('get_order') ? nil : final_text * 2)",
		casesOf(usual().Case(), usual().Case(), ask("a").call("get_order", "{}", "{}").replies("b").Case(), ask("hi").replies("hello").Case(), lost))
	if err == nil {
		t.Fatal("a text times two compiles")
	}
	trial, err = Try("called('cancel_order') ? result('refund_order').amount / 100 : (called('get_order') ? nil : steps[0].is_error)",
		casesOf(usual().Case(), usual().Case(), ask("a").call("get_order", "{}", "{}").replies("b").Case(), ask("hi").replies("hello").Case(), lost))
	if err != nil {
		t.Fatal(err)
	}
	if trial.N != 4 || trial.OK != 2 || trial.NotApplicable != 1 || trial.Errors != 1 || trial.FirstError == "" {
		t.Errorf("counts %+v", trial)
	}
	if !trial.Constant || math.Abs(floatOf(t, trial.Mean)-2.093) > 1e-12 || len(trial.Values) != 1 || trial.Values[0].N != 2 {
		t.Errorf("values %+v", trial)
	}
	stop := errors.New("the store is gone")
	if _, err := Try("1", func(yield func(Case, error) bool) { yield(Case{}, stop) }); !errors.Is(err, stop) {
		t.Errorf("error %v", err)
	}
}

// Whatever is written as an expression: it compiles or it is refused, and what
// compiles ends, the same way twice.
func FuzzCompileMarker(f *testing.F) {
	for _, seed := range []string{"called('a')", "first('a') < first('b')", "all(steps, .tool == 'x')", "let a = final_text + prompt; len(a) > 3", "1..1000000 == nil",
		"sum(map(1..100, # * 2))", "result('x').y.z[0]", "called('x') ? 1 : nil", "steps[-1].is_error", "args('a')['b'] in ['c', 1, nil]", "\x00", "((((", "{'a': [1,{}]} == {}",
		"any(steps, any(steps, any(steps, .kind == 'x')))", "final_text matches '(a+)+$'", "2 ** 2 ** 2 ** 2 ** 2", "9223372036854775807 + 1", "1 % 0", "int('x')"} {
		f.Add(seed)
	}
	c := usual().Case()
	g := newEvaluator()
	tr := traceOf(c)
	f.Fuzz(func(t *testing.T, source string) {
		m, err := CompileMarker("m", source)
		if err != nil {
			var e *ExprError
			if !errors.As(err, &e) || e.Message == "" {
				t.Fatalf("error %v", err)
			}
			return
		}
		g.hold(tr, m.uses)
		first := m.mark(g)
		second := m.mark(g)
		if first.Status != second.Status || first.Note != second.Note || first.Value != nil && *first.Value != *second.Value {
			t.Fatalf("%v and then %v", first, second)
		}
		if first.Value != nil && (math.IsNaN(*first.Value) || math.IsInf(*first.Value, 0)) {
			t.Fatalf("the value is %v", *first.Value)
		}
		g.release()
	})
}

func TestGraderRefusesBadMarkers(t *testing.T) {
	for name, source := range map[string]string{"conduct": "true", "pass_at_1": "true", "no_secrets": "true", "missing_reported": "true", "": "true", "mine": "frist('x')"} {
		if _, err := New(Config{Markers: map[string]string{name: source}}); err == nil {
			t.Errorf("marker %q: %s is taken", name, source)
		}
	}
	g, err := New(Config{Markers: map[string]string{"b": "true", "a": "1", "c": "nil"}})
	if err != nil {
		t.Fatal(err)
	}
	_, markers := g.Grade(context.Background(), ask("hi").replies("hello").Case())
	var names []string
	for _, m := range markers[len(markers)-3:] {
		names = append(names, m.Name)
	}
	if strings.Join(names, " ") != "a b c" {
		t.Errorf("markers come as %v", names)
	}
}
