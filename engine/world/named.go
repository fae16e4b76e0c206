package world

import (
	"math"
	"slices"
	"strings"

	"assay/engine/record"
)

// byName is the shape of a result whose tool gives none: the fields that its
// description names, else those that records of its noun have, with the locators
// in front. A write answers with a short confirmation.
func (s *shaper) byName(t *record.Tool) *shape {
	if s.tool.writes() {
		return s.confirmation()
	}
	names := describedFields(t.Description, s.tool.noun)
	if len(names) == 0 {
		names = s.usualFields()
	}
	out := s.members(names)
	if numberVerbs[s.tool.verb] && len(out.fields) == 0 {
		n := numberShape{low: math.Inf(-1), high: math.Inf(1), decimals: 2}
		n.inName(classAmount)
		out.fields = append(out.fields, s.field("result", &shape{form: formNumber, number: n}))
	}
	if s.tool.op == opList {
		out.fields = append([]field{s.field("id", s.named("id", &shape{form: formText, most: -1}))}, out.fields...)
		out.own = 0
		list := &shape{form: formList, least: 1, most: -1, item: out}
		name := "results"
		if s.tool.noun != "" {
			name = plural(s.tool.noun)
		}
		return &shape{form: formObject, own: -1, fields: []field{s.field(name, list)}}
	}
	out.fields = append(s.locators(), out.fields...)
	return out
}

// usualFields are those of records of the tool's noun. What is no record has one
// member that says as little as it can.
func (s *shaper) usualFields() []string {
	spec, ok := nounFields[s.tool.noun]
	switch {
	case ok && s.tool.op == opList: // a list shows what there is, not what is in it
		return slices.DeleteFunc(strings.Fields(spec), func(name string) bool { return name == "content" })
	case ok && !numberVerbs[s.tool.verb]:
		return strings.Fields(spec)
	case s.tool.op == opList || slices.ContainsFunc(s.tool.arguments, func(a argument) bool { return a.reference }):
		return []string{"name", "status", "updated_at"}
	case s.tool.verb == "think":
		return []string{"ok"}
	case numberVerbs[s.tool.verb]:
		return nil // one number
	}
	return []string{"summary", "updated_at"}
}

// numberVerbs begin the names of tools that answer with a number.
var numberVerbs = wordSet(`calculate compute convert count estimate measure evaluate`)

func plural(noun string) string {
	switch {
	case strings.HasSuffix(noun, "y") && len(noun) > 1 && !strings.ContainsRune("aeiou", rune(noun[len(noun)-2])):
		return noun[:len(noun)-1] + "ies"
	case strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "x"), strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "sh"):
		return noun + "es"
	}
	return noun + "s"
}

// locators are fields that repeat the references a call must carry.
func (s *shaper) locators() []field {
	var out []field
	for _, a := range s.tool.arguments {
		if a.reference {
			out = append(out, s.field(a.name, &shape{form: formText, most: -1, class: classID}))
		}
	}
	return out
}

// confirmation is what a write answers: what it was done to, what state that is
// in now, and when.
func (s *shaper) confirmation() *shape {
	out := &shape{form: formObject, own: -1}
	moment := "updated_at"
	if s.tool.op == opCreate {
		moment = "created_at"
		if !slices.ContainsFunc(s.tool.arguments, func(a argument) bool { return a.names }) {
			name := s.newName()
			out.own = 0
			out.fields = append(out.fields, s.field(name, s.named(name, &shape{form: formText, most: -1})))
		}
	}
	out.fields = append(out.fields, s.locators()...)
	out.fields = append(out.fields, s.members([]string{"status", moment}).fields...)
	return out
}

// newName is the field that a new record's id stands in.
func (s *shaper) newName() string {
	name := s.tool.noun + "_id"
	switch {
	case s.tool.noun == "":
		return "id"
	case s.tool.argument(name) != nil: // what is booked is there already; the booking is new
		return "confirmation_id"
	}
	return name
}

// members is an object of fields that are known by their names alone. Fields that
// an argument names are left out: they could only seem to echo it.
func (s *shaper) members(names []string) *shape {
	out := &shape{form: formObject, own: -1}
	for _, name := range names {
		if s.tool.argument(name) == nil && !out.has(name) {
			out.fields = append(out.fields, s.field(name, s.namedField(name, 0)))
		}
	}
	return out
}

func (s *shaper) namedField(name string, depth int) *shape {
	words := record.NameWords(name)
	last := lastWord(words)
	text := s.named(name, &shape{form: formText, most: -1})
	switch c := text.class; {
	case c == classStep || isPlural(last) && c == classText && depth == 0:
		defer s.within(name)()
		item := text
		if spec, ok := nounFields[singular(last)]; ok {
			item = &shape{form: formObject, own: -1}
			for _, n := range strings.Fields(spec) {
				item.fields = append(item.fields, s.field(n, s.namedField(n, depth+1)))
			}
		}
		return &shape{form: formList, least: 2, most: -1, item: item}
	case c == classFlag:
		return &shape{form: formBool, class: c}
	case c >= classAmount || last == "temperature":
		n := numberShape{low: math.Inf(-1), high: math.Inf(1), whole: c != classAmount && c != classRatio, decimals: 2}
		n.inName(c)
		if last == "temperature" {
			n.low, n.high = -5, 30 // degrees Celsius of a temperate year
		}
		return &shape{form: formNumber, number: n, class: c}
	}
	return text
}

// inName narrows a number to what its name speaks of, inside the bounds that
// were given.
func (n *numberShape) inName(c class) {
	low, high := 1.0, 100.0
	switch c {
	case classAmount:
		low, high = 5, 500
	case classCount:
		low, high = 1, 9
	case classPercent:
		low, high = 0, 100
	case classRatio:
		low, high = 0, 1
	case classMillis:
		low, high = 20, 900
	case classYear:
		low, high = 2015, 2025
	case classID:
		low, high = 1000, 99999
	}
	switch {
	case math.IsInf(n.low, 0) && math.IsInf(n.high, 0):
		n.low, n.high = low, high
	case math.IsInf(n.low, 0):
		n.low = min(low, n.high-(high-low))
	case math.IsInf(n.high, 0):
		n.high = max(high, n.low+(high-low))
	}
	if n.high < n.low {
		n.high = n.low
	}
}

// describedFields are the fields that a description promises: "Returns the
// status, items and delivery date of an order" gives status, items and
// delivery_date. One alone says too little and gives none.
func describedFields(description, noun string) []string {
	lower := strings.ToLower(description)
	_, promise, ok := strings.Cut(lower, "return")
	if !ok {
		return nil
	}
	promise = strings.TrimPrefix(strings.TrimPrefix(promise, "s"), "ing")
	if end := strings.IndexAny(promise, ".\n"); end >= 0 {
		promise = promise[:end]
	}
	promise = strings.NewReplacer(" and ", ",", ";", ",", "(", ",", ")", ",", ":", ",", " with ", ",", " including ", ",", " containing ", ",", " plus ", ",").Replace(promise)
	const most = 8 // a sentence with more commas is no list of fields
	var names []string
	for part := range strings.SplitSeq(promise, ",") {
		if name := fieldName(part); name != "" {
			names = append(names, strings.TrimPrefix(name, noun+"_"))
		}
	}
	if len(names) < 2 || len(names) > most {
		return nil
	}
	return names
}

// fieldName turns a noun phrase into a field's name, "" where it is none.
func fieldName(phrase string) string {
	var words []string
	for _, w := range record.NameWords(phrase) {
		if phraseEnds[w] && (w != "of" || len(words) > 0) { // "list of items" is about items
			break
		}
		if w != "of" && !articles[w] {
			words = append(words, w)
		}
	}
	if len(words) == 0 || len(words) > 3 {
		return ""
	}
	return strings.Join(words, "_")
}

var (
	articles   = wordSet(`a an the its their his her all any each current full given s json object dict of list if`)
	phraseEnds = wordSet(`of for by in from when as on to that which where or is are using based`)
)
