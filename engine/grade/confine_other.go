//go:build !unix && !windows

package grade

import (
	"os/exec"
	"runtime"
)

func systemGuards() []GuardState {
	how := "Assay does not enforce it on " + runtime.GOOS
	return []GuardState{{GuardMemory, false, how}, {GuardProcesses, false, how}, {GuardFiles, false, how}, {GuardNetwork, false, how}}
}

func handOver(string) error { return nil }

func systemEnv() []string { return nil }

// execute runs cmd; what it starts in turn is not found again.
func (p *program) execute(cmd *exec.Cmd, _ string) (started bool, err error) {
	if err := cmd.Start(); err != nil {
		return false, err
	}
	return true, cmd.Wait()
}
