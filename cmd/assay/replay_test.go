package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"assay/engine"
	"assay/engine/record"
	"assay/store"
)

// TestReplay runs every rollout of a story again in its own world: each answer is
// the same. Without its fault the calls that the fault shaped differ, and no
// other before the first of them.
func TestReplay(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("run", "seeded-agent", "--situations", "40", "--name", "r")
	db, err := store.OpenReadOnly(t.Context(), p.file("assay.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	e := &engine.Engine{Source: db}
	id, err := db.Resolve(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	calls, faulted, agents := 0, 0, 0
	for s, err := range db.Samples(t.Context(), id, record.SampleQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Replay(t.Context(), s, engine.ReplayOptions{})
		if err != nil || !r.Same {
			t.Fatalf("%s: %v, %+v", s.Rollout.Key, err, r)
		}
		calls += len(r.Calls)
		if s.Task.Fault == nil {
			if _, err := e.Replay(t.Context(), s, engine.ReplayOptions{WithoutFault: true}); err == nil || !strings.Contains(err.Error(), "no fault") {
				t.Errorf("%s has no fault to switch off: %v", s.Rollout.Key, err)
			}
			continue
		}
		if r, err = e.Replay(t.Context(), s, engine.ReplayOptions{WithoutFault: true}); err != nil {
			t.Fatal(err)
		}
		hit := false
		for _, c := range r.Calls {
			hit = hit || c.Before.Fault != ""
			if !hit && !c.Same {
				t.Errorf("%s: step %d differs before any fault: %s, %s", s.Rollout.Key, c.Step, c.Before.Result, c.After.Result)
			}
			if c.After.Fault != "" || c.Before.Fault != "" && c.Same {
				t.Errorf("%s: step %d without the fault is %s", s.Rollout.Key, c.Step, c.After.Result)
			}
		}
		if hit {
			faulted++
		}
		if r.Same == hit {
			t.Errorf("%s: a fault hit is %v, nothing differs is %v", s.Rollout.Key, hit, r.Same)
		}
		if agents++; agents > 8 {
			continue
		}
		if r, err = p.engine(db).Replay(t.Context(), s, engine.ReplayOptions{Agent: true}); err != nil || !r.Same || len(r.Warnings) > 0 {
			t.Errorf("%s: the same agent in the same world went another way: %v, %+v", s.Rollout.Key, err, r)
		}
	}
	if calls < 20 || faulted < 3 {
		t.Errorf("%d calls were replayed, %d rollouts had a fault that hit: the test shows little", calls, faulted)
	}
}

// engine is one that can run agents.
func (p *place) engine(db *store.DB) *engine.Engine {
	return (&session{environ: os.Environ()}).newEngine(db, nil)
}

// The command says what differs, and exits 1 only where the same world answers
// otherwise.
func TestReplayCommand(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("run", "seeded-agent", "--situations", "40", "--name", "r")
	var hit *record.Row
	for _, row := range p.rows("r") {
		for _, s := range row.Steps {
			if s.Fault == record.ConditionTimeout && hit == nil {
				hit = &row
			}
		}
	}
	if hit == nil {
		t.Fatal("no timeout hit: the test shows nothing")
	}
	key := fmt.Sprintf("%s#%d", hit.TaskID, hit.RolloutIndex)
	if said := p.must("replay", hit.RolloutID); !strings.Contains(said, "nothing differs") || !strings.Contains(said, "timeout") {
		t.Errorf("%s", said)
	}
	r := decode[engine.ReplayReport](t, p.must("replay", "r", key, "--without-fault", "--json"))
	if r.Same || r.Rollout != hit.RolloutID || r.Fault == nil || r.Before != nil {
		t.Errorf("%+v", r)
	}
	again := decode[engine.ReplayReport](t, p.must("replay", "r", key, "--without-fault", "--agent", "--json"))
	if again.Before == nil || again.After == nil || again.After.Status != record.StatusDone || string(again.Before.FinalText) != string(hit.FinalText) {
		t.Fatalf("%+v", again)
	}
	for _, s := range again.After.Steps {
		if s.Fault != "" {
			t.Errorf("the agent met the fault %s, which is switched off", s.Fault)
		}
	}
	if said := p.must("replay", "r", key, "--without-fault", "--agent"); !strings.Contains(said, "before") || !strings.Contains(said, "after") || !strings.Contains(said, "reward") {
		t.Errorf("%s", said)
	}
	for _, args := range [][]string{{"0000000000000000"}, {"r", "nope"}, {"r", "nope#1"}, {"r", key + "x"}, {"nope", key}} {
		if _, errs, code := p.run(append([]string{"replay"}, args...)...); code != exitCouldNot || errs == "" {
			t.Errorf("%q: exit %d, %s", args, code, errs)
		}
	}
	before := p.must("rows", "r", "--canonical")
	if after := p.must("rows", "r", "--canonical"); after != before {
		t.Errorf("a replay changed the run: %s", firstDifference(before, after))
	}
}

// A rollout whose agent answered its own tools has no world to ask; the agent can
// still be asked.
func TestReplayOfAnAgentsOwnTools(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.orders("r")
	p.write("r/recipe.yaml", "name: own\nagent: {command: [calling-agent, own], version: \"1\", tools_by: agent}\nsystem_prompt: policy.md\ntools: tools.json\nsimulate: {mode: eval, holdout: 1, situations: 6, repeats: 1}\n")
	p.must("run", "r", "--json")
	row := p.rows("last")[0]
	if _, errs, code := p.run("replay", row.RolloutID); code != exitCouldNot || !strings.Contains(errs, "--agent") {
		t.Errorf("exit %d, %s", code, errs)
	}
	r := decode[engine.ReplayReport](t, p.must("replay", row.RolloutID, "--agent", "--json"))
	if raw, _ := json.Marshal(r); !r.Same {
		t.Errorf("%s", raw)
	}
}
