package explore

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"assay/store"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// detail is the rollout that is shown as a transcript.
type detail struct {
	id     string
	task   string              // of which others are the rollouts
	others []store.RolloutHead // by eval run and k
	cell   int                 // which of them, in the view of tasks
	doc    *transcript.Doc
	play   ui.Scroll
	asking ui.Question
	search transcript.Search
}

// follow reads what came into sight: rows, and the rollout under the cursor.
func (m *Model) follow() tea.Cmd { return tea.Batch(m.readAround(), m.show()) }

// wanted is the rollout that is to be shown: by its id, or as one of those of a
// task of which one is known.
func (m *Model) wanted() (id, sibling string) {
	h := m.head()
	switch {
	case h == nil:
		return "", ""
	case m.view != viewTasks:
		return h.ID, ""
	case m.detail.task == h.TaskID && len(m.detail.others) > 0:
		return m.detail.others[min(m.detail.cell, len(m.detail.others)-1)].ID, ""
	}
	return "", h.ID
}

// show reads the rollout under the cursor, unless it is shown.
func (m *Model) show() tea.Cmd {
	id, sibling := m.wanted()
	if id == "" && sibling == "" || id != "" && id == m.detail.id {
		return nil
	}
	gen, now := m.detail.asking.Ask()
	if !now {
		return nil
	}
	s, theme, threshold, cell := m.opts.Store, m.theme, m.threshold(), m.detail.cell
	return m.asked(func(ctx context.Context) tea.Msg {
		msg := sampleMsg{gen: gen, asked: [2]string{id, sibling}, id: id}
		if sibling != "" {
			if msg.others, msg.err = s.Siblings(ctx, sibling); msg.err != nil || len(msg.others) == 0 {
				return msg
			}
			at := min(cell, len(msg.others)-1)
			msg.id, msg.task = msg.others[at].ID, msg.others[at].TaskID
		}
		sample, err := s.Sample(ctx, msg.id)
		if msg.err = err; err == nil {
			msg.doc = transcript.Of(theme, sample, threshold)
		}
		return msg
	})
}

func (m *Model) sampleRead(msg sampleMsg) tea.Cmd {
	_, again := m.detail.asking.Answered(msg.gen)
	if m.failed(msg.err) {
		return nil
	}
	if msg.task != "" {
		m.detail.task, m.detail.others = msg.task, msg.others
	}
	id, sibling := m.wanted()
	if msg.doc != nil && msg.id == id {
		d := &m.detail
		d.id, d.doc = msg.id, msg.doc
		d.play.Reset()
		d.play.Forget()
		m.restoreTranscript()
		return m.search()
	}
	if again || msg.asked != [2]string{id, sibling} {
		return m.show()
	}
	return nil // it is gone
}

// sawDetail takes note of the verdict in the transcript that is drawn.
func (m *Model) sawDetail() {
	if m.detail.id != "" {
		m.seen[m.detail.id] = true
	}
}

// search looks for what is looked for in the transcript.
func (m *Model) search() tea.Cmd {
	find := m.detail.search.In(m.detail.doc)
	m.detail.play.Forget()
	if find == nil {
		return nil
	}
	return m.asked(func(context.Context) tea.Msg { return hitsMsg{find()} })
}

// otherCell goes to the attempt beside, in the view of tasks.
func (m *Model) otherCell(by int) tea.Cmd {
	at := m.list().Cursor()
	if m.view != viewTasks || at >= len(m.tasks) {
		return nil
	}
	n := len(m.tasks[at].Cells)
	m.detail.cell = max(min(min(m.detail.cell, n-1)+by, n-1), 0)
	return m.show()
}

// jump goes to a tool call or to trouble, after the cursor or before it.
func (m *Model) jump(id string) tea.Cmd {
	d := &m.detail
	if d.doc == nil {
		return nil
	}
	at, ok, isJump := d.doc.Jump(id, d.play.Cursor())
	switch {
	case !isJump:
		return nil
	case !ok:
		return ui.Toast("There is no other that way")
	}
	m.focus = paneDetail
	d.play.To(d.doc, at)
	return nil
}
