package tui

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"assay/engine/record"
	"assay/store"
	"assay/tui/ui"
)

// saveAfter is how long after a key the place is saved: what a power cut takes is
// less than a person minds. Convention, untested.
const saveAfter = 2 * time.Second

// lastSave bounds the saving on the way out.
const lastSave = 5 * time.Second

// frameName is the place of the frame among the screens'.
const frameName = "frame"

// framePlace is where a person was, beside what the screens keep.
type framePlace struct {
	Screen  int    `json:"screen"`
	Run     string `json:"run,omitempty"`
	Theme   string `json:"theme,omitempty"` // chosen by name
	NoMouse bool   `json:"no_mouse,omitempty"`
}

type (
	placesMsg struct {
		places map[string]json.RawMessage
		err    error
	}
	saveMsg  struct{}
	savedMsg struct{ err error }
)

// readPlaces reads where the person was.
func (m *root) readPlaces() tea.Cmd {
	ctx, s := m.ctx, m.opts.Store
	return func() tea.Msg {
		places, err := s.Places(ctx)
		return placesMsg{places, err}
	}
}

// placed goes back to where the person was, unless something else was asked for on
// the way in or a key was pressed meanwhile.
func (m *root) placed(msg placesMsg) tea.Cmd {
	m.placing = false
	if msg.err != nil {
		return ui.Failed(msg.err)
	}
	m.kept = msg.places
	if m.opts.Open != "" || m.opts.Begin != "" || m.opts.Continue != "" || m.touched {
		return nil
	}
	var cmds []tea.Cmd
	m.look = m.saved // no story runs here yet
	for _, n := range m.numbers() {
		keeper, ok := m.at(n).(ui.Keeper)
		if raw := msg.places[placeName(n)]; ok && raw != nil {
			cmds = append(cmds, keeper.Restore(raw))
		}
	}
	var f framePlace
	if json.Unmarshal(msg.places[frameName], &f) != nil {
		return tea.Batch(cmds...)
	}
	if ui.IsTheme(f.Theme) && !m.fixed {
		m.fixed, m.chosen = true, f.Theme
		m.restyle(ui.ThemeNamed(f.Theme))
	}
	m.mouse = !f.NoMouse
	m.run = f.Run
	if f.Screen != m.front && m.at(f.Screen) != nil {
		m.front = f.Screen
		cmds = append(cmds, m.at(f.Screen).Enter(ui.Visit{Run: m.at(f.Screen).Run()}))
	}
	return tea.Batch(cmds...)
}

func placeName(screen int) string { return strings.ToLower(screenName(screen)) }

// touch has the place saved a while after a key.
func (m *root) touch() tea.Cmd {
	m.touched = true
	if m.saving {
		return nil
	}
	m.saving = true
	return m.later(saveAfter, saveMsg{})
}

// changedPlaces is what changed of the places since they were saved.
func (m *root) changedPlaces() map[string]json.RawMessage {
	now := map[string]any{frameName: framePlace{Screen: m.front, Run: m.run, Theme: m.chosen, NoMouse: !m.mouse}}
	for _, n := range m.numbers() {
		if keeper, ok := m.at(n).(ui.Keeper); ok {
			if place := keeper.Keep(); place != nil {
				now[placeName(n)] = place
			}
		}
	}
	changed := map[string]json.RawMessage{}
	for name, place := range now {
		raw, err := record.Marshal(place)
		if err == nil && !bytes.Equal(raw, m.kept[name]) {
			changed[name] = raw
		}
	}
	if m.kept == nil {
		m.kept = map[string]json.RawMessage{}
	}
	for name, raw := range changed {
		m.kept[name] = raw
	}
	return changed
}

// seen is what the screens showed verdicts of and was not noted yet.
func (m *root) seen() []ui.Seen {
	var out []ui.Seen
	for _, s := range m.screens() {
		seer, ok := s.(ui.Seer)
		if !ok {
			continue
		}
		seen := seer.Seen()
		seen.Rollouts = m.unnoted("", seen.Rollouts)
		seen.Tasks = m.unnoted(seen.Run, seen.Tasks)
		if len(seen.Rollouts)+len(seen.Tasks) > 0 {
			out = append(out, seen)
		}
	}
	return out
}

// unnoted is the ids that were not noted before, which they are now.
func (m *root) unnoted(of string, ids []string) []string {
	var out []string
	for _, id := range ids {
		if key := of + " " + id; !m.noted[key] {
			m.noted[key] = true
			out = append(out, id)
		}
	}
	return out
}

// save keeps the places and notes what was seen, away from the loop.
func (m *root) save() tea.Cmd {
	places, seen := m.changedPlaces(), m.seen()
	if len(places) == 0 && len(seen) == 0 {
		return nil
	}
	ctx, o := m.ctx, m.opts
	return func() tea.Msg { return savedMsg{keep(ctx, o, places, seen)} }
}

// saveLast does the same on the way out, when the loop has ended.
func (m *root) saveLast() error {
	places, seen := m.changedPlaces(), m.seen()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.ctx), lastSave)
	defer cancel()
	return keep(ctx, m.opts, places, seen)
}

// keep writes places and what an annotator was shown. A file that cannot be written
// keeps neither, and that is no fault.
func keep(ctx context.Context, o Options, places map[string]json.RawMessage, seen []ui.Seen) error {
	err := noteSeen(ctx, o, seen)
	if err == nil && len(places) > 0 {
		err = o.Store.SavePlaces(ctx, places)
	}
	if code := store.CodeOf(err); code == store.CodeReadOnly || code == store.CodePermission {
		return nil
	}
	return err
}

func noteSeen(ctx context.Context, o Options, seen []ui.Seen) error {
	if o.Annotator == "" {
		return nil
	}
	for _, s := range seen {
		ids := s.Rollouts
		if len(s.Tasks) > 0 {
			more, err := o.Store.RolloutsOfTasks(ctx, s.Run, s.Tasks)
			if err != nil {
				return err
			}
			ids = append(ids, more...)
		}
		if err := o.Store.AddReveal(ctx, o.Annotator, record.RevealedVerdict, ids...); err != nil {
			return err
		}
	}
	return nil
}
