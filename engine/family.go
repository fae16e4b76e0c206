package engine

import (
	"fmt"
	"strings"

	"assay/engine/model"
	"assay/engine/record"
)

// sameModelWarnings say that one model plays two parts: it then judges, or is spoken to
// by, itself, and its own habits look like agreement.
func (p *plan) sameModelWarnings() []record.Warning {
	parts := []struct{ part, spec string }{{"the agent", p.recipe.Agent.Model}}
	if a := p.recipe.After; a != nil && a.Agent != nil && a.Agent.Model != p.recipe.Agent.Model {
		parts = append(parts, struct{ part, spec string }{"the changed agent", a.Agent.Model})
	}
	parts = append(parts, []struct{ part, spec string }{{"the user", p.recipe.Simulate.User.Model}, {"the writer", p.recipe.Simulate.Writer.Model}}...)
	if r := p.recipe.Grade.Reward; r != nil && r.Judge != nil {
		parts = append(parts, struct{ part, spec string }{"the judge", r.Judge.Model})
	}
	by, order := map[string][]string{}, []string{}
	for _, each := range parts {
		if each.spec == "" {
			continue
		}
		if by[each.spec] == nil {
			order = append(order, each.spec)
		}
		by[each.spec] = append(by[each.spec], each.part)
	}
	var ws []record.Warning
	for _, spec := range order {
		if who := by[spec]; len(who) > 1 {
			ws = append(ws, record.Warning{Code: "same_model", Text: fmt.Sprintf("%s and %s are one model, %s: what it overlooks in one part it overlooks in the other", strings.Join(who[:len(who)-1], ", "), who[len(who)-1], spec),
				Fix: "give each part a model of its own"})
		}
	}
	return ws
}

// familyWarnings say that a judge is of the agent's own model family: such judges
// have been seen to favour their kin (Panickssery et al. 2024). They follow every
// number that rests on the judge.
func familyWarnings(run *record.Run, scorers []record.Scorer, scorer string) []record.Warning {
	spec, ok := storedAgent(run)
	if !ok {
		return nil
	}
	for _, s := range scorers {
		if s.ID != scorer || model.Family(s.Model) == "" || model.Family(s.Model) != model.Family(spec.Model) {
			continue
		}
		return []record.Warning{{Code: "same_family", Text: fmt.Sprintf("the judge %s is of the agent's own model family (%s)", s.Model, spec.Model), Fix: "judge with a model of another family, and measure both: assay trust " + run.ID + " --compare ..."}}
	}
	return nil
}
