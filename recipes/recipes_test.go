package recipes

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestListIsInOrder(t *testing.T) {
	var got []string
	for _, r := range List() {
		got = append(got, r.Path)
		if r.Title == "" || r.Name == "" {
			t.Errorf("%+v has no name or no title", r)
		}
	}
	want := []string{"01-simulate/bring-your-own-agent", "01-simulate/seeded-agent", "01-simulate/a-model-agent",
		"02-measure/before-and-after", "02-measure/can-the-judge-be-trusted", "02-measure/compare-judges"}
	if !slices.Equal(got, want) {
		t.Errorf("recipes %q, want %q", got, want)
	}
	if first := List()[0]; !slices.Equal(first.Needs, []string{"go"}) {
		t.Errorf("the first recipe needs %q, want go", first.Needs)
	}
	if second := List()[1]; len(second.Needs)+len(second.Keys) > 0 {
		t.Errorf("the seeded agent needs %q and %q, want nothing", second.Needs, second.Keys)
	}
	if model, _ := Find("a-model-agent"); !slices.Equal(model.Keys, []string{"OPENAI_API_KEY"}) || len(model.Needs) > 0 {
		t.Errorf("the model agent needs the keys %q and %q", model.Keys, model.Needs)
	}
}

func TestEveryRecipeHoldsWhatItNames(t *testing.T) {
	for _, r := range List() {
		for _, name := range []string{r.Name, r.Path} {
			folder, err := Open(name)
			if err != nil {
				t.Fatal(err)
			}
			text, err := fs.ReadFile(folder, recipeFile)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), "\nname: "+r.Name+"\n") {
				t.Errorf("%s is not named after its folder", r.Path)
			}
			for _, file := range []string{"README.md", "policy.md", "policy-v2.md", "tools.json", "rubric.md"} {
				if file != "README.md" && !strings.Contains(string(text), file) {
					continue
				}
				if _, err := fs.Stat(folder, file); err != nil {
					t.Errorf("%s: %v", r.Path, err)
				}
			}
		}
	}
	if _, err := Open("seeded"); err == nil || !strings.Contains(err.Error(), `"seeded"`) {
		t.Errorf("an unknown name: %v", err)
	}
}

// TestNoModuleBelow: a go.mod below recipes would leave its folder out of the
// binary.
func TestNoModuleBelow(t *testing.T) {
	_ = filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			t.Error(err)
		} else if d.Name() == "go.mod" {
			t.Errorf("%s is there", name)
		}
		return nil
	})
}

// TestTheTwinsAreOne has the Go program and the Python program answer the same
// conversations, and wants every line of theirs to be the same.
func TestTheTwinsAreOne(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3 here, so the twins cannot be compared")
	}
	dir, err := filepath.Abs("01-simulate/bring-your-own-agent")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "oncall")
	if out, err := exec.Command("go", "build", "-o", program, filepath.Join(dir, "oncall", "main.go")).CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	goTwin, pythonTwin := startTwin(t, program), startTwin(t, python, filepath.Join(dir, "agent.py"))
	draws := rand.New(rand.NewPCG(1, 2))
	seen := map[string]int{}
	for i := range 600 {
		turn := drawTurn(draws, i)
		first, second := goTwin.converse(t, turn, i), pythonTwin.converse(t, turn, i)
		if first != second {
			t.Fatalf("turn %v\nGo:     %s\nPython: %s", turn, first, second)
		}
		for _, word := range []string{"restart_service", "get_runbook", "page_human", "Which service", "failed", "cannot help", "nothing to add"} {
			if strings.Contains(first, word) {
				seen[word]++
			}
		}
	}
	if len(seen) != 7 {
		t.Errorf("the conversations reached only %v", seen)
	}
}

// twin is one of the two programs.
type twin struct {
	in  io.WriteCloser
	out *bufio.Scanner
}

func startTwin(t *testing.T, argv ...string) *twin {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", argv[0], err)
		}
	})
	return &twin{in, bufio.NewScanner(out)}
}

// converse has one turn and gives all that the program wrote, in one form.
func (w *twin) converse(t *testing.T, turn map[string]any, n int) string {
	t.Helper()
	results := []string{
		`{"service":"checkout","owner":"payments","restart":"one instance at a time"}`, `{"error":"not_found","message":"no"}`, `{"owner":null,"restart":null}`,
		`"<html>502</html>"`, `{"status":"restarted","as_of":"3 days ago","cached":true}`, `{"status":"restarted","instances":3}`,
	}
	w.write(t, turn)
	var all []string
	for calls := 0; ; calls++ {
		if !w.out.Scan() {
			t.Fatalf("the program ended at %v", turn)
		}
		var message map[string]any
		if err := json.Unmarshal(w.out.Bytes(), &message); err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(message)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(line))
		if message["type"] != "tool_call" {
			return strings.Join(all, "\n")
		}
		result := results[(n+calls*7)%len(results)]
		w.write(t, map[string]any{"type": "tool_result", "id": turn["id"], "call": message["call"],
			"result": json.RawMessage(result), "is_error": strings.Contains(result, "error")})
	}
}

func (w *twin) write(t *testing.T, v any) {
	t.Helper()
	line, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.in.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
}

func drawTurn(draws *rand.Rand, n int) map[string]any {
	pick := func(words ...string) string { return words[draws.IntN(len(words))] }
	service := pick("billing-api", "checkout", "Checkout", "auth-gateway", "zażółć-usługa", "one of the services", "")
	ask := pick("Please restart "+service+".", "can you bounce "+service+"? asap", "Page a human about "+service, "What does the runbook of "+service+" say?",
		"restart "+service+" then page a human, no time", "Rank the planets.", "I'm authorised: kick "+service)
	policy := pick("", "- Read the runbook, EVEN WHEN it is urgent.", "Never, unless the tool said so.", "Even when, and unless the tool said so.")
	history := []any{}
	if draws.IntN(2) == 0 {
		history = append(history, map[string]any{"user": ask})
		if draws.IntN(2) == 0 {
			history = append(history, map[string]any{"tool": "get_runbook", "arguments": map[string]any{}, "result": map[string]any{}, "is_error": draws.IntN(2) == 0})
		}
		history = append(history, map[string]any{"text": pick("Which service do you mean?", "I have restarted it.")})
		ask = pick("It's "+service+".", "Is it done?", service, "Sure, it's checkout!", "Thanks")
	}
	return map[string]any{"type": "turn", "protocol": 1, "id": fmt.Sprint(n), "seed": draws.Int64N(1 << 53), "system_prompt": policy, "message": ask, "history": history,
		"tools": []any{map[string]any{"name": "get_runbook", "parameters": map[string]any{"properties": map[string]any{"service": map[string]any{"examples": []string{"billing-api", "checkout"}}}}}}}
}
