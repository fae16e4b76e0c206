package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"assay/engine/grade"
	"assay/engine/record"
	"assay/engine/rollout"
	"assay/engine/search"
	"assay/engine/world"
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
	// saveProgressEvery is how often a running run's counts and coverage are saved for
	// other screens: each time costs one more fsync.
	saveProgressEvery = time.Second
	// graceOnStop is how long rollouts in flight may still finish after a stop;
	// convention, untested.
	graceOnStop = 10 * time.Second
)

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
	search   *search.Planner                // the planner, nil where the tasks are another run's
	upFront  bool                           // no feedback: planned whole at the start
	stored   [][]record.Posed               // batches that are on disk already
	past     map[record.Key]*record.Outcome // rollouts that are on disk already, counted

	ready     []job
	batches   map[int]*batch
	posed     []record.Posed
	tally     world.Tally     // how calls of each tool went
	truncated int             // rollouts whose prompt was cut to fit
	back      map[string]bool // tasks of which a rollout came back
	nextIn    int             // the batch to plan next
	nextOut   int             // the batch to close next
	planned   bool
	counted   bool // held-out tasks were counted
	compared  bool // a comparison is to read them
	inFlight  map[string]context.CancelCauseFunc
	waiting   []finished // finished, not yet given to the committer
	writing   bool
	started   int                                   // rollouts begun, those on disk included: what a budget counts
	elsewhere record.Usage                          // what the story's other runs used up
	carried   map[record.Key]record.RolloutSpending // of rows that are made again
	answered  int                                   // rollouts that came back with a reply
	silent    int                                   // of those, without a word or a call
	failed    int                                   // rollouts that the agent lost
	blocked   record.Text                           // the first error of a rollout that the agent lost
	stop      record.StopReason
	graceEnd  <-chan time.Time
	savedAt   time.Time // when the progress was last saved

	finishedCh  chan finished
	refusedCh   chan refusal // no rollout after this one could get past it
	refused     *refusal
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

// finished is one rollout that came back from its worker.
type finished struct {
	group   *group
	outcome record.Outcome
	spent   record.Usage // by this time it was made
	fault   error        // a fault of the program, not of the agent
}

// refusal is an error in a rollout that stops its run: a refused key, a wrong address, a program
// that does not start.
type refusal struct {
	rolloutID string
	reason    record.StopReason
	err       error
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
	s.refusedCh = make(chan refusal, 1)
	s.runner.Hooks.Lost = s.refuse
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
		if s.pointless() {
			abort(errAborted)
		}
		s.begin(work, want)
		s.hand()
		if s.idle() {
			return nil
		}
		select {
		case f := <-s.finishedCh:
			if f.fault != nil {
				s.halt(record.StoppedInterrupted) // what is on disk is whole: a resume goes on from it
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
		case r := <-s.refusedCh:
			s.halt(r.reason)
			s.refused = &r
			if s.blocked == "" {
				s.blocked = record.Text(r.err.Error())
			}
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

// refuse hears a worker's error; one that no rollout after it could get past (a refused
// key, a wrong address) stops the run.
func (s *simulation) refuse(rolloutID string, err error) {
	reason := stopOf(err)
	if reason == "" {
		return
	}
	select {
	case s.refusedCh <- refusal{rolloutID, reason, err}:
	default: // the first one is on its way
	}
}

// pointless is true once the run was stopped because no rollout could come to anything:
// those in flight are not waited for, and what they are lost by is known already.
func (s *simulation) pointless() bool {
	switch s.stop {
	case record.StoppedAgentFailed, record.StoppedAuth, record.StoppedWrongAddress:
		return true
	}
	return false
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
		f.outcome, f.spent = s.attempt(ctx, j, key)
	})
}

// attempt is what a worker does: the rollout, then its grades. spent is what they used up.
func (s *simulation) attempt(ctx context.Context, j job, key record.Key) (o record.Outcome, spent record.Usage) {
	ctx, ledger := withLedger(ctx)
	o = record.Outcome{Rollout: s.runner.Run(ctx, s.run.ID, *j.group.posed, key.EvalRun, key.K)}
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
	s.refuse(r.ID, ledger.refusal()) // a judge's or a user's too
	fresh := ledger.of(r)
	r.SetSpending(fresh.Plus(s.carried[key]))
	// Not before the grades, which a key that was written out is a fault to; and what
	// the search learns from is what a resume reads back.
	s.engine.Masker.Outcome(&o)
	return o, fresh.Total()
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
	s.engine.tell(RolloutReturned{RunID: s.run.ID, RolloutID: r.ID})
	kept := r.Status != record.StatusAborted && !(s.pointless() && r.Status == record.StatusLost && !s.stoppedBy(r.ID))
	s.bill(&f, kept)
	if !kept {
		s.started--
		return
	}
	s.waiting = append(s.waiting, f)
	s.hear(r)
	s.callOff(failuresToStop)
}

// stoppedBy is true of the rollout whose loss stopped the run.
func (s *simulation) stoppedBy(rolloutID string) bool {
	return s.refused != nil && s.refused.rolloutID == rolloutID
}

// hear notes how a rollout ended, as soon as it is back: a slow disk must not let
// an agent that only fails fill a run.
func (s *simulation) hear(r *record.Rollout) {
	if r.Status == record.StatusLost {
		if r.Cause == record.CauseAgent {
			s.failed++
		}
		if s.blocked == "" && r.Cause != record.CauseInterrupted {
			s.blocked = r.Error
		}
		return
	}
	s.answered++
	silent := blank(r.FinalText)
	for i := range r.Steps {
		switch step := &r.Steps[i]; step.Kind {
		case record.StepTool:
			silent = false
		case record.StepText:
			silent = silent && blank(step.Text)
		}
	}
	if silent {
		s.silent++
	}
}

// blank is true of what says nothing, to the rollout too, which tries again for it.
func blank(text record.Text) bool { return strings.TrimSpace(string(text)) == "" }

// callOff stops a run whose agent has only failed, or only said nothing, in the
// first rollouts that came back.
func (s *simulation) callOff(after int) {
	switch {
	case s.answered == 0 && s.failed >= after:
		s.halt(record.StoppedAgentFailed)
	case s.answered > 0 && s.silent == s.answered && s.silent >= after:
		s.halt(record.StoppedEmptyReplies)
	}
}
