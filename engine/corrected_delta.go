package engine

import (
	"context"

	"assay/engine/delta"
	"assay/engine/record"
	"assay/engine/stats"
)

// armGold is what of one run's gold counts, by rollout.
type armGold struct {
	rows  map[string]goldRow
	drawn bool // by a queue, with the chances that the rows hold
}

// goldOfArm reads a run's gold.
func (e *Engine) goldOfArm(ctx context.Context, run *record.Run) (armGold, error) {
	labels, err := e.Source.Labels(ctx, run.ID)
	if err != nil {
		return armGold{}, err
	}
	items, err := e.Source.QueueItems(ctx, run.ID)
	if err != nil {
		return armGold{}, err
	}
	reveals, err := e.Source.Reveals(ctx, run.ID)
	if err != nil {
		return armGold{}, err
	}
	b := bench{engine: e, run: run}
	b.readGold(labels, items, reveals)
	gold := armGold{rows: map[string]goldRow{}, drawn: b.drawn}
	for _, g := range b.gold {
		if !g.diagnostic && (g.kind == record.GoldHuman || g.kind == record.GoldProgram) {
			gold.rows[g.rolloutID] = g
		}
	}
	return gold, nil
}

// correctedDelta is a comparison's change of the pass rate with the judge's errors
// corrected by the gold of both runs; nil where neither has gold that counts.
func (e *Engine) correctedDelta(ctx context.Context, in delta.Input) (*stats.CorrectedChange, error) {
	before, err := e.goldOfArm(ctx, in.Before.Run)
	if err != nil {
		return nil, err
	}
	after, err := e.goldOfArm(ctx, in.After.Run)
	if err != nil || len(before.rows)+len(after.rows) == 0 {
		return nil, err
	}
	c, err := stats.CorrectedDelta(goldPairs(delta.Tasks(in), before, after), stats.Z95)
	return &c, err
}

// goldPairs are the compared tasks that have verdicts on both sides, with gold where it
// counts.
func goldPairs(changes delta.Changes, before, after armGold) []stats.GradedPair {
	before = before.usable(&changes, func(p *delta.Pair) []delta.Attempt { return p.Before })
	after = after.usable(&changes, func(p *delta.Pair) []delta.Attempt { return p.After })
	var pairs []stats.GradedPair
	for i := range changes.Pairs {
		p := &changes.Pairs[i]
		pair := stats.GradedPair{Unit: p.Task.SituationID, Before: before.graded(p.Before, changes.Threshold), After: after.graded(p.After, changes.Threshold)}
		if p.Task.Parent != "" {
			pair.Unit = p.Task.Parent
		}
		if len(pair.Before) > 0 && len(pair.After) > 0 {
			pairs = append(pairs, pair)
		}
	}
	return pairs
}

// graded are the rows with a verdict.
func (g armGold) graded(attempts []delta.Attempt, threshold float64) []stats.Graded {
	var rows []stats.Graded
	for _, a := range attempts {
		if a.Reward == nil {
			continue
		}
		gold, labelled := g.rows[a.RolloutID]
		row := stats.Graded{Judge: float64(count(*a.Reward >= threshold)), Labelled: labelled, Gold: float64(count(gold.pass)), Inclusion: 1}
		if g.drawn {
			row.Inclusion = gold.chance
		}
		rows = append(rows, row)
	}
	return rows
}

// usable is gold that was drawn, or that is there for every verdict of its side; else none,
// since nobody can say for what rows of unknown choice stand.
func (g armGold) usable(changes *delta.Changes, side func(*delta.Pair) []delta.Attempt) armGold {
	if g.drawn {
		return g
	}
	for i := range changes.Pairs {
		for _, a := range side(&changes.Pairs[i]) {
			if _, labelled := g.rows[a.RolloutID]; a.Reward != nil && !labelled {
				return armGold{}
			}
		}
	}
	return g
}
