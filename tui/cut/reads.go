package cut

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/engine/record"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// Store is what the screen reads.
type Store interface {
	Run(ctx context.Context, runID string) (*record.Run, error)
	Sample(ctx context.Context, rolloutID string) (*record.Sample, error)
	Exports(ctx context.Context, runID string) ([]record.ExportRecord, error)
}

// Engine is what cuts and scans.
type Engine interface {
	CutPreview(ctx context.Context, runID string) (engine.CutPreview, error)
	Scan(ctx context.Context, runID string, endorsed []string) (engine.ScanReport, error)
	Cut(ctx context.Context, runID, target, format, file string) (engine.CutResult, error)
}

type previewMsg struct {
	gen     int
	preview engine.CutPreview
	tasks   map[string]int // how many tasks each target's kept rows are of
	exports []record.ExportRecord
	err     error
}

// readPreview cuts a run for every target, in memory. Of a run that belongs to a story's
// comparison it cuts the story's first: the others are measured on.
func readPreview(ctx context.Context, s Store, e Engine, gen int, runID string) tea.Cmd {
	return func() tea.Msg {
		run, err := s.Run(ctx, runID)
		if err != nil {
			return previewMsg{gen: gen, err: err}
		}
		if run.Parent != "" {
			runID = run.Parent
		}
		msg := previewMsg{gen: gen}
		if msg.preview, msg.err = e.CutPreview(ctx, runID); msg.err != nil {
			return msg
		}
		msg.tasks = map[string]int{}
		for i := range msg.preview.Targets {
			p := &msg.preview.Targets[i]
			msg.tasks[p.For] = tasksOf(p.Kept)
		}
		msg.exports, msg.err = s.Exports(ctx, runID)
		return msg
	}
}

type scanMsg struct {
	gen    int
	report engine.ScanReport
	err    error
}

func readScan(ctx context.Context, e Engine, gen int, runID string, endorsed []string) tea.Cmd {
	return func() tea.Msg {
		report, err := e.Scan(ctx, runID, endorsed)
		return scanMsg{gen, report, err}
	}
}

type sampleMsg struct {
	gen int
	doc *transcript.Doc
	err error
}

func readSample(ctx context.Context, s Store, gen int, theme ui.Theme, rolloutID string, threshold float64) tea.Cmd {
	return func() tea.Msg {
		sample, err := s.Sample(ctx, rolloutID)
		if err != nil {
			return sampleMsg{gen: gen, err: err}
		}
		return sampleMsg{gen: gen, doc: transcript.Of(theme, sample, threshold)}
	}
}

// thereMsg says whether the file that is to be written is there already.
type thereMsg struct {
	gen    int
	format string
	there  bool
	err    error
}

func lookFor(gen int, format, file string) tea.Cmd {
	return func() tea.Msg {
		info, err := os.Stat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return thereMsg{gen: gen, format: format}
		case err != nil:
			return thereMsg{gen: gen, err: fmt.Errorf("write the training file: %w", err)}
		case info.IsDir():
			return thereMsg{gen: gen, err: fmt.Errorf("%s is a folder: name a file in it", file)}
		}
		return thereMsg{gen: gen, format: format, there: true}
	}
}

type wroteMsg struct {
	gen     int
	result  engine.CutResult
	exports []record.ExportRecord
	err     error
}

func write(ctx context.Context, s Store, e Engine, gen int, runID, target, format, file string) tea.Cmd {
	return func() tea.Msg {
		msg := wroteMsg{gen: gen}
		if msg.result, msg.err = e.Cut(ctx, runID, target, format, file); msg.err != nil {
			return msg
		}
		exports, err := s.Exports(ctx, runID)
		if err == nil { // the file is there: not being able to list it is no failure of that
			msg.exports = exports
		}
		return msg
	}
}
