package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"assay/engine/record"
)

// Ids and values stand between these marks (private use, so that no text brings
// them) until a person's manner has been applied: nobody's spelling touches an
// id.
const (
	idOpen  = '\uE000'
	idClose = '\uE001'
)

func marked(id string) string { return string(idOpen) + unmark.Replace(id) + string(idClose) }

var unmark = strings.NewReplacer(string(idOpen), "", string(idClose), "")

// naming is how openly an ask names its things.
type naming int

const (
	namedFully   naming = iota
	namedVaguely        // "that order": the id comes when asked for
	namedBefore         // "it"
)

// act is one thing to be done, in the two forms that frames need.
type act struct {
	do   string // what the person wants done: "restart the billing service"
	give string // what the agent does: "show me the runbook"
	ask  string // the same as a question, "" where none reads well
}

// actOf puts a tool's work into words. Both forms name the things alike.
func (p *phrasebook) actOf(r *rand.Rand, s *scene, tool *toolSense, how naming) act {
	object := p.objectOf(r, s, tool, how)
	tail := ""
	if how == namedFully {
		tail = p.details(r, s, tool)
	}
	do, give := wordsFor(tool.verb.neutral, object), wordsFor(tool.verb.handing, object)
	a := act{do: join(withObject(pick(r, do), object), tail), give: join(withObject(pick(r, give), object), tail)}
	switch tool.verb.class {
	case verbContact:
		a = p.contact(r, tool, object, tail)
	case verbRead, verbList, verbSearch:
		a.ask = question(r, tool, object, tail)
	}
	return a
}

func join(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}

// withObject puts a verb and its object together. A pronoun goes before the
// particle: people look an order up or look up an order, but never "look up it".
func withObject(verb, object string) string {
	words := strings.Fields(verb)
	if object == "it" && len(words) == 2 && slices.Contains([]string{"up", "off", "down", "out", "back"}, words[1]) {
		return words[0] + " it " + words[1]
	}
	return join(verb, object)
}

// wordsFor leaves out a verb that says its object again: nobody reserves a
// reservation.
func wordsFor(words []string, object string) []string {
	kept := slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		return len(w) > 4 && strings.Contains(object, " "+w[:len(w)-1])
	})
	if len(kept) == 0 {
		return words
	}
	return kept
}

// contact is for tools that reach somebody: who does the reaching differs
// between "I want to talk to a human" and "page a human".
func (p *phrasebook) contact(r *rand.Rand, tool *toolSense, object, tail string) act {
	verb := record.NameWords(tool.tool.Name)[0]
	if verb == "transfer" || verb == "escalate" || verb == "connect" {
		return act{
			do:   join(pick(r, []string{"talk to", "speak with", "be put through to", "get hold of"}), object, tail),
			give: join(pick(r, []string{"put me through to", "transfer me to", "connect me with", "pass me on to"}), object, tail),
		}
	}
	one := pick(r, tool.verb.neutral)
	if one == "let know" {
		one = "let"
		tail = join("know", tail)
	}
	return act{do: join(one, object, tail), give: join(one, object, tail)}
}

// objectOf is the noun phrase that a tool's verb takes in this scene.
func (p *phrasebook) objectOf(r *rand.Rand, s *scene, tool *toolSense, how naming) string {
	var ref *reference
	if tool.primary >= 0 {
		for i := range s.refs {
			if s.refs[i].argument == tool.args[tool.primary].name {
				ref = &s.refs[i]
			}
		}
	}
	object := tool.object
	if ref == nil {
		return p.bareObject(r, tool, how)
	}
	thing := p.refPhrase(r, ref, how)
	rest, same := objectBeyond(object, ref.noun)
	switch {
	case object == "" || same && rest == "":
		return thing
	case same:
		return fmt.Sprintf("the %s %s %s", rest, prepositionOf(tool.verb.class, rest), thing)
	}
	switch tool.verb.class {
	case verbCreate:
		return article(object) + " for " + thing
	case verbGive:
		return article(object) + " to " + thing
	case verbContact:
		return p.contactObject(object, ref, thing)
	case verbList:
		return "the " + plural(object) + " for " + thing
	}
	return fmt.Sprintf("the %s %s %s", object, prepositionOf(tool.verb.class, object), thing)
}

func (p *phrasebook) contactObject(object string, ref *reference, thing string) string {
	if ref.named && slices.Contains([]string{"team", "group", "squad", "rotation"}, lastWord(ref.noun)) {
		who := "someone"
		if object != "" && object != "human" && object != "person" {
			who = article(object)
		}
		return who + " from " + thing
	}
	return article(object) + " about " + thing
}

// bareObject is the object of a tool that names nothing by an id.
func (p *phrasebook) bareObject(r *rand.Rand, tool *toolSense, how naming) string {
	object := tool.object
	switch tool.verb.class {
	case verbCompute:
		if object == "" || object == "expression" {
			if how != namedFully {
				return "the total"
			}
			return ""
		}
		return "the " + object
	case verbSearch:
		if how != namedFully {
			return "something suitable"
		}
		return plural(object)
	case verbList:
		return pick(r, []string{"the ", "all the ", "all "}) + plural(object)
	case verbCreate, verbGive, verbContact:
		if object == "" {
			return "one"
		}
		if strings.HasSuffix(object, "s") {
			return singularGroup(object)
		}
		return article(object)
	case verbRead:
		if object == "" {
			return "things"
		}
		return "the " + object
	}
	if object == "" {
		return "this"
	}
	return "the " + object
}

// singularGroup speaks of one of many: "human agents" is "a human agent".
func singularGroup(object string) string {
	if strings.HasSuffix(object, "ss") {
		return article(object)
	}
	return article(strings.TrimSuffix(object, "s"))
}

// objectBeyond is what a tool's object says beside the noun of its reference:
// "order details" of an order leaves "details".
func objectBeyond(object, noun string) (rest string, same bool) {
	words, head := strings.Fields(object), lastWord(noun)
	if head == "" {
		return object, false
	}
	i := slices.IndexFunc(words, func(w string) bool { return w == head || w == plural(head) || plural(w) == head })
	if i < 0 {
		return object, false
	}
	return strings.Join(slices.Delete(slices.Clone(words), i, i+1), " "), true
}

func lastWord(s string) string { return s[strings.LastIndexByte(s, ' ')+1:] }

func prepositionOf(class verbClass, rest string) string {
	switch lastWord(rest) {
	case "status", "details", "detail", "history", "balance", "price", "info", "information", "owner", "name", "address", "size", "amount":
		return "of"
	}
	if class == verbChange || class == verbRemove {
		return "on"
	}
	return "for"
}

// refPhrase names one thing.
func (p *phrasebook) refPhrase(r *rand.Rand, ref *reference, how naming) string {
	noun := ref.noun
	if noun == "" {
		noun = "one"
	}
	id := marked(ref.id)
	switch {
	case how == namedBefore:
		return "it"
	case how == namedVaguely:
		return p.vaguely(r, ref, noun)
	case ref.named && lastWord(noun) == "team":
		return pick(r, []string{"the " + id + " team", "team " + id, "the " + id + " people"})
	case ref.named:
		return pick(r, []string{id, id, "the " + id + " " + noun, "our " + id + " " + noun, "the " + noun + " " + id})
	case isSelf(lastWord(noun)) && p.domain.consumer:
		return pick(r, []string{"my account " + id, "my account (" + id + ")", "account " + id, "my profile " + id})
	case p.domain.consumer:
		return pick(r, []string{"my " + noun + " " + id, noun + " " + id, noun + " number " + id, "my " + noun + " (" + id + ")", "the " + noun + " with number " + id})
	}
	return pick(r, []string{noun + " " + id, "the " + noun + " " + id, id, noun + " number " + id})
}

func (p *phrasebook) vaguely(r *rand.Rand, ref *reference, noun string) string {
	switch {
	case lastWord(noun) == "team":
		return pick(r, []string{"the right team", "the usual team", "one of the teams"})
	case isSelf(lastWord(noun)) && p.domain.consumer:
		return pick(r, []string{"my account", "my profile", "the account"})
	case p.domain.consumer:
		return pick(r, []string{"my " + noun, "that " + noun, "the " + noun + " from last week", "one of my " + plural(noun), "my latest " + noun})
	}
	return pick(r, []string{"that " + noun, "the usual " + noun, "the " + noun + " from before", "one of the " + plural(noun), "the other " + noun})
}

// details says the further things that a call needs, where a person would say
// them with the request: from where, on which day, how much. What they leave out
// they can tell when asked.
func (p *phrasebook) details(r *rand.Rand, s *scene, tool *toolSense) string {
	var out []string
	for _, a := range tool.args {
		value := s.values[a.name]
		if !a.required || value == "" || len(a.tokens) == 0 || a.kind == argumentReference && !slices.Contains([]string{"origin", "destination"}, a.tokens[len(a.tokens)-1]) {
			continue
		}
		if len(a.enum) > 0 {
			value = strings.ReplaceAll(value, "_", " ")
		}
		if words := detail(a, marked(value)); words != "" {
			out = append(out, words)
		}
	}
	return strings.Join(out, " ")
}

func detail(a argument, value string) string {
	switch a.tokens[len(a.tokens)-1] {
	case "origin":
		return "from " + value
	case "destination":
		return "to " + value
	case "date", "day":
		return "on " + value
	case "time":
		return "at " + value
	case "amount", "price":
		return "for " + value
	case "city", "country", "region", "location", "language":
		return "in " + value
	case "query", "keyword", "keywords", "search", "question":
		return "for " + value
	case "expression":
		return value
	case "cabin":
		return "in " + value
	case "quantity", "count":
		return "times " + value
	case "replicas":
		return "to " + value + " replicas"
	case "percent", "percentage":
		return "by " + value + " percent"
	case "email":
		return "at " + value
	}
	return ""
}

// written are objects that say something themselves.
var written = []string{"runbook", "document", "doc", "file", "note", "notes", "page", "article", "guide", "manual", "policy", "report", "log", "logs", "readme", "entry"}

// question asks for what a reading tool would find.
func question(r *rand.Rand, tool *toolSense, object, tail string) string {
	if object == "" || strings.HasPrefix(object, "my account") || strings.HasPrefix(object, "my profile") {
		return ""
	}
	thing := join(object, tail)
	switch {
	case tool.verb.class == verbSearch:
		return fmt.Sprintf(pick(r, []string{"Are there any %s?", "Do you have any %s?", "What %s are there?"}), thing)
	case tool.verb.class == verbList:
		return "What " + plural(tool.object) + " are there?"
	case slices.Contains(written, lastWord(tool.object)):
		return fmt.Sprintf(pick(r, []string{"What does %s say?", "What's in %s?", "Is there anything useful in %s?", "What do we have in %s?"}), thing)
	case lastWord(tool.object) == "status":
		return fmt.Sprintf(pick(r, []string{"What's %s?", "Do you know %s?"}), thing)
	}
	return fmt.Sprintf(pick(r, []string{"What can you tell me about %s?", "What do you have on %s?", "Is there anything I should know about %s?", "How do things stand with %s?"}), thing)
}
