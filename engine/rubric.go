package engine

import (
	"context"
	"slices"

	"assay/engine/record"
)

// rubric is the text of the recipe's rubric, "" where it has none.
func (r *Recipe) rubric() string {
	if reward := r.Grade.Reward; reward != nil && reward.Judge != nil {
		return reward.Judge.Rubric
	}
	return ""
}

// rubricName is which rubric the versions that a run is judged by belong to.
func rubricName(run *record.Run) string {
	if run.Recipe != "" {
		return run.Recipe
	}
	return "run " + run.ID
}

// keepRubrics saves the rubric of the run's recipe, and that of a judge that grades it
// now: as a child of the one that gives the run its reward, else of the latest of that
// name, since whoever wrote it may have seen gold that the other was measured on.
func (e *Engine) keepRubrics(ctx context.Context, run *record.Run, p *plan) error {
	stored, err := recipeOf(run)
	if err != nil {
		return err
	}
	first := record.Rubric{Name: rubricName(run), Text: record.Text(stored.rubric())}
	if first.Text != "" {
		first.Hash, first.CreatedAt = record.RubricHash(first.Text), e.Now()
		if err := e.Sink.SaveRubric(ctx, first); err != nil {
			return err
		}
	}
	now := record.Rubric{Name: first.Name, Text: record.Text(p.recipe.rubric()), CreatedAt: e.Now()}
	if now.Text == "" || now.Text == first.Text {
		return nil
	}
	now.Hash = record.RubricHash(now.Text)
	versions, err := e.Source.Rubrics(ctx, now.Name)
	if err != nil {
		return err
	}
	if n := len(versions); n > 0 {
		now.Parent = versions[n-1].Hash
	}
	if own := rubricOf(run, run.Scorer); slices.ContainsFunc(versions, func(v record.Rubric) bool { return v.Hash == own }) {
		now.Parent = own
	}
	return e.Sink.SaveRubric(ctx, now)
}

// rubricOf is the hash of the rubric of one of the run's scorer versions.
func rubricOf(run *record.Run, scorer string) string {
	for _, s := range run.Scorers {
		if s.ID == scorer {
			return s.RubricHash
		}
	}
	return ""
}
