package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/engine"
	"assay/engine/record"
)

// S8: a run whose situations run out ends because they did, not by time or budget.
func TestS8SituationsRunOut(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.orders("r")
	p.write("r/recipe.yaml", "name: few\nagent: {builtin: seeded}\nsystem_prompt: policy.md\ntools: tools.json\n"+
		"simulate: {mode: eval, holdout: 1, situations: 300, repeats: 1, budget: 5000, dimensions: {stance: [ordinary], history: [fresh], world_state: [exists], tool_condition: [success], rule: [unspecified]}}\n")
	r := decode[engine.StoryResult](t, p.must("run", "r", "--json"))
	if r.StoppedBecause != record.StoppedComplete || r.Rollouts == 0 || r.Rollouts >= 300 {
		t.Errorf("%d rollouts, stopped because %s", r.Rollouts, r.StoppedBecause)
	}
	if text := p.must("run", "r"); !strings.Contains(text, "situations complete") {
		t.Errorf("it does not say so:\n%s", text)
	}
}

// S10: both arms of a comparison answer the same tasks, and only the first searched.
func TestS10BothArmsAnswerTheSameTasks(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("run", "before-and-after", "--name", "r", "--runs", "1")
	tasks := func(run string) []string {
		var ids []string
		for _, row := range p.rows(run) {
			ids = append(ids, row.TaskID)
		}
		slices.Sort(ids)
		return slices.Compact(ids)
	}
	before, after := tasks("r:before"), tasks("r:after")
	if len(before) == 0 || !slices.Equal(before, after) {
		t.Errorf("the arms answer %d and %d tasks, not the same ones", len(before), len(after))
	}
}

// Constraints that contradict each other are refused by name, and the others are not.
func TestContradictingConstraintsAreNamed(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.orders("r")
	p.write("r/recipe.yaml", "name: none\nagent: {builtin: seeded}\nsystem_prompt: policy.md\ntools: tools.json\n"+
		"simulate: {mode: eval, exclude: [\"tool != 'get_order'\", \"stance == 'hurried'\", \"tool == 'get_order'\"]}\n")
	_, errs, code := p.run("cover", "r")
	if code != exitCouldNot || !strings.Contains(errs, "exclude[0]") || !strings.Contains(errs, "exclude[2]") || strings.Contains(errs, "exclude[1]") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// A policy of 200 KB is read whole and capped in the grid, which says so.
func TestAPolicyOf200KB(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.orders("r")
	var policy strings.Builder
	for i := 0; policy.Len() < 200<<10; i++ {
		fmt.Fprintf(&policy, "- Never approve request kind %d without a second person who has read paragraph %d of the handbook.\n", i, i*7)
	}
	p.write("r/policy.md", policy.String())
	p.write("r/recipe.yaml", "name: long\nagent: {builtin: seeded}\nsystem_prompt: policy.md\ntools: tools.json\nsimulate: {mode: eval, holdout: 1, situations: 10, repeats: 1}\n")
	r := decode[engine.StoryResult](t, p.must("run", "r", "--json"))
	if r.Rollouts < 10 || !slices.ContainsFunc(r.Warnings, func(w record.Warning) bool {
		return strings.Contains(w.Text, "16 of") && strings.Contains(w.Text, "clauses of the policy")
	}) {
		t.Errorf("%d rollouts, warned of %q", r.Rollouts, sayings(&r))
	}
	gap := decode[engine.GapReport](t, p.must("cover", "r", "--run", "last", "--json"))
	if gap.RulesOf < 1000 || len(gap.Rules) < gap.RulesOf-100 {
		t.Errorf("%d of %d rules are not reached", len(gap.Rules), gap.RulesOf)
	}
}
