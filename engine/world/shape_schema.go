package world

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
)

// schema reads a JSON Schema.
func (s *shaper) schema(v *value, name string, depth int) *shape {
	s.nodes++
	v = s.resolve(v)
	if v == nil || depth > maxShapeDepth || s.nodes > maxShapeNodes {
		return null()
	}
	switch {
	case v.at("const") != nil:
		return &shape{form: formFixed, fixed: rawOf(v.at("const")), given: true}
	case v.at("enum") != nil && len(v.at("enum").items) > 0:
		return s.named(name, &shape{form: formChoice, choices: v.at("enum").items, given: true})
	}
	switch typeOfSchema(v) {
	case "object":
		defer s.within(name)()
		return s.objectSchema(v, depth)
	case "array":
		defer s.within(name)()
		out := &shape{form: formList, least: v.whole("minItems", 0), most: v.whole("maxItems", -1), given: true}
		if items := v.at("items"); items != nil && items.kind == '{' {
			out.item = s.schema(items, singular(name), depth+1)
		} else {
			out.item = s.named(singular(name), &shape{form: formText, most: -1})
		}
		return out
	case "integer", "number":
		out := s.named(name, &shape{form: formNumber, number: numberSchema(v), given: true})
		out.number.inName(out.class)
		return out
	case "boolean":
		return s.named(name, &shape{form: formBool, given: true})
	case "null":
		return null()
	}
	return s.named(name, &shape{form: formText, given: true, least: v.whole("minLength", 0), most: v.whole("maxLength", -1),
		pattern: v.str("pattern"), format: v.str("format"), example: exampleText(v)})
}

// statuses are the usual states of what is being read: of its noun, else of what
// the tool's arguments refer to, so that all tools that show a thing agree.
func (s *shaper) statuses() []string {
	if list, ok := nounStatuses[s.noun]; ok {
		return list
	}
	for _, a := range s.tool.arguments {
		for _, noun := range a.subject {
			if list, ok := nounStatuses[noun]; ok && a.reference {
				return list
			}
		}
	}
	return anyStatuses
}

// resolve follows references and takes the first branch that is not null. nil is
// a schema that leads nowhere.
func (s *shaper) resolve(v *value) *value {
	for range maxShapeDepth {
		switch {
		case v == nil || v.kind != '{':
			return v
		case v.at("$ref") != nil:
			v = pointedValue(s.root, v.str("$ref"))
		case v.at("allOf") != nil:
			return s.merged(v)
		case firstBranch(v) != nil:
			v = firstBranch(v)
		default:
			return v
		}
	}
	return nil
}

func firstBranch(v *value) *value {
	for _, word := range []string{"anyOf", "oneOf"} {
		if list := v.at(word); list != nil {
			for _, branch := range list.items {
				if !slices.Equal(branch.types(), []string{"null"}) {
					return branch
				}
			}
		}
	}
	return nil
}

// merged is one schema with the members of all parts of an allOf; of two with
// one name the later counts, but properties add up.
func (s *shaper) merged(v *value) *value {
	s.nodes++
	if s.nodes > maxShapeNodes {
		return nil
	}
	out := &value{kind: '{'}
	parts := append([]*value{}, v.at("allOf").items...)
	rest := &value{kind: '{'}
	for _, m := range v.members {
		if m.name != "allOf" {
			rest.members = append(rest.members, m)
		}
	}
	for _, part := range append(parts, rest) {
		part = s.resolve(part)
		if part == nil {
			continue
		}
		for _, m := range part.members {
			if old := out.at(m.name); m.name == "properties" && old != nil {
				m.value = &value{kind: '{', members: append(slices.Clone(old.members), m.value.members...)}
			}
			out.members = slices.DeleteFunc(out.members, func(o member) bool { return o.name == m.name })
			out.members = append(out.members, m)
		}
	}
	return out
}

func typeOfSchema(v *value) string {
	for _, t := range v.types() {
		if t != "null" {
			return t
		}
	}
	switch {
	case len(v.types()) > 0:
		return "null"
	case v.at("properties") != nil:
		return "object"
	case v.at("items") != nil:
		return "array"
	}
	return "string"
}

func (s *shaper) objectSchema(v *value, depth int) *shape {
	out := &shape{form: formObject, given: true}
	properties := v.at("properties")
	if properties != nil {
		for _, m := range properties.members {
			out.fields = append(out.fields, s.field(m.name, s.schema(m.value, m.name, depth+1)))
		}
	}
	if required := v.at("required"); required != nil {
		for _, r := range required.items {
			if r.kind == '"' && !out.has(r.text) {
				out.fields = append(out.fields, s.field(r.text, s.named(r.text, &shape{form: formText, most: -1})))
			}
		}
	}
	out.own = s.ownField(out.fields)
	return out
}

func (s *shape) has(name string) bool {
	return slices.ContainsFunc(s.fields, func(f field) bool { return f.name == name })
}

func numberSchema(v *value) numberShape {
	n := numberShape{whole: typeOfSchema(v) == "integer", low: math.Inf(-1), high: math.Inf(1)}
	if f := v.num("minimum"); f != nil {
		n.low = *f
	}
	if f := v.num("maximum"); f != nil {
		n.high = *f
	}
	step := 0.01
	if n.whole {
		step = 1
	}
	if f := v.num("exclusiveMinimum"); f != nil {
		n.low = max(n.low, *f+step)
	}
	if f := v.num("exclusiveMaximum"); f != nil {
		n.high = min(n.high, *f-step)
	}
	if f := v.num("multipleOf"); f != nil && *f > 0 {
		n.multiple = *f
	}
	if !n.whole {
		n.decimals = 2
	}
	examples := v.at("examples")
	for _, e := range []*value{v.at("example"), examples.first(), v.at("default")} {
		if e != nil && e.kind == '0' {
			n.setExample(e.raw)
			break
		}
	}
	return n
}

// first is the first item of an array, nil for none.
func (v *value) first() *value {
	if v == nil || len(v.items) == 0 {
		return nil
	}
	return v.items[0]
}

// setExample makes the number move around the one that was written. A number in
// exponent form is kept as it is.
func (n *numberShape) setExample(raw json.RawMessage) {
	var f float64
	if json.Unmarshal(raw, &f) != nil || strings.ContainsAny(string(raw), "eE") {
		return
	}
	n.example = &f
	if _, decimals, ok := strings.Cut(string(raw), "."); ok {
		n.decimals = len(decimals)
	} else {
		n.whole = true
	}
}

func exampleText(v *value) *string {
	for _, e := range []*value{v.at("example"), v.at("examples").first(), v.at("default")} {
		if e != nil && e.kind == '"' {
			return &e.text
		}
	}
	return nil
}
