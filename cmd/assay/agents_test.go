package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"assay/engine"
	"assay/engine/record"
)

// slowAgent speaks the agent protocol and takes 20 ms over each reply.
func slowAgent() {
	eachTurn(func(id string, _ int) {
		time.Sleep(20 * time.Millisecond)
		reply(id, "I looked into it, and it is not something that I can do.")
	})
}

// brokenAgent breaks in the way that its argument names.
func brokenAgent() {
	how := os.Args[1]
	if how == "exits-at-once" {
		fmt.Fprintln(os.Stderr, "cannot read my configuration")
		os.Exit(3)
	}
	eachTurn(func(id string, k int) {
		switch how {
		case "raises":
			fmt.Printf("{\"type\":\"error\",\"id\":%q,\"error\":\"KeyError: 'service' in plan()\"}\n", id)
		case "junk":
			fmt.Println("Loading weights: 100%")
		case "hangs":
			select {}
		case "exits":
			fmt.Fprintln(os.Stderr, "panic: out of cheese")
			os.Exit(1)
		case "floods":
			line := strings.Repeat("x", 1<<20)
			for {
				fmt.Print(line)
			}
		case "empty":
			reply(id, "")
		case "half":
			if k%2 == 1 {
				fmt.Println("not json")
				return
			}
			reply(id, "It is done.")
		}
	})
}

// eachTurn reads turns and hands on each one's id and which rollout of its group
// it is.
func eachTurn(do func(id string, k int)) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var turn struct {
			Type, ID string
			Rollout  struct{ K int }
		}
		if json.Unmarshal(in.Bytes(), &turn) == nil && turn.Type == "turn" {
			do(turn.ID, turn.Rollout.K)
		}
	}
}

func reply(id, text string) {
	fmt.Printf("{\"type\":\"reply\",\"id\":%q,\"final_text\":%q}\n", id, text)
}

// slowRecipe has an agent that takes long enough to be interrupted.
const slowRecipe = `
name: slow
agent: {command: [slow-agent], version: "1"}
simulate: {mode: eval, holdout: 1, situations: 200, repeats: 4, concurrency: 4}
`

// TestBrokenAgentsAreNamed runs agents that break in every way, and wants a run
// that ends early as agent_failed (or empty_replies), with a sentence that says
// what the agent did.
func TestBrokenAgentsAreNamed(t *testing.T) {
	for how, c := range map[string]struct {
		stopped record.StopReason
		lost    int // at most: ten that broke, or one of a program that never said a word, and those that were lost in the same moment
		says    []string
	}{
		"raises":        {record.StoppedAgentFailed, 10, []string{"KeyError: 'service' in plan()"}},
		"junk":          {record.StoppedAgentFailed, 10, []string{"is not JSON", "Loading weights", "stderr"}},
		"hangs":         {record.StoppedAgentFailed, 10, []string{"deadline"}},
		"exits":         {record.StoppedAgentFailed, 3, []string{"exit status 1", "out of cheese"}},
		"exits-at-once": {record.StoppedAgentFailed, 3, []string{"exit status 3", "cannot read my configuration"}},
		"floods":        {record.StoppedAgentFailed, 10, []string{"16 MiB"}},
		"empty":         {record.StoppedEmptyReplies, 0, nil},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			timeout := "60s" // long enough for any machine to see what else is wrong
			if how == "hangs" {
				timeout = "500ms"
			}
			atOnce := 32 // many more than it takes to see that nothing comes of it
			if how == "hangs" || how == "floods" {
				atOnce = 4
			}
			p.write("r/recipe.yaml", fmt.Sprintf("name: broken\nagent: {command: [broken-agent, %s], version: \"1\", timeout: %s}\nsimulate: {mode: eval, holdout: 1, situations: 40, repeats: 4, concurrency: %d}\n", how, timeout, atOnce))
			out, errs, code := p.run("run", "r", "--json")
			if code != exitCouldNot {
				t.Errorf("exit %d, want %d\n%s", code, exitCouldNot, errs)
			}
			var r engine.StoryResult
			if err := json.Unmarshal([]byte(out), &r); err != nil {
				t.Fatalf("stdout is no JSON document: %v\n%s", err, out)
			}
			if r.StoppedBecause != c.stopped {
				t.Errorf("stopped because %s, want %s", r.StoppedBecause, c.stopped)
			}
			for _, want := range c.says {
				if !strings.Contains(string(r.Error), want) {
					t.Errorf("the error %q does not say %q", r.Error, want)
				}
			}
			lost := 0
			for _, n := range r.Lost {
				lost += n
			}
			if most := c.lost; lost > most || c.stopped == record.StoppedAgentFailed && lost == 0 {
				t.Errorf("%d rollouts were lost before it was called off, want 1 to %d", lost, most)
			}
			if lost+r.Rollouts >= 160 {
				t.Errorf("%d rollouts were made before it was called off", lost+r.Rollouts)
			}
		})
	}
}

// TestMissingAgentIsRefused wants a program that is not there to be named before
// a run exists.
func TestMissingAgentIsRefused(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("r/recipe.yaml", "name: missing\nagent: {command: [no-such-program-anywhere]}\n")
	out, errs, code := p.run("run", "r", "--json")
	if code != exitCouldNot || !strings.Contains(errs, "no-such-program-anywhere") {
		t.Errorf("exit %d: %s", code, errs)
	}
	var doc struct {
		Error struct{ Code, Message, Where, Fix string }
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || doc.Error.Message == "" || doc.Error.Fix == "" {
		t.Errorf("no error document on stdout: %v\n%s", err, out)
	}
	if runs := p.must("runs", "--json"); strings.Contains(runs, "missing") {
		t.Errorf("a run was made: %s", runs)
	}
}

// TestRowsBeforeABreakAreKept wants the rows of an agent that sometimes breaks,
// and the others counted by cause.
func TestRowsBeforeABreakAreKept(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("r/recipe.yaml", "name: half\nagent: {command: [broken-agent, half], version: \"1\"}\nsimulate: {mode: eval, holdout: 1, situations: 10, repeats: 4, concurrency: 1}\n")
	out, errs, code := p.run("run", "r", "--json")
	var r engine.StoryResult
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("exit %d: %v\n%s%s", code, err, out, errs)
	}
	if r.Rollouts == 0 || r.StoppedBecause != record.StoppedComplete {
		t.Errorf("%d rollouts kept, stopped because %s", r.Rollouts, r.StoppedBecause)
	}
	lines := strings.Count(p.must("rows", "last"), "\n")
	if lines != r.Rollouts+r.Lost[record.CauseAgent] {
		t.Errorf("%d rows, want %d done and %d lost", lines, r.Rollouts, r.Lost[record.CauseAgent])
	}
}

// TestBadRecipesCostASentence wants a sentence with a place for each, exit 2, and
// no database left behind.
func TestBadRecipesCostASentence(t *testing.T) {
	const head = "name: bad\nagent: {builtin: seeded}\n"
	for name, c := range map[string]struct {
		recipe, tools string
		says          []string
	}{
		"a misspelt key":            {head + "simulate: {situatons: 3}\n", "", []string{"recipe.yaml:3:", "situations"}},
		"an unknown builtin":        {"name: bad\nagent: {builtin: seded}\n", "", []string{"recipe.yaml:2:", "seded", "seeded"}},
		"an unknown axis":           {head + "tools: tools.json\nsimulate: {dimensions: {stanc: [ordinary]}}\n", "[]", []string{"recipe.yaml:4:", "stanc", "stance"}},
		"an unknown stance":         {head + "tools: tools.json\nsimulate: {dimensions: {stance: [angry]}}\n", "[]", []string{"angry"}},
		"an unknown condition":      {head + "simulate: {dimensions: {tool_condition: [timeot]}}\n", "", []string{"timeot", "timeout"}},
		"an exclusion that is none": {head + "simulate: {exclude: ['tool = 3 +']}\n", "", []string{"recipe.yaml:3:", "exclude"}},
		"tools that are no JSON":    {head + "tools: tools.json\n", "[{]", []string{"tools.json"}},
		"a schema that is none":     {head + "tools: tools.json\n", `[{"name":"a","parameters":{"type":"objekt"}}]`, []string{"tools[0]", "objekt"}},
		"a marker that is none":     {head + "grade: {markers: {m: \"caled('x')\"}}\n", "", []string{"m", "caled"}},
		"a reward without a marker": {head + "grade: {reward: {marker: nope}}\n", "", []string{"nope"}},
		"a verifier that is none":   {head + "grade: {reward: {verify: {kind: exakt}}}\n", "", []string{"exakt"}},
		"a guard that is none":      {head + "grade: {markers: {good: '1'}, reward: {marker: good}}\nafter: {system_prompt: Be kind.}\ndelta: {must_not_regress: [argument_groundin]}\n", "", []string{"recipe.yaml:5:", "argument_grounding"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("r/recipe.yaml", c.recipe)
			if c.tools != "" {
				p.write("r/tools.json", c.tools)
			}
			out, errs, code := p.run("run", "r")
			if code != exitCouldNot || out != "" {
				t.Errorf("exit %d, stdout %q", code, out)
			}
			for _, want := range c.says {
				if !strings.Contains(errs, want) {
					t.Errorf("%q does not say %q", errs, want)
				}
			}
			if strings.Count(strings.TrimSpace(errs), "\n") > 3 {
				t.Errorf("more than a sentence: %s", errs)
			}
			if out, _, code := p.run("runs", "--json"); code == 0 && strings.Contains(out, "bad") {
				t.Errorf("a run was made: %s", out)
			}
		})
	}
}
