package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"assay/engine/record"
)

// regradeEntry is a journal line's kind and detail: which judge a scorer version is.
const regradeEntry = "regrade"

type regradeDetail struct {
	Scorer string     `json:"scorer"`
	Judge  *JudgeSpec `json:"judge"`
}

// journalJudge notes the judge of a plan, nil where its reward is none.
func (e *Engine) journalJudge(ctx context.Context, run *record.Run, scorer string, p *plan) error {
	var judge *JudgeSpec
	if r := p.recipe.Grade.Reward; r != nil {
		judge = r.Judge
	}
	return e.noteJudge(ctx, run, scorer, judge)
}

// noteJudge notes the judge behind a scorer version in the run's journal, so that it
// can be asked again: by probes, and with another rubric.
func (e *Engine) noteJudge(ctx context.Context, run *record.Run, scorer string, judge *JudgeSpec) error {
	detail, err := record.Marshal(regradeDetail{scorer, judge})
	if err != nil {
		return fmt.Errorf("note the judge of %s: %w", scorer, err)
	}
	return e.Sink.AppendJournal(ctx, run.ID, record.JournalEntry{At: e.Now(), Kind: regradeEntry, Detail: detail})
}

// benchJudge is the plan of the judge behind one of the run's scorer versions. The
// caller closes it. A version that is no judge, or whose program has changed since, is
// an error.
func (e *Engine) benchJudge(ctx context.Context, run *record.Run, scorer string) (*plan, error) {
	p, err := e.regrader(run, nil)
	if err == nil && p.grader.RewardScorer() == scorer {
		return p, judgeOnly(p, scorer)
	}
	if err == nil {
		p.close()
	}
	entries, err := e.Source.Journal(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	for _, entry := range slices.Backward(entries) {
		var d regradeDetail
		if entry.Kind != regradeEntry || json.Unmarshal(entry.Detail, &d) != nil || d.Scorer != scorer || d.Judge == nil {
			continue
		}
		p, err := e.regrader(run, d.Judge)
		if err != nil {
			return nil, err
		}
		if p.grader.RewardScorer() == scorer {
			return p, judgeOnly(p, scorer)
		}
		p.close()
	}
	return nil, record.Problemf("no_judge", "regrade the run with the judge as it is now: assay grade "+run.ID+" --judge ...", "%s cannot be asked again: it is no judge of this run, or has changed since", scorer)
}

func judgeOnly(p *plan, scorer string) error {
	if r := p.recipe.Grade.Reward; r != nil && r.Judge != nil {
		return nil
	}
	p.close()
	return record.Problemf("no_judge", "regrade the run with a judge: assay grade RUN --judge builtin:fair", "%s is no judge, and only a judge can be asked about another reply", scorer)
}

// judgeOnRows judges those of the rollouts that a plan's scorer version has not given
// its word on, and appends what it said. The run's reward stays what it is.
func (e *Engine) judgeOnRows(ctx context.Context, run *record.Run, p *plan, rollouts []string) error {
	r := &regrade{engine: e, run: run, plan: p, scorer: p.grader.RewardScorer(), status: map[record.JudgeStatus]int{}}
	var missing []*record.Sample
	for s, err := range e.Source.Samples(ctx, run.ID, record.SampleQuery{Scorer: r.scorer, Rollouts: rollouts}) {
		if err != nil {
			return err
		}
		if s.Judgment == nil {
			missing = append(missing, s)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if err := e.ready(ctx, p); err != nil {
		return err
	}
	if err := e.journalJudge(ctx, run, r.scorer, p); err != nil {
		return err
	}
	for group := range slices.Chunk(missing, commitRows) {
		if err := r.commit(ctx, group); err != nil {
			return err
		}
	}
	return nil
}
