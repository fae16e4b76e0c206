package ui

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Marks that stand for characters which would not be seen, or would act.
const (
	markJoin      = "⁺" // an emoji's joiner: what follows belongs to what precedes
	markVariation = "ᵛ" // a variation selector of an emoji
	markNewline   = "↵"
	markTab       = "⇥   "
	markNoBase    = "◌" // carries a combining mark that has nothing to stand on
)

// maxCombining is how many combining marks one character may carry before the
// rest are spelt out; more would paint over the rows above and below. No living
// orthography stacks more than four (Unicode Standard Annex 15 allows 30).
const maxCombining = 4

const (
	zwj       = '\u200D'
	vs15      = '\uFE0E'
	vs16      = '\uFE0F'
	blank     = '\u2800' // braille pattern blank: graphic, and empty
	firstTone = 0x1F3FB
	lastTone  = 0x1F3FF
	firstFlag = 0x1F1E6
	lastFlag  = 0x1F1FF
)

// Clean makes text from outside safe to show and hides nothing of it: control
// characters, escapes, bidirectional controls, zero-width characters, invalid
// bytes, lone surrogates and unassigned code points become visible marks. Line
// feeds stay; the rest of what it returns is printable.
//
// It is idempotent, and costs nothing for printable ASCII.
func Clean(s string) string {
	if isPlain(s, true) {
		return s
	}
	return clean(s, "\n")
}

// bytesPerCell is the most that one cell of cleaned text can come from: a
// character and the marks that it may carry, four bytes each.
const bytesPerCell = (1 + maxCombining) * utf8.UTFMax

// longestLine is how much of a text [CleanLine] reads: more than the widest of
// windows shows in a row.
const longestLine = 1 << 14

// CleanLine is Clean for a name or a sentence that stands on one row: a line feed
// becomes a visible mark too, and what no row has room for is cut off with an
// ellipsis. Text of any length belongs in [Clean].
func CleanLine(s string) string { return cleanLine(s, longestLine) }

// Line is [CleanLine] for a row of so many cells: it costs what is seen however
// long the text is.
func Line(s string, width int) string {
	return Cut(cleanLine(s, max(width, 0)*bytesPerCell+utf8.UTFMax), width)
}

func cleanLine(s string, most int) string {
	more := ""
	if len(s) > most {
		for back := 0; back < 3 && s[most]&0xC0 == 0x80; back++ {
			most-- // not inside a character
		}
		s, more = s[:most], ellipsis
	}
	if isPlain(s, false) {
		return s + more
	}
	return clean(s, markNewline) + more
}

func isPlain(s string, newlines bool) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 0x7F || c < 0x20 && !(newlines && c == '\n') {
			return false
		}
	}
	return true
}

func clean(s, newline string) string {
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	for len(s) > 0 {
		n := plainPrefix(s)
		b.WriteString(s[:n])
		if s = s[n:]; s == "" {
			break
		}
		switch c := s[0]; {
		case c == '\n':
			b.WriteString(newline)
			s = s[1:]
		case c == '\t':
			b.WriteString(markTab)
			s = s[1:]
		case c < 0x20:
			b.WriteRune(0x2400 + rune(c)) // the Control Pictures block follows C0
			s = s[1:]
		case c == 0x7F:
			b.WriteRune(0x2421)
			s = s[1:]
		default:
			cluster, _ := ansi.FirstGraphemeCluster(s, ansi.WcWidth)
			cleanCluster(&b, cluster)
			s = s[len(cluster):]
		}
	}
	return b.String()
}

// plainPrefix is the length of the printable ASCII at the start of s, less a last
// character that something beyond ASCII might combine with.
func plainPrefix(s string) int {
	i := 0
	for i < len(s) && s[i] >= 0x20 && s[i] < 0x7F {
		i++
	}
	if i > 0 && i < len(s) && s[i] >= 0x80 {
		i--
	}
	return i
}

// cleanCluster writes one grapheme cluster whose first byte is no C0 control.
func cleanCluster(b *strings.Builder, cluster string) {
	combining, based, letter := 0, false, false
	first, _ := utf8.DecodeRuneInString(cluster)
	emoji := isPictograph(first) || strings.ContainsRune(cluster, '\u20E3')
	for len(cluster) > 0 {
		r, n := utf8.DecodeRuneInString(cluster)
		switch {
		case r == utf8.RuneError && n <= 1:
			n = spellInvalid(b, cluster)
			based, combining, letter = true, 0, false
		case based && emoji && r == zwj:
			b.WriteString(markJoin)
			combining, letter = 0, false
		case based && emoji && (r == vs15 || r == vs16):
			b.WriteString(markVariation)
			combining, letter = 0, false
		case isFlag(r):
			if second, m := utf8.DecodeRuneInString(cluster[n:]); isFlag(second) {
				b.WriteString(cluster[:n+m])
				n += m
			} else {
				spell(b, r) // half a flag: terminals disagree on its width
			}
			based = true
		case isHidden(r), !letter && unicode.In(r, unicode.Mc, unicode.Other_Grapheme_Extend): // belongs on a letter
			spell(b, r)
			based, combining, letter = true, 0, false
		case unicode.In(r, unicode.Mn, unicode.Me):
			if !based {
				b.WriteString(markNoBase)
				based = true
			}
			if combining++; combining > maxCombining {
				spell(b, r)
			} else {
				b.WriteRune(r)
			}
		default:
			b.WriteRune(r)
			based = true
			letter = letter || unicode.IsLetter(r)
		}
		cluster = cluster[n:]
	}
}

// isHidden is true of what has no shape of its own, or acts instead of showing. A
// skin tone is among it: it joins whatever stands before it, and terminals
// disagree on what that is as wide as.
func isHidden(r rune) bool {
	return r == blank || isTone(r) || !unicode.IsGraphic(r) ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

func isTone(r rune) bool { return r >= firstTone && r <= lastTone }

func isFlag(r rune) bool { return r >= firstFlag && r <= lastFlag }

// isPictograph is true of what emoji sequences begin with: symbols, and the
// digits and signs of keycaps are told by their enclosing mark instead.
func isPictograph(r rune) bool {
	return unicode.In(r, unicode.So, unicode.Sm, unicode.Po) && r >= 0x203C
}

// names of hidden characters that people know by name; the rest are spelt by
// number.
func nameOf(r rune) string {
	switch r {
	case '\u00AD':
		return "SHY"
	case '\u034F':
		return "CGJ"
	case '\u061C':
		return "ALM"
	case '\u200B':
		return "ZWSP"
	case '\u200C':
		return "ZWNJ"
	case zwj:
		return "ZWJ"
	case '\u200E':
		return "LRM"
	case '\u200F':
		return "RLM"
	case '\u2028':
		return "LS"
	case '\u2029':
		return "PS"
	case '\u202A':
		return "LRE"
	case '\u202B':
		return "RLE"
	case '\u202C':
		return "PDF"
	case '\u202D':
		return "LRO"
	case '\u202E':
		return "RLO"
	case '\u2060':
		return "WJ"
	case '\u2066':
		return "LRI"
	case '\u2067':
		return "RLI"
	case '\u2068':
		return "FSI"
	case '\u2069':
		return "PDI"
	case '\uFEFF':
		return "BOM"
	}
	if isTone(r) {
		return fmt.Sprintf("tone %d", r-firstTone+2) // the Fitzpatrick scale begins with types 1 and 2 as one
	}
	return fmt.Sprintf("U+%04X", r)
}

func spell(b *strings.Builder, r rune) {
	b.WriteString("⟨")
	b.WriteString(nameOf(r))
	b.WriteString("⟩")
}

// spellInvalid writes what is not UTF-8 at the start of s and says how many bytes
// that was: a lone surrogate (three bytes of WTF-8) by its number, else one byte.
func spellInvalid(b *strings.Builder, s string) int {
	if len(s) >= 3 && s[0] == 0xED && s[1] >= 0xA0 && s[1] <= 0xBF && s[2] >= 0x80 && s[2] <= 0xBF {
		spell(b, 0xD000|rune(s[1]&0x3F)<<6|rune(s[2]&0x3F))
		return 3
	}
	fmt.Fprintf(b, "⟨x%02X⟩", s[0])
	return 1
}
