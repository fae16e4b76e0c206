package explore

import (
	"encoding/json"

	tea "charm.land/bubbletea/v2"

	"assay/store"
)

// kept is where a person was, for another day.
type kept struct {
	Run     string `json:"run"`
	View    string `json:"view"`
	Filter  string `json:"filter,omitempty"`
	Sort    string `json:"sort,omitempty"`
	Falling bool   `json:"falling,omitempty"`
	By      int    `json:"by,omitempty"`
	Down    int    `json:"down,omitempty"`
	Across  int    `json:"across,omitempty"`
	Cursor  int    `json:"cursor,omitempty"`
	Top     int    `json:"top,omitempty"`
	Cell    int    `json:"cell,omitempty"`
	Detail  bool   `json:"detail,omitempty"` // the cursor is in the transcript
	Scroll  [3]int `json:"scroll"`           // of the transcript: cursor, first block, its line
	Row     int    `json:"row,omitempty"`    // of the map
	Column  int    `json:"column,omitempty"`
	Typing  string `json:"typing,omitempty"` // a filter that was not finished
}

// Keep gives the place.
func (m *Model) Keep() any {
	if m.runID == "" {
		return nil
	}
	k := kept{Run: m.runID, View: m.view.String(), Filter: m.filter.String(), Sort: m.sort, Falling: m.falling, By: m.by, Down: m.grid.down, Across: m.grid.across,
		Cursor: m.list().Cursor(), Top: m.list().Top(), Cell: m.detail.cell, Detail: m.focus == paneDetail, Row: m.grid.row, Column: m.grid.col}
	block, line := m.detail.play.Place()
	k.Scroll = [3]int{m.detail.play.Cursor(), block, line}
	if m.edit.on {
		k.Typing = m.edit.field.Text()
	}
	return k
}

// Restore goes back to a place that was kept. What it names and is not there any
// more is left out.
func (m *Model) Restore(raw json.RawMessage) tea.Cmd {
	var k kept
	if json.Unmarshal(raw, &k) != nil || k.Run == "" {
		return nil
	}
	m.clear()
	m.runID = k.Run
	for v := range views {
		if v.String() == k.View {
			m.view = v
		}
	}
	if f, err := store.ParseFilter(k.Filter); err == nil {
		m.filter = f
	}
	for _, s := range m.sorts() {
		if s == k.Sort {
			m.sort, m.falling = s, k.Falling
		}
	}
	if k.By >= 0 && k.By < len(store.GroupFields()) {
		m.by, m.byAsked = k.By, k.By > 0
	}
	if n := len(gridFields()); k.Down >= 0 && k.Down < n && k.Across >= 0 && k.Across < n && k.Down != k.Across {
		m.grid.down, m.grid.across = k.Down, k.Across
	}
	m.detail.cell = max(k.Cell, 0)
	m.grid.row, m.grid.col = max(k.Row, 0), max(k.Column, 0)
	m.goal, m.top = max(k.Cursor, 0), max(k.Top, 0)
	m.back = &k
	return nil
}

// restoreTyping goes on with a filter that was not finished.
func (m *Model) restoreTyping() tea.Cmd {
	k := m.back
	if k == nil || k.Typing == "" {
		return nil
	}
	cmd := m.beginFilter()
	m.edit.field.Set(k.Typing)
	return cmd
}

// restoreTranscript goes to the place in the transcript that was kept.
func (m *Model) restoreTranscript() {
	k := m.back
	m.back = nil
	if k == nil || m.goal >= 0 {
		return
	}
	m.detail.play.Restore(k.Scroll[0], k.Scroll[1], k.Scroll[2])
	if k.Detail {
		m.focus = paneDetail
	}
}
