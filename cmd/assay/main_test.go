package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// concurrent are the tests of a short run, which is the one with the race detector:
// those in which rollouts, processes and screens meet, in a program that is ten times
// slower there. The others hold what commands print and refuse, and the plain run holds
// them.
const concurrent = "^Test(BrokenAgentsAreNamed|RowsBeforeABreakAreKept|TheThreeJobsAtTheKeyboard|BudgetsStopARunCleanly|AWriterThatStallsCanBeStopped|" +
	"ImportRules|KilledLabelling|AnAgentOverMCPLeavesItsCallsAsSteps|WorldOverHTTP|ModelsKeysAreNowhere|AThousandRolloutsThroughFailures|" +
	"ConcurrencyChangesNothing|KilledRunsResume|InterruptedRunSavesWhatWasDone|FirstRecipeRunsAllEightSteps|HideAndPurge|Watch|PartialRegradeNeverMixes|TrustAlongAQueue)$"

// TestMain puts the real program on the tests' PATH as assay.
func TestMain(m *testing.M) {
	programs := map[string]func(){"assay": main, "slow-agent": slowAgent, "broken-agent": brokenAgent, "calling-agent": callingAgent, "leaking-agent": leakingAgent, "first-judge": firstJudge, "empty-app": emptyApp}
	if _, program := programs[strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")]; !program {
		flag.Parse()
		if run := flag.Lookup("test.run"); testing.Short() && run.Value.String() == "" {
			_ = run.Value.Set(concurrent)
		}
	}
	testscript.Main(m, programs)
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
