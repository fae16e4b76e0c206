package label

import (
	"encoding/json"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
)

// kept is where a person was, for another day.
type kept struct {
	Run   string `json:"run"`
	Queue string `json:"queue"`
	At    int    `json:"at"`
	Note  string `json:"note,omitempty"` // one that was not finished
}

// Keep gives the place.
func (m *Model) Keep() any {
	if m.queue.Queue == "" {
		return nil
	}
	k := kept{Run: m.runID, Queue: m.queue.Queue, At: m.at}
	if m.edit == editNote {
		k.Note = m.field.Text()
	}
	return k
}

// Restore goes back to a place that was kept.
func (m *Model) Restore(raw json.RawMessage) tea.Cmd {
	var k kept
	if json.Unmarshal(raw, &k) != nil || k.Run == "" {
		return nil
	}
	m.clear()
	m.runID, m.goal, m.unsent = k.Run, k.At, k.Note
	m.wanted = engine.QueueOptions{Name: k.Queue}
	return nil
}
