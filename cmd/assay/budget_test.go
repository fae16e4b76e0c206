package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"assay/engine"
	"assay/engine/record"
	"assay/engine/rollout"
	"assay/store"
)

// spender is an agent of 60 tokens a reply.
type spender struct{}

func (*spender) Reply(_ context.Context, turn record.Turn) (record.Reply, error) {
	turn.Call(context.Background(), record.ToolCall{Tool: "look"})
	return record.Reply{FinalText: "done", Usage: &record.Usage{InputTokens: 40, OutputTokens: 20, Cost: 0.5}}, nil
}

const spendingRecipe = `
name: spending
agent: {function: spender, max_turns: 1}
tools: [{name: look, description: Looks, parameters: {type: object}}]
simulate: {mode: eval, holdout: 1, situations: 10, repeats: 2, concurrency: 1%s}
grade: {markers: {good: '1'}, reward: {marker: good}}
%s
`

// told runs a story in this process, with a.
func (p *place) told(a rollout.Agent, story func(*engine.Engine) (*engine.StoryResult, error)) *engine.StoryResult {
	p.t.Helper()
	db, err := store.Open(p.t.Context(), p.file("assay.db"), store.Options{})
	if err != nil {
		p.t.Fatal(err)
	}
	defer db.Close()
	e := (&session{}).newEngine(db, nil)
	e.Functions = map[string]rollout.Agent{"spender": a}
	r, err := story(e)
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

func (p *place) spend(a rollout.Agent, simulate, more string) *engine.StoryResult {
	p.t.Helper()
	return p.told(a, func(e *engine.Engine) (*engine.StoryResult, error) {
		recipe, err := engine.LoadRecipe(func(string) ([]byte, error) { return []byte(fmt.Sprintf(spendingRecipe, simulate, more)), nil }, "")
		if err != nil {
			return nil, err
		}
		return e.Run(p.t.Context(), recipe, engine.Options{Out: p.dir}, &engine.Control{})
	})
}

func (p *place) goOn(a rollout.Agent, run string, o engine.Overrides) *engine.StoryResult {
	p.t.Helper()
	return p.told(a, func(e *engine.Engine) (*engine.StoryResult, error) {
		return e.Resume(p.t.Context(), run, engine.ResumeOptions{Out: p.dir, Overrides: o}, &engine.Control{})
	})
}

// spent is what show says was used up, and what the rows come to.
func (p *place) spent(run string) (shown record.Spending, rows record.Usage) {
	p.t.Helper()
	shown = decode[struct{ Spent record.Spending }](p.t, p.must("show", run, "--json")).Spent
	for _, row := range p.rows(run) {
		if row.Usage != nil {
			rows = rows.Plus(*row.Usage)
		}
	}
	return shown, rows
}

// TestBudgetsStopARunCleanly wants a run that ends at its budget of tokens or money, goes
// on where it is raised, and has then counted every row once.
func TestBudgetsStopARunCleanly(t *testing.T) {
	for name, c := range map[string]struct {
		budget, flag string
		stopped      record.StopReason
		rows         int
	}{
		"tokens": {"max_tokens: 300", "max-tokens", record.StoppedTokens, 5},
		"money":  {"max_cost: 3", "max-cost", record.StoppedCost, 6},
	} {
		t.Run(name, func(t *testing.T) {
			p, a := newPlace(t), &spender{}
			r := p.spend(a, ", "+c.budget, "")
			if r.StoppedBecause != c.stopped || r.Rollouts != c.rows || storyStatus(r) != nil {
				t.Fatalf("stopped because %s after %d rollouts, exit %v", r.StoppedBecause, r.Rollouts, storyStatus(r))
			}
			if again := p.goOn(a, r.Run, nil); again.StoppedBecause != c.stopped || again.Rollouts != c.rows {
				t.Errorf("the same budget again: %s after %d", again.StoppedBecause, again.Rollouts)
			}
			if more := p.goOn(a, r.Run, engine.Overrides{c.flag: "480"}); c.flag == "max-tokens" && (more.StoppedBecause != c.stopped || more.Rollouts != 8) {
				t.Errorf("a larger budget: %s after %d rollouts", more.StoppedBecause, more.Rollouts)
			}
			whole := p.goOn(a, r.Run, engine.Overrides{c.flag: "100000"})
			if whole.StoppedBecause != record.StoppedComplete || whole.Rollouts != 20 {
				t.Errorf("without want: %s after %d rollouts", whole.StoppedBecause, whole.Rollouts)
			}
			shown, rows := p.spent(r.Run)
			if want := (record.Usage{InputTokens: 800, OutputTokens: 400, Cost: 10}); shown.Rows != want || rows != want || shown.Besides != (record.Usage{}) {
				t.Errorf("shown %+v, rows %+v, want %+v", shown, rows, want)
			}
			if out := p.must("show", r.Run); !strings.Contains(out, "1200 tokens") {
				t.Errorf("show does not say what was used up:\n%s", out)
			}
		})
	}
}

// TestABudgetIsTheStorys wants what the first run used up to count when the changed arm
// is run.
func TestABudgetIsTheStorys(t *testing.T) {
	p := newPlace(t)
	r := p.spend(&spender{}, ", max_tokens: 1500", "after: {system_prompt: Be kind.}\ndelta: {runs: 1}")
	if r.StoppedBecause != record.StoppedTokens || r.Delta != nil || r.Rollouts != 20 {
		t.Errorf("stopped because %s, delta %v, %d rollouts", r.StoppedBecause, r.Delta, r.Rollouts)
	}
	r = p.goOn(&spender{}, r.Run, engine.Overrides{"max-tokens": "10000"})
	if r.StoppedBecause != record.StoppedComplete || r.Delta == nil {
		t.Errorf("stopped because %s, delta %v", r.StoppedBecause, r.Delta)
	}
}

// TestResumeRefusesOtherKnobs: what changes a result makes another run.
func TestResumeRefusesOtherKnobs(t *testing.T) {
	p := newPlace(t)
	r := p.spend(&spender{}, ", budget: 3", "")
	db, err := store.Open(t.Context(), p.file("assay.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	e := (&session{}).newEngine(db, nil)
	if _, err := e.Resume(t.Context(), r.Run, engine.ResumeOptions{Overrides: engine.Overrides{"seed": "4"}}, &engine.Control{}); err == nil || !strings.Contains(err.Error(), "--seed") {
		t.Errorf("another seed: %v", err)
	}
}
