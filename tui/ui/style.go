package ui

import "strconv"

// Color is a colour of a theme: 0 is the terminal's own, others come from [RGB].
// Bubble Tea turns them into what the terminal can show.
type Color uint32

// RGB is the colour 0xRRGGBB.
func RGB(hex uint32) Color { return Color(1<<24 | hex&0xFFFFFF) }

// Attr is a set of text attributes.
type Attr uint8

// Text attributes.
const (
	Bold Attr = 1 << iota
	Dimmed
	Italic
	Underline
	Reverse
)

// Style is how text looks. The zero value is the terminal's own look.
type Style struct {
	FG, BG Color
	Attr   Attr
}

// On is the style on top of another: what it leaves open comes from below.
func (s Style) On(base Style) Style {
	if s.FG == 0 {
		s.FG = base.FG
	}
	if s.BG == 0 {
		s.BG = base.BG
	}
	s.Attr |= base.Attr
	return s
}

// With is the style with attributes added.
func (s Style) With(a Attr) Style {
	s.Attr |= a
	return s
}

// Render is text in the style; the text must be clean.
func (s Style) Render(text string) string {
	if s == (Style{}) || text == "" {
		return text
	}
	return string(s.appendTo(make([]byte, 0, len(text)+48), text))
}

func (s Style) appendTo(b []byte, text string) []byte {
	if s == (Style{}) || text == "" {
		return append(b, text...)
	}
	b = append(b, "\x1b["...)
	mark := len(b)
	for i, code := range [...]byte{'1', '2', '3', '4', '7'} {
		if s.Attr&(1<<i) != 0 {
			b = append(b, code, ';')
		}
	}
	b = appendColor(b, '3', s.FG)
	b = appendColor(b, '4', s.BG)
	if len(b) > mark {
		b = b[:len(b)-1] // the last separator
	}
	b = append(b, 'm')
	b = append(b, text...)
	return append(b, "\x1b[m"...)
}

func appendColor(b []byte, plane byte, c Color) []byte {
	if c == 0 {
		return b
	}
	b = append(b, plane, '8', ';', '2', ';')
	for shift := 16; shift >= 0; shift -= 8 {
		b = strconv.AppendUint(b, uint64(c>>shift&0xFF), 10)
		b = append(b, ';')
	}
	return b
}

// Span is a piece of a row.
type Span struct {
	Text  string // clean
	Style Style
}

// S makes a span.
func S(style Style, text string) Span { return Span{Text: text, Style: style} }

// Row draws spans side by side in exactly width cells on a base style: what does
// not fit is cut with an ellipsis, what is left over is filled.
func Row(width int, base Style, spans ...Span) string {
	if width <= 0 {
		return ""
	}
	b := make([]byte, 0, width+24*len(spans))
	left := width
	for i, span := range spans {
		w := Width(span.Text)
		if w == 0 {
			continue
		}
		style := span.Style.On(base)
		if w > left || w == left && anyText(spans[i+1:]) {
			cut := Cut(span.Text, left)
			if w == left {
				cut = Cut(span.Text+ellipsis, left) // more follows that is not shown
			}
			b = style.appendTo(b, cut)
			left -= Width(cut)
			break
		}
		b = style.appendTo(b, span.Text)
		left -= w
	}
	return string(base.appendTo(b, Spaces(left)))
}

func anyText(spans []Span) bool {
	for _, s := range spans {
		for i := 0; i < len(s.Text); i++ {
			if s.Text[i] != ' ' {
				return true
			}
		}
	}
	return false
}

// Sides draws one group of spans at the left edge and one at the right; where
// both do not fit, the left is cut.
func Sides(width int, base Style, left, right []Span) string {
	need := 0
	for _, s := range right {
		need += Width(s.Text)
	}
	if need == 0 || need > width*2/3 {
		return Row(width, base, left...)
	}
	return Row(width-need-1, base, left...) + base.Render(" ") + Row(need, base, right...)
}
