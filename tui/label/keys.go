package label

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"assay/engine/record"
	"assay/tui/ui"
)

// IDs of the screen's own actions.
const (
	doPass    = "label-pass"
	doFail    = "label-fail"
	doUnsure  = "label-unsure"
	doSkip    = "label-skip"
	doTag     = "tag-"
	doNewTag  = "new-tag"
	doNote    = "note"
	doNext    = "next-card"
	doBefore  = "card-before"
	doRubric  = "rubric"
	doNumbers = "judge-numbers"
	doQueue   = "next-queue"
	doCall    = "next-call"
	doBack    = "previous-call"
)

var verdicts = map[string]record.Verdict{doPass: record.VerdictPass, doFail: record.VerdictFail, doUnsure: record.VerdictUnsure, doSkip: record.VerdictSkip}

// Actions are what can be done now.
func (m *Model) Actions() []ui.Action {
	switch {
	case m.search.Typing:
		return []ui.Action{ui.Reserve(ui.Open, "find", "Find the words", 1), ui.Reserve(ui.Back, "leave it", "Leave things as they are", 2)}
	case m.edit != editNothing:
		return []ui.Action{ui.Reserve(ui.Open, "keep", "Keep what was written", 1), ui.Reserve(ui.Back, "leave it", "Leave things as they were", 2)}
	case m.cards == nil || m.err != nil:
		out := []ui.Action{ui.Reserve(ui.Back, "runs", "Go back to the runs", 1)}
		if m.runID != "" && m.opts.Annotator != "" {
			out = append(out, ui.Action{ID: doQueue, Keys: []string{"o"}, Name: "queue", Help: "Go on with another queue", Footer: 2})
		}
		return out
	case m.pairs != nil:
		return m.pairActions()
	}
	out := append(ui.Moves(),
		ui.Action{ID: doPass, Keys: []string{"p"}, Name: "pass", Help: "It passes: save that and go on", Footer: 1},
		ui.Action{ID: doFail, Keys: []string{"f"}, Name: "fail", Help: "It fails: save that and go on", Footer: 2},
		ui.Action{ID: doUnsure, Keys: []string{"e"}, Name: "unsure", Help: "Neither can be said: save that and go on", Footer: 3},
		ui.Action{ID: doSkip, Keys: []string{"s"}, Name: "skip", Help: "Skip it: save that and go on", Footer: 4},
		ui.Reserve(ui.Undo, "undo", "Take the last label back and go to its card", 5),
		ui.Action{ID: doRubric, Keys: []string{"r"}, Name: "rubric", Help: "Show the rubric and the policy, or the card again", Footer: 6},
		ui.Action{ID: doNote, Keys: []string{"M"}, Name: "note", Help: "Write a note; it goes with the label", Footer: 7},
		ui.Action{ID: doNext, Keys: []string{"}"}, Name: "next", Help: "Go to the next card, labelled or not", Footer: 8},
		ui.Action{ID: doBefore, Keys: []string{"{"}, Name: "before", Help: "Go to the card before"},
		ui.Action{ID: doNewTag, Keys: []string{"T"}, Name: "new tag", Help: "Name another kind of failure"},
		ui.Action{ID: doNumbers, Keys: []string{"J"}, Name: "judge's numbers", Help: "Show how the judge agrees with the labels so far, or hide it"},
		ui.Action{ID: doQueue, Keys: []string{"o"}, Name: "queue", Help: "Go on with another queue: mixed, random, or one that is there"},
		ui.Action{ID: doPairs, Keys: []string{"P"}, Name: "pairs", Help: "Compare two attempts at one task: which is better"},
		ui.Reserve(ui.Find, "find", "Find words in the transcript", 0),
		ui.Action{ID: doCall, Keys: []string{"]"}, Name: "next call", Help: "Go to the next tool call"},
		ui.Action{ID: doBack, Keys: []string{"["}, Name: "call before", Help: "Go to the tool call before"},
		ui.Reserve(ui.Open, "unfold", "Fold or unfold a tool call", 0),
		ui.Reserve(ui.Copy, "", "Copy what is under the cursor", 0),
		ui.Reserve(ui.Back, "back", "Go back: to the card, to the runs", 0))
	if m.search.Active() {
		out = append(out, ui.Reserve(ui.FindNext, "", "", 0), ui.Reserve(ui.FindPrev, "", "", 0))
	}
	for n := range maxTags {
		help := "Put failure tag " + fmt.Sprint(n+1) + " on the card, or take it off"
		if n < len(m.tags) {
			help = "Tag it " + ui.Line(m.tags[n].Name, 40) + ", or take that off"
		}
		out = append(out, ui.Action{ID: doTag + fmt.Sprint(n), Keys: []string{fmt.Sprint(n + 1)}, Name: "tag", Help: help})
	}
	return out
}

// maxTags is how many tags have a key.
const maxTags = 9

// Do does an action.
func (m *Model) Do(id string) tea.Cmd {
	if m.pairs != nil {
		return m.doPair(id)
	}
	if v, ok := verdicts[id]; ok {
		return m.judge(v)
	}
	if n, ok := strings.CutPrefix(id, doTag); ok {
		return m.tag(int(n[0] - '0'))
	}
	switch id {
	case ui.Up, ui.Down, ui.Top, ui.Bottom, ui.PageUp, ui.PageDown:
		m.move(id)
	case ui.Undo:
		return m.undo()
	case doNext:
		return m.step(1)
	case doBefore:
		return m.step(-1)
	case doQueue:
		if !m.saving {
			return m.openQueue(m.otherQueue())
		}
	case doNote, doNewTag:
		m.beginEdit(id)
	case doNumbers:
		m.asked = !m.asked
	case doRubric:
		m.turnPane()
	case doCall, doBack:
		m.jump(id)
	case doPairs:
		return m.openPairs()
	case ui.Find:
		if m.shown != nil && m.pane == paneCard {
			m.search.Begin()
		}
	case ui.FindNext, ui.FindPrev:
		by := 1
		if id == ui.FindPrev {
			by = -1
		}
		m.search.Go(by, &m.play)
	case ui.Open:
		m.fold()
	case ui.Copy:
		return m.copy()
	case ui.Back:
		if m.pane == paneRubric {
			m.turnPane()
			return nil
		}
		return ui.Go(ui.ScreenRuns, ui.Visit{})
	}
	return nil
}

func (m *Model) beginEdit(id string) {
	switch {
	case id == doNewTag:
		m.edit = editTag
		m.field.Set("")
	case m.shown != nil && !m.saving:
		m.edit = editNote
		m.field.Set(string(m.shown.note))
	}
}

func (m *Model) turnPane() {
	if m.pane == paneRubric {
		m.pane = paneCard
		return
	}
	if m.leaf != nil {
		m.pane = paneRubric
	}
}

func (m *Model) move(id string) {
	switch {
	case m.pane == paneRubric:
		m.page.Move(id, m.leaf)
	case m.shown != nil:
		m.play.Move(id, m.shown.doc)
	}
}

func (m *Model) jump(id string) {
	if m.shown == nil || m.pane != paneCard {
		return
	}
	by := 1
	if id == doBack {
		by = -1
	}
	if at, ok := m.shown.doc.NextCall(m.play.Cursor(), by); ok {
		m.play.To(m.shown.doc, at)
	}
}

func (m *Model) fold() {
	if m.shown == nil || m.pane != paneCard {
		return
	}
	if at, ok := m.shown.doc.Toggle(m.play.Cursor()); ok {
		m.play.To(m.shown.doc, at)
	}
}

func (m *Model) copy() tea.Cmd {
	text := ""
	switch {
	case m.pane == paneRubric && m.leaf.Len() > 0:
		text = m.leaf.blocks[m.page.Cursor()].text
	case m.shown != nil:
		text = m.shown.doc.Text(m.play.Cursor())
	}
	if text == "" {
		return nil
	}
	return tea.Batch(tea.SetClipboard(text), ui.Toast("Copied "+ui.Plural(len(text), "byte")+" of the message"))
}

// wheelLines is how far a notch of the wheel goes. Convention.
const wheelLines = 3

func (m *Model) wheel(msg tea.MouseWheelMsg) {
	by := wheelLines
	switch msg.Button {
	case tea.MouseWheelUp:
		by = -by
	case tea.MouseWheelDown:
	default:
		return
	}
	scroll, blocks := m.front()
	if blocks != nil {
		scroll.Wheel(blocks, by)
	}
}

// front is what stands in the large part, nil for nothing.
func (m *Model) front() (*ui.Scroll, ui.Blocks) {
	switch {
	case m.pane == paneRubric && m.leaf != nil:
		return &m.page, m.leaf
	case m.pairs != nil:
		if m.pairs.shown == nil {
			return nil, nil
		}
		return &m.pairs.scroll, m.pairs.shown
	case m.shown != nil:
		return &m.play, m.shown.doc
	}
	return nil, nil
}

func (m *Model) click(msg tea.MouseClickMsg) {
	scroll, blocks := m.front()
	line := msg.Y - m.top
	if blocks == nil || msg.Button != tea.MouseLeft || line < 0 || line >= m.height {
		return
	}
	was := scroll.Cursor()
	if at := scroll.Click(blocks, line); at >= 0 && at == was {
		m.Do(ui.Open)
	}
}
