package judge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/engine/record"
	"assay/store"
	"assay/tui/ui"
)

// trial is a rubric that is tried on the tuning half of gold: row by row as the judge
// goes, then as a whole. Nothing of it is saved before it is kept.
type trial struct {
	text   string // the rubric as it was written
	cancel context.CancelFunc
	feed   *feed
	rows   []engine.TrialRow
	asks   map[string]string   // what was asked, by rollout
	result *engine.RubricTrial // nil while it is judged
	kept   bool                // it is saved as a version
	saving bool                // that is on its way
	list   ui.List
	gen    uint64
}

// flip is what a new rubric did to a row, the one to be looked at first first.
type flip int

const (
	flipWrong flip = iota
	flipRight
	flipNone
	flipUnjudged
)

func flipOf(r *engine.TrialRow) flip {
	switch {
	case r.Before == nil || r.After == nil:
		return flipUnjudged
	case *r.Before == *r.After:
		return flipNone
	case *r.After == r.Gold:
		return flipRight
	}
	return flipWrong
}

// feed takes rows from the engine's goroutine: the newest state is read at once,
// however many came.
type feed struct {
	mu    sync.Mutex
	rows  []engine.TrialRow
	nudge chan struct{}
	done  chan struct{}
}

func (f *feed) hear(r engine.TrialRow) {
	f.mu.Lock()
	f.rows = append(f.rows, r)
	f.mu.Unlock()
	select {
	case f.nudge <- struct{}{}:
	default:
	}
}

func (f *feed) heard() []engine.TrialRow {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.rows)
}

type (
	rubricMsg struct {
		text, file string
		err        error
	}
	writtenMsg struct {
		before, file string
		err          error
	}
	textMsg struct {
		text string
		err  error
	}
	asksMsg struct {
		of   *feed
		asks map[string]string
		err  error
	}
	triedRowsMsg struct {
		of   *feed
		rows []engine.TrialRow
	}
	triedMsg struct {
		of     *feed
		result *engine.RubricTrial
		err    error
	}
	keptMsg struct {
		of  *feed
		err error
	}
	regradedMsg struct {
		report *engine.GradeReport
		err    error
	}
)

// editRubric opens the rubric in the editor: the one that is tried, else the run's.
func (m *Model) editRubric() tea.Cmd {
	if m.busy || m.run == nil || m.opts.Edit == nil {
		return nil
	}
	if m.trial != nil && m.trial.result == nil {
		return ui.Toast("The rubric is being tried: X drops it")
	}
	text := ""
	if m.trial != nil {
		text = m.trial.text
	}
	e, id := m.opts.Engine, m.runID
	return m.ask(func(ctx context.Context) tea.Msg {
		if text == "" {
			rubric, err := e.RunRubric(ctx, id)
			if err != nil {
				return rubricMsg{err: err}
			}
			text = string(rubric.Text)
		}
		file, err := writeAway(text)
		return rubricMsg{text, file, err}
	})
}

// rubricOf is the hash of the rubric that gives a run its reward.
func rubricOf(run *record.Run) string {
	for _, s := range run.Scorers {
		if s.ID == run.Scorer {
			return s.RubricHash
		}
	}
	return ""
}

// writeAway puts a rubric into a file of its own for an editor.
func writeAway(text string) (file string, err error) {
	dir, err := os.MkdirTemp("", "assay-rubric-")
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, "rubric.md")
	return file, os.WriteFile(file, []byte(text), 0o600)
}

// edit hands the terminal to the editor.
func (m *Model) edit(msg rubricMsg) tea.Cmd {
	if msg.err != nil {
		return ui.Failed(msg.err)
	}
	epoch := m.epoch
	return m.opts.Edit(msg.file, func(err error) tea.Msg {
		return answer{m, epoch, writtenMsg{msg.text, msg.file, err}}
	})
}

// written reads what the editor left.
func (m *Model) written(msg writtenMsg) tea.Cmd {
	return m.ask(func(context.Context) tea.Msg {
		defer os.RemoveAll(filepath.Dir(msg.file))
		if msg.err != nil {
			return textMsg{err: fmt.Errorf("the editor: %w; $EDITOR names another", msg.err)}
		}
		raw, err := os.ReadFile(msg.file)
		switch text := string(raw); {
		case err != nil:
			return textMsg{err: err}
		case strings.TrimSpace(text) == "":
			return textMsg{err: errors.New("an empty rubric is none: nothing was judged")}
		case strings.TrimSpace(text) == strings.TrimSpace(msg.before):
			return textMsg{}
		default:
			return textMsg{text: text}
		}
	})
}

// try judges the tuning half of gold by a rubric.
func (m *Model) try(msg textMsg) tea.Cmd {
	switch {
	case msg.err != nil:
		return ui.Failed(msg.err)
	case msg.text == "":
		return ui.Toast("The rubric is as it was: nothing was judged")
	}
	m.dropped = nil
	ctx, cancel := context.WithCancel(m.ctx)
	f := &feed{nudge: make(chan struct{}, 1), done: make(chan struct{})}
	t := &trial{text: msg.text, cancel: cancel, feed: f, asks: map[string]string{}}
	m.trial, m.view, m.focus, m.detail = t, viewTrial, paneLeft, nil
	e, s, id := m.opts.Engine, m.opts.Store, m.runID
	return tea.Batch(
		m.ask(func(ctx context.Context) tea.Msg {
			asks, err := asksOfGold(ctx, s, id)
			return asksMsg{f, asks, err}
		}),
		m.ask(func(context.Context) tea.Msg {
			defer close(f.done)
			result, err := e.TryRubric(ctx, id, t.text, f.hear)
			return triedMsg{f, result, err}
		}), m.listen(f))
}

// asksOfGold is what was asked in the rollouts that gold knows.
func asksOfGold(ctx context.Context, s Store, runID string) (map[string]string, error) {
	filter, err := store.ParseFilter("gold>=0")
	if err != nil {
		return nil, err
	}
	rows, err := s.FindRows(ctx, runID, store.RowQuery{Filter: filter, Limit: mostRows})
	if err != nil {
		return nil, err
	}
	heads, err := s.HeadsAt(ctx, rows)
	asks := make(map[string]string, len(heads))
	for i := range heads {
		asks[heads[i].ID] = string(heads[i].Ask)
	}
	return asks, err
}

// listen waits for the next rows.
func (m *Model) listen(f *feed) tea.Cmd {
	return m.ask(func(ctx context.Context) tea.Msg {
		select {
		case <-f.nudge:
		case <-f.done:
		case <-ctx.Done():
		}
		return triedRowsMsg{f, f.heard()}
	})
}

// tried takes what concerns the trial; what is of one that was dropped is forgotten.
func (m *Model) tried(msg tea.Msg) tea.Cmd {
	t := m.trial
	switch msg := msg.(type) {
	case asksMsg:
		if t == nil || msg.of != t.feed {
			return nil
		}
		t.asks = msg.asks
		t.gen++
		if msg.err != nil {
			return ui.Failed(msg.err)
		}
	case triedRowsMsg:
		if t == nil || msg.of != t.feed || t.result != nil {
			return nil
		}
		m.takeRows(msg.rows)
		return tea.Batch(m.listen(t.feed), m.follow())
	case triedMsg:
		return m.trialDone(msg)
	case keptMsg:
		if t == nil || msg.of != t.feed {
			return nil
		}
		t.saving = false
		if msg.err != nil {
			return ui.Failed(msg.err)
		}
		t.kept = true
		return ui.Toast("Kept as a version of the rubric: R regrades the run by it")
	case regradedMsg:
		m.busy = false
		if msg.err != nil {
			return ui.Failed(msg.err)
		}
		m.trial, m.view, m.detail = nil, viewReport, nil
		return tea.Batch(ui.Toast(fmt.Sprintf("Regraded: %s judged anew; m measures this judge", ui.Plural(msg.report.Graded, "rollout"))), m.read())
	}
	return nil
}

func (m *Model) trialDone(msg triedMsg) tea.Cmd {
	t := m.trial
	if t == nil || msg.of != t.feed {
		return nil
	}
	t.cancel()
	if msg.err != nil {
		m.trial, m.view = nil, viewReport
		m.dropped = t // the text is not lost with the judge
		return tea.Batch(ui.Failed(fmt.Errorf("%w; u brings the rubric back", msg.err)), m.follow())
	}
	t.result = msg.result
	m.takeRows(msg.result.Rows)
	return m.follow()
}

// takeRows shows rows as they came, and of the whole those first that changed.
func (m *Model) takeRows(rows []engine.TrialRow) {
	t := m.trial
	t.rows = slices.Clone(rows)
	t.gen++
	if t.result != nil {
		slices.SortStableFunc(t.rows, func(a, b engine.TrialRow) int { return cmp.Compare(flipOf(&a), flipOf(&b)) })
	}
}

// keep saves the trial as a version of the rubric.
func (m *Model) keep() tea.Cmd {
	t := m.trial
	if t == nil || t.result == nil || t.kept || t.saving {
		return nil
	}
	t.saving = true
	e := m.opts.Engine
	return m.ask(func(ctx context.Context) tea.Msg {
		// What was asked to be kept is kept though the program is leaving.
		return keptMsg{t.feed, e.KeepRubric(context.WithoutCancel(ctx), t.result)}
	})
}

// drop puts the trial away; undo brings it back.
func (m *Model) drop() tea.Cmd {
	t := m.trial
	if t == nil || t.saving {
		return nil
	}
	t.cancel()
	m.trial, m.dropped = nil, t
	m.view, m.focus, m.detail = viewReport, paneLeft, nil
	return ui.Toast("Dropped the rubric; u brings it back")
}

// bringBack undoes a drop: what was judged whole as it was, else its text is judged
// again.
func (m *Model) bringBack() tea.Cmd {
	t := m.dropped
	if t == nil {
		return nil
	}
	m.dropped = nil
	if t.result == nil {
		return m.try(textMsg{text: t.text})
	}
	m.trial, m.view, m.focus = t, viewTrial, paneLeft
	return tea.Batch(ui.Toast("The rubric is back"), m.follow())
}

// regrade asks, and then judges the whole run by the version that was kept.
func (m *Model) regrade() tea.Cmd {
	t := m.trial
	if t == nil || !t.kept || m.busy {
		return nil
	}
	calls := max(m.run.Counts.Done-len(t.rows), 0)
	says := fmt.Sprintf("The judge is asked about %s of %s; the %d that the trial judged are not asked again. That costs what its calls cost. The verdicts of now stay in the file, and the reward changes when all are there.",
		ui.Plural(calls, "rollout"), ui.Count(m.run.Counts.Done), len(t.rows))
	e, id, judge := m.opts.Engine, m.runID, t.result.Judge
	return ui.Ask(ui.Confirm{Question: "Regrade the run?", Yes: "Regrade it", Says: says}, m.asked(func() tea.Cmd {
		m.busy = true
		return m.ask(func(ctx context.Context) tea.Msg {
			report, err := e.Grade(ctx, id, engine.GradeOptions{Judge: judge, OnlyMissing: true})
			return regradedMsg{report, err}
		})
	}))
}
