package agent

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"assay/engine/record"
)

// briefing is what the seeded agent understands of its tools and its policy. It
// is made once and shared; nobody writes to it.
type briefing struct {
	prompt record.Text
	shown  []record.Tool

	tools                []toolSense
	checks               []check
	confirms             map[string]bool // by tool
	banned               map[string]bool // by tool
	suppressed, provoked []string
}

// check is a rule that one tool be called before another.
type check struct{ first, before string }

// toolSense is a tool in words.
type toolSense struct {
	name   string
	acts   bool   // it changes something
	kill   bool   // it is destructive
	family int    // index into families, -1 for none
	past   string // "restarted"
	object string // "service"
	nouns  []string
	args   []argSense
}

// argSense is one argument in words.
type argSense struct {
	name     string
	label    string // "order id"
	noun     string // the last word that says what it is: "order"
	kind     argKind
	required bool
	enum     []string
}

type argKind int

const (
	argReference argKind = iota // the id or name of a thing
	argText                     // free text
	argNumber
	argFlag
	argDate
	argOther // objects and lists: the agent cannot fill them in
)

// of reports whether the briefing is about these tools and this prompt.
func (b *briefing) of(prompt record.Text, tools []record.Tool) bool {
	return b.prompt == prompt && slices.EqualFunc(b.shown, tools, func(x, y record.Tool) bool {
		return x.Name == y.Name && x.Kind == y.Kind && x.Description == y.Description && bytes.Equal(x.Parameters, y.Parameters)
	})
}

func newBriefing(prompt record.Text, tools []record.Tool) *briefing {
	b := &briefing{prompt: prompt, shown: slices.Clone(tools), confirms: map[string]bool{}, banned: map[string]bool{}}
	for i := range tools {
		b.tools = append(b.tools, senseOf(&tools[i]))
	}
	for _, clause := range clausesOf(string(prompt)) {
		b.readRule(clause)
		b.readEffects(clause)
	}
	return b
}

func (b *briefing) tool(name string) *toolSense {
	for i := range b.tools {
		if b.tools[i].name == name {
			return &b.tools[i]
		}
	}
	return nil
}

func senseOf(t *record.Tool) toolSense {
	s := toolSense{name: t.Name, acts: t.Kind == record.ToolWrite || t.Kind == record.ToolDestructive, kill: t.Kind == record.ToolDestructive, family: -1}
	words := nameWords(t.Name)
	verb := ""
	for _, w := range words {
		f := familyOf(w)
		switch {
		case f >= 0 && s.family < 0:
			s.family, verb = f, w
		case w != "to" && w != "all" && w != "by" && w != "for" && w != "of" && w != "the":
			s.nouns = append(s.nouns, singular(w))
		}
	}
	if s.family < 0 {
		s.family, verb = descriptionFamily(t.Description)
	}
	if t.Kind == "" {
		s.acts = s.family != looking
	}
	s.past = "completed"
	if s.family >= 0 {
		s.past = pastOf(verb, families[s.family])
	}
	s.object = strings.Join(s.nouns, " ")
	s.args = argumentsOf(t.Parameters, s.nouns)
	return s
}

func familyOf(word string) int {
	for i := range families {
		if hasField(families[i].names, word) {
			return i
		}
	}
	return -1
}

func hasField(text, word string) bool {
	for f := range strings.FieldsSeq(text) {
		if f == word {
			return true
		}
	}
	return false
}

// descriptionFamily goes by the first word of a description: "Restarts a service".
func descriptionFamily(description string) (family int, verb string) {
	first, _, _ := strings.Cut(strings.TrimSpace(description), " ")
	first = lower(strings.Trim(first, ".,:;"))
	for _, w := range []string{first, strings.TrimSuffix(first, "s"), strings.TrimSuffix(first, "es")} {
		if f := familyOf(w); f >= 0 {
			return f, w
		}
	}
	return -1, ""
}

// freeText are arguments that take prose.
var freeText = wordsOf("summary reason message text body note notes description query content comment title subject question expression details explanation instructions keyword keywords search")

func argumentsOf(schema json.RawMessage, nouns []string) []argSense {
	var s struct {
		Properties map[string]struct {
			Type any   `json:"type"`
			Enum []any `json:"enum"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	var out []argSense
	for _, name := range names {
		p := s.Properties[name]
		words := nameWords(name)
		a := argSense{name: name, label: strings.Join(words, " "), required: slices.Contains(s.Required, name)}
		a.noun = nounOf(words, nouns)
		for _, e := range p.Enum {
			if text, ok := e.(string); ok {
				a.enum = append(a.enum, text)
			}
		}
		a.kind = kindOfArgument(p.Type, words)
		out = append(out, a)
	}
	return out
}

func nounOf(words, nouns []string) string {
	for i := len(words) - 1; i >= 0; i-- {
		switch words[i] {
		case "id", "number", "code", "reference", "ref", "key", "name":
		default:
			return singular(words[i])
		}
	}
	if len(nouns) > 0 {
		return nouns[len(nouns)-1]
	}
	return "id"
}

func kindOfArgument(typ any, words []string) argKind {
	if list, ok := typ.([]any); ok && len(list) > 0 {
		typ = list[0]
	}
	last := ""
	if len(words) > 0 {
		last = words[len(words)-1]
	}
	switch typ {
	case "integer", "number":
		return argNumber
	case "boolean":
		return argFlag
	case "object", "array":
		return argOther
	}
	switch {
	case freeText[last]:
		return argText
	case last == "date" || last == "day" || last == "time":
		return argDate
	}
	return argReference
}

// clausesOf cuts a policy into sentences and list items.
func clausesOf(policy string) [][]token {
	var out [][]token
	tokens := tokenize(policy)
	for start := 0; start < len(tokens); {
		end := start + 1
		for end < len(tokens) && tokens[end].sentence == tokens[start].sentence {
			end++
		}
		out = append(out, tokens[start:end])
		start = end
	}
	return out
}

// readRule reads orders of tools, confirmations and bans out of a clause.
func (b *briefing) readRule(clause []token) {
	if at := indexOf(clause, "before"); at > 0 {
		left, right := b.mentioned(clause[:at]), b.mentioned(clause[at+1:])
		b.addChecks(left, right)
		if asksLeave(clause[:at]) {
			b.addConfirms(clause, right)
		}
		return
	}
	if at := indexOf(clause, "without"); at > 0 && negates(clause[:at]) {
		b.addChecks(b.mentioned(clause[at+1:]), b.mentioned(clause[:at]))
		if asksLeave(clause[at+1:]) {
			b.addConfirms(clause, b.mentioned(clause[:at]))
		}
		return
	}
	if !negates(clause) || slices.ContainsFunc(clause, func(t token) bool { return conditional[t.lower] }) {
		return
	}
	for _, t := range b.mentioned(clause) {
		if t.acts {
			b.banned[t.name] = true
		}
	}
}

// conditional are words that make a ban one that the agent cannot decide.
var conditional = wordsOf("if when unless until while during after than more over older except only but which whose where")

func negates(clause []token) bool {
	for i, t := range clause {
		if t.lower == "never" || t.lower == "don't" || t.lower == "cannot" ||
			t.lower == "not" && i > 0 && (clause[i-1].lower == "do" || clause[i-1].lower == "must" || clause[i-1].lower == "may") {
			return true
		}
	}
	return false
}

// asksLeave reports words that ask for a person's yes.
func asksLeave(clause []token) bool {
	for _, t := range clause {
		if strings.HasPrefix(t.lower, "confirm") || t.lower == "permission" || t.lower == "consent" || t.lower == "approval" || t.lower == "ask" || t.lower == "asking" {
			return true
		}
	}
	return false
}

func (b *briefing) addChecks(first, before []*toolSense) {
	for _, f := range first {
		for _, a := range before {
			if !f.acts && a.acts {
				b.checks = append(b.checks, check{f.name, a.name})
			}
		}
	}
}

// addConfirms asks for a yes before the tools named or, where none is, before
// all that act, or all that destroy where the clause speaks of those.
func (b *briefing) addConfirms(clause []token, named []*toolSense) {
	for _, t := range named {
		if t.acts {
			b.confirms[t.name] = true
		}
	}
	if len(named) > 0 {
		return
	}
	destructive := slices.ContainsFunc(clause, func(t token) bool {
		return strings.HasPrefix(t.lower, "destruct") || strings.HasPrefix(t.lower, "irrevers") || strings.HasPrefix(t.lower, "delet")
	})
	for i := range b.tools {
		if t := &b.tools[i]; t.kill || t.acts && !destructive {
			b.confirms[t.name] = true
		}
	}
}

// mentioned lists the tools that a piece of a clause speaks of, by their names
// or their verb and object.
func (b *briefing) mentioned(clause []token) []*toolSense {
	hits := b.listen(clause)
	var out []*toolSense
	for i := range b.tools {
		t := &b.tools[i]
		named := slices.ContainsFunc(clause, func(w token) bool { return w.lower == lower(t.name) })
		// Of a tool that acts the verb says enough; looking up is said of everything.
		if h := hits[i]; named || h.object && (h.verb || !t.acts) || h.verb && t.acts {
			out = append(out, t)
		}
	}
	return out
}

func (b *briefing) readEffects(clause []token) {
	for _, e := range effects {
		if !slices.ContainsFunc(e.when, func(stems []string) bool { return hasStems(clause, stems) }) {
			continue
		}
		b.suppressed = append(b.suppressed, e.suppresses...)
		b.provoked = append(b.provoked, e.provokes...)
	}
}

func hasStems(clause []token, stems []string) bool {
	for _, stem := range stems {
		whole := len(stem) <= 3 // "not" is no stem of "note"
		if !slices.ContainsFunc(clause, func(t token) bool {
			return t.lower == stem || !whole && strings.HasPrefix(t.lower, stem)
		}) {
			return false
		}
	}
	return true
}

func indexOf(tokens []token, word string) int {
	return slices.IndexFunc(tokens, func(t token) bool { return t.lower == word })
}
