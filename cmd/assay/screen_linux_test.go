package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/vt"
	"golang.org/x/sys/unix"
)

// patience is how long a screen may take to show what it must: nothing here is a
// measurement, and the machine may be busy.
const patience = 2 * time.Minute

// screen is the real program on a terminal of its own: keys go in, and what a
// terminal makes of its output is read back.
type screen struct {
	t      *testing.T
	ours   *os.File // the terminal's side of the line
	theirs *os.File // the program's
	before *unix.Termios
	cmd    *exec.Cmd

	mu      sync.Mutex
	drawn   *vt.Emulator
	raw     strings.Builder // all that was written
	changed chan struct{}
	silent  chan struct{} // closed when nothing more can be written
}

// open starts assay in the place on a terminal of that size.
func (p *place) open(width, height int, args ...string) *screen {
	p.t.Helper()
	s := &screen{t: p.t, drawn: vt.NewEmulator(width, height), changed: make(chan struct{}, 1), silent: make(chan struct{})}
	s.ours, s.theirs = line(p.t, width, height)
	var err error
	s.before, err = s.settings()
	if err != nil {
		p.t.Fatal(err)
	}
	s.cmd = p.command(args...)
	s.cmd.Env = append(s.cmd.Env, "TERM=xterm-256color", "NO_COLOR=", "USER=ana", "SSH_TTY=/dev/pts/0")
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = s.theirs, s.theirs, s.theirs
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	var flowing sync.WaitGroup
	flowing.Go(s.read)
	flowing.Go(func() { _, _ = io.Copy(s.ours, s.drawn) }) // what a terminal answers when it is asked
	p.t.Cleanup(func() {
		_ = s.cmd.Process.Kill() // it has ended, unless the test failed
		_ = s.theirs.Close()
		_ = s.ours.Close()
		<-s.silent
		_ = s.drawn.InputPipe().(io.Closer).Close()
		flowing.Wait()
	})
	return s
}

// line is a terminal line of that size.
func line(t testing.TB, width, height int) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("this machine gives no terminals: %v", err)
	}
	var number int
	err = control(ours, func(fd int) error {
		if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(height), Col: uint16(width)}); err != nil {
			return err
		}
		var err error
		number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		return err
	})
	if err == nil {
		theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return ours, theirs
}

func control(f *os.File, do func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var done error
	if err := conn.Control(func(fd uintptr) { done = do(int(fd)) }); err != nil {
		return err
	}
	return done
}

// settings are how the line is set: raw while the app has it.
func (s *screen) settings() (t *unix.Termios, err error) {
	err = control(s.theirs, func(fd int) (err error) {
		t, err = unix.IoctlGetTermios(fd, unix.TCGETS)
		return err
	})
	return t, err
}

func (s *screen) read() {
	defer close(s.silent)
	buf, kept := make([]byte, 32<<10), 0
	for {
		n, err := s.ours.Read(buf[kept:])
		whole := wholeRunes(buf[:kept+n])
		s.mu.Lock()
		s.raw.Write(buf[:whole])
		_, _ = s.drawn.Write(buf[:whole])
		s.mu.Unlock()
		kept = copy(buf, buf[whole:kept+n])
		select {
		case s.changed <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// wholeRunes is how much of what was read ends with a whole character: the rest of
// one comes with the next bytes.
func wholeRunes(p []byte) int {
	for back := 1; back <= min(utf8.UTFMax-1, len(p)); back++ {
		if at := len(p) - back; utf8.RuneStart(p[at]) {
			if !utf8.FullRune(p[at:]) {
				return at
			}
			break
		}
	}
	return len(p)
}

// text is what is on the screen now.
func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drawn.String()
}

// written is all that the program ever wrote.
func (s *screen) written() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.String()
}

// sees waits until all the texts are on the screen at once.
func (s *screen) sees(texts ...string) {
	s.t.Helper()
	s.waits(strings.Join(texts, " and "), func() bool {
		now := s.text()
		for _, text := range texts {
			if !strings.Contains(now, text) {
				return false
			}
		}
		return true
	})
}

func (s *screen) waits(what string, is func() bool) {
	s.t.Helper()
	over := time.NewTimer(patience)
	defer over.Stop()
	for !is() {
		select {
		case <-s.changed:
		case <-s.silent:
			if !is() {
				s.t.Fatalf("%q never came; the program ended with:\n%s", what, s.text())
			}
			return
		case <-over.C:
			s.t.Fatalf("%q never came; there is:\n%s", what, s.text())
		}
	}
}

// press sends keys by name, apart by spaces.
func (s *screen) press(keys string) {
	s.t.Helper()
	names := map[string]string{"enter": "\r", "esc": "\x1b", "tab": "\t", "space": " ", "down": "\x1b[B", "up": "\x1b[A", "ctrl+c": "\x03", "f1": "\x1bOP", "f5": "\x1b[15~"}
	for _, name := range strings.Fields(keys) {
		if bytes, ok := names[name]; ok {
			name = bytes
		}
		s.write(name)
	}
}

// write types a text.
func (s *screen) write(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.ours, text); err != nil {
		s.t.Fatal(err)
	}
}

// ends waits for the program, gives its exit code, and wants the terminal as it was.
func (s *screen) ends() int {
	s.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- s.cmd.Wait() }()
	select {
	case err := <-ended:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			s.t.Fatal(err)
		}
	case <-time.After(patience):
		s.t.Fatalf("the program does not end; there is:\n%s", s.text())
	}
	s.restored()
	return s.cmd.ProcessState.ExitCode()
}

// restored wants the line as it was set before, the usual screen, and the cursor.
func (s *screen) restored() {
	s.t.Helper()
	now, err := s.settings()
	if err != nil {
		s.t.Fatal(err)
	}
	if *now != *s.before {
		s.t.Errorf("the line was set to %+v and is left at %+v", *s.before, *now)
	}
	s.waits("the usual screen", func() bool {
		out := s.written()
		return strings.LastIndex(out, "\x1b[?1049l") >= strings.LastIndex(out, "\x1b[?1049h") && strings.LastIndex(out, "\x1b[?25h") >= strings.LastIndex(out, "\x1b[?25l")
	})
}
