package label

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/engine/record"
	"assay/store"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// answer is what came of a question about the queue of an epoch.
type answer struct {
	of    *Model
	epoch int
	msg   tea.Msg
}

func (m *Model) ask(ask func(ctx context.Context) tea.Msg) tea.Cmd {
	epoch, ctx := m.epoch, m.ctx
	return func() tea.Msg { return answer{m, epoch, ask(ctx)} }
}

type (
	queueMsg struct {
		run    *record.Run
		head   record.QueueHead
		queues []record.QueueHead
		cards  []record.Card
		tags   []record.Tag
		leaf   *leaf
		err    error
	}
	cardMsg struct {
		gen   int
		ahead bool
		card  *card
		err   error
	}
	savedMsg struct {
		at    int
		label record.Label
		err   error
	}
	tookMsg struct {
		at  int
		err error
	}
	meterMsg struct {
		gen   int
		meter *engine.Meter
		err   error
	}
	noteMsg struct {
		at   int
		note record.Text
		err  error
	}
	hitsMsg struct{ found transcript.Found }
	tagMsg  struct {
		tags []record.Tag
		name string
		err  error
	}
)

// Orders of a queue, as the engine names them.
const (
	orderMixed  = "mixed"
	orderRandom = "random"
	orderListed = "listed"
)

// pickedQueue is a queue of rollouts that somebody picked out: nothing of it counts
// towards trust. It is named by what is in it, so the same selection goes on where
// it was left.
func pickedQueue(ids []string) engine.QueueOptions {
	return engine.QueueOptions{Order: orderListed, Name: fmt.Sprintf("picked:%08x", uint32(record.Rank("picked", strings.Join(ids, "\n")))), Listed: ids}
}

// openQueue draws a queue or goes on with it, and reads what labelling needs.
func (m *Model) openQueue(o engine.QueueOptions) tea.Cmd {
	if m.opts.Annotator == "" || m.runID == "" {
		return nil
	}
	m.epoch++
	m.busy, m.err, m.wanted = true, nil, o
	m.pairs = nil
	m.queue, m.cards, m.shown, m.next = record.QueueHead{}, nil, nil, nil
	m.reading, m.ahead, m.metering, m.saving = ui.Question{}, ui.Question{}, ui.Question{}, false
	s, e, id, who, theme := m.opts.Store, m.opts.Engine, m.runID, m.opts.Annotator, m.theme
	return m.ask(func(ctx context.Context) tea.Msg {
		msg := queueMsg{}
		if msg.run, msg.err = s.Run(ctx, id); msg.err != nil {
			return msg
		}
		if strings.HasPrefix(o.Name, settlePrefix) {
			msg.head.Queue = o.Name // made by second looks, not drawn
		} else if msg.head, msg.err = e.Queue(ctx, id, o); msg.err != nil {
			return msg
		}
		if msg.cards, msg.err = s.Cards(ctx, id, msg.head.Queue, who); msg.err != nil {
			return msg
		}
		if msg.queues, msg.err = ownQueues(ctx, s, id, who); msg.err != nil {
			return msg
		}
		if msg.tags, msg.err = s.Tags(ctx); msg.err != nil {
			return msg
		}
		msg.leaf, msg.err = rubricAndPolicy(ctx, s, theme, msg.run)
		return msg
	})
}

// settlePrefix begins the name of the queue of rows on which an annotator's second
// word was another than the first.
const settlePrefix = "settle:"

// ownQueues are the queues that an annotator may go on with.
func ownQueues(ctx context.Context, s Store, runID, annotator string) ([]record.QueueHead, error) {
	heads, err := s.Queues(ctx, runID)
	return slices.DeleteFunc(heads, func(h record.QueueHead) bool {
		return strings.HasPrefix(h.Queue, settlePrefix) && h.Queue != settlePrefix+annotator
	}), err
}

// rubricAndPolicy is what a label is given by.
func rubricAndPolicy(ctx context.Context, s Store, theme ui.Theme, run *record.Run) (*leaf, error) {
	l := &leaf{theme: theme}
	for _, scorer := range run.Scorers {
		if scorer.ID != run.Scorer || scorer.RubricHash == "" {
			continue
		}
		rubric, err := s.Rubric(ctx, scorer.RubricHash)
		if store.CodeOf(err) == store.CodeNotFound {
			continue // a marker's hash is of its expression, and an imported judge's rubric stayed at home
		}
		if err != nil {
			return nil, err
		}
		l.add("Rubric", string(rubric.Text))
	}
	if run.SystemPrompt != "" {
		l.add("Policy: what the agent is told", string(run.SystemPrompt))
	}
	return l, nil
}

// read gives a card: the rollout, blind, and a note that was begun.
func (m *Model) read(at int, ahead bool, gen int) tea.Cmd {
	s, theme, id, who := m.opts.Store, m.theme, m.cards[at].RolloutID, m.opts.Annotator
	return m.ask(func(ctx context.Context) tea.Msg {
		msg := cardMsg{gen: gen, ahead: ahead}
		sample, err := s.BlindSample(ctx, id)
		if err != nil {
			msg.err = err
			return msg
		}
		note, err := s.Draft(ctx, id, who)
		if err != nil {
			msg.err = err
			return msg
		}
		msg.card = &card{at: at, doc: transcript.Of(theme, sample, 1), note: note, tags: map[string]bool{}}
		return msg
	})
}

// show brings the card that is to be shown: at once where it was read ahead.
func (m *Model) show() tea.Cmd {
	switch {
	case len(m.cards) == 0:
		return nil
	case m.shown != nil && m.shown.at == m.at:
		return nil
	case m.next != nil && m.next.at == m.at:
		m.put(m.next)
		m.next = nil
		return m.readAhead()
	}
	gen, now := m.reading.Ask()
	if !now {
		return nil
	}
	return m.read(m.at, false, gen)
}

func (m *Model) put(c *card) {
	m.shown, m.search = c, transcript.Search{}
	for _, name := range m.given[c.at] {
		c.tags[name] = true
	}
	m.play.Reset()
	m.play.Forget()
	m.page.Reset()
	if m.unsent != "" {
		m.edit = editNote
		m.field.Set(m.unsent)
		m.unsent = ""
	}
}

// readAhead reads the card that comes after the one shown.
func (m *Model) readAhead() tea.Cmd {
	at := m.after(m.at)
	if at == m.at || at >= len(m.cards) || m.next != nil && m.next.at == at {
		return nil
	}
	gen, now := m.ahead.Ask()
	if !now {
		return nil
	}
	return m.read(at, true, gen)
}

// after is the next card without a label behind one, from the top again where there
// is none behind; the same card where there is none at all.
func (m *Model) after(at int) int {
	for n := 1; n < len(m.cards); n++ {
		if i := (at + n) % len(m.cards); m.cards[i].Verdict == "" {
			return i
		}
	}
	return at
}

func (m *Model) readMeter() tea.Cmd {
	if m.runID == "" {
		return nil
	}
	gen, now := m.metering.Ask()
	if !now {
		return nil
	}
	e, id := m.opts.Engine, m.runID
	return m.ask(func(ctx context.Context) tea.Msg {
		meter, err := e.Meter(ctx, id)
		return meterMsg{gen, meter, err}
	})
}

func (m *Model) answered(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case queueMsg:
		return m.queueRead(msg)
	case cardMsg:
		return m.cardRead(msg)
	case savedMsg:
		return m.saved(msg)
	case tookMsg:
		return m.took(msg)
	case meterMsg:
		current, again := m.metering.Answered(msg.gen)
		if current && msg.err == nil {
			m.meter = msg.meter
		}
		if again {
			return m.readMeter()
		}
	case noteMsg:
		return m.noteKept(msg)
	case tagMsg:
		return m.tagKept(msg)
	case hitsMsg:
		m.search.Take(msg.found, &m.play)
	case matchesMsg:
		return m.matchesRead(msg)
	case matchMsg:
		return m.matchRead(msg)
	case chosenMsg:
		return m.chosen(msg)
	}
	return nil
}

func (m *Model) queueRead(msg queueMsg) tea.Cmd {
	m.busy = false
	if msg.err != nil {
		m.err = msg.err
		return nil
	}
	m.run, m.queue, m.queues, m.cards, m.tags, m.leaf = msg.run, msg.head, msg.queues, msg.cards, msg.tags, msg.leaf
	m.trail, m.given, m.pane = nil, map[int][]string{}, paneCard
	m.at = m.goal
	if m.at < 0 || m.at >= len(m.cards) {
		m.at = 0
		if m.cards[0].Verdict != "" {
			m.at = m.after(0)
		}
	}
	m.goal = -1
	return tea.Batch(m.show(), m.readMeter())
}

func (m *Model) cardRead(msg cardMsg) tea.Cmd {
	if msg.ahead {
		m.ahead.Answered(msg.gen)
		if msg.err != nil {
			return nil // it is read again when it is to be shown
		}
		if m.next = msg.card; msg.card.at == m.at {
			return m.show()
		}
		return m.readAhead()
	}
	m.reading.Answered(msg.gen)
	switch {
	case msg.err != nil:
		m.err = msg.err
	case msg.card.at == m.at:
		m.err = nil
		m.put(msg.card)
		return m.readAhead()
	default:
		return m.show()
	}
	return nil
}
