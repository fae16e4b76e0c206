package axes

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"assay/engine/record"
)

// KnownID is an id that stands in a tool's schema or in a text beside it. The
// asks use it and the world knows it; without that every run comes back "not
// found".
type KnownID struct {
	Argument string // the argument that takes it, "" where that is not said
	ID       string
}

// maxIDRunes is the longest id looked for: a UUID has 36 characters, a SHA-256
// 64.
const maxIDRunes = 64

// maxKnownIDs is how many ids are gathered; a run's asks use no more, and a policy
// that is a table of orders stays cheap.
const maxKnownIDs = 1000

// KnownIDs are the ids that stand in the descriptions, enums, examples and
// defaults of the tools' reference arguments, in the tools' descriptions, and
// in the texts (a policy, given asks); in that order, each once, at most a
// thousand. An id without a digit (payments-api) is known by being given as an
// example.
func KnownIDs(tools []record.Tool, texts ...string) []KnownID {
	ids := idList{ours: ourNames(tools)}
	for _, t := range tools {
		for _, a := range arguments(t.Parameters) {
			if a.isReference() {
				ids.fromArgument(a)
			}
		}
	}
	for _, t := range tools {
		ids.fromText(t.Description, ReferenceArguments(t))
	}
	var all []string
	for _, t := range tools {
		for _, name := range ReferenceArguments(t) {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	for _, text := range texts {
		ids.fromText(text, all)
	}
	return ids.found
}

// ourNames are the names of tools and arguments: words with marks in them that
// are no ids.
func ourNames(tools []record.Tool) map[string]bool {
	names := map[string]bool{}
	for _, t := range tools {
		names[t.Name] = true
		for _, a := range arguments(t.Parameters) {
			names[a.Name] = true
		}
	}
	return names
}

// idList gathers ids, each once.
type idList struct {
	found  []KnownID
	seen   map[string]int      // id to its index in found
	shapes map[string][]string // shape to the arguments that take ids like it
	ours   map[string]bool     // names of tools and arguments, which are no ids
}

func (l *idList) add(argument, id string) {
	if l.seen == nil {
		l.seen, l.shapes = map[string]int{}, map[string][]string{}
	}
	i, known := l.seen[id]
	switch {
	case known && l.found[i].Argument == "":
		l.found[i].Argument = argument
	case !known && len(l.found) < maxKnownIDs:
		l.seen[id] = len(l.found)
		l.found = append(l.found, KnownID{Argument: argument, ID: id})
	}
	if s := shape(id); argument != "" && !slices.Contains(l.shapes[s], argument) {
		l.shapes[s] = append(l.shapes[s], argument)
	}
}

func (l *idList) fromArgument(a argument) {
	for _, raw := range a.Enum {
		l.addValue(a.Name, raw)
	}
	l.addValue(a.Name, a.Const)
	for _, raw := range append(append(slices.Clone(a.Examples), a.Example), a.Default) {
		l.addValue(a.Name, raw)
	}
	for _, e := range examplesOf(a.Description) {
		l.add(a.Name, e.id)
	}
	for _, token := range idTokens(a.Description) {
		l.add(a.Name, token.id)
	}
}

// addValue takes a JSON string or whole number as an id.
func (l *idList) addValue(argument string, raw json.RawMessage) {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		var n json.Number
		if json.Unmarshal(raw, &n) != nil {
			return
		}
		s = n.String()
	}
	if s = strings.TrimSpace(s); s != "" && len(s) <= maxIDRunes && !placeholder(s) {
		l.add(argument, s)
	}
}

// placeholder is true of what stands for an id without being one.
func placeholder(s string) bool {
	return strings.ContainsAny(s, "<>{}") || slices.Contains([]string{"string", "id", "null", "none", "...", "xxx"}, strings.ToLower(s))
}

// fromText finds ids in prose and gives each to the argument whose thing is
// named before it, to one that takes ids of its shape, or to the only one. An
// example without a digit must look like a name and belong to an argument: prose
// gives examples of other things too.
func (l *idList) fromText(text string, references []string) {
	for _, token := range idTokens(text) {
		l.add(l.owner(token, references), token.id)
	}
	for _, token := range examplesOf(text) {
		if !looksLikeName(token.id) || l.ours[token.id] {
			continue
		}
		if owner := l.owner(token, references); owner != "" {
			l.add(owner, token.id)
		}
	}
}

func (l *idList) owner(token idToken, references []string) string {
	for i := len(token.before) - 1; i >= 0; i-- {
		for _, name := range references {
			if noun(name) == token.before[i] {
				return name
			}
		}
	}
	for _, argument := range l.shapes[shape(token.id)] {
		if slices.Contains(references, argument) {
			return argument
		}
	}
	if prefix := letters(token.id); len(prefix) >= 2 {
		for _, name := range references {
			if strings.HasPrefix(noun(name), prefix) {
				return name
			}
		}
	}
	if len(references) == 1 {
		return references[0]
	}
	return ""
}

// shape is an id with letters as A and digits as 9: ORD-1001 is AAA-9999.
func shape(id string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r):
			return 'A'
		case unicode.IsDigit(r):
			return '9'
		}
		return r
	}, id)
}

// letters is the run of letters that an id begins with, in lower case.
func letters(id string) string {
	end := strings.IndexFunc(id, func(r rune) bool { return !unicode.IsLetter(r) })
	if end < 0 {
		return ""
	}
	return strings.ToLower(id[:end])
}

// idToken is an id in prose with the words before it in its sentence.
type idToken struct {
	id     string
	before []string
}

// ownerWindow is how many words before an id may name its thing: "cancel order
// number ORD-1001".
const ownerWindow = 4

var (
	tokenRun = regexp.MustCompile(`[#@]?[\pL\pN]+(?:[-_:/.][\pL\pN]+)*`)
	// notIDs are words with letters and digits that name standards, units, times and
	// versions.
	notIDs = regexp.MustCompile(`(?i)^(?:\d+(?:st|nd|rd|th|s|x|k|m|g|gb|mb|kb|ms|min|h|hr|am|pm|px|d|w|y|kg|lb|cm|mm|km)|v\d[\w.]*|utf-?\d+|sha-?\d+|md5|base\d+|iso[- ]?\d[\d-]*|rfc[- ]?\d+|ipv[46]|oauth2?|h26[45]|mp[34]|s3|ec2|k8s|i18n|l10n|e2e|p\d{2}|q[1-4]|http\d?|http/\d.*|x\d\d|\d+-?(?:day|hour|minute|week|month|year|digit|character|step)s?|\d{4}-\d\d(?:-\d\d.*)?|\d{1,2}[:/.]\d{1,2}.*|\d+/\d+|24/7|level\d|tier\d|type\d|\d+d|[23]d|covid-19)$`)
)

// idTokens are the words of a text that read as ids: letters with digits (
// ORD-1001, M05KNL, sara_doe_496), or a number marked with #.
func idTokens(text string) []idToken {
	var out []idToken
	var before []string
	end := 0
	for _, span := range tokenRun.FindAllStringIndex(text, -1) {
		if strings.ContainsAny(text[end:span[0]], ".!?;\n") {
			before = before[:0]
		}
		end = span[1]
		word := text[span[0]:span[1]]
		if looksLikeID(word) {
			out = append(out, idToken{id: word, before: slices.Clone(before)})
			before = before[:0] // what names this id does not name the next
			continue
		}
		before = append(before, strings.ToLower(word))
		if len(before) > ownerWindow {
			before = before[1:]
		}
	}
	return out
}

func looksLikeID(word string) bool {
	var hasLetter, hasDigit bool
	for _, r := range word {
		hasLetter = hasLetter || unicode.IsLetter(r)
		hasDigit = hasDigit || unicode.IsDigit(r)
	}
	switch {
	case !hasDigit || len(word) < 3 || len(word) > maxIDRunes || notIDs.MatchString(word):
		return false
	case word[0] == '#':
		return true
	case strings.ContainsAny(word, "/."):
		return false // paths, versions and decimals
	}
	return hasLetter
}

var (
	// exampleLead announces examples; what follows up to the end of the sentence is
	// read for them.
	exampleLead  = regexp.MustCompile(`(?i)(?:\be\.?g\.?,?|\bfor (?:example|instance)[:,]?|\bsuch as:?|\bexamples?:|\blike|\bone of:?|\bsay,?)\s+([^.;()\n]*(?:\.[^\s.;()\n][^.;()\n]*)*)`)
	quotedWord   = regexp.MustCompile("[\"'`“‘]([\\pL\\pN#@][\\pL\\pN#@_./:-]*)[\"'`”’]")
	exampleSplit = regexp.MustCompile(`\s*(?:,\s*(?:or|and)\b|,|/|\bor\b|\band\b)\s*`)
	// bareExample is one word, with an article before it and, where it has a mark in
	// it, with its noun behind it: "the payments-api service".
	bareExample  = regexp.MustCompile(`(?i)^(?:(?:the|a|an|our|your)\s+)?([\pL\pN#@][\pL\pN#@_./:-]*)(?:\s+(\pL+))?$`)
	notAnExample = wordSet(`the a an this that etc other others any all more`)
)

// maxPerExample is how many examples are read of one list; more is a list of
// options rather than ids. Convention.
const maxPerExample = 12

// examplesOf are the single words that a text gives as examples: "for instance"
// quoted anywhere after "e.g.", or bare in a list of single words. Each comes
// with the words that stand before the list, and the noun behind it last.
func examplesOf(text string) []idToken {
	var out []idToken
	for _, at := range exampleLead.FindAllStringSubmatchIndex(text, -1) {
		before := wordsBefore(text[:at[0]])
		for i, e := range examplesIn(text[at[2]:at[3]]) {
			if i == maxPerExample {
				break
			}
			e.before = append(slices.Clone(before), e.before...)
			out = append(out, e)
		}
	}
	return out
}

// examplesIn are the examples of one list, each with the noun behind it.
func examplesIn(list string) []idToken {
	var out []idToken
	add := func(word string, nouns ...string) {
		word = strings.TrimRight(word, ".:/-")
		if word != "" && len(word) <= maxIDRunes && !placeholder(word) && !notAnExample[strings.ToLower(word)] {
			out = append(out, idToken{id: word, before: nouns})
		}
	}
	if quoted := quotedWord.FindAllStringSubmatch(list, -1); len(quoted) > 0 {
		for _, q := range quoted {
			add(q[1])
		}
		return out
	}
	for _, part := range exampleSplit.Split(strings.TrimSuffix(strings.TrimSpace(list), " etc"), -1) {
		word := bareExample.FindStringSubmatch(part)
		switch {
		case word == nil:
			return out
		case word[2] == "":
			add(word[1])
		case looksLikeName(word[1]):
			add(word[1], strings.ToLower(word[2]))
		default:
			return out
		}
	}
	return out
}

// wordsBefore are the last words of the sentence that a text breaks off in.
func wordsBefore(text string) []string {
	text = text[max(0, len(text)-ownerWindow*maxIDRunes):]
	text = text[1+strings.LastIndexAny(text, ".!?;\n"):]
	words := tokenRun.FindAllString(strings.ToLower(text), -1)
	return words[max(0, len(words)-ownerWindow):]
}

// commonParts make a compound word of plain English: on-call, read-only,
// third-party, follow-up.
var commonParts = wordSet(`on off up down in out by to of at only free time based related party call day night week month year hour minute term level
	non pre post re self multi high low mid full half cross long short well real follow back end line wide ready day-to-day first second third last one two
	check read write same real-time world class case risk cost step side user customer agent`)

// looksLikeName is true of a word that people would only write for a thing:
// marks in it and no plain English compound, payments-api or billing_worker.
func looksLikeName(word string) bool {
	if strings.Contains(word, "_") {
		return true
	}
	parts := strings.Split(strings.ToLower(word), "-")
	return len(parts) > 1 && !slices.ContainsFunc(parts, func(p string) bool { return commonParts[p] })
}
