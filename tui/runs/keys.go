package runs

import (
	tea "charm.land/bubbletea/v2"

	"assay/engine/record"
	"assay/tui/ui"
)

// IDs of the screen's own actions.
const (
	doNew    = "new-run"
	doResume = "resume"
	doHide   = "hide"
	doSetUp  = "set-up"
	doMark   = "mark"
	doComp   = "compare"
)

// Actions are what can be done now.
func (m *Model) Actions() []ui.Action {
	switch {
	case m.mode == fillForm:
		return []ui.Action{ui.Reserve(ui.Open, "run it", "Run the recipe so", 1), ui.Reserve(ui.NextPane, "next", "Go to the next field", 2),
			ui.Reserve(ui.PrevPane, "", "Go to the field before", 0), ui.Reserve(ui.Back, "back", "Go back to the recipes", 3)}
	case m.find.on:
		return []ui.Action{ui.Reserve(ui.Open, "stay here", "Stay on the run that was found", 1), ui.Reserve(ui.Back, "back", "Go back to where the search began", 2)}
	}
	out := ui.Moves()
	if m.mode == listRecipes {
		out = append(out, ui.Reserve(ui.Open, "run it", "Run the recipe: all eight steps", 1))
		if m.opts.Knobs != nil && len(m.opts.Recipes) > 0 {
			out = append(out, ui.Action{ID: doSetUp, Keys: []string{"a"}, Name: "set up", Help: "Set the recipe's knobs, then run it", Footer: 3})
		}
		if len(m.runs) > 0 {
			out = append(out, ui.Reserve(ui.Back, "runs", "Go back to the runs", 2))
		}
		return m.withUndo(append(out, ui.Reserve(ui.Copy, "", "Copy the recipe's name", 0)))
	}
	if r := m.underCursor(); r != nil {
		out = append(out, ui.Reserve(ui.Open, "open", "Open the run: its rollouts, its numbers, its delta", 1),
			ui.Reserve(ui.Copy, "", "Copy the run's id", 0))
		if m.canResume(r) {
			resume := ui.Action{ID: doResume, Keys: []string{"r"}, Name: "resume", Help: "Go on with the run and its story where they stopped"}
			if r.Status != record.RunDone {
				resume.Footer = 3
			}
			out = append(out, resume)
		}
		if !m.active[r.ID] {
			out = append(out, ui.Action{ID: doHide, Keys: []string{"d"}, Name: "hide", Help: "Hide the run from this list; nothing is deleted", Footer: 4})
		}
	}
	if len(m.runs) > 0 {
		out = append(out, ui.Reserve(ui.Find, "find", "Find a run by its recipe, name or id", 8))
	}
	if m.find.query != "" {
		out = append(out, ui.Reserve(ui.FindNext, "", "", 9), ui.Reserve(ui.FindPrev, "", "", 0))
	}
	if m.opts.Compare && len(m.runs) > 0 {
		out = append(out, ui.Action{ID: doMark, Keys: []string{"space"}, Name: "mark", Help: "Mark the run for a comparison, or take the mark away", Footer: 6},
			ui.Action{ID: doComp, Keys: []string{"c"}, Name: "compare", Help: "Compare the two marked runs, or the marked one with this; with none marked, this story's before and after", Footer: 7})
	}
	if len(m.opts.Recipes) > 0 {
		out = append(out, ui.Action{ID: doNew, Keys: []string{"a"}, Name: "new run", Help: "Run one of the recipes", Footer: 2})
	}
	return m.withUndo(out)
}

func (m *Model) withUndo(out []ui.Action) []ui.Action {
	if len(m.hidden) > 0 {
		out = append(out, ui.Reserve(ui.Undo, "unhide", "Bring back the run that was hidden last", 5))
	}
	return out
}

// canResume is true of a story's first run that does not run here. Of one that is
// done the rest of the story may be missing; where nothing is, nothing happens.
func (m *Model) canResume(r *record.Run) bool {
	return r.Parent == "" && r.Role != record.RoleImport && !m.active[r.ID]
}

// Do does an action.
func (m *Model) Do(id string) tea.Cmd {
	m.now = m.opts.Now()
	if m.mode == listRecipes && m.recipeList.Move(id, len(m.opts.Recipes)) {
		return nil
	}
	if m.mode == listRuns && m.runList.Move(id, len(m.runs)) {
		return m.readPass()
	}
	switch id {
	case ui.Open:
		return m.open()
	case ui.Back:
		if len(m.runs) > 0 {
			m.mode = listRuns
		}
	case ui.Copy:
		return m.copy()
	case ui.Undo:
		return m.undo()
	case ui.Find:
		m.beginFind()
	case ui.FindNext:
		return m.findFrom(m.runList.Cursor()+1, 1)
	case ui.FindPrev:
		return m.findFrom(m.runList.Cursor()-1, -1)
	case doMark:
		return m.mark()
	case doComp:
		return m.compare()
	case doSetUp:
		return m.beginForm()
	case doNew:
		m.mode = listRecipes
	case doResume:
		if r := m.underCursor(); r != nil && m.canResume(r) {
			runID := r.ID
			return func() tea.Msg { return ResumeMsg{runID} }
		}
	case doHide:
		if r := m.underCursor(); r != nil && !m.active[r.ID] {
			return m.hide(r.ID, true)
		}
	}
	return nil
}

func (m *Model) open() tea.Cmd {
	if r := m.underCursor(); r != nil {
		runID := r.ID
		return func() tea.Msg { return OpenMsg{runID} }
	}
	if m.mode != listRecipes || len(m.opts.Recipes) == 0 {
		return nil
	}
	recipe := m.opts.Recipes[m.recipeList.Cursor()]
	if recipe.Lacks != "" {
		return lacks(recipe)
	}
	return func() tea.Msg { return StartMsg{Recipe: recipe.Name} }
}

func lacks(recipe Recipe) tea.Cmd {
	return func() tea.Msg {
		return ui.ToastMsg{Text: "It cannot run here: it needs " + ui.CleanLine(recipe.Lacks), Bad: true}
	}
}

func (m *Model) copy() tea.Cmd {
	if r := m.underCursor(); r != nil {
		return tea.Batch(tea.SetClipboard(r.ID), ui.Toast("Copied "+ui.CleanLine(r.ID)))
	}
	if m.mode == listRecipes && len(m.opts.Recipes) > 0 {
		name := m.opts.Recipes[m.recipeList.Cursor()].Name
		return tea.Batch(tea.SetClipboard(name), ui.Toast("Copied "+ui.CleanLine(name)))
	}
	return nil
}

func (m *Model) undo() tea.Cmd {
	if len(m.hidden) == 0 {
		return nil
	}
	last := m.hidden[len(m.hidden)-1]
	m.hidden = m.hidden[:len(m.hidden)-1]
	m.mode = listRuns
	return m.hide(last, false)
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
	if m.mode == listRecipes {
		m.recipeList.Set(m.recipeList.Cursor()+by, len(m.opts.Recipes))
		return nil
	}
	m.runList.Set(m.runList.Cursor()+by, len(m.runs))
	return m.readPass()
}

func (m *Model) click(msg tea.MouseClickMsg) tea.Cmd {
	line := msg.Y - topRows
	if msg.Button != tea.MouseLeft || line < 0 || line >= m.height || m.mode == fillForm {
		return nil
	}
	list, n := &m.runList, len(m.runs)
	if m.mode == listRecipes {
		list, n = &m.recipeList, len(m.opts.Recipes)
	}
	row := list.Row(line)
	switch {
	case row >= n:
		return nil
	case row == list.Cursor() && m.mode == listRuns:
		return m.open() // a second click opens; it never starts a run
	}
	list.Set(row, n)
	return m.readPass()
}
