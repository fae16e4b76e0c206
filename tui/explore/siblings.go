package explore

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"assay/store"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// siblings are the attempts at one task, two of them side by side.
type siblings struct {
	on          bool
	heads       []store.RolloutHead
	left, right int // indices into heads
	shown       *transcript.Pair
	scroll      ui.Scroll
	asking      ui.Question
}

// openSiblings shows the rollout beside an attempt at the same task that came out
// otherwise, or else beside the next.
func (m *Model) openSiblings() tea.Cmd {
	id, _ := m.wanted()
	if id == "" {
		return ui.Toast("It is not read yet")
	}
	return m.readPair(id, "")
}

func (m *Model) readPair(left, right string) tea.Cmd {
	gen, now := m.pair.asking.Ask()
	if !now {
		return nil
	}
	s, theme, threshold := m.opts.Store, m.theme, m.threshold()
	return m.asked(func(ctx context.Context) tea.Msg {
		msg := pairMsg{gen: gen, left: left, right: right}
		if msg.heads, msg.err = s.Siblings(ctx, left); msg.err != nil {
			return msg
		}
		if right == "" {
			msg.right = otherwise(msg.heads, left, threshold)
		}
		if msg.right == "" {
			return msg
		}
		a, err := s.Sample(ctx, left)
		if err != nil {
			msg.err = err
			return msg
		}
		b, err := s.Sample(ctx, msg.right)
		if msg.err = err; err == nil {
			msg.shown = transcript.NewPair(theme, a, b, threshold)
		}
		return msg
	})
}

// otherwise is the sibling of a rollout that came out otherwise, else the next of
// them, "" where there is none.
func otherwise(heads []store.RolloutHead, id string, threshold float64) string {
	at := -1
	for i := range heads {
		if heads[i].ID == id {
			at = i
		}
	}
	if at < 0 || len(heads) < 2 {
		return ""
	}
	passed := func(h *store.RolloutHead) bool { return h.Reward != nil && *h.Reward >= threshold }
	for i := range heads {
		if passed(&heads[i]) != passed(&heads[at]) {
			return heads[i].ID
		}
	}
	return heads[(at+1)%len(heads)].ID
}

func (m *Model) pairRead(msg pairMsg) tea.Cmd {
	p := &m.pair
	current, again := p.asking.Answered(msg.gen)
	if msg.err != nil {
		return ui.Failed(msg.err)
	}
	if !current {
		return nil
	}
	if msg.shown == nil {
		return ui.Toast("This task was tried once: there is no sibling")
	}
	p.on, p.heads, p.shown = true, msg.heads, msg.shown
	for i := range p.heads {
		switch p.heads[i].ID {
		case msg.left:
			p.left = i
		case msg.right:
			p.right = i
		}
	}
	p.scroll.Reset()
	p.scroll.Forget()
	if row, ok := p.shown.Parting(); ok {
		p.scroll.To(p.shown, row)
	}
	if again {
		return m.readPair(p.heads[p.left].ID, p.heads[p.right].ID)
	}
	return nil
}

// otherSibling puts another attempt on the right.
func (m *Model) otherSibling(by int) tea.Cmd {
	p := &m.pair
	n := len(p.heads)
	if n < 3 {
		return ui.Toast("There is no third attempt")
	}
	next := (p.right + by + n) % n
	if next == p.left {
		next = (next + by + n) % n
	}
	p.right = next
	return m.readPair(p.heads[p.left].ID, p.heads[p.right].ID)
}

func (m *Model) swapSiblings() tea.Cmd {
	p := &m.pair
	p.left, p.right = p.right, p.left
	return m.readPair(p.heads[p.left].ID, p.heads[p.right].ID)
}

// pairView draws the attempts' verdicts in a line and the two side by side.
func (m *Model) pairView(width, height int) []string {
	t, p := m.theme, &m.pair
	spans := []ui.Span{ui.S(t.Quiet, " attempts ")}
	for i := range p.heads {
		h := &p.heads[i]
		m.sawVerdict(h)
		mark := transcript.MarkOf(t, h.Status, h.Reward, h.JudgeStatus != "", m.threshold())
		name := fmt.Sprintf(" %d", h.Key.K+1)
		if h.Key.EvalRun > 0 {
			name = fmt.Sprintf(" %d.%d", h.Key.EvalRun+1, h.Key.K+1)
		}
		style := t.Quiet
		if i == p.left || i == p.right {
			style = t.Strong.With(ui.Underline)
		}
		spans = append(spans, ui.S(style, name), ui.S(mark.Style, " "+mark.Sign+" "))
	}
	said := "the two are the same"
	if _, ok := p.shown.Parting(); ok {
		said = "left " + fmt.Sprint(p.heads[p.left].Key.K+1) + ", right " + fmt.Sprint(p.heads[p.right].Key.K+1)
	}
	lines := []string{
		ui.Sides(width, ui.Style{}, spans, []ui.Span{ui.S(t.Quiet, said+" ")}),
		ui.Rule(t, width, "Siblings", true),
	}
	return append(lines, p.scroll.View(p.shown, width, max(height-2, 0), true)...)
}
