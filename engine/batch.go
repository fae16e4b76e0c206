package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"assay/engine/record"
)

// planner gives a run its tasks, batch by batch, and hears what came of them.
type planner interface {
	// Next is the next batch of tasks; ok is false when there is none. Batch b may
	// depend on what was observed of batches up to b-2 and on nothing else.
	Next(context.Context) (batch []record.Posed, ok bool)
	// Observe hears the outcomes of one batch, in task order, then by eval run and k.
	Observe(batch int, outcomes []record.Outcome)
	State() json.RawMessage
}

// batch is what is still open of one batch, and what came of it.
type batch struct {
	// left counts what each unsettled group still waits for.
	left     map[groupKey]int
	order    map[string]int
	outcomes []record.Outcome
}

// plan opens batches while fewer than two are open. A run without feedback is
// planned and committed whole before its first rollout.
func (s *simulation) plan(ctx context.Context) error {
	if s.upFront && !s.planned && s.stop == "" {
		return s.planAll(ctx)
	}
	for s.stop == "" && !s.planned && len(s.batches) < batchesInFlight {
		posed, ok := s.next(ctx)
		if s.broken(ctx) {
			return nil
		}
		if s.nextIn < len(s.stored) {
			posed, ok = s.stored[s.nextIn], true // what is on disk is the run; the planner only moves on
		} else if ok {
			if err := s.engine.Sink.CommitTasks(ctx, s.run.ID, posed); err != nil {
				return err
			}
		}
		if !ok {
			s.planned = true
			return nil
		}
		s.open(posed)
		if err := s.closeBatches(ctx); err != nil { // a resumed batch may be whole already
			return err
		}
	}
	return nil
}

// next is the planner's next batch. A writer may take its time over it, so that a stop
// or an abort breaks it off.
func (s *simulation) next(ctx context.Context) (posed []record.Posed, ok bool) {
	ctx, ledger := withLedger(ctx)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	came := make(chan any) // a fault of the planner's, or nil
	s.workers.Go(func() {
		defer func() { came <- recover() }()
		posed, ok = s.planner.Next(ctx)
	})
	signal := s.control.signal()
	for waiting := true; waiting; {
		select {
		case fault := <-came:
			if waiting = false; fault != nil {
				panic(fault) // where the story's own faults are heard
			}
		case <-signal:
			if s.control.stopped() {
				stop()
			}
			defer s.control.note() // the loop reads what was asked for
		}
	}
	besides := &s.run.Counts.Spent.Besides
	*besides = besides.Plus(ledger.sum().Total())
	return posed, ok
}

// broken says that planning was broken off, so that what the planner said last is not its
// last word. The loop then hears why.
func (s *simulation) broken(ctx context.Context) bool { return ctx.Err() != nil || s.control.stopped() }

// warnFewHeldOut says, before anything is spent, that there will be too few
// held-out tasks for a comparison to say anything.
func (s *simulation) warnFewHeldOut() {
	if s.counted || !s.planned {
		return
	}
	s.counted = true
	if n := s.run.Counts.HeldOut; s.compared && n < minHeldOut {
		w := fewHeldOut(n)
		s.run.Warnings = append(s.run.Warnings, w)
		s.engine.tell(Warned{s.run.ID, w})
	}
}

func (s *simulation) planAll(ctx context.Context) error {
	var batches [][]record.Posed
	var all []record.Posed
	for posed, ok := s.next(ctx); ok; posed, ok = s.next(ctx) {
		batches = append(batches, posed)
		all = append(all, posed...)
	}
	if s.broken(ctx) {
		return nil
	}
	s.planned = true
	if len(s.stored) > 0 {
		batches = s.stored // what is on disk is the run; the planner now knows what to report of it
	} else if err := s.engine.Sink.CommitTasks(ctx, s.run.ID, all); err != nil {
		return err
	}
	for _, posed := range batches {
		s.open(posed)
	}
	return s.closeBatches(ctx)
}

// open makes the groups of one batch and their jobs.
func (s *simulation) open(posed []record.Posed) {
	number := s.nextIn
	s.nextIn++
	b := &batch{left: map[groupKey]int{}, order: map[string]int{}}
	s.batches[number] = b
	for i := range posed {
		p := &posed[i]
		p.Batch = number
		b.order[p.Task.ID] = p.Order
		s.run.Counts.Tasks++
		if p.HeldOut {
			s.run.Counts.HeldOut++
		}
	}
	s.posed = append(s.posed, posed...)
	for evalRun := range s.settings.EvalRuns {
		for i := range posed {
			s.openGroup(b, &posed[i], evalRun)
		}
	}
	s.engine.tell(TasksPosed{RunID: s.run.ID, Batch: number, Posed: posed})
}

func (s *simulation) openGroup(b *batch, p *record.Posed, evalRun int) {
	g := newGroup(p, evalRun, s.settings)
	for k := range g.repeats {
		if o := s.past[record.Key{TaskID: p.Task.ID, EvalRun: evalRun, K: k}]; o != nil {
			g.take(k, o.Reward())
			b.outcomes = append(b.outcomes, *o)
			s.started++
		}
	}
	s.run.Counts.Planned += g.wants(s.run.PassThreshold)
	if n := s.queue(g); n > 0 {
		b.left[groupKey{p.Task.ID, evalRun}] = n
	}
}

// queue makes jobs of what the group wants now, and says how many.
func (s *simulation) queue(g *group) int {
	ks := g.next(s.run.PassThreshold)
	for _, k := range ks {
		s.ready = append(s.ready, job{g, k})
	}
	return len(ks)
}

// advance moves a group on by one outcome, and its batch with it.
func (s *simulation) advance(g *group, o *record.Outcome) {
	key := groupKey{g.posed.Task.ID, g.evalRun}
	b := s.batches[g.posed.Batch]
	if !s.upFront { // nobody will ask what came of it
		b.outcomes = append(b.outcomes, *o)
	}
	b.left[key]--
	if g.take(o.Rollout.Key.K, o.Reward()) {
		more := s.queue(g)
		b.left[key] += more
		s.run.Counts.Planned += more
	}
	if b.left[key] == 0 {
		delete(b.left, key)
	}
}

// closeBatches tells the planner of batches that are whole, in their order, and
// commits the search's state with each.
func (s *simulation) closeBatches(ctx context.Context) error {
	for {
		b := s.batches[s.nextOut]
		if b == nil || len(b.left) > 0 {
			return nil
		}
		delete(s.batches, s.nextOut)
		if !s.upFront {
			slices.SortFunc(b.outcomes, func(x, y record.Outcome) int {
				return cmp.Or(b.order[x.Rollout.Key.TaskID]-b.order[y.Rollout.Key.TaskID], x.Rollout.Key.Compare(y.Rollout.Key))
			})
			s.planner.Observe(s.nextOut, b.outcomes)
			if err := s.engine.Sink.CommitSearch(ctx, s.run.ID, record.SearchState{Batch: s.nextOut, State: s.planner.State()}); err != nil {
				return err
			}
		}
		s.nextOut++
	}
}
