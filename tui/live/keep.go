package live

import (
	"encoding/json"
	"maps"
	"slices"

	tea "charm.land/bubbletea/v2"

	"assay/tui/ui"
)

// kept is where a person was, for another day.
type kept struct {
	Run    string `json:"run"`
	Part   Part   `json:"part"`
	Row    int    `json:"row,omitempty"`
	Top    int    `json:"top,omitempty"`
	Detail bool   `json:"detail,omitempty"` // the cursor is in the transcript
	Scroll [3]int `json:"scroll"`           // of the transcript: cursor, first block, its line
}

// Keep gives the place.
func (m *Model) Keep() any {
	if m.rootID == "" {
		return nil
	}
	k := kept{Run: m.rootID, Part: m.part, Detail: m.focus == paneDetail}
	block, line := m.shown.play.Place()
	k.Scroll = [3]int{m.shown.play.Cursor(), block, line}
	if v := m.view(); v != nil {
		k.Row, k.Top = v.list.Cursor(), v.list.Top()
	}
	return k
}

// Restore opens the story that was open, at its place.
func (m *Model) Restore(raw json.RawMessage) tea.Cmd {
	var k kept
	if json.Unmarshal(raw, &k) != nil || k.Run == "" || m.story != nil {
		return nil
	}
	cmd := m.Open(k.Run, nil)
	m.resume = &k
	return cmd
}

// restoreList goes to the part and the row that were kept, once the story is read.
func (m *Model) restoreList() {
	if m.resume == nil {
		return
	}
	if m.has(m.resume.Part) {
		m.part = m.resume.Part
	}
	if v := m.view(); v != nil {
		v.goal, v.top = max(m.resume.Row, 0), max(m.resume.Top, 0)
	}
}

// restoreTranscript goes to the place in the transcript that was kept.
func (m *Model) restoreTranscript() {
	k := m.resume
	if k == nil || m.view() != nil && m.view().goal >= 0 {
		return
	}
	m.resume = nil
	m.shown.play.Restore(k.Scroll[0], k.Scroll[1], k.Scroll[2])
	if k.Detail {
		m.enterDetail()
	}
}

// Seen gives the rollouts whose verdicts were on the screen since it was last
// asked.
func (m *Model) Seen() ui.Seen {
	out := ui.Seen{Rollouts: slices.Sorted(maps.Keys(m.seen))}
	m.seen = nil
	return out
}

// saw takes note of the verdicts in sight.
func (m *Model) saw() {
	v := m.view()
	if v == nil || v.shownRows == 0 {
		return
	}
	list := v.list
	from, to := list.Window(v.Len(), v.shownRows)
	for i := from; i < min(to, v.total); i++ {
		if h := v.head(i); h != nil && h.JudgeStatus != "" {
			m.sawOne(h.ID)
		}
	}
}

func (m *Model) sawOne(id string) {
	if m.seen == nil {
		m.seen = map[string]bool{}
	}
	m.seen[id] = true
}
