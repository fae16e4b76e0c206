package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain puts the real program on the tests' PATH as assay.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"assay": main, "slow-agent": slowAgent, "broken-agent": brokenAgent, "calling-agent": callingAgent, "leaking-agent": leakingAgent, "first-judge": firstJudge})
}

// place is a folder of its own with a database in it, for one test.
type place struct {
	t   *testing.T
	dir string
	env []string // beside the tests' own
}

func newPlace(t *testing.T) *place {
	t.Helper()
	return &place{t: t, dir: t.TempDir()}
}

func (p *place) file(name string) string { return filepath.Join(p.dir, name) }

func (p *place) write(name, text string) string {
	p.t.Helper()
	file := p.file(name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
	return file
}

func (p *place) command(args ...string) *exec.Cmd {
	c := exec.Command("assay", args...)
	c.Dir = p.dir
	c.Env = append(append(os.Environ(), "ASSAY_DB="+p.file("assay.db")), p.env...)
	return c
}

// run runs assay and gives its output and exit code.
func (p *place) run(args ...string) (stdout, stderr string, code int) {
	p.t.Helper()
	var out, errs bytes.Buffer
	c := p.command(args...)
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatalf("assay %v: %v", args, err)
	}
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

// must runs assay and wants exit code 0.
func (p *place) must(args ...string) string {
	p.t.Helper()
	out, errs, code := p.run(args...)
	if code != 0 {
		p.t.Fatalf("assay %v: exit %d\n%s%s", args, code, out, errs)
	}
	return out
}
