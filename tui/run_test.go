package tui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"go.uber.org/goleak"

	"assay/engine"
	"assay/engine/record"
)

// terminal is what the program writes to.
type terminal struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	grown chan struct{}
}

func newTerminal() *terminal { return &terminal{grown: make(chan struct{}, 1)} }

func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case t.grown <- struct{}{}:
	default:
	}
	return t.buf.Write(p)
}

func (t *terminal) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}

// waitFor waits until the program has written a text; it gives up with the test.
func (t *terminal) waitFor(tb testing.TB, text string) {
	tb.Helper()
	timeout := time.NewTimer(20 * time.Second)
	defer timeout.Stop()
	for !strings.Contains(t.String(), text) {
		select {
		case <-t.grown:
		case <-timeout.C:
			tb.Fatalf("%q was never written; there is %q", text, t.String())
		}
	}
}

// started is the real program with a keyboard and a screen in memory.
type started struct {
	keys *io.PipeWriter
	out  *terminal
	done chan error
}

func start(t *testing.T, m Store, change ...func(*Options)) *started {
	t.Helper()
	in, keys := io.Pipe()
	s := &started{keys: keys, out: newTerminal(), done: make(chan error, 1)}
	o := Options{Store: m, Now: time.Now, Version: "test", Theme: "dark", CrashDir: t.TempDir(), Environ: []string{"TERM=xterm-256color"}, Input: in, Output: s.out,
		Recipes: []Recipe{{Name: "one"}}}
	for _, c := range change {
		c(&o)
	}
	go func() {
		err := run(context.Background(), o, tea.WithWindowSize(80, 24), tea.WithoutSignalHandler())
		keys.Close()
		s.done <- err
	}()
	return s
}

func (s *started) press(t *testing.T, keys string) {
	t.Helper()
	if _, err := io.WriteString(s.keys, keys); err != nil {
		t.Fatal(err)
	}
}

var errGone = errors.New("input/output error")

const (
	enterScreen = "\x1b[?1049h"
	leaveScreen = "\x1b[?1049l"
	showCursor  = "\x1b[?25h"
)

func TestRunLeavesNothingBehind(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent()) // files of other tests stay open
	m := saved()
	s := start(t, m, func(o *Options) { o.Pass = m.pass })
	s.out.waitFor(t, "bring-your-own-agent")
	s.press(t, "\r")
	s.out.waitFor(t, "Transcript")
	s.press(t, "jjjy")
	s.out.waitFor(t, "\x1b]52;c;") // what a terminal, over SSH too, takes into its clipboard
	s.out.waitFor(t, "Copied")
	s.press(t, "q")
	if err := <-s.done; err != nil {
		t.Fatal(err)
	}
	checkRestored(t, s.out.String())
}

func checkRestored(t *testing.T, out string) {
	t.Helper()
	if !strings.Contains(out, enterScreen) || strings.LastIndex(out, leaveScreen) < strings.LastIndex(out, enterScreen) {
		t.Error("the alternate screen is not left")
	}
	if strings.LastIndex(out, showCursor) < strings.LastIndex(out, "\x1b[?25l") {
		t.Error("the cursor stays hidden")
	}
}

// TestIdleWritesNothing looks at the terminal through an hour in which nothing
// happens; the time is a bubble's own.
func TestIdleWritesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, saved())
		time.Sleep(time.Minute)
		synctest.Wait()
		settled := s.out.String()
		if !strings.Contains(settled, "bring-your-own-agent") {
			t.Fatalf("the screen is not there: %q", settled)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if after := s.out.String(); after != settled {
			t.Errorf("%d bytes were written while nothing happened: %q", len(after)-len(settled), after[len(settled):])
		}
		s.press(t, "q")
		if err := <-s.done; err != nil {
			t.Fatal(err)
		}
	})
}

func TestStoriesEndWithTheProgram(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent()) // files of other tests stay open
	m := newMemory()
	var p *play
	s := start(t, m, func(o *Options) {
		o.Start = func(_ Begin, observe func(engine.Event)) (Story, error) {
			p = newPlay(m, observe)
			observe(engine.StageStarted{Stage: engine.StageRun})
			run := p.begin(record.Run{ID: "r1", Recipe: "one", Role: record.RoleMain}, 3)
			p.start(run, 0, 0)
			return p, nil
		}
		o.Begin = "one"
	})
	s.out.waitFor(t, "in flight")
	s.press(t, "q")
	s.out.waitFor(t, "Leave while a run is on its way?")
	s.press(t, "y")
	s.out.waitFor(t, "leaving when")
	p.end()
	if err := <-s.done; err != nil {
		t.Fatal(err)
	}
	checkRestored(t, s.out.String())
}

// broken is a store that panics when it is asked for a run.
type broken struct {
	*memory
	secret string
}

func (b broken) Run(context.Context, string) (*record.Run, error) { panic(b.secret) }

// nilRuns gives a list that the screen cannot take.
type nilRuns struct{ *memory }

func (nilRuns) Runs(context.Context, bool) ([]*record.Run, error) { return []*record.Run{nil}, nil }

func TestPanicRestoresTheTerminalAndWritesAReport(t *testing.T) {
	const secret = "what the customer said"
	for name, store := range map[string]Store{"command": broken{saved(), secret}, "update": nilRuns{saved()}} {
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent()) // files of other tests stay open
			s := start(t, store, func(o *Options) { o.Open = "3f9a0c11d2e4b587" })
			err := <-s.done
			var crash *Crash
			if !errors.As(err, &crash) || crash.Where != name {
				t.Fatalf("Run gives %v", err)
			}
			checkRestored(t, s.out.String())
			report, readErr := os.ReadFile(crash.File)
			if readErr != nil {
				t.Fatal(readErr)
			}
			for _, want := range []string{"crashed in " + name, "goroutine", "assay/tui"} {
				if !strings.Contains(string(report), want) {
					t.Errorf("the report does not say %q:\n%s", want, report)
				}
			}
			for what, text := range map[string]string{"report": string(report), "error": err.Error(), "terminal": s.out.String()} {
				if strings.Contains(text, secret) {
					t.Errorf("the %s repeats what was said", what)
				}
			}
		})
	}
}

func TestPanicInViewEndsTheProgram(t *testing.T) {
	d := drive(t, saved(), 80, 24)
	d.m.runs = nil
	d.m.View()
	if crash := d.m.guard.crash(); crash == nil || crash.Where != "view" {
		t.Fatalf("the panic is taken for %v", crash)
	}
	n, ok := d.m.box.empty(false)
	if !ok {
		t.Fatal("the loop is not woken")
	}
	_, cmd := d.m.Update(n)
	if cmd == nil {
		t.Fatal("the program goes on")
	}
	if _, quits := cmd().(tea.QuitMsg); !quits {
		t.Fatal("the program goes on")
	}
}

func TestCancelledContextEndsTheProgram(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent()) // files of other tests stay open
	in, keys := io.Pipe()
	defer keys.Close()
	out := newTerminal()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, Options{Store: saved(), Now: time.Now, Theme: "dark", Environ: []string{"TERM=xterm"}, Input: in, Output: out}, tea.WithWindowSize(80, 24), tea.WithoutSignalHandler())
	}()
	out.waitFor(t, "bring-your-own-agent")
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	checkRestored(t, out.String())
}
