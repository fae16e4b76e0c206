package grade

import "strings"

// word is one word of a text, lower-cased.
type word struct {
	text       string
	start, end int    // bytes in the text
	sentence   int    // counted from 0
	clause     int    // counted over the whole text
	key        uint64 // equal for equal words, rarely for others: quick to compare
	digits     int
}

// sentence is a run of words between two ends.
type sentence struct {
	first, last int // words, last exclusive
	question    bool
}

// prose is a text cut into words, clauses and sentences: what the rules that
// read language look at. Cutting is ASCII-minded; other letters are kept inside
// words as they are.
type prose struct {
	lower     string // the text with ASCII letters lower-cased; same length
	words     []word
	sentences []sentence
}

// apostrophe is the typographic one, which is read like the plain one.
const apostrophe = "\u2019"

// maxRead is how many bytes of a text are cut into words: a longer one is read at
// its two ends, half of this at each, since words take some ten times the room of
// their text and a few giants at once would fill a machine. The longest reply that a
// model is offered to write, 128,000 tokens, is about half of it.
const maxRead = 1 << 20

// cut fills p from text, reusing its slices. lower is whole whatever the length.
func (p *prose) cut(text string) {
	p.lower = lowerASCII(text)
	p.words, p.sentences = p.words[:0], p.sentences[:0]
	s := p.lower
	clause, first := 0, 0
	head, tail := len(s), len(s)
	if len(s) > maxRead {
		head, tail = maxRead/2, len(s)-maxRead/2
	}
	endSentence := func(question bool) {
		if len(p.words) > first {
			p.sentences = append(p.sentences, sentence{first, len(p.words), question})
			first = len(p.words)
		}
		clause++
	}
	for i := 0; i < len(s); {
		if i >= head && i < tail {
			endSentence(false)
			for i = tail; i < len(s) && wordInside(s, i); { // half a word is none
				i++
			}
			continue
		}
		c := s[i]
		if n := dash(s, i); n > 0 {
			clause++
			i += n
			continue
		}
		if wordByte(c) {
			start, wide := i, false
			for i < len(s) && wordInside(s, i) {
				wide = wide || s[i] >= 0x80
				i++
			}
			text := s[start:i]
			if wide {
				text = strings.ReplaceAll(text, apostrophe, "'")
			}
			p.words = append(p.words, word{text: text, start: start, end: i, sentence: len(p.sentences), clause: clause})
			p.words[len(p.words)-1].sum()
			continue
		}
		switch c {
		case '\n', '!':
			endSentence(false)
		case '?':
			endSentence(true)
		case '.':
			if i+1 >= len(s) || !wordByte(s[i+1]) {
				endSentence(false)
			}
		case ',', ';', ':', '(', ')':
			clause++
		case '-':
			if i > 0 && s[i-1] == ' ' {
				clause++
			}
		}
		i++
	}
	endSentence(false)
}

// wordByte reports bytes that words begin with: letters, digits, and everything
// beyond ASCII.
func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 0x80 || c == '_' || c == '#' || c == '$'
}

// wordInside reports whether the byte at i goes on with a word: apostrophes,
// hyphens, and dots inside numbers and names do where a word byte follows.
func wordInside(s string, i int) bool {
	c := s[i]
	if dash(s, i) > 0 {
		return false
	}
	if wordByte(c) {
		return true
	}
	if c == '\'' || c == '-' || c == '.' || c == '@' || c == '/' {
		return i+1 < len(s) && wordByte(s[i+1]) && s[i+1] < 0x80
	}
	return false
}

// dash is the length of the dash, quotation mark, ellipsis, dingbat or emoji at
// i: signs beyond ASCII that part words. 0 where there is none.
func dash(s string, i int) int {
	switch c := s[i]; {
	case c >= 0xF0:
		return min(4, len(s)-i)
	case c == 0xE2 && i+2 < len(s):
		sign := s[i : i+3]
		if sign == apostrophe || sign > "\u2bff" {
			return 0
		}
		return 3
	}
	return 0
}

func lowerASCII(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= 'A' && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if b[i] >= 'A' && b[i] <= 'Z' {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// at is the text of word i, "" outside.
func (p *prose) at(i int) string {
	if i < 0 || i >= len(p.words) {
		return ""
	}
	return p.words[i].text
}

// sum fills in what is quick to compare.
func (w *word) sum() {
	key := uint64(len(w.text))
	for i := 0; i < len(w.text); i++ {
		c := w.text[i]
		key = key*0x100000001b3 ^ uint64(c) // FNV-1a's prime
		if c >= '0' && c <= '9' {
			w.digits++
		}
	}
	w.key = key
}

// phrases is a set of word sequences, found by their first word.
type phrases struct {
	rests map[string][][]string
	// maybe holds a bit for the key of each first word: most words of a text are
	// none, and a map would be asked about each.
	maybe [16]uint64
}

// newPhrases makes a set from lines of words.
func newPhrases(lines ...string) *phrases {
	set := &phrases{rests: make(map[string][][]string, len(lines))}
	for _, line := range lines {
		words := strings.Fields(line)
		set.rests[words[0]] = append(set.rests[words[0]], words[1:])
		first := word{text: words[0]}
		first.sum()
		set.maybe[first.key>>6&15] |= 1 << (first.key & 63)
	}
	return set
}

// at reports whether one of the phrases begins at word i of p.
func (ph *phrases) at(p *prose, i int) bool {
	w := &p.words[i]
	if ph.maybe[w.key>>6&15]&(1<<(w.key&63)) == 0 {
		return false
	}
	for _, rest := range ph.rests[w.text] {
		if followedBy(p, i+1, rest) {
			return true
		}
	}
	return false
}

func followedBy(p *prose, i int, words []string) bool {
	if i+len(words) > len(p.words) {
		return false
	}
	for j, w := range words {
		if p.words[i+j].text != w {
			return false
		}
	}
	return true
}

// in reports whether one of the phrases stands in words [from, to) of p.
func (ph *phrases) in(p *prose, from, to int) bool {
	for i := from; i < to; i++ {
		if ph.at(p, i) {
			return true
		}
	}
	return false
}

// anywhere reports whether one of the phrases stands in p.
func (ph *phrases) anywhere(p *prose) bool { return ph.in(p, 0, len(p.words)) }
