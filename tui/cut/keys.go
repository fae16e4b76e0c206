package cut

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"assay/tui/ui"
)

// IDs of the screen's own actions.
const (
	doNextTarget = "next-target"
	doPrevTarget = "previous-target"
	doWrite      = "write-file"
	doEndorse    = "endorse"
	doAgain      = "read-again"
)

// Actions are what can be done now.
func (m *Model) Actions() []ui.Action {
	back := ui.Reserve(ui.Back, "back", "Go back", 8)
	if m.preview == nil {
		out := []ui.Action{ui.Reserve(ui.Back, "runs", "Go back to the runs", 1)}
		if m.asked != "" {
			out = append(out, m.again())
		}
		return out
	}
	switch m.level {
	case levelRows:
		return append(ui.Moves(), ui.Reserve(ui.Open, "read", "Read the rollout", 1), ui.Reserve(ui.Copy, "", "Copy the rollout's id", 2), back)
	case levelRow:
		return append(ui.Moves(), ui.Reserve(ui.Open, "unfold", "Fold or unfold a tool call", 1), ui.Reserve(ui.Copy, "", "Copy the message or the tool call under the cursor", 2), back)
	case levelWrite:
		if m.write.typing {
			return []ui.Action{ui.Reserve(ui.Open, "take the name", "Take the name as it was typed", 1), ui.Reserve(ui.Back, "as it was", "Leave the name as it was", 2)}
		}
		return append(ui.Moves(), ui.Reserve(ui.Open, "write", "Write the set in this format; on the file, change its name", 1), back)
	}
	out := append(ui.Moves(),
		ui.Action{ID: doNextTarget, Keys: []string{">"}, Name: "next target", Help: "Go to the next target: sft, dpo, grpo, rm", Footer: 2},
		ui.Action{ID: doPrevTarget, Keys: []string{"<"}, Name: "target before", Help: "Go to the target before"},
		ui.Action{ID: doWrite, Keys: []string{"w"}, Name: "write", Help: "Write the set to a file", Footer: 3},
		ui.Reserve(ui.NextPane, "pane", "Go to the hack scan, or back to the gates", 4), ui.Reserve(ui.PrevPane, "", "", 0),
		ui.Reserve(ui.Left, "", "Go to the gates", 0), ui.Reserve(ui.Right, "", "Go to the hack scan", 0),
		ui.Reserve(ui.Back, "runs", "Go back to the runs", 8), m.again())
	if m.focus == paneGates {
		if m.canOpen() {
			out = append(out, ui.Reserve(ui.Open, "rows", "Open the number as the list of its rows, with why each", 1))
		}
		return append(out, ui.Reserve(ui.Copy, "", "Copy what the line says", 0))
	}
	if m.feature() != nil {
		out = append(out, ui.Action{ID: doEndorse, Keys: []string{"e"}, Name: "meant", Help: "Say that the reward is meant to follow the feature, or not, and scan again", Footer: 1},
			ui.Reserve(ui.Copy, "", "Copy the feature's name", 0))
	}
	return out
}

func (m *Model) again() ui.Action {
	return ui.Action{ID: doAgain, Keys: []string{"r"}, Name: "again", Help: "Read the run again, as it is now", Footer: 5}
}

// canOpen reports whether the line under the cursor has rows.
func (m *Model) canOpen() bool {
	switch m.line(min(m.gates.Cursor(), m.Len()-1)).kind {
	case lineIn, lineGate, lineKept:
		return true
	}
	return false
}

// Do does an action.
func (m *Model) Do(id string) tea.Cmd {
	if m.preview == nil {
		switch {
		case id == ui.Back:
			m.previewing.Drop()
			return ui.Go(ui.ScreenRuns, ui.Visit{})
		case id == doAgain && m.asked != "":
			return m.read()
		}
		return nil
	}
	switch m.level {
	case levelRows:
		return m.doRows(id)
	case levelRow:
		return m.doRow(id)
	case levelWrite:
		return m.doWriting(id)
	}
	return m.doCut(id)
}

func (m *Model) doCut(id string) tea.Cmd {
	if m.focus == paneGates && m.gates.Move(id, m.Len()) || m.focus == panePool && m.pool.Move(id, features{m}.Len()) {
		return nil
	}
	switch id {
	case doNextTarget:
		m.otherTarget(1)
	case doPrevTarget:
		m.otherTarget(-1)
	case ui.NextPane, ui.PrevPane:
		m.focus = 1 - m.focus
		m.gen++
	case ui.Left, ui.Right:
		m.focus = paneGates
		if id == ui.Right {
			m.focus = panePool
		}
		m.gen++
	case ui.Open:
		if m.focus == paneGates {
			if r := m.open(); r != nil {
				m.rows, m.level = r, levelRows
			}
		}
	case ui.Copy:
		return m.copy()
	case doWrite:
		return m.openWrite()
	case doEndorse:
		return m.endorse()
	case doAgain:
		return m.read()
	case ui.Back:
		return ui.Go(ui.ScreenRuns, ui.Visit{})
	}
	return nil
}

func (m *Model) copy() tea.Cmd {
	if f := m.feature(); m.focus == panePool && f != nil {
		return tea.Batch(tea.SetClipboard(f.Name), ui.Toast("Copied the feature's name"))
	}
	text := ""
	for _, s := range m.about() {
		text += s.Text
	}
	return tea.Batch(tea.SetClipboard(text), ui.Toast("Copied what the line says"))
}

// endorse says of the feature under the cursor that it is meant, or takes that back.
func (m *Model) endorse() tea.Cmd {
	f := m.feature()
	if f == nil || m.focus != panePool {
		return nil
	}
	if at := slices.Index(m.endorsed, f.Name); at >= 0 {
		m.endorsed = slices.Delete(m.endorsed, at, at+1)
	} else {
		m.endorsed = append(m.endorsed, f.Name)
	}
	return m.rescan()
}

func (m *Model) doRows(id string) tea.Cmd {
	if m.rows.list.Move(id, m.rows.Len()) {
		return nil
	}
	e := m.rows.under()
	switch {
	case id == ui.Back:
		m.level, m.rows = levelCut, nil
	case e == nil:
	case id == ui.Open:
		m.row, m.level = nil, levelRow
		ctx, gen := m.reading.Ask(m.ctx)
		return readSample(ctx, m.opts.Store, gen, m.theme, e.rolloutID, m.preview.Run.PassThreshold)
	case id == ui.Copy:
		return tea.Batch(tea.SetClipboard(e.rolloutID), ui.Toast("Copied the rollout's id"))
	}
	return nil
}

func (m *Model) doRow(id string) tea.Cmd {
	if id == ui.Back {
		m.reading.Drop()
		m.level, m.row = levelRows, nil
		return nil
	}
	if m.row == nil || m.scroll.Move(id, m.row) {
		return nil
	}
	switch id {
	case ui.Open:
		if at, ok := m.row.Toggle(m.scroll.Cursor()); ok {
			m.scroll.To(m.row, at)
		}
	case ui.Copy:
		text := m.row.Text(m.scroll.Cursor())
		return tea.Batch(tea.SetClipboard(text), ui.Toast("Copied "+ui.Plural(len(text), "byte")+" of the message"))
	}
	return nil
}

func (m *Model) doWriting(id string) tea.Cmd {
	if m.write.list.Move(id, fileRow()+1) {
		return nil
	}
	switch id {
	case ui.Open:
		return m.chooseWrite()
	case ui.Back:
		if m.writes.Busy() {
			m.writes.Drop()
			return ui.Toast("Stopped; no file was written")
		}
		m.level, m.write = levelCut, nil
	}
	return nil
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
	case m.preview == nil, m.level == levelWrite:
	case m.level == levelRow:
		if m.row != nil {
			m.scroll.Wheel(m.row, by)
		}
	case m.level == levelRows:
		m.rows.list.Set(m.rows.list.Cursor()+by, m.rows.Len())
	case m.overPool(msg.X):
		m.pool.Set(m.pool.Cursor()+by, features{m}.Len())
	default:
		m.gates.Set(m.gates.Cursor()+by, m.Len())
	}
	return nil
}

// overPool reports whether a column of the screen is over the hack scan.
func (m *Model) overPool(x int) bool {
	left, _, folded := ui.Split(m.width, gatesShare)
	if folded {
		return m.focus == panePool
	}
	return x > left
}

// click puts the cursor where it was clicked; on what the cursor is on already it does
// what Enter does.
func (m *Model) click(msg tea.MouseClickMsg) tea.Cmd {
	if msg.Button != tea.MouseLeft || m.preview == nil {
		return nil
	}
	switch m.level {
	case levelRows:
		return m.clickList(&m.rows.list, m.rows.Len(), msg.Y-rowsTop)
	case levelRow:
		if m.row == nil {
			return nil
		}
		was := m.scroll.Cursor()
		if at := m.scroll.Click(m.row, msg.Y-rowsTop); at >= 0 && at == was {
			return m.Do(ui.Open)
		}
		return nil
	case levelWrite:
		return m.clickList(&m.write.list, fileRow()+1, msg.Y-writeTop)
	}
	focus := paneGates
	if m.overPool(msg.X) {
		focus = panePool
	}
	if focus != m.focus {
		m.focus = focus
		m.gen++
	}
	if focus == panePool {
		return m.clickList(&m.pool, features{m}.Len(), msg.Y-m.poolTop)
	}
	return m.clickList(&m.gates, m.Len(), msg.Y-gatesTop)
}

func (m *Model) clickList(list *ui.List, n, line int) tea.Cmd {
	row := list.Row(line)
	if line < 0 || row >= n {
		return nil
	}
	if row == list.Cursor() {
		return m.Do(ui.Open)
	}
	list.Set(row, n)
	return nil
}
