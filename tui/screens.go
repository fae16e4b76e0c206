package tui

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"assay/tui/cut"
	"assay/tui/delta"
	"assay/tui/explore"
	"assay/tui/judge"
	"assay/tui/label"
	"assay/tui/live"
	"assay/tui/ui"
)

// otherScreens are the screens beside Runs and Live, by their numbers. A screen
// that is not among them is not offered anywhere.
func otherScreens(ctx context.Context, o Options, theme ui.Theme) map[int]ui.Screen {
	screens := map[int]ui.Screen{
		ui.ScreenExplore: explore.New(ctx, explore.Options{Store: o.Store, Engine: o.Engine, Annotator: o.Annotator, Theme: theme, Label: o.Engine != nil}),
	}
	if o.Engine != nil {
		edit := o.Edit
		if edit == nil {
			edit = editor(o.Environ)
		}
		screens[ui.ScreenLabel] = label.New(ctx, label.Options{Store: o.Store, Engine: o.Engine, Annotator: o.Annotator, Queue: o.Queue, Now: o.Now, Theme: theme})
		screens[ui.ScreenJudge] = judge.New(ctx, judge.Options{Store: o.Store, Engine: o.Engine, Theme: theme, Edit: edit})
		screens[ui.ScreenDelta] = delta.New(ctx, delta.Options{Store: o.Store, Engine: o.Engine, Dir: o.Dir, Now: o.Now, Theme: theme})
		screens[ui.ScreenCut] = cut.New(ctx, cut.Options{Store: o.Store, Engine: o.Engine, Dir: o.Dir, Theme: theme})
	}
	return screens
}

// screenNames are what the screens are called and what they are for.
func screenNames(n int) (name, about string) {
	switch n {
	case ui.ScreenRuns:
		return "Runs", "all runs"
	case ui.ScreenLive:
		return "Live", "the story that runs, or else the run carried along"
	case ui.ScreenExplore:
		return "Explore", "find what fails and why"
	case ui.ScreenLabel:
		return "Label", "say by hand what passes"
	case ui.ScreenJudge:
		return "Judge", "whether the judge can be trusted"
	case ui.ScreenDelta:
		return "Delta", "before and after, compared"
	case ui.ScreenCut:
		return "Cut", "the training files, gate by gate"
	}
	return "", ""
}

func screenName(n int) string {
	name, _ := screenNames(n)
	return name
}

// at is the screen of a number.
func (m *root) at(n int) ui.Screen {
	switch n {
	case ui.ScreenRuns:
		return m.runs
	case ui.ScreenLive:
		return m.look
	}
	return m.more[n]
}

// numbers are those of the screens that are there, in order.
func (m *root) numbers() []int {
	return append([]int{ui.ScreenRuns, ui.ScreenLive}, slices.Sorted(maps.Keys(m.more))...)
}

// screens are all of them, both of Live among them.
func (m *root) screens() []ui.Screen {
	out := []ui.Screen{m.runs, m.live, m.saved}
	for _, n := range m.numbers() {
		if s := m.more[n]; s != nil {
			out = append(out, s)
		}
	}
	return out
}

// goTo brings a screen to the front and takes the run of the one before along.
func (m *root) goTo(n int, v ui.Visit) tea.Cmd {
	if m.at(n) == nil {
		return nil
	}
	named := v.Run != ""
	if run := m.at(m.front).Run(); run != "" {
		m.run = run
	}
	if named {
		m.run = v.Run
	}
	v.Run = m.run
	m.front = n
	if n == ui.ScreenLive {
		return m.goLive(v, named)
	}
	entered := m.at(n).Enter(v)
	save := tea.Cmd(nil)
	if n == ui.ScreenLabel { // what was seen counts before a card is shown
		save = m.save()
	}
	if save == nil || entered == nil {
		return tea.Batch(save, entered)
	}
	return func() tea.Msg {
		if saved, ok := save().(savedMsg); ok && saved.err != nil {
			return ui.ToastMsg{Text: ui.CleanLine(saved.err.Error()), Bad: true}
		}
		return entered()
	}
}

// goLive chooses which of the two stories is looked at: the one that runs here
// comes before a run that was only carried along.
func (m *root) goLive(v ui.Visit, named bool) tea.Cmd {
	running := m.story != nil || m.begins
	switch {
	case running && !named:
		m.look = m.live
		return nil
	case m.storyIDs[v.Run], m.live.Shows(v.Run):
		m.look = m.live
	case m.saved.Shows(v.Run), v.Run != "":
		m.look = m.saved
	}
	if !named && m.look.Shows(v.Run) {
		return nil // its place is kept
	}
	return m.look.Enter(v)
}

// screenActions are the ways to the other screens.
func (m *root) screenActions() []ui.Action {
	taker, ok := m.at(m.front).(ui.DigitTaker)
	digits := !ok || !taker.TakesDigits()
	var out []ui.Action
	for _, n := range m.numbers() {
		name, about := screenNames(n)
		a := ui.Reserve(ui.GoTo(n), name, fmt.Sprintf("Go to %d %s: %s", n, name, about), 0)
		if !digits {
			a = ui.WithoutDigit(a)
		}
		out = append(out, a)
	}
	return out
}

// leastWhere is how much of where one is must be readable beside the names of the
// screens. Convention: the beginning of a run's name.
const leastWhere = 8

// closeBefore stands before where one is, where there is little room.
const closeBefore = " · "

// tabs says where one is among the screens, in so many cells: all by name, closer
// together where there is little room, and where there is too little the others by
// their numbers.
func (m *root) tabs(where string, room int) []ui.Span {
	t := m.theme
	named, close := ui.Width(" assay"), 0
	for _, n := range m.numbers() {
		named += ui.Width(screenName(n)) + 4
		close += ui.Width(screenName(n)) + 3
	}
	gap, before, names := "  ", "  ·  ", true
	spans := []ui.Span{ui.S(t.Accent.With(ui.Bold), " assay")}
	switch {
	case named+ui.Width(before+where) <= room:
	case close+ui.Width(closeBefore)+min(ui.Width(where), leastWhere) <= room:
		gap, before, spans = " ", closeBefore, nil
		where = lastParts(where, room-close-ui.Width(before))
	default:
		names = false
	}
	for _, n := range m.numbers() {
		switch {
		case n == m.front:
			spans = append(spans, ui.S(t.Accent.With(ui.Bold), fmt.Sprintf("%s%d ", gap, n)), ui.S(t.Strong.With(ui.Underline), screenName(n)))
		case names:
			spans = append(spans, ui.S(t.Quiet, fmt.Sprintf("%s%d %s", gap, n, screenName(n))))
		default:
			spans = append(spans, ui.S(t.Quiet, fmt.Sprintf("%s%d", gap, n)))
		}
	}
	if where != "" {
		spans = append(spans, ui.S(t.Line, before), ui.S(t.Text, where))
	}
	return spans
}

// lastParts is as much of where one is as so many cells hold: what tells it from other
// places stands last.
func lastParts(where string, room int) string {
	for ui.Width(where) > room {
		_, rest, ok := strings.Cut(where, "  ·  ")
		if !ok {
			break
		}
		where = rest
	}
	return where
}

// toldEvery is how often, at the most, the screens beside Live are told that a
// story went on: as fast as a number can be read.
const toldEvery = live.Refresh

// tellChanges tells the screens beside Runs and Live of runs that something was
// committed to.
func (m *root) tellChanges(n live.News, last bool) tea.Cmd {
	if m.changed == nil {
		m.changed = map[string]bool{}
	}
	for id := range n.Counts {
		m.changed[id] = true
	}
	for id := range n.Runs {
		m.changed[id] = true
	}
	now := m.opts.Now()
	if len(m.changed) == 0 || !last && now.Sub(m.changedAt) < toldEvery {
		return nil
	}
	msg := ui.ChangedMsg{Runs: m.changed}
	m.changed, m.changedAt = nil, now
	var cmds []tea.Cmd
	for _, n := range m.numbers() {
		if s := m.more[n]; s != nil {
			cmds = append(cmds, s.Update(msg))
		}
	}
	return tea.Batch(cmds...)
}
