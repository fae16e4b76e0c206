package tui

import (
	"context"
	"errors"
	"fmt"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"assay/tui/live"
)

// Run shows the app until the person leaves or ctx ends. It returns when every
// story that it began has ended and the terminal is as it was. After a panic it
// returns a [*Crash].
func Run(ctx context.Context, o Options) error { return run(ctx, o) }

func run(ctx context.Context, o Options, more ...tea.ProgramOption) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	box := newMailbox(o.Now)
	g := &guard{nudge: box.nudge}
	m := newRoot(ctx, o, box, g)
	program := tea.NewProgram(m, append(programOptions(ctx, o), more...)...)
	stopListening := listen(ctx, g, func() { program.Send(signalMsg{}) }, program.Kill)
	defer stopListening()

	var feeding sync.WaitGroup
	feeding.Add(1)
	go func() {
		defer feeding.Done()
		defer func() {
			if p := recover(); p != nil {
				g.caught("feed", p)
				program.Kill()
			}
		}()
		feed(ctx, box, func(n live.News) { program.Send(n) })
	}()

	_, err := program.Run()
	g.endStories()
	cancel()
	feeding.Wait()
	saving := g.try("save", m.saveLast)
	if crash := g.crash(); crash != nil {
		return crash.write(o)
	}
	switch {
	case err == nil && saving != nil:
		return saving
	case errors.Is(err, tea.ErrInterrupted), errors.Is(err, context.Canceled):
		return nil
	case err != nil:
		return fmt.Errorf("the terminal: %w", err)
	}
	return nil
}

func programOptions(ctx context.Context, o Options) []tea.ProgramOption {
	opts := []tea.ProgramOption{tea.WithContext(ctx), tea.WithFilter(keepWidths), tea.WithoutSignalHandler()}
	if o.Input != nil {
		opts = append(opts, tea.WithInput(o.Input))
	}
	if o.Output != nil {
		opts = append(opts, tea.WithOutput(o.Output))
	}
	if o.Environ != nil {
		opts = append(opts, tea.WithEnvironment(o.Environ))
	}
	return opts
}

// keepWidths leaves the terminal in its usual way of measuring text: everything
// here is measured so, and Bubble Tea would switch to another where the terminal
// offers it (mode 2027).
func keepWidths(_ tea.Model, msg tea.Msg) tea.Msg {
	if report, ok := msg.(tea.ModeReportMsg); ok && report.Mode == ansi.ModeUnicodeCore {
		return nil
	}
	return msg
}
