package engine

import (
	"context"

	"assay/engine/axes"
	"assay/engine/record"
)

// GapReport is what a set of asks leaves untested of a recipe; its JSON is what
// cover prints for asks. Grid coverage is not policy coverage, and the asks that a
// team has are often neither.
type GapReport struct {
	axes.Gap
	RulesOf  int              `json:"rules_of"` // clauses of the policy
	ToolsOf  int              `json:"tools_of"` // tools of the recipe
	Warnings []record.Warning `json:"warnings"` // the gap in words, each with its fix
}

// CoverageGap reads what the asks do not reach of the recipe's whole policy and of
// its tools. One ask that was posed several times counts once, with the longest of
// its conversations.
func CoverageGap(r *Recipe, asks []axes.Asked) (*GapReport, error) {
	if err := r.check(nil); err != nil {
		return nil, err
	}
	p := &plan{recipe: r, settings: r.Settings()}
	if err := p.resolveSet(); err != nil {
		return nil, r.locate(err)
	}
	gap := p.set.Gap(distinct(asks))
	report := &GapReport{Gap: gap, RulesOf: len(p.set.Clauses), ToolsOf: len(p.tools), Warnings: append([]record.Warning{}, gap.Warnings()...)}
	for _, list := range []*[]string{&report.Rules, &report.Tools, &report.Axes} {
		if *list == nil {
			*list = []string{}
		}
	}
	return report, nil
}

// distinct are the asks by their wording and coordinates, in the order of their
// first coming.
func distinct(asks []axes.Asked) []axes.Asked {
	var out []axes.Asked
	at := map[string]int{}
	for _, a := range asks {
		key := record.Identity("asked", struct {
			Ask  record.Text
			Axes record.Axes
		}{a.Ask, a.Axes})
		i, known := at[key]
		if !known {
			at[key] = len(out)
			out = append(out, a)
			continue
		}
		out[i].Turns = max(out[i].Turns, a.Turns)
	}
	return out
}

// AsksOf are the asks of a run's done rollouts, each with how often its user spoke.
func (e *Engine) AsksOf(ctx context.Context, runID string) ([]axes.Asked, error) {
	var asks []axes.Asked
	for s, err := range e.Source.Samples(ctx, runID, record.SampleQuery{}) {
		if err != nil {
			return nil, err
		}
		turns := 1
		for i := range s.Rollout.Steps {
			if s.Rollout.Steps[i].Kind == record.StepUser {
				turns++
			}
		}
		asks = append(asks, axes.Asked{Ask: s.Task.Ask, Axes: s.Task.Axes, Turns: turns})
	}
	return asks, nil
}
