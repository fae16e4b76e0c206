package tui

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	tea "charm.land/bubbletea/v2"
)

// signalMsg is that the system asks the program to end: SIGTERM, SIGINT from
// outside, or SIGHUP where the terminal is gone.
type signalMsg struct{}

// listen takes the system's signals: the first asks the loop to end, which lets
// what is in flight finish; the second aborts that. The function that it gives ends
// the listening and waits for it.
func listen(ctx context.Context, g *guard, ask, kill func()) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	var listening sync.WaitGroup
	listening.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-signals:
			}
			if n == 0 {
				ask()
				continue
			}
			g.abort()
			kill()
		}
	})
	return func() {
		signal.Stop(signals)
		cancel()
		listening.Wait()
	}
}

// signalled leaves without asking: nobody may be there to answer.
func (m *root) signalled() tea.Cmd {
	m.signals = true
	return m.drainAndLeave()
}
