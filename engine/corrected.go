package engine

import (
	"context"

	"assay/engine/delta"
	"assay/engine/record"
	"assay/engine/stats"
)

// CorrectedPass is a run's pass rate with the judge's errors corrected by gold, beside
// what the judge and what gold say alone.
type CorrectedPass struct {
	// Scope is held_out, or all_tasks where the run has no held-out task.
	Scope     string         `json:"scope"`
	Corrected stats.Estimate `json:"corrected"`
	JudgeOnly stats.Estimate `json:"judge_only"`
	GoldOnly  stats.Estimate `json:"gold_only"`
	// Lambda is how much the judge's verdicts count, see [stats.Corrected].
	Lambda *float64 `json:"lambda"`
	// Missing is how many more tasks need a label before the corrected rate has an
	// interval.
	Missing  int `json:"missing"`
	Unjudged int `json:"unjudged"` // rollouts in scope without a verdict, left out
}

// CorrectedPass is the pass rate of a run corrected for its judge by its gold; nil where
// there is no gold that allows it.
func (e *Engine) CorrectedPass(ctx context.Context, runID string) (*CorrectedPass, error) {
	run, err := e.Source.Run(ctx, runID)
	if err != nil || run.Scorer == "" {
		return nil, err
	}
	b, err := e.newBench(ctx, run)
	if err != nil {
		return nil, err
	}
	return b.corrected(ctx)
}

// corrected is the pass rate by prediction-powered inference. Gold is used where a
// queue drew it, with its probabilities, or where it is there for every row; nil where
// neither holds, since nobody can say for what rows of unknown choice stand.
func (b *bench) corrected(ctx context.Context) (*CorrectedPass, error) {
	counts := map[string]goldRow{}
	for _, g := range b.gold {
		if !g.diagnostic && (g.kind == record.GoldHuman || g.kind == record.GoldProgram) {
			counts[g.rolloutID] = g
		}
	}
	if len(counts) == 0 {
		return nil, nil
	}
	tasks := map[bool]*ratedTasks{true: {}, false: {}} // by held out
	for s, err := range b.engine.Source.Samples(ctx, b.run.ID, record.SampleQuery{Scorer: b.run.Scorer}) {
		if err != nil {
			return nil, err
		}
		gold, labelled := counts[s.Rollout.ID]
		row := stats.Graded{Labelled: labelled, Gold: float64(count(gold.pass)), Inclusion: 1}
		if b.drawn {
			row.Inclusion = gold.chance
		}
		tasks[s.HeldOut].add(s, row, b.run.PassThreshold)
	}
	out := &CorrectedPass{Scope: delta.ScopeHeldOut}
	scope := tasks[true]
	if len(scope.order) == 0 {
		out.Scope, scope = delta.ScopeAllTasks, tasks[false]
	}
	if !b.drawn && scope.unlabelled > 0 {
		return nil, nil
	}
	c, err := stats.CorrectedRate(scope.list(), stats.Z95)
	out.Corrected, out.JudgeOnly, out.GoldOnly, out.Lambda, out.Missing = c.Corrected, c.JudgeOnly, c.GoldOnly, c.Lambda, c.Missing
	out.Unjudged = scope.unjudged
	return out, err
}

// ratedTasks are tasks with their judged rows, in the order in which they came.
type ratedTasks struct {
	order                []string
	byID                 map[string]*stats.GradedTask
	unlabelled, unjudged int
}

func (t *ratedTasks) add(s *record.Sample, row stats.Graded, threshold float64) {
	reward := s.Reward()
	if reward == nil {
		t.unjudged++
		return
	}
	row.Judge = float64(count(*reward >= threshold))
	t.unlabelled += count(!row.Labelled)
	task := t.byID[s.Task.ID]
	if task == nil {
		task = &stats.GradedTask{Unit: s.Task.SituationID}
		if s.Task.Parent != "" {
			task.Unit = s.Task.Parent
		}
		if t.byID == nil {
			t.byID = map[string]*stats.GradedTask{}
		}
		t.order, t.byID[s.Task.ID] = append(t.order, s.Task.ID), task
	}
	task.Rows = append(task.Rows, row)
}

func (t *ratedTasks) list() []stats.GradedTask {
	list := make([]stats.GradedTask, len(t.order))
	for i, id := range t.order {
		list[i] = *t.byID[id]
	}
	return list
}
