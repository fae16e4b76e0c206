package main

import (
	"fmt"
	"strings"
	"testing"

	"assay/engine"
	"assay/engine/model/modeltest"
	"assay/engine/record"
)

// keyedRecipe has a model in every role, each with a key from another place.
const keyedRecipe = `
name: keyed
agent: {model: "openai:fake@%[1]s", max_turns: 2, cache: true, key_env: OPENAI_API_KEY}
system_prompt: Help.
tools: [{name: look, description: Looks something up, parameters: {type: object, properties: {q: {type: string}}}}]
simulate: {mode: eval, holdout: 1, situations: 6, repeats: 1, concurrency: 4, user: {model: "vllm:user@%[1]s", key_env: USER_BOT}, writer: {model: "vllm:writer@%[1]s", headers: {X-Api-Key: "${USER_BOT}"}}}
grade: {reward: {judge: {model: "anthropic:judge@%[1]s", rubric: "1. It helps.", key_command: [%[2]q, %[3]q]}}}
`

// newKeyedPlace is a place with keys in its environment, and a server that says in every
// way what key it was sent.
func newKeyedPlace(t *testing.T, say func(r *modeltest.Request, key string) modeltest.Step) (*place, *modeltest.Server) {
	t.Setenv("OPENAI_API_KEY", leakedKey)
	t.Setenv("USER_BOT", leakedPassword)
	server := modeltest.NewServerFunc(t, func(r *modeltest.Request) modeltest.Step {
		return say(r, r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"))
	})
	p := newPlace(t)
	p.write("given-key", leakedKey[:20]+"anotherKey42"+leakedPassword[:16]) // what the command prints
	p.write("r/recipe.yaml", fmt.Sprintf(keyedRecipe, server.URL, "cat", p.file("given-key")))
	return p, server
}

// TestModelsKeysAreNowhere has every model say its key as a text, as arguments of a call,
// as a verdict, and as an error, and looks for ten characters of it in all that is kept or
// printed.
func TestModelsKeysAreNowhere(t *testing.T) {
	p, server := newKeyedPlace(t, func(r *modeltest.Request, key string) modeltest.Step {
		switch last := r.Messages[len(r.Messages)-1]; {
		case r.Model == "fake" && last.Role == "user" && len(r.Tools) > 0:
			return modeltest.Reply(modeltest.Answer{Text: key, Reasoning: key, Calls: []modeltest.Call{{Name: "look", Arguments: `{"q":"` + key + `"}`}}})
		case r.Model == "user" && strings.Contains(last.Text, "Which"):
			return modeltest.Fail(400, "the key "+key+" may not")
		}
		return modeltest.EchoKey()
	})
	r := decode[engine.StoryResult](t, p.silent("run", "r", "--json"))
	if r.Rollouts == 0 {
		t.Fatalf("nothing was tested: %+v", r)
	}
	asked := map[string]bool{}
	for _, request := range server.Requests() {
		asked[request.Model] = true
	}
	for _, who := range []string{"fake", "user", "judge"} {
		if !asked[who] {
			t.Errorf("%s was not asked", who)
		}
	}
	if rows := p.rows("last"); !strings.Contains(string(rows[0].FinalText), record.Masked) {
		t.Errorf("the rows do not say that keys were masked: %+v", rows[0])
	}
	for _, args := range [][]string{
		{"rows", "last"}, {"rows", "last", "--json"}, {"rows", "last", "--canonical"}, {"export", "last"}, {"export", "last", "--out", "rows.jsonl"},
		{"show", "last"}, {"show", "last", "--json"}, {"grade", "last"}, {"grade", "last", "--json"}, {"doctor", "r"}, {"doctor", "r", "--json"}, {"resume", "last"},
	} {
		p.silent(args...)
	}
	p.filesHoldNoKey()
}

// TestRefusedKeysAreNowhere wants a run that does not begin where a key is refused, and
// the server's words about the key without it.
func TestRefusedKeysAreNowhere(t *testing.T) {
	for name, fail := range map[string]modeltest.Step{"401": modeltest.Unauthorized(), "500": modeltest.Fail(500, "no "+leakedKey), "404": modeltest.Fail(404, leakedKey)} {
		t.Run(name, func(t *testing.T) {
			p, _ := newKeyedPlace(t, func(r *modeltest.Request, key string) modeltest.Step { return fail })
			out, errs, code := p.run("run", "r", "--json")
			if code != exitCouldNot || !strings.Contains(errs, "nothing was begun") {
				t.Errorf("exit %d: %s", code, errs)
			}
			if said := spoken(out + errs); said != "" {
				t.Errorf("%q was said: %s%s", said, out, errs)
			}
			if runs := p.silent("runs", "--json"); strings.Contains(runs, "keyed") {
				t.Errorf("a run was made: %s", runs)
			}
			p.silent("doctor", "r")
			p.filesHoldNoKey()
		})
	}
}

// TestKeysAreLookedForBeforeAnythingIsSpent wants a sentence for a key that is missing,
// whichever role needs it, and no request.
func TestKeysAreLookedForBeforeAnythingIsSpent(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("ANTHROPIC_API_KEY", "")
	server := modeltest.NewServer(t)
	for role, c := range map[string]struct{ recipe, where string }{
		"the agent":         {"agent: {model: \"openai:gpt-x\"}\n", "recipe.yaml:2:9"},
		"the changed agent": {"agent: {model: \"vllm:fake@" + server.URL + "\"}\nafter: {agent: {model: \"anthropic:claude-x\"}}\n", "recipe.yaml:3:"},
		"the user":          {"agent: {model: \"vllm:fake@" + server.URL + "\"}\nsimulate: {user: \"openai:gpt-x\"}\n", "recipe.yaml:3:"},
		"the writer":        {"agent: {model: \"vllm:fake@" + server.URL + "\"}\nsimulate: {writer: \"openai:gpt-x\"}\n", "recipe.yaml:3:"},
		"the judge":         {"agent: {model: \"vllm:fake@" + server.URL + "\"}\ngrade: {reward: {judge: {model: \"openai:gpt-x\", rubric: \"1. It helps.\"}}}\n", "recipe.yaml:3:"},
	} {
		p := newPlace(t)
		p.write("r/recipe.yaml", "name: keyless\n"+c.recipe)
		_, errs, code := p.run("run", "r")
		if code != exitCouldNot || !strings.Contains(errs, "_API_KEY") || !strings.Contains(errs, c.where) {
			t.Errorf("%s: exit %d: %s", role, code, errs)
		}
	}
	if n := len(server.Requests()); n > 0 {
		t.Errorf("%d requests were made", n)
	}
	p := newPlace(t)
	if out, _, code := p.run("doctor"); !strings.Contains(out, "OPENAI_API_KEY is not set") || !strings.Contains(out, "a key in OPENAI_API_KEY") || code == exitCouldNot {
		t.Errorf("doctor, exit %d:\n%s", code, out)
	}
	if _, errs, code := p.run("run", "a-model-agent"); code != exitCouldNot || !strings.Contains(errs, "OPENAI_API_KEY") {
		t.Errorf("the model recipe without a key: exit %d: %s", code, errs)
	}
}

// TestACompleteStoryNeedsNoKey: what is done is done, and showing it asks nobody.
func TestACompleteStoryNeedsNoKey(t *testing.T) {
	t.Setenv("VLLM_API_KEY", "")
	server := modeltest.NewServerFunc(t, (&failing{began: map[int64]int{}}).choose)
	p := newPlace(t)
	p.write("r/recipe.yaml", fmt.Sprintf(modelRecipe, "vllm:fake@"+server.URL, 2, ""))
	p.must("run", "r", "--name", "first")
	before := len(server.Requests())
	p.must("show", "first")
	p.must("pass", "first")
	if r := decode[engine.StoryResult](t, p.must("resume", "first", "--json")); r.StoppedBecause != record.StoppedComplete {
		t.Errorf("the resume ended %s", r.StoppedBecause)
	}
	if after := len(server.Requests()); after != before {
		t.Errorf("%d requests were made for a story that is complete", after-before)
	}
}

// TestTheCacheAnswersEqualRequests wants a second run to ask nothing that the first one
// asked, and without the key everything again.
func TestTheCacheAnswersEqualRequests(t *testing.T) {
	server := modeltest.NewServerFunc(t, func(r *modeltest.Request) modeltest.Step {
		if r.Messages[len(r.Messages)-1].Role == "user" {
			return modeltest.CallTool("look", `{"q":"a"}`)
		}
		return modeltest.Say("It is done.")
	})
	p := newPlace(t)
	spec := "vllm:fake@" + server.URL
	p.write("r/recipe.yaml", strings.Replace(fmt.Sprintf(modelRecipe, spec, 2, ""), "max_turns", "cache: true, max_turns", 1))
	asked := func(name string, more ...string) int {
		before := len(server.Requests())
		p.must(append([]string{"run", "r", "--name", name}, more...)...)
		return len(server.Requests()) - before
	}
	if n := asked("first"); n != 40 {
		t.Fatalf("the first run made %d requests, want two for each of 20 rollouts", n)
	}
	if n := asked("second"); n != 0 {
		t.Errorf("the second run made %d requests", n)
	}
	if a, b := p.must("rows", "first", "--canonical"), p.must("rows", "second", "--canonical"); a != b {
		t.Errorf("the cache gives other rows: %s", firstDifference(a, b))
	}
	if n := asked("third", "--agent", fmt.Sprintf("{model: %q, max_turns: 1}", spec)); n != 40 {
		t.Errorf("a run without the cache made %d requests", n)
	}
}

// TestOneModelInTwoPartsIsSaid is R13.
func TestOneModelInTwoPartsIsSaid(t *testing.T) {
	server := modeltest.NewServer(t, modeltest.Say("Done."))
	p := newPlace(t)
	spec := "vllm:fake@" + server.URL
	p.write("r/recipe.yaml", fmt.Sprintf("name: same\nagent: {model: %q, max_turns: 1}\nsimulate: {mode: eval, holdout: 1, situations: 2, repeats: 1, user: %q}\ngrade: {reward: {judge: {model: %q, rubric: \"1. It helps.\"}}}\n", spec, spec, spec))
	_, errs, _ := p.run("run", "r")
	if !strings.Contains(errs, "the agent, the user and the judge are one model") {
		t.Errorf("nothing says that one model plays three parts: %s", errs)
	}
	rows := p.rows("last")
	if len(rows) != 2 || rows[0].UserModel != "vllm:fake" || len(rows[0].Sampling) == 0 || rows[0].PolicyVersion == "" {
		t.Errorf("the rows do not say who spoke: %+v", rows)
	}
}
