//go:build linux && (amd64 || arm64)

package grade

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// How code is confined, without a helper program and without a moment in which it
// runs free:
//
//	a goroutine locks its thread ── the thread gives up root, takes on
//	    no_new_privs, a Landlock domain and a seccomp filter
//	the thread starts the program ── all of that is inherited; namespaces are its own;
//	    it stops at its first instruction, because it is traced
//	limits are set on it from outside, its ids are mapped, and it is let go
//	the thread waits for it and ends with its goroutine: it is never used again
//
// The kernel kills the program if the thread dies, and everything in its process
// namespace if the program dies.

// nobody is who code is run as where Assay itself is run by root. Linux shows ids that
// it cannot map by this number.
const nobody = 65534

func isRoot() bool { return os.Geteuid() == 0 }

// handOver gives a file of the work folder to whom the code is run as.
func handOver(file string) error {
	if !isRoot() {
		return nil
	}
	return os.Chown(file, nobody, nobody)
}

func systemEnv() []string { return nil }

// systemGuards says what this kernel keeps: Landlock by its version, namespaces by
// trying one.
func systemGuards() []GuardState {
	files := GuardState{GuardFiles, true, "Landlock: it reads the system's programs and the work folder, and writes nothing, or the work folder where scratch_mib allows it"}
	if abi := landlockVersion(); abi < leastLandlock {
		files.Enforced, files.How = false, fmt.Sprintf("Landlock is of version %d here, and %d is needed (Linux 6.2)", abi, leastLandlock)
	}
	processes := GuardState{GuardProcesses, true, "a user and process namespace of its own, and RLIMIT_NPROC in it"}
	if err := tryNamespaces(); err != nil {
		processes.Enforced, processes.How = false, fmt.Sprintf("this system lets us make no user namespace: %v", err)
	}
	return []GuardState{
		{GuardMemory, true, "RLIMIT_AS of each process; no shared or anonymous file memory beside it"},
		processes,
		files,
		{GuardNetwork, true, "seccomp: there is no socket and no io_uring"},
	}
}

// namespaces are the code's own: users, so that it is counted alone; processes, so
// that it reaches no others and all of it ends with the first; network and messages.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC

// tryNamespaces runs a program that does nothing as code is run.
func tryNamespaces() error {
	file, err := lookUp("true")
	if err != nil {
		return err
	}
	// The limits only have to be wide enough for a program that does nothing.
	p := program{argv: []string{file}, limits: limits{cpu: time.Second, wall: 10 * time.Second, memory: 1 << 30, processes: 2}, without: []Guard{GuardFiles}}
	cmd := exec.CommandContext(context.Background(), file)
	cmd.Dir = "/"
	if err := p.executeOnThread(cmd, file, true); err != nil {
		var ended *exec.ExitError
		if errors.As(err, &ended) {
			return fmt.Errorf("%s ends with %w", file, err)
		}
		return err
	}
	return nil
}

// execute runs cmd confined and waits for it. started is false where an error means
// that the code itself never ran.
func (p *program) execute(cmd *exec.Cmd, file string) (started bool, err error) {
	apart := true
	if slices.Contains(p.without, GuardProcesses) && tryNamespaces() != nil {
		apart = false
	}
	err = p.executeOnThread(cmd, file, apart)
	return cmd.ProcessState != nil, err
}

// executeOnThread gives up a thread to it.
func (p *program) executeOnThread(cmd *exec.Cmd, file string, apart bool) error {
	done := make(chan error, 1)
	go giveUpThread(done, func() error { return p.executeHere(cmd, file, apart) })
	return <-done
}

// giveUpThread does f on a thread that ends with it. The first thread of a process never
// ends, and stands for the process in /proc: it is held until another one was taken.
func giveUpThread(done chan<- error, f func() error) {
	defer func() {
		if r := recover(); r != nil {
			done <- fmt.Errorf("running code failed: %v", r)
		}
	}()
	runtime.LockOSThread() // and never unlocked
	if unix.Gettid() != os.Getpid() {
		done <- f()
		return
	}
	other := make(chan error, 1)
	go giveUpThread(other, f)
	done <- <-other
	runtime.UnlockOSThread() // but for the first
}

func (p *program) executeHere(cmd *exec.Cmd, file string, apart bool) error {
	uid, gid := os.Getuid(), os.Getgid()
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if apart {
		cmd.SysProcAttr.Cloneflags = namespaces
	}
	if isRoot() {
		uid, gid = nobody, nobody
		if err := becomeNobody(); err != nil {
			return err
		}
	}
	if err := p.confineThread(cmd.Dir, file, apart); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", file, err)
	}
	if err := p.bind(cmd.Process.Pid, uid, gid, apart); err != nil {
		killGroup(cmd.Process.Pid)
		_ = cmd.Wait()
		cmd.ProcessState = nil
		return fmt.Errorf("limits of %s: %w", file, err)
	}
	if !apart {
		killGroupAfter(cmd.Process.Pid)
	}
	return cmd.Wait()
}

// killGroupAfter waits until the head of a process group has ended, without reaping it,
// and kills what it leaves behind: the group is still its own.
func killGroupAfter(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	killGroup(pid)
}

// killGroup leaves the killing to another thread: this one may send no signal.
func killGroup(pid int) {
	killed := make(chan struct{})
	go func() {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		close(killed)
	}()
	<-killed
}

// becomeNobody gives up root on this thread alone: the calls of package syscall would
// do it to all of them.
func becomeNobody() error {
	for _, call := range [][4]uintptr{{unix.SYS_SETGROUPS, 0, 0, 0}, {unix.SYS_SETRESGID, nobody, nobody, nobody}, {unix.SYS_SETRESUID, nobody, nobody, nobody}} {
		if _, _, errno := unix.RawSyscall(call[0], call[1], call[2], call[3]); errno != 0 {
			return fmt.Errorf("root cannot become nobody here: %w", errno)
		}
	}
	return nil
}

// confineThread puts on this thread what its children inherit and cannot take off.
func (p *program) confineThread(dir, file string, apart bool) error {
	rules := -1
	if !slices.Contains(p.without, GuardFiles) || landlockVersion() >= leastLandlock {
		var err error
		if rules, err = p.landlockRules(dir, file); err != nil {
			return err
		}
		defer func() { _ = unix.Close(rules) }()
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	if rules >= 0 {
		if _, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules), 0, 0); errno != 0 {
			return fmt.Errorf("landlock_restrict_self: %w", errno)
		}
	}
	return filterCalls(apart)
}

// bind sets the limits on a program that stands at its first instruction, and lets it
// go.
func (p *program) bind(pid, uid, gid int, apart bool) error {
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, 0, nil); err != nil {
		return fmt.Errorf("it does not stop: %w", err)
	}
	if !status.Stopped() {
		return errors.New("it ended before it began")
	}
	if apart {
		mapped := make(chan error, 1)
		go func() { mapped <- mapIDs(pid, uid, gid) }() // this thread may write to nothing
		if err := <-mapped; err != nil {
			return err
		}
	}
	for _, l := range p.rlimits(apart) {
		if err := unix.Prlimit(pid, l.which, &unix.Rlimit{Cur: l.value, Max: l.value}, nil); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return unix.PtraceDetach(pid)
}

// mapIDs lets the code be itself in its user namespace: the same id as outside, and
// no other.
func mapIDs(pid, uid, gid int) error {
	dir := "/proc/" + strconv.Itoa(pid)
	one := func(id int) []byte { return fmt.Appendf(nil, "%d %d 1\n", id, id) }
	return errors.Join(
		os.WriteFile(dir+"/setgroups", []byte("deny"), 0),
		os.WriteFile(dir+"/uid_map", one(uid), 0),
		os.WriteFile(dir+"/gid_map", one(gid), 0))
}

type rlimit struct {
	name  string
	which int
	value uint64
}

// openFiles are enough for any interpreter and its libraries. Convention, untested.
const openFiles = 64

func (p *program) rlimits(apart bool) []rlimit {
	list := []rlimit{
		{"RLIMIT_CPU", unix.RLIMIT_CPU, uint64((p.cpu + time.Second - 1) / time.Second)},
		{"RLIMIT_AS", unix.RLIMIT_AS, uint64(p.memory)},
		{"RLIMIT_FSIZE", unix.RLIMIT_FSIZE, uint64(p.scratch)},
		{"RLIMIT_NOFILE", unix.RLIMIT_NOFILE, openFiles},
		{"RLIMIT_CORE", unix.RLIMIT_CORE, 0},
		{"RLIMIT_MEMLOCK", unix.RLIMIT_MEMLOCK, 0},
		{"RLIMIT_MSGQUEUE", unix.RLIMIT_MSGQUEUE, 0},
	}
	if apart {
		list = append(list, rlimit{"RLIMIT_NPROC", unix.RLIMIT_NPROC, uint64(p.processes)})
	}
	return list
}

// leastLandlock is the first version that also keeps files from being truncated.
const leastLandlock = 3

// landlockVersion is 0 where the kernel has none.
func landlockVersion() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// What a domain may be granted.
const (
	landlockRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	landlockWrite = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	landlockMake   = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
	landlockOfFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

// systemFolders hold what programs are made of; no home, no /proc, no /tmp, no /var.
var systemFolders = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/etc", "/nix/store"}

// landlockRules are a ruleset that grants reading of the system's folders, the work
// folder and what the recipe names, and writing of the work folder where there is
// scratch.
func (p *program) landlockRules(dir, file string) (int, error) {
	handled := unix.LandlockRulesetAttr{Handled_access_fs: landlockRead | landlockWrite | landlockMake}
	if landlockVersion() >= 5 {
		handled.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&handled)), unsafe.Sizeof(handled.Handled_access_fs), 0)
	if errno != 0 {
		return -1, fmt.Errorf("landlock_create_ruleset: %w", errno)
	}
	grants := map[string]uint64{file: landlockRead, "/dev/null": landlockOfFile, "/dev/zero": landlockRead, "/dev/urandom": landlockRead, "/dev/random": landlockRead}
	for _, path := range slices.Concat(systemFolders, p.read) {
		grants[path] = landlockRead
	}
	grants[dir] = landlockRead
	if p.scratch > 0 {
		grants[dir] |= landlockWrite
	}
	for path, access := range grants {
		if err := grant(int(fd), path, access); err != nil && !errors.Is(err, unix.ENOENT) {
			_ = unix.Close(int(fd))
			return -1, err
		}
	}
	return int(fd), nil
}

func grant(rules int, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("landlock: open %s: %w", path, err)
	}
	defer func() { _ = unix.Close(fd) }()
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return fmt.Errorf("landlock: stat %s: %w", path, err)
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= landlockOfFile
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("landlock: grant %s: %w", path, errno)
	}
	return nil
}
