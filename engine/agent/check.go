package agent

import (
	"os"
	"os/exec"
	"path/filepath"
)

// Check says whether the program can be found, without starting it: what is
// missing is known before anything is spent. The error is the one that starting
// it would give.
func (c CommandConfig) Check() error {
	prog, err := c.program()
	if err != nil {
		return err
	}
	if dir := prog.dir; dir != "" {
		if _, err := os.Stat(dir); err != nil {
			return startError(prog, err)
		}
	}
	name := prog.argv[0]
	if filepath.Base(name) == name { // looked up on the PATH
		if _, err := exec.LookPath(name); err != nil {
			return startError(prog, err)
		}
		return nil
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(prog.dir, name)
	}
	if _, err := exec.LookPath(name); err != nil {
		return startError(prog, err)
	}
	return nil
}
