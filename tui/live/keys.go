package live

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"assay/tui/transcript"
	"assay/tui/ui"
)

// IDs of the screen's own actions.
const (
	doFollow   = "follow"
	doPause    = "pause"
	doMore     = "more-at-once"
	doFewer    = "fewer-at-once"
	doStopOne  = "stop-rollout"
	doPartNext = "next-part"
	doPartPrev = "previous-part"
	doWarnings = "warnings"
)

// Actions are what can be done now.
func (m *Model) Actions() []ui.Action {
	if m.Empty() {
		return []ui.Action{ui.Reserve(ui.Back, "runs", "Go back to the runs", 9)}
	}
	out := ui.Moves()
	detail := !m.onPage()
	if m.search.Typing {
		return []ui.Action{ui.Reserve(ui.Open, "find", "Find the words", 1), ui.Reserve(ui.Back, "leave it", "Leave things as they are", 2)}
	}
	if detail && m.shown.doc != nil {
		out = append(out, ui.Reserve(ui.Find, "find", "Find words in the transcript", 23))
		out = append(out, transcript.JumpActions(0)...)
		if m.search.Active() {
			out = append(out, ui.Reserve(ui.FindNext, "", "", 5), ui.Reserve(ui.FindPrev, "", "", 0))
		}
	}
	if detail {
		out = append(out,
			ui.Reserve(ui.Open, m.openName(), "Open the rollout; in it, fold or unfold a tool call", 1),
			ui.Reserve(ui.NextPane, "", "", 21), ui.Reserve(ui.PrevPane, "", "", 0),
			ui.Reserve(ui.Left, "", "Go to the list", 0), ui.Reserve(ui.Right, "", "Go to the transcript", 0),
			ui.Reserve(ui.Copy, "", "Copy the message or the tool call under the cursor", 0))
	}
	out = append(out, ui.Reserve(ui.Back, "back", "Go back: from the transcript to the list, from the list to the runs", 22),
		ui.Action{ID: doPartNext, Keys: []string{">"}, Name: "next part", Help: "Go to the next part of the story: run, cut, before, after, delta", Footer: 6},
		ui.Action{ID: doPartPrev, Keys: []string{"<"}, Name: "part before", Help: "Go to the part of the story before"})
	if len(m.warnings()) > 0 {
		out = append(out, ui.Action{ID: doWarnings, Keys: []string{"!"}, Name: "warnings", Help: "Read the warnings whole, with what to do about each", Footer: 7})
	}
	if m.story == nil {
		return out
	}
	pause, help := "pause", "Hold back new rollouts; those in flight go on"
	if m.story.Paused() {
		pause, help = "go on", "Let new rollouts begin again"
	}
	out = append(out,
		ui.Action{ID: doPause, Keys: []string{"space"}, Name: pause, Help: help, Footer: 2},
		ui.Action{ID: doFollow, Keys: []string{"f"}, Name: "follow", Help: "Follow the newest rollout until you move", Footer: 3},
		ui.Action{ID: doMore, Keys: []string{"+"}, Name: "more at once", Help: "Have more rollouts in flight at once", Footer: 20},
		ui.Action{ID: doFewer, Keys: []string{"-"}, Name: "fewer", Help: "Have fewer rollouts in flight at once"})
	if f := m.flightUnderCursor(); detail && f != nil && !f.Returned {
		out = append(out, ui.Action{ID: doStopOne, Keys: []string{"x"}, Name: "stop it", Help: "Stop the rollout under the cursor; it counts as lost", Footer: 19})
	}
	return out
}

func (m *Model) openName() string {
	if m.focus == paneDetail {
		return "unfold"
	}
	return "read"
}

// hasList is true of parts that are rollouts.
func (m *Model) hasList() bool { return m.part != PartCut && m.part != PartDelta }

// onPage is true while a page of text is shown instead of the panes.
func (m *Model) onPage() bool { return m.reading || !m.hasList() }

func (m *Model) flightUnderCursor() *Flight {
	v := m.view()
	if v == nil {
		return nil
	}
	return v.flight(v.list.Cursor())
}

// Do does an action.
func (m *Model) Do(id string) tea.Cmd {
	switch id {
	case ui.Up, ui.Down, ui.Top, ui.Bottom, ui.PageUp, ui.PageDown:
		return m.move(id)
	case ui.Left:
		m.focus, m.focused = paneList, false
	case ui.Right:
		m.enterDetail()
	case ui.NextPane, ui.PrevPane:
		if m.focus == paneList {
			m.enterDetail()
		} else {
			m.focus, m.focused = paneList, false
		}
	case ui.Open:
		return m.enter()
	case doWarnings:
		m.reading = !m.reading
		m.pageView.Reset()
	case ui.Back:
		if m.reading {
			m.reading = false
			m.pageView.Reset()
			return nil
		}
		if m.focus == paneDetail {
			m.focus, m.focused = paneList, false
			return nil
		}
		return func() tea.Msg { return BackMsg{} }
	case ui.Copy:
		return m.copy()
	case doPartNext:
		return m.otherPart(1)
	case doPartPrev:
		return m.otherPart(-1)
	case doFollow:
		return m.toggleFollow()
	case ui.Find:
		m.search.Begin()
		return nil
	case ui.FindNext, ui.FindPrev:
		by := 1
		if id == ui.FindPrev {
			by = -1
		}
		m.follow = false
		m.search.Go(by, &m.shown.play)
		return nil
	}
	if cmd, ok := m.jump(id); ok {
		return cmd
	}
	return m.steer(id)
}

// jump goes to a tool call or to trouble; ok is false where the ID is of neither.
func (m *Model) jump(id string) (cmd tea.Cmd, ok bool) {
	if m.shown.doc == nil || m.onPage() {
		return nil, false
	}
	at, found, isJump := m.shown.doc.Jump(id, m.shown.play.Cursor())
	switch {
	case !isJump:
		return nil, false
	case !found:
		return ui.Toast("There is no other that way"), true
	}
	m.follow = false
	m.enterDetail()
	m.shown.play.To(m.shown.doc, at)
	return nil, true
}

// Typing reports whether keys are text.
func (m *Model) Typing() bool { return m.search.Typing }

// Type takes a key of the line that words are looked for with.
func (m *Model) Type(msg tea.KeyPressMsg) tea.Cmd {
	if !m.search.Key(msg.String(), msg.Text) {
		return nil
	}
	m.follow = false
	m.enterDetail()
	return m.find()
}

// find looks for what is looked for in the transcript that is shown.
func (m *Model) find() tea.Cmd {
	find := m.search.In(m.shown.doc)
	m.shown.play.Forget()
	if find == nil {
		return nil
	}
	return m.owned(func() tea.Msg { return foundMsg{find()} })
}

// steer does what acts on the story that runs.
func (m *Model) steer(id string) tea.Cmd {
	if m.story == nil {
		return nil
	}
	switch id {
	case doPause:
		m.story.SetPaused(!m.story.Paused())
		if m.story.Paused() {
			return ui.Toast("Paused: no rollout begins; those in flight go on")
		}
		return ui.Toast("Going on")
	case doMore, doFewer:
		return m.atOnce(id == doMore)
	case doStopOne:
		return m.stopOne()
	}
	return nil
}

// atOnce changes how many rollouts are in flight, by one up to 8, then in eighths,
// so that a few presses reach any number.
func (m *Model) atOnce(more bool) tea.Cmd {
	n := m.story.Concurrency()
	by := max(n/8, 1)
	if !more {
		by = -by
	}
	m.story.SetConcurrency(max(n+by, 1))
	return ui.Toast(fmt.Sprintf("%d at once", m.story.Concurrency()))
}

func (m *Model) stopOne() tea.Cmd {
	f := m.flightUnderCursor()
	if f == nil {
		return nil
	}
	story, id := m.story, f.ID
	return ui.Ask(ui.Confirm{
		Question: "Stop this rollout?",
		Says:     "It ends now and counts as lost, cause interrupted. The run goes on without it.",
		Yes:      "Stop it",
	}, func() tea.Msg {
		story.StopRollout(id)
		return ui.ToastMsg{Text: "Rollout stopped"}
	})
}

func (m *Model) toggleFollow() tea.Cmd {
	m.follow = !m.follow
	if !m.follow {
		return ui.Toast("Not following")
	}
	m.focus, m.focused = paneList, false
	m.shown.since = m.shown.since.Add(-dwell)
	cmds := []tea.Cmd{ui.Toast("Following the newest")}
	if m.under != "" {
		cmds = append(cmds, m.show(m.under))
	}
	if v := m.view(); v != nil {
		v.goTo(v.Len() - 1)
	}
	return tea.Batch(append(cmds, m.play())...)
}

func (m *Model) move(id string) tea.Cmd {
	if m.onPage() {
		m.pageView.Move(id, &m.pageOf)
		m.follow = false
		return nil
	}
	if m.focus == paneDetail {
		if m.shown.doc != nil {
			m.shown.play.Move(id, m.shown.doc)
			m.follow = false
		}
		return nil
	}
	v := m.view()
	if v == nil {
		return nil
	}
	m.follow = false
	v.list.Move(id, v.Len())
	v.pin()
	return tea.Batch(v.readAround(m), m.play())
}

func (m *Model) enterDetail() {
	if !m.onPage() && m.shown.doc != nil {
		m.focus, m.focused = paneDetail, true
	}
}

func (m *Model) enter() tea.Cmd {
	if m.onPage() {
		return nil
	}
	if m.focus == paneList {
		m.enterDetail()
		return nil
	}
	m.follow = false
	m.toggleFold()
	return nil
}

func (m *Model) toggleFold() {
	if m.shown.doc == nil {
		return
	}
	if at, ok := m.shown.doc.Toggle(m.shown.play.Cursor()); ok {
		m.shown.play.To(m.shown.doc, at)
	}
}

// copy copies the message under the cursor, in the list the rollout's id: that one
// also where its transcript is not read yet.
func (m *Model) copy() tea.Cmd {
	if m.focus == paneDetail && m.shown.doc != nil {
		text := m.shown.doc.Text(m.shown.play.Cursor())
		return tea.Batch(tea.SetClipboard(text), ui.Toast("Copied "+ui.Plural(len(text), "byte")+" of the message"))
	}
	id := m.UnderCursor()
	if id == "" {
		return nil
	}
	return tea.Batch(tea.SetClipboard(id), ui.Toast("Copied the rollout's id, "+ui.CleanLine(id)))
}

// otherPart goes to the next part that there is something of.
func (m *Model) otherPart(by int) tea.Cmd {
	parts := Parts()
	at := 0
	for i, p := range parts {
		if p == m.part {
			at = i
		}
	}
	for i := at + by; i >= 0 && i < len(parts); i += by {
		if m.has(parts[i]) {
			m.follow = false
			return m.show(parts[i])
		}
	}
	return nil
}

func (m *Model) has(p Part) bool {
	switch p {
	case PartCut:
		return len(m.cuts) > 0 || m.under == PartCut
	case PartDelta:
		return m.report != nil || m.under == PartDelta
	}
	return m.runs[p] != nil
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
	if m.onPage() {
		m.pageView.Wheel(&m.pageOf, by)
		return nil
	}
	left, _, folded := ui.Split(m.width, listShare)
	if folded && m.focused || !folded && msg.X > left {
		if m.shown.doc != nil {
			m.follow = false
			m.shown.play.Wheel(m.shown.doc, by)
		}
		return nil
	}
	v := m.view()
	if v == nil {
		return nil
	}
	m.follow = false
	v.goTo(v.list.Cursor() + by)
	return tea.Batch(v.readAround(m), m.play())
}

func (m *Model) click(msg tea.MouseClickMsg) tea.Cmd {
	line := msg.Y - topRows
	v := m.view()
	if msg.Button != tea.MouseLeft || m.onPage() || v == nil || line < 0 || line >= m.rows() {
		return nil
	}
	m.follow = false
	left, _, folded := ui.Split(m.width, listShare)
	if folded && m.focused || !folded && msg.X > left {
		if m.shown.doc == nil {
			return nil
		}
		was := m.shown.play.Cursor()
		again := m.focus == paneDetail
		m.enterDetail()
		if at := m.shown.play.Click(m.shown.doc, line); at >= 0 && at == was && again {
			m.toggleFold()
		}
		return nil
	}
	m.focus = paneList
	if row := v.list.Row(line); row < v.Len() {
		v.goTo(row)
	}
	return tea.Batch(v.readAround(m), m.play())
}

// Where says what the screen shows, for the line at the top.
func (m *Model) Where() string {
	r := m.run()
	if r == nil { // the cut and the delta are the story's
		if r = m.runs[PartRun]; r == nil {
			return ""
		}
	}
	name := r.Name
	if name == "" {
		name = r.ID
	}
	return ui.CleanLine(r.Recipe) + "  ·  " + ui.CleanLine(name)
}
