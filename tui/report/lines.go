package report

import (
	"assay/engine/record"
	"assay/tui/ui"
)

// Lines collects the lines of a page of one width.
type Lines struct {
	Theme ui.Theme
	Width int
	All   []string
}

// Row adds a line of spans, indented.
func (l *Lines) Row(spans ...ui.Span) {
	l.All = append(l.All, ui.Row(l.Width, ui.Style{}, append([]ui.Span{ui.S(ui.Style{}, "  ")}, spans...)...))
}

// Gap adds an empty line.
func (l *Lines) Gap() { l.All = append(l.All, ui.Spaces(l.Width)) }

// Text adds text from outside, wrapped.
func (l *Lines) Text(style ui.Style, text string) {
	for _, line := range ui.Wrap(ui.Clean(text), l.Width-4) {
		l.Row(ui.S(style, line))
	}
}

// Warnings adds each warning whole, with what to do about it.
func (l *Lines) Warnings(warnings []record.Warning) {
	for i := range warnings {
		l.All = append(l.All, Warning(l.Theme, l.Width, &warnings[i], ui.Plain)...)
	}
}

// Warning is a warning whole, with what to do about it.
func Warning(t ui.Theme, width int, w *record.Warning, look ui.Look) []string {
	return note(t, width, ui.S(t.Warn, "! "), w, look)
}

// Cause is a reason why two runs cannot be compared, with what to do about it.
func Cause(t ui.Theme, width int, w *record.Warning, look ui.Look) []string {
	return note(t, width, ui.S(t.Bad, "✗ "), w, look)
}

func note(t ui.Theme, width int, sign ui.Span, w *record.Warning, look ui.Look) []string {
	base := t.Base(look)
	row := func(spans ...ui.Span) string {
		return ui.Row(width, base, append([]ui.Span{cursor(t, base, look), ui.S(base, " ")}, spans...)...)
	}
	lines := []string{row(sign, ui.S(t.Strong, ui.CleanLine(w.Code)))}
	for i, text := range []string{w.Text, w.Fix} {
		style, lead := t.Quiet, "  "
		if i == 1 {
			style, lead = t.Text, "→ "
		}
		if text == "" {
			continue
		}
		for _, line := range ui.Wrap(ui.Clean(text), width-6) {
			lines = append(lines, row(ui.S(base, "  "), ui.S(style, lead+line)))
			lead = "  "
		}
	}
	return lines
}

// cursor is the first cell of a row.
func cursor(t ui.Theme, base ui.Style, look ui.Look) ui.Span {
	if look == ui.Active {
		return ui.S(t.Accent, "▎")
	}
	return ui.S(base, " ")
}
