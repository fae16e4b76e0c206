package agent

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"assay/engine/record"
)

// cannotTell are the ways to say that one does not know.
var cannotTell = []string{"don't know", "dont know", "do not know", "not know", "don't have", "dont have", "do not have", "no idea", "no clue", "not in possession", "cannot provide", "not known to me",
	"how should i know", "your job to know", "can't find that", "wouldn't know", "told you all", "all i have", "not understand where"}

// learn takes an answer to what was asked.
func (t *talk) learn(words []token, named []string) {
	a := t.asked
	switch {
	case containsAny(lower(t.message), cannotTell):
	case a.kind == argReference && len(a.enum) == 0:
		t.told[a.name] = t.nameIn(words, named)
	case a.kind == argText:
		t.told[a.name] = strings.TrimSpace(t.message)
	default:
		t.told[a.name] = t.valueIn(a, words)
	}
}

// nameIn is the word of an answer that is a name: the first that ends a phrase or
// stands by a "is" ("It's catalog, if I read that right"), else one that was
// named at all.
func (t *talk) nameIn(words []token, named []string) string {
	for i, w := range words {
		if common[w.lower] || len(w.raw) < 3 || t.brief.isNoun(w.lower) {
			continue
		}
		if w.last || i+1 == len(words) || i > 0 && equates[words[i-1].lower] || equates[words[i+1].lower] {
			return w.raw
		}
	}
	if len(named) > 0 {
		return named[0]
	}
	return ""
}

var equates = wordsOf("is its it's be was that's isn't are")

// fill fills in a tool's arguments. Where some are missing it asks for the first
// or, where only ids are, invents them.
func (t *talk) fill(tool *toolSense) (args []byte, ids []string, ok bool) {
	lacking := t.lacking(tool)
	if len(lacking) == 0 {
		args, ids = t.filled(tool)
		return args, ids, true
	}
	if slices.ContainsFunc(lacking, func(a *argSense) bool { return a.kind != argReference || len(a.enum) > 0 }) || !t.plays(faultInventedID) {
		t.askFor(tool, lacking[0])
		return nil, nil, false
	}
	for _, a := range lacking {
		prefix := strings.ToUpper(a.noun)
		t.told[a.name] = inventedCode(t.seed, prefix[:min(3, len(prefix))])
	}
	args, ids = t.filled(tool)
	return args, ids, true
}

// lacking lists the arguments for which nothing is known, and keeps what is known
// of the others: what follows may be said in another message.
func (t *talk) lacking(tool *toolSense) []*argSense {
	var words []token
	var out []*argSense
	free := slices.DeleteFunc(slices.Clone(t.named), func(name string) bool {
		return slices.ContainsFunc(tool.args, func(a argSense) bool { return t.told[a.name] == name })
	})
	for i := range tool.args {
		a := &tool.args[i]
		if !a.required || t.told[a.name] != "" {
			continue
		}
		plain := a.kind == argReference && len(a.enum) == 0
		switch {
		case plain && len(free) > 0:
			t.told[a.name], free = free[0], free[1:]
			continue
		case !plain && words == nil:
			words = tokenize(t.message)
		}
		if !plain {
			t.told[a.name] = t.valueIn(a, words)
		}
		if t.told[a.name] == "" {
			out = append(out, a)
		}
	}
	return out
}

// filled is a tool's arguments as JSON, with the ids among them.
func (t *talk) filled(tool *toolSense) (args []byte, ids []string) {
	args = append(args, '{')
	for i := range tool.args {
		a := &tool.args[i]
		if !a.required {
			continue
		}
		if a.kind == argReference {
			ids = append(ids, t.told[a.name])
		}
		args = appendMember(args, a, t.told[a.name])
	}
	return append(args, '}'), ids
}

// valueIn finds a value for an argument that is no plain reference in words.
func (t *talk) valueIn(a *argSense, words []token) string {
	if len(a.enum) > 0 {
		for _, e := range a.enum {
			if slices.ContainsFunc(words, func(w token) bool { return w.lower == lower(e) }) {
				return e
			}
		}
		return ""
	}
	switch a.kind {
	case argText:
		return clip(strings.Join(strings.Fields(t.message), " "))
	case argNumber:
		for _, w := range words {
			if n := strings.TrimLeft(w.raw, "$€£"); isNumber(n) {
				return n
			}
		}
	case argFlag:
		return "true"
	case argDate:
		for _, w := range words {
			if len(w.raw) == 10 && w.raw[4] == '-' || len(w.raw) == 5 && w.raw[2] == ':' {
				return w.raw
			}
		}
	}
	return ""
}

// clip keeps a person's words short enough for a summary.
func clip(text string) string {
	const longest = 240 // convention, untested: two sentences
	if len(text) <= longest {
		return text
	}
	cut := strings.LastIndexByte(text[:longest], ' ')
	return text[:max(cut, 1)]
}

func isNumber(s string) bool {
	if s == "" || s[0] == '.' || s[len(s)-1] == '.' {
		return false
	}
	return strings.Trim(s, "0123456789.") == "" && strings.Count(s, ".") <= 1 && (s == "0" || s[0] != '0' || strings.HasPrefix(s, "0."))
}

func appendMember(dst []byte, a *argSense, value string) []byte {
	if !bytes.HasSuffix(dst, []byte("{")) {
		dst = append(dst, ',')
	}
	dst, _ = jsontext.AppendQuote(dst, a.name) // invalid UTF-8 becomes U+FFFD
	dst = append(dst, ':')
	if a.kind == argNumber && isNumber(value) || a.kind == argFlag {
		return append(dst, value...)
	}
	clean, _ := record.Text(value).Clean()
	dst, _ = jsontext.AppendQuote(dst, clean)
	return dst
}
