package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"assay/store"
	"assay/tui/ui"
)

// doFound is what the IDs of found things begin with, their number behind it.
const doFound = "found-"

// foundOfKind is how many runs, tasks and rollouts the palette finds of each.
// Convention: a screen of them.
const foundOfKind = 8

// leastQuery is how much is typed before runs and rollouts are looked for.
const leastQuery = 2

type foundMsg struct {
	gen   int
	query string
	found []store.Found
	err   error
}

// openPalette shows every action by name; what is typed finds runs, tasks and
// rollouts as well.
func (m *root) openPalette() {
	m.menu = ui.NewMenu(m.paletteActions())
	m.found = nil
	m.finding.Drop()
}

// paletteActions are the actions and those that only the palette has.
func (m *root) paletteActions() []ui.Action {
	var out []ui.Action
	for _, a := range m.actions() {
		if a.ID != ui.Palette {
			out = append(out, a)
		}
	}
	for _, name := range ui.Themes() {
		out = append(out, ui.Action{ID: doTheme + name, Name: "theme", Help: "Use the theme " + name})
	}
	return append(out, ui.Action{ID: doSuspend, Name: "suspend", Help: "Suspend the program: fg brings it back"})
}

// lookUp asks the store for what is typed into the palette.
func (m *root) lookUp() tea.Cmd {
	query := strings.TrimSpace(m.menu.Query())
	if len(query) < leastQuery {
		m.menu.Offer(nil)
		return nil
	}
	gen, now := m.finding.Ask()
	if !now {
		return nil
	}
	ctx, s := m.ctx, m.opts.Store
	return func() tea.Msg {
		found, err := s.Find(ctx, query, foundOfKind)
		return foundMsg{gen, query, found, err}
	}
}

func (m *root) lookedUp(msg foundMsg) tea.Cmd {
	current, again := m.finding.Answered(msg.gen)
	if m.menu == nil {
		return nil
	}
	if again || !current || msg.query != strings.TrimSpace(m.menu.Query()) {
		return m.lookUp()
	}
	if msg.err != nil {
		return ui.Failed(msg.err)
	}
	m.found = msg.found
	offers := make([]ui.Action, len(msg.found))
	for i, f := range msg.found {
		offers[i] = ui.Action{ID: fmt.Sprint(doFound, i), Name: f.Kind, Help: f.Kind + " " + ui.CleanLine(f.ID) + "  " + ui.CleanLine(string(f.Text))}
	}
	m.menu.Offer(offers)
	return nil
}

// goToFound goes to what was found, and reports whether the ID was of one.
func (m *root) goToFound(id string) (tea.Cmd, bool) {
	var n int
	rest, ok := strings.CutPrefix(id, doFound)
	if _, err := fmt.Sscan(rest, &n); !ok || err != nil || n < 0 || n >= len(m.found) {
		return nil, false
	}
	f := m.found[n]
	switch {
	case f.Kind == store.FoundRun || m.at(ui.ScreenExplore) == nil:
		return m.open(f.RunID), true
	case f.Kind == store.FoundTask:
		return m.goTo(ui.ScreenExplore, ui.Visit{Run: f.RunID, Filter: "task_id=" + store.Quote(f.ID)}), true
	}
	return m.goTo(ui.ScreenExplore, ui.Visit{Run: f.RunID, Rollout: f.ID}), true
}
