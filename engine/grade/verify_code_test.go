package grade

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"assay/engine/record"
)

// guarded skips a test where this system does not keep all guards, and gives the code
// of the test a folder of its own to be run in, which must be empty in the end.
func guarded(t *testing.T) (dir string) {
	t.Helper()
	for _, g := range Guards() {
		if !g.Enforced {
			t.Skipf("%s is not enforced here: %s", g.Guard, g.How)
		}
	}
	dir = t.TempDir()
	for _, open := range []string{dir, filepath.Dir(dir)} { // to nobody, who it is where root tests
		if err := os.Chmod(open, 0o711); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		left, err := filepath.Glob(filepath.Join(dir, "assay-code-*"))
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
		if who := processesIn(dir); len(who) > 0 {
			t.Errorf("still running: %v", who)
		}
	})
	return dir
}

// processesIn are the processes whose working directory is, or was, below a folder.
func processesIn(dir string) []string {
	var out []string
	all, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range all {
		if at, err := os.Readlink(link); err == nil && strings.HasPrefix(at, dir+"/assay-code-") {
			out = append(out, link)
		}
	}
	return out
}

func verifierOf(t *testing.T, spec string) *Verifier {
	t.Helper()
	v, err := ParseVerifier(json.RawMessage(spec))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func quoted(t *testing.T, s string) json.RawMessage {
	t.Helper()
	raw, err := record.Text(s).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// addTests are hidden tests of a function that adds.
const addTests = `. ./solution.sh
test "$(add 2 3)" = 5 && test "$(add -1 1)" = 0 && echo {{passed}}
`

const shellSpec = `{"kind":"code","run":["sh","tests.sh"],"file":"solution.sh","tests":"tests.sh","seconds":2%s}`

func TestCodeAgainstHiddenTests(t *testing.T) {
	guarded(t)
	v := verifierOf(t, fmt.Sprintf(shellSpec, ""))
	for _, tt := range []struct {
		name, reply, tests string
		status             record.JudgeStatus
		want               float64
		why                string
	}{
		{"right", "```sh\nadd() { echo $(($1 + $2)); }\n```", addTests, record.JudgeOK, 1, "pass"},
		{"right, with prose", "Here you are:\n\n```sh\nadd() { echo $(($1 + $2)); }\n```\n\nIt adds.", addTests, record.JudgeOK, 1, "pass"},
		{"no fence", "add() { echo $(($1 + $2)); }", addTests, record.JudgeOK, 1, "pass"},
		{"wrong", "add() { echo $(($1 - $2)); }", addTests, record.JudgeOK, 0, "status 1"},
		{"broken", "add() {", addTests, record.JudgeOK, 0, "status 2"},
		{"nothing", "  \n", addTests, record.JudgeOK, 0, "no code"},
		{"two blocks", "```\nadd() { echo 5; }\n```\n```\nadd 1 2\n```", addTests, record.JudgeOK, 0, "2 blocks"},
		{"ends the process", "exit 0", addTests, record.JudgeOK, 0, "before their end"},
		{"guesses the word", "echo passed; exit 0", addTests, record.JudgeOK, 0, "before their end"},
		{"ends itself by a signal", "kill -SEGV $$; exec sh -c 'kill -KILL $PPID'", addTests, record.JudgeOK, 0, "fail"},
		{"no reference", "add() { :; }", "", record.JudgeMissingReward, 0, "no reference"},
		{"tests that cannot be held", "add() { :; }", "true", record.JudgeError, 0, "{{passed}}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var ref json.RawMessage
			if tt.tests != "" {
				ref = quoted(t, tt.tests)
			}
			reward, status, why := v.Verify(t.Context(), record.Text(tt.reply), ref)
			if status != tt.status || !strings.Contains(why, tt.why) || (reward != nil) != (status == record.JudgeOK) || reward != nil && *reward != tt.want {
				t.Errorf("reward %v, status %s: %s; want %v, %s, %q", reward, status, why, tt.want, tt.status, tt.why)
			}
			if strings.Contains(why, "add") {
				t.Errorf("the reason %q quotes the tests or the code", why)
			}
		})
	}
}

func TestCodeAgainstHiddenCases(t *testing.T) {
	guarded(t)
	const cases = `{"cases":[{"stdin":"2 3\n","stdout":"5\n"},{"stdin":"10 -4\n","stdout":"6"},{"stdin":"1 1\n","stdout":"2\n\n"}]}`
	spec := `{"kind":"code","run":["sh","solution.sh"],"file":"solution.sh","reference":"cases","block":"last","seconds":2%s}`
	whole, partial := verifierOf(t, fmt.Sprintf(spec, "")), verifierOf(t, fmt.Sprintf(spec, `,"partial":true`))
	for _, tt := range []struct {
		reply          string
		whole, partial float64
	}{
		{"read a b; echo $((a + b)) ", 1, 1},
		{"first\n```\nno\n```\nthen\n```sh\nread a b; echo $((a + b))\n```", 1, 1},
		{"echo 5", 0, 1.0 / 3},
		{"read a b; echo $((a + b)); exit 3", 0, 0},
		{"cat; ls -R / | grep -c stdout", 0, 0},
	} {
		for v, want := range map[*Verifier]float64{whole: tt.whole, partial: tt.partial} {
			reward, status, why := v.Verify(t.Context(), record.Text(tt.reply), json.RawMessage(cases))
			if reward == nil || *reward != want {
				t.Errorf("%q: %v, %s, %s; want %v", tt.reply, reward, status, why, want)
			}
		}
	}
	for _, bad := range []string{`{"cases":[]}`, `{"cases":[{"stdin":"x"}]}`, `{"cases":[{"stdout":"x","note":1}]}`, `{"cases":{"a":1}}`} {
		if reward, status, why := whole.Verify(t.Context(), "echo", json.RawMessage(bad)); reward != nil || status != record.JudgeError {
			t.Errorf("%s: %v, %s, %s", bad, reward, status, why)
		}
	}
}

// What hostile code tries, and what comes of it. The outside is looked at after each.
func TestHostileCode(t *testing.T) {
	dir := guarded(t)
	t.Setenv("ASSAY_TEST_SECRET", "in the environment")
	target := filepath.Join(dir, "target")
	if err := os.WriteFile(target, []byte("whole"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(target, 0o666); err != nil { // whatever the umask
		t.Fatal(err)
	}
	before, err := os.Stat(target)
	if err != nil {
		t.Fatal(err)
	}
	const reached = "echo REACHED"
	for _, tt := range []struct{ name, code, limits, why string }{
		{"fork bomb", "b() { b | b & b; }; b", `,"seconds":1`, "fail"},
		{"fork bomb that leaves", "while :; do setsid sh -c 'sleep 1000' & done", `,"seconds":1`, "fail"},
		{"endless output", "yes", "", "wrote more"},
		{"endless errors", "yes >&2", "", "wrote more"},
		{"endless loop", "while :; do :; done", `,"seconds":1`, "did not end"},
		{"endless sleep", "sleep 1000", `,"seconds":0.2`, "did not end"},
		{"endless sleep without children", "exec sleep 1000", `,"seconds":0.2`, "did not end"},
		{"left behind", "sleep 1000 & setsid sleep 1000 & exit 0", "", "before their end"},
		{"huge memory", "x=$(head -c 1000000000 /dev/zero | tr '\\0' x) && " + reached, `,"memory_mib":64`, "fail"},
		{"huge memory in a pipe", "head -c 1000000000 /dev/zero | tail -c 900000000 | wc -c | grep 900000000 && " + reached, `,"memory_mib":64`, "fail"},
		{"writes outside", "echo x > " + target + " && " + reached, "", "fail"},
		{"appends outside", "echo x >> " + target + " && " + reached, "", "fail"},
		{"truncates outside", "truncate -s 0 " + target + " && " + reached, "", "fail"},
		{"creates outside", "mkdir /tmp/assay-hostile || touch " + dir + "/new && " + reached, "", "fail"},
		{"removes outside", "rm -f " + target + " && " + reached, "", "fail"},
		{"renames outside", "mv " + target + " " + target + "2 && " + reached, "", "fail"},
		{"rights outside", "chmod 0 " + target + " && " + reached, "", "fail"},
		{"times outside", "touch -d 2001-01-01 " + target + " && " + reached, "", "fail"},
		{"reads outside", "cat " + target + " && " + reached, "", "fail"},
		{"reads processes", "cat /proc/1/environ /proc/self/status && " + reached, "", "fail"},
		{"writes inside without scratch", "echo x > here && " + reached, "", "fail"},
		{"kills everything", "kill -9 -1; kill -9 1; " + "kill -0 " + fmt.Sprint(os.Getpid()) + " && " + reached, "", "fail"},
		{"reads the environment", "env | grep -q ASSAY_TEST_SECRET && " + reached, "", "fail"},
		{"becomes root", "unshare -U -r true && " + reached, "", "fail"},
		{"fills the disk", "i=0; while :; do head -c 1000000 /dev/zero > f$i; i=$((i + 1)); done", `,"scratch_mib":8,"seconds":5`, "grew over"},
		{"fills the disk with one file", "head -c 100000000 /dev/zero > f && " + reached, `,"scratch_mib":8`, "fail"},
		{"a million files", "i=0; while :; do : > f$i; i=$((i + 1)); done", `,"scratch_mib":8,"seconds":5`, "grew over"},
		{"a folder without rights", "mkdir -m 0 d; mkdir -p e/f; exit 1", `,"scratch_mib":8`, "status 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &codeCheck{turns: newTurns()}
			v := verifierOf(t, fmt.Sprintf(strings.Replace(shellSpec, `,"seconds":2`, "", 1), tt.limits))
			if strings.Contains(tt.code, reached) {
				// The check sees output only of what it runs: look for the word itself.
				c.spec = v.spec.codeSpec
				r := runShell(t, v, tt.code)
				if strings.Contains(string(r.stdout), "REACHED") {
					t.Errorf("it got there: %s", r.stdout)
				}
			}
			reward, status, why := v.Verify(t.Context(), record.Text(tt.code), quoted(t, addTests))
			if reward == nil || *reward != 0 || !strings.Contains(why, tt.why) {
				t.Errorf("reward %v, status %s: %s; want %q", reward, status, why, tt.why)
			}
			after, err := os.Stat(target)
			if err != nil {
				t.Fatal(err)
			}
			if content, err := os.ReadFile(target); err != nil || string(content) != "whole" || after.Mode() != before.Mode() || !after.ModTime().Equal(before.ModTime()) {
				t.Errorf("the outside is changed: %q, %v, %v, %v", content, err, after.Mode(), after.ModTime())
			}
			if who := processesIn(dir); len(who) > 0 {
				t.Errorf("still running: %v", who)
			}
		})
	}
}

// runShell runs code alone with the limits of a verifier.
func runShell(t *testing.T, v *Verifier, code string) finished {
	t.Helper()
	p := program{argv: []string{"sh", "solution.sh"}, files: map[string][]byte{"solution.sh": []byte(code)}, limits: limits{
		cpu: time.Second, wall: 4 * time.Second, memory: int64(max(v.spec.MemoryMiB, 64)) << 20, processes: 8, output: 1 << 16, scratch: int64(v.spec.ScratchMiB) << 20}}
	r, err := p.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The limits keep hostile code in and let honest code live.
func TestHonestCodeHasRoom(t *testing.T) {
	guarded(t)
	for name, code := range map[string]string{
		"memory":    "x=$(head -c 20000000 /dev/zero | tr '\\0' x); echo ${#x} | grep -q 20000000 && add() { echo $(($1 + $2)); }",
		"processes": "for i in 1 2 3 4; do sleep 0.05 & done; wait; add() { echo $(($1 + $2)); }",
		"scratch":   "echo 7 > f; test $(cat f) = 7 && mkdir d && mv f d/g && rm d/g && add() { echo $(($1 + $2)); }",
		"devices":   "echo x > /dev/null; head -c 8 /dev/urandom > /dev/null; add() { echo $(($1 + $2)); }",
	} {
		v := verifierOf(t, fmt.Sprintf(shellSpec, `,"scratch_mib":1`))
		if reward, status, why := v.Verify(t.Context(), record.Text(code), quoted(t, addTests)); reward == nil || *reward != 1 {
			t.Errorf("%s: %v, %s, %s", name, reward, status, why)
		}
	}
}

func TestHostileCodeReachesNoNetwork(t *testing.T) {
	guarded(t)
	if _, err := lookUp("python3"); err != nil {
		t.Skip("there is no python3: ", err)
	}
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	_, port, _ := net.SplitHostPort(server.Addr().String())
	v := verifierOf(t, `{"kind":"code","run":["python3","-S","-B","-"],"file":"solution.py","tests":"-","seconds":10}`)
	tests := `
import socket, ctypes, os
def refused(f):
    try:
        f()
    except OSError:
        return True
    return False
assert refused(lambda: socket.create_connection(("127.0.0.1", ` + port + `), 1))
assert refused(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
assert refused(lambda: socket.socket(socket.AF_UNIX))
assert refused(lambda: os.memfd_create("m"))
assert refused(lambda: os.chmod("/etc", 0o777))
assert refused(lambda: os.utime("/etc/passwd"))
assert refused(lambda: os.kill(` + fmt.Sprint(os.Getpid()) + `, 0))
assert ctypes.CDLL(None).syscall(425, 8, 0) == -1  # io_uring_setup
try:
    bytearray(4 << 30)
    assert False, "4 GiB"
except MemoryError:
    pass
from solution import add
assert add(2, 3) == 5
print("{{passed}}")
`
	reward, status, why := v.Verify(t.Context(), "```python\ndef add(a, b):\n    return a + b\n```", quoted(t, tests))
	if reward == nil || *reward != 1 {
		t.Errorf("%v, %s, %s", reward, status, why)
	}
}

func TestCodeEndsWithItsContext(t *testing.T) {
	guarded(t)
	defer goleak.VerifyNone(t)
	v := verifierOf(t, `{"kind":"code","run":["sh","tests.sh"],"file":"solution.sh","tests":"tests.sh","seconds":1000}`)
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	if reward, status, why := v.Verify(ctx, "sleep 1000", quoted(t, addTests)); reward != nil || status != record.JudgeError || !strings.Contains(why, "canceled") {
		t.Errorf("%v, %s, %s", reward, status, why)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if reward, status, why := v.Verify(short, "sleep 1000", quoted(t, addTests)); reward != nil || status != record.JudgeTimeout {
		t.Errorf("%v, %s, %s", reward, status, why)
	}
}

// Many at once are each counted alone.
func TestCodeRunsConcurrently(t *testing.T) {
	guarded(t)
	v := verifierOf(t, fmt.Sprintf(shellSpec, `,"processes":4`))
	const n = 12
	got := make(chan string, n)
	for range n {
		go func() {
			reward, status, why := v.Verify(t.Context(), "sleep 0.1 & sleep 0.1 & wait; add() { echo $(($1 + $2)); }", quoted(t, addTests))
			if reward == nil || *reward != 1 {
				got <- fmt.Sprintf("%v, %s, %s", reward, status, why)
				return
			}
			got <- ""
		}()
	}
	for range n {
		if why := <-got; why != "" {
			t.Error(why)
		}
	}
}

func TestCodeSpecIsChecked(t *testing.T) {
	for spec, part := range map[string]string{
		`{"kind":"code"}`:                                                        "run is missing",
		`{"kind":"code","run":["sh"]}`:                                           "file",
		`{"kind":"code","run":["sh"],"file":"../x"}`:                             "plain file name",
		`{"kind":"code","run":["sh"],"file":"x","tests":"x"}`:                    "of its own",
		`{"kind":"code","run":["sh"],"file":"x","tests":"a/b"}`:                  "tests",
		`{"kind":"code","run":["sh"],"file":"x","block":"best"}`:                 "block",
		`{"kind":"code","run":["sh"],"file":"x","seconds":-1}`:                   "seconds",
		`{"kind":"code","run":["sh"],"file":"x","memory_mib":-1}`:                "memory_mib",
		`{"kind":"code","run":["sh"],"file":"x","read":["lib"]}`:                 "absolute",
		`{"kind":"code","run":["sh"],"file":"x","without":["time"]}`:             "none of memory",
		`{"kind":"code","run":["./sh"],"file":"x"}`:                              "absolute path",
		`{"kind":"code","run":["no-such-program"],"file":"x"}`:                   "no program",
		`{"kind":"exact","run":["sh"]}`:                                          "belong to code",
		`{"kind":"all","of":[{"kind":"json_valid"}],"seconds":1}`:                "belong to code",
		`{"kind":"any","of":[{"kind":"code","run":["no-such-one"],"file":"x"}]}`: "any.of[0]",
	} {
		if _, err := ParseVerifier(json.RawMessage(spec)); err == nil || !strings.Contains(err.Error(), part) && !strings.Contains(err.Error(), "this system cannot") {
			t.Errorf("%s: error %v lacks %q", spec, err, part)
		}
	}
}

// A system that lacks a guard refuses, and names it, unless the recipe goes without.
func TestGuardsAreNotPretended(t *testing.T) {
	lacking := []Guard{}
	for _, g := range Guards() {
		if g.How == "" {
			t.Errorf("%s does not say how", g.Guard)
		}
		if !g.Enforced {
			lacking = append(lacking, g.Guard)
		}
	}
	err := checkGuards(nil)
	if (err != nil) != (len(lacking) > 0) {
		t.Errorf("lacking %v: %v", lacking, err)
	}
	for _, g := range lacking {
		if !strings.Contains(err.Error(), string(g)) {
			t.Errorf("%v does not name %s", err, g)
		}
	}
	if err := checkGuards(lacking); err != nil {
		t.Errorf("accepted, and refused: %v", err)
	}
}
