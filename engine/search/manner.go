package search

import (
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
)

// manner is how a person writes. It is drawn once for a task and stays the same
// through the conversation.
type manner struct {
	name     string
	short    bool // fragments instead of sentences
	contexts int  // percent of asks that tell some background
	openers  []string
	closers  []string
	opening  int // percent of asks with an opener, and with a closer
	closing  int
	patience int // replies without progress they bear; 0 is the player's default
	voice    func(r *rand.Rand, sentences []string) string
}

// manners lists the ways of writing, each a person that support staff would
// recognise.
func manners() []manner {
	return []manner{
		{name: "plain", contexts: 25, openers: []string{"Hi,", "Hello,", "Hi there,", "Hey,"}, closers: []string{"Thanks.", "Thank you."}, opening: 40, closing: 30, voice: speakPlainly},
		{name: "terse", short: true, patience: 3, voice: speakTersely},
		{name: "rambling", contexts: 100, openers: []string{"Hi, so,", "Hello, I hope I'm in the right place.", "Right, where do I start.", "OK, so, long story."}, closers: []string{"Anyway, that's the whole story.", "Sorry for the long message.", "So, yes, that's about it.", "I hope that all made sense."}, opening: 80, closing: 70, patience: 6, voice: speakAtLength},
		{name: "lower_case", contexts: 20, openers: []string{"hey,", "hi,", "yo,"}, closers: []string{"thx", "ty", "cheers"}, opening: 45, closing: 40, voice: speakLower},
		{name: "second_language", contexts: 30, openers: []string{"Hello dear,", "Good day,", "Hello,", "Sorry for my English."}, closers: []string{"Thank you for help.", "Many thanks in advance.", "I wait for your answer."}, opening: 75, closing: 60, patience: 5, voice: speakSecondLanguage},
		{name: "polite", contexts: 25, openers: []string{"Good morning,", "Good afternoon,", "Hello, I hope you're well.", "Hi, sorry to bother you."}, closers: []string{"Thank you so much for your help.", "I'd really appreciate it.", "Many thanks in advance!", "Thank you kindly."}, opening: 90, closing: 90, patience: 6, voice: speakPlainly},
		{name: "formal", contexts: 30, openers: []string{"Dear support team,", "To whom it may concern,", "Dear Sir or Madam,"}, closers: []string{"Kind regards", "Yours sincerely", "With best regards"}, opening: 90, closing: 80, voice: speakFormally},
		{name: "chatty", contexts: 60, openers: []string{"Heya!", "Hi hi!", "Hey there :)", "Hello you!"}, closers: []string{"You're a star!", "Cheers, have a good one!", "Thanks a bunch :)", "Bye for now!"}, opening: 85, closing: 65, patience: 5, voice: speakChattily},
		{name: "typos", contexts: 20, openers: []string{"Hi,", "Hello,", "hey"}, closers: []string{"Thanks!", "thank you"}, opening: 40, closing: 35, voice: speakWithTypos},
		{name: "dictated", contexts: 35, openers: []string{"hi yeah", "hello um", "yes hi", "okay so"}, closers: []string{"okay thanks bye", "yeah thanks", "thank you"}, opening: 80, closing: 60, voice: speakIntoPhone},
		{name: "blunt", contexts: 10, openers: []string{"Listen.", "Look,", "OK."}, closers: []string{"That's all.", "Get it done.", "Well?"}, opening: 30, closing: 40, patience: 3, voice: speakPlainly},
		{name: "methodical", contexts: 40, openers: []string{"Hi, my points in order:", "Hello, here's what I have:", "A few points:", "For the ticket:"}, opening: 100, patience: 5, voice: speakInPoints},
	}
}

// MannerNames are the ways of writing that [record.User] may carry.
func MannerNames() []string {
	all := manners()
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].name
	}
	return names
}

func speakPlainly(_ *rand.Rand, sentences []string) string {
	for i := 1; i < len(sentences); i++ {
		if strings.HasSuffix(sentences[i-1], ",") {
			sentences[i] = uncapital(sentences[i])
		} else {
			sentences[i] = capital(sentences[i])
		}
	}
	return strings.Join(sentences, " ")
}

// fragmentEnd is put where a person of few words goes on to the next fragment.
var fragmentEnds = []string{". ", ". ", ", ", " - "}

func speakTersely(r *rand.Rand, sentences []string) string {
	var b strings.Builder
	end := pick(r, fragmentEnds)
	for i, s := range sentences {
		s = strings.TrimRight(s, ".")
		if i == 0 {
			b.WriteString(capital(s))
			continue
		}
		if last := sentences[i-1]; strings.HasSuffix(last, "?") || strings.HasSuffix(last, "!") {
			b.WriteString(" " + capital(s))
			continue
		}
		b.WriteString(end)
		if strings.HasPrefix(end, ".") {
			s = capital(s)
		} else {
			s = uncapital(s)
		}
		b.WriteString(s)
	}
	return b.String()
}

var rambles = []string{"so,", "anyway,", "what I mean is,", "well,", "the thing is,", "oh, and", "I mean,", "you see,", "and"}

func speakAtLength(r *rand.Rand, sentences []string) string {
	for i := 1; i < len(sentences); i++ {
		if i > 1 && i < len(sentences)-1 && !linked(sentences[i]) && chance(r, 45) {
			sentences[i] = capital(pick(r, rambles)) + " " + uncapital(sentences[i])
		}
	}
	return speakPlainly(r, sentences)
}

// linked says whether a sentence already leans on the one before.
func linked(s string) bool {
	for _, lead := range []string{"And ", "Also,", "By the way", "One more", "So ", "So,", "The reason", "Why?", "Or "} {
		if strings.HasPrefix(s, lead) {
			return true
		}
	}
	return false
}

func speakLower(r *rand.Rand, sentences []string) string {
	for i := range sentences {
		sentences[i] = outsideIDs(sentences[i], strings.ToLower)
		if chance(r, 40) {
			sentences[i] = outsideIDs(sentences[i], func(s string) string { return strings.ReplaceAll(s, "'", "") })
		}
	}
	return strings.TrimRight(strings.Join(sentences, " "), ".")
}

var longForms = strings.NewReplacer("I'm", "I am", "I've", "I have", "I'd like", "I would like", "I'd", "I would", "I'll", "I will", "don't", "do not", "doesn't", "does not", "didn't", "did not", "can't", "cannot", "couldn't", "could not",
	"haven't", "have not", "hasn't", "has not", "isn't", "is not", "wasn't", "was not", "won't", "will not", "wouldn't", "would not", "it's", "it is", "It's", "It is", "there's", "there is", "There's", "There is", "that's", "that is", "That's", "That is",
	"what's", "what is", "What's", "What is", "you're", "you are", "You're", "You are", "you'll", "you will", "You'll", "You will", "you'd", "you would", "we're", "we are", "We're", "We are", "they're", "they are", "let's", "let us", "Don't", "Do not", "We've", "We have")

var simplerWords = strings.NewReplacer("I would like to ", "I want ", "I am hoping you can ", "Please you can ", "I am trying to ", "I try to ", "Any chance you could ", "Is possible you ", "Would you mind ", "Is it possible ", "I was hoping to ", "I wanted to ", "Could you ", "Please could you ",
	" a while ago", " before", " the other day", " some days ago", "I need you to ", "I need that you ", "It is ", "Is ", "I have been", "I am", "as far as I know", "as I know", "As far as I know", "As I know")

func speakSecondLanguage(r *rand.Rand, sentences []string) string {
	for i := range sentences {
		sentences[i] = outsideIDs(sentences[i], func(s string) string { return dropArticles(r, simplerWords.Replace(longForms.Replace(s))) })
	}
	return speakPlainly(r, sentences)
}

// dropArticles leaves out every other article, as many languages have none.
func dropArticles(r *rand.Rand, s string) string {
	words := strings.Split(s, " ")
	kept := words[:0]
	for i, w := range words {
		if i > 0 && (w == "the" || w == "a" || w == "an") && chance(r, 55) {
			continue
		}
		kept = append(kept, w)
	}
	return strings.Join(kept, " ")
}

func speakFormally(r *rand.Rand, sentences []string) string {
	for i := range sentences {
		sentences[i] = outsideIDs(sentences[i], longForms.Replace)
	}
	first, last := 0, len(sentences)
	var head, tail string
	if len(sentences) > 1 && strings.HasSuffix(sentences[0], ",") {
		head, first = sentences[0]+"\n\n", 1
	}
	if last-first > 1 && !strings.ContainsAny(sentences[last-1][len(sentences[last-1])-1:], ".?!") {
		tail, last = "\n\n"+sentences[last-1], last-1
	}
	body := slices.Clone(sentences[first:last])
	body[0] = capital(body[0])
	return head + speakPlainly(r, body) + tail
}

func speakChattily(r *rand.Rand, sentences []string) string {
	for i := range sentences {
		if trimmed, ok := strings.CutSuffix(sentences[i], "."); ok && chance(r, 35) {
			sentences[i] = trimmed + pick(r, []string{"!", "!", " haha.", "..."})
		}
	}
	return speakPlainly(r, sentences)
}

func speakWithTypos(r *rand.Rand, sentences []string) string {
	for i := range sentences {
		sentences[i] = outsideIDs(sentences[i], func(s string) string { return misspell(r, s) })
	}
	return speakPlainly(r, sentences)
}

// misspell swaps two letters inside, or leaves one out of, about every sixth word
// of five letters or more. The first and the last letter stay, so that it can
// still be read.
func misspell(r *rand.Rand, s string) string {
	words := strings.Split(s, " ")
	for i, w := range words {
		letters := []rune(w)
		if len(letters) < 5 || !chance(r, 17) || slices.ContainsFunc(letters, func(c rune) bool { return !unicode.IsLetter(c) }) {
			continue
		}
		at := 1 + r.IntN(len(letters)-3)
		if chance(r, 60) {
			letters[at], letters[at+1] = letters[at+1], letters[at]
		} else {
			letters = slices.Delete(letters, at, at+1)
		}
		words[i] = string(letters)
	}
	return strings.Join(words, " ")
}

func speakIntoPhone(_ *rand.Rand, sentences []string) string {
	for i := range sentences {
		sentences[i] = outsideIDs(sentences[i], func(s string) string {
			s = lowerStarts(s)
			s = strings.Map(func(c rune) rune {
				if strings.ContainsRune(".,?!:;()\"", c) {
					return -1
				}
				return c
			}, s)
			return s
		})
		if i > 0 {
			sentences[i] = uncapital(sentences[i])
		}
	}
	return strings.Join(strings.Fields(strings.Join(sentences, " ")), " ")
}

// lowerStarts begins every sentence but the first in lower case.
func lowerStarts(s string) string {
	for _, end := range []string{". ", "? ", "! ", ": "} {
		parts := strings.Split(s, end)
		for i := range parts[1:] {
			parts[i+1] = uncapital(parts[i+1])
		}
		s = strings.Join(parts, end)
	}
	return s
}

func speakInPoints(r *rand.Rand, sentences []string) string {
	var b strings.Builder
	b.WriteString(sentences[0])
	numbered := chance(r, 50)
	for i, s := range sentences[1:] {
		b.WriteByte('\n')
		if numbered {
			b.WriteString(string(rune('1'+i)) + ". ")
		} else {
			b.WriteString("- ")
		}
		b.WriteString(capital(s))
	}
	return b.String()
}

// outsideIDs changes the text between the marked ids.
func outsideIDs(s string, change func(string) string) string {
	if !strings.ContainsRune(s, idOpen) {
		return change(s)
	}
	var b strings.Builder
	for s != "" {
		open := strings.IndexRune(s, idOpen)
		if open < 0 {
			b.WriteString(change(s))
			break
		}
		end := strings.IndexRune(s, idClose)
		if end < open {
			break
		}
		end += len(string(idClose))
		b.WriteString(change(s[:open]))
		b.WriteString(s[open:end])
		s = s[end:]
	}
	return b.String()
}
