package explore

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"assay/store"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// IDs of the screen's own actions.
const (
	doView     = "next-view"
	doMap      = "map"
	doBy       = "next-field"
	doAcross   = "next-axis"
	doSort     = "sort"
	doTurn     = "sort-turned"
	doSiblings = "siblings"
	doSwap     = "swap"
	doChoose   = "choose"
	doLabel    = "label"
	doReplay   = "replay"
	doCause    = "cause"
	doMore     = "more-situations"
	doSQL      = "sql"
)

// Actions are what can be done now.
func (m *Model) Actions() []ui.Action {
	switch {
	case m.runID == "":
		return []ui.Action{ui.Reserve(ui.Back, "runs", "Go back to the runs", 1)}
	case m.Typing():
		return m.editActions()
	case m.pair.on:
		return m.pairActions()
	case m.replay.on:
		return m.replayActions()
	case m.sql.on:
		return m.sqlActions()
	case m.causing.on:
		return m.causeActions()
	case m.view == viewMap:
		return m.mapActions()
	}
	out := ui.Moves()
	if m.view == viewGroups {
		return append(append(out, m.groupActions()...), m.filterActions()...)
	}
	open, help := "read", "Read the transcript"
	if m.focus == paneDetail {
		open, help = "unfold", "Fold or unfold a tool call"
	}
	out = append(out, ui.Reserve(ui.Open, open, help, 1), ui.Reserve(ui.NextPane, "", "", 0), ui.Reserve(ui.PrevPane, "", "", 0))
	if m.view == viewTasks {
		out = append(out, ui.Reserve(ui.Left, "attempt", "Go to the attempt before, in the transcript to the list", 0), ui.Reserve(ui.Right, "attempt", "Go to the next attempt", 5))
	} else {
		out = append(out, ui.Reserve(ui.Left, "", "Go to the list", 0), ui.Reserve(ui.Right, "", "Go to the transcript", 0))
	}
	out = append(out, ui.Reserve(ui.Copy, "", "Copy the rollout's id, in the transcript what is under the cursor", 0))
	if m.detail.id != "" {
		out = append(out, ui.Action{ID: doSiblings, Keys: []string{"s"}, Name: "siblings", Help: "Put another attempt at the task beside it, and show where the two part", Footer: 4})
		if m.opts.Engine != nil {
			out = append(out, ui.Action{ID: doReplay, Keys: []string{"p"}, Name: "replay", Help: "Ask the rollout's world its calls again; there, without the fault"})
		}
		out = append(out, ui.Action{ID: doCause, Keys: []string{"c"}, Name: "cause", Help: "Put right by hand what the failure is put down to"})
		out = append(out, transcript.JumpActions(6)...)
	}
	if m.focus == paneDetail && m.detail.search.Active() {
		out = append(out, ui.Reserve(ui.FindNext, "", "", 7), ui.Reserve(ui.FindPrev, "", "", 0))
	}
	out = append(out,
		ui.Action{ID: doSort, Keys: []string{"o"}, Name: "sort", Help: "Sort by the next field", Footer: 8},
		ui.Action{ID: doTurn, Keys: []string{"O"}, Name: "turn", Help: "Turn the order round"})
	if m.view == viewRollouts {
		out = append(out, ui.Action{ID: doChoose, Keys: []string{"space"}, Name: "pick", Help: "Pick the rollout out, or put it back", Footer: 9})
		if m.opts.Label {
			out = append(out, ui.Action{ID: doLabel, Keys: []string{"L"}, Name: "label", Help: "Send what is picked out, or else all that is kept, to Label"})
		}
	}
	return append(out, m.filterActions()...)
}

// filterActions are those of every view but the siblings.
func (m *Model) filterActions() []ui.Action {
	filter, help := "filter", "Filter the rollouts"
	if m.focus == paneDetail {
		filter, help = "find", "Find words in the transcript"
	}
	next := (m.view + 1) % views
	out := []ui.Action{
		ui.Reserve(ui.Find, filter, help, 2),
		{ID: doView, Keys: []string{"v"}, Name: next.String(), Help: "Go on to the next view: " + next.String(), Footer: 3},
		ui.Reserve(ui.Back, "back", "Go back: to the list, to the filter before, to the runs", 14),
	}
	if m.view != viewMap {
		out = append(out, ui.Action{ID: doMap, Keys: []string{"m"}, Name: "map", Help: "Map the failure rate over two axes", Footer: 10})
	}
	out = append(out,
		ui.Action{ID: doMore, Keys: []string{"A"}, Name: "ask more", Help: "Ask for more situations where this run fails, once it is said what that costs"},
		ui.Action{ID: doSQL, Keys: []string{"Q"}, Name: "sql", Help: sqlHelp})
	switch {
	case len(m.undoable) > 0:
		out = append(out, ui.Reserve(ui.Undo, "undo", "Take the last cause back that was put by hand", 0))
	case len(m.past) > 0:
		out = append(out, ui.Reserve(ui.Undo, "undo", "Go back to the filter before", 0))
	}
	return out
}

func (m *Model) groupActions() []ui.Action {
	return []ui.Action{
		ui.Reserve(ui.Open, "open", "Filter to the group", 1),
		{ID: doBy, Keys: []string{"b"}, Name: "by …", Help: "Group by the next field", Footer: 4},
		ui.Reserve(ui.Copy, "", "Copy the group's value", 0),
	}
}

func (m *Model) mapActions() []ui.Action {
	out := append(ui.Moves(), ui.Reserve(ui.Left, "", "Go to the cell on the left", 0), ui.Reserve(ui.Right, "", "Go to the cell on the right", 0),
		ui.Reserve(ui.Open, "open", "Filter to the cell", 1),
		ui.Action{ID: doBy, Keys: []string{"b"}, Name: "rows by …", Help: "Put the next axis down the side", Footer: 4},
		ui.Action{ID: doAcross, Keys: []string{"B"}, Name: "columns by …", Help: "Put the next axis across the top", Footer: 5},
		ui.Reserve(ui.NextPane, "combinations", "Go to the pairs and triples below, or back to the map", 6), ui.Reserve(ui.PrevPane, "", "", 0))
	return append(out, m.filterActions()...)
}

func (m *Model) pairActions() []ui.Action {
	return append(ui.Moves(),
		ui.Reserve(ui.Open, "unfold", "Fold or unfold the tool calls of both", 1),
		ui.Reserve(ui.Right, "next", "Put the next attempt on the right", 2), ui.Reserve(ui.Left, "before", "Put the attempt before on the right", 0),
		ui.Action{ID: doSwap, Keys: []string{"x"}, Name: "swap", Help: "Change sides", Footer: 4},
		ui.Action{ID: transcript.NextTrouble, Keys: []string{")"}, Name: "parting", Help: "Go to where the two part", Footer: 3},
		ui.Reserve(ui.Copy, "", "Copy what is under the cursor, of both", 0),
		ui.Reserve(ui.Back, "back", "Go back to the list", 5))
}

// editActions are the keys of the line that is typed; the line takes all others.
func (m *Model) editActions() []ui.Action {
	if m.sql.typing {
		return m.sqlActions()
	}
	if m.detail.search.Typing {
		return []ui.Action{ui.Reserve(ui.Open, "find", "Find the words", 1), ui.Reserve(ui.Back, "leave it", "Leave things as they are", 2)}
	}
	return []ui.Action{
		ui.Reserve(ui.Open, "filter", "Filter by the line", 1), ui.Reserve(ui.NextPane, "complete", "Take what is offered", 2),
		ui.Reserve(ui.Back, "leave it", "Leave the filter as it was", 3),
	}
}

// Do does an action.
func (m *Model) Do(id string) tea.Cmd {
	if m.runID == "" {
		return ui.Go(ui.ScreenRuns, ui.Visit{})
	}
	if m.pair.on {
		return m.doPair(id)
	}
	switch {
	case m.replay.on:
		return m.doReplayed(id)
	case m.sql.on:
		return m.doQueried(id)
	case m.causing.on:
		return m.doCausing(id)
	case m.view == viewMap && m.suspects.focus && m.suspects.list.Move(id, len(m.suspects.found)):
		return nil
	case m.view == viewMap && m.grid.move(id):
		return nil
	}
	switch id {
	case ui.Up, ui.Down, ui.Top, ui.Bottom, ui.PageUp, ui.PageDown:
		return m.move(id)
	case ui.Open:
		return m.enter()
	case ui.Back:
		return m.goUp()
	case ui.Undo:
		if cmd, ok := m.undoCause(); ok {
			return cmd
		}
		cmd, _ := m.goBack()
		return cmd
	case ui.Left, ui.Right:
		return m.sideways(id)
	case ui.NextPane, ui.PrevPane:
		if m.view == viewMap {
			m.suspects.focus = !m.suspects.focus && len(m.suspects.found) > 0
			return nil
		}
		if m.focus == paneList && m.detail.doc != nil {
			m.focus = paneDetail
		} else {
			m.focus = paneList
		}
	case ui.Find:
		if m.focus == paneDetail {
			m.detail.search.Begin()
			return nil
		}
		return m.beginFilter()
	case ui.FindNext, ui.FindPrev:
		by := 1
		if id == ui.FindPrev {
			by = -1
		}
		m.detail.search.Go(by, &m.detail.play)
	case ui.Copy:
		return m.copy()
	}
	return m.doMore(id)
}

// doMore does the screen's own actions.
func (m *Model) doMore(id string) tea.Cmd {
	switch id {
	case doView:
		return m.setView((m.view + 1) % views)
	case doMap:
		return m.setView(viewMap)
	case doBy:
		return m.turnField()
	case doAcross:
		m.grid.turn(true)
		return m.anew(0)
	case doSort:
		m.nextSort()
		return m.anew(0)
	case doTurn:
		m.falling = !m.falling
		return m.anew(0)
	case doSiblings:
		return m.openSiblings()
	case doChoose:
		return m.choose()
	case doLabel:
		return m.label()
	case doReplay:
		id, _ := m.wanted()
		return m.openReplay(id, false)
	case doCause:
		return m.beginCause()
	case doMore:
		return m.askForMore()
	case doSQL:
		m.beginSQL()
		return nil
	}
	return m.jump(id)
}

func (m *Model) turnField() tea.Cmd {
	if m.view == viewMap {
		m.grid.turn(false)
	} else {
		m.by, m.byAsked = (m.by+1)%len(store.GroupFields()), true
		m.groups = nil
	}
	return m.anew(0)
}

func (m *Model) setView(v view) tea.Cmd {
	m.view, m.focus = v, paneList
	m.sort, m.falling = "", false
	return m.anew(0)
}

func (m *Model) move(id string) tea.Cmd {
	if m.focus == paneDetail {
		if m.detail.doc != nil {
			m.detail.play.Move(id, m.detail.doc)
		}
		return nil
	}
	m.list().Move(id, m.length())
	return m.follow()
}

func (m *Model) sideways(id string) tea.Cmd {
	switch {
	case m.view == viewTasks && m.focus == paneList:
		by := 1
		if id == ui.Left {
			by = -1
		}
		return m.otherCell(by)
	case id == ui.Left:
		m.focus = paneList
	case m.detail.doc != nil && (m.view == viewRollouts || m.view == viewTasks):
		m.focus = paneDetail
	}
	return nil
}

// enter opens what is under the cursor.
func (m *Model) enter() tea.Cmd {
	switch {
	case m.view == viewGroups && len(m.groups) > 0:
		g := m.groups[m.list().Cursor()]
		return m.narrow(store.GroupFields()[m.by], g.Values[0])
	case m.view == viewMap && m.suspects.focus:
		return m.openSuspect()
	case m.view == viewMap:
		down, across, _, ok := m.grid.under()
		if !ok {
			return nil
		}
		names := m.grid.names()
		return m.filterBy(m.filter.String()+" "+term(names[0], down)+" "+term(names[1], across), viewRollouts)
	case m.focus == paneDetail:
		if at, ok := m.detail.doc.Toggle(m.detail.play.Cursor()); ok {
			m.detail.play.To(m.detail.doc, at)
		}
	case m.detail.doc != nil:
		m.focus = paneDetail
	}
	return nil
}

// narrow filters to one value of a field.
func (m *Model) narrow(field, value string) tea.Cmd {
	return m.filterBy(m.filter.String()+" "+term(field, value), viewRollouts)
}

// term is a condition for one value of a field.
func term(field, value string) string {
	if field == "judge" && value == "against gold" {
		return "judge!=gold"
	}
	return field + "=" + store.Quote(value)
}

// goUp goes back by one step: to the list, to the filter before, to the runs.
func (m *Model) goUp() tea.Cmd {
	if m.focus == paneDetail {
		m.focus = paneList
		return nil
	}
	if cmd, ok := m.goBack(); ok {
		return cmd
	}
	if m.view != viewRollouts {
		return m.setView(viewRollouts)
	}
	return ui.Go(ui.ScreenRuns, ui.Visit{})
}

func (m *Model) doPair(id string) tea.Cmd {
	p := &m.pair
	if p.scroll.Move(id, p.shown) {
		return nil
	}
	switch id {
	case ui.Back, doSiblings:
		p.on = false
	case ui.Open:
		if at, ok := p.shown.Toggle(p.scroll.Cursor()); ok {
			p.scroll.To(p.shown, at)
		}
	case ui.Right:
		return m.otherSibling(1)
	case ui.Left:
		return m.otherSibling(-1)
	case doSwap:
		return m.swapSiblings()
	case transcript.NextTrouble:
		row, ok := p.shown.Parting()
		if !ok {
			return ui.Toast("The two are the same")
		}
		p.scroll.To(p.shown, row)
	case ui.Copy:
		return copied(p.shown.Text(p.scroll.Cursor()), "of the two")
	}
	return nil
}

func copied(text, of string) tea.Cmd {
	if text == "" {
		return nil
	}
	return tea.Batch(tea.SetClipboard(text), ui.Toast("Copied "+ui.Plural(len(text), "byte")+" "+of))
}

func (m *Model) copy() tea.Cmd {
	switch {
	case m.view == viewGroups && len(m.groups) > 0:
		return copied(m.groups[m.list().Cursor()].Values[0], "of the value")
	case m.focus == paneDetail && m.detail.doc != nil:
		return copied(m.detail.doc.Text(m.detail.play.Cursor()), "of the message")
	}
	id, _ := m.wanted()
	if id == "" {
		return ui.Toast("It is not read yet")
	}
	return tea.Batch(tea.SetClipboard(id), ui.Toast("Copied the rollout's id, "+ui.CleanLine(id)))
}

// choose picks the rollout under the cursor out, or puts it back, and goes on.
func (m *Model) choose() tea.Cmd {
	row := m.rowUnderCursor()
	if row == 0 || m.view != viewRollouts {
		return nil
	}
	if m.chosen[row] {
		delete(m.chosen, row)
	} else {
		m.chosen[row] = true
	}
	m.list().Move(ui.Down, m.length())
	return m.follow()
}

// maxSent bounds what is sent to be labelled at once: more than a person labels in
// a month. Convention.
const maxSent = 10_000

// label sends what is picked out, or all that is kept, to be labelled.
func (m *Model) label() tea.Cmd {
	var rows []store.Row
	for _, row := range m.rows {
		if len(m.chosen) == 0 || m.chosen[row] {
			rows = append(rows, row)
		}
	}
	switch {
	case len(rows) == 0:
		return ui.Toast("There is nothing to label")
	case len(rows) > maxSent:
		return ui.Toast(fmt.Sprintf("%s are too many to label at once: filter, or pick some out with Space", ui.Count(len(rows))))
	}
	s := m.opts.Store
	return m.asked(func(ctx context.Context) tea.Msg {
		ids, err := s.RolloutIDs(ctx, rows)
		return chosenMsg{ids, err}
	})
}

// wheelLines is how far a notch of the wheel goes. Convention.
const wheelLines = 3

func (m *Model) wheel(msg tea.MouseWheelMsg) tea.Cmd {
	by := wheelLines
	switch msg.Button {
	case tea.MouseWheelUp:
		by = -by
	case tea.MouseWheelDown:
	default:
		return nil
	}
	switch {
	case m.edit.on, m.sql.typing, m.causing.on:
	case m.replay.on:
		m.replay.scroll.Wheel(m.replay.shown, by)
	case m.sql.on:
		m.sql.list.Set(m.sql.list.Cursor()+by, len(m.sql.table.Rows))
	case m.pair.on:
		m.pair.scroll.Wheel(m.pair.shown, by)
	case m.view == viewMap:
		m.grid.row = max(min(m.grid.row+by/wheelLines, len(m.grid.rows)-1), 0)
	case m.overDetail(msg.X):
		if m.detail.doc != nil {
			m.detail.play.Wheel(m.detail.doc, by)
		}
	default:
		m.list().Set(m.list().Cursor()+by, m.length())
		return m.follow()
	}
	return nil
}

// overDetail reports whether a column is the transcript's.
func (m *Model) overDetail(x int) bool {
	if m.view != viewRollouts && m.view != viewTasks {
		return false
	}
	left, _, folded := ui.Split(m.width, listShare)
	return folded && m.focus == paneDetail || !folded && x > left
}

func (m *Model) click(msg tea.MouseClickMsg) tea.Cmd {
	line := msg.Y - m.first
	if msg.Button != tea.MouseLeft || line < 0 || line >= m.height || m.Typing() || m.causing.on || m.replay.on || m.sql.on || m.view == viewMap && !m.pair.on {
		return nil
	}
	if m.pair.on {
		was := m.pair.scroll.Cursor()
		if at := m.pair.scroll.Click(m.pair.shown, msg.Y-2); at == was {
			return m.doPair(ui.Open)
		}
		return nil
	}
	if m.overDetail(msg.X) {
		if m.detail.doc == nil {
			return nil
		}
		was, again := m.detail.play.Cursor(), m.focus == paneDetail
		m.focus = paneDetail
		if at := m.detail.play.Click(m.detail.doc, line); at >= 0 && at == was && again {
			return m.enter()
		}
		return nil
	}
	m.focus = paneList
	row := m.list().Row(line)
	if row >= m.length() {
		return nil
	}
	again := row == m.list().Cursor()
	m.list().Set(row, m.length())
	if again && m.view == viewGroups {
		return m.enter()
	}
	return m.follow()
}
