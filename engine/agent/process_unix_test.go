//go:build unix

package agent

import "syscall"

// running reports whether a process of this number is there, a zombie apart.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	return !zombie(pid)
}
