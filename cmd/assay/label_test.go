package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/engine/record"
)

var labelKills = flag.Int("label-kills", 5, "how many times TestKilledLabelling kills a labelling session")

// labelSession is a real assay label --plain.
type labelSession struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (p *place) label(args ...string) *labelSession {
	p.t.Helper()
	c := p.command(append([]string{"label", "last", "--plain"}, args...)...)
	in, err := c.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		_ = c.Process.Kill() // it may be gone already
		_ = c.Wait()
	})
	return &labelSession{p.t, c, in, bufio.NewReader(out)}
}

const prompt = "p f e s n u r q > "

// read reads up to the next prompt, or to the end.
func (l *labelSession) read() (text string, more bool) {
	var b strings.Builder
	for {
		c, err := l.out.ReadByte()
		if err != nil {
			return b.String(), false
		}
		if b.WriteByte(c); strings.HasSuffix(b.String(), prompt) {
			return strings.TrimSuffix(b.String(), prompt), true
		}
	}
}

// say writes a line and reads what comes of it.
func (l *labelSession) say(line string) string {
	l.t.Helper()
	if _, err := fmt.Fprintln(l.in, line); err != nil {
		l.t.Fatalf("say %q: %v", line, err)
	}
	text, _ := l.read()
	return text
}

// exit ends the input and gives what is said at the end, and the exit code.
func (l *labelSession) exit() (string, int) {
	_ = l.in.Close() // it may have left already
	rest, err := io.ReadAll(l.out)
	if err != nil {
		l.t.Fatal(err)
	}
	_ = l.cmd.Wait() // the code says it
	return string(rest), l.cmd.ProcessState.ExitCode()
}

// labelActs are the acts of labelling in the file, as exported.
func (p *place) labelActs() []map[string]any {
	p.t.Helper()
	var acts []map[string]any
	for line := range strings.Lines(p.must("labels", "export", "last", "--format", "jsonl")) {
		var l map[string]any
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			p.t.Fatal(err)
		}
		acts = append(acts, l)
	}
	return acts
}

func said(acts []map[string]any) string {
	words := make([]string, len(acts))
	for i, a := range acts {
		words[i] = a["label"].(string)
	}
	return strings.Join(words, " ")
}

// Without a terminal the app is not drawn: the other way is named.
func TestLabelNeedsATerminal(t *testing.T) {
	p := newPlace(t)
	_, says, code := p.run("label", "last", "--annotator", "ana")
	if code != exitCouldNot || !strings.Contains(says, "add --plain") {
		t.Errorf("exit %d: %s", code, says)
	}
}

// A whole session, key by key, with what stands in the file after it.
func TestLabelPlain(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("run", bribed)
	l := p.label("--annotator", "ana")
	if card, more := l.read(); !more || !strings.Contains(card, "card 1 of 55") || !strings.Contains(card, "user:") || !strings.Contains(card, "agent:") {
		t.Fatalf("the first card:\n%s", card)
	} else if !strings.Contains(card, "r shows the rubric and the policy") || !strings.Contains(card, "queue mixed of run") {
		t.Errorf("the keys are not said at the start:\n%s", card)
	} else if first, _, _ := strings.Cut(card, "card 2"); slices.ContainsFunc(strings.Split(first, "\n"), func(line string) bool {
		return len(line) > 80 && strings.Contains(strings.TrimSpace(line[:80]), " ") && !strings.Contains(line, "{")
	}) {
		t.Errorf("a line is left to be broken inside a word:\n%s", first)
	}
	if got := l.say("p"); !strings.Contains(got, "saved: pass for card 1") || !strings.Contains(got, "card 2 of 55") {
		t.Errorf("p: %s", got)
	}
	if got := l.say("x"); !strings.Contains(got, "nothing was saved") {
		t.Errorf("an unknown key: %s", got)
	}
	if got := l.say("pass"); !strings.Contains(got, "nothing was saved") {
		t.Errorf("a word: %s", got)
	}
	if got := l.say("r"); !strings.Contains(got, "rubric:") || !strings.Contains(got, "policy:") || !strings.Contains(got, "support agent of a small shop") {
		t.Errorf("r: %s", got)
	}
	l.say("n it never looked the order up")
	l.say("f")                 // with the note that was kept
	l.say("e two ways to see") // with one of its own
	if got := l.say("u"); !strings.Contains(got, "taken back: unsure for card 3") || !strings.Contains(got, "card 3 of 55") || !strings.Contains(got, "your note: two ways to see") {
		t.Errorf("u: %s", got)
	}
	if got := l.say("s"); !strings.Contains(got, "saved: skip for card 3") {
		t.Errorf("s: %s", got)
	}
	end, code := l.exit()
	if code != exitOK || !strings.Contains(end, "4 labels saved by ana, 1 taken back, 52 cards left in queue mixed") {
		t.Errorf("exit %d: %s", code, end)
	}
	acts := p.labelActs()
	if got := said(acts); got != "pass fail unsure retracted skip" {
		t.Fatalf("in the file: %s", got)
	}
	for i, note := range []string{"", "it never looked the order up", "two ways to see", "", "two ways to see"} {
		if got, _ := acts[i]["note"].(string); got != note {
			t.Errorf("note %d is %q, want %q", i, got, note)
		}
		if acts[i]["annotator"] != "ana" || acts[i]["kind"] != string(record.GoldHuman) || acts[i]["blind"] != true {
			t.Errorf("act %d: %v", i, acts[i])
		}
	}

	// Another day: the session goes on where it was, an undo reaches back into the last
	// one, and another annotator begins at the first card.
	l = p.label("--annotator", "ana")
	if card, _ := l.read(); !strings.Contains(card, "card 4 of 55") {
		t.Errorf("the next session begins with:\n%s", card)
	}
	if got := l.say("u"); !strings.Contains(got, "taken back: skip for card 3") {
		t.Errorf("u: %s", got)
	}
	l.say("q")
	l.exit()
	l = p.label("--annotator", "bob")
	if card, _ := l.read(); !strings.Contains(card, "card 1 of 55") {
		t.Errorf("bob begins with:\n%s", card)
	}
	l.exit()
}

// What a labelling session prints holds nothing that a judge said.
func TestLabelIsBlind(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("run", bribed)
	l := p.label("--annotator", "ana", "--order", "random")
	text, more := l.read()
	for more {
		if _, err := fmt.Fprintln(l.in, "p"); err != nil {
			t.Fatal(err)
		}
		var next string
		next, more = l.read()
		text += next
	}
	if !strings.Contains(text, "the queue is at its end") || strings.Count(text, "saved: pass") != 55 {
		t.Errorf("%d labels", strings.Count(text, "saved: pass"))
	}
	reasons := map[string]bool{}
	for line := range strings.Lines(p.must("rows", "last", "--fields", "reason,failure_class")) {
		var row struct {
			Reason       string
			FailureClass *string `json:"failure_class"`
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		reasons[row.Reason] = true
		if row.FailureClass != nil {
			reasons[*row.FailureClass] = true
		}
	}
	if len(reasons) < 3 {
		t.Fatalf("only %d reasons: nothing is tested", len(reasons))
	}
	for reason := range reasons {
		if strings.Contains(text, reason) {
			t.Errorf("the session shows %q", reason)
		}
	}
	for _, word := range []string{"crooked", "truth", "stratum", "unsure row", "recheck"} {
		if strings.Contains(text, word) {
			t.Errorf("the session says %q", word)
		}
	}
	// A second look is there, and is no second vote.
	firsts, seconds := 0, 0
	for _, a := range p.labelActs() {
		if a["purpose"] == record.PurposeRecheck {
			seconds++
		} else {
			firsts++
		}
	}
	if firsts != 50 || seconds != 5 {
		t.Errorf("%d first looks, %d second ones", firsts, seconds)
	}
	r, _ := p.trust("last")
	if len(r.People) != 1 || r.People[0].Twice != 5 || r.People[0].Same != 5 || r.N != 50 || r.GoldKind != record.GoldHuman {
		t.Errorf("people %+v, %d labels of kind %s", r.People, r.N, r.GoldKind)
	}
}

// A label is on disk before the next card is shown: whatever the moment of the kill,
// what was acknowledged is there, and at most one more.
func TestKilledLabelling(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("run", bribed, "--repeats", "4")
	rng := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	acknowledged := 0
	for kill := range *labelKills {
		l := p.label("--annotator", "ana")
		if _, more := l.read(); !more {
			t.Fatalf("session %d shows no card", kill)
		}
		for range rng.IntN(12) {
			if got := l.say("pf"[rng.IntN(2):][:1]); !strings.Contains(got, "saved: ") {
				t.Fatalf("session %d: %s", kill, got)
			}
			acknowledged++
		}
		if rng.IntN(2) == 0 { // one more on its way
			if _, err := fmt.Fprintln(l.in, "p"); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = l.cmd.Wait() // it was killed
		there := 0
		if out, _, _ := p.run("labels", "export", "last", "--format", "jsonl"); out != "" {
			there = strings.Count(out, "\n")
		}
		if there < acknowledged || there > acknowledged+1 {
			t.Fatalf("after kill %d: %d labels are there, %d were acknowledged", kill, there, acknowledged)
		}
		acknowledged = there
	}
}

func TestLabelRefusals(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("run", bribed)
	for name, args := range map[string][]string{
		"no screen":      {"label", "last"},
		"no such order":  {"label", "last", "--plain", "--annotator", "ana", "--order", "best"},
		"no such queue":  {"label", "last", "--plain", "--annotator", "ana", "--queue", "none"},
		"no such run":    {"label", "none", "--plain", "--annotator", "ana"},
		"nothing to say": {"label"},
	} {
		if out, errs, code := p.run(args...); code != exitCouldNot || !strings.Contains(errs, "assay: ") {
			t.Errorf("%s: exit %d, %s%s", name, code, out, errs)
		}
	}
	c := p.command("label", "last", "--plain")
	c.Env = append(os.Environ(), "USER=", "LOGNAME=", "USERNAME=", "ASSAY_DB="+p.file("assay.db"))
	if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "--annotator") {
		t.Errorf("nobody labels: %v, %s", err, out)
	}
}

// With --json the one document is on stdout, and all talk on stderr.
func TestLabelJSON(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("run", bribed)
	c := p.command("label", "last", "--plain", "--annotator", "ana", "--json")
	c.Stdin = strings.NewReader("p\nf\n")
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	var r labelResult
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if r.Labelled != 2 || r.Left != 53 || r.Queue != "mixed" || r.Annotator != "ana" || r.NextLook != 50 {
		t.Errorf("%+v", r)
	}
}

// An interrupt ends a session as an interrupted one, with its labels saved.
func TestInterruptedLabelling(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("run", bribed)
	l := p.label("--annotator", "ana")
	l.read()
	l.say("p")
	if err := l.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Skip("this system sends no interrupt: ", err)
	}
	rest, err := io.ReadAll(l.out)
	if err != nil {
		t.Fatal(err)
	}
	_ = l.cmd.Wait() // the code says it
	if code := l.cmd.ProcessState.ExitCode(); code != exitInterrupted || !strings.Contains(string(rest), "saved of this session: 1 label") {
		t.Errorf("exit %d: %s", code, rest)
	}
	if got := said(p.labelActs()); got != "pass" {
		t.Errorf("in the file: %s", got)
	}
}
