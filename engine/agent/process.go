package agent

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/engine/record"
)

// program is what to start: a command line, where, and with which environment.
type program struct {
	argv []string
	dir  string
	env  []string
	// mask takes the values of keys out of what is said of it; nil takes none.
	mask *record.Masker
}

// drainGrace is how long the output of a process that is gone may stay open.
// Only a child that has left the process group can hold it.
const drainGrace = time.Second

// process is one running program. One goroutine at a time converses with it.
type process struct {
	cmd    *exec.Cmd
	group  processGroup
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	log    tail
	frames *frameReader

	lines chan frame    // what it wrote, in order; closed at the end of its output
	out   chan []byte   // lines for it; nobody closes it
	quit  chan struct{} // closed when nobody converses any more
	// reaped is closed when the process is over, ended when its output is, too.
	reaped, ended chan struct{}
	hush          sync.Once // closes quit
	eof           sync.Once // closes stdin

	startedAt time.Time
	// served counts the exchanges that it has ended well.
	served int
	// The pool's, under its lock: whether it waits for work, has ever spoken, is over,
	// and has left nothing behind.
	idle, spoke, dropped, left bool
}

// start starts a program. onReaped is called when it is over, and onEnd after
// ended is closed; both once.
func start(prog program, now time.Time, onReaped, onEnd func(*process)) (*process, error) {
	cmd := exec.Command(prog.argv[0], prog.argv[1:]...)
	cmd.Dir, cmd.Env = prog.dir, prog.env
	p := &process{
		cmd: cmd, startedAt: now, log: tail{limit: keptLog},
		lines: make(chan frame), out: make(chan []byte),
		quit: make(chan struct{}), reaped: make(chan struct{}), ended: make(chan struct{}),
	}
	theirs, err := p.pipes()
	defer closeAll(theirs)
	if err != nil {
		return nil, startError(prog, err)
	}
	cmd.SysProcAttr = groupAttributes()
	if err := cmd.Start(); err != nil {
		closeAll([]*os.File{p.stdin, p.stdout, p.stderr})
		return nil, startError(prog, err)
	}
	p.group = newProcessGroup(cmd.Process)
	p.frames = newFrameReader(p.stdout, maxLine)
	var reading sync.WaitGroup
	reading.Go(p.read)
	reading.Go(func() { _, _ = io.Copy(&p.log, p.stderr) }) // ends with the pipe; what came is kept
	writing := make(chan struct{})
	go func() {
		defer close(writing)
		p.write()
	}()
	go func() {
		p.wait(&reading, onReaped)
		<-writing
		close(p.ended)
		onEnd(p)
	}()
	return p, nil
}

// pipes connects the three streams; theirs are the child's ends.
func (p *process) pipes() (theirs []*os.File, err error) {
	for _, end := range []struct {
		ours   **os.File
		attach func(*os.File)
		write  bool // we write
	}{
		{&p.stdin, func(f *os.File) { p.cmd.Stdin = f }, true},
		{&p.stdout, func(f *os.File) { p.cmd.Stdout = f }, false},
		{&p.stderr, func(f *os.File) { p.cmd.Stderr = f }, false},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll([]*os.File{p.stdin, p.stdout, p.stderr})
			return theirs, err
		}
		if end.write {
			r, w = w, r
		}
		*end.ours = r
		end.attach(w)
		theirs = append(theirs, w)
	}
	return theirs, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// read passes lines on until the output ends. When nobody listens it goes on
// reading, so that a process with its last seconds is not stuck in a write.
func (p *process) read() {
	defer close(p.lines)
	for {
		f, err := p.frames.next()
		if err != nil {
			return
		}
		select {
		case p.lines <- f:
		case <-p.quit:
		}
		if f.long {
			_, _ = io.Copy(io.Discard, p.stdout)
			return
		}
	}
}

// write writes lines until nobody has more to say, and closes stdin. A failed
// write says nothing: the process is ending, and its end is what is reported.
func (p *process) write() {
	defer p.closeStdin()
	for {
		select {
		case line := <-p.out:
			if _, err := p.stdin.Write(line); err != nil {
				return
			}
		case <-p.quit:
			return
		}
	}
}

// wait reaps the process, ends what it left behind, and waits for its output.
func (p *process) wait(reading *sync.WaitGroup, onReaped func(*process)) {
	_ = p.cmd.Wait() // how it went is in ProcessState
	p.killGroup()
	close(p.reaped)
	p.closeStdin()
	onReaped(p)
	escaped := time.AfterFunc(drainGrace, func() { closeAll([]*os.File{p.stdout, p.stderr}) })
	reading.Wait()
	escaped.Stop()
	closeAll([]*os.File{p.stdout, p.stderr})
	p.silence()
	p.group.release()
}

// closeStdin asks the process to end.
func (p *process) closeStdin() { p.eof.Do(func() { _ = p.stdin.Close() }) }

// silence says that nobody converses with the process any more.
func (p *process) silence() { p.hush.Do(func() { close(p.quit) }) }

// end lets the process go: it is told farewell, if there is one, and what is left
// of it after grace is killed with its children. With hangUp its stdin is closed
// at once, which asks it to end. It returns when the process is gone.
func (p *process) end(farewell []byte, grace time.Duration, hangUp bool) {
	deadline := time.NewTimer(grace)
	defer deadline.Stop()
	lines, out := p.lines, p.out
	if farewell == nil {
		out = nil
	}
	for {
		if hangUp && out == nil {
			p.silence()
		}
		select {
		case out <- farewell:
			out = nil
		case _, open := <-lines: // nobody cares any more, but a full pipe would hold it up
			if !open {
				lines = nil
			}
		case <-p.ended:
			return
		case <-deadline.C:
			p.killGroup()
			p.silence()
			<-p.ended
			return
		}
	}
}

// killGroup kills the process with its children. Once it is reaped its number may
// be another's, and nothing of the group is left.
func (p *process) killGroup() {
	if !p.over(p.reaped) {
		p.group.kill()
	}
}

// over reports whether a channel that marks an end is closed.
func (*process) over(end chan struct{}) bool {
	select {
	case <-end:
		return true
	default:
		return false
	}
}

// status is how the process ended, in words: "exit status 3", "signal: killed".
func (p *process) status() string {
	if p.cmd.ProcessState == nil {
		return "an unknown status"
	}
	return p.cmd.ProcessState.String()
}

// startError says why a program could not be started and what to do.
func startError(prog program, err error) error {
	name := prog.argv[0]
	fix := "check the command in the recipe"
	if _, dirErr := os.Stat(prog.dir); prog.dir != "" && dirErr != nil {
		return startProblem(fmt.Sprintf("the folder %s of the command %q cannot be read", prog.dir, name), "check where the recipe lies", dirErr)
	}
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return startProblem(fmt.Sprintf("the program %q is not on the PATH", name), "install it, or name it by its path in the recipe", err)
	case errors.Is(err, exec.ErrDot):
		return startProblem(fmt.Sprintf("the program %q lies in the working directory", name), fmt.Sprintf("write ./%s", name), err)
	case errors.Is(err, fs.ErrNotExist):
		return startProblem(fmt.Sprintf("there is no program %q in %s", name, prog.dir), fix, err)
	case errors.Is(err, fs.ErrPermission):
		return startProblem(fmt.Sprintf("the program %q may not be executed", name), "make it executable, or name its interpreter first", err)
	}
	if wantOfResources(err) {
		return &record.AgentError{Cause: record.CauseInfrastructure, Unasked: true, Err: fmt.Errorf("no process can be started for want of resources: %w", err)}
	}
	return startProblem(fmt.Sprintf("the program %q cannot be started: %v", name, err), fix, err)
}

func startProblem(what, fix string, err error) error {
	return &record.AgentError{Cause: record.CauseAgent, Err: &record.Problem{Code: "agent_not_started", Message: what, Fix: fix, Err: err}}
}

// Environment is what a child may see: PATH, HOME, LANG and what stands for them
// on this system, and the named variables, each where environ has it. environ
// has the form of [os.Environ].
func Environment(environ, names []string) []string {
	allowed := slices.Concat(alwaysAllowed, names)
	var out []string
	for _, entry := range environ {
		name, _, ok := strings.Cut(entry, "=")
		if ok && slices.ContainsFunc(allowed, func(a string) bool { return sameVariable(a, name) }) {
			out = append(out, entry)
		}
	}
	return out
}
