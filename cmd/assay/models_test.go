package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/engine"
	"assay/engine/model/modeltest"
	"assay/engine/record"
)

// failing is a model server whose every conversation fails in a way of its own, told by
// the seed that the agent sends: which way says what has to become of the rollout.
type failing struct {
	mu    sync.Mutex
	began map[int64]int // requests that began a conversation, by seed
	asked int
}

// ending is what has to become of a conversation.
type ending struct {
	status record.Status
	cause  record.Cause
}

// endings are the ways to fail, by the seed modulo their number: most conversations go
// well.
var endings = map[int64]struct {
	name string
	want ending
}{
	1: {"429 at first", ending{record.StatusDone, ""}},
	2: {"500 at first", ending{record.StatusDone, ""}},
	3: {"cut at first", ending{record.StatusDone, ""}},
	4: {"arguments that are no JSON", ending{record.StatusDone, ""}},
	5: {"a tool that is not there", ending{record.StatusDone, ""}},
	6: {"half a call", ending{record.StatusLost, record.CauseInfrastructure}},
	7: {"500 always", ending{record.StatusLost, record.CauseInfrastructure}},
	8: {"bad JSON", ending{record.StatusLost, record.CauseInfrastructure}},
	9: {"over the window", ending{record.StatusLost, record.CauseContext}},
}

const endingsModulo = 50

func wayOf(seed int64) int64 { return seed % endingsModulo }

// seedSent is the seed of a rollout as its model is sent it.
func seedSent(row record.Row, seed int64) int64 {
	evalRun := 0
	if row.Lineage != nil && row.Lineage.EvalRun != nil {
		evalRun = *row.Lineage.EvalRun
	}
	return record.SeedOf("agent", seed, row.TaskID, evalRun, row.RolloutIndex) & (1<<31 - 1)
}

func (f *failing) choose(r *modeltest.Request) modeltest.Step {
	var body struct{ Seed int64 }
	if json.Unmarshal(r.Body, &body) != nil {
		return modeltest.Fail(400, "no body")
	}
	begins := r.Messages[len(r.Messages)-1].Role == "user"
	f.mu.Lock()
	f.asked++
	if begins {
		f.began[body.Seed]++
	}
	first := f.began[body.Seed] == 1
	f.mu.Unlock()
	look := modeltest.Answer{Text: "Let me look.", Calls: []modeltest.Call{{Name: "look", Arguments: `{"q":"a"}`}}}
	switch way := wayOf(body.Seed); {
	case way == 1 && first && begins:
		return modeltest.RateLimited(0)
	case way == 2 && first && begins:
		return modeltest.Broken()
	case way == 3 && first && begins:
		return modeltest.Cut(look, 60)
	case way == 4 && begins:
		return modeltest.CallTool("look", `{"q": `)
	case way == 5 && begins:
		return modeltest.CallTool("nowhere", `{}`)
	case way == 6:
		return modeltest.HalfCall("look", `{"q":"a"}`)
	case way == 7:
		return modeltest.Broken()
	case way == 8:
		return modeltest.BadJSON()
	case way == 9:
		return modeltest.Overflow()
	case begins:
		return modeltest.Reply(look)
	}
	return modeltest.Say("It is done.")
}

func (f *failing) requests() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

const modelRecipe = `
name: models
agent: {model: %q, max_turns: 1, timeout: 120s, price: {input: 1, output: 2}}
system_prompt: Help.
tools: [{name: look, description: Looks something up, parameters: {type: object, properties: {q: {type: string}}}}]
simulate: {mode: eval, holdout: 1, situations: %d, repeats: 10, concurrency: 128, seed: 5%s}
grade: {markers: {good: '1'}, reward: {marker: good}}
`

// TestAThousandRolloutsThroughFailures runs against a server that fails in every way, is
// killed in the middle, and resumed: each rollout ends as its failure says, none is put
// down to the agent, and none is there twice or missing.
func TestAThousandRolloutsThroughFailures(t *testing.T) {
	t.Parallel()
	situations := 100
	if testing.Short() {
		situations = 20
	}
	f := &failing{began: map[int64]int{}}
	server := modeltest.NewServerFunc(t, f.choose)
	p := newPlace(t)
	p.write("r/recipe.yaml", fmt.Sprintf(modelRecipe, "vllm:fake@"+server.URL, situations, ""))
	c := p.command("run", "r")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for f.requests() < 6*situations { // about a third of the way
		if p.t.Context().Err() != nil {
			break
		}
		time.Sleep(time.Millisecond) // a poll: the server tells nobody
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	r := decode[engine.StoryResult](t, p.must("resume", "last", "--json"))
	if r.StoppedBecause != record.StoppedComplete {
		t.Fatalf("stopped because %s: %s", r.StoppedBecause, r.Error)
	}
	seen, ways := map[string]bool{}, map[int64]int{}
	for _, row := range p.rows("last") {
		key := record.Key{TaskID: row.TaskID, K: row.RolloutIndex}.String()
		if seen[key] {
			t.Errorf("%s is there twice", key)
		}
		seen[key] = true
		way := wayOf(seedSent(row, 5))
		ways[way]++
		want := endings[way].want
		if want.status == "" {
			want.status = record.StatusDone
		}
		if got := (ending{row.Status, row.Cause}); got != want {
			t.Errorf("%s (%s) ended %+v, want %+v: %s", key, endings[way].name, got, want, row.Error)
		}
		if row.Status == record.StatusDone && (row.FinalText != "It is done." || len(row.Steps) == 0 || row.Usage == nil || row.Usage.Cost == 0) {
			t.Errorf("%s (%s) came to %q after %d steps, usage %v", key, endings[way].name, row.FinalText, len(row.Steps), row.Usage)
		}
	}
	if want := 10 * situations; len(seen) != want {
		t.Errorf("%d rollouts, want %d", len(seen), want)
	}
	for way, e := range endings {
		if ways[way] == 0 && !testing.Short() {
			t.Errorf("no conversation failed by %s", e.name)
		}
	}
	if lost := slices.Sorted(func(yield func(record.Cause) bool) {
		for cause := range r.Lost {
			if !yield(cause) {
				return
			}
		}
	}); slices.Contains(lost, record.CauseAgent) {
		t.Errorf("lost to %v: the agent was blamed", lost)
	}
	if out := p.must("show", "last"); !strings.Contains(out, "spent") {
		t.Errorf("show does not say what was used up:\n%s", out)
	}
}
