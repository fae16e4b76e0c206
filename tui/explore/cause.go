package explore

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"assay/engine/record"
	"assay/tui/ui"
)

// causing is the cause of a failure being put right by hand: a choice below the
// filter line.
type causing struct {
	on      bool
	rollout string
	at      int
}

// corrected is a correction of this sitting and what stood before it, for undo.
type corrected struct {
	rollout string
	was     record.Cause
}

// blamed are the causes that can be chosen, "" for what was derived.
func blamed() []struct {
	cause record.Cause
	about string
} {
	return []struct {
		cause record.Cause
		about string
	}{
		{record.CauseAgent, "the agent did it wrong"},
		{record.CauseUser, "the simulated user misled it"},
		{record.CauseWorld, "the world answered what it should not"},
		{record.CauseJudge, "the judge is wrong"},
		{record.CauseInfrastructure, "a server, the network, the machine"},
		{record.CauseContext, "the model's window was full"},
		{record.CauseBudget, "a limit of turns or tokens"},
		{"", "as it was derived"},
	}
}

type (
	correctionsMsg struct {
		all []record.Correction
		err error
	}
	correctedMsg struct {
		c    record.Correction
		was  record.Cause
		undo bool
		err  error
	}
)

func (m *Model) readCorrections() tea.Cmd {
	s, id := m.opts.Store, m.runID
	return m.asked(func(ctx context.Context) tea.Msg {
		all, err := s.Corrections(ctx, id)
		return correctionsMsg{all, err}
	})
}

func (m *Model) beginCause() tea.Cmd {
	id, _ := m.wanted()
	switch {
	case m.opts.Annotator == "":
		return ui.Toast("Nobody is named who says so: set $USER")
	case id == "":
		return ui.Toast("It is not read yet")
	}
	m.causing = causing{on: true, rollout: id}
	for i, b := range blamed() {
		if b.cause == m.causes[id].Cause {
			m.causing.at = i
		}
	}
	return nil
}

func (m *Model) causeActions() []ui.Action {
	return []ui.Action{ui.Reserve(ui.Down, "", "", 0), ui.Reserve(ui.Up, "", "", 0),
		ui.Reserve(ui.Open, "put it down to", "Put the failure down to the cause under the cursor", 1), ui.Reserve(ui.Back, "leave it", "Leave the cause as it was", 2)}
}

func (m *Model) doCausing(id string) tea.Cmd {
	c := &m.causing
	n := len(blamed())
	switch id {
	case ui.Up:
		c.at = (c.at + n - 1) % n
	case ui.Down:
		c.at = (c.at + 1) % n
	case ui.Back, doCause:
		c.on = false
	case ui.Open:
		c.on = false
		return m.correct(c.rollout, blamed()[c.at].cause, false)
	}
	return nil
}

// correct appends a correction; undo says that it takes one back.
func (m *Model) correct(rollout string, cause record.Cause, undo bool) tea.Cmd {
	was := m.causes[rollout].Cause
	if was == cause {
		return nil
	}
	s, c := m.opts.Store, record.Correction{RolloutID: rollout, Cause: cause, Annotator: m.opts.Annotator}
	return m.asked(func(ctx context.Context) tea.Msg {
		_, err := s.AddCorrection(context.WithoutCancel(ctx), c)
		return correctedMsg{c, was, undo, err}
	})
}

func (m *Model) correctionKept(msg correctedMsg) tea.Cmd {
	if msg.err != nil {
		return ui.Failed(msg.err)
	}
	m.causes[msg.c.RolloutID] = msg.c
	said := fmt.Sprintf("Put down to %s; u takes that back", msg.c.Cause)
	if msg.c.Cause == "" {
		said = "The cause is as it was derived"
	}
	if msg.undo {
		if n := len(m.undoable); n > 0 && m.undoable[n-1].rollout == msg.c.RolloutID {
			m.undoable = m.undoable[:n-1]
		}
		said = "Taken back: " + said
		if msg.c.Cause != "" {
			said = "Taken back: put down to " + string(msg.c.Cause)
		}
	} else {
		m.undoable = append(m.undoable, corrected{msg.c.RolloutID, msg.was})
	}
	return tea.Batch(ui.Toast(said), m.again())
}

// undoCause takes the last correction of this sitting back; ok is false where there is
// none.
func (m *Model) undoCause() (cmd tea.Cmd, ok bool) {
	n := len(m.undoable)
	for n > 0 && m.causes[m.undoable[n-1].rollout].Cause == m.undoable[n-1].was {
		n-- // it is as it was already
	}
	m.undoable = m.undoable[:n]
	if n == 0 {
		return nil, false
	}
	last := m.undoable[n-1]
	return m.correct(last.rollout, last.was, true), true
}

// causeView is the choice, below the filter line.
func (m *Model) causeView(width int) []string {
	if !m.causing.on {
		return nil
	}
	t := m.theme
	lines := []string{ui.Row(width, ui.Style{}, ui.S(t.Accent.With(ui.Bold), " cause "), ui.S(t.Quiet, "of rollout "+ui.CleanLine(m.causing.rollout)))}
	for i, b := range blamed() {
		look := ui.Plain
		if i == m.causing.at {
			look = ui.Active
		}
		name := string(b.cause)
		if name == "" {
			name = "derived"
		}
		base := t.Base(look)
		lines = append(lines, ui.Row(width, base, ui.S(base, "   "), ui.S(t.Text, ui.Pad(name, 16)), ui.S(t.Quiet, b.about)))
	}
	return lines
}
