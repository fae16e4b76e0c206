//go:build linux && (amd64 || arm64)

package grade

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A recipe that goes without the guard on processes still gets the others, and no
// signal gets out.
func TestWithoutAProcessNamespace(t *testing.T) {
	dir := guarded(t)
	p := program{argv: []string{"sh", "-c", "kill -0 " + strconv.Itoa(os.Getppid()) + " && echo SIGNALLED; kill -9 -1; echo x > x && echo WRITTEN; sleep 1000 & echo END"},
		limits: limits{cpu: time.Second, wall: 10 * time.Second, memory: 1 << 28, processes: 8, output: 1 << 16}, without: []Guard{GuardProcesses}}
	work, err := p.workFolder()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := removeAll(work); err != nil {
			t.Error(err)
		}
	}()
	file, err := lookUp("sh")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), p.wall)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, file, p.argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.WaitDelay = work, &out, time.Minute
	if err := p.executeOnThread(cmd, file, false); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(out.String()); got != "END" {
		t.Errorf("it wrote %q", got)
	}
	if who := processesIn(dir); len(who) > 0 {
		t.Errorf("still running: %v", who)
	}
}

// The filter, read by a machine of this test's own: every number gets the answer that
// the lists say, and no other architecture gets through.
func TestCallFilter(t *testing.T) {
	filter := callFilter([]uint32{unix.SYS_SOCKET, unix.SYS_BPF})
	for _, tt := range []struct {
		name       string
		arch, call uint32
		want       uint32
	}{
		{"allowed", architecture, unix.SYS_READ, unix.SECCOMP_RET_ALLOW},
		{"denied", architecture, unix.SYS_SOCKET, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{"the last denied", architecture, unix.SYS_BPF, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{"clone3", architecture, unix.SYS_CLONE3, unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{"clone", architecture, unix.SYS_CLONE, unix.SECCOMP_RET_ALLOW},
		{"32 bits", unix.AUDIT_ARCH_I386, unix.SYS_READ, unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{"x32", architecture, foreignCalls | unix.SYS_SOCKET, unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
	} {
		if got := answerOf(t, filter, tt.arch, tt.call); got != tt.want {
			t.Errorf("%s: %#x, want %#x", tt.name, got, tt.want)
		}
	}
}

// answerOf runs the few instructions that a filter is made of.
func answerOf(t *testing.T, filter []unix.SockFilter, arch, call uint32) uint32 {
	t.Helper()
	accumulator := uint32(0)
	for at := 0; at < len(filter); at++ {
		in := filter[at]
		holds := false
		switch in.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			accumulator = map[uint32]uint32{offsetOfCall: call, offsetOfArchitecture: arch}[in.K]
			continue
		case unix.BPF_RET | unix.BPF_K:
			return in.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			holds = accumulator == in.K
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			holds = accumulator >= in.K
		default:
			t.Fatalf("instruction %d has the code %#x", at, in.Code)
		}
		if holds {
			at += int(in.Jt)
		} else {
			at += int(in.Jf)
		}
	}
	t.Fatal("the filter ends without an answer")
	return 0
}
