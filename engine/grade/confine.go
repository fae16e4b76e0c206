package grade

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Guard is one thing that hostile code is kept from.
type Guard string

// The guards. Time and output are kept on every system; the rest only where the
// system can be made to keep them.
const (
	GuardTime      Guard = "time"      // seconds of processor and of wall clock
	GuardOutput    Guard = "output"    // bytes that are written to stdout and stderr
	GuardMemory    Guard = "memory"    // address space of each process
	GuardProcesses Guard = "processes" // processes and threads at once, and none that outlives the run
	GuardFiles     Guard = "files"     // what is read and written
	GuardNetwork   Guard = "network"   // no socket of any kind
)

// GuardState says whether this system keeps a guard, and how, or why not.
type GuardState struct {
	Guard    Guard  `json:"guard"`
	Enforced bool   `json:"enforced"`
	How      string `json:"how"`
}

// Guards says what is enforced on this machine.
//
// On Linux 6.2 or later, amd64 and arm64, all of it: limits that the kernel keeps
// from the program's first instruction (setrlimit), a user and process namespace of
// its own in which it alone is counted and which dies with it, a Landlock domain
// that can read the system's programs and write nothing, or the work folder alone,
// and a seccomp filter without sockets, shared memory, or changes of a file's owner,
// mode and times. Run by root, the code is nobody's. On macOS, Windows, other systems
// and older kernels, time and output alone.
func Guards() []GuardState {
	return append([]GuardState{
		{GuardTime, true, "killed with its children when its wall clock runs out"},
		{GuardOutput, true, "killed at the first byte over"},
	}, systemGuards()...)
}

// checkGuards refuses to run code on a system that lacks a guard, unless the recipe
// says that it may go without.
func checkGuards(without []Guard) error {
	for _, w := range without {
		if !slices.Contains([]Guard{GuardMemory, GuardProcesses, GuardFiles, GuardNetwork}, w) {
			return fmt.Errorf("without: %q is none of memory, processes, files, network", w)
		}
	}
	var lacking []string
	for _, g := range Guards() {
		if !g.Enforced && !slices.Contains(without, g.Guard) {
			lacking = append(lacking, fmt.Sprintf("%s (%s)", g.Guard, g.How))
		}
	}
	if len(lacking) > 0 {
		return fmt.Errorf("this system cannot keep hostile code from %s; run it where it can, or accept that with without: [...]", strings.Join(lacking, ", "))
	}
	return nil
}

// limits bound one run of a program.
type limits struct {
	cpu       time.Duration // of processor time of each process
	wall      time.Duration
	memory    int64 // bytes of address space of each process
	processes int   // and threads
	output    int64 // bytes of stdout and stderr together
	// scratch is how many bytes the work folder may grow to; 0 leaves nothing
	// writable at all.
	scratch int64
}

// maxScratchFiles bounds the files of a work folder: a million empty ones weigh
// nothing and take minutes to remove. Convention, untested.
const maxScratchFiles = 1000

// program is one run of code that is not trusted.
type program struct {
	argv  []string
	files map[string][]byte // by name in the work folder
	stdin []byte
	read  []string // folders and files that it may read besides the system's own
	limits
	without []Guard
}

// fate is how a program ended.
type fate int

const (
	exited       fate = iota // by itself, with a code
	killedBySig              // by a signal that it brought upon itself
	outOfTime                // its processor time or its wall clock ran out
	outOfOutput              // it wrote too much
	outOfScratch             // its work folder grew too large
)

// finished is what came of a program.
type finished struct {
	fate           fate
	code           int // of exited
	stdout, stderr []byte
}

// searched are the folders in which a program without a path is looked for; the
// environment's PATH is not asked, so that a recipe means the same everywhere.
var searched = []string{"/usr/local/bin", "/usr/bin", "/bin", "/opt/homebrew/bin"}

// lookUp finds a program's file.
func lookUp(name string) (string, error) {
	if filepath.IsAbs(name) {
		return exec.LookPath(name)
	}
	if name == "" || filepath.Base(name) != name {
		return "", fmt.Errorf("run: %q is neither a name nor an absolute path", name)
	}
	for _, dir := range searched {
		if file, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("run: there is no program %q in %s; write its absolute path", name, strings.Join(searched, ", "))
}

// run runs the program in a new work folder, which is gone when it returns, as are
// all processes of the program. An error is one of this machine, or of ctx, and says
// nothing of the code.
func (p *program) run(ctx context.Context) (finished, error) {
	file, err := lookUp(p.argv[0])
	if err != nil {
		return finished{}, err
	}
	dir, err := p.workFolder()
	if err != nil {
		return finished{}, err
	}
	r, err := p.runIn(ctx, dir, file)
	return r, errors.Join(err, removeAll(dir))
}

func (p *program) runIn(ctx context.Context, dir, file string) (finished, error) {
	within, cancel := context.WithTimeout(ctx, p.wall)
	defer cancel()
	out := &sink{left: p.output, over: cancel}
	cmd := exec.CommandContext(within, file, p.argv[1:]...)
	cmd.Args[0] = p.argv[0]
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + strings.Join(searched[:3], ":"), "HOME=" + dir, "TMPDIR=" + dir, "LANG=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED=0"}
	cmd.Env = append(cmd.Env, systemEnv()...)
	cmd.Stdin = bytes.NewReader(p.stdin)
	cmd.Stdout, cmd.Stderr = &stream{to: out}, &stream{to: out}
	// A grandchild that got away must not keep us from reading what there is.
	cmd.WaitDelay = time.Second
	watch := newWatch(dir, p.scratch, cancel)
	started, err := p.execute(cmd, file)
	grew := watch.stop()
	switch {
	case ctx.Err() != nil:
		return finished{}, ctx.Err()
	case err != nil && !started:
		return finished{}, err
	}
	r := finished{stdout: cmd.Stdout.(*stream).kept.Bytes(), stderr: cmd.Stderr.(*stream).kept.Bytes()}
	switch {
	case out.isOver():
		r.fate = outOfOutput
	case grew:
		r.fate = outOfScratch
	case within.Err() != nil || p.usedUp(cmd.ProcessState):
		r.fate = outOfTime
	case cmd.ProcessState.Exited():
		r.code = cmd.ProcessState.ExitCode()
	default:
		r.fate = killedBySig
	}
	return r, nil
}

// usedUp reports a process that was killed and had used its processor time up. The
// kernel kills by whole ticks and tells the time exactly, which on a busy machine is
// far less.
func (p *program) usedUp(s *os.ProcessState) bool {
	return !s.Exited() && s.UserTime()+s.SystemTime() >= p.cpu/2
}

// workFolder is a new folder that holds the program's files and that nobody else can
// look into.
func (p *program) workFolder() (string, error) {
	dir, err := os.MkdirTemp("", "assay-code-")
	if err != nil {
		return "", fmt.Errorf("a folder to run code in: %w", err)
	}
	err = handOver(dir)
	for name, content := range p.files {
		file := filepath.Join(dir, name)
		err = errors.Join(err, os.WriteFile(file, content, 0o600), handOver(file))
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("a folder to run code in: %w", err), removeAll(dir))
	}
	return dir, nil
}

// removeAll removes a work folder, also one in which the code took rights away.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// sink bounds what both streams of a program hold together.
type sink struct {
	mu   sync.Mutex
	left int64
	over func() // called once, at the first byte too many
	full bool
}

// take grants as much of n as is left.
func (s *sink) take(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	granted := int(min(int64(n), s.left))
	s.left -= int64(granted)
	if granted < n && !s.full {
		s.full = true
		s.over()
	}
	return granted
}

func (s *sink) isOver() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.full
}

// stream keeps what a program writes to one of its outputs. What is over is read and
// dropped until the program is dead.
type stream struct {
	to   *sink
	kept bytes.Buffer
}

func (s *stream) Write(b []byte) (int, error) {
	s.kept.Write(b[:s.to.take(len(b))])
	return len(b), nil
}

// watch ends a program whose work folder has grown too large.
type watch struct {
	quit chan struct{}
	grew chan bool
}

// watchEvery is how often a work folder is weighed: a disk that takes 1 GB/s takes
// 100 MB more than was allowed before it is seen. Convention, untested.
const watchEvery = 100 * time.Millisecond

// newWatch watches nothing where nothing can be written.
func newWatch(dir string, most int64, over func()) *watch {
	w := &watch{quit: make(chan struct{}), grew: make(chan bool, 1)}
	if most == 0 {
		w.grew <- false
		return w
	}
	go func() {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			if heavier(dir, most) {
				over()
				w.grew <- true
				return
			}
			select {
			case <-w.quit:
				w.grew <- heavier(dir, most)
				return
			case <-tick.C:
			}
		}
	}()
	return w
}

// stop ends the watch and reports whether the folder grew too large.
func (w *watch) stop() bool {
	close(w.quit)
	return <-w.grew
}

// heavier reports a folder that holds more than most bytes, or too many files.
func heavier(dir string, most int64) bool {
	files, total := 0, int64(0)
	errTooMuch := errors.New("too much")
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it is gone again
		}
		files++
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		if files > maxScratchFiles || total > most {
			return errTooMuch
		}
		return nil
	})
	return errors.Is(err, errTooMuch)
}

// turns lets as many programs run at once as there are processors, so that a wall
// clock measures the code and not the queue.
type turns chan struct{}

func newTurns() turns { return make(turns, runtime.NumCPU()) }

func (t turns) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t turns) giveBack() { <-t }
