package world

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// checker says whether arguments satisfy a tool's parameters. A schema of plain
// keywords is decided by its rule, any other by the library, and what a refusal
// says is the rule's. The zero checker takes everything.
type checker struct {
	plain    map[string]any // the schema as decoded, nil where there is none
	rule     *rule
	resolved *jsonschema.Resolved // nil where the rule decides
	// visits[d] bounds how often one node of arguments nested d deep is looked at.
	visits []float64
}

const (
	// maxArgumentDepth is the deepest nesting of arguments that is checked; deeper
	// ones are refused. Convention, untested: real arguments end at about five.
	maxArgumentDepth = 64
	// checkBudget bounds node visits times bytes of one check, as the library
	// has no limit of its own and a schema that refers to itself through several
	// branches doubles its work a level. At about 100 ns a visit of a 16-byte
	// node it is under half a second in the worst case.
	checkBudget = 1 << 26
)

// errUncheckable is why a schema is given up: its work has no useful bound.
var errUncheckable = errors.New("it refers to itself without going deeper into the arguments, or through too many branches")

// compileChecker reads a parameters schema. The error says why arguments can be
// checked by its plain keywords alone.
func compileChecker(raw []byte) (c checker, err error) {
	if len(raw) == 0 {
		return checker{}, nil
	}
	var decoded any
	if err := json.Unmarshal(raw, &decoded); err != nil {
		return checker{}, fmt.Errorf("it is not JSON: %w", err)
	}
	plain, ok := decoded.(map[string]any)
	if !ok {
		if b, isBool := decoded.(bool); isBool && b || decoded == nil {
			return checker{}, nil
		}
		return checker{}, errors.New("it is no JSON object")
	}
	c.plain, c.rule = plain, ruleOf(plain)
	switch {
	case c.rule.wrong != "":
		return c, errors.New(c.rule.wrong)
	case c.rule.whole:
		return c, nil
	}
	cost := costing{root: plain, memo: map[costKey]float64{}, open: map[costKey]bool{}}
	for depth := range maxArgumentDepth + 1 {
		v, err := cost.visits(plain, depth)
		if err != nil {
			return c, err
		}
		c.visits = append(c.visits, v)
		if v > checkBudget {
			break
		}
	}
	if len(c.visits) < 3 { // an object with one level of values is two deep
		return c, errUncheckable
	}
	c.resolved, err = resolveSchema(plain)
	return c, err
}

// resolveSchema compiles a schema with the library, whatever dialect it says it
// is in: tool schemas keep to the part that all drafts share.
func resolveSchema(plain map[string]any) (r *jsonschema.Resolved, err error) {
	defer func() {
		if p := recover(); p != nil {
			r, err = nil, fmt.Errorf("the schema library gave up: %v", p)
		}
	}()
	copied := make(map[string]any, len(plain))
	for k, v := range plain {
		if k != "$schema" && k != "$id" {
			copied[k] = v
		}
	}
	raw, err := json.Marshal(copied)
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
}

// check refuses arguments that do not satisfy the schema, in words. size is
// their length in bytes.
func (c *checker) check(args map[string]any, size int) *refusal {
	if c.plain == nil {
		return nil
	}
	depth := depthOf(args, 0)
	switch {
	case depth > maxArgumentDepth:
		return invalid(fmt.Sprintf("the arguments are nested more than %d deep", maxArgumentDepth), "send flatter arguments")
	case c.resolved == nil:
		return c.rule.check(args, nil)
	case depth >= len(c.visits) || c.visits[depth]*float64(size) > checkBudget:
		return invalid("the arguments are too large and too deeply nested", "send fewer and flatter arguments")
	case c.valid(args):
		return nil
	}
	if refused := c.rule.check(args, nil); refused != nil {
		return refused
	}
	return invalid("the arguments do not satisfy the tool's parameters", "compare them with the tool's schema")
}

func (c *checker) valid(args map[string]any) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = true // the library's fault is not the agent's
		}
	}()
	return c.resolved.Validate(args) == nil
}

// depthOf is how deep a decoded value is nested: 0 for a scalar. It stops one
// level past the limit.
func depthOf(v any, above int) int {
	if above > maxArgumentDepth {
		return 1
	}
	deepest := 0
	switch v := v.(type) {
	case map[string]any:
		for _, child := range v {
			deepest = max(deepest, depthOf(child, above+1))
		}
	case []any:
		for _, child := range v {
			deepest = max(deepest, depthOf(child, above+1))
		}
	default:
		return 0
	}
	return deepest + 1
}

// costing bounds how much work a schema makes. A schema is a graph: edges stay
// at the same value (allOf, $ref ...) or go down into it (properties, items ...).
// visits(s, d) is how often the nodes of a value d deep are looked at, at most,
// along the worst path down:
//
//	visits(s, d) = 1 + sum over in-place c of visits(c, d)
//	                 + sum over kinds of descent of max over their schemas of visits(c, d-1)
//
// Of the properties only one fits a node, so the largest counts; the kinds may
// all fit it, so they add up. A cycle of in-place edges has no bound.
type costing struct {
	root map[string]any
	memo map[costKey]float64
	open map[costKey]bool
}

type costKey struct {
	schema uintptr // of its map, which the schema keeps alive
	depth  int
}

func (c *costing) visits(schema any, depth int) (float64, error) {
	s, ok := schema.(map[string]any)
	if !ok {
		return 1, nil
	}
	key := costKey{reflect.ValueOf(s).Pointer(), depth}
	if v, ok := c.memo[key]; ok {
		return v, nil
	}
	if c.open[key] {
		return 0, errUncheckable
	}
	c.open[key] = true
	defer delete(c.open, key)
	total := 1.0
	for _, child := range c.inPlace(s) {
		if child == nil {
			return 0, errors.New("it refers to a schema that is not in it")
		}
		v, err := c.visits(child, depth)
		if err != nil {
			return 0, err
		}
		total += v
	}
	if depth > 0 {
		for _, kind := range descents(s) {
			largest := 0.0
			for _, child := range kind {
				v, err := c.visits(child, depth-1)
				if err != nil {
					return 0, err
				}
				largest = max(largest, v)
			}
			total += largest
		}
	}
	total = min(total, math.MaxFloat64/4)
	c.memo[key] = total
	return total, nil
}

// inPlace lists the schemas that look at the same value; a reference that leads
// nowhere is nil.
func (c *costing) inPlace(s map[string]any) []any {
	var out []any
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		if list, ok := s[word].([]any); ok {
			out = append(out, list...)
		}
	}
	for _, word := range []string{"not", "if", "then", "else"} {
		if child, ok := s[word]; ok {
			out = append(out, child)
		}
	}
	for _, word := range []string{"dependentSchemas", "dependencies"} {
		if byName, ok := s[word].(map[string]any); ok {
			for _, child := range byName {
				out = append(out, child)
			}
		}
	}
	if ref, ok := s["$ref"].(string); ok {
		out = append(out, pointed(c.root, ref))
	}
	for _, word := range []string{"$dynamicRef", "$recursiveRef"} {
		if _, ok := s[word]; ok {
			out = append(out, nil) // what it means depends on the path; no tool needs it
		}
	}
	return out
}

// descents lists the schemas that look at parts of the value, by kind.
func descents(s map[string]any) [][]any {
	var out [][]any
	for _, word := range []string{"properties", "patternProperties"} {
		if byName, ok := s[word].(map[string]any); ok {
			var kind []any
			for _, child := range byName {
				kind = append(kind, child)
				if word == "patternProperties" { // several patterns may fit one name
					out, kind = append(out, kind), nil
				}
			}
			out = append(out, kind)
		}
	}
	for _, word := range []string{"additionalProperties", "propertyNames", "unevaluatedProperties", "items", "additionalItems", "contains", "unevaluatedItems"} {
		switch child := s[word].(type) {
		case map[string]any:
			out = append(out, []any{child})
		case []any:
			out = append(out, child)
		}
	}
	if list, ok := s["prefixItems"].([]any); ok {
		out = append(out, list)
	}
	return out
}

// pointed is the schema at a reference of the form "#" or "#/a/b", nil where
// there is none.
func pointed(root map[string]any, ref string) any {
	if ref == "#" {
		return root
	}
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	var at any = root
	for part := range strings.SplitSeq(path, "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch node := at.(type) {
		case map[string]any:
			at = node[part]
		case []any:
			i, ok := indexOf(part, len(node))
			if !ok {
				return nil
			}
			at = node[i]
		default:
			return nil
		}
	}
	return at
}

func indexOf(digits string, n int) (int, bool) {
	i := 0
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' || i > n {
			return 0, false
		}
		i = i*10 + int(c-'0')
	}
	return i, digits != "" && i < n
}
