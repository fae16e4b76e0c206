package main

import (
	"strings"
	"syscall"
	"testing"
)

// TestP16ATerminalIsLeftUsable by every way out of the real program: a key, a signal,
// and a line that is cut.
func TestP16ATerminalIsLeftUsable(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*screen){
		"q":       func(s *screen) { s.press("q") },
		"ctrl+c":  func(s *screen) { s.press("ctrl+c") },
		"SIGTERM": func(s *screen) { _ = s.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGHUP":  func(s *screen) { _ = s.cmd.Process.Signal(syscall.SIGHUP) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			s := p.open(80, 24)
			s.sees("run it")
			leave(s)
			if code := s.ends(); code != exitOK {
				t.Errorf("exit %d", code)
			}
		})
	}
}

// TestP20CopyAndMouseOverSSH: what is copied goes to the terminal's own clipboard and
// is said, and the mouse is given back to the terminal.
func TestP20CopyAndMouseOverSSH(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.open(80, 24)
	s.sees("run it")
	s.press("y")
	s.sees("Copied")
	if !strings.Contains(s.written(), "\x1b]52;c;") {
		t.Error("nothing was given to the terminal's clipboard")
	}
	s.press("%")
	s.sees("Mouse off")
	on, off := strings.LastIndex(s.written(), "\x1b[?1002h"), strings.LastIndex(s.written(), "\x1b[?1002l")
	if on < 0 || off < on {
		t.Error("the terminal is not given its mouse back")
	}
	s.press("q")
	s.ends()
}

// TestWatch: `run --watch` opens the app on the run, and its exit code is the run's.
func TestWatch(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.recipe()
	s := p.open(120, 40, "run", "./mine", "--watch", "--name", "watched", "--situations", "12")
	s.sees("2 Live", "done", "took")
	s.press("q")
	if code := s.ends(); code != exitOK {
		t.Errorf("exit %d", code)
	}
	if p.id("watched") == "" {
		t.Error("the run is not there under its name")
	}
}
