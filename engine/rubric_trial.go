package engine

import (
	"context"
	"fmt"

	"assay/engine/grade"
	"assay/engine/record"
	"assay/engine/stats"
)

// RubricTrial is a rubric tried on the tuning half of a run's gold, beside the judge
// that gives the run its reward. Nothing of it is saved until it is kept.
type RubricTrial struct {
	Run    string     `json:"run"`
	Scorer string     `json:"scorer"` // the version that it would be
	Before string     `json:"before"` // the run's own
	Judge  *JudgeSpec `json:"judge"`  // what [GradeOptions] takes to regrade the run by it
	Rows   []TrialRow `json:"rows"`
	// Of the rows that count: N that both judged, ToRight on which the new word agrees
	// with gold and the old one did not, ToWrong the reverse, and P of exact McNemar.
	N       int     `json:"n"`
	ToRight int     `json:"to_right"`
	ToWrong int     `json:"to_wrong"`
	P       float64 `json:"p"`

	scorers   []record.Scorer
	judgments []record.Judgment
	markers   []record.Marker
}

// TrialRow is one gold row of the tuning half under both rubrics.
type TrialRow struct {
	RolloutID  string      `json:"rollout_id"`
	Gold       bool        `json:"gold"`
	Diagnostic bool        `json:"diagnostic"` // shown, and in no number
	Before     *bool       `json:"before"`     // nil where there is no verdict
	After      *bool       `json:"after"`
	Reason     record.Text `json:"reason"`
}

// TryRubric judges the tuning half of a run's gold by the run's judge with another
// rubric. observe hears each row as it is judged, in order; it may be nil. The other
// half of gold is not read.
func (e *Engine) TryRubric(ctx context.Context, runID, rubric string, observe func(TrialRow)) (*RubricTrial, error) {
	run, err := e.Source.Run(ctx, runID)
	if err != nil {
		return nil, err
	}
	if rubric == "" {
		return nil, record.Problemf("no_rubric", "write one", "an empty rubric is none")
	}
	own, err := e.benchJudge(ctx, run, run.Scorer)
	if err != nil {
		return nil, err
	}
	judge := *own.recipe.Grade.Reward.Judge
	own.close()
	judge.Rubric = rubric
	p, err := e.regrader(run, &judge)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if err := e.ready(ctx, p); err != nil {
		return nil, err
	}
	b, err := e.newBench(ctx, run)
	if err != nil {
		return nil, err
	}
	t := &RubricTrial{Run: runID, Scorer: p.grader.RewardScorer(), Before: run.Scorer, Judge: &judge, Rows: []TrialRow{}}
	return t, t.judge(ctx, b, p, observe)
}

// judge fills the trial, group by group as the rows come.
func (t *RubricTrial) judge(ctx context.Context, b *bench, p *plan, observe func(TrialRow)) error {
	gold := map[string]goldRow{}
	for _, g := range b.gold {
		gold[g.rolloutID] = g
	}
	r := &regrade{engine: b.engine, run: b.run, plan: p, scorer: t.Scorer, status: map[record.JudgeStatus]int{}}
	t.scorers = r.scorers()
	group := []*record.Sample{}
	flush := func() error {
		judgments, markers, err := r.judgeAll(ctx, group)
		if err != nil {
			return err
		}
		for i, s := range group {
			row := trialRow(gold[s.Rollout.ID], s, &judgments[i], b.run.PassThreshold)
			t.Rows = append(t.Rows, row)
			if observe != nil {
				observe(row)
			}
		}
		t.judgments, t.markers, group = append(t.judgments, judgments...), append(t.markers, markers...), group[:0]
		return nil
	}
	for s, err := range b.engine.Source.Samples(ctx, b.run.ID, record.SampleQuery{Rollouts: b.rolloutIDs()}) {
		if err != nil {
			return err
		}
		if !grade.TuningHalf(s.Task.ID) {
			continue
		}
		if group = append(group, s); len(group) == p.settings.Concurrency {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	t.sum()
	return nil
}

func trialRow(g goldRow, s *record.Sample, now *record.Judgment, threshold float64) TrialRow {
	row := TrialRow{RolloutID: s.Rollout.ID, Gold: g.pass, Diagnostic: g.diagnostic, Reason: now.Reason}
	passes := func(reward *float64) *bool {
		if reward == nil {
			return nil
		}
		pass := *reward >= threshold
		return &pass
	}
	row.Before = passes(s.Reward())
	if now.Status == record.JudgeOK {
		row.After = passes(now.Reward)
	}
	return row
}

func (t *RubricTrial) sum() {
	for _, row := range t.Rows {
		if row.Diagnostic || row.Before == nil || row.After == nil {
			continue
		}
		t.N++
		wasRight, isRight := *row.Before == row.Gold, *row.After == row.Gold
		t.ToRight += count(isRight && !wasRight)
		t.ToWrong += count(wasRight && !isRight)
	}
	t.P = stats.McNemarExact(t.ToRight, t.ToWrong)
}

// KeepRubric saves a trial: its rubric as a version made from the one before, and what
// the judge said by it. The run's reward stays until it is regraded, with
// [Engine.Grade] and the trial's judge.
func (e *Engine) KeepRubric(ctx context.Context, t *RubricTrial) error {
	run, err := e.Source.Run(ctx, t.Run)
	if err != nil {
		return err
	}
	if err := e.keepRubrics(ctx, run, t.Judge.Rubric); err != nil {
		return err
	}
	if err := e.noteJudge(ctx, run, t.Scorer, t.Judge); err != nil {
		return err
	}
	if err := e.Sink.CommitGrades(ctx, run.ID, t.scorers, t.judgments, t.markers); err != nil {
		return fmt.Errorf("keep the rubric: %w", err)
	}
	return nil
}
