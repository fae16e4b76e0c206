package judge

import (
	"context"
	"encoding/json"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/tui/ui"
)

// IDs of the screen's own actions.
const (
	doView    = "next-view"
	doMeasure = "measure"
	doProbe   = "probe"
	doPairs   = "pairs"
	doNext    = "next-row"
	doBefore  = "row-before"
	doExplore = "explore"
	doEdit    = "edit-rubric"
	doKeep    = "keep-rubric"
	doDrop    = "drop-rubric"
	doRegrade = "regrade"
)

// Actions are what can be done now.
func (m *Model) Actions() []ui.Action {
	back := ui.Reserve(ui.Back, "back", "Go back: to the list, to the report, to the runs", 9)
	if m.runID == "" || m.err != nil {
		return []ui.Action{ui.Reserve(ui.Back, "runs", "Go back to the runs", 1)}
	}
	if m.search.Typing {
		return []ui.Action{ui.Reserve(ui.Open, "find", "Find the words", 1), ui.Reserve(ui.Back, "leave it", "Leave things as they are", 2)}
	}
	open, help := "open", "Open a probe or one of its rows"
	if m.view != viewReport {
		open, help = "read", "Read the transcript"
	}
	if m.focus == paneDetail {
		open, help = "unfold", "Fold or unfold a tool call"
	}
	next := m.nextView()
	out := append(ui.Moves(),
		ui.Reserve(ui.Open, open, help, 1),
		ui.Action{ID: doView, Keys: []string{"v"}, Name: next.String(), Help: "Look at the " + next.String(), Footer: 2},
		ui.Reserve(ui.NextPane, "", "", 0), ui.Reserve(ui.PrevPane, "", "", 0),
		ui.Reserve(ui.Left, "", "Go to the pane on the left", 0), ui.Reserve(ui.Right, "", "Go to the transcript", 0),
		ui.Reserve(ui.Copy, "", "Copy what is under the cursor", 0), back)
	out = append(out, m.trialActions()...)
	if !m.busy {
		out = append(out,
			ui.Action{ID: doMeasure, Keys: []string{"m"}, Name: "measure", Help: "Measure the judge on the labels; a look at the other half of gold, which is counted", Footer: 5},
			ui.Action{ID: doProbe, Keys: []string{"P"}, Name: "with probes", Help: "Measure it and ask it about replies that a policy would try first", Footer: 6},
			ui.Action{ID: doPairs, Keys: []string{"O"}, Name: "both orders", Help: "Measure it and ask it which of two attempts is better, in both orders"})
	}
	if m.view != viewReport {
		out = append(out,
			ui.Action{ID: doNext, Keys: []string{"}"}, Name: "next", Help: "Go to the next row", Footer: 7},
			ui.Action{ID: doBefore, Keys: []string{"{"}, Name: "before", Help: "Go to the row before"})
	}
	if m.detail != nil {
		out = append(out, ui.Reserve(ui.Find, "find", "Find words in the transcript", 8))
		if m.search.Active() {
			out = append(out, ui.Reserve(ui.FindNext, "", "", 0), ui.Reserve(ui.FindPrev, "", "", 0))
		}
		out = append(out, ui.Action{ID: doExplore, Keys: []string{"x"}, Name: "explore", Help: "Look at the rollout in Explore"})
	}
	return out
}

// trialActions are those of the loop in which a rubric gets better.
func (m *Model) trialActions() []ui.Action {
	var out []ui.Action
	t := m.trial
	if m.opts.Edit != nil && m.run != nil && rubricOf(m.run) != "" && !m.busy {
		out = append(out, ui.Action{ID: doEdit, Keys: []string{"E"}, Name: "edit rubric", Help: "Edit the rubric in $EDITOR, and try it on the tuning half of gold", Footer: 3})
	}
	switch {
	case t == nil && m.dropped != nil:
		return append(out, ui.Reserve(ui.Undo, "undo", "Bring the rubric back that was dropped", 4))
	case t == nil:
		return out
	case t.kept && !m.busy:
		out = append(out, ui.Action{ID: doRegrade, Keys: []string{"R"}, Name: "regrade", Help: "Judge the whole run by the version that was kept; says what that costs and asks", Footer: 2})
	case t.result != nil && !t.saving:
		out = append(out, ui.Action{ID: doKeep, Keys: []string{"K"}, Name: "keep", Help: "Keep the rubric as a new version, with what the judge said by it", Footer: 2})
	}
	return append(out, ui.Action{ID: doDrop, Keys: []string{"X"}, Name: "drop", Help: "Put the tried rubric away; undo brings it back", Footer: 4})
}

// nextView is the view that v goes to.
func (m *Model) nextView() view {
	n := viewTrial
	if m.trial != nil {
		n++
	}
	return (m.view + 1) % n
}

// Do does an action.
func (m *Model) Do(id string) tea.Cmd {
	switch id {
	case ui.Up, ui.Down, ui.Top, ui.Bottom, ui.PageUp, ui.PageDown:
		return m.move(id)
	case ui.Open:
		return m.enter()
	case ui.Back:
		return m.goUp()
	case ui.NextPane, ui.PrevPane:
		m.turnPane(m.focus == paneLeft)
	case ui.Left, ui.Right:
		m.turnPane(id == ui.Right)
	case ui.Copy:
		return m.copy()
	case doView:
		return m.setView(m.nextView())
	case doEdit:
		return m.editRubric()
	case doKeep:
		return m.keep()
	case doDrop:
		return m.drop()
	case ui.Undo:
		return m.bringBack()
	case doRegrade:
		return m.regrade()
	case ui.Find:
		if m.detail != nil {
			m.search.Begin()
		}
	case ui.FindNext, ui.FindPrev:
		by := 1
		if id == ui.FindPrev {
			by = -1
		}
		m.search.Go(by, &m.play)
	case doMeasure:
		return m.measure(engine.TrustOptions{})
	case doProbe:
		return ui.Ask(ui.Confirm{Question: "Probe the judge?", Yes: "Probe it",
			Says: "It is asked about up to forty rows again for every probe, which costs what its calls cost. It also counts as a look at the other half of gold."},
			m.asked(func() tea.Cmd { return m.measure(engine.TrustOptions{Probes: true}) }))
	case doPairs:
		return ui.Ask(ui.Confirm{Question: "Ask the judge about pairs?", Yes: "Ask it",
			Says: "It is asked about up to forty pairs of attempts twice, in both orders, which costs what its calls cost. It also counts as a look at the other half of gold."},
			m.asked(func() tea.Cmd { return m.measure(engine.TrustOptions{Pairs: true}) }))
	case doNext, doBefore:
		by := 1
		if id == doBefore {
			by = -1
		}
		list, n := m.rowList()
		if list == nil {
			return nil
		}
		list.Set(list.Cursor()+by, n)
		return m.follow()
	case doExplore:
		if m.detail != nil {
			return ui.Go(ui.ScreenExplore, ui.Visit{Run: m.runID, Rollout: m.detail.id})
		}
	}
	return nil
}

// agreedMsg says that a question was answered with yes.
type agreedMsg struct{ then func() tea.Cmd }

// asked has an act done in the loop once the person agrees.
func (m *Model) asked(then func() tea.Cmd) tea.Cmd {
	epoch := m.epoch
	return func() tea.Msg { return answer{m, epoch, agreedMsg{then}} }
}

func (m *Model) turnPane(toDetail bool) {
	m.focus = paneLeft
	if toDetail && m.detail != nil {
		m.focus = paneDetail
	}
}

func (m *Model) setView(v view) tea.Cmd {
	m.view, m.focus, m.detail = v, paneLeft, nil
	return m.follow()
}

func (m *Model) move(id string) tea.Cmd {
	switch {
	case m.focus == paneDetail && m.detail != nil:
		m.play.Move(id, m.detail)
	case m.view != viewReport:
		list, n := m.rowList()
		list.Move(id, n)
		return m.follow()
	default:
		m.scroll.Move(id, book{m})
	}
	return nil
}

// rowList is the list of rollouts of the view and how many there are, nil for none.
func (m *Model) rowList() (*ui.List, int) {
	switch {
	case m.view == viewDisagreements:
		return &m.list, len(m.rows)
	case m.view == viewTrial && m.trial != nil:
		return &m.trial.list, len(m.trial.rows)
	}
	return nil, 0
}

// Typing reports whether keys are text.
func (m *Model) Typing() bool { return m.search.Typing }

// Type takes a key of the line.
func (m *Model) Type(msg tea.KeyPressMsg) tea.Cmd {
	if m.search.Key(msg.String(), msg.Text) {
		m.turnPane(true)
		return m.find()
	}
	return nil
}

// find looks for what is looked for in the transcript.
func (m *Model) find() tea.Cmd {
	if m.detail == nil {
		return nil
	}
	find := m.search.Behind(m.detail.doc, m.detail, len(m.detail.lead))
	m.play.Forget()
	if find == nil {
		return nil
	}
	return m.ask(func(context.Context) tea.Msg { return hitsMsg{find()} })
}

// enter opens what is under the cursor.
func (m *Model) enter() tea.Cmd {
	switch {
	case m.focus == paneDetail && m.detail != nil:
		if at, ok := m.detail.Toggle(m.play.Cursor()); ok {
			m.play.To(m.detail, at)
		}
		return nil
	case m.view != viewReport:
		m.turnPane(true)
		return nil
	case m.scroll.Cursor() >= len(m.page.lines):
		return nil
	}
	l := m.page.lines[m.scroll.Cursor()]
	switch {
	case l.probe < 0:
		return nil
	case l.row < 0:
		name := m.report.Probes[l.probe].Name
		m.page.open[name] = !m.page.open[name]
		m.layOut()
		return nil
	}
	id, lead := m.probed(l.probe, l.row)
	m.focus = paneDetail
	return m.open(id, lead)
}

func (m *Model) goUp() tea.Cmd {
	switch {
	case m.focus == paneDetail:
		m.focus = paneLeft
		if m.view == viewReport {
			m.detail = nil
		}
	case m.view != viewReport:
		return m.setView(viewReport)
	default:
		return ui.Go(ui.ScreenRuns, ui.Visit{})
	}
	return nil
}

func (m *Model) copy() tea.Cmd {
	text := ""
	switch {
	case m.focus == paneDetail && m.detail != nil:
		text = m.detail.Text(m.play.Cursor())
	case m.view == viewDisagreements && m.list.Cursor() < len(m.rows):
		text = m.rows[m.list.Cursor()].ID
	case m.view == viewTrial:
		if at := m.trial.list.Cursor(); at < len(m.trial.rows) {
			text = m.trial.rows[at].RolloutID
		}
	case m.scroll.Cursor() < len(m.page.lines):
		text = m.page.lines[m.scroll.Cursor()].text
	}
	if text == "" {
		return nil
	}
	return tea.Batch(tea.SetClipboard(text), ui.Toast("Copied "+ui.Plural(len(text), "byte")))
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
	case m.overDetail(msg.X):
		m.play.Wheel(m.detail, by)
	case m.view != viewReport:
		list, n := m.rowList()
		list.Set(list.Cursor()+by, n)
		return m.follow()
	default:
		m.scroll.Wheel(book{m}, by)
	}
	return nil
}

func (m *Model) click(msg tea.MouseClickMsg) tea.Cmd {
	line := msg.Y - m.top
	if msg.Button != tea.MouseLeft || line < 0 || line >= m.height {
		return nil
	}
	if m.overDetail(msg.X) {
		was, again := m.play.Cursor(), m.focus == paneDetail
		m.focus = paneDetail
		if at := m.play.Click(m.detail, line); again && at == was {
			return m.enter()
		}
		return nil
	}
	m.focus = paneLeft
	if list, n := m.rowList(); list != nil {
		if m.view == viewTrial {
			line -= trialTop - m.top
		}
		if row := list.Row(line); line >= 0 && row < n {
			list.Set(row, n)
			return m.follow()
		}
		return nil
	}
	was := m.scroll.Cursor()
	if at := m.scroll.Click(book{m}, line); at >= 0 && at == was {
		return m.enter()
	}
	return nil
}

// kept is where a person was, for another day.
type kept struct {
	Run    string `json:"run"`
	View   int    `json:"view,omitempty"`
	Line   int    `json:"line,omitempty"`
	Cursor int    `json:"cursor,omitempty"`
}

// Keep gives the place.
func (m *Model) Keep() any {
	if m.runID == "" {
		return nil
	}
	v := m.view
	if v == viewTrial { // what is tried ends with the program
		v = viewReport
	}
	return kept{m.runID, int(v), m.scroll.Cursor(), m.list.Cursor()}
}

// Restore goes back to a place that was kept.
func (m *Model) Restore(raw json.RawMessage) tea.Cmd {
	var k kept
	if json.Unmarshal(raw, &k) != nil || k.Run == "" {
		return nil
	}
	m.clear()
	m.runID, m.back = k.Run, &k
	if v := view(k.View); v == viewDisagreements {
		m.view = v
	}
	return nil
}

// restorePlace puts the cursors where they were.
func (m *Model) restorePlace() {
	k := m.back
	m.back = nil
	if k == nil {
		return
	}
	m.list.Set(k.Cursor, len(m.rows))
	if n := len(m.page.lines); n > 0 {
		m.scroll.To(book{m}, min(max(k.Line, 0), n-1))
	}
}
