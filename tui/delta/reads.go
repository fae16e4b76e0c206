package delta

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/engine/record"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// Store is what the screen reads.
type Store interface {
	Runs(ctx context.Context, includeHidden bool) ([]*record.Run, error)
	Run(ctx context.Context, runID string) (*record.Run, error)
	Children(ctx context.Context, runID string) ([]*record.Run, error)
	Sample(ctx context.Context, rolloutID string) (*record.Sample, error)
	Reports(ctx context.Context, runID, kind string) ([]record.SavedReport, error)
}

// Engine is what compares.
type Engine interface {
	Delta(ctx context.Context, before, after string, o engine.DeltaOptions) (engine.DeltaReport, error)
	DeltaAsked(ctx context.Context, runID string) (engine.DeltaOptions, error)
	DeltaTasks(ctx context.Context, r *engine.DeltaReport) (engine.DeltaTasks, error)
}

type runsMsg struct {
	gen  int
	runs []*record.Run
	err  error
}

func readRuns(ctx context.Context, s Store, gen int) tea.Cmd {
	return func() tea.Msg {
		runs, err := s.Runs(ctx, false)
		return runsMsg{gen, runs, err}
	}
}

// shown is a report with the question that it answers.
type shown struct {
	engine.DeltaReport
	asked  engine.DeltaOptions
	saved  bool   // it was saved with its story
	recipe string // of the run after
	story  string // the first run of before's story
}

// storyMsg is what a story has of a comparison.
type storyMsg struct {
	gen    int
	runID  string
	report *shown // nil where none was saved and none can be made
	err    error
}

// readStory finds the report that was saved with a run's story. Where none was and the
// story has both its runs, they are compared now.
func readStory(ctx context.Context, s Store, e Engine, gen int, runID string) tea.Cmd {
	return func() tea.Msg {
		report, err := storyReport(ctx, s, e, runID)
		return storyMsg{gen, runID, report, err}
	}
}

func storyReport(ctx context.Context, s Store, e Engine, runID string) (*shown, error) {
	root, err := rootOf(ctx, s, runID)
	if err != nil {
		return nil, err
	}
	reports, err := s.Reports(ctx, root.ID, "delta")
	if err != nil {
		return nil, err
	}
	if n := len(reports); n > 0 {
		out := &shown{saved: true, recipe: root.Recipe, story: root.ID}
		if err := json.Unmarshal(reports[n-1].Report, &out.DeltaReport); err != nil {
			return nil, fmt.Errorf("read the saved delta report of %s: %w", root.ID, err)
		}
		out.asked = askedOf(&out.DeltaReport)
		return out, nil
	}
	children, err := s.Children(ctx, root.ID)
	if err != nil {
		return nil, err
	}
	before, after := root.ID, ""
	for _, c := range children {
		switch c.Role {
		case record.RoleBefore:
			before = c.ID
		case record.RoleAfter:
			after = c.ID
		}
	}
	if after == "" {
		return nil, nil
	}
	return compareAsRecipe(ctx, s, e, before, after)
}

func rootOf(ctx context.Context, s Store, runID string) (*record.Run, error) {
	run, err := s.Run(ctx, runID)
	if err != nil || run.Parent == "" {
		return run, err
	}
	return s.Run(ctx, run.Parent)
}

// askedOf is the question that a report answers, as far as it tells.
func askedOf(r *engine.DeltaReport) engine.DeltaOptions {
	o := engine.DeltaOptions{Target: r.Target, AllTasks: r.Scope == scopeAllTasks}
	for i := range r.Metrics {
		if r.Metrics[i].Guard {
			o.MustNotRegress = append(o.MustNotRegress, r.Metrics[i].Name)
		}
		if r.Metrics[i].LowerIsBetter {
			o.LowerIsBetter = append(o.LowerIsBetter, r.Metrics[i].Name)
		}
	}
	return o
}

const scopeAllTasks = "all_tasks"

// compareAsRecipe compares two runs as the recipe of after asks for it, or where that
// names what neither run has, by the reward alone.
func compareAsRecipe(ctx context.Context, s Store, e Engine, before, after string) (*shown, error) {
	asked, err := e.DeltaAsked(ctx, after)
	if err != nil {
		return nil, err
	}
	out, err := compare(ctx, s, e, before, after, asked)
	var p *record.Problem
	if errors.As(err, &p) && p.Code == "unknown_metric" {
		return compare(ctx, s, e, before, after, engine.DeltaOptions{})
	}
	return out, err
}

func compare(ctx context.Context, s Store, e Engine, before, after string, o engine.DeltaOptions) (*shown, error) {
	r, err := e.Delta(ctx, before, after, o)
	if err != nil {
		return nil, err
	}
	root, err := rootOf(ctx, s, before)
	if err != nil {
		return nil, err
	}
	return &shown{DeltaReport: r, asked: o, recipe: root.Recipe, story: root.ID}, nil
}

type reportMsg struct {
	gen    int
	report *shown
	err    error
}

func readReport(ctx context.Context, s Store, e Engine, gen int, before, after string, o *engine.DeltaOptions) tea.Cmd {
	return func() tea.Msg {
		var out *shown
		var err error
		if o == nil {
			out, err = compareAsRecipe(ctx, s, e, before, after)
		} else {
			out, err = compare(ctx, s, e, before, after, *o)
		}
		return reportMsg{gen, out, err}
	}
}

type tasksMsg struct {
	gen   int
	tasks engine.DeltaTasks
	err   error
}

func readTasks(ctx context.Context, e Engine, gen int, r *engine.DeltaReport) tea.Cmd {
	return func() tea.Msg {
		tasks, err := e.DeltaTasks(ctx, r)
		return tasksMsg{gen, tasks, err}
	}
}

type pairMsg struct {
	gen int
	doc *transcript.Pair
	err error
}

func readPair(ctx context.Context, s Store, gen int, theme ui.Theme, before, after string, threshold float64) tea.Cmd {
	return func() tea.Msg {
		b, err := s.Sample(ctx, before)
		if err != nil {
			return pairMsg{gen: gen, err: err}
		}
		a, err := s.Sample(ctx, after)
		if err != nil {
			return pairMsg{gen: gen, err: err}
		}
		return pairMsg{gen: gen, doc: transcript.NewPair(theme, b, a, threshold)}
	}
}
