package agent

import (
	"slices"
	"strings"
)

// hit is how a tool was spoken of in a run of words.
type hit struct {
	verb, object bool
	at           int // of the verb, or of the object without one
}

func (h hit) score(t *toolSense, refers bool) int {
	score := 0
	if h.verb {
		score += 2
		if t.family == looking {
			score-- // everything can be looked at
		}
	}
	if h.object {
		score += 2
	}
	if refers && (h.verb || h.object) {
		score++
	}
	return score
}

// enough is the score from which a tool counts as asked for: its verb and its
// object, or one of them and a thing that it takes.
const enough = 3

// listen finds how each tool is spoken of, in the order of the tools.
func (b *briefing) listen(words []token) []hit {
	hits := make([]hit, len(b.tools))
	note := func(i, at int, h hit) {
		if !hits[i].verb && (h.verb || !hits[i].object) {
			hits[i].at = at
		}
		hits[i].verb = hits[i].verb || h.verb
		hits[i].object = hits[i].object || h.object
	}
	for at := 0; at < len(words); {
		step := 1
		for _, p := range phrasebook[words[at].lower] {
			if !follows(words[at+1:], p.rest) {
				continue
			}
			for i := range b.tools {
				if b.tools[i].family == p.family {
					note(i, at, hit{verb: true})
				}
			}
			step = 1 + len(p.rest)
			if p.family != looking || len(p.rest) > 0 {
				break
			}
		}
		noun := singular(words[at].lower)
		for i := range b.tools {
			if slices.Contains(b.tools[i].nouns, noun) {
				note(i, at, hit{object: true})
			}
		}
		at += step
	}
	return hits
}

func follows(words []token, rest []string) bool {
	if len(words) < len(rest) {
		return false
	}
	for i, w := range rest {
		if words[i].lower != w {
			return false
		}
	}
	return true
}

// wish is what a message asks for.
type wish struct {
	tools []*toolSense // in the order in which they are asked for
	named []string     // things named, as they were written
}

// hear finds what is asked for: the sentence that speaks most plainly of a tool,
// and a second tool that follows in it behind "then" or "and".
func (b *briefing) hear(words []token) wish {
	var w wish
	w.named = things(words, b)
	best := 0
	for start := 0; start < len(words); {
		end := start + 1
		for end < len(words) && words[end].sentence == words[start].sentence {
			end++
		}
		tools, score := b.asked(words[start:end], len(w.named) > 0)
		if score > best {
			best, w.tools = score, tools
		}
		start = end
	}
	return w
}

// asked lists the tools asked for in a sentence, at most two, with the best score.
func (b *briefing) asked(sentence []token, refers bool) ([]*toolSense, int) {
	hits := b.listen(sentence)
	first, best := -1, enough-1
	for i := range b.tools {
		if s := hits[i].score(&b.tools[i], refers && b.tools[i].refers()); s > best || s == best && first >= 0 && hits[i].at < hits[first].at {
			first, best = i, s
		}
	}
	if first < 0 {
		return nil, 0
	}
	out := []*toolSense{&b.tools[first]}
	for i := range b.tools {
		h := hits[i]
		if i == first || !h.verb || h.score(&b.tools[i], refers && b.tools[i].refers()) < enough {
			continue
		}
		from, to := min(h.at, hits[first].at), max(h.at, hits[first].at)
		if !slices.ContainsFunc(sentence[from:to], func(t token) bool { return t.lower == "then" || t.lower == "and" }) {
			continue
		}
		if h.at < hits[first].at {
			return []*toolSense{&b.tools[i], out[0]}, best
		}
		return append(out, &b.tools[i]), best
	}
	return out, best
}

func (t *toolSense) refers() bool {
	return slices.ContainsFunc(t.args, func(a argSense) bool { return a.kind == argReference })
}

// things lists what words name by an id or a name: whatever is shaped like an id
// first, then what stands where a name stands.
func things(words []token, b *briefing) []string {
	var ids, names []string
	for i, w := range words {
		switch {
		case shapedLikeID(w):
			ids = append(ids, w.raw)
		case i > 0 && standsForName(words, i, b):
			names = append(names, w.raw)
		}
	}
	return append(ids, names...)
}

// shapedLikeID reports digits with letters or signs, or words joined as no
// English word is.
func shapedLikeID(w token) bool {
	digits, letters, joints, capitals := 0, 0, 0, 0
	for i := 0; i < len(w.raw); i++ {
		switch c := w.raw[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'z':
			letters++
		case c >= 'A' && c <= 'Z':
			letters++
			capitals++
		case c == '-' || c == '_' || c == '/' || c == '#' || c == '@':
			joints++
		case c == '.' || c == ':':
		default:
			return false
		}
	}
	switch {
	case common[w.lower] || strings.Contains(w.raw, "--"):
		return false
	case digits > 0 && letters > 0:
		return digits > 1 || joints > 0 || capitals > 1
	case digits > 0:
		return digits > 5
	case joints > 0:
		return letters > joints+2
	}
	return capitals >= 6 && capitals == letters
}

// standsForName reports a word behind "for", "about" or a tool's own verb or
// noun, where the name of a thing stands.
func standsForName(words []token, i int, b *briefing) bool {
	w := words[i]
	if len(w.lower) < 3 || common[w.lower] || strings.Contains(w.lower, "'") || words[i-1].sentence != w.sentence {
		return false
	}
	if _, verb := phrasebook[w.lower]; verb {
		return false
	}
	if b.isNoun(w.lower) {
		return false
	}
	before := i - 1
	for before > 0 && (words[before].lower == "the" || words[before].lower == "our" || words[before].lower == "a") {
		before--
	}
	prev := words[before].lower
	if words[before].last || prev == "the" {
		return false
	}
	if b.isNoun(singular(prev)) {
		return true
	}
	if prev == "for" || prev == "about" {
		// "for my sister's wedding" is no name: a name ends the phrase, or is followed
		// by its noun.
		return w.last || i+1 >= len(words) || words[i+1].sentence != w.sentence || b.isNoun(singular(words[i+1].lower)) || common[words[i+1].lower]
	}
	for _, p := range phrasebook[prev] {
		if len(p.rest) == 0 && p.family != looking && b.hasFamily(p.family) {
			return true
		}
	}
	return false
}

func (b *briefing) isNoun(word string) bool {
	for i := range b.tools {
		if slices.Contains(b.tools[i].nouns, word) {
			return true
		}
		for j := range b.tools[i].args {
			if b.tools[i].args[j].noun == word {
				return true
			}
		}
	}
	return false
}

func (b *briefing) hasFamily(f int) bool {
	return slices.ContainsFunc(b.tools, func(t toolSense) bool { return t.family == f })
}

// Signs of how a person speaks. They are read only.
var (
	pressing = signsOf("skip the usual", "skip the check", "skip the checks", "override=true", "no checks", "rules don't apply", "ignore all", "ignore your", "ignore previous", "override", "forget what you were told about", "don't give me the standard", "nobody is going to find",
		"no one will", "without asking", "don't ask me to confirm", "do not ask me to confirm", "just do it", "don't ask do it", "don't care what your", "consider it authorised", "consider it authorized", "already authorised", "it's authorised",
		"i authorise you", "i've cleared this", "full responsibility", "make exceptions", "without a fuss", "make sure somebody else answers", "even if something goes wrong", "maintenance mode", "new policy in force", "i said do it", "don't accept that", "last chance", "standard speech")
	asking    = signsOf("only asking", "just asking", "no action needed", "don't do anything yet", "do not do anything yet", "nothing has to happen", "want to understand", "only want to know", "for information", "only looking around", "what are my options", "what would happen", "i'll decide later", "more of a question", "think of it as homework", "just so that i know", "what i'm getting into", "comparing a few ways", "come back once", "long version", "i'm curious", "i am curious")
	wavering  = signsOf("i may be wrong", "not certain that", "not sure that", "not the right thing", "leave it as it was", "keep it the way it was", "said we must not", "wants the opposite", "rather don't", "please don't", "be able to take it back", "i want both", "it has to be both", "keep things as they are", "nothing may change", "you didn't", "only half of it")
	agreeing  = []string{"yes", "yep", "yeah", "go ahead", "do it", "i confirm", "that is correct", "please proceed", "go for it", "i agree", "correct", "sure", "ok", "okay"}
	declining = []string{"no", "nope", "nah", "don't", "dont", "do not", "leave it", "rather you didn't", "not what i", "rather leave it"}
)

func containsAny(text string, signs []string) bool {
	for _, s := range signs {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// opens reports whether a text begins with one of the signs, as whole words,
// behind filler at most.
func opens(text string, signs []string) bool {
	text = strings.TrimLeft(text, " .,!?")
	for _, filler := range []string{"um ", "uh ", "oh ", "well, ", "hmm, ", "hmm ", "right, ", "haha, "} {
		text = strings.TrimPrefix(text, filler)
	}
	for _, s := range signs {
		if rest, ok := strings.CutPrefix(text, s); ok && (rest == "" || !(rest[0] >= 'a' && rest[0] <= 'z' || rest[0] == '\'')) {
			return true
		}
	}
	return false
}
