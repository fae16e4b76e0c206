//go:build unix && !(linux && (amd64 || arm64))

package grade

import (
	"os/exec"
	"runtime"
	"syscall"
)

// systemGuards are none: this system has no way to set limits on another process from
// its first instruction on.
func systemGuards() []GuardState {
	how := "Assay does not enforce it on " + runtime.GOOS + "/" + runtime.GOARCH
	return []GuardState{{GuardMemory, false, how}, {GuardProcesses, false, how}, {GuardFiles, false, how}, {GuardNetwork, false, how}}
}

func handOver(string) error { return nil }

func systemEnv() []string { return nil }

// execute runs cmd in a process group of its own and kills the group in the end; a
// child that leaves the group gets away.
func (p *program) execute(cmd *exec.Cmd, _ string) (started bool, err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Start(); err != nil {
		return false, err
	}
	err = cmd.Wait() // at the latest WaitDelay after the program's own end
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	return true, err
}
