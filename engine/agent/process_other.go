//go:build !unix && !windows

package agent

import (
	"os"
	"syscall"
)

// alwaysAllowed is what every program may see of the environment.
var alwaysAllowed = []string{"PATH", "HOME", "LANG"}

func sameVariable(a, b string) bool { return a == b }

func groupAttributes() *syscall.SysProcAttr { return nil }

// processGroup is the process alone: this system knows no groups.
type processGroup struct{ process *os.Process }

func newProcessGroup(p *os.Process) processGroup { return processGroup{process: p} }

func (g processGroup) kill() { _ = g.process.Kill() }

func (processGroup) release() {}

// wantOfResources is not told from other errors here.
func wantOfResources(error) bool { return false }
