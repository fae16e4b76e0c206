package ui

import (
	"slices"
	"unicode"
)

// Field is a line of text that is being typed. It holds what was typed as it is
// and shows it clean. The zero value is empty.
type Field struct {
	text   []rune
	cursor int // before text[cursor]
}

// maxField bounds what a field takes, as when a file is pasted into it: more than
// any filter or note is long. Convention, untested.
const maxField = 1 << 14

// Text is what was typed.
func (f *Field) Text() string { return string(f.text) }

// Empty reports whether nothing is there.
func (f *Field) Empty() bool { return len(f.text) == 0 }

// Set replaces the text and puts the cursor behind it.
func (f *Field) Set(text string) {
	f.text = []rune(text)
	f.text = f.text[:min(len(f.text), maxField)]
	f.cursor = len(f.text)
}

// Insert puts text in at the cursor. A line feed becomes a space: a field is one
// line.
func (f *Field) Insert(text string) {
	in := []rune(text)
	in = in[:min(len(in), maxField-len(f.text))]
	for i, r := range in {
		if r == '\n' || r == '\r' {
			in[i] = ' '
		}
	}
	f.text = slices.Insert(f.text, f.cursor, in...)
	f.cursor += len(in)
}

// Before and After are the text on either side of the cursor.
func (f *Field) Before() string { return string(f.text[:f.cursor]) }

// After is the text behind the cursor.
func (f *Field) After() string { return string(f.text[f.cursor:]) }

// Replace puts text in the place of the last n characters before the cursor.
func (f *Field) Replace(n int, text string) {
	n = min(n, f.cursor)
	f.text = slices.Delete(f.text, f.cursor-n, f.cursor)
	f.cursor -= n
	f.Insert(text)
}

// Key takes a key and reports whether it was one of the field's: what types, and
// the usual keys of a line, those of Emacs among them. text is what the key types.
func (f *Field) Key(key, text string) bool {
	switch key {
	case "left", "ctrl+b":
		f.cursor = max(f.cursor-1, 0)
	case "right", "ctrl+f":
		f.cursor = min(f.cursor+1, len(f.text))
	case "home", "ctrl+a":
		f.cursor = 0
	case "end", "ctrl+e":
		f.cursor = len(f.text)
	case "alt+left", "ctrl+left", "alt+b":
		f.cursor = f.wordBefore()
	case "alt+right", "ctrl+right", "alt+f":
		f.cursor = f.wordAfter()
	case "backspace", "ctrl+h":
		f.cut(max(f.cursor-1, 0), f.cursor)
	case "delete", "ctrl+d":
		f.cut(f.cursor, min(f.cursor+1, len(f.text)))
	case "ctrl+w", "alt+backspace":
		f.cut(f.wordBefore(), f.cursor)
	case "ctrl+u":
		f.cut(0, f.cursor)
	case "ctrl+k":
		f.cut(f.cursor, len(f.text))
	default:
		if text == "" {
			return false
		}
		f.Insert(text)
	}
	return true
}

func (f *Field) cut(from, to int) {
	f.text = slices.Delete(f.text, from, to)
	f.cursor = from
}

func (f *Field) wordBefore() int {
	at := f.cursor
	for at > 0 && unicode.IsSpace(f.text[at-1]) {
		at--
	}
	for at > 0 && !unicode.IsSpace(f.text[at-1]) {
		at--
	}
	return at
}

func (f *Field) wordAfter() int {
	at := f.cursor
	for at < len(f.text) && !unicode.IsSpace(f.text[at]) {
		at++
	}
	for at < len(f.text) && unicode.IsSpace(f.text[at]) {
		at++
	}
	return at
}

// Spans draws the field in at most width cells with its cursor, scrolled so that
// the cursor is seen.
func (f *Field) Spans(t Theme, width int) []Span {
	if width <= 0 {
		return nil
	}
	before, under := CleanLine(f.Before()), " "
	rest := ""
	if f.cursor < len(f.text) {
		under = CleanLine(string(f.text[f.cursor]))
		rest = CleanLine(string(f.text[f.cursor+1:]))
	}
	if over := Width(before) + Width(under) - width; over > 0 {
		before = ellipsis + cutFront(before, over+1)
	}
	left := width - Width(before) - Width(under)
	return []Span{S(t.Text, before), S(t.Text.With(Reverse), under), S(t.Text, Cut(rest, left))}
}
