package tui

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"

	tea "charm.land/bubbletea/v2"
)

// errLeft is that nothing begins any more.
var errLeft = errors.New("the program is ending")

// Crash is a panic in the app. Its report holds where it happened, and nothing
// that a model, a tool or a person said.
type Crash struct {
	Where string // update, view, command, feed
	What  string
	Stack []byte
	File  string // the report, "" where it could not be written
}

// Error says what happened and where the report is.
func (c *Crash) Error() string {
	if c.File == "" {
		return fmt.Sprintf("assay crashed in %s: %s; what was committed is saved", c.Where, c.What)
	}
	return fmt.Sprintf("assay crashed in %s: %s; what was committed is saved; the report is %s", c.Where, c.What, c.File)
}

// guard holds what must be put right however the program ends: the first panic,
// and the stories that were begun. It is safe for concurrent use.
type guard struct {
	nudge func() // makes the feeder send something, so that the loop sees the panic

	mu      sync.Mutex
	first   *Crash
	stories []Story
	stopped map[Story]bool // asked to drain: asked again they would abort
	closed  bool
	begins  sync.WaitGroup // stories that are being begun
}

// caught takes note of a panic.
func (g *guard) caught(where string, p any) {
	g.mu.Lock()
	if g.first == nil {
		g.first = &Crash{Where: where, What: describe(p), Stack: debug.Stack()}
	}
	g.mu.Unlock()
	g.nudge()
}

// describe says what a panic was. The text of an error of the runtime holds
// indices and types; any other may hold what an agent said, so only its type is
// named.
func describe(p any) string {
	if err, ok := p.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("a panic of type %T", p)
}

func (g *guard) crashed() bool { return g.crash() != nil }

func (g *guard) crash() *Crash {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.first
}

// cmd wraps a command, and what it batches, so that a panic in it is caught.
func (g *guard) cmd(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if p := recover(); p != nil {
				g.caught("command", p)
				msg = tea.QuitMsg{}
			}
		}()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			wrapped := make(tea.BatchMsg, len(batch))
			for i, c := range batch {
				wrapped[i] = g.cmd(c)
			}
			return wrapped
		}
		return msg
	}
}

// begin runs a function that begins a story and takes charge of what it gives.
// After the end none is begun.
func (g *guard) begin(fn func() (Story, error)) (Story, error) {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return nil, errLeft
	}
	g.begins.Add(1)
	g.mu.Unlock()
	defer g.begins.Done()
	story, err := fn()
	if err != nil || story == nil {
		return nil, err
	}
	g.mu.Lock()
	g.stories = append(g.stories, story)
	g.mu.Unlock()
	return story, nil
}

// endStories ends what still runs and waits for it: in flight finishes and is
// saved, but after a panic it is aborted.
func (g *guard) endStories() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.begins.Wait()
	for _, s := range g.running() {
		if g.crashed() {
			s.Abort()
		} else {
			g.drain(s)
		}
		<-s.Done()
	}
}

// drain lets what is in flight of a story finish, however often it is asked for.
func (g *guard) drain(s Story) {
	g.mu.Lock()
	asked := g.stopped[s]
	if g.stopped == nil {
		g.stopped = map[Story]bool{}
	}
	g.stopped[s] = true
	g.mu.Unlock()
	if !asked {
		s.Stop()
	}
}

// abort ends what still runs at once.
func (g *guard) abort() {
	for _, s := range g.running() {
		s.Abort()
	}
}

// running are the stories that have not ended.
func (g *guard) running() []Story {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []Story
	for _, s := range g.stories {
		select {
		case <-s.Done():
		default:
			out = append(out, s)
		}
	}
	return out
}

// try does what must not bring the rest of the end down.
func (g *guard) try(where string, fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			g.caught(where, p)
		}
	}()
	return fn()
}

// write saves the report; that it could not be is no reason to lose the crash.
func (c *Crash) write(o Options) *Crash {
	name := filepath.Join(o.CrashDir, "assay-crash-"+o.Now().UTC().Format("20060102-150405")+".txt")
	text := fmt.Sprintf("assay %s on %s/%s, %s\ncrashed in %s: %s\n\n%s", o.Version, runtime.GOOS, runtime.GOARCH, runtime.Version(), c.Where, c.What, c.Stack)
	if os.WriteFile(name, []byte(text), 0o600) == nil {
		c.File = name
	}
	return c
}
