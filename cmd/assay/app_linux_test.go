package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/recipes"
)

// ownRecipe is a person's own: an agent whose truth is known, a judge that knows it.
const ownRecipe = `
name: mine
agent: {builtin: seeded, extra: {misbehave: 0.5}}
system_prompt: policy.md
tools: tools.json
simulate: {mode: rl, situations: 60, repeats: 4, seed: 3, holdout: 0.5, dimensions: {stance: [ordinary, hurried]}}
grade: {reward: {judge: {builtin: fair, rubric: rubric.md}}}
`

// recipe writes ownRecipe into the place's folder mine.
func (p *place) recipe() {
	p.t.Helper()
	from := map[string]string{"policy.md": "01-simulate/seeded-agent/", "tools.json": "01-simulate/seeded-agent/", "rubric.md": "02-measure/can-the-judge-be-trusted/"}
	for _, name := range []string{"policy.md", "tools.json", "rubric.md"} {
		text, err := fs.ReadFile(recipes.FS(), from[name]+name)
		if err != nil {
			p.t.Fatal(err)
		}
		p.write("mine/"+name, string(text))
	}
	p.write("mine/recipe.yaml", ownRecipe)
}

// look is how long a person looks at a card at least: a key that comes sooner is
// taken for one that was meant for the card before, and ignored.
const look = 60 * time.Millisecond

// TestTheThreeJobsAtTheKeyboard is a person's first day, keys only, on the real
// program and its real file: run, explore a failure, label twelve rows, read the
// trust report, change the policy, read the delta, write the training file.
func TestTheThreeJobsAtTheKeyboard(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.recipe()
	s := p.open(120, 40)

	s.sees("./mine", "run it")
	s.press("enter")
	s.sees("2 Live", "done", "pass@1", "took")
	before := p.id("last")

	s.press("3")
	s.sees("3 Explore", "Transcript")
	s.press("/")
	s.sees("complete")
	s.write("reward=0")
	s.press("enter")
	s.sees("/ filter", "✗ fail  reward 0")
	s.press("enter")
	s.sees("find", "Verdict")

	s.press("4")
	const labels = 12
	for n := range labels {
		s.sees(fmt.Sprintf("Card %d of", n+1), fmt.Sprintf("%d of ", n), "cards labelled", "attempt")
		time.Sleep(look)
		s.press([]string{"p", "f"}[n%2])
	}
	s.sees(fmt.Sprintf("Card %d of", labels+1), "12 of ", "cards labelled")
	if n := strings.Count(p.must("labels", "export", before), "\n") - 1; n != labels {
		t.Errorf("%d labels are in the file", n)
	}

	s.press("f5")
	s.sees("5 Judge", "measure")
	s.press("m")
	s.sees("INCONCLUSIVE", "labels are too few")
	s.press("G")
	s.sees("ana (human): 12 labels")

	s.press("1")
	s.sees("1 Runs", "new run")
	better, err := fs.ReadFile(recipes.FS(), "01-simulate/seeded-agent/policy-v2.md")
	if err != nil {
		t.Fatal(err)
	}
	p.write("mine/policy.md", string(better)) // in an editor beside the app
	s.press("a")
	s.sees("./mine", "set up")
	s.press("a")
	s.sees("instead of new ones")
	s.press("up") // round to the last knob: the tasks of an earlier run
	s.write("last")
	s.sees("last")
	s.press("enter")
	s.sees("2 Live", "done", "pass@1", "took")
	after := p.id("last")

	s.press("1")
	s.sees("1 Runs", "2 runs")
	s.press("g space j space")
	s.sees("2 marked")
	s.press("c")
	s.sees("6 Delta", before+" → "+after, "◉ pass_at_1", "▲ improved")
	s.press("o")
	s.sees("Written")
	s.press("7")
	s.sees("7 Cut", "rows in", "sft")
	s.press("w")
	s.sees("Enter writes them")
	s.press("enter")
	s.sees("rows for sft", after+".sft.jsonl")
	s.press("q")
	if code := s.ends(); code != exitOK {
		t.Errorf("exit %d", code)
	}
	for _, file := range []string{"delta-" + before + "-" + after + ".html", after + ".sft.jsonl"} {
		if info, err := os.Stat(p.file(file)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
	if beside, _ := filepath.Glob(p.file("assay.db-*")); len(beside) > 0 {
		t.Errorf("%v is left beside the file", beside)
	}
}

// TestLabelOpensTheApp on the run and the queue that were asked for.
func TestLabelOpensTheApp(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("run", bribed)
	s := p.open(130, 30, "label", "last", "--annotator", "zoe", "--queue", "evening", "--order", "random", "--rows", "7")
	s.sees("4 Label", "queue evening", "zoe", "Card 1 of")
	s.press("q")
	if code := s.ends(); code != exitOK {
		t.Errorf("exit %d", code)
	}
}
