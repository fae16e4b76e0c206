package ui

import "slices"

// Theme names what things look like by what they mean. Marks and words say the
// same without colour, so a theme may be all default.
type Theme struct {
	Name string

	Text   Style // what is read
	Quiet  Style // what stands beside it: units, ages, ids
	Line   Style // rules, tracks, borders: not text
	Strong Style // headings
	Accent Style // what can be acted on: keys, the pane in focus
	Good   Style // passed, improved
	Bad    Style // failed, regressed
	Warn   Style // to be looked at: lost, unsure, a warning
	Info   Style // on its way
	Fault  Style // what the world did wrong on purpose

	User  Style // who speaks in a transcript
	Agent Style
	Tool  Style

	Selected Style // under the cursor in the pane in focus
	Marked   Style // under the cursor in another pane
	Panel    Style // boxes over the screen
}

// Themes are the names that [ThemeNamed] knows, the default first.
func Themes() []string { return []string{"dark", "light", "contrast", "safe", "safe-light", "mono"} }

// ThemeNamed is the theme of that name; an unknown name is the dark one.
func ThemeNamed(name string) Theme {
	switch name {
	case "light":
		return light()
	case "contrast":
		return contrast()
	case "safe":
		return safe()
	case "safe-light":
		return safeLight()
	case "mono":
		return mono()
	}
	return dark()
}

// IsTheme reports whether a theme has that name.
func IsTheme(name string) bool { return slices.Contains(Themes(), name) }

// hues are the colours that the themes differ in. Each text colour has a contrast
// of 4.5 or more to the backgrounds it stands on (WCAG 2.1, 1.4.3), the high
// contrast theme 7 (1.4.6); a test measures it.
type hues struct {
	text, quiet, line, accent, good, bad, warn, info, fault uint32
	selected, marked, panel                                 uint32
}

func (h hues) theme(name string) Theme {
	fg := func(hex uint32) Style { return Style{FG: RGB(hex)} }
	bg := func(hex uint32) Style { return Style{BG: RGB(hex)} }
	return Theme{
		Name:   name,
		Text:   fg(h.text),
		Quiet:  fg(h.quiet),
		Line:   fg(h.line),
		Strong: fg(h.text).With(Bold),
		Accent: fg(h.accent),
		Good:   fg(h.good),
		Bad:    fg(h.bad),
		Warn:   fg(h.warn),
		Info:   fg(h.info),
		Fault:  fg(h.fault),

		User:  fg(h.info).With(Bold),
		Agent: fg(h.text).With(Bold),
		Tool:  fg(h.accent),

		Selected: bg(h.selected),
		Marked:   bg(h.marked),
		Panel:    Style{FG: RGB(h.text), BG: RGB(h.panel)},
	}
}

func dark() Theme {
	return hues{
		text: 0xD8DEE9, quiet: 0x9AA5B5, line: 0x4C566A, accent: 0x88C0D0,
		good: 0xA3BE8C, bad: 0xF28B8B, warn: 0xEBCB8B, info: 0x8FB7E8, fault: 0xD3A6D6,
		selected: 0x333842, marked: 0x2A2A2D, panel: 0x1F242D,
	}.theme("dark")
}

func light() Theme {
	return hues{
		text: 0x1F2328, quiet: 0x57606A, line: 0xAFB8C1, accent: 0x0B5CAD,
		good: 0x116329, bad: 0xA40E26, warn: 0x7A4B00, info: 0x0550AE, fault: 0x6639A6,
		selected: 0xD6E6F7, marked: 0xEEEEEE, panel: 0xF3F5F7,
	}.theme("light")
}

func contrast() Theme {
	return hues{
		text: 0xFFFFFF, quiet: 0xE0E0E0, line: 0xA0A0A0, accent: 0x66E0FF,
		good: 0x7CFF7C, bad: 0xFFB3B3, warn: 0xFFE34D, info: 0x9CC8FF, fault: 0xFFA8FF,
		selected: 0x00005F, marked: 0x2A2A2A, panel: 0x000000,
	}.theme("contrast")
}

// safe takes its hues from the palette of Okabe and Ito (2008), made for all
// kinds of colour vision: blue is good, orange is bad.
func safe() Theme {
	t := hues{
		text: 0xE4E4E4, quiet: 0xA8A8A8, line: 0x5A5A5A, accent: 0xF0E442,
		good: 0x56B4E9, bad: 0xF2A33C, warn: 0xF0E442, info: 0x9FC9E8, fault: 0xE3A3C6,
		selected: 0x33383F, marked: 0x2A2A2D, panel: 0x1F2226,
	}.theme("safe")
	t.Bad = t.Bad.With(Bold)
	return t
}

func safeLight() Theme {
	t := hues{
		text: 0x1F2328, quiet: 0x57606A, line: 0xAFB8C1, accent: 0x005A8C,
		good: 0x005A8C, bad: 0x9A4500, warn: 0x6B5300, info: 0x005A8C, fault: 0x8A3D6B,
		selected: 0xDCE8F2, marked: 0xEEEEEE, panel: 0xF3F5F7,
	}.theme("safe-light")
	t.Bad = t.Bad.With(Bold)
	return t
}

// mono uses attributes alone: it is what NO_COLOR gets.
func mono() Theme {
	plain, bold := Style{}, Style{Attr: Bold}
	return Theme{
		Name: "mono",
		Text: plain, Quiet: plain, Line: Style{Attr: Dimmed}, Strong: bold, Accent: bold,
		Good: plain, Bad: bold, Warn: Style{Attr: Underline}, Info: plain, Fault: Style{Attr: Underline},
		User: bold, Agent: bold, Tool: plain,
		Selected: Style{Attr: Reverse}, Marked: Style{Attr: Bold}, Panel: plain,
	}
}
