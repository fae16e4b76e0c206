package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"assay/engine/grade"
	"assay/engine/record"
	"assay/engine/rollout"
)

// Numbers of the loop.
const (
	// commitRows is the most rollouts in one transaction: at 2 kB a transcript it
	// is under half a megabyte, and one fsync is spread over all of them.
	commitRows = 200
	// commitQueue is how many finished rollouts may wait for the disk before new
	// ones are held back, so that memory stays bounded when the disk is slow.
	commitQueue = 4 * commitRows
	// batchesInFlight is how many batches are open at once: feedback reaches the
	// plan one batch late, and stragglers of one batch do not leave the agent idle.
	batchesInFlight = 2
	// failuresToStop is how many rollouts, all of them lost by the agent or all of
	// them empty, end a run that has nothing else to show. Ten in a row have under
	// one chance in a thousand with an agent that answers half the time.
	failuresToStop = 10
	// saveCountsEvery is how often a running run's counts are saved for other
	// screens: each time costs one more fsync.
	saveCountsEvery = time.Second
	// graceOnStop is how long rollouts in flight may still finish after a stop;
	// convention, untested.
	graceOnStop = 10 * time.Second
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

// simulation is one run on its way. One goroutine, that of simulate, owns all of
// it; workers and the committer only pass messages:
//
//	plan -> ready -> worker (rollout, grade) -> finished -> committer -> committed
//	  ^                                                                    |
//	  +-------------------- outcomes of a whole batch ---------------------+
type simulation struct {
	engine   *Engine
	control  *Control
	run      *record.Run
	settings Settings
	runner   *rollout.Runner
	grader   *grade.Grader
	prompt   record.Text
	tools    []record.Tool // what the agent is shown; nil means each task's own
	planner  planner
	upFront  bool                           // no feedback: planned whole at the start
	stored   [][]record.Posed               // batches that are on disk already
	past     map[record.Key]*record.Outcome // rollouts that are on disk already, counted

	ready    []job
	batches  map[int]*batch
	posed    []record.Posed
	back     map[string]bool // tasks of which a rollout came back
	nextIn   int             // the batch to plan next
	nextOut  int             // the batch to close next
	planned  bool
	counted  bool // held-out tasks were counted
	compared bool // a comparison is to read them
	inFlight map[string]context.CancelCauseFunc
	waiting  []finished // finished, not yet given to the committer
	writing  bool
	started  int // rollouts begun, those on disk included: what a budget counts
	spent    record.Usage
	empties  int
	blocked  record.Text // the first error of a rollout that the agent lost
	stop     record.StopReason
	graceEnd <-chan time.Time
	savedAt  time.Time // when the counts were last saved

	finishedCh  chan finished
	refusedCh   chan record.StopReason // an endpoint said no to the whole run
	commitCh    chan commitment
	committedCh chan committed
	workers     sync.WaitGroup
}

type groupKey struct {
	taskID  string
	evalRun int
}

type job struct {
	group *group
	k     int
}

// batch is what is still open of one batch, and what came of it.
type batch struct {
	// left counts what each unsettled group still waits for.
	left     map[groupKey]int
	order    map[string]int
	outcomes []record.Outcome
}

// finished is one rollout that came back from its worker.
type finished struct {
	group   *group
	outcome record.Outcome
	fault   error // a fault of the program, not of the agent
}

// commitment is a group of rollouts to write, and now and then how far the run
// has come.
type commitment struct {
	rows   []finished
	counts *record.Counts
}

type committed struct {
	rows []finished
	err  error
}

// errAborted and errStoppedByHand are why a worker's context ends.
var (
	errAborted       = errors.New("the run was aborted")
	errStoppedByHand = errors.New("the rollout was stopped by hand")
)

// simulate runs until nothing is left to do or something stops it, and reports
// why. Every outcome that it told of is on disk.
func (s *simulation) simulate(ctx context.Context) (record.StopReason, error) {
	s.batches, s.inFlight = map[int]*batch{}, map[string]context.CancelCauseFunc{}
	s.refusedCh = make(chan record.StopReason, 1)
	s.runner.Hooks.Lost = s.lost
	s.finishedCh, s.commitCh, s.committedCh = make(chan finished), make(chan commitment, 1), make(chan committed, 1)
	work, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	var committer sync.WaitGroup
	committer.Go(func() { s.commitLoop(context.WithoutCancel(ctx)) })
	err := s.loop(ctx, work, abort)
	abort(errAborted)
	go func() { s.workers.Wait(); close(s.finishedCh) }()
	for range s.finishedCh { // workers that end late find a reader; their rows are not kept
	}
	close(s.commitCh)
	committer.Wait()
	return s.stop, err
}

func (s *simulation) loop(ctx, work context.Context, abort context.CancelCauseFunc) error {
	signal := s.control.signal()
	done := ctx.Done()
	for {
		want := s.control.ask(s.settings.Concurrency)
		s.obey(want, abort)
		if err := s.plan(work); err != nil {
			return s.storage(err)
		}
		s.warnFewHeldOut()
		s.begin(work, want)
		s.hand()
		if s.idle() {
			return nil
		}
		select {
		case f := <-s.finishedCh:
			if f.fault != nil {
				s.halt(record.StoppedStorage)
				return f.fault
			}
			s.came(f)
		case c := <-s.committedCh:
			s.writing = false
			if c.err == nil {
				c.err = s.settled(ctx, c.rows)
			}
			if c.err != nil {
				return s.storage(c.err)
			}
		case reason := <-s.refusedCh:
			s.halt(reason)
		case <-signal:
		case <-s.graceEnd:
			abort(errAborted)
			s.graceEnd = nil
		case <-done:
			s.halt(record.StoppedInterrupted)
			done = nil
		}
	}
}

// lost hears a worker's lost rollout; what no rollout after it could get past
// (a refused key, a wrong address) stops the run.
func (s *simulation) lost(_ string, err error) {
	var a *record.AgentError
	if errors.As(err, &a) && a.Stop != "" {
		select {
		case s.refusedCh <- a.Stop:
		default: // the first one is on its way
		}
	}
}

// storage ends the loop because the disk said no.
func (s *simulation) storage(err error) error {
	s.halt(record.StoppedStorage)
	return err
}

// idle reports whether nothing is in flight, nothing waits for the disk, and
// nothing is left to begin.
func (s *simulation) idle() bool {
	if len(s.inFlight) > 0 || len(s.waiting) > 0 || s.writing {
		return false
	}
	if s.stop != "" {
		return true
	}
	if len(s.ready) == 0 && s.planned {
		s.callOff(1)
		s.halt(record.StoppedComplete)
		return true
	}
	return false
}

// halt keeps the first reason to stop.
func (s *simulation) halt(reason record.StopReason) {
	if s.stop == "" {
		s.stop = reason
	}
}

func (s *simulation) obey(want asked, abort context.CancelCauseFunc) {
	for _, id := range want.cancelled {
		if cancel := s.inFlight[id]; cancel != nil {
			cancel(errStoppedByHand)
		}
	}
	switch {
	case want.stops == 0:
	case want.stops == 1 && s.stop == "":
		s.halt(record.StoppedInterrupted)
		s.graceEnd = time.After(graceOnStop)
	case want.stops > 1:
		s.halt(record.StoppedInterrupted)
		abort(errAborted)
	}
}

// plan opens batches while fewer than two are open. A run without feedback is
// planned and committed whole before its first rollout.
func (s *simulation) plan(ctx context.Context) error {
	if s.upFront && !s.planned {
		return s.planAll(ctx)
	}
	for s.stop == "" && !s.planned && len(s.batches) < batchesInFlight {
		posed, ok := s.planner.Next(ctx)
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
	s.planned = true
	batches := s.stored
	if len(batches) == 0 {
		var all []record.Posed
		for posed, ok := s.planner.Next(ctx); ok; posed, ok = s.planner.Next(ctx) {
			batches = append(batches, posed)
			all = append(all, posed...)
		}
		if err := s.engine.Sink.CommitTasks(ctx, s.run.ID, all); err != nil {
			return err
		}
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

// begin starts rollouts up to the limit.
func (s *simulation) begin(ctx context.Context, want asked) {
	for s.stop == "" && !want.paused && len(s.ready) > 0 && len(s.inFlight) < want.limit && len(s.waiting) < commitQueue {
		if reason := s.exhausted(); reason != "" {
			s.halt(reason)
			return
		}
		j := s.ready[0]
		s.ready = s.ready[1:]
		s.start(ctx, j)
	}
}

// exhausted says which budget is spent, "" for none.
func (s *simulation) exhausted() record.StopReason {
	switch {
	case s.settings.Budget > 0 && s.started >= s.settings.Budget:
		return record.StoppedBudget
	case s.settings.MaxTokens > 0 && s.spent.InputTokens+s.spent.OutputTokens >= s.settings.MaxTokens:
		return record.StoppedTokens
	case s.settings.MaxCost > 0 && s.spent.Cost >= s.settings.MaxCost:
		return record.StoppedCost
	}
	return ""
}

func (s *simulation) start(ctx context.Context, j job) {
	key := record.Key{TaskID: j.group.posed.Task.ID, EvalRun: j.group.evalRun, K: j.k}
	id := record.RolloutID(s.run.ID, key)
	ctx, cancel := context.WithCancelCause(ctx)
	s.inFlight[id] = cancel
	s.started++
	s.engine.tell(RolloutStarted{RunID: s.run.ID, RolloutID: id, Task: j.group.posed.Task, Key: key, HeldOut: j.group.posed.HeldOut})
	s.workers.Go(func() {
		defer cancel(nil)
		f := finished{group: j.group}
		defer func() {
			if p := recover(); p != nil {
				f.fault = &record.Problem{Code: "bug", Message: fmt.Sprintf("a fault in assay while rollout %s ran: %v", key, p), Fix: "resume the run; if it comes again, report it with this line"}
			}
			s.finishedCh <- f
		}()
		f.outcome = s.attempt(ctx, j, key)
	})
}

// attempt is what a worker does: the rollout, then its grades.
func (s *simulation) attempt(ctx context.Context, j job, key record.Key) record.Outcome {
	o := record.Outcome{Rollout: s.runner.Run(ctx, s.run.ID, *j.group.posed, key.EvalRun, key.K)}
	r := &o.Rollout
	if r.Status == record.StatusAborted && context.Cause(ctx) == errStoppedByHand {
		r.Status, r.Cause, r.Error, r.EndedBy = record.StatusLost, record.CauseInterrupted, record.Text(errStoppedByHand.Error()), record.EndedByError
	}
	if r.Status == record.StatusDone {
		o.Judgment, o.Markers = s.grader.Grade(ctx, grade.Case{Task: j.group.posed.Task, Rollout: r, SystemPrompt: s.prompt, Tools: s.toolsOf(j.group.posed.Task)})
		if ctx.Err() != nil && o.Judgment != nil && o.Judgment.Status != record.JudgeOK {
			r.Status, r.Cause = record.StatusAborted, record.CauseInterrupted // its grade was cut short, so it is not done
		}
	}
	return o
}

func (s *simulation) toolsOf(t *record.Task) []record.Tool {
	if s.tools != nil {
		return s.tools
	}
	return t.Tools
}

// came takes one rollout back from its worker.
func (s *simulation) came(f finished) {
	r := &f.outcome.Rollout
	delete(s.inFlight, r.ID)
	if r.Status == record.StatusAborted {
		s.started--
		return
	}
	if u := r.Usage; u != nil {
		s.spent.InputTokens += u.InputTokens
		s.spent.OutputTokens += u.OutputTokens
		s.spent.Cost += u.Cost
	}
	s.waiting = append(s.waiting, f)
}

// hand gives the committer what waits, when it is free: while one group is being
// written the next gathers.
func (s *simulation) hand() {
	if s.writing || len(s.waiting) == 0 {
		return
	}
	n := min(len(s.waiting), commitRows)
	c := commitment{rows: slices.Clone(s.waiting[:n])}
	if now := s.engine.Now(); now.Sub(s.savedAt) >= saveCountsEvery {
		counts := s.run.Counts.Clone()
		c.counts, s.savedAt = &counts, now
	}
	s.commitCh <- c
	s.waiting = slices.Delete(s.waiting, 0, n)
	s.writing = true
}

func (s *simulation) commitLoop(ctx context.Context) {
	for c := range s.commitCh {
		outcomes := make([]record.Outcome, len(c.rows))
		for i := range c.rows {
			outcomes[i] = c.rows[i].outcome
		}
		err := s.engine.Sink.CommitOutcomes(ctx, s.run.ID, outcomes)
		if err == nil && c.counts != nil {
			err = s.engine.Sink.SaveCounts(ctx, s.run.ID, *c.counts)
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
	s.callOff(failuresToStop)
	return s.closeBatches(ctx)
}

// callOff stops a run whose agent has only failed, or only said nothing, in the
// first rollouts that came back.
func (s *simulation) callOff(after int) {
	c := &s.run.Counts
	switch lost := c.Lost[record.CauseAgent]; {
	case c.Done == 0 && lost > 0 && lost >= after:
		s.halt(record.StoppedAgentFailed)
	case c.Done > 0 && s.empties == c.Done && s.empties >= after:
		s.halt(record.StoppedEmptyReplies)
	}
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
		if s.blocked == "" && r.Cause != record.CauseInterrupted {
			s.blocked = r.Error
		}
		return
	}
	c.Done++
	s.back[r.Key.TaskID] = true
	silent := r.FinalText == ""
	for i := range r.Steps {
		switch step := &r.Steps[i]; step.Kind {
		case record.StepTool:
			c.Calls++
			silent = false
		case record.StepText:
			silent = silent && step.Text == ""
		}
	}
	if silent {
		s.empties++
	}
	if reward := o.Reward(); reward != nil {
		c.Graded++
		if *reward >= s.run.PassThreshold {
			c.Passed++
		}
	}
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
