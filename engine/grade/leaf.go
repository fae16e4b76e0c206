package grade

import (
	"strings"
	"unicode/utf8"
)

// leaf is one value at the end of a path through a JSON value.
type leaf struct {
	key   string // the nearest member name above it, "" where there is none
	depth int    // how many objects it lies in; a list adds none
	kind  byte   // 's' string, 'n' number, 'b' boolean, '0' null
	value string // a string decoded, anything else as written
}

// maxLeafDepth bounds the walk through a nested value: deeper than any tool's
// answer, shallow enough for any stack.
const maxLeafDepth = 64

// appendLeaves adds the leaves of one JSON value in the order in which they are
// written. It is the hot path of grading (a full decode costs five times as
// much), and it never fails: of text that is not JSON it adds what it understood.
func appendLeaves(dst []leaf, raw string) []leaf {
	w := leafWalk{s: raw, out: dst}
	w.value("", 0, 0)
	return w.out
}

type leafWalk struct {
	s   string
	pos int
	out []leaf
}

func (w *leafWalk) space() {
	for w.pos < len(w.s) {
		switch w.s[w.pos] {
		case ' ', '\t', '\n', '\r':
			w.pos++
		default:
			return
		}
	}
}

// value walks one value and reports whether it could.
func (w *leafWalk) value(key string, depth, nesting int) bool {
	w.space()
	if w.pos >= len(w.s) || nesting > maxLeafDepth {
		return false
	}
	switch c := w.s[w.pos]; c {
	case '{':
		return w.object(depth, nesting)
	case '[':
		return w.list(key, depth, nesting)
	case '"':
		text, ok := w.text()
		if ok {
			w.out = append(w.out, leaf{key, depth, 's', text})
		}
		return ok
	default:
		return w.scalar(key, depth)
	}
}

func (w *leafWalk) object(depth, nesting int) bool {
	w.pos++
	for {
		w.space()
		if w.take('}') {
			return true
		}
		if w.pos >= len(w.s) || w.s[w.pos] != '"' {
			return false
		}
		key, ok := w.text()
		if !ok {
			return false
		}
		w.space()
		if !w.take(':') || !w.value(key, depth+1, nesting+1) {
			return false
		}
		w.space()
		w.take(',')
	}
}

func (w *leafWalk) list(key string, depth, nesting int) bool {
	w.pos++
	for {
		w.space()
		if w.take(']') {
			return true
		}
		if !w.value(key, depth, nesting+1) {
			return false
		}
		w.space()
		w.take(',')
	}
}

func (w *leafWalk) take(c byte) bool {
	if w.pos < len(w.s) && w.s[w.pos] == c {
		w.pos++
		return true
	}
	return false
}

// text reads a string; it allocates only where there is an escape in it.
func (w *leafWalk) text() (string, bool) {
	start := w.pos + 1
	for i := start; i < len(w.s); i++ {
		switch w.s[i] {
		case '"':
			w.pos = i + 1
			return w.s[start:i], true
		case '\\':
			return w.escapedText(start)
		}
	}
	return "", false
}

func (w *leafWalk) escapedText(start int) (string, bool) {
	var b strings.Builder
	for i := start; i < len(w.s); i++ {
		switch c := w.s[i]; c {
		case '"':
			w.pos = i + 1
			return b.String(), true
		case '\\':
			i++
			if i >= len(w.s) {
				return "", false
			}
			i += unescape(&b, w.s[i:])
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

// unescape writes what the escape at the start of s (behind its backslash)
// stands for, and returns how many bytes it took beyond the first.
func unescape(b *strings.Builder, s string) int {
	switch s[0] {
	case 'n', 'r':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'b', 'f':
		b.WriteByte(' ')
	case 'u':
		if len(s) < 5 {
			return len(s) - 1
		}
		var r rune
		for _, c := range []byte(s[1:5]) {
			r = r<<4 | rune(hexValue(c))
		}
		if !utf8.ValidRune(r) { // half of a pair: what it says does not matter here
			r = utf8.RuneError
		}
		b.WriteRune(r)
		return 4
	default:
		b.WriteByte(s[0])
	}
	return 0
}

func hexValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return 0
}

// scalar reads a number, true, false or null.
func (w *leafWalk) scalar(key string, depth int) bool {
	start := w.pos
	for w.pos < len(w.s) {
		switch w.s[w.pos] {
		case ',', '}', ']', ' ', '\t', '\n', '\r', ':', '"', '{', '[':
			goto done
		}
		w.pos++
	}
done:
	value := w.s[start:w.pos]
	if value == "" {
		return false
	}
	kind := byte('n')
	switch value {
	case "true", "false":
		kind = 'b'
	case "null":
		kind = '0'
	}
	w.out = append(w.out, leaf{key, depth, kind, value})
	return true
}
