package cover

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"assay/engine/axes"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// Exclusion is one constraint: the points of which its expression is true are
// not in the grid.
type Exclusion struct {
	Expr    string `json:"expr"`
	Reason  string `json:"reason"`
	BuiltIn bool   `json:"built_in"`
	// Tuples is how many forbidden tuples it comes to; 0 is an exclusion that no
	// point meets.
	Tuples int `json:"tuples"`
}

// maxTruth bounds the truth table of one expression: the product of the sizes of
// the axes that it names.
const maxTruth = 1 << 20

// functions are what an exclusion may call beside the operators: nothing that
// knows the time or chance.
var functions = []string{"lower", "upper", "trim", "len", "hasPrefix", "hasSuffix", "any", "all", "none", "one"}

// compileExclusion turns an expression over the parameters' names into the
// smallest tuples that make it true. known are further values of a parameter
// that may be named without standing in the grid.
func compileExclusion(source string, parameters []Parameter, known map[string][]string) ([]Tuple, error) {
	if strings.TrimSpace(source) == "" {
		return nil, errors.New("an empty expression")
	}
	used, err := namesIn(source, parameters, known)
	if err != nil {
		return nil, err
	}
	env := make(map[string]any, len(parameters))
	for _, p := range parameters {
		env[p.Name] = p.Values[0]
	}
	options := []expr.Option{expr.Env(env), expr.AsBool(), expr.DisableAllBuiltins()}
	for _, f := range functions {
		options = append(options, expr.EnableBuiltin(f))
	}
	program, err := expr.Compile(source, options...)
	if err != nil {
		return nil, exprError(err)
	}
	return truthTuples(used, parameters, func(row []int) (bool, error) {
		return evaluate(program, env, used, parameters, row)
	})
}

func evaluate(program *vm.Program, env map[string]any, used []int, parameters []Parameter, row []int) (bool, error) {
	for i, p := range used {
		env[parameters[p].Name] = parameters[p].Values[row[i]]
	}
	out, err := expr.Run(program, env)
	if err != nil {
		return false, exprError(err)
	}
	hit, _ := out.(bool) // AsBool has checked
	return hit, nil
}

// exprError is an expression's error on one line, with its column.
func exprError(err error) error {
	var at *file.Error
	if errors.As(err, &at) {
		return fmt.Errorf("column %d: %s", at.Column+1, at.Message)
	}
	return err
}

// names gathers what an expression says of the parameters.
type names struct {
	parameters []Parameter
	known      map[string][]string
	used       []int
	err        error
}

func namesIn(source string, parameters []Parameter, known map[string][]string) ([]int, error) {
	tree, err := parser.Parse(source)
	if err != nil {
		return nil, exprError(err)
	}
	n := &names{parameters: parameters, known: known}
	ast.Walk(&tree.Node, n)
	if n.err != nil {
		return nil, n.err
	}
	if len(n.used) == 0 {
		return nil, errors.New("it names no axis, so it says nothing about a situation")
	}
	slices.Sort(n.used)
	return n.used, nil
}

// Visit implements ast.Visitor.
func (n *names) Visit(node *ast.Node) {
	switch x := (*node).(type) {
	case *ast.IdentifierNode:
		n.use(x.Value, x.Location())
	case *ast.BinaryNode:
		switch x.Operator {
		case "==", "!=", "in":
			n.compare(x.Left, x.Right)
			n.compare(x.Right, x.Left)
		}
	}
}

func (n *names) index(name string) int {
	return slices.IndexFunc(n.parameters, func(p Parameter) bool { return p.Name == name })
}

func (n *names) use(name string, at file.Location) {
	i := n.index(name)
	switch {
	case slices.Contains(functions, name) || slices.Contains(n.used, i):
	case i < 0:
		all := make([]string, len(n.parameters))
		for j, p := range n.parameters {
			all[j] = p.Name
		}
		n.fail("column %d: unknown axis %q%s; the axes are %s", at.From+1, name, axes.Suggest(name, all), strings.Join(all, ", "))
	default:
		n.used = append(n.used, i)
	}
}

// compare checks the texts that an axis is compared with: a misspelt value would
// exclude nothing and say nothing.
func (n *names) compare(axis, with ast.Node) {
	id, ok := axis.(*ast.IdentifierNode)
	if !ok {
		return
	}
	i := n.index(id.Value)
	if i < 0 {
		return
	}
	texts := []ast.Node{with}
	if list, ok := with.(*ast.ArrayNode); ok {
		texts = list.Nodes
	}
	values := slices.Clone(n.parameters[i].Values)
	for _, v := range n.known[id.Value] {
		if !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	for _, text := range texts {
		s, ok := text.(*ast.StringNode)
		if ok && !slices.Contains(values, s.Value) {
			n.fail("column %d: axis %s has no value %q%s; it takes %s", s.Location().From+1, id.Value, s.Value, axes.Suggest(s.Value, values), brief(values))
		}
	}
}

func (n *names) fail(format string, args ...any) {
	if n.err == nil {
		n.err = fmt.Errorf(format, args...)
	}
}

// brief lists values, the first few of many.
func brief(values []string) string {
	const shown = 12
	if len(values) > shown {
		return fmt.Sprintf("%s and %d more", strings.Join(values[:shown], ", "), len(values)-shown)
	}
	return strings.Join(values, ", ")
}

// truthTuples are the smallest tuples over the used parameters that make holds
// true whatever the others are: its prime implicants (Quine 1952).
func truthTuples(used []int, parameters []Parameter, holds func(row []int) (bool, error)) ([]Tuple, error) {
	t := truth{used: used, sizes: make([]int, len(used)), size: 1}
	for i, p := range used {
		t.sizes[i] = len(parameters[p].Values)
		if t.size *= t.sizes[i]; t.size > maxTruth {
			return nil, fmt.Errorf("it names %d axes with more than %d combinations; split it into smaller exclusions", len(used), maxTruth)
		}
	}
	t.hits = newBitset(t.size)
	row := make([]int, len(used))
	for i := range t.size {
		t.row(i, row)
		hit, err := holds(row)
		if err != nil {
			return nil, err
		}
		if hit {
			t.hits.set(i)
		}
	}
	return t.implicants(), nil
}

// truth is the truth table of an expression over some parameters.
type truth struct {
	used  []int // the parameters
	sizes []int // their numbers of values
	size  int   // the product of these
	hits  bitset
}

// row writes the values of the i-th combination.
func (t truth) row(i int, row []int) {
	for j := len(t.sizes) - 1; j >= 0; j-- {
		row[j] = i % t.sizes[j]
		i /= t.sizes[j]
	}
}

// implicants are the smallest tuples that are always true, the narrow ones first.
func (t truth) implicants() []Tuple {
	var out []Tuple
	row := make([]int, len(t.used))
	for width := 1; width <= len(t.used); width++ {
		for mask := range 1 << len(t.used) {
			if bits.OnesCount(uint(mask)) != width {
				continue
			}
			for _, i := range t.always(mask) {
				t.row(i, row)
				var tuple Tuple
				for j, p := range t.used {
					if mask>>j&1 == 1 {
						tuple = append(tuple, Literal{p, row[j]})
					}
				}
				if !slices.ContainsFunc(out, func(narrower Tuple) bool { return narrower.within(tuple) }) {
					out = append(out, tuple)
				}
			}
		}
	}
	return out
}

// always gives, for each assignment of the masked parameters that is true
// whatever the others are, one of its combinations.
func (t truth) always(mask int) []int {
	rest := 1 // combinations of the parameters that are not masked
	for j, n := range t.sizes {
		if mask>>j&1 == 0 {
			rest *= n
		}
	}
	trues := map[int]int{}
	row := make([]int, len(t.sizes))
	var out []int
	for i := t.hits.next(0); i >= 0; i = t.hits.next(i + 1) {
		t.row(i, row)
		assignment := 0
		for j, n := range t.sizes {
			if mask>>j&1 == 1 {
				assignment = assignment*n + row[j]
			}
		}
		if trues[assignment]++; trues[assignment] == rest {
			out = append(out, i)
		}
	}
	return out
}

// within reports whether every literal of t stands in other.
func (t Tuple) within(other Tuple) bool {
	for _, l := range t {
		if !slices.Contains(other, l) {
			return false
		}
	}
	return true
}
