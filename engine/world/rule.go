package world

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// rule is a schema's plain keywords, compiled: the ones that tool schemas are
// made of. It says in words what is wrong with a value and what would be right;
// values are named by their place, never repeated. Where the schema has no other
// keywords the rule is whole, and decides without the library, which is some ten
// times slower.
type rule struct {
	whole      bool // the keywords of this schema and of those below it are all here
	types      []string
	choices    []any // an enum of scalars
	properties []property
	names      []string // of the properties
	required   []string
	closed     bool // no other properties
	items      *rule
	leastItems int
	mostItems  int // -1 is no limit
	leastRunes int
	mostRunes  int // -1 is no limit
	pattern    *regexp.Regexp
	bounds     []bound
	about      string // the description
	wrong      string // what makes the schema none, which the library lets pass
}

type property struct {
	name string
	rule *rule
}

type bound struct {
	broken func(v, limit float64) bool
	limit  float64
	hint   string
}

// plainKeywords do not decide anything, or are compiled into rules.
var plainKeywords = wordSet(`$schema $id $comment $defs definitions title description default examples example deprecated readOnly writeOnly format
	type enum properties required additionalProperties items minItems maxItems minLength maxLength pattern minimum maximum exclusiveMinimum
	exclusiveMaximum multipleOf`)

// ruleOf compiles a decoded schema. It never follows a reference, so it ends on
// every schema.
func ruleOf(schema any) *rule {
	s, ok := schema.(map[string]any)
	if !ok {
		return &rule{whole: schema == true || schema == nil, mostItems: -1, mostRunes: -1}
	}
	r := &rule{whole: wellTyped(s), required: wordsOf(s["required"]), closed: s["additionalProperties"] == false && s["patternProperties"] == nil,
		leastItems: wholeOf(s["minItems"], 0), mostItems: wholeOf(s["maxItems"], -1), leastRunes: wholeOf(s["minLength"], 0), mostRunes: wholeOf(s["maxLength"], -1)}
	r.about, _ = s["description"].(string)
	for _, t := range wordsOf(s["type"]) {
		if slices.Contains(schemaTypes, t) {
			r.types = append(r.types, t)
		} else {
			r.whole, r.wrong = false, fmt.Sprintf("type %q is none of %s", t, strings.Join(schemaTypes, ", "))
		}
	}
	if list, ok := s["enum"].([]any); ok {
		r.choices = list
		r.whole = r.whole && !slices.ContainsFunc(list, isCompound) && len(list) > 0
	}
	r.compileProperties(s)
	if items, ok := s["items"]; ok {
		r.items = ruleOf(items)
		_, tuple := items.([]any)
		r.take(r.items)
		r.whole = r.whole && !tuple
	}
	if pattern, ok := s["pattern"].(string); ok {
		re, err := regexp.Compile(pattern)
		r.pattern, r.whole = re, r.whole && err == nil
	}
	r.compileBounds(s)
	return r
}

// take makes a rule answer for one below it.
func (r *rule) take(below *rule) {
	r.whole = r.whole && below.whole
	if r.wrong == "" {
		r.wrong = below.wrong
	}
}

// wellTyped reports whether all keywords are plain ones that hold what they
// should; where they do not, the library says what is wrong with the schema.
func wellTyped(s map[string]any) bool {
	for word, v := range s {
		ok := plainKeywords[word]
		switch word {
		case "minItems", "maxItems", "minLength", "maxLength":
			f, number := v.(float64)
			ok = number && f == math.Trunc(f) && f >= 0
		case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
			_, ok = v.(float64)
		case "multipleOf":
			f, number := v.(float64)
			ok = number && f > 0
		case "required", "enum":
			_, ok = v.([]any)
		case "properties":
			_, ok = v.(map[string]any)
		case "pattern", "description", "title", "format", "$comment":
			_, ok = v.(string)
		}
		if !ok {
			return false
		}
	}
	return true
}

func (r *rule) compileProperties(s map[string]any) {
	properties, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		p := property{name, ruleOf(properties[name])}
		r.take(p.rule)
		r.properties = append(r.properties, p)
		r.names = append(r.names, name)
	}
	if extra, ok := s["additionalProperties"]; ok {
		_, plain := extra.(bool)
		r.whole = r.whole && plain
	}
}

func (r *rule) compileBounds(s map[string]any) {
	for _, b := range []struct {
		word   string
		broken func(v, limit float64) bool
		hint   string
	}{
		{"minimum", func(v, limit float64) bool { return v < limit }, "use %g or more"},
		{"maximum", func(v, limit float64) bool { return v > limit }, "use %g or less"},
		{"exclusiveMinimum", func(v, limit float64) bool { return v <= limit }, "use more than %g"},
		{"exclusiveMaximum", func(v, limit float64) bool { return v >= limit }, "use less than %g"},
		{"multipleOf", notMultiple, "use a multiple of %g"},
	} {
		if limit, ok := s[b.word].(float64); ok {
			r.bounds = append(r.bounds, bound{b.broken, limit, fmt.Sprintf(b.hint, limit)})
		}
	}
}

// notMultiple divides as the library does, so that both agree on 0.3 and 0.1.
func notMultiple(v, step float64) bool {
	_, fraction := math.Modf(v / step)
	return fraction != 0
}

func wordsOf(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, w := range v {
			if w, ok := w.(string); ok {
				out = append(out, w)
			}
		}
		return out
	}
	return nil
}

func wholeOf(v any, none int) int {
	if f, ok := v.(float64); ok && f >= 0 && f < 1<<31 {
		return int(f)
	}
	return none
}

func isCompound(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// at is where in the arguments a value stands; it is written out only when
// something is wrong there.
type at struct {
	above *at
	name  string
	index int
}

func (p *at) String() string {
	if p == nil {
		return "the arguments object"
	}
	return fmt.Sprintf("argument %q", p.path())
}

func (p *at) path() string {
	own := p.name
	if own == "" {
		own = fmt.Sprintf("[%d]", p.index)
	}
	switch {
	case p.above == nil:
		return own
	case p.name == "":
		return p.above.path() + own
	}
	return p.above.path() + "." + own
}

// check finds the first thing that is wrong; nil is nothing.
func (r *rule) check(v any, p *at) *refusal {
	if len(r.types) > 0 && !r.takes(v) {
		return invalid(fmt.Sprintf("%v is of type %s", p, typeOf(v)), "it must be of type "+strings.Join(r.types, " or "))
	}
	if r.choices != nil && !r.offers(v) {
		return invalid(fmt.Sprintf("%v is none of the allowed values", p), "use one of "+listed(r.choices))
	}
	switch v := v.(type) {
	case map[string]any:
		return r.checkObject(v, p)
	case []any:
		return r.checkArray(v, p)
	case string:
		return r.checkText(v, p)
	case float64:
		for i := range r.bounds {
			if b := &r.bounds[i]; b.broken(v, b.limit) {
				return invalid(fmt.Sprintf("%v is out of range", p), b.hint)
			}
		}
	}
	return nil
}

// offers reports whether an enum may have the value: compound ones are for the
// library to compare.
func (r *rule) offers(v any) bool {
	return slices.ContainsFunc(r.choices, func(c any) bool {
		if isCompound(c) || isCompound(v) {
			return isCompound(c) && isCompound(v)
		}
		return c == v
	})
}

func (r *rule) takes(v any) bool {
	got := typeOf(v)
	return slices.Contains(r.types, got) || got == "integer" && slices.Contains(r.types, "number")
}

// typeOf is the JSON Schema type of a decoded value.
func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

func (r *rule) checkObject(v map[string]any, p *at) *refusal {
	for _, name := range r.required {
		if _, ok := v[name]; !ok {
			return invalid(fmt.Sprintf("%v is missing", &at{above: p, name: name}), r.hintFor(name))
		}
	}
	known := 0
	for i := range r.properties {
		child, ok := v[r.properties[i].name]
		if !ok {
			continue
		}
		known++
		if refused := r.properties[i].rule.check(child, &at{above: p, name: r.properties[i].name}); refused != nil {
			return refused
		}
	}
	if r.closed && known < len(v) {
		return r.unknown(v)
	}
	return nil
}

// hintFor says what a missing property is.
func (r *rule) hintFor(name string) string {
	for _, p := range r.properties {
		if p.name == name && p.rule.about != "" {
			return "add it: " + shorten(p.rule.about)
		}
	}
	return "add it"
}

// unknown refuses a property that the schema does not have.
func (r *rule) unknown(v map[string]any) *refusal {
	hint := "it takes no arguments"
	if len(r.names) > 0 {
		hint = "it takes " + shorten(strings.Join(r.names, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if near := nearest(name, r.names); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
			break
		}
	}
	return invalid("there is an argument that the tool does not take", hint)
}

func (r *rule) checkArray(v []any, p *at) *refusal {
	switch {
	case len(v) < r.leastItems:
		return invalid(fmt.Sprintf("%v has %d items", p, len(v)), fmt.Sprintf("give at least %d", r.leastItems))
	case r.mostItems >= 0 && len(v) > r.mostItems:
		return invalid(fmt.Sprintf("%v has %d items", p, len(v)), fmt.Sprintf("give at most %d", r.mostItems))
	case r.items == nil:
		return nil
	}
	for i, item := range v {
		if refused := r.items.check(item, &at{above: p, index: i}); refused != nil {
			return refused
		}
	}
	return nil
}

func (r *rule) checkText(v string, p *at) *refusal {
	if r.leastRunes > 0 || r.mostRunes >= 0 {
		n := utf8.RuneCountInString(v)
		switch {
		case n < r.leastRunes:
			return invalid(fmt.Sprintf("%v is too short", p), fmt.Sprintf("use at least %d characters", r.leastRunes))
		case r.mostRunes >= 0 && n > r.mostRunes:
			return invalid(fmt.Sprintf("%v is too long", p), fmt.Sprintf("use at most %d characters", r.mostRunes))
		}
	}
	if r.pattern != nil && !r.pattern.MatchString(v) {
		return invalid(fmt.Sprintf("%v does not have the required form", p), "it must match "+shorten(r.pattern.String()))
	}
	return nil
}

// listed writes the first of the allowed values.
func listed(choices []any) string {
	const most = 12
	var b strings.Builder
	for i, c := range choices {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(choices)-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(shorten(fmt.Sprint(c)))
	}
	return b.String()
}

// shorten keeps a message readable: at most 120 bytes, cut at a rune.
func shorten(s string) string {
	const most = 120
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "..."
}
