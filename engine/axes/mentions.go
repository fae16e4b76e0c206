package axes

import (
	"strings"
	"unicode"

	"assay/engine/record"
)

// Mentions are the tools that a text speaks of, in the order of the list: by
// name, or in plain English. "Please cancel my two orders" reaches cancel_order.
//
// A tool is spoken of where every word of its name, bare of endings, stands
// within a few words of the others; words that name no thing or act (get, the
// number of a version) need not.
func Mentions(tools []record.Tool, text string) []string {
	words := stems(text)
	folded := strings.ToLower(text)
	var out []string
	for _, t := range tools {
		if strings.Contains(folded, strings.ToLower(t.Name)) && len(record.NameWords(t.Name)) > 1 || near(nameStems(t.Name), words) {
			out = append(out, t.Name)
		}
	}
	return out
}

// mentionWindow is how many words may hold all of a tool's name: "cancel that
// silly second order of mine". Convention, untested.
const mentionWindow = 8

// idleWords of a name say nothing that an ask would repeat.
var idleWords = wordSet(`get to the a an of for by in on do make my user all new details detail info data list fetch read lookup look find search show v1 v2 api tool`)

// nameStems are the stems of a tool's name that an ask has to hold.
func nameStems(name string) []string {
	words := record.NameWords(name)
	var out []string
	for _, w := range words {
		if !idleWords[w] {
			out = append(out, stem(w))
		}
	}
	if len(out) == 0 {
		for _, w := range words {
			out = append(out, stem(w))
		}
	}
	return out
}

// near reports whether some window of the words holds every wanted one.
func near(wanted, words []string) bool {
	if len(wanted) == 0 {
		return false
	}
	latest := make([]int, len(wanted))
	for i := range latest {
		latest[i] = -1
	}
	for at, w := range words {
		hit := false
		for i, want := range wanted {
			if w == want {
				latest[i], hit = at, true
			}
		}
		if !hit {
			continue
		}
		whole := true
		for _, l := range latest {
			whole = whole && l >= 0 && at-l < mentionWindow
		}
		if whole {
			return true
		}
	}
	return false
}

// stems are the words of a text, bare of their endings.
func stems(text string) []string {
	words := wordsOf(text)
	for i, w := range words {
		words[i] = stem(w)
	}
	return words
}

// wordsOf are the words of a text in lower case.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// endings that English puts on a verb or noun, in the order in which they are
// tried.
var endings = []string{"ications", "ication", "ations", "ation", "ments", "ment", "ions", "ion", "ying", "ings", "ing", "ies", "ied", "es", "ed", "s", "e", "y"}

// minStem is the shortest stem: an ending is cut only from what leaves three
// letters.
const minStem = 3

// stem is a word without its ending: cancel, cancels, cancelled, cancelling and
// cancellation are one. It is cruder than Porter's (1980) and enough to match an
// ask with a name.
func stem(word string) string {
	for _, ending := range endings {
		rest, ok := strings.CutSuffix(word, ending)
		if !ok || len(rest) < minStem || ending == "s" && strings.HasSuffix(rest, "u") {
			continue // "status" has no ending
		}
		word = rest
		break
	}
	if n := len(word); n > minStem && word[n-1] == word[n-2] {
		word = word[:n-1] // cancelled, shipping
	}
	return word
}
