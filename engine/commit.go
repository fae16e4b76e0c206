package engine

import (
	"cmp"
	"context"
	"slices"

	"assay/engine/record"
)

// commitment is a group of rollouts to write, and now and then how far the run
// has come.
type commitment struct {
	rows     []finished
	counts   *record.Counts
	coverage *record.Coverage
}

type committed struct {
	rows []finished
	err  error
}

// hand gives the committer what waits, when it is free: while one group is being
// written the next gathers.
func (s *simulation) hand() {
	if s.writing || len(s.waiting) == 0 {
		return
	}
	n := min(len(s.waiting), commitRows)
	c := commitment{rows: slices.Clone(s.waiting[:n])}
	slices.SortStableFunc(c.rows, asPosed)
	if now := s.engine.Now(); now.Sub(s.savedAt) >= saveProgressEvery {
		counts := s.run.Counts.Clone()
		c.counts, c.coverage, s.savedAt = &counts, s.coverage(), now
	}
	s.commitCh <- c
	s.waiting = slices.Delete(s.waiting, 0, n)
	s.writing = true
}

// asPosed orders what is written together as it was posed, so that the attempts at a
// task stand in a list in their order whichever came back first.
func asPosed(a, b finished) int {
	x, y := &a.outcome.Rollout.Key, &b.outcome.Rollout.Key
	return cmp.Or(a.group.posed.Order-b.group.posed.Order, x.EvalRun-y.EvalRun, x.K-y.K)
}

func (s *simulation) commitLoop(ctx context.Context) {
	for c := range s.commitCh {
		outcomes := make([]record.Outcome, len(c.rows))
		for i := range c.rows {
			outcomes[i] = c.rows[i].outcome
		}
		err := s.engine.Sink.CommitOutcomes(ctx, s.run.ID, outcomes)
		if err == nil && c.counts != nil {
			err = s.engine.Sink.SaveProgress(ctx, s.run.ID, *c.counts, c.coverage)
		}
		s.committedCh <- committed{c.rows, err}
	}
}

// settled counts rows that are on disk, tells of them, and opens what waited for
// them.
func (s *simulation) settled(ctx context.Context, rows []finished) error {
	outcomes := make([]record.Outcome, len(rows))
	for i := range rows {
		outcomes[i] = rows[i].outcome
		s.count(&outcomes[i])
	}
	s.engine.tell(OutcomesCommitted{RunID: s.run.ID, Outcomes: outcomes, Counts: s.run.Counts.Clone()})
	for i := range rows {
		s.advance(rows[i].group, &outcomes[i])
	}
	return s.closeBatches(ctx)
}

// count adds one outcome to the run's counts.
func (s *simulation) count(o *record.Outcome) {
	c := &s.run.Counts
	r := &o.Rollout
	if r.Status == record.StatusLost {
		if c.Lost == nil {
			c.Lost = map[record.Cause]int{}
		}
		c.Lost[r.Cause]++
		return
	}
	s.tally.Add(r.Steps)
	if r.PromptTruncated {
		s.truncated++
	}
	c.Done++
	s.back[r.Key.TaskID] = true
	for i := range r.Steps {
		if r.Steps[i].Kind == record.StepTool {
			c.Calls++
		}
	}
	if reward := o.Reward(); reward != nil {
		c.Graded++
		if *reward >= s.run.PassThreshold {
			c.Passed++
		}
	}
}

// coverage is that of the tasks that came back, nil where there is no search.
func (s *simulation) coverage() *record.Coverage {
	if s.search == nil {
		return nil
	}
	c := s.search.Coverage(s.cameBack())
	return &c
}

// cameBack are the tasks of which at least one rollout is done, in their order.
func (s *simulation) cameBack() []record.Posed {
	var posed []record.Posed
	for _, p := range s.posed {
		if s.back[p.Task.ID] {
			posed = append(posed, p)
		}
	}
	return posed
}
