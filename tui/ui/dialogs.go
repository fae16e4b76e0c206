package ui

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Confirm asks before something that cannot be undone. No is the default: Enter
// and Esc leave all as it is. The zero value asks nothing.
type Confirm struct {
	Question string
	// Says is what happens on yes, in a sentence.
	Says string
	// Yes names the act on its button.
	Yes string

	yes bool // the button under the cursor
}

// Answer is what a key came to.
type Answer int

// Answers.
const (
	Asking Answer = iota
	No
	Yes
)

// Key takes a key.
func (c *Confirm) Key(key string) Answer {
	switch key {
	case "y", "Y":
		return Yes
	case "n", "N", "esc", "q", "ctrl+c":
		return No
	case "enter":
		if c.yes {
			return Yes
		}
		return No
	case "left", "right", "tab", "shift+tab", "h", "l":
		c.yes = !c.yes
	}
	return Asking
}

// View draws the question as a box in at most width cells.
func (c *Confirm) View(t Theme, width int) []string {
	inner := max(min(width-6, 64), 16)
	var lines []string
	for _, row := range Wrap(c.Says, inner) {
		lines = append(lines, t.Text.On(t.Panel).Render(row))
	}
	button := func(label string, on bool) string {
		if on {
			return t.Accent.With(Reverse | Bold).On(t.Panel).Render("[ " + label + " ]")
		}
		return t.Quiet.On(t.Panel).Render("  " + label + "  ")
	}
	lines = append(lines, "", button("No", !c.yes)+t.Panel.Render("  ")+button(c.Yes, c.yes)+t.Quiet.On(t.Panel).Render("   y n"))
	return Box(t, Cut(c.Question, inner), lines)
}

// Menu is the palette: actions found by a few letters of their names.
type Menu struct {
	actions []Action
	more    []Action // found elsewhere by what was typed
	query   string
	list    List
}

// NewMenu is a palette over actions.
func NewMenu(actions []Action) *Menu { return &Menu{actions: actions} }

// Query is what was typed.
func (m *Menu) Query() string { return m.query }

// Offer adds what was found elsewhere by what was typed, below the actions. It
// stays until something else is typed.
func (m *Menu) Offer(more []Action) { m.more = more }

// Found is the actions that hold what was typed, best first, then what was found
// elsewhere, then the actions that hold its letters scattered.
func (m *Menu) Found() []Action {
	type scored struct {
		Action
		score int
	}
	var hits []scored
	for _, a := range m.actions {
		if score, ok := fuzzy(m.query, a.Help); ok {
			hits = append(hits, scored{a, score})
		} else if score, ok := fuzzy(m.query, a.Name); ok {
			hits = append(hits, scored{a, score + 100})
		}
	}
	slices.SortStableFunc(hits, func(a, b scored) int { return a.score - b.score })
	out := make([]Action, 0, len(hits)+len(m.more))
	at := 0
	for ; at < len(hits) && hits[at].score < scattered; at++ {
		out = append(out, hits[at].Action)
	}
	out = append(out, m.more...)
	for ; at < len(hits); at++ {
		out = append(out, hits[at].Action)
	}
	return out
}

// scattered is the score from which on letters stand apart.
const scattered = 200

// fuzzy reports whether the letters of query stand in text in that order, and how
// far apart: a lower score is a closer match, a match at the start of words best.
func fuzzy(query, text string) (score int, ok bool) {
	query, text = strings.ToLower(query), strings.ToLower(text)
	if i := strings.Index(text, query); i >= 0 {
		if i == 0 || text[i-1] == ' ' {
			return i, true
		}
		return 50 + i, true
	}
	at, last := 0, -1
	for _, r := range query {
		i := strings.IndexRune(text[at:], r)
		if i < 0 {
			return 0, false
		}
		if last >= 0 {
			score += at + i - last
		}
		last = at + i
		at = last + utf8.RuneLen(r)
	}
	return scattered + score, true
}

// Key takes a key: an action was chosen, or the palette is to close, or neither.
// text is what the key types, "" for none.
func (m *Menu) Key(key, text string) (chosen *Action, closed bool) {
	found := m.Found()
	switch key {
	case "esc", "ctrl+c", "ctrl+p":
		return nil, true
	case "enter":
		if len(found) == 0 {
			return nil, false
		}
		a := found[min(m.list.Cursor(), len(found)-1)]
		return &a, true
	case "up":
		m.list.Move(Up, len(found))
	case "down", "tab":
		m.list.Move(Down, len(found))
	case "backspace":
		if m.query != "" {
			_, n := utf8.DecodeLastRuneInString(m.query)
			m.query, m.more = m.query[:len(m.query)-n], nil
			m.list.Set(0, len(found))
		}
	default:
		if text != "" {
			m.query, m.more = m.query+CleanLine(text), nil
			m.list.Set(0, len(found))
		}
	}
	return nil, false
}

// View draws the palette as a box for a screen of that size.
func (m *Menu) View(t Theme, width, height int) []string {
	inner := max(min(width-6, 72), 20)
	rows := max(min(height-6, 12), 3)
	found := m.Found()
	lines := []string{
		Row(inner, t.Panel, S(t.Accent, ": "), S(t.Text, m.query), S(t.Text.With(Reverse), " ")),
		t.Line.On(t.Panel).Render(strings.Repeat("─", inner)),
	}
	from, to := m.list.Window(len(found), rows)
	for i := from; i < to; i++ {
		base := t.Panel
		if i == m.list.Cursor() {
			base = t.Selected.On(t.Panel)
		}
		lines = append(lines, Sides(inner, base, []Span{S(t.Text, " "+found[i].Help)}, []Span{S(t.Accent, " "+KeyLabels(found[i])+" ")}))
	}
	if len(found) == 0 {
		lines = append(lines, Row(inner, t.Panel, S(t.Quiet, " nothing is called that")))
	}
	for len(lines) < rows+2 {
		lines = append(lines, t.Panel.Render(Spaces(inner)))
	}
	return Box(t, "Commands", lines)
}
