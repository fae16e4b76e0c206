package live

import (
	"context"
	"encoding/json"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/engine/record"
	"assay/engine/stats"
	"assay/store"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// Store is what the screen reads.
type Store interface {
	Run(ctx context.Context, runID string) (*record.Run, error)
	Children(ctx context.Context, runID string) ([]*record.Run, error)
	Posed(ctx context.Context, runID string) ([]record.Posed, error)
	RolloutHeads(ctx context.Context, runID string, q store.HeadQuery) ([]store.RolloutHead, int, error)
	Sample(ctx context.Context, rolloutID string) (*record.Sample, error)
	Reports(ctx context.Context, runID, kind string) ([]record.SavedReport, error)
	Exports(ctx context.Context, runID string) ([]record.ExportRecord, error)
}

// PassOf is the pass rate of a run with its interval; heldOut says that it is
// over held-out tasks alone.
type PassOf func(ctx context.Context, runID string) (e stats.Estimate, heldOut bool, err error)

// answer is what came of a question, with who asked: another story may be shown
// by now, or another screen of this kind may hear it.
type answer struct {
	owner *owner
	msg   tea.Msg
}

// owner is an identity.
type owner struct{ _ byte }

// owned has the answer of a command come back to this state of the model alone.
func (m *Model) owned(cmd tea.Cmd) tea.Cmd {
	who := m.owner
	return func() tea.Msg { return answer{who, cmd()} }
}

type storyReadMsg struct {
	gen     int
	root    *record.Run
	parts   map[Part]*record.Run
	report  *engine.DeltaReport
	exports []record.ExportRecord
	err     error
}

// findStory reads the run that a story began with and the runs that belong to it.
func findStory(ctx context.Context, s Store, runID string) (*record.Run, map[Part]*record.Run, error) {
	root, err := s.Run(ctx, runID)
	if err != nil {
		return nil, nil, err
	}
	if root.Parent != "" {
		if root, err = s.Run(ctx, root.Parent); err != nil {
			return nil, nil, err
		}
	}
	children, err := s.Children(ctx, root.ID)
	if err != nil {
		return nil, nil, err
	}
	parts := map[Part]*record.Run{PartRun: root}
	for _, c := range children {
		switch c.Role {
		case record.RoleBefore:
			parts[PartBefore] = c
		case record.RoleAfter:
			parts[PartAfter] = c
		}
	}
	return root, parts, nil
}

func readStory(ctx context.Context, s Store, gen int, runID string) tea.Cmd {
	return func() tea.Msg {
		msg := storyReadMsg{gen: gen}
		msg.root, msg.parts, msg.err = findStory(ctx, s, runID)
		if msg.err != nil {
			return msg
		}
		reports, err := s.Reports(ctx, msg.root.ID, "delta")
		if err != nil {
			msg.err = err
			return msg
		}
		if n := len(reports); n > 0 {
			msg.report = new(engine.DeltaReport)
			if err := json.Unmarshal(reports[n-1].Report, msg.report); err != nil {
				msg.err, msg.report = err, nil
			}
		}
		if msg.exports, err = s.Exports(ctx, msg.root.ID); err != nil {
			msg.err = err
		}
		return msg
	}
}

type headsMsg struct {
	gen    int
	runID  string
	offset int
	heads  []store.RolloutHead
	total  int
	err    error
}

func readHeads(ctx context.Context, s Store, gen int, runID string, offset int) tea.Cmd {
	return func() tea.Msg {
		heads, total, err := s.RolloutHeads(ctx, runID, store.HeadQuery{Offset: offset, Limit: pageSize})
		return headsMsg{gen, runID, offset, heads, total, err}
	}
}

type sampleMsg struct {
	gen int
	id  string
	doc *transcript.Doc
	err error
}

func readSample(ctx context.Context, s Store, gen int, id string, theme ui.Theme, threshold float64) tea.Cmd {
	return func() tea.Msg {
		sample, err := s.Sample(ctx, id)
		if err != nil {
			return sampleMsg{gen: gen, id: id, err: err}
		}
		return sampleMsg{gen: gen, id: id, doc: transcript.Of(theme, sample, threshold)}
	}
}

type foundMsg struct{ transcript.Found }

type passMsg struct {
	gen     int
	runID   string
	e       stats.Estimate
	heldOut bool
	err     error
}

func readPass(ctx context.Context, of PassOf, gen int, runID string) tea.Cmd {
	return func() tea.Msg {
		e, heldOut, err := of(ctx, runID)
		return passMsg{gen, runID, e, heldOut, err}
	}
}

type armsMsg struct {
	gen   int
	runID string
	arms  map[int]map[string]int
	err   error
}

func readArms(ctx context.Context, s Store, gen int, runID string) tea.Cmd {
	return func() tea.Msg {
		posed, err := s.Posed(ctx, runID)
		arms := map[int]map[string]int{}
		for i := range posed {
			p := &posed[i]
			if arms[p.Batch] == nil {
				arms[p.Batch] = map[string]int{}
			}
			arms[p.Batch][p.Arm]++
		}
		return armsMsg{gen, runID, arms, err}
	}
}
