package world

import (
	"encoding/json"
	"math"
	"slices"

	"assay/engine/record"
)

// shape is what a result, or a part of one, looks like: read once from a JSON
// Schema, an example, or a tool's name, and then drawn from for every answer.
type shape struct {
	form    form
	fields  []field         // of an object
	item    *shape          // of a list
	tuple   []*shape        // of an example's list: its items, one by one
	own     int             // of an object: the field that is its own id, -1 for none
	least   int             // items of a list, or characters of a text
	most    int             // the same; -1 is no limit
	choices []*value        // an enum's members
	fixed   json.RawMessage // what is always the same
	number  numberShape
	class   class // what kind of text, or number, its name speaks of
	pattern string
	format  string
	example *string  // the text of an example
	idName  string   // of an id: what it is an id of
	listed  []string // the words of a text that its name calls for
	shared  uint64   // the draw that fields of one person, or of one place, have in common; 0 for none
	given   bool     // by the user: its members are kept to
}

type form int

const (
	formObject form = iota
	formList
	formText
	formNumber
	formBool
	formFixed
	formChoice
)

type field struct {
	name  string
	key   []byte // the name as JSON, with its colon
	hash  uint64
	shape *shape
	// locator is the index of the tool's argument whose value is this field's, -1
	// where the field is none.
	locator int
	exact   bool // the argument has the field's very name
}

// numberShape bounds a number. An example's number moves around its value.
type numberShape struct {
	whole    bool
	low      float64
	high     float64
	multiple float64
	example  *float64
	decimals int
}

// Bounds on reading a shape: cycles end, and a result stays readable. Beyond
// them a part is null. Convention, untested.
const (
	maxShapeDepth = 8
	maxShapeNodes = 400
)

type shaper struct {
	tool  *tool
	noun  string // what the record that is being read is of
	root  *value
	nodes int
}

// within reads the parts of a member: they are of what the member's name says.
func (s *shaper) within(name string) (leave func()) {
	outer := s.noun
	if last := lastWord(record.NameWords(name)); last != "" {
		s.noun = singular(last)
	}
	return func() { s.noun = outer }
}

// named gives a shape the class that its name speaks of.
func (s *shaper) named(name string, of *shape) *shape {
	of.class = classOf(name, s.noun)
	words := record.NameWords(name)
	alone := len(words) == 1
	switch of.class {
	case classStatus:
		of.listed = s.statuses()
	case classListed:
		of.listed = listedWords[lastWord(words)]
	case classFirstName, classLastName:
		of.shared = hashPerson
	case classPerson, classEmail:
		if alone && (words[0] == "name" || words[0] == "email") || words[0] == "full" {
			of.shared = hashPerson
		}
	case classCity, classCountry:
		if alone && (words[0] == "city" || words[0] == "country") {
			of.shared = hashPlace
		}
	}
	return of
}

// shapeOf is the shape of a tool's results. The error says why Returns could
// not be used; the shape is then that of the name.
func shapeOf(t *record.Tool, out *tool) (*shape, error) {
	s := shaper{tool: out, noun: out.noun}
	if len(t.Returns) > 0 {
		v, err := parseValue(t.Returns)
		switch {
		case err != nil:
			return s.byName(t), err
		case v.kind == 'n':
		case isSchema(v):
			s.root = v
			return s.schema(v, "", 0), nil
		default:
			return s.example(v, "", 0), nil
		}
	}
	return s.byName(t), nil
}

// isSchema tells a schema from an example: it has a type that is a schema's word
// for one, or a keyword that only schemas have.
func isSchema(v *value) bool {
	if v.kind != '{' {
		return false
	}
	types := v.types()
	for _, t := range types {
		if !slices.Contains(schemaTypes, t) {
			return false
		}
	}
	if len(types) > 0 {
		return true
	}
	for _, word := range []string{"$ref", "anyOf", "oneOf", "allOf", "$defs"} {
		if m := v.at(word); m != nil && m.kind != '0' {
			return true
		}
	}
	if (v.at("enum").first() != nil || v.at("const") != nil) && onlySchemaWords(v) {
		return true
	}
	p := v.at("properties")
	return p != nil && p.kind == '{' && allObjects(p)
}

func onlySchemaWords(v *value) bool {
	return !slices.ContainsFunc(v.members, func(m member) bool { return !schemaWords[m.name] })
}

func allObjects(v *value) bool {
	for _, m := range v.members {
		if m.value.kind != '{' {
			return false
		}
	}
	return len(v.members) > 0
}

// null is the shape of a part that is left out. A new one each time: shapes are
// written to while they are put together.
func null() *shape { return &shape{form: formFixed, fixed: json.RawMessage("null"), given: true} }

// example reads a result as an example of its kind: members, texts and switches
// stay, numbers move, ids and statuses follow the world.
func (s *shaper) example(v *value, name string, depth int) *shape {
	s.nodes++
	if depth > maxShapeDepth || s.nodes > maxShapeNodes {
		return null()
	}
	switch v.kind {
	case '{':
		defer s.within(name)()
		out := &shape{form: formObject, given: true}
		for _, m := range v.members {
			if !out.has(m.name) {
				out.fields = append(out.fields, s.field(m.name, s.example(m.value, m.name, depth+1)))
			}
		}
		out.own = s.ownField(out.fields)
		return out
	case '[':
		defer s.within(name)()
		out := &shape{form: formList, given: true}
		for _, item := range v.items {
			out.tuple = append(out.tuple, s.example(item, singular(name), depth+1))
		}
		return out
	case '0':
		out := s.named(name, &shape{form: formNumber, given: true, number: numberShape{low: math.Inf(-1), high: math.Inf(1)}})
		if out.number.setExample(v.raw); out.number.example == nil {
			return &shape{form: formFixed, fixed: v.raw, given: true}
		}
		return out
	case '"':
		return s.named(name, &shape{form: formText, most: -1, example: &v.text, given: true})
	}
	if v.kind == 't' || v.kind == 'f' {
		return s.named(name, &shape{form: formBool, fixed: v.raw, given: true})
	}
	return &shape{form: formFixed, fixed: v.raw, given: true}
}

// field makes a member, and binds it to the argument that locates it.
func (s *shaper) field(name string, of *shape) field {
	f := field{name: name, hash: hashOf(name), shape: of, locator: -1}
	f.key = append(appendString(nil, name), ':')
	if of.class == classID {
		of.idName = lastWord(subjectWords(name))
	}
	if of.form == formObject || of.form == formList {
		return f
	}
	for i, a := range s.tool.arguments {
		if a.reference && a.name == name {
			f.locator, f.exact = i, true
			return f
		}
	}
	if of.class == classID && s.tool.op != opCreate && s.tool.op != opList {
		f.locator = s.locatorOf(name)
	}
	return f
}

// locatorOf is the argument that an id field of another name repeats: a bare id
// repeats the one that the tool is about, order_number repeats order_id.
func (s *shaper) locatorOf(name string) int {
	words, first := subjectWords(name), -1
	for i, a := range s.tool.arguments {
		if !a.reference {
			continue
		}
		subject := subjectWords(a.name)
		if len(words) == 0 && (len(subject) == 0 || slices.Contains(subject, s.tool.noun)) || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(subject, w) }) {
			return i
		}
		if first < 0 && len(words) == 0 {
			first = i
		}
	}
	return first
}

// ownField is the field that names a record itself: id, else the one that
// speaks of the tool's noun, else the first id.
func (s *shaper) ownField(fields []field) int {
	best, rank := -1, 0
	for i, f := range fields {
		r := 0
		switch {
		case f.shape.class != classID || f.shape.form == formObject || f.shape.form == formList:
		case len(subjectWords(f.name)) == 0:
			r = 3
		case slices.Contains(subjectWords(f.name), s.tool.noun):
			r = 2
		case !f.exact:
			r = 1
		}
		if r > rank {
			best, rank = i, r
		}
	}
	return best
}
