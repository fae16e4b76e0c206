package engine

import (
	"context"
	"errors"
	"fmt"

	"assay/engine/cut"
	"assay/engine/record"
)

// ScanReport is what training on a run's reward would teach.
type ScanReport = cut.ScanReport

// CutFeature is something about rollouts that may go with their reward.
type CutFeature = cut.Feature

// CutTier counts the training tasks of one difficulty.
type CutTier = cut.Tier

// CutTaskRate is the pass rate of one training task.
type CutTaskRate = cut.TaskRate

// CutPreview is what each target would get of a run, without a file being written.
type CutPreview struct {
	Run *record.Run
	// Targets are those that a set can be cut for, in the order of their documentation.
	Targets []CutPlan
	// Rates, Band and Tiers are what a grpo cut looks at; see [cut.Selection].
	Rates []CutTaskRate
	Band  [2]float64
	Tiers []CutTier
}

// CutPlan is what one target would get: every row, kept or dropped.
type CutPlan struct {
	CutResult // File is "", Error why there would be none
	Kept      []CutKept
	Dropped   []CutDropped // in the order of the gates
}

// CutDropped is one row that a gate took.
type CutDropped struct {
	RolloutID string
	Key       record.Key
	Task      *record.Task
	Gate      int // index into the plan's gates
	Why       string
}

// CutKept is one row of a set.
type CutKept struct {
	RolloutID string
	Key       record.Key
	Task      *record.Task
	Reward    float64 // as the trainer is told
	Beside    string  // its group, or the other of its pair; "" where it stands alone
}

// CutPreview cuts a run for every target and writes nothing.
func (e *Engine) CutPreview(ctx context.Context, runID string) (CutPreview, error) {
	in, err := e.cuttable(ctx, runID)
	if err != nil {
		return CutPreview{}, err
	}
	preview := CutPreview{Run: in.run}
	for _, target := range cut.Targets() {
		if err := ctx.Err(); err != nil {
			return CutPreview{}, err
		}
		plan := CutPlan{CutResult: CutResult{For: string(target)}}
		sel, err := in.cut(string(target), &plan.CutResult)
		var empty *record.Problem
		switch {
		case errors.As(err, &empty) && empty.Code == emptySelection:
			plan.Error = &empty.Message
		case err != nil:
			return CutPreview{}, err
		}
		plan.fill(sel)
		if target == cut.GRPO {
			preview.Rates, preview.Band, preview.Tiers = sel.Rates, sel.Band, sel.Tiers
		}
		preview.Targets = append(preview.Targets, plan)
	}
	return preview, nil
}

// fill lists a selection's rows. It keeps their tasks, not their transcripts.
func (p *CutPlan) fill(sel *cut.Selection) {
	for _, d := range sel.Dropped {
		p.Dropped = append(p.Dropped, CutDropped{RolloutID: d.Sample.Rollout.ID, Key: d.Sample.Rollout.Key, Task: d.Sample.Task, Gate: d.Gate, Why: d.Why})
	}
	keep := func(r *cut.Row, beside string) {
		p.Kept = append(p.Kept, CutKept{RolloutID: r.Sample.Rollout.ID, Key: r.Sample.Rollout.Key, Task: r.Sample.Task, Reward: r.Reward, Beside: beside})
	}
	for i := range sel.Rows {
		keep(&sel.Rows[i], "")
	}
	for i := range sel.Groups {
		g := &sel.Groups[i]
		for j := range g.Rows {
			keep(&g.Rows[j], fmt.Sprintf("group of %d, pass rate %.2f", len(g.Rows), g.PassRate))
		}
	}
	for i := range sel.Pairs {
		pair := &sel.Pairs[i]
		keep(&pair.Chosen, fmt.Sprintf("chosen over attempt %d", pair.Rejected.Sample.Rollout.Key.K+1))
		keep(&pair.Rejected, fmt.Sprintf("rejected under attempt %d", pair.Chosen.Sample.Rollout.Key.K+1))
	}
}

// Scan says what training on a run's reward would teach: what goes with the reward
// within each task, against the floor of chance. endorsed names the features that the
// reward is meant to follow.
func (e *Engine) Scan(ctx context.Context, runID string, endorsed []string) (ScanReport, error) {
	run, err := e.Source.Run(ctx, runID)
	if err != nil {
		return ScanReport{}, err
	}
	samples, err := e.samples(ctx, runID, record.SampleQuery{})
	if err != nil {
		return ScanReport{}, err
	}
	return cut.Scan(samples, cut.ScanOptions{Mode: run.Mode, PassThreshold: run.PassThreshold, Endorsed: endorsed, Seed: run.Seed}), nil
}
