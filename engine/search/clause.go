package search

import (
	"regexp"
	"slices"
	"strings"

	"assay/engine/record"
)

// clauseKind is what a clause does with what it speaks of.
type clauseKind int

const (
	clauseFact    clauseKind = iota // says how things are: "Refunds over $200 need approval"
	clauseRequire                   // something the agent must do
	clauseForbid                    // something the agent must not do
	clauseAllow                     // something the agent may do
	clauseWhen                      // what to do in a case
)

// clauseSense is what a person could touch a policy clause by without having
// read it: the thing done or not done, the case it speaks of, its topic.
type clauseSense struct {
	text  string
	kind  clauseKind
	doing string // a verb phrase in base form, "" where the clause gives none
	when  string // a clause of condition, as the person would say it, "" without one
	topic string // a noun phrase, never ""
	words []string
}

// quotes go: half of a quoted word reads worse than a bare one.
var quotes = strings.NewReplacer("\"", "", "“", "", "”", "")

var (
	brackets   = regexp.MustCompile(`\s*\([^()]*\)?`)
	forbidLead = regexp.MustCompile(`(?i)^(?:(?:you|the agent|agents?|the assistant|we)\s+)?(?:(?:must|should|may|can|will|do|are|is)\s*(?:not|n[o']t)\s+(?:allowed to |permitted to |able to )?|cannot |can't |don['’]t |never |must never |should never |under no circumstances )(?:ever |proactively |simply |just )?`)
	avoidLead  = regexp.MustCompile(`(?i)^(?:you (?:must|should) )?(?:avoid|refrain from)\s+`)
	mustLead   = regexp.MustCompile(`(?i)^(?:(?:so )?(?:you|the agent|agents?|the assistant|we)\s+)(?:must|should|shall|have to|needs? to|are required to|is required to)\s+(?:always |first |only |also |then )?`)
	mayLead    = regexp.MustCompile(`(?i)^(?:(?:you|the agent|agents?|the assistant|we)\s+)(?:can|may|are allowed to|are permitted to)\s+(?:also |only |then )?`)
	personLead = regexp.MustCompile(`(?i)^(?:the |a )?(?:users?|customers?|clients?|callers?) (?:cannot|can't|can not|may not|must not|can|may|must)\s+(?:only )?`)
	fillerLead = regexp.MustCompile(`(?i)^(?:as an? [^,]{3,40}, |otherwise, |in general, |note that |also, |however, |then, )`)
	passive    = regexp.MustCompile(`^be \w+(?:ed|en|wn)\b`)
	newSubject = regexp.MustCompile(` and [\w-]+ (?:is|are) `)
	alwaysLead = regexp.MustCompile(`(?i)^(?:always|please|make sure(?: to| that you)?|be sure to|ensure(?: that)? you|remember to|only|first)\s*,?\s+`)
	whenLead   = regexp.MustCompile(`(?i)^(if|when|whenever|unless|in case|once|after|before|for)\s+`)
	limitWords = regexp.MustCompile(`(?i)\b(?:at (?:most|least)|up to|no more than|more than|less than|fewer than|within|over|under|above|below)\s+(?:the\s+)?[$€£]?(?:\d|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty)[^,.;:()]*`)
	headingCut = regexp.MustCompile(`^[A-Z][A-Za-z /&-]{2,40}:\s+`)
	verbOfFact = regexp.MustCompile(`(?i)\s(?:is|are|was|were|must|should|can|cannot|may|need|needs|has|have|will|shall|do|does|require|requires|go|goes|count|counts|applies|apply|take|takes|cost|costs|only)\b`)
)

// baseVerbs begin clauses that are commands, beside the verbs of tools.
var baseVerbs = []string{
	"keep", "use", "tell", "say", "explain", "offer", "obtain", "collect", "confirm", "deny", "refuse", "respond", "reply", "answer", "wait", "prefer", "follow", "provide", "report", "include",
	"treat", "respect", "mention", "summarise", "summarize", "apologise", "apologize", "try", "limit", "review", "request", "require", "compensate", "promise", "disclose", "reveal", "guess", "invent", "assume",
	"hand", "let", "leave", "bring", "name", "quote", "cite", "state", "speak", "act", "be", "ensure", "remind", "warn", "decline", "proceed", "continue", "return", "record", "document", "prioritise", "prioritize",
}

// senseOfClause reads one clause of a policy.
func senseOfClause(text string) *clauseSense {
	text, _ = record.Text(unmark.Replace(text)).Clean()
	c := &clauseSense{text: text}
	s := strings.TrimRight(strings.TrimSpace(quotes.Replace(brackets.ReplaceAllString(text, ""))), " .!…")
	heading := strings.TrimSuffix(strings.TrimSpace(headingCut.FindString(s)), ":")
	s = fillerLead.ReplaceAllString(headingCut.ReplaceAllString(s, ""), "")
	c.read(s)
	if c.topic == "" {
		c.topic = limitTopic(s)
	}
	if c.topic == "" {
		c.topic = topicOf(s, c.doing, heading)
	}
	c.words = contentWords(text)
	return c
}

// read fills kind, doing and when from the clause's form.
func (c *clauseSense) read(s string) {
	if m := whenLead.FindStringSubmatch(s); m != nil {
		if c.readCase(strings.ToLower(m[1]), s[len(m[0]):]) {
			return
		}
	}
	switch {
	case avoidLead.MatchString(s):
		c.kind = clauseForbid
		c.topic = clip(asPerson(uncapital(avoidLead.ReplaceAllString(s, ""))), 9)
	case forbidLead.MatchString(s):
		c.kind, c.doing = clauseForbid, verbPhrase(forbidLead.ReplaceAllString(s, ""))
	case personLead.MatchString(s):
		c.topic = gerund(verbPhrase(personLead.ReplaceAllString(s, "")))
	case mayLead.MatchString(s):
		c.kind, c.doing = clauseAllow, verbPhrase(mayLead.ReplaceAllString(s, ""))
	case mustLead.MatchString(s):
		c.kind, c.doing = clauseRequire, verbPhrase(mustLead.ReplaceAllString(s, ""))
	case alwaysLead.MatchString(s) && startsWithVerb(alwaysLead.ReplaceAllString(s, "")):
		c.kind, c.doing = clauseRequire, verbPhrase(alwaysLead.ReplaceAllString(s, ""))
	case startsWithVerb(s):
		c.kind, c.doing = clauseRequire, verbPhrase(s)
	}
}

// limitTopic is a limit that the sentence sets, with what it limits: "refunds
// over $200".
func limitTopic(s string) string {
	loc := limitWords.FindStringIndex(s)
	if loc == nil {
		return ""
	}
	limit := s[loc[0]:loc[1]]
	if end := verbOfFact.FindStringIndex(limit); end != nil {
		limit = limit[:end[0]]
	}
	limit = clip(asPerson(limit), 7)
	switch first, _, _ := strings.Cut(strings.ToLower(limit), " "); first {
	case "at", "up", "no":
		return limit
	}
	if subject := subjectOf(s); subject != "" && len(strings.Fields(subject)) <= 4 {
		if strings.Contains(subject, limit) {
			return subject
		}
		return subject + " " + limit
	}
	return ""
}

// readCase reads "If X, Y" and "Before X, Y". For "before" and "after" the case
// is a moment, so only Y is kept.
func (c *clauseSense) readCase(lead, rest string) bool {
	condition, then, found := strings.Cut(rest, ", ")
	if !found {
		return false
	}
	// a list inside the condition ends at the last comma before a command
	for i := 0; i < 3; i++ {
		next, more, ok := strings.Cut(then, ", ")
		if !ok || startsLikeCommand(then) {
			break
		}
		condition, then = condition+", "+next, more
	}
	if startsLikeCommand(then) {
		c.read(then)
	} else {
		condition, _, _ = strings.Cut(rest, ", ")
	}
	if passive.MatchString(c.doing) {
		c.kind, c.doing = clauseFact, ""
	}
	switch lead {
	case "if", "when", "whenever", "in case", "unless":
		c.when = clip(asPerson(uncapital(condition)), 14)
		if c.kind == clauseFact && c.when != "" {
			c.kind = clauseWhen
		}
	}
	return c.doing != "" || c.when != ""
}

func startsLikeCommand(s string) bool {
	return forbidLead.MatchString(s) || mayLead.MatchString(s) || mustLead.MatchString(s) || alwaysLead.MatchString(s) || startsWithVerb(s)
}

func startsWithVerb(s string) bool {
	first, _, _ := strings.Cut(strings.ToLower(s), " ")
	first = strings.TrimRight(first, ",")
	if _, ok := verbs[first]; ok {
		return !slices.Contains([]string{"new", "page", "order", "file", "return", "call", "charge", "book"}, first) || strings.Contains(s, " ")
	}
	return slices.Contains(baseVerbs, first)
}

// verbPhrase is the first, short part of what is to be done, as the person would
// say it to the agent.
func verbPhrase(s string) string {
	s = uncapital(strings.TrimSpace(s))
	for _, stop := range []string{" unless ", " without ", " before ", " until ", " if ", " when ", " because ", " so that ", " in order ", " and only ", " except ", " regardless ", " for the agent", "; ", ": "} {
		if i := strings.Index(s, stop); i > 0 {
			s = s[:i]
		}
	}
	if loc := newSubject.FindStringIndex(s); loc != nil {
		s = s[:loc[0]]
	}
	if i := strings.Index(s, ", "); i > 0 && len(strings.Fields(s[:i])) >= 3 {
		s = s[:i]
	}
	if rest, ok := strings.CutSuffix(s, " these"); ok {
		s = rest + " that sort of thing"
	}
	return clip(asPerson(s), 11)
}

// topicOf is a noun phrase to ask about: the subject of a fact, the object of a
// command, the heading it stood under.
func topicOf(s, doing, heading string) string {
	if doing != "" {
		words := strings.Fields(doing)
		if len(words) < 2 || slices.Contains(functionWords, words[1]) && words[1] != "the" && words[1] != "a" && words[1] != "an" || slices.Contains([]string{"be", "keep", "make", "leave", "let", "say"}, words[0]) || words[1] == "me" {
			return gerund(doing)
		}
		return clip(strings.Join(words[1:], " "), 7)
	}
	if subject := subjectOf(s); subject != "" {
		return subject
	}
	if heading != "" {
		return "the " + strings.ToLower(heading)
	}
	if loc := verbOfFact.FindStringIndex(s); loc != nil {
		return clip(asPerson(s[loc[1]:]), 6)
	}
	return clip(asPerson(uncapital(s)), 6)
}

// subjectOf is the subject of a statement as a topic, "" where it is a pronoun or
// too long to say.
func subjectOf(s string) string {
	loc := verbOfFact.FindStringIndex(s)
	if loc == nil || loc[0] == 0 || whenLead.MatchString(s) {
		return ""
	}
	subject := uncapital(strings.TrimSpace(s[:loc[0]]))
	for _, d := range []string{"each ", "every ", "all ", "any ", "other ", "some "} {
		if rest, ok := strings.CutPrefix(subject, d); ok {
			subject = rest
			if d == "each " || d == "every " {
				subject = plural(rest)
			}
		}
	}
	subject, _, _ = strings.Cut(subject, ", ")
	subject = clip(asPerson(subject), 7)
	if slices.Contains([]string{"", "it", "you", "this", "these", "that", "they", "there", "me", "I", "we"}, subject) || len(strings.Fields(subject)) > 7 {
		return ""
	}
	return subject
}

var (
	myThings   = regexp.MustCompile(`(?i)\b(?:the |a |each |every )?(?:user|customer|client|caller|member)(?:'s|s'|s’|’s)\b`)
	myCompound = regexp.MustCompile(`(?i)\b(?:the |a )(?:user|customer) (profile|accounts?|names?|requests?|data|information|confirmation|details|email|history)\b`)
	myID       = regexp.MustCompile(`(?i)\b(?:the |a )?(?:user|customer) (ids?)\b`)
	iAm        = regexp.MustCompile(`(?i)\b(?:the|a) (?:booking )?(?:user|customer|client|caller)s? (is|has|was|does|doesn't|isn't|hasn't|wants|asks|needs|requests|complains|provides|says|confirms|agrees|insists|cannot|can|books|pays|buys)\b`)
	meObject   = regexp.MustCompile(`(?i)\b(?:the|a|any) (?:users?|customers?|clients?|callers?)\b|\b(?:users|customers|callers)\b`)
	myPronoun  = regexp.MustCompile(`(?i)\btheir\b`)
	secondVerb = regexp.MustCompile(`\b(?:and|or|but) (?:has|is|wants|asks|needs|complains|flies|books|pays)\b`)
	agentNoun  = regexp.MustCompile(`(?i)\bthe (?:agent|assistant)\b`)
)

// asPerson turns words that speak of the user into words by the user.
func asPerson(s string) string {
	before := s
	s = myThings.ReplaceAllString(s, "my")
	s = myID.ReplaceAllString(s, "my user $1")
	s = myCompound.ReplaceAllString(s, "my $1")
	s = iAm.ReplaceAllStringFunc(s, func(m string) string {
		words := strings.Fields(m)
		return "I " + firstPerson(words[len(words)-1])
	})
	s = meObject.ReplaceAllString(s, "me")
	if strings.HasPrefix(s, "I ") {
		s = secondVerb.ReplaceAllStringFunc(s, func(m string) string {
			joint, verb, _ := strings.Cut(m, " ")
			return joint + " " + firstPerson(verb)
		})
	}
	if s != before {
		s = myPronoun.ReplaceAllString(s, "my")
	}
	return agentNoun.ReplaceAllString(s, "you")
}

func firstPerson(verb string) string {
	switch strings.ToLower(verb) {
	case "is":
		return "am"
	case "isn't":
		return "am not"
	case "has":
		return "have"
	case "hasn't":
		return "haven't"
	case "does":
		return "do"
	case "doesn't":
		return "don't"
	case "flies":
		return "fly"
	case "was", "can", "cannot":
		return verb
	}
	return strings.TrimSuffix(verb, "s")
}

// clip cuts a phrase to at most n words and never ends on a word that waits for
// another.
func clip(s string, n int) string {
	words := strings.Fields(strings.Trim(s, " ,.;:\"'"))
	if len(words) > n {
		words = words[:n]
		for i := len(words) - 1; i >= 2 && i >= n-4; i-- {
			if w := words[i]; strings.HasSuffix(w, ",") || w == "and" || w == "or" {
				words = words[:i+1]
				break
			}
		}
	}
	for len(words) > 1 {
		last := strings.Trim(strings.ToLower(words[len(words)-1]), ",;:")
		if !slices.Contains(functionWords, last) && !slices.Contains([]string{"not", "be", "must", "should", "my", "your", "this", "any", "only", "one", "more", "than", "can", "no", "are", "has", "was", "has", "have", "other", "each"}, last) {
			break
		}
		words = words[:len(words)-1]
	}
	return strings.TrimRight(strings.Join(words, " "), ",;:")
}

// contentWords are the words that carry a clause's meaning, lower case, each
// once.
func contentWords(s string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c < 0x80 }) {
		if len(w) > 3 && !slices.Contains(functionWords, w) && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// clausesOf reads the values of the rule axis.
func clausesOf(rules []string) map[string]*clauseSense {
	out := make(map[string]*clauseSense, len(rules))
	for _, rule := range rules {
		if rule != "" && rule != record.Unspecified {
			out[rule] = senseOfClause(rule)
		}
	}
	return out
}
