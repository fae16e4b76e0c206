package engine

import (
	"context"
	"slices"
	"sync"

	"assay/engine/grade"
	"assay/engine/record"
	"assay/engine/stats"
)

// GradeOptions of a regrade.
type GradeOptions struct {
	// Judge replaces the recipe's reward; nil grades by the recipe again.
	Judge *JudgeSpec
	// OnlyMissing leaves out rollouts that the scorer version has judged.
	OnlyMissing bool
}

// GradeReport is what came of a regrade; its JSON is what grade prints.
type GradeReport struct {
	Run    string                     `json:"run"`
	Scorer string                     `json:"scorer"`
	Graded int                        `json:"graded"`
	Status map[record.JudgeStatus]int `json:"status"`
	// Judged of Done rollouts have their judgment of this version; Own says that it
	// gives the run its reward, which it does from the last one on.
	Judged int  `json:"judged"`
	Done   int  `json:"done"`
	Own    bool `json:"own"`
	// Partial are rewards strictly between 0 and 1.
	Partial int `json:"n_partial"`
	// Reward is the mean reward over tasks, with the situations as units.
	Reward   stats.Estimate   `json:"reward"`
	Warnings []record.Warning `json:"warnings"`
}

// Grade judges a run's done rollouts by a scorer version and appends what it
// said; earlier verdicts stay. The version becomes the run's reward in the
// transaction in which the last done rollout has its judgment, of any status; until
// then the old one stands, so that no number ever mixes two.
func (e *Engine) Grade(ctx context.Context, runID string, o GradeOptions) (*GradeReport, error) {
	run, err := e.Source.Run(ctx, runID)
	if err != nil {
		return nil, err
	}
	p, err := e.regrader(run, o.Judge)
	if err != nil {
		return nil, err
	}
	defer p.close()
	scorer := p.grader.RewardScorer()
	if scorer == "" {
		return nil, record.Problemf("no_reward", "name a judge with --judge, or write grade.reward in a recipe", "run %s has no reward to grade by", runID)
	}
	if err := e.ready(ctx, p); err != nil {
		return nil, err
	}
	if err := e.keepRubrics(ctx, run, p.recipe.rubric()); err != nil {
		return nil, err
	}
	r := &regrade{engine: e, run: run, plan: p, scorer: scorer}
	if err := r.all(ctx, o.OnlyMissing); err != nil {
		return nil, err
	}
	if err := e.journalJudge(ctx, run, scorer, p); err != nil {
		return nil, err
	}
	return r.report(ctx)
}

// regrader is a plan with nothing but a grader: the recipe stored with the run,
// its reward replaced by the judge where one is given. A judge without a rubric is
// given the recipe's.
func (e *Engine) regrader(run *record.Run, judge *JudgeSpec) (*plan, error) {
	r, err := recipeOf(run)
	if err != nil {
		return nil, err
	}
	if judge != nil {
		with := *judge
		if with.Rubric == "" {
			with.Rubric = r.rubric()
		}
		r.Grade.Reward = &RewardSpec{Judge: &with}
		if err := (placed{}).reward(r.Grade.Reward, nil); err != nil {
			return nil, err
		}
	}
	p := &plan{recipe: r, settings: r.Settings()}
	p.settings.PassThreshold = run.PassThreshold
	e.learn(r.variables())
	if p.grader, err = e.newGrader(p); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// recipeOf is the recipe that is stored with a run, an empty one of a run that was
// imported.
func recipeOf(run *record.Run) (*Recipe, error) {
	if run.Role == record.RoleImport {
		return &Recipe{Dir: run.RecipeDir}, nil
	}
	return storedRecipe(run)
}

// regrade is one regrade on its way.
type regrade struct {
	engine   *Engine
	run      *record.Run
	plan     *plan
	scorer   string
	status   map[record.JudgeStatus]int
	graded   int
	standing record.Standing
}

// all judges every done rollout in groups of [commitRows], so that what was
// judged before an interruption is kept.
func (r *regrade) all(ctx context.Context, onlyMissing bool) error {
	r.status = map[record.JudgeStatus]int{}
	done := 0
	var group []*record.Sample
	for s, err := range r.engine.Source.Samples(ctx, r.run.ID, record.SampleQuery{Scorer: r.scorer}) {
		if err != nil {
			return err
		}
		done++
		if onlyMissing && s.Judgment != nil && s.Judgment.Status == record.JudgeOK {
			continue
		}
		if len(group) == commitRows { // another follows, so that it is not the last
			if err := r.commit(ctx, group); err != nil {
				return err
			}
			group = group[:0]
		}
		group = append(group, s)
	}
	if done == 0 {
		return record.Problemf("no_rollouts", "assay resume "+r.run.ID, "run %s has no rollout that is done", r.run.ID)
	}
	judgments, markers, err := r.judgeAll(ctx, group)
	if err != nil {
		return err
	}
	r.standing, err = r.engine.Sink.FinishGrades(ctx, r.run.ID, r.scorer, r.scorers(), judgments, markers)
	return err
}

func (r *regrade) commit(ctx context.Context, group []*record.Sample) error {
	judgments, markers, err := r.judgeAll(ctx, group)
	if err != nil {
		return err
	}
	return r.engine.Sink.CommitGrades(ctx, r.run.ID, r.scorers(), judgments, markers)
}

func (r *regrade) scorers() []record.Scorer {
	return slices.DeleteFunc(slices.Clone(r.plan.grader.Scorers()), func(s record.Scorer) bool { return s.ID != r.scorer })
}

// judgeAll judges a group, several at a time.
func (r *regrade) judgeAll(ctx context.Context, group []*record.Sample) ([]record.Judgment, []record.Marker, error) {
	judgments, marked := make([]record.Judgment, len(group)), make([][]record.Marker, len(group))
	var wg sync.WaitGroup
	slots := make(chan struct{}, r.plan.settings.Concurrency)
	for i, s := range group {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			judgments[i], marked[i] = r.judge(ctx, s)
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	for i := range judgments {
		r.status[judgments[i].Status]++
	}
	r.graded += len(group)
	return judgments, slices.Concat(marked...), nil
}

// judge is the scorer version's word on one rollout, with the markers that came with
// it.
func (r *regrade) judge(ctx context.Context, s *record.Sample) (record.Judgment, []record.Marker) {
	j, markers := r.plan.grader.Grade(ctx, caseOf(r.run, s))
	markers = slices.DeleteFunc(markers, func(m record.Marker) bool { return m.Scorer != r.scorer })
	if j == nil {
		return record.Judgment{RolloutID: s.Rollout.ID, Scorer: r.scorer, Status: record.JudgeMissingReward, At: r.engine.Now()}, markers
	}
	return *j, markers
}

// caseOf is a sample as it is graded: with what its agent was told and shown in this
// run.
func caseOf(run *record.Run, s *record.Sample) grade.Case {
	tools := run.Tools
	if tools == nil {
		tools = s.Task.Tools
	}
	return grade.Case{Task: s.Task, Rollout: &s.Rollout, SystemPrompt: run.SystemPrompt, Tools: tools}
}
