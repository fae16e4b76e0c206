package label

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/engine/record"
	"assay/tui/ui"
)

// judge saves a verdict for the card that is shown. Nothing moves on and nothing is
// told before the store has it on disk.
func (m *Model) judge(v record.Verdict) tea.Cmd {
	if !m.ready() {
		return nil
	}
	m.saving = true
	c, now := m.shown, m.opts.Now()
	label := record.Label{Annotator: m.opts.Annotator, Verdict: v, Note: c.note, Tags: slices.Sorted(maps.Keys(c.tags)), Kind: record.GoldHuman, Took: now.Sub(c.drawn), At: now}
	s, id, queue, at, position := m.opts.Store, m.runID, m.queue.Queue, c.at, m.cards[c.at].Position
	return m.ask(func(ctx context.Context) tea.Msg {
		// A label that was given is finished though the program is leaving.
		kept, err := s.LabelCard(context.WithoutCancel(ctx), id, queue, position, label)
		return savedMsg{at, kept, err}
	})
}

func (m *Model) saved(msg savedMsg) tea.Cmd {
	m.saving = false
	if msg.err != nil {
		m.last, m.lastBad = fmt.Sprintf("card %d was not saved", msg.at+1), true
		return ui.Failed(fmt.Errorf("not saved, card %d: %w", msg.at+1, msg.err))
	}
	m.cards[msg.at].Verdict = msg.label.Verdict
	m.given[msg.at] = msg.label.Tags
	m.trail = append(m.trail, msg.at)
	m.done++
	m.spent += msg.label.Took
	m.last, m.lastBad = fmt.Sprintf("%s  card %d", msg.label.Verdict, msg.at+1), false
	said := "Saved " + string(msg.label.Verdict) + " for card " + ui.Count(msg.at+1)
	if n := len(msg.label.Tags); n > 0 {
		said += " with " + ui.Line(strings.Join(msg.label.Tags, ", "), 60)
	}
	if msg.label.Note != "" {
		said += " and its note"
	}
	m.shown = nil
	if m.at == msg.at {
		m.at = m.after(msg.at)
	}
	if m.left() == 0 {
		said += ": that was the last without a label"
	}
	return tea.Batch(ui.Toast(said), m.show(), m.readMeter())
}

// left is how many cards have no label of this annotator.
func (m *Model) left() int {
	n := 0
	for _, c := range m.cards {
		if c.Verdict == "" {
			n++
		}
	}
	return n
}

// undo takes back the last label of this sitting, or else the last of the queue
// before the card that is shown, and goes to its card.
func (m *Model) undo() tea.Cmd {
	if m.saving {
		return nil
	}
	at := -1
	if n := len(m.trail); n > 0 {
		at = m.trail[n-1]
	} else {
		for i := range m.cards[:min(m.at+1, len(m.cards))] {
			if m.cards[i].Verdict != "" {
				at = i
			}
		}
	}
	if at < 0 {
		return ui.Toast("There is no label to take back")
	}
	m.saving = true
	s, id, queue, who, position := m.opts.Store, m.runID, m.queue.Queue, m.opts.Annotator, m.cards[at].Position
	return m.ask(func(ctx context.Context) tea.Msg {
		_, err := s.TakeBack(context.WithoutCancel(ctx), id, queue, position, who)
		return tookMsg{at, err}
	})
}

func (m *Model) took(msg tookMsg) tea.Cmd {
	m.saving = false
	if msg.err != nil {
		return ui.Failed(msg.err)
	}
	was := m.cards[msg.at].Verdict
	m.cards[msg.at].Verdict = ""
	if n := len(m.trail); n > 0 && m.trail[n-1] == msg.at {
		m.trail = m.trail[:n-1]
		m.done--
	}
	m.last, m.lastBad = fmt.Sprintf("taken back: %s  card %d", was, msg.at+1), false
	m.shown, m.next, m.at = nil, nil, msg.at // its note is a draft again
	return tea.Batch(ui.Toast(fmt.Sprintf("Taken back: %s for card %d", was, msg.at+1)), m.show(), m.readMeter())
}

// step goes to a card beside, labelled or not.
func (m *Model) step(by int) tea.Cmd {
	at := m.at + by
	if m.saving || at < 0 || at >= len(m.cards) {
		return nil
	}
	m.at = at
	return m.show()
}

// tag puts the nth failure tag on the card, or takes it off.
func (m *Model) tag(n int) tea.Cmd {
	if m.shown == nil || m.saving {
		return nil
	}
	if n >= len(m.tags) {
		return ui.Toast("No failure tag has that number: T names one")
	}
	name := m.tags[n].Name
	if m.shown.tags[name] {
		delete(m.shown.tags, name)
	} else {
		m.shown.tags[name] = true
	}
	return nil
}

// Typing reports whether keys are text.
func (m *Model) Typing() bool { return m.edit != editNothing || m.search.Typing }

// Type takes a key of the line.
func (m *Model) Type(msg tea.KeyPressMsg) tea.Cmd {
	if m.search.Typing {
		if m.search.Key(msg.String(), msg.Text) {
			return m.find()
		}
		return nil
	}
	switch key := msg.String(); key {
	case "esc":
		m.edit = editNothing
	case "enter":
		return m.endEdit()
	default:
		m.field.Key(key, msg.Text)
	}
	return nil
}

// find looks for what is looked for in the card's transcript.
func (m *Model) find() tea.Cmd {
	if m.shown == nil {
		return nil
	}
	find := m.search.In(m.shown.doc)
	m.play.Forget()
	if find == nil {
		return nil
	}
	return m.ask(func(context.Context) tea.Msg { return hitsMsg{find()} })
}

func (m *Model) endEdit() tea.Cmd {
	what, text := m.edit, strings.TrimSpace(m.field.Text())
	m.edit = editNothing
	s := m.opts.Store
	if what == editTag {
		if text == "" {
			return nil
		}
		return m.ask(func(ctx context.Context) tea.Msg {
			msg := tagMsg{name: text}
			if msg.err = s.SaveTag(ctx, record.Tag{Name: text}); msg.err == nil {
				msg.tags, msg.err = s.Tags(ctx)
			}
			return msg
		})
	}
	if m.shown == nil {
		return nil
	}
	at, d := m.shown.at, record.Draft{RolloutID: m.cards[m.shown.at].RolloutID, Annotator: m.opts.Annotator, Note: record.Text(text)}
	return m.ask(func(ctx context.Context) tea.Msg {
		return noteMsg{at, d.Note, s.SaveDraft(context.WithoutCancel(ctx), d)}
	})
}

// noteKept takes a note over that is on disk: it goes with the label.
func (m *Model) noteKept(msg noteMsg) tea.Cmd {
	if msg.err != nil {
		return ui.Failed(msg.err)
	}
	if m.shown == nil || m.shown.at != msg.at {
		return nil
	}
	m.shown.note = msg.note
	return ui.Toast(fmt.Sprintf("Note kept for card %d", msg.at+1))
}

func (m *Model) tagKept(msg tagMsg) tea.Cmd {
	if msg.err != nil {
		return ui.Failed(msg.err)
	}
	m.tags = msg.tags
	if m.shown != nil {
		m.shown.tags[msg.name] = true
	}
	return nil
}

// otherQueue is the queue after the one that is open: mixed, random, and those that
// are there.
func (m *Model) otherQueue() engine.QueueOptions {
	names := []string{orderMixed, orderRandom}
	for _, q := range m.queues {
		if !slices.Contains(names, q.Queue) {
			names = append(names, q.Queue)
		}
	}
	o := engine.QueueOptions{Name: names[(slices.Index(names, m.queue.Queue)+1)%len(names)]}
	if o.Name == orderRandom {
		o.Order = orderRandom
	}
	return o
}

// perHour is how many labels an hour this sitting makes, by the time that the cards
// took; ok is false before there is enough to tell.
func (m *Model) perHour() (n int, ok bool) {
	const least = 3 // labels, before a rate means anything; convention
	if m.done < least || m.spent < time.Second {
		return 0, false
	}
	return int(math.Round(float64(m.done) / m.spent.Hours())), true
}
