package ui

import "strings"

// MinSplit is the width below which two panes fold to one: less leaves neither
// room for a sentence. Convention: the classic terminal keeps both.
const MinSplit = 80

// Split divides a width between two panes with a rule between them. Below
// [MinSplit] it gives all to one and none to the other, and folded is true.
// share is the left pane's part.
func Split(width int, share float64) (left, right int, folded bool) {
	if width < MinSplit {
		return width, width, true
	}
	left = int(float64(width-1) * share)
	return left, width - 1 - left, false
}

// Beside joins two panes line by line with a rule between.
func Beside(t Theme, left, right []string) []string {
	out := make([]string, min(len(left), len(right)))
	rule := t.Line.Render("│")
	for i := range out {
		out[i] = left[i] + rule + right[i]
	}
	return out
}

// Rule is a line across with a title in it; the title of the pane in focus stands
// out.
func Rule(t Theme, width int, title string, focused bool, right ...Span) string {
	style, lead := t.Quiet, "─ "
	if focused {
		style, lead = t.Accent.With(Bold), "━ "
	}
	if title == "" {
		return t.Line.Render(strings.Repeat("─", max(width, 0)))
	}
	need := 0
	for _, s := range right {
		need += Width(s.Text)
	}
	if need > 0 {
		need += 3
	}
	if need > width/2 {
		right, need = nil, 0
	}
	title = Cut(title, width-need-4)
	leadStyle := t.Line
	if focused {
		leadStyle = t.Accent
	}
	spans := []Span{S(leadStyle, lead), S(style, title), S(t.Line, " ")}
	fill := width - Width(lead) - Width(title) - 1 - need
	spans = append(spans, S(t.Line, strings.Repeat("─", max(fill, 0))))
	if need > 0 {
		spans = append(append(append(spans, S(t.Line, " ")), right...), S(t.Line, " ─"))
	}
	return Row(width, Style{}, spans...)
}

// Box draws lines in a frame with a title, as wide as its widest line.
func Box(t Theme, title string, lines []string) []string {
	inner := Width(title) + 2
	for _, line := range lines {
		inner = max(inner, Width(line))
	}
	edge := t.Line.On(t.Panel)
	out := make([]string, 0, len(lines)+2)
	out = append(out, edge.Render("╭─ ")+t.Strong.On(t.Panel).Render(title)+edge.Render(" "+strings.Repeat("─", max(inner-Width(title)-1, 0))+"╮"))
	for _, line := range lines {
		out = append(out, edge.Render("│ ")+line+t.Panel.Render(Spaces(inner-Width(line)))+edge.Render(" │"))
	}
	return append(out, edge.Render("╰"+strings.Repeat("─", inner+2)+"╯"))
}

// Over lays a box over the middle of a screen; what is around it stays.
func Over(screen, box []string, width int) []string {
	if len(box) == 0 {
		return screen
	}
	out := append([]string(nil), screen...)
	top := max((len(screen)-len(box))/2, 0)
	for i, line := range box {
		if top+i >= len(out) {
			break
		}
		w := Width(line)
		if w > width {
			line, w = cells(line, 0, width), width
		}
		x := (width - w) / 2
		left, right := cells(out[top+i], 0, x), cells(out[top+i], x+w, width)
		out[top+i] = left + Spaces(x-Width(left)) + line + right + Spaces(width-x-w-Width(right))
	}
	return out
}
