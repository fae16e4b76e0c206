package ui

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Action is something a person can do, and the keys that do it. Footer, help,
// palette and the README's list of keys are all made from actions.
type Action struct {
	ID   string
	Keys []string // as Bubble Tea names them: "j", "down", "ctrl+c"
	Name string   // one or two words, for the footer
	Help string   // what it does, for help and the palette
	// Footer is its place in the footer, 1 first; 0 is not in the footer.
	Footer int
}

// IDs of the actions that mean the same on every screen.
const (
	Up       = "up"
	Down     = "down"
	Top      = "top"
	Bottom   = "bottom"
	PageUp   = "page-up"
	PageDown = "page-down"
	Left     = "left"
	Right    = "right"
	NextPane = "next-pane"
	PrevPane = "previous-pane"
	Open     = "open"
	Back     = "back"
	Find     = "find"
	FindNext = "find-next"
	FindPrev = "find-previous"
	Palette  = "palette"
	Help     = "help"
	Copy     = "copy"
	Undo     = "undo"
	Leave    = "leave"
	Stop     = "stop"
	Redraw   = "redraw"
	Mouse    = "mouse"
)

// GoTo is the ID of the action that goes to the nth screen, counted from 1.
func GoTo(n int) string { return fmt.Sprintf("screen-%d", n) }

// reservedByID is the table of reserved keys, made once: every frame asks for some.
var reservedByID = sync.OnceValue(func() map[string]Action {
	known := map[string]Action{}
	for _, a := range Reserved() {
		known[a.ID] = a
	}
	return known
})

// Reserved is the table of keys that have one meaning on every screen.
func Reserved() []Action {
	actions := []Action{
		{ID: Up, Keys: []string{"k", "up"}, Name: "up", Help: "Move up"},
		{ID: Down, Keys: []string{"j", "down"}, Name: "down", Help: "Move down"},
		{ID: Top, Keys: []string{"g", "home"}, Name: "top", Help: "Go to the top"},
		{ID: Bottom, Keys: []string{"G", "end"}, Name: "bottom", Help: "Go to the bottom"},
		{ID: PageUp, Keys: []string{"pgup"}, Name: "page up", Help: "Move up a page"},
		{ID: PageDown, Keys: []string{"pgdown"}, Name: "page down", Help: "Move down a page"},
		{ID: Left, Keys: []string{"h", "left"}, Name: "left", Help: "Go to the pane, step or sibling on the left"},
		{ID: Right, Keys: []string{"l", "right"}, Name: "right", Help: "Go to the pane, step or sibling on the right"},
		{ID: NextPane, Keys: []string{"tab"}, Name: "pane", Help: "Go to the next pane"},
		{ID: PrevPane, Keys: []string{"shift+tab"}, Name: "pane back", Help: "Go to the previous pane"},
		{ID: Open, Keys: []string{"enter"}, Name: "open", Help: "Open, fold or unfold"},
		{ID: Back, Keys: []string{"esc"}, Name: "back", Help: "Go back"},
		{ID: Find, Keys: []string{"/"}, Name: "find", Help: "Filter or find"},
		{ID: FindNext, Keys: []string{"n"}, Name: "next", Help: "Go to the next match"},
		{ID: FindPrev, Keys: []string{"N"}, Name: "previous", Help: "Go to the previous match"},
		{ID: Palette, Keys: []string{":", "ctrl+p"}, Name: "commands", Help: "Find a command by its name"},
		{ID: Help, Keys: []string{"?"}, Name: "help", Help: "Show the keys of this screen"},
		{ID: Copy, Keys: []string{"y"}, Name: "copy", Help: "Copy what is under the cursor"},
		{ID: Undo, Keys: []string{"u", "ctrl+z"}, Name: "undo", Help: "Undo"},
		{ID: Leave, Keys: []string{"q"}, Name: "quit", Help: "Leave; asks only while work is running"},
		{ID: Stop, Keys: []string{"ctrl+c"}, Name: "stop", Help: "Stop the run: what is in flight finishes; again, abort; with nothing running, leave"},
		{ID: Redraw, Keys: []string{"ctrl+l"}, Name: "redraw", Help: "Draw the screen again"},
		{ID: Mouse, Keys: []string{"%"}, Name: "mouse", Help: "Switch the mouse on or off; off, the terminal selects text"},
	}
	for n := 1; n <= Screens; n++ {
		actions = append(actions, Action{ID: GoTo(n), Keys: []string{fmt.Sprint(n), fmt.Sprintf("f%d", n)}, Name: "screen", Help: "Go to the screen"})
	}
	return actions
}

// Reserve is a reserved action as a screen offers it: same ID and keys, with the
// screen's own words where they say more. footer is its place there, 0 for none.
// It panics where nothing of that ID is reserved.
func Reserve(id, name, help string, footer int) Action {
	a, ok := reservedByID()[id]
	if !ok {
		panic("ui: no reserved action " + id)
	}
	a.Keys = slices.Clone(a.Keys)
	if name != "" {
		a.Name = name
	}
	if help != "" {
		a.Help = help
	}
	a.Footer = footer
	return a
}

// WithoutDigit is the action that goes to a screen without its digit, where that
// means something else.
func WithoutDigit(a Action) Action {
	a.Keys = slices.DeleteFunc(slices.Clone(a.Keys), isDigit)
	return a
}

func isDigit(key string) bool { return len(key) == 1 && key[0] >= '0' && key[0] <= '9' }

// Moves are the reserved actions of anything with a cursor.
func Moves() []Action {
	return []Action{
		Reserve(Down, "", "", 0), Reserve(Up, "", "", 0), Reserve(Top, "", "", 0),
		Reserve(Bottom, "", "", 0), Reserve(PageDown, "", "", 0), Reserve(PageUp, "", "", 0),
	}
}

// Lookup is the action that a key does.
func Lookup(actions []Action, key string) (Action, bool) {
	for _, a := range actions {
		if slices.Contains(a.Keys, key) {
			return a, true
		}
	}
	return Action{}, false
}

// Collisions says what is wrong with a screen's actions: a key that does two
// things, a reserved key that means something else, a reserved action on other
// keys. none is nil. Digits are free on a screen where none goes to a screen.
func Collisions(actions []Action) []string {
	meaning := map[string]string{}
	reserved := map[string][]string{}
	digits := slices.ContainsFunc(actions, func(a Action) bool { return a.ID == GoTo(ScreenRuns) && slices.ContainsFunc(a.Keys, isDigit) })
	for _, a := range Reserved() {
		if !digits && strings.HasPrefix(a.ID, "screen-") {
			a = WithoutDigit(a)
		}
		reserved[a.ID] = a.Keys
		for _, key := range a.Keys {
			meaning[key] = a.ID
		}
	}
	var wrong []string
	taken := map[string]string{}
	for _, a := range actions {
		if keys, ok := reserved[a.ID]; ok && !slices.Equal(keys, a.Keys) {
			wrong = append(wrong, fmt.Sprintf("%s is reserved on %s, not %s", a.ID, strings.Join(keys, " "), strings.Join(a.Keys, " ")))
		}
		for _, key := range a.Keys {
			if id, ok := meaning[key]; ok && id != a.ID {
				wrong = append(wrong, fmt.Sprintf("%s: %s is reserved for %s", a.ID, key, id))
			}
			if id, ok := taken[key]; ok {
				wrong = append(wrong, fmt.Sprintf("%s: %s already does %s", a.ID, key, id))
			}
			taken[key] = a.ID
		}
	}
	return wrong
}

// KeyLabel is a key as people write it.
func KeyLabel(key string) string {
	switch key {
	case "up":
		return "↑"
	case "down":
		return "↓"
	case "left":
		return "←"
	case "right":
		return "→"
	case "enter":
		return "Enter"
	case "esc":
		return "Esc"
	case "tab":
		return "Tab"
	case "shift+tab":
		return "Shift-Tab"
	case "space":
		return "Space"
	case "pgup":
		return "PgUp"
	case "pgdown":
		return "PgDn"
	case "home":
		return "Home"
	case "end":
		return "End"
	}
	if rest, ok := strings.CutPrefix(key, "ctrl+"); ok {
		return "Ctrl-" + strings.ToUpper(rest)
	}
	if len(key) > 1 && key[0] == 'f' {
		return strings.ToUpper(key)
	}
	return key
}

// KeyLabels is an action's keys as people write them.
func KeyLabels(a Action) string {
	labels := make([]string, len(a.Keys))
	for i, key := range a.Keys {
		labels[i] = KeyLabel(key)
	}
	return strings.Join(labels, " ")
}

// Footer draws the actions that have a place in the footer, as many as fit.
func Footer(t Theme, width int, actions []Action) string {
	shown := slices.DeleteFunc(slices.Clone(actions), func(a Action) bool { return a.Footer == 0 })
	slices.SortStableFunc(shown, func(a, b Action) int { return a.Footer - b.Footer })
	spans := []Span{S(t.Text, " ")}
	used := 1
	for _, a := range shown {
		key, name := KeyLabel(a.Keys[0]), a.Name
		need := Width(key) + 1 + Width(name) + 2
		if used+need > width {
			continue
		}
		used += need
		spans = append(spans, S(t.Accent, key), S(t.Quiet, " "+name+"  "))
	}
	return Row(width, Style{}, spans...)
}
