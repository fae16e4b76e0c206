package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

const ellipsis = "…"

// Width is how many cells s takes; escape sequences of our own take none.
func Width(s string) int {
	if isPlain(s, false) {
		return len(s)
	}
	return ansi.StringWidthWc(s)
}

// Cut shortens clean text to at most width cells, with an ellipsis in the last of
// them where something was cut off.
func Cut(s string, width int) string {
	switch {
	case width <= 0:
		return ""
	case len(s) <= width || Width(s) <= width: // no character is wider than its bytes
		return s
	}
	at, used := 0, 0
	for at < len(s) {
		cluster, w := ansi.FirstGraphemeCluster(s[at:], ansi.WcWidth)
		if used+w > width-1 {
			break
		}
		at, used = at+len(cluster), used+w
	}
	return s[:at] + ellipsis
}

// cutFront drops at least that many cells from the front of clean text, at a
// grapheme.
func cutFront(s string, cells int) string {
	for s != "" && cells > 0 {
		cluster, w := ansi.FirstGraphemeCluster(s, ansi.WcWidth)
		s, cells = s[len(cluster):], cells-w
	}
	return s
}

// cells is the cells from, up to but not including to, of a row that was drawn here:
// text and the styles around it. Of a wide character across an edge a space is
// left.
func cells(row string, from, to int) string {
	var b strings.Builder
	for at := 0; row != "" && at < to; {
		if end := styleEnd(row); end > 0 {
			b.WriteString(row[:end])
			row = row[end:]
			continue
		}
		cluster, w := ansi.FirstGraphemeCluster(row, ansi.WcWidth)
		switch first, last := max(at, from), min(at+w, to); {
		case at >= from && at+w <= to:
			b.WriteString(cluster)
		case last > first:
			b.WriteString(Spaces(last - first))
		}
		row, at = row[len(cluster):], at+w
	}
	if strings.Contains(b.String(), "\x1b") {
		b.WriteString("\x1b[m")
	}
	return b.String()
}

// styleEnd is the length of the style sequence at the start of s, 0 where there is
// none: ESC [ digits and semicolons m, which is all that a [Style] writes.
func styleEnd(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	return strings.IndexByte(s, 'm') + 1
}

// Pad is s cut or filled with spaces to exactly width cells.
func Pad(s string, width int) string {
	s = Cut(s, width)
	return s + Spaces(width-Width(s))
}

// PadLeft is Pad with the spaces in front, for numbers.
func PadLeft(s string, width int) string {
	s = Cut(s, width)
	return Spaces(width-Width(s)) + s
}

// Spaces is a run of n spaces, none where n is negative.
func Spaces(n int) string {
	const run = "                                                                "
	if n <= 0 {
		return ""
	}
	if n <= len(run) {
		return run[:n]
	}
	return strings.Repeat(" ", n)
}

// Wrap breaks cleaned text into rows of at most width cells: at line feeds, else
// at the last space that fits, else between grapheme clusters. Every character
// stays, save the space at a break. It returns at least one row.
func Wrap(s string, width int) []string {
	width = max(width, 1)
	var rows []string
	for {
		line, rest, more := strings.Cut(s, "\n")
		if isPlain(line, false) {
			rows = wrapASCII(rows, line, width)
		} else {
			rows = wrapClusters(rows, line, width)
		}
		if !more {
			return rows
		}
		s = rest
	}
}

func wrapASCII(rows []string, line string, width int) []string {
	for len(line) > width {
		cut := strings.LastIndexByte(line[:width+1], ' ')
		if cut <= 0 {
			rows, line = append(rows, line[:width]), line[width:]
			continue
		}
		rows, line = append(rows, line[:cut]), line[cut+1:]
	}
	return append(rows, line)
}

func wrapClusters(rows []string, line string, width int) []string {
	start, used := 0, 0       // of the row being filled
	space, spaceUsed := -1, 0 // the last space in it, and the cells up to behind it
	for at := 0; at < len(line); {
		cluster, w := ansi.FirstGraphemeCluster(line[at:], ansi.WcWidth)
		if used+w > width && at > start {
			switch {
			case cluster == " ":
				rows = append(rows, line[start:at])
				at += len(cluster)
				start, used, space = at, 0, -1
				continue
			case space > start:
				rows = append(rows, line[start:space])
				start, used = space+1, used-spaceUsed
			default:
				rows = append(rows, line[start:at])
				start, used = at, 0
			}
			space = -1
		}
		if cluster == " " {
			space, spaceUsed = at, used+w
		}
		used += w
		at += len(cluster)
	}
	return append(rows, line[start:])
}

// sliceBytes is how much text one block of a transcript holds. It is wrapped
// whole when it is first seen: 8 kB take well under a millisecond even where
// every character is wide.
const sliceBytes = 8 << 10

// Slices cuts long text into pieces that are laid out one by one, so that a reply
// of ten megabytes costs no more than what is seen of it. Pieces end at a line
// feed where there is one in their last half, which is then left out, else at a
// space, else between bytes that do not belong together.
func Slices(s string) []string {
	if len(s) <= sliceBytes {
		return []string{s}
	}
	out := make([]string, 0, len(s)/sliceBytes+1)
	for len(s) > sliceBytes {
		half := s[sliceBytes/2 : sliceBytes]
		if i := strings.LastIndexByte(half, '\n'); i >= 0 {
			cut := sliceBytes/2 + i
			out, s = append(out, s[:cut]), s[cut+1:]
			continue
		}
		cut := sliceBytes
		if i := strings.LastIndexByte(half, ' '); i >= 0 {
			cut = sliceBytes/2 + i + 1
		}
		for back := 0; back < 3 && s[cut]&0xC0 == 0x80; back++ {
			cut-- // not inside a UTF-8 sequence or a surrogate
		}
		out, s = append(out, s[:cut]), s[cut:]
	}
	return append(out, s)
}
