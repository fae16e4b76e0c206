//go:build unix

package agent

import (
	"errors"
	"os"
	"syscall"
)

// alwaysAllowed is what every program may see of the environment.
var alwaysAllowed = []string{"PATH", "HOME", "LANG"}

func sameVariable(a, b string) bool { return a == b }

// wantOfResources is true of an error that may be gone in a moment: no memory, process or
// file to be had. It is not the program's.
func wantOfResources(err error) bool {
	for _, errno := range []syscall.Errno{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// groupAttributes puts a child at the head of a process group of its own: its
// children can be killed with it, and a Ctrl-C at the terminal is for us alone.
func groupAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// processGroup is a process and all its children that have not left its group.
type processGroup struct{ id int }

func newProcessGroup(p *os.Process) processGroup { return processGroup{id: p.Pid} }

// kill ends every process of the group. It works as long as one of them lives,
// the head among them or not; an empty group is no error.
func (g processGroup) kill() { _ = syscall.Kill(-g.id, syscall.SIGKILL) }

func (processGroup) release() {}
