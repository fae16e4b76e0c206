package agent

import (
	"fmt"
	"os"
	"strings"
)

// zombie reports whether a process is dead and only waits to be reaped, here by
// whoever inherits orphans on this machine.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true // gone since
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}
