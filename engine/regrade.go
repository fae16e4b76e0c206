package engine

import (
	"context"
	"fmt"
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
	// Reward is the mean reward over tasks, with the situations as units.
	Reward   stats.Estimate   `json:"reward"`
	Warnings []record.Warning `json:"warnings"`
}

// Grade judges a run's done rollouts by a scorer version and appends what it
// said; earlier verdicts stay. The version becomes the run's reward when every
// done rollout has its judgment, of any status; until then the old one stands.
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
	r := &regrade{engine: e, run: run, plan: p, scorer: scorer}
	if err := r.all(ctx, o.OnlyMissing); err != nil {
		return nil, err
	}
	return r.report(ctx)
}

// regrader is a plan with nothing but a grader: the recipe stored with the run,
// its reward replaced by the judge where one is given.
func (e *Engine) regrader(run *record.Run, judge *JudgeSpec) (*plan, error) {
	r := &Recipe{Dir: run.RecipeDir}
	if run.Role != record.RoleImport {
		stored, err := LoadRecipe(func(name string) ([]byte, error) { return []byte(run.Files[name]), nil }, run.RecipeDir)
		if err != nil {
			return nil, fmt.Errorf("the recipe stored with run %s: %w", run.ID, err)
		}
		if err := stored.Apply(run.Overrides); err != nil {
			return nil, err
		}
		r = stored
	}
	if judge != nil {
		r.Grade.Reward = &RewardSpec{Judge: judge}
		if err := (placed{}).reward(r.Grade.Reward); err != nil {
			return nil, err
		}
	}
	p := &plan{recipe: r, settings: r.Settings()}
	p.settings.PassThreshold = run.PassThreshold
	var err error
	if p.grader, err = e.newGrader(p); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// regrade is one regrade on its way.
type regrade struct {
	engine *Engine
	run    *record.Run
	plan   *plan
	scorer string
	status map[record.JudgeStatus]int
	graded int
	done   int
}

// all judges every done rollout in groups of [commitRows], so that what was
// judged before an interruption is kept.
func (r *regrade) all(ctx context.Context, onlyMissing bool) error {
	r.status = map[record.JudgeStatus]int{}
	var group []*record.Sample
	for s, err := range r.engine.Source.Samples(ctx, r.run.ID, record.SampleQuery{Scorer: r.scorer}) {
		if err != nil {
			return err
		}
		r.done++
		if onlyMissing && s.Judgment != nil && s.Judgment.Status == record.JudgeOK {
			continue
		}
		group = append(group, s)
		if len(group) < commitRows {
			continue
		}
		if err := r.commit(ctx, group); err != nil {
			return err
		}
		group = group[:0]
	}
	if err := r.commit(ctx, group); err != nil {
		return err
	}
	if r.done == 0 {
		return record.Problemf("no_rollouts", "assay resume "+r.run.ID, "run %s has no rollout that is done", r.run.ID)
	}
	return r.engine.Sink.SetRunScorer(ctx, r.run.ID, r.scorer)
}

func (r *regrade) commit(ctx context.Context, group []*record.Sample) error {
	if len(group) == 0 {
		return nil
	}
	judgments := make([]record.Judgment, len(group))
	var wg sync.WaitGroup
	slots := make(chan struct{}, r.plan.settings.Concurrency)
	for i, s := range group {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			judgments[i] = r.judge(ctx, s)
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i := range judgments {
		r.status[judgments[i].Status]++
	}
	r.graded += len(group)
	scorers := slices.DeleteFunc(slices.Clone(r.plan.grader.Scorers()), func(s record.Scorer) bool { return s.ID != r.scorer })
	return r.engine.Sink.CommitGrades(ctx, r.run.ID, scorers, judgments, nil)
}

func (r *regrade) judge(ctx context.Context, s *record.Sample) record.Judgment {
	tools := r.run.Tools
	if tools == nil {
		tools = s.Task.Tools
	}
	j, _ := r.plan.grader.Grade(ctx, grade.Case{Task: s.Task, Rollout: &s.Rollout, SystemPrompt: r.run.SystemPrompt, Tools: tools})
	if j == nil {
		return record.Judgment{RolloutID: s.Rollout.ID, Scorer: r.scorer, Status: record.JudgeMissingReward, At: r.engine.Now()}
	}
	return *j
}

// report sums up the run under the scorer version.
func (r *regrade) report(ctx context.Context) (*GradeReport, error) {
	out := &GradeReport{Run: r.run.ID, Scorer: r.scorer, Graded: r.graded, Status: r.status, Warnings: []record.Warning{}}
	units, order := map[string]*stats.Unit{}, []string{}
	tasks := map[string][2]float64{}
	var distinct []float64
	situation := map[string]string{}
	for s, err := range r.engine.Source.Samples(ctx, r.run.ID, record.SampleQuery{Scorer: r.scorer}) {
		if err != nil {
			return nil, err
		}
		reward := s.Reward()
		if reward == nil {
			continue
		}
		if !slices.Contains(distinct, *reward) && len(distinct) < 2 {
			distinct = append(distinct, *reward)
		}
		if _, seen := situation[s.Task.ID]; !seen {
			situation[s.Task.ID] = s.Task.SituationID
			order = append(order, s.Task.ID)
		}
		sum := tasks[s.Task.ID]
		tasks[s.Task.ID] = [2]float64{sum[0] + *reward, sum[1] + 1}
	}
	var list []stats.Unit
	for _, id := range order {
		u := units[situation[id]]
		if u == nil {
			u = &stats.Unit{}
			units[situation[id]] = u
		}
		u.Sum += tasks[id][0] / tasks[id][1]
		u.Size++
	}
	seen := map[string]bool{}
	for _, id := range order {
		if s := situation[id]; !seen[s] {
			seen[s] = true
			list = append(list, *units[s])
		}
	}
	lo, hi, _ := stats.MeanInterval(list, rewardInterval, 0.95, intervalDraws, record.Stream("reward", r.scorer))
	out.Reward = stats.NewEstimate(stats.UnitMean(list), lo, hi, len(order))
	if len(distinct) == 1 {
		out.Warnings = append(out.Warnings, record.Warning{Code: "constant_judge", Text: fmt.Sprintf("every rollout was given %g: check the judge before reading this as a result", distinct[0]),
			Fix: "read some of its reasons with assay rows " + r.run.ID})
	}
	if un := r.done - r.status[record.JudgeOK]; un > 0 && r.graded == r.done {
		out.Warnings = append(out.Warnings, record.Warning{Code: "unjudged", Text: fmt.Sprintf("%d of %d rollouts have no reward and are in no rate", un, r.done), Fix: "assay grade " + r.run.ID + " --only-missing"})
	}
	return out, nil
}

// The interval of a mean reward, as everywhere: 2,000 draws over units.
const (
	rewardInterval = stats.Expanded
	intervalDraws  = 2000
)
