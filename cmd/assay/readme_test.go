package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/engine"
	"assay/engine/model/modeltest"
)

// commandsOf are the lines of a document that call assay: those of its indented
// blocks.
func commandsOf(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if command, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "    assay "); ok {
			out = append(out, command)
		}
	}
	return out
}

// splitCommand splits a line as a shell would, as far as double quotes go.
func splitCommand(line string) []string {
	var args []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if line[0] == '"' {
			arg, rest, _ := strings.Cut(line[1:], `"`)
			args, line = append(args, arg), rest
			continue
		}
		arg, rest, _ := strings.Cut(line, " ")
		args, line = append(args, arg), rest
	}
	return args
}

// gates are the documented commands whose answer may be no.
var gates = []string{"doctor", "trust", "delta"}

// runDocument runs every command of a document, in order, in one place.
func runDocument(t *testing.T, file string, atLeast int) {
	text, err := os.ReadFile(filepath.Join(repositoryRoot(t), filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	commands := commandsOf(string(text))
	if len(commands) < atLeast {
		t.Fatalf("%s has %d commands: the test does not read it", file, len(commands))
	}
	p := newPlace(t)
	for _, line := range commands {
		args := splitCommand(line)
		out, errs, code := p.run(args...)
		if code != 0 && !(code == exitGate && slices.Contains(gates, args[0])) {
			t.Errorf("%s: assay %s: exit %d\n%s%s", file, line, code, out, errs)
		}
		if out == "" {
			t.Errorf("%s: assay %s prints nothing", file, line)
		}
	}
}

// TestDocumentsTellTheTruth runs every command of every README as it is printed.
func TestDocumentsTellTheTruth(t *testing.T) {
	for file, atLeast := range map[string]int{
		"README.md": 15,
		"recipes/01-simulate/bring-your-own-agent/README.md":    1,
		"recipes/01-simulate/seeded-agent/README.md":            1,
		"recipes/02-measure/before-and-after/README.md":         1,
		"recipes/02-measure/can-the-judge-be-trusted/README.md": 7,
		"recipes/02-measure/compare-judges/README.md":           5,
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			runDocument(t, file, atLeast)
		})
	}
}

// TestTheModelRecipeTellsTheTruth runs the commands of the one README that needs a model,
// with a server of the test's own in the provider's place.
func TestTheModelRecipeTellsTheTruth(t *testing.T) {
	server := modeltest.NewServerFunc(t, func(r *modeltest.Request) modeltest.Step {
		if r.Messages[len(r.Messages)-1].Role == "user" {
			return modeltest.CallTool("get_order", `{"order_id":"ORD-40718"}`)
		}
		return modeltest.Say("I looked it up, and nothing was changed.")
	})
	t.Setenv("OPENAI_API_KEY", "a-key-for-the-test")
	t.Setenv("OPENAI_BASE_URL", server.URL+"/v1")
	runDocument(t, "recipes/01-simulate/a-model-agent/README.md", 2)
	for _, r := range server.Requests() {
		if r.Model != "gpt-5-mini" || r.Header.Get("Authorization") != "Bearer a-key-for-the-test" {
			t.Fatalf("%s was asked with %q", r.Model, r.Header.Get("Authorization"))
		}
	}
	p := newPlace(t)
	if out := p.must("doctor", "a-model-agent"); !strings.Contains(out, "openai:gpt-5-mini answers") {
		t.Errorf("doctor does not say that the model answers:\n%s", out)
	}
}

// TestReadmesRecipe reads the recipe that the README shows, whole.
func TestReadmesRecipe(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(repositoryRoot(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "    name: orders\n")
	if !found {
		t.Fatal("the README shows no recipe")
	}
	recipe := "name: orders\n"
	for line := range strings.Lines(rest) {
		inside, ok := strings.CutPrefix(line, "    ")
		if !ok {
			break
		}
		recipe += inside
	}
	r, err := engine.ParseRecipe([]byte(recipe))
	if err != nil {
		t.Fatalf("%v\n%s", err, recipe)
	}
	if r.Delta == nil || len(r.Cut) != 2 || len(r.Simulate.Seeds) != 2 {
		t.Errorf("it is not read whole: %+v", r)
	}
}

// TestWithoutATerminal is the README's first command in a pipe: one line that
// says which command to use, exit 2, nothing drawn.
func TestWithoutATerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	out, errs, code := p.run()
	if code != exitCouldNot || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "assay run") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, out, errs)
	}
	if _, err := os.Stat(p.file("assay.db")); err == nil {
		t.Error("it left a database")
	}
}
