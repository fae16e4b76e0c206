package world

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"assay/engine/record"
)

// Toolset is a list of tools read once: their schemas compiled, their results
// shaped. It is read-only and safe for concurrent use.
type Toolset struct {
	byName   map[string]*tool
	names    []string
	warnings []record.Warning
	// mentioned is the lower-case text of all descriptions: what is named there
	// exists.
	mentioned string
	nouns     map[string]bool // of the tools' names
	actors    []*tool         // those that act on a record, destructive ones first
}

// tool is what the world knows of one tool.
type tool struct {
	name      string
	hash      uint64 // of the name
	op        operation
	verb      string // the word of the name that says what it does
	noun      string // what it is about
	checker   checker
	arguments []argument
	result    *shape
	// expression is the argument of a calculator, "" for other tools.
	expression string
}

func (t *tool) writes() bool { return t.op != opRead && t.op != opList }

// argument is one declared argument of a tool.
type argument struct {
	name      string
	words     []string // of the name
	subject   []string // those of them that say what it refers to
	reference bool
	names     bool            // it is the name that a new record is given
	plainText string          // description and title, lower case, to recognise an echo of them
	known     map[string]bool // folded ids of its enum, examples and default
	open      bool            // an enum does not bound it
}

// Compile reads tools. Schemas that cannot be compiled are named by
// [Toolset.Warnings]; their arguments are checked by their plain keywords alone.
func Compile(tools []record.Tool) *Toolset {
	s := &Toolset{byName: make(map[string]*tool, len(tools)), nouns: toolNouns(tools)}
	var texts strings.Builder
	for i := range tools {
		t := s.compile(&tools[i])
		if _, twice := s.byName[t.name]; twice {
			s.warn(t.name, "stands twice in the list; the first one answers")
			continue
		}
		s.byName[t.name] = t
		s.names = append(s.names, t.name)
		texts.WriteString(strings.ToLower(tools[i].Description))
		texts.WriteByte('\n')
		for _, a := range t.arguments {
			texts.WriteString(a.plainText)
			texts.WriteByte('\n')
		}
	}
	s.mentioned = texts.String()
	for _, kind := range []record.ToolKind{record.ToolDestructive, record.ToolWrite, ""} {
		for i := range tools {
			if t := s.byName[tools[i].Name]; tools[i].Kind == kind && (t.op == opAct || t.op == opDelete || t.op == opUpdate) {
				s.actors = append(s.actors, t)
			}
		}
	}
	return s
}

// Warnings name the tools whose schemas could not be used as they stand.
func (s *Toolset) Warnings() []record.Warning { return slices.Clone(s.warnings) }

func (s *Toolset) warn(tool, what string) {
	s.warnings = append(s.warnings, record.Warning{Code: "tool_schema", Text: fmt.Sprintf("tool %s %s", tool, what), Fix: "mend its schema in the tools file"})
}

func (s *Toolset) compile(t *record.Tool) *tool {
	words := record.NameWords(t.Name)
	out := &tool{name: t.Name, hash: hashOf(t.Name)}
	out.op, out.verb = operationOf(t.Kind, words)
	if out.verb == "" && len(words) > 0 {
		out.verb = words[0]
	}
	var err error
	if out.checker, err = compileChecker(t.Parameters); err != nil {
		s.warn(t.Name, "has a parameters schema that cannot be compiled, so only its plain keywords are checked: "+err.Error())
	}
	if parameters, err := parseValue(t.Parameters); err == nil {
		out.readArguments(parameters, s.nouns)
	}
	out.expression = out.expressionArgument()
	out.noun = nounOf(words, out.verb, out.arguments)
	out.result, err = shapeOf(t, out)
	if err != nil {
		s.warn(t.Name, "has a result shape that cannot be used: "+err.Error())
	}
	return out
}

func (t *tool) readArguments(parameters *value, nouns map[string]bool) {
	properties := parameters.at("properties")
	if properties == nil {
		return
	}
	for _, m := range properties.members {
		a := argument{name: m.name, words: record.NameWords(m.name), subject: subjectWords(m.name), open: true, known: map[string]bool{}}
		a.plainText = strings.ToLower(m.value.str("description") + "\n" + m.value.str("title"))
		a.reference = isReference(t.op, m.name, m.value, nouns)
		a.names = a.reference && t.op == opCreate && makingVerbs[t.verb] && namesItsThing(t, a.words)
		a.learn(m.value)
		a.learn(m.value.at("items"))
		t.arguments = append(t.arguments, a)
	}
}

// learn notes the ids that a schema names.
func (a *argument) learn(schema *value) {
	if schema == nil {
		return
	}
	if enum := schema.at("enum"); enum != nil {
		a.open = false
		a.knows(enum.items...)
	}
	if examples := schema.at("examples"); examples != nil {
		a.knows(examples.items...)
	}
	a.knows(schema.at("const"), schema.at("default"), schema.at("example"))
}

func (a *argument) knows(values ...*value) {
	for _, v := range values {
		switch {
		case v == nil:
		case v.kind == '"':
			a.known[fold(v.text)] = true
		case v.kind == '0':
			a.known[fold(string(v.raw))] = true
		}
	}
}

// expressionArgument is the argument that a calculator works out.
func (t *tool) expressionArgument() string {
	if !numberVerbs[t.verb] {
		return ""
	}
	for _, a := range t.arguments {
		if last := lastWord(a.words); last == "expression" || last == "formula" || last == "calculation" {
			return a.name
		}
	}
	return ""
}

// argument is the declared argument of that name, nil for none.
func (t *tool) argument(name string) *argument {
	for i := range t.arguments {
		if t.arguments[i].name == name {
			return &t.arguments[i]
		}
	}
	return nil
}

// isReference reports whether an argument names a thing of the world: it ends
// like an id, or it is a word that a tool's name is about (restart_service takes
// a service). Free text, settings and enums do not.
func isReference(op operation, name string, schema *value, nouns map[string]bool) bool {
	words := record.NameWords(name)
	last := lastWord(words)
	if op == opCreate && contactWords[last] {
		return false // of somebody new, or whom to write to
	}
	if schema.at("enum") != nil || slices.Contains(schema.types(), "boolean") || slices.Contains(schema.types(), "object") {
		return false
	}
	switch {
	case idWords[last]:
		return !slices.Contains(words, "promo") && !slices.Contains(words, "phone") && (last != "code" || len(words) == 1 || nouns[words[0]])
	case last == "name" && len(words) > 1:
		return nouns[singular(words[0])]
	case freeWords[last]:
		return false
	}
	t := schema.types()
	return (nouns[singular(last)] || namedThings[last]) && (len(t) == 0 || slices.Contains(t, "string") || slices.Contains(t, "array"))
}

// contactWords end the names of arguments that a new record is given and that
// find a record elsewhere.
var contactWords = wordSet(`email username handle slug number`)

// makingVerbs begin the names of tools that make what their argument names:
// write_file makes the path, book_flight does not make the flight.
var makingVerbs = wordSet(`create write add new register upload insert make save`)

// namesItsThing is true of a path, and of repo_name where a repo is made.
func namesItsThing(t *tool, words []string) bool {
	last := lastWord(words)
	return pathWords[last] || last == "slug" || slices.ContainsFunc(words, func(w string) bool { return singular(w) == lastNoun(t) })
}

// lastNoun is what a tool's name ends with: the repo of create_repo.
func lastNoun(t *tool) string { return singular(lastWord(record.NameWords(t.name))) }

var pathWords = wordSet(`path filename filepath file`)

// namedThings are words of arguments that name a thing by itself: a path, a
// host. Without its name nothing can be found.
var namedThings = wordSet(`path filename filepath hostname host repo repository branch database table topic queue bucket namespace cluster pod deployment pipeline`)

// toolNouns are the words of the tools' names that are no verbs.
func toolNouns(tools []record.Tool) map[string]bool {
	nouns := map[string]bool{}
	for i := range tools {
		words := record.NameWords(tools[i].Name)
		for j, w := range words {
			if _, verb := verbs[w]; j > 0 || !verb {
				nouns[singular(w)] = true
			}
		}
	}
	return nouns
}

// aspects are words after which a tool's name says what of a thing it shows:
// get_order_status is about an order.
var aspects = wordSet(`status details detail info information history summary by for of with and the from to in on all my state`)

// nounOf is what a tool is about: the last word of its name that is neither its
// verb nor an aspect nor an argument, "" for none.
func nounOf(words []string, verb string, arguments []argument) string {
	noun := ""
	for _, w := range words {
		if w == "by" || w == "for" {
			break
		}
		if w != verb && !aspects[w] && (!idWords[w] || contactWords[w]) {
			noun = singular(w)
		}
	}
	if noun != "" {
		return noun
	}
	for _, a := range arguments {
		if a.reference {
			return lastWord(subjectWords(a.name))
		}
	}
	return ""
}

// refusal is why a call is not carried out.
type refusal struct {
	code, message, hint string
	matches             []string // of an ambiguous reference
}

func invalid(message, hint string) *refusal {
	return &refusal{code: record.ErrInvalidArguments, message: message, hint: hint}
}

// read decodes arguments: an object, or the same as JSON text, which some
// clients send.
func (t *tool) read(raw json.RawMessage, limit int) (map[string]any, *refusal) {
	if len(raw) > limit {
		return nil, invalid(fmt.Sprintf("the arguments are %d bytes long; the limit is %d", len(raw), limit), "send less, or a reference to it")
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return map[string]any{}, nil
	}
	// A step keeps arguments that are no JSON as a JSON string. So both are refused in
	// the same words: a rollout that is replayed meets what it met.
	const notJSON = "the arguments are text that is not JSON"
	var decoded any
	if err := json.Unmarshal(raw, &decoded); err != nil {
		return nil, invalid(notJSON, t.usage())
	}
	if text, ok := decoded.(string); ok {
		decoded = nil
		if json.Unmarshal([]byte(text), &decoded) != nil && strings.TrimSpace(text) != "" {
			return nil, invalid(notJSON, t.usage())
		}
	}
	switch args := decoded.(type) {
	case map[string]any:
		return args, nil
	case nil:
		return map[string]any{}, nil
	}
	return nil, invalid("the arguments are no JSON object", t.usage())
}

// usage says what the tool takes.
func (t *tool) usage() string {
	names := make([]string, 0, len(t.arguments))
	for _, a := range t.arguments {
		names = append(names, a.name)
	}
	if len(names) == 0 {
		return "send a JSON object"
	}
	return "send a JSON object with " + strings.Join(names, ", ")
}

// fold makes ids comparable: people write ORD-7 as "#ord-7".
func fold(id string) string {
	return strings.ToLower(strings.TrimPrefix(strings.TrimSpace(id), "#"))
}

// hashOf is FNV-1a, 64 bits: it names a field within a record that a
// [record.Rank] has already drawn.
func hashOf(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h ^= uint64(s[i])
		h *= 1099511628211
	}
	return h
}
