package search

import (
	"slices"
	"strings"

	"assay/engine/record"
)

// toolSense is what the writer makes of one tool: what a person would call it
// and what they would have to name.
type toolSense struct {
	tool    record.Tool
	verb    verb
	object  string // the noun phrase that the verb is about, without an article; may be ""
	args    []argument
	primary int // the argument that names what the call is about, -1 where none does
}

// senseOf reads a tool. references are the arguments known to take an id,
// beside those whose names say so.
func senseOf(tool record.Tool, references []string) toolSense {
	tool.Description, _ = record.Text(unmark.Replace(tool.Description)).Clean()
	s := toolSense{tool: tool, args: argumentsOf(tool.Parameters, references)}
	tokens := record.NameWords(tool.Name)
	var found bool
	s.verb, s.object, found = verbAndObject(tokens)
	if !found {
		s.verb, s.object = fromDescription(tool, tokens)
	}
	s.primary = s.primaryArgument()
	return s
}

// verbAndObject splits the words of a name: get_order_details is to read "order
// details".
func verbAndObject(tokens []string) (verb, string, bool) {
	if len(tokens) == 0 {
		return readVerb, "", false
	}
	v, ok := verbs[tokens[0]]
	if !ok {
		return readVerb, "", false
	}
	rest := tokens[1:]
	if tokens[0] == "look" && len(rest) > 0 && rest[0] == "up" || tokens[0] == "roll" && len(rest) > 0 && rest[0] == "back" {
		rest = rest[1:]
	}
	if i := slices.IndexFunc(rest, func(w string) bool { return w == "by" || w == "with" || w == "from" || w == "using" }); i >= 0 {
		rest = rest[:i]
	}
	for len(rest) > 0 && slices.Contains([]string{"to", "all", "the", "my", "a", "an", "for", "on", "in", "of", "current", "new"}, rest[0]) {
		rest = rest[1:]
	}
	return v, strings.Join(rest, " "), true
}

// fromDescription is for names that do not begin with a verb: the description's
// first word may be one ("Restarts ..."), else the name is a thing to look at.
func fromDescription(tool record.Tool, tokens []string) (verb, string) {
	words := strings.FieldsFunc(strings.ToLower(tool.Description), func(c rune) bool { return (c < 'a' || c > 'z') && c != '-' })
	if len(words) > 0 {
		if base := descriptionVerb(words[0]); base != "" {
			object := nounAfter(words[1:])
			if object == "" {
				object = strings.Join(tokens, " ")
			}
			return verbs[base], object
		}
	}
	if n := len(tokens); n > 1 {
		if v, ok := verbs[tokens[n-1]]; ok { // order_cancel
			return v, strings.Join(tokens[:n-1], " ")
		}
	}
	return readVerb, strings.Join(tokens, " ")
}

// nounAfter is the noun phrase, at most three words, that a description's verb
// is followed by.
func nounAfter(words []string) string {
	for len(words) > 0 && slices.Contains([]string{"a", "an", "the", "one", "some", "all", "any", "up", "specific", "given", "new", "single", "existing"}, words[0]) {
		words = words[1:]
	}
	n := 0
	for n < len(words) && n < 3 && !slices.Contains(functionWords, words[n]) {
		n++
	}
	return strings.Join(words[:n], " ")
}

var functionWords = []string{"a", "an", "the", "of", "for", "to", "in", "on", "by", "with", "from", "and", "or", "that", "which", "if", "when", "using", "based", "given", "at", "as", "is", "are", "it", "its", "their", "into", "via", "per", "before", "after", "without", "until", "unless", "with"}

// primaryArgument prefers the reference that the tool's own object names, then
// the last required one that is not the person themselves, then any.
func (s *toolSense) primaryArgument() int {
	best, bestScore := -1, 0
	for i, a := range s.args {
		if a.kind != argumentReference {
			continue
		}
		score := 1
		if a.required {
			score += 2
		}
		if !isSelf(a.noun) {
			score += 2
		}
		if a.noun == "" || len(a.enum) == 0 {
			score++ // what an enum lists cannot be missing
		}
		if a.noun != "" && slices.ContainsFunc(strings.Fields(s.object), func(w string) bool { return w == a.noun || w == plural(a.noun) }) {
			score += 8
		}
		if score > bestScore {
			best, bestScore = i, score
		}
	}
	return best
}

// isSelf says whether a noun is the person who asks, in a service to customers.
func isSelf(noun string) bool {
	return slices.Contains([]string{"user", "customer", "account", "member", "profile", "client", "passenger", "employee"}, noun)
}

// writes says whether a call changes something.
func (s *toolSense) writes() bool { return s.tool.Kind != record.ToolRead }
