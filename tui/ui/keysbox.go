package ui

import (
	"fmt"
	"slices"
)

// KeysBox is the help over a screen: its actions with their keys, and notes. Where it
// is higher than the screen it scrolls. The zero value is closed.
type KeysBox struct {
	Open bool

	top, lines, seen int // the first line seen, and how many there are and are seen
}

// Show opens the box at its top.
func (k *KeysBox) Show() { *k = KeysBox{Open: true} }

// Move does one of the movement actions, and reports whether there was anything to
// move: what fits stands still.
func (k *KeysBox) Move(id string) bool {
	if k.lines <= k.seen {
		return false
	}
	page := max(k.seen-1, 1)
	switch id {
	case Up:
		k.top--
	case Down:
		k.top++
	case PageUp:
		k.top -= page
	case PageDown:
		k.top += page
	case Top:
		k.top = 0
	case Bottom:
		k.top = k.lines
	default:
		return false
	}
	k.top = max(min(k.top, k.lines-k.seen), 0)
	return true
}

// Scroll moves by lines, for the wheel.
func (k *KeysBox) Scroll(by int) { k.top = max(min(k.top+by, k.lines-k.seen), 0) }

// View draws the box for a screen of that size: in two columns where one is too high
// and nothing is cut in two.
func (k *KeysBox) View(t Theme, title string, actions []Action, notes []string, width, height int) []string {
	inner := max(min(width-6, 100), 20)
	columns := 1
	if cell := (inner - 1) / 2; len(actions)+len(notes) > height-4 && longest(actions)+keyWidth+2 <= cell {
		columns = 2
	}
	lines := keyLines(t, movesLast(actions), inner, columns)
	for _, note := range notes {
		for _, row := range Wrap(note, inner) {
			lines = append(lines, t.Quiet.On(t.Panel).Render(row))
		}
	}
	k.lines, k.seen = len(lines), len(lines)
	if most := max(height-2, 1); len(lines) > most {
		k.seen = max(most-1, 1)
		k.Scroll(0)
		below := k.lines - k.top - k.seen
		lines = lines[k.top : k.top+k.seen]
		says := fmt.Sprintf("%d more lines: ↓ PgDn", below)
		switch {
		case below == 0:
			says = "the end: ↑ PgUp"
		case below == 1:
			says = "1 more line: ↓"
		}
		lines = append(lines, Row(inner, t.Panel, S(t.Accent, Spaces(keyWidth+2)+says)))
	}
	return Box(t, title, lines)
}

// keyWidth is the room for an action's keys: "PgDn Ctrl-F" and the like.
const keyWidth = 11

func longest(actions []Action) int {
	n := 0
	for _, a := range actions {
		n = max(n, Width(a.Help))
	}
	return n
}

// movesLast puts what is the same everywhere behind what a screen does.
func movesLast(actions []Action) []Action {
	moves := Moves()
	isMove := func(a Action) bool { return slices.ContainsFunc(moves, func(m Action) bool { return m.ID == a.ID }) }
	own := slices.DeleteFunc(slices.Clone(actions), isMove)
	return append(own, slices.DeleteFunc(slices.Clone(actions), func(a Action) bool { return !isMove(a) })...)
}

// keyLines are the actions line by line, in so many columns; in one, what is longer
// than a line goes on below.
func keyLines(t Theme, actions []Action, inner, columns int) []string {
	cell := (inner - (columns - 1)) / columns
	row := func(keys, says string) string {
		return Row(cell, t.Panel, S(t.Accent, PadLeft(keys, keyWidth)), S(t.Text, "  "+says))
	}
	var lines []string
	if columns == 1 {
		for _, a := range actions {
			keys := KeyLabels(a)
			for _, says := range Wrap(a.Help, max(cell-keyWidth-2, 8)) {
				lines = append(lines, row(keys, says))
				keys = ""
			}
		}
		return lines
	}
	perColumn := (len(actions) + columns - 1) / columns
	for i := range perColumn {
		var line string
		for c := range columns {
			if c > 0 {
				line += t.Panel.Render(" ")
			}
			if at := c*perColumn + i; at < len(actions) {
				line += row(KeyLabels(actions[at]), actions[at].Help)
				continue
			}
			line += t.Panel.Render(Spaces(cell))
		}
		lines = append(lines, line)
	}
	return lines
}
