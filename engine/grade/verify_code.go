package grade

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"assay/engine/record"
)

// codeSpec is what a recipe says of kind code:
//
//	verify: {kind: code, run: [python3, tests.py], file: solution.py, tests: tests.py, reference: tests}
//
// The reply's code is written to a file and run in a folder of its own, confined (see
// [Guards]). The hidden tests are the task's reference, which is privileged: an agent
// never sees them, a reason never quotes them.
//
// A reference that is a list, [{stdin, stdout}, ...], is of cases: the program is run
// once for each and its output compared, spaces at the ends of lines aside. The expected
// outputs stay outside, so code that looks for them finds nothing.
//
// A reference that is a text is a test program, written to the file that tests names,
// or given on stdin where that is "-". It passes when it ends with status 0 and its last
// line is the word that Assay puts in the place of {{passed}} in it, so that code which
// merely ends the process does not pass. Tests that load the code into their own process
// can be read by code that sets out to read them; cases cannot.
type codeSpec struct {
	// Run is the program and its arguments; there is no shell. A name is looked for in
	// the system's own folders, not in PATH.
	Run []string `json:"run,omitempty"`
	// File is where the reply's code goes.
	File string `json:"file,omitempty"`
	// Tests is where a test program goes; "-" is stdin.
	Tests string `json:"tests,omitempty"`
	// Block is which code fence of a reply is its code: only, first or last. A reply
	// without a fence is code as a whole.
	Block string `json:"block,omitempty"`
	// Partial makes the reward the share of cases that pass.
	Partial bool `json:"partial,omitempty"`
	// Read names folders and files that the code may read besides the system's own, such
	// as an interpreter's.
	Read []string `json:"read,omitempty"`
	// Seconds of processor time, of one run; the wall clock is given four times as long.
	Seconds    float64 `json:"seconds,omitempty"`
	MemoryMiB  int     `json:"memory_mib,omitempty"` // of each process
	Processes  int     `json:"processes,omitempty"`  // and threads
	OutputKiB  int     `json:"output_kib,omitempty"`
	ScratchMiB int     `json:"scratch_mib,omitempty"` // 0: nothing can be written
	// Without lists guards that may be missing where this system has none.
	Without []Guard `json:"without,omitempty"`
}

// What code is given where the recipe says nothing: enough for the usual exercise, and
// so little that a few at once leave the machine alone. Convention, untested.
const (
	defaultSeconds   = 10.0
	defaultMemoryMiB = 512
	defaultProcesses = 8
	defaultOutputKiB = 256
	// wallPerSecond is how much longer the wall clock may run than the processor: code
	// that waits must end, and code beside which others run must not be cut short.
	wallPerSecond = 4
	maxCases      = 200
	// maxCode bounds what is written to a file, in bytes.
	maxCode = 1 << 20
)

// passedMark is the place in a test program for the word that says it got there.
const passedMark = "{{passed}}"

func (s *codeSpec) given() bool {
	return len(s.Run) > 0 || s.File != "" || s.Tests != "" || s.Block != "" || s.Partial || len(s.Read) > 0 || s.Seconds != 0 ||
		s.MemoryMiB != 0 || s.Processes != 0 || s.OutputKiB != 0 || s.ScratchMiB != 0 || len(s.Without) > 0
}

// codeCheck runs the code of replies.
type codeCheck struct {
	spec    codeSpec
	program program // what all runs share
	turns   turns
}

func buildCode(spec *verifySpec) (examiner, error) {
	c := &codeCheck{spec: spec.codeSpec, turns: newTurns()}
	if err := c.spec.complete(); err != nil {
		return nil, err
	}
	if err := checkGuards(c.spec.Without); err != nil {
		return nil, err
	}
	if _, err := lookUp(c.spec.Run[0]); err != nil {
		return nil, err
	}
	cpu := time.Duration(c.spec.Seconds * float64(time.Second))
	c.program = program{argv: c.spec.Run, read: c.spec.Read, without: c.spec.Without, limits: limits{
		cpu: cpu, wall: wallPerSecond * cpu, memory: int64(c.spec.MemoryMiB) << 20, processes: c.spec.Processes,
		output: int64(c.spec.OutputKiB) << 10, scratch: int64(c.spec.ScratchMiB) << 20,
	}}
	return c.check, nil
}

// complete fills in what was left out and refuses what cannot be.
func (s *codeSpec) complete() error {
	if s.Block == "" {
		s.Block = "only"
	}
	for _, d := range []struct {
		name           string
		value          *int
		usual, highest int
	}{
		{"memory_mib", &s.MemoryMiB, defaultMemoryMiB, 1 << 20}, {"processes", &s.Processes, defaultProcesses, 1 << 15},
		{"output_kib", &s.OutputKiB, defaultOutputKiB, 1 << 14}, {"scratch_mib", &s.ScratchMiB, 0, 1 << 20},
	} {
		if *d.value < 0 || *d.value > d.highest {
			return fmt.Errorf("%s: %d lies outside 1..%d", d.name, *d.value, d.highest)
		}
		if *d.value == 0 {
			*d.value = d.usual
		}
	}
	if s.Seconds == 0 {
		s.Seconds = defaultSeconds
	}
	switch {
	case len(s.Run) == 0 || s.Run[0] == "":
		return errors.New("run is missing; name the program and its arguments, such as [python3, tests.py]")
	case !plainName(s.File):
		return fmt.Errorf("file: %q is not a plain file name; it is where the reply's code goes, such as solution.py", s.File)
	case s.Tests != "" && s.Tests != "-" && (!plainName(s.Tests) || s.Tests == s.File):
		return fmt.Errorf("tests: %q is neither a plain file name of its own nor -", s.Tests)
	case s.Block != "only" && s.Block != "first" && s.Block != "last":
		return fmt.Errorf("block: %q is none of only, first, last", s.Block)
	case !(s.Seconds >= 0.1 && s.Seconds <= 3600) || math.IsNaN(s.Seconds):
		return fmt.Errorf("seconds: %v lies outside 0.1..3600", s.Seconds)
	}
	for _, path := range s.Read {
		if !filepath.IsAbs(path) {
			return fmt.Errorf("read: %q is not an absolute path", path)
		}
	}
	return nil
}

func plainName(s string) bool {
	return s != "" && s != "." && s != ".." && len(s) <= 255 && !strings.HasPrefix(s, "-") && !strings.ContainsAny(s, "/\\:\x00")
}

func (c *codeCheck) check(ctx context.Context, reply string, gold reference) checked {
	code, why := codeIn(reply, c.spec.Block)
	if why != "" {
		return missed(why)
	}
	if len(code) > maxCode {
		return missed(fmt.Sprintf("the code is over %d bytes", maxCode))
	}
	if len(gold.raw) > 0 && gold.raw[0] == '[' {
		return c.cases(ctx, code, gold.raw)
	}
	tests, ok := gold.text()
	if !ok {
		return badReference("the reference is neither a test program nor a list of cases")
	}
	return c.testProgram(ctx, code, tests)
}

// codeIn is the code of a reply.
func codeIn(reply, block string) (code, why string) {
	blocks := fencesIn(reply)
	switch {
	case len(blocks) == 0 && strings.TrimSpace(reply) == "":
		return "", "the reply holds no code"
	case len(blocks) == 0:
		return reply, ""
	case len(blocks) > 1 && block == "only":
		return "", fmt.Sprintf("the reply holds %d blocks of code, and one is asked for", len(blocks))
	case block == "last":
		return blocks[len(blocks)-1], ""
	}
	return blocks[0], ""
}

// fencesIn are the contents of the code fences of a reply, in order. A fence that is
// never closed runs to the end.
func fencesIn(reply string) []string {
	var out []string
	var b strings.Builder
	inside := false
	for line := range strings.Lines(reply) {
		fence := strings.HasPrefix(strings.TrimLeft(line, " "), "```")
		switch {
		case fence && inside:
			out = append(out, b.String())
			inside = false
		case fence:
			b.Reset()
			inside = true
		case inside:
			b.WriteString(line)
		}
	}
	if inside {
		out = append(out, b.String())
	}
	return out
}

// codeCase is one hidden case.
type codeCase struct {
	Stdin  record.Text  `json:"stdin"`
	Stdout *record.Text `json:"stdout"`
}

// cases runs the code once for each case. Without partial it stops at the first that
// fails, and says no more than that.
func (c *codeCheck) cases(ctx context.Context, code string, raw json.RawMessage) checked {
	var cases []codeCase
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if dec.Decode(&cases) != nil || len(cases) == 0 {
		return badReference("the reference is not a list of {stdin, stdout}")
	}
	if len(cases) > maxCases {
		return badReference(fmt.Sprintf("the reference has %d cases; %d at most are run", len(cases), maxCases))
	}
	passedCases, firstWhy := 0, ""
	for _, one := range cases {
		if one.Stdout == nil {
			return badReference("a case of the reference has no stdout")
		}
		r, err := c.run(ctx, code, nil, []byte(one.Stdin))
		if err != nil {
			return notRun(err)
		}
		why := c.endedBadly(r)
		if why == "" && trimmedLines(string(r.stdout)) != trimmedLines(string(*one.Stdout)) {
			why = "its output is another"
		}
		if why == "" {
			passedCases++
			continue
		}
		if firstWhy == "" {
			firstWhy = why
		}
		if !c.spec.Partial {
			return missed("a hidden case fails: " + why)
		}
	}
	if firstWhy == "" {
		return passed(fmt.Sprintf("all %d hidden cases pass", len(cases)))
	}
	return checked{float64(passedCases) / float64(len(cases)), record.JudgeOK, fmt.Sprintf("%d of %d hidden cases pass; the first that fails: %s", passedCases, len(cases), firstWhy)}
}

// trimmedLines is a text without spaces at the ends of its lines and without empty
// lines at its end.
func trimmedLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\r")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// testProgram runs the hidden tests beside the code.
func (c *codeCheck) testProgram(ctx context.Context, code, tests string) checked {
	switch {
	case c.spec.Tests == "":
		return badReference("the reference is a test program, and the verifier names no file for it: write tests")
	case !strings.Contains(tests, passedMark):
		return badReference("the tests print " + passedMark + " nowhere: code that ends the process would pass them")
	}
	// The word follows from the hidden tests alone: it is the same in every run, and
	// nobody who has not seen them can know it.
	word := "passed-" + record.Identity("hidden tests", tests)
	text := []byte(strings.ReplaceAll(tests, passedMark, word))
	files, stdin := map[string][]byte{c.spec.Tests: text}, []byte(nil)
	if c.spec.Tests == "-" {
		files, stdin = nil, text
	}
	r, err := c.run(ctx, code, files, stdin)
	if err != nil {
		return notRun(err)
	}
	if why := c.endedBadly(r); why != "" {
		return missed("the hidden tests fail: " + why)
	}
	out := strings.TrimRight(string(r.stdout), " \t\r\n")
	last := out[strings.LastIndexByte(out, '\n')+1:]
	return verdict(last == word, "the hidden tests pass", "the hidden tests fail: they ended before their end")
}

func (c *codeCheck) run(ctx context.Context, code string, files map[string][]byte, stdin []byte) (finished, error) {
	if err := c.turns.take(ctx); err != nil {
		return finished{}, err
	}
	defer c.turns.giveBack()
	p := c.program
	p.files, p.stdin = map[string][]byte{c.spec.File: []byte(code)}, stdin
	for name, content := range files {
		p.files[name] = content
	}
	return p.run(ctx)
}

// endedBadly says why a run is no pass, in words that quote nothing; "" where it ended
// well.
func (c *codeCheck) endedBadly(r finished) string {
	switch {
	case r.fate == outOfTime:
		return fmt.Sprintf("it did not end within %v seconds", c.spec.Seconds)
	case r.fate == outOfOutput:
		return fmt.Sprintf("it wrote more than %d KiB", c.spec.OutputKiB)
	case r.fate == outOfScratch:
		return fmt.Sprintf("its folder grew over %d MiB or %d files", c.spec.ScratchMiB, maxScratchFiles)
	case r.fate == killedBySig:
		return "it was ended by a signal"
	case r.code != 0:
		return fmt.Sprintf("it ended with status %d", r.code)
	}
	return ""
}

// notRun is a check that this machine could not make: no fault of the code's.
func notRun(err error) checked {
	if errors.Is(err, context.DeadlineExceeded) {
		return checked{status: record.JudgeTimeout, why: "there was no time to run the code"}
	}
	return badReference("the code was not run: " + err.Error())
}
