package search

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"assay/engine/record"
)

// argumentKind says what a person would give for an argument.
type argumentKind int

const (
	argumentOther     argumentKind = iota
	argumentReference              // names a thing that the world knows: order_id, service
	argumentText                   // free text: reason, summary
	argumentNumber
	argumentDate
	argumentChoice // one of a few words: an enum that names no thing
	argumentFlag
)

// argument is what the writer knows of one argument of a tool.
type argument struct {
	name     string
	noun     string // order_id: "order"
	tokens   []string
	kind     argumentKind
	enum     []string
	required bool
	// named says that its ids are words and not codes: a service, a team, a region.
	named bool
	// structured values are lists and objects: nobody says them in one breath.
	structured bool
}

// referenceEnds are the last words of argument names that take an id.
var referenceEnds = []string{"id", "ids", "number", "no", "code", "key", "ref", "reference", "uuid", "slug", "handle", "identifier", "sku"}

// namedThings are nouns whose ids are words that people say as they are.
var namedThings = []string{
	"service", "team", "host", "hostname", "server", "region", "queue", "database", "db", "repo", "repository", "environment", "env", "cluster",
	"namespace", "pod", "deployment", "app", "application", "channel", "project", "branch", "bucket", "topic", "table", "node", "pipeline", "group",
	"username", "workspace", "component", "feature", "flag", "dashboard", "warehouse", "store", "schedule", "rotation", "model", "device", "printer", "room",
}

// codedThings are nouns that take an id even where the argument's name does not
// end in one.
var codedThings = []string{
	"order", "ticket", "invoice", "reservation", "booking", "account", "customer", "user", "incident", "claim", "case", "shipment", "payment", "transaction",
	"product", "item", "card", "subscription", "policy", "patient", "employee", "job", "build", "task", "document", "file", "path", "contract", "appointment", "alert",
}

var (
	textThings   = []string{"reason", "summary", "message", "description", "title", "note", "notes", "comment", "body", "text", "content", "query", "question", "subject", "details", "explanation", "thought", "expression", "keyword", "keywords", "search", "prompt", "justification", "statement", "instructions", "feedback"}
	numberThings = []string{"amount", "quantity", "count", "limit", "price", "total", "percent", "percentage", "size", "replicas", "days", "hours", "minutes", "seconds", "age", "max", "min", "offset", "page", "baggages", "passengers", "seats", "guests", "nights"}
	dateThings   = []string{"date", "day", "time", "start", "end", "from", "until", "since", "deadline", "due", "when", "at", "departure", "checkin", "checkout"}
)

// codesOfNothing are nouns whose numbers and codes describe and do not name.
var codesOfNothing = []string{"phone", "mobile", "postal", "zip", "currency", "country", "language", "error", "status", "page", "line", "max", "min", "party"}

type schemaProperty struct {
	Type json.RawMessage   `json:"type"`
	Enum []json.RawMessage `json:"enum"`
}

func (p schemaProperty) is(name string) bool {
	return bytes.Contains(p.Type, []byte(`"`+name+`"`))
}

// argumentsOf reads a tool's arguments, required ones first, each group in the
// order of the schema. references are the arguments known to take an id,
// beside those whose names say so.
func argumentsOf(parameters json.RawMessage, references []string) []argument {
	var schema struct {
		Properties json.RawMessage `json:"properties"`
		Required   json.RawMessage `json:"required"`
	}
	if json.Unmarshal(parameters, &schema) != nil {
		return nil
	}
	var required []string
	if json.Unmarshal(schema.Required, &required) != nil {
		required = nil // the draft-3 form, a boolean, says nothing of a list
	}
	var properties map[string]json.RawMessage
	if json.Unmarshal(schema.Properties, &properties) != nil {
		return nil
	}
	var first, rest []argument
	for _, name := range memberOrder(schema.Properties) {
		var p schemaProperty
		_ = json.Unmarshal(properties[name], &p) // a property that is no schema still has a name
		a := newArgument(name, p, references)
		a.required = slices.Contains(required, name)
		if a.required {
			first = append(first, a)
		} else {
			rest = append(rest, a)
		}
	}
	return append(first, rest...)
}

// memberOrder is the names of an object's members in the order they are written,
// each once.
func memberOrder(object json.RawMessage) []string {
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var names []string
	for dec.More() {
		t, err := dec.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			break
		}
		var skip json.RawMessage
		if dec.Decode(&skip) != nil {
			break
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func newArgument(name string, p schemaProperty, references []string) argument {
	a := argument{name: name, tokens: record.NameWords(name)}
	for _, raw := range p.Enum {
		var s string
		if json.Unmarshal(raw, &s) == nil && s != "" {
			a.enum = append(a.enum, s)
		}
	}
	a.noun = argumentNoun(a.tokens)
	last := ""
	if n := len(a.tokens); n > 0 {
		last = a.tokens[n-1]
	}
	a.named = slices.Contains(namedThings, last) || last == "name" && slices.Contains(namedThings, a.noun)
	a.kind = kindOfArgument(a, p, last)
	a.structured = p.is("object") || p.is("array")
	if slices.Contains(references, name) {
		a.kind = argumentReference
	}
	return a
}

func kindOfArgument(a argument, p schemaProperty, last string) argumentKind {
	text := len(p.Type) == 0 || p.is("string")
	switch {
	case p.is("boolean"):
		return argumentFlag
	case p.is("object") || p.is("array"):
		return argumentOther
	case slices.ContainsFunc(codesOfNothing, func(w string) bool { return slices.Contains(a.tokens, w) }):
		// falls to the plain kinds below
	case slices.Contains(referenceEnds, last), last == "name" && a.named, (text && (slices.Contains(namedThings, last) || slices.Contains(codedThings, last))):
		return argumentReference
	}
	switch {
	case len(a.enum) > 0:
		return argumentChoice
	case p.is("integer"), p.is("number"):
		return argumentNumber
	case slices.Contains(textThings, last):
		return argumentText
	case slices.Contains(dateThings, last):
		return argumentDate
	case slices.Contains(numberThings, last):
		return argumentNumber
	}
	return argumentOther
}

// argumentNoun is what the argument's id names: reservation_id is a
// "reservation", serviceName a "service".
func argumentNoun(tokens []string) string {
	n := len(tokens)
	for n > 1 && (slices.Contains(referenceEnds, tokens[n-1]) || tokens[n-1] == "name") {
		n--
	}
	start := 0
	for start < n-1 && slices.Contains([]string{"target", "source", "the", "my", "new", "old", "original"}, tokens[start]) {
		start++
	}
	if n == 1 && len(tokens) == 1 && slices.Contains([]string{"id", "ids", "number", "ref", "key", "uuid", "name"}, tokens[0]) {
		return "" // a bare id: the tool's own object says of what
	}
	return strings.Join(tokens[start:n], " ")
}
