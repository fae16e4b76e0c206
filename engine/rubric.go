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

// keepRubrics saves the rubric of the run's recipe, and that of a judge that is asked
// now, "" for none: as a child of the one that gives the run its reward, else of the
// latest of that name, since whoever wrote it may have seen the gold that the other
// was measured on.
func (e *Engine) keepRubrics(ctx context.Context, run *record.Run, asked string) error {
	r, err := recipeOf(run)
	if err != nil {
		return err
	}
	if r.rubric() != "" {
		if err := e.saveRubric(ctx, run, r.rubric(), ""); err != nil {
			return err
		}
	}
	if asked == "" || asked == r.rubric() {
		return nil
	}
	versions, err := e.Source.Rubrics(ctx, rubricName(run))
	if err != nil {
		return err
	}
	parent := ""
	if n := len(versions); n > 0 {
		parent = versions[n-1].Hash
	}
	if own := rubricOf(run, run.Scorer); slices.ContainsFunc(versions, func(v record.Rubric) bool { return v.Hash == own }) {
		parent = own
	}
	return e.saveRubric(ctx, run, asked, parent)
}

func (e *Engine) saveRubric(ctx context.Context, run *record.Run, text, parent string) error {
	hash := record.RubricHash(record.Text(text))
	if parent == hash {
		return nil // it is there, with the parent that it has
	}
	return e.Sink.SaveRubric(ctx, record.Rubric{Hash: hash, Name: rubricName(run), Parent: parent, Text: record.Text(text), CreatedAt: e.Now()})
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

// RunRubric is the rubric by which a run's reward is judged; that of its recipe is
// saved as a version on the way. A reward without one is an error.
func (e *Engine) RunRubric(ctx context.Context, runID string) (record.Rubric, error) {
	run, err := e.Source.Run(ctx, runID)
	if err != nil {
		return record.Rubric{}, err
	}
	if err := e.keepRubrics(ctx, run, ""); err != nil {
		return record.Rubric{}, err
	}
	versions, err := e.Source.Rubrics(ctx, rubricName(run))
	if err != nil {
		return record.Rubric{}, err
	}
	own := rubricOf(run, run.Scorer)
	if i := slices.IndexFunc(versions, func(v record.Rubric) bool { return v.Hash == own }); own != "" && i >= 0 {
		return versions[i], nil
	}
	return record.Rubric{}, record.Problemf("no_rubric", "give the recipe's judge one with grade.reward.judge.rubric", "the reward of run %s comes from no rubric", runID)
}
