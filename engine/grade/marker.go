package grade

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"
	"github.com/expr-lang/expr/vm/runtime"

	"assay/engine/record"
)

// An expression is the user's own, but it reads what agents and tools wrote, and
// a slip of the pen must not stop a run. These bounds hold one evaluation to
// milliseconds on a usual transcript.
const (
	maxExprNodes  = 500     // a page of text
	maxExprLets   = 16      // each may double what the last one holds
	maxTicks      = 100_000 // turns of all loops together
	maxExprMemory = 100_000 // elements of lists that it makes, in the library's units
	maxExprText   = 1 << 20 // bytes of a text that it puts together
)

// Marker is a compiled expression over the row.
type Marker struct {
	Name    string
	Expr    string
	program *vm.Program
	uses    map[string]bool // names of row fields that it reads
}

// ExprError is an expression that does not compile. Line and Column count from 1,
// the column in characters.
type ExprError struct {
	Marker       string
	Line, Column int
	Message      string
	Nearest      string // a known name, where the message is about an unknown one
}

// Error is "marker NAME, line 1, column 8: MESSAGE; do you mean X?".
func (e *ExprError) Error() string {
	where := fmt.Sprintf("marker %s", e.Marker)
	if e.Line > 0 {
		where += fmt.Sprintf(", line %d, column %d", e.Line, e.Column)
	}
	if e.Nearest != "" {
		return fmt.Sprintf("%s: %s; do you mean %s?", where, e.Message, e.Nearest)
	}
	return where + ": " + e.Message
}

// CompileMarker compiles an expression under a marker's name. The error is an
// [*ExprError].
//
// An expression gives a finite number, true or false (1 or 0), or nil where it
// does not apply. What it may use is listed by [Vocabulary]; of the expression
// language's own functions those are left that are deterministic and bounded.
func CompileMarker(name, source string) (*Marker, error) {
	if strings.TrimSpace(source) == "" {
		return nil, &ExprError{Marker: name, Message: "the expression is empty"}
	}
	g := &guard{uses: map[string]bool{}}
	options := []expr.Option{expr.Env(typesOfRow()), expr.Patch(g), expr.MaxNodes(maxExprNodes), expr.AsAny()}
	for _, b := range builtin.Builtins {
		if !allowedBuiltins[b.Name] {
			options = append(options, expr.DisableBuiltin(b.Name))
		}
	}
	program, err := compile(source, options)
	if err != nil {
		return nil, exprError(name, err)
	}
	if g.refused != "" {
		return nil, &ExprError{Marker: name, Line: 1, Column: g.column, Message: g.refused}
	}
	if g.lets > maxExprLets {
		return nil, &ExprError{Marker: name, Message: fmt.Sprintf("it has %d variables and may have %d", g.lets, maxExprLets)}
	}
	if t := program.Node().Type(); t != nil && !givesValue(t) {
		return nil, &ExprError{Marker: name, Message: fmt.Sprintf("a marker is a number, true, false or nil, and this is %s", kindInWords(t))}
	}
	return &Marker{Name: name, Expr: source, program: program, uses: g.uses}, nil
}

// compile keeps a panic of the expression compiler on hostile input an error.
func compile(source string, options []expr.Option) (program *vm.Program, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it cannot be compiled: %v", r)
		}
	}()
	return expr.Compile(source, options...)
}

// allowedBuiltins leaves out clocks (now), map order (keys, values, toPairs) and
// what can grow without bound (repeat, replace, join, concat, reduce ...).
var allowedBuiltins = map[string]bool{
	"all": true, "none": true, "any": true, "one": true, "filter": true, "map": true, "find": true, "findIndex": true, "findLast": true, "findLastIndex": true,
	"sum": true, "len": true, "abs": true, "ceil": true, "floor": true, "round": true, "int": true, "float": true,
	"lower": true, "upper": true, "trim": true, "trimPrefix": true, "trimSuffix": true, "split": true, "indexOf": true, "lastIndexOf": true, "hasPrefix": true, "hasSuffix": true,
}

// guard walks the tree before it is compiled: it notes which fields are read,
// puts a tick into every loop and a bound on every joining of texts.
type guard struct {
	uses    map[string]bool
	lets    int
	refused string
	column  int
}

// Names that the guard puts into a tree. They are in the environment and in no
// list.
const (
	tickName = "__tick"
	addName  = "__add"
	// decodedSteps is no name of an expression: it notes that the steps' arguments or
	// results are read, which costs more than all the rest.
	decodedSteps = "steps[].result"
)

// Visit is called for each node, children first.
func (g *guard) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if strings.HasPrefix(n.Value, "$") {
			g.refused = n.Value + " is not part of a marker's language"
			g.column = n.Location().From + 1
			return
		}
		g.uses[n.Value] = true
	case *ast.StringNode:
		if n.Value == "arguments" || n.Value == "result" {
			g.uses[decodedSteps] = true
		}
	case *ast.VariableDeclaratorNode:
		g.lets++
	case *ast.PredicateNode:
		tick := &ast.CallNode{Callee: &ast.IdentifierNode{Value: tickName}}
		tick.SetLocation(n.Location())
		n.Node = &ast.SequenceNode{Nodes: []ast.Node{tick, n.Node}}
	case *ast.BinaryNode:
		if isCompound(n.Left.Type()) || isCompound(n.Right.Type()) {
			g.uses[decodedSteps] = true // whole steps are compared
		}
		if n.Operator == "+" && !(isNumber(n.Left.Type()) && isNumber(n.Right.Type())) {
			ast.Patch(node, &ast.CallNode{Callee: &ast.IdentifierNode{Value: addName}, Arguments: []ast.Node{n.Left, n.Right}})
		}
	}
}

// isCompound reports types that hold a step, or may.
func isCompound(t reflect.Type) bool {
	if t == nil {
		return true
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Pointer, reflect.Map:
		return true
	}
	return false
}

func isNumber(t reflect.Type) bool {
	return t != nil && t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64
}

func givesValue(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.Interface:
		return true
	}
	return isNumber(t)
}

func kindInWords(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct, reflect.Pointer:
		return "an object"
	case reflect.Func:
		return "a function: call it with ()"
	}
	return t.String()
}

func exprError(name string, err error) error {
	var f *file.Error
	if !errors.As(err, &f) {
		return &ExprError{Marker: name, Message: err.Error()}
	}
	e := &ExprError{Marker: name, Line: f.Line, Column: f.Column + 1, Message: f.Message}
	if unknown, found := strings.CutPrefix(f.Message, "unknown name "); found {
		e.Nearest = nearestName(unknown)
	}
	return e
}

// nearestName is the known name that a misspelt one is meant to be, "" where none is
// near. A function of the expression language that markers may not use is not misspelt.
func nearestName(unknown string) string {
	if _, ofTheLanguage := builtin.Index[unknown]; ofTheLanguage {
		return ""
	}
	var known []string
	for _, w := range Vocabulary() {
		known = append(known, w.Written())
	}
	return record.Nearest(unknown, known)
}

// run evaluates a marker on the row that e holds. ok is false where it does not
// apply.
func (m *Marker) run(e *evaluator) (value float64, ok bool, err error) {
	e.ticks = 0
	out, err := e.vm.Run(m.program, e.env)
	if err != nil {
		var f *file.Error
		if errors.As(err, &f) {
			return 0, false, fmt.Errorf("column %d: %s", f.Column+1, f.Message)
		}
		return 0, false, err
	}
	switch v := out.(type) {
	case nil:
		return 0, false, nil
	case bool:
		if v {
			return 1, true, nil
		}
		return 0, true, nil
	case int:
		return float64(v), true, nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, false, fmt.Errorf("%w: it is %v", errNotFinite, v)
		}
		return v, true, nil
	}
	if r := reflect.ValueOf(out); isNumber(r.Type()) {
		return r.Convert(reflect.TypeFor[float64]()).Float(), true, nil
	}
	return 0, false, fmt.Errorf("it gave %s, and a marker is a number, true, false or nil", kindInWords(reflect.TypeOf(out)))
}

// errNotFinite marks values that are numbers and cannot be counted.
var errNotFinite = errors.New("the value is not finite")

// joined is + where one side may be a text.
func joined(a, b any) any {
	s, isText := a.(string)
	t, both := b.(string)
	if !isText || !both {
		return runtime.Add(a, b)
	}
	if len(s)+len(t) > maxExprText {
		panic(fmt.Sprintf("the text grows over %d bytes", maxExprText))
	}
	return s + t
}

// smallest and largest take numbers, not lists of lists.
func smallest(first float64, rest ...float64) float64 {
	return slices.Min(append([]float64{first}, rest...))
}
func largest(first float64, rest ...float64) float64 {
	return slices.Max(append([]float64{first}, rest...))
}
