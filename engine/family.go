package engine

import (
	"fmt"

	"assay/engine/model"
	"assay/engine/record"
)

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
