package search

import (
	"math/rand/v2"
	"strings"
	"unicode"
)

// pick draws one of the words.
func pick(r *rand.Rand, words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[r.IntN(len(words))]
}

// chance is true percent times of a hundred.
func chance(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }

// capital writes the first letter large.
func capital(s string) string {
	for i, c := range s {
		if c == idOpen || c == idClose || c == '"' || c == '\'' {
			if c == idOpen {
				return s // an id keeps its case
			}
			continue
		}
		return s[:i] + string(unicode.ToUpper(c)) + s[i+len(string(c)):]
	}
	return s
}

// uncapital writes the first letter small unless the word is an acronym or "I".
func uncapital(s string) string {
	first, _, _ := strings.Cut(s, " ")
	letters := []rune(strings.TrimRight(first, ".,:;'s"))
	if len(letters) == 0 || strings.HasPrefix(first, "I'") || first == "I" {
		return s
	}
	if len(letters) > 1 && unicode.IsUpper(letters[1]) {
		return s
	}
	return string(unicode.ToLower(letters[0])) + s[len(string(letters[0])):]
}

// doubled are the verbs of one syllable, and stressed ends, that double their
// last letter before -ing.
var doubled = map[string]bool{
	"get": true, "set": true, "stop": true, "run": true, "put": true, "drop": true, "cut": true, "let": true, "ship": true,
	"plan": true, "swap": true, "cancel": true, "transfer": true, "refer": true, "submit": true, "dig": true, "flag": true,
	"tag": true, "ban": true, "log": true, "scan": true, "map": true, "unplug": true, "skip": true, "wrap": true, "commit": true,
	"admit": true, "permit": true, "begin": true, "forget": true, "rebook": false, "tell": false, "label": true, "trim": true, "pin": true,
}

// gerund turns a verb phrase in base form into its -ing form: "pull up the
// runbook" becomes "pulling up the runbook".
func gerund(phrase string) string {
	adverb := ""
	verb, rest, found := strings.Cut(phrase, " ")
	for strings.HasSuffix(verb, "ly") || verb == "also" || verb == "first" || verb == "only" {
		if !found {
			return phrase
		}
		adverb += verb + " "
		verb, rest, found = strings.Cut(rest, " ")
	}
	switch {
	case verb == "be":
		verb = "being"
	case verb == "re-run":
		verb = "re-running"
	case doubled[verb]:
		verb += verb[len(verb)-1:] + "ing"
	case strings.HasSuffix(verb, "ie"):
		verb = verb[:len(verb)-2] + "ying"
	case strings.HasSuffix(verb, "e") && !strings.HasSuffix(verb, "ee") && !strings.HasSuffix(verb, "ye") && !strings.HasSuffix(verb, "oe"):
		verb = verb[:len(verb)-1] + "ing"
	default:
		verb += "ing"
	}
	if found {
		return adverb + verb + " " + gerundAfterAnd(rest)
	}
	return adverb + verb
}

// gerundAfterAnd carries -ing on to a second verb: "and page the human" becomes
// "and paging the human".
func gerundAfterAnd(rest string) string {
	for _, and := range []string{"and ", "but not ", " and ", " or ", " but not "} {
		i := strings.Index(rest, and)
		if i < 0 || and[0] != ' ' && i > 0 {
			continue
		}
		if tail := rest[i+len(and):]; startsWithVerb(tail) {
			return rest[:i+len(and)] + gerund(tail)
		}
	}
	return rest
}

// plural is the usual plural of an English noun, good enough for a question.
func plural(noun string) string {
	switch {
	case noun == "" || strings.HasSuffix(noun, "s"):
		return noun
	case noun == "person" || noun == "human":
		return "people"
	case strings.HasSuffix(noun, "y") && len(noun) > 1 && !strings.ContainsRune("aeiou", rune(noun[len(noun)-2])):
		return noun[:len(noun)-1] + "ies"
	case strings.HasSuffix(noun, "x"), strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "sh"):
		return noun + "es"
	}
	return noun + "s"
}

// article puts "a" or "an" before a noun phrase.
func article(np string) string {
	if np == "" {
		return np
	}
	if strings.ContainsRune("aeiou", unicode.ToLower([]rune(np)[0])) && !strings.HasPrefix(np, "user") && !strings.HasPrefix(np, "uni") {
		return "an " + np
	}
	return "a " + np
}

// fill replaces {name} by its value, in one pass: a value is never read again.
func fill(template string, values map[string]string) string {
	if !strings.Contains(template, "{") {
		return template
	}
	var b strings.Builder
	for {
		open := strings.IndexByte(template, '{')
		if open < 0 {
			break
		}
		end := strings.IndexByte(template[open:], '}')
		if end < 0 {
			break
		}
		b.WriteString(template[:open])
		name := template[open+1 : open+end]
		if value, ok := values[name]; ok {
			b.WriteString(value)
		} else {
			b.WriteString(template[open : open+end+1]) // a policy may speak in braces
		}
		template = template[open+end+1:]
	}
	b.WriteString(template)
	return b.String()
}
