package world

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"assay/engine/record"
)

// typeWords are what a schema says in place of a value.
var typeWords = wordSet(`string str integer int number float boolean bool object array null none any value placeholder example sample
	todo tbd undefined foo bar baz xxx lorem`)

// stockValues are what models write when they have no value; each is refused
// unless the conversation named it. Convention: seen in published traces.
var stockValues = map[string]bool{
	"user@example.com": true, "test@example.com": true, "your@example.com": true, "name@example.com": true, "email@example.com": true,
	"example@example.com": true, "you@example.com": true, "your.email@example.com": true, "your_email@example.com": true, "foo@bar.com": true,
	"john doe": true, "jane doe": true, "first name": true, "last name": true, "full name": true, "yyyy-mm-dd": true, "hh:mm": true,
	"lorem ipsum": true, "...": true, "n/a": true, "http://example.com": true, "https://example.com": true, "123 main st": true,
	"sample text": true, "some text": true, "your text here": true,
}

// schemaEcho recognises arguments that are a schema and not values: the whole
// of it, or {"type": "string"} in place of a value.
func (t *tool) schemaEcho(args map[string]any) *refusal {
	const hint = "send the values themselves, not their schema"
	_, nested := args["properties"].(map[string]any)
	if t.argument("type") == nil && looksLikeSchema(args) || t.argument("properties") == nil && nested && looksLikeSchema(args) {
		return invalid("the arguments are the tool's schema", hint)
	}
	for i := range t.arguments {
		a := &t.arguments[i]
		if m, ok := args[a.name].(map[string]any); ok && looksLikeSchema(m) && !t.declares(a.name, "type") {
			return invalid(fmt.Sprintf("argument %q holds a schema", a.name), hint)
		}
	}
	return nil
}

var schemaTypes = []string{"string", "integer", "number", "boolean", "object", "array", "null"}

// looksLikeSchema is true of {"type": "string"} and its like: a type word, and
// beside it nothing but schema keywords.
func looksLikeSchema(m map[string]any) bool {
	word, ok := m["type"].(string)
	if !ok || !slices.Contains(schemaTypes, word) {
		return false
	}
	for name := range m {
		if !schemaWords[name] {
			return false
		}
	}
	return true
}

var schemaWords = wordSet(`type description title properties required enum items default examples format minimum maximum minLength maxLength
	pattern additionalProperties anyOf oneOf allOf $ref $defs $schema minItems maxItems const`)

// declares reports whether an argument's own schema has the named property.
func (t *tool) declares(argument, property string) bool {
	properties, _ := t.checker.plain["properties"].(map[string]any)
	own, _ := properties[argument].(map[string]any)
	inner, _ := own["properties"].(map[string]any)
	_, ok := inner[property]
	return ok
}

// placeholder finds a text argument that stands for a value and is none: a word
// of the schema, the argument's own name or description, a stock value. What the
// schema lists or the conversation named is a value, whatever it looks like.
func (w *World) placeholder(t *tool, args map[string]any) *refusal {
	for i := range t.arguments {
		a := &t.arguments[i]
		text, ok := args[a.name].(string)
		if !ok || !a.open || !a.isPlaceholder(text) {
			continue
		}
		if id := fold(text); a.known[id] || w.things[id] != nil || w.saidByPerson(id) {
			continue
		}
		return invalid(fmt.Sprintf("argument %q holds a placeholder", a.name), "use the real value; where you do not have it, ask for it or look it up")
	}
	return nil
}

// isPlaceholder is about the text alone. It allocates nothing for a text that is
// plainly a value.
func (a *argument) isPlaceholder(text string) bool {
	const longest = 120 // a description echoed back is longer only where it is one
	text = strings.TrimSpace(text)
	if text == "" || len(text) > longest && len(text) > len(a.plainText) {
		return false
	}
	if text[0] == '<' && text[len(text)-1] == '>' || text[0] == '[' && text[len(text)-1] == ']' && !json.Valid([]byte(text)) ||
		text[0] == '{' && text[len(text)-1] == '}' && !json.Valid([]byte(text)) {
		return len(text) > 2
	}
	lower := strings.ToLower(text)
	if typeWords[lower] || stockValues[lower] {
		return true
	}
	if description, title, _ := strings.Cut(a.plainText, "\n"); lower == description || lower == title {
		return true
	}
	return a.namesItself(lower)
}

// namesItself is true of "order id", "your_order_id", "the order ID here" for
// the argument order_id.
func (a *argument) namesItself(lower string) bool {
	const around = 16 // room for "example " before and " goes here" behind
	if len(lower) > len(a.name)+around || len(a.words) == 0 || !strings.Contains(lower, lastWord(a.words)) {
		return false
	}
	words := record.NameWords(lower)
	for {
		switch {
		case slices.Equal(words, a.words):
			return true
		case len(words) > 0 && frameWords[words[0]]:
			words = words[1:]
		case len(words) > 0 && frameWords[lastWord(words)]:
			words = words[:len(words)-1]
		default:
			return false
		}
	}
}

var frameWords = wordSet(`the a an your my user users example sample some valid here goes placeholder value insert enter new actual real`)
