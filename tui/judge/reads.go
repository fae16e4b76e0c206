package judge

import (
	"context"
	"encoding/json"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/engine/record"
	"assay/store"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// answer is what came of a question about the run of an epoch.
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
	stateMsg struct {
		gen    int
		run    *record.Run
		report *engine.TrustReport
		rows   []store.RolloutHead
		more   bool
		labels map[string][]record.Label
		err    error
	}
	measuredMsg struct {
		report *engine.TrustReport
		err    error
	}
	hitsMsg   struct{ found transcript.Found }
	detailMsg struct {
		gen    int
		detail *detail
		err    error
	}
)

// mostRows is how many disagreements are listed: more than are read in a sitting.
// Convention.
const mostRows = 1000

// read asks for the last report, the disagreements and the labels.
func (m *Model) read() tea.Cmd {
	if m.runID == "" {
		return nil
	}
	gen, now := m.asking.Ask()
	if !now {
		return nil
	}
	s, id := m.opts.Store, m.runID
	return m.ask(func(ctx context.Context) tea.Msg {
		msg := stateMsg{gen: gen}
		if msg.run, msg.err = s.Run(ctx, id); msg.err != nil {
			return msg
		}
		if msg.report, msg.err = lastReport(ctx, s, id); msg.err != nil {
			return msg
		}
		if msg.rows, msg.more, msg.err = disagreements(ctx, s, id); msg.err != nil {
			return msg
		}
		labels, err := s.Labels(ctx, id)
		msg.err, msg.labels = err, map[string][]record.Label{}
		for _, l := range labels {
			msg.labels[l.RolloutID] = append(msg.labels[l.RolloutID], l)
		}
		return msg
	})
}

// lastReport is the newest trust report of a run, nil where there is none.
func lastReport(ctx context.Context, s Store, runID string) (*engine.TrustReport, error) {
	saved, err := s.Reports(ctx, runID, engine.TrustReportKind)
	if err != nil || len(saved) == 0 {
		return nil, err
	}
	r := new(engine.TrustReport)
	if err := json.Unmarshal(saved[len(saved)-1].Report, r); err != nil {
		return nil, fmt.Errorf("read the trust report of %s: %w", runID, err)
	}
	return r, nil
}

func disagreements(ctx context.Context, s Store, runID string) (heads []store.RolloutHead, more bool, err error) {
	filter, err := store.ParseFilter("judge!=gold")
	if err != nil {
		return nil, false, err
	}
	rows, err := s.FindRows(ctx, runID, store.RowQuery{Filter: filter, Limit: mostRows + 1})
	if err != nil {
		return nil, false, err
	}
	if more = len(rows) > mostRows; more {
		rows = rows[:mostRows]
	}
	heads, err = s.HeadsAt(ctx, rows)
	return heads, more, err
}

// measure asks the engine for a new report, which it saves.
func (m *Model) measure(o engine.TrustOptions) tea.Cmd {
	if m.busy || m.runID == "" {
		return nil
	}
	m.busy = true
	e, id := m.opts.Engine, m.runID
	return m.ask(func(ctx context.Context) tea.Msg {
		report, err := e.Trust(ctx, id, o)
		return measuredMsg{report, err}
	})
}

// open reads a rollout with what is known of it beside the transcript.
func (m *Model) open(id string, lead []para) tea.Cmd {
	if m.detail != nil && m.detail.id == id && m.detail.of == leadKey(lead) {
		return nil
	}
	gen, now := m.reading.Ask()
	if !now {
		return nil
	}
	s, theme, threshold, differ := m.opts.Store, m.theme, m.threshold(), m.view == viewDisagreements
	key := leadKey(lead)
	return m.ask(func(ctx context.Context) tea.Msg {
		sample, err := s.Sample(ctx, id)
		if err != nil {
			return detailMsg{gen: gen, err: err}
		}
		if differ {
			lead = append(lead, judgeSays(sample, threshold)...)
		}
		d := newDetail(theme, id, lead, transcript.Of(theme, sample, threshold))
		d.of = key
		return detailMsg{gen: gen, detail: d}
	})
}

func (m *Model) answered(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case stateMsg:
		return m.stateRead(msg)
	case agreedMsg:
		return msg.then()
	case measuredMsg:
		m.busy = false
		if msg.err != nil {
			return ui.Failed(msg.err)
		}
		return tea.Batch(ui.Toast("Measured: "+ui.CleanLine(string(msg.report.Headline))), m.read())
	case detailMsg:
		_, again := m.reading.Answered(msg.gen)
		if msg.err != nil {
			return ui.Failed(msg.err)
		}
		m.detail = msg.detail
		m.play.Reset()
		m.play.Forget()
		if again {
			return tea.Batch(m.find(), m.follow())
		}
		return m.find()
	case hitsMsg:
		m.search.Take(msg.found, &m.play)
	case rubricMsg:
		return m.edit(msg)
	case writtenMsg:
		return m.written(msg)
	case textMsg:
		return m.try(msg)
	default:
		return m.tried(msg)
	}
	return nil
}

func (m *Model) stateRead(msg stateMsg) tea.Cmd {
	_, again := m.asking.Answered(msg.gen)
	if again {
		return m.read()
	}
	m.err = msg.err
	if msg.err != nil {
		return nil
	}
	m.run, m.rows, m.more, m.labels = msg.run, msg.rows, msg.more, msg.labels
	m.list.Forget()
	m.setReport(msg.report)
	m.restorePlace()
	return m.follow()
}

// follow reads what is under the cursor, where that is a rollout.
func (m *Model) follow() tea.Cmd {
	if m.view == viewDisagreements {
		if len(m.rows) == 0 {
			return nil
		}
		h := &m.rows[min(m.list.Cursor(), len(m.rows)-1)]
		return m.open(h.ID, m.disagreement(h))
	}
	if m.view == viewTrial && m.trial != nil && len(m.trial.rows) > 0 {
		row := &m.trial.rows[min(m.trial.list.Cursor(), len(m.trial.rows)-1)]
		return m.open(row.RolloutID, m.triedRow(row))
	}
	return nil
}
