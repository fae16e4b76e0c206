package record

import (
	"strings"
	"unicode/utf8"
)

// Hidden reports whether r acts on a terminal or on the text around it, or is not
// seen: control characters, bidirectional controls, zero-width characters, tags.
func Hidden(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7F && r <= 0x9F, r == 0xAD, r == 0x61C, r == 0x180E,
		r >= 0x200B && r <= 0x200F, r >= 0x2028 && r <= 0x202E, r >= 0x2060 && r <= 0x206F,
		r == 0xFEFF, r >= 0xFFF9 && r <= 0xFFFB, r >= 0xE0000 && r <= 0xE0FFF:
		return true
	}
	return false
}

// EscapeHidden writes the hidden characters in the strings of a JSON text as
// \uXXXX. No reader of JSON sees a difference; a terminal does.
func EscapeHidden(raw []byte) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(raw); {
		if raw[i] < 0x7F { // JSON has no C0 inside its strings
			i++
			continue
		}
		r, n := utf8.DecodeRune(raw[i:])
		if Hidden(r) {
			out = appendEscape(append(out, raw[done:i]...), r)
			done = i + n
		}
		i += n
	}
	if done == 0 {
		return raw
	}
	return append(out, raw[done:]...)
}

// HasHidden reports whether s holds a character that [EscapeHidden] would escape.
func HasHidden(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r >= 0x7F && Hidden(r) })
}

func appendEscape(dst []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	if r > 0xFFFF {
		r -= 0x10000
		return appendEscape(appendEscape(dst, 0xD800+r>>10), 0xDC00+r&0x3FF)
	}
	return append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}
