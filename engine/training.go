package engine

import (
	"assay/engine/cut"
	"assay/engine/record"
)

// training is a selection in the form that whoever writes files is handed.
func training(run *record.Run, sel *cut.Selection) *record.Training {
	t := &record.Training{For: string(sel.For), Run: run, SystemPrompt: run.SystemPrompt, Tools: run.Tools}
	for _, r := range sel.Rows {
		t.Rows = append(t.Rows, record.TrainingRow{Sample: r.Sample, Reward: &r.Reward, Loss: record.Loss(r.Loss)})
	}
	for _, g := range sel.Groups {
		group := record.TrainingGroup{Mean: g.Mean, Std: g.Std}
		for _, r := range g.Rows {
			group.Samples = append(group.Samples, r.Sample)
			group.Rewards = append(group.Rewards, r.Reward)
		}
		t.Groups = append(t.Groups, group)
	}
	for _, p := range sel.Pairs {
		t.Pairs = append(t.Pairs, record.TrainingPair{Chosen: p.Chosen.Sample, Rejected: p.Rejected.Sample, Margin: p.Margin})
	}
	return t
}
