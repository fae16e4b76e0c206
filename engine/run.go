package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"assay/engine/record"
)

// minHeldOut is the fewest held-out tasks that a comparison can say anything on
// (08 Delta: INSUFFICIENT DATA under 5 paired).
const minHeldOut = 5

// story is one story on its way: what Run and Resume share.
type story struct {
	engine  *Engine
	control *Control
	plan    *plan
	out     string
	force   bool // go on although an agent's files have changed
	worked  bool // rollouts were made: a saved comparison says nothing of them
	began   time.Time
	result  StoryResult
}

// Run runs a recipe's whole story: the run, its training files, and where the
// recipe has a changed arm the comparison. An error means that nothing came of
// it; what went wrong on the way (an agent that fails, a cut that is empty)
// stands in the result.
func (e *Engine) Run(ctx context.Context, r *Recipe, opts Options, control *Control) (*StoryResult, error) {
	e.learn(r.variables())
	if err := r.AskTools(ctx, e.Environ); err != nil {
		return nil, r.locate(err)
	}
	p, err := e.prepare(r)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if opts.Tasks != "" {
		p.showOwnTools()
	}
	run := p.newRun(e, record.RoleMain, p.before)
	run.Name, run.Overrides, run.PosedBy = opts.Name, opts.Overrides, opts.Tasks
	tasks, err := e.tasksFor(ctx, p, run, nil)
	if err != nil {
		return nil, r.locate(err)
	}
	run.Warnings = append(run.Warnings, p.warnings...)
	if err := e.ready(ctx, p); err != nil {
		return nil, err
	}
	if err := e.Sink.CreateRun(ctx, run); err != nil {
		return nil, err
	}
	s := &story{engine: e, control: control, plan: p, out: opts.Out, began: e.Now()}
	e.tell(StageStarted{StageRun})
	for _, w := range run.Warnings {
		e.tell(Warned{run.ID, w})
	}
	if err := s.simulate(ctx, run, p.before, tasks, nil); err != nil {
		return nil, err
	}
	return s.rest(ctx, run)
}

// ResumeOptions of a resume.
type ResumeOptions struct {
	// Force goes on although the agent's files have changed.
	Force bool
	// Out is the folder for training files.
	Out string
	// Overrides are new values of the knobs that bound a run and change no result:
	// budget, max-tokens, max-cost and concurrency. They are stored with the run.
	Overrides Overrides
}

// bounds are the knobs that a resume may set anew.
var bounds = []string{"budget", "max-tokens", "max-cost", "concurrency"}

// rebound gives a run new bounds.
func rebound(run *record.Run, o Overrides) error {
	with := maps.Clone(run.Overrides)
	for name, value := range o {
		if !slices.Contains(bounds, name) {
			return record.Problemf("bad_flag", "start a new run to change it", "--%s would make another run of this one%s", name, didYouMean(name, bounds))
		}
		if with == nil {
			with = map[string]string{}
		}
		with[name] = value
	}
	run.Overrides = with
	return nil
}

// Resume goes on with a story by the recipe that is stored with its first run:
// it tops up to exactly what was asked, makes again what infrastructure lost,
// and then does whatever of the story has no committed result. On a complete
// story it changes nothing.
func (e *Engine) Resume(ctx context.Context, runID string, opts ResumeOptions, control *Control) (*StoryResult, error) {
	run, err := e.Source.Run(ctx, runID)
	if err != nil {
		return nil, err
	}
	if run.Parent != "" { // a part of a story: the story is what is resumed
		if run, err = e.Source.Run(ctx, run.Parent); err != nil {
			return nil, err
		}
	}
	if run.Role == record.RoleImport {
		return nil, record.Problemf("not_resumable", "run a recipe to make new rollouts", "run %s was imported: there is nothing to go on with", run.ID)
	}
	if err := rebound(run, opts.Overrides); err != nil {
		return nil, err
	}
	p, err := e.prepareStored(run)
	if err != nil {
		return nil, err
	}
	defer p.close()
	s := &story{engine: e, control: control, plan: p, out: opts.Out, force: opts.Force, began: e.Now()}
	if err := s.resumeRun(ctx, run, p.before, StageRun); err != nil {
		return nil, err
	}
	return s.rest(ctx, run)
}

// resumeRun goes on with one run unless it has all that was asked.
func (s *story) resumeRun(ctx context.Context, run *record.Run, a *arm, stage Stage) error {
	past, err := s.engine.past(ctx, run, s.plan.feedback(run))
	if err != nil {
		return err
	}
	if run.Status == record.RunDone && past.retry == 0 {
		return nil
	}
	if err := s.sameFiles(run, a); err != nil {
		return err
	}
	if err := s.engine.ready(ctx, s.plan); err != nil {
		return err
	}
	if err := s.engine.Sink.ReopenRun(ctx, run.ID); err != nil {
		return err
	}
	s.engine.tell(StageStarted{stage})
	posed, err := s.engine.Source.Posed(ctx, run.ID)
	if err != nil {
		return err
	}
	tasks, err := s.engine.tasksFor(ctx, s.plan, run, posed)
	if err != nil {
		return err
	}
	return s.simulate(ctx, run, a, tasks, past)
}

// sameFiles refuses to mix two agents in one story.
func (s *story) sameFiles(run *record.Run, a *arm) error {
	if run.FilesHash == a.filesHash || s.force {
		return nil
	}
	return record.Problemf("agent_changed", "start a new run, or go on with --force and mix two agents in one story",
		"the files of the agent of run %s have changed since it began", run.ID)
}

// rest is the story after its first run.
func (s *story) rest(ctx context.Context, run *record.Run) (*StoryResult, error) {
	s.describe(run)
	if pass, err := s.engine.Pass(ctx, run.ID, false); err == nil {
		s.result.Pass = &pass
	}
	if run.Hollow || run.StoppedBecause != record.StoppedComplete {
		return s.end(), nil
	}
	if err := s.cuts(ctx, run); err != nil {
		return nil, err
	}
	if s.plan.after != nil && !s.control.stopped() {
		if err := s.compare(ctx, run); err != nil {
			return nil, err
		}
	}
	return s.end(), nil
}

func (s *story) end() *StoryResult {
	s.result.Seconds = s.engine.Now().Sub(s.began).Seconds()
	if s.control.stopped() {
		s.result.StoppedBecause = record.StoppedInterrupted
	}
	return s.result.masked(s.engine.Masker)
}

// describe fills the result from the first run.
func (s *story) describe(run *record.Run) {
	r := &s.result
	r.Run, r.Name, r.Tasks, r.Rollouts = run.ID, run.Name, run.Counts.Tasks, run.Counts.Done
	r.Lost, r.StoppedBecause, r.Hollow, r.Error = run.Counts.Lost, run.StoppedBecause, run.Hollow, run.Error
	if r.Lost == nil {
		r.Lost = map[record.Cause]int{}
	}
	r.Warnings = append([]record.Warning{}, run.Warnings...)
}

// cuts writes each training file that has not been written yet.
func (s *story) cuts(ctx context.Context, run *record.Run) error {
	specs := s.plan.recipe.Cut
	if len(specs) == 0 {
		return nil
	}
	s.engine.tell(StageStarted{StageCut})
	written, err := s.engine.Source.Exports(ctx, run.ID)
	if err != nil {
		return err
	}
	saved, err := s.savedCuts(ctx, run.ID)
	if err != nil {
		return err
	}
	for _, spec := range specs {
		format := spec.Format
		if format == "" {
			format = "whileai"
		}
		if c, ok := saved[spec.For+"."+format]; ok && alreadyWritten(written, spec.For, format) {
			s.result.Cut = append(s.result.Cut, c)
			continue
		}
		file := filepath.Join(s.out, run.ID+"."+spec.For+".jsonl")
		if format != "whileai" {
			file = filepath.Join(s.out, run.ID+"."+spec.For+"."+format+".jsonl")
		}
		c, err := s.engine.Cut(ctx, run.ID, spec.For, format, file)
		var empty *record.Problem
		if errors.As(err, &empty) && empty.Code == "empty_selection" { // said; the story goes on
			message := empty.Error()
			c.Error = &message
		} else if err != nil {
			return err
		}
		if err := s.engine.saveReport(ctx, record.SavedReport{Kind: "cut", RunID: run.ID}, &c); err != nil {
			return err
		}
		s.result.Cut = append(s.result.Cut, c)
		s.engine.tell(CutFinished{c})
	}
	return nil
}

// savedCuts are what came of the training files that the story wrote before, by
// target and format.
func (s *story) savedCuts(ctx context.Context, runID string) (map[string]CutResult, error) {
	reports, err := s.engine.Source.Reports(ctx, runID, "cut")
	saved := map[string]CutResult{}
	for _, r := range reports {
		var c CutResult
		if err := json.Unmarshal(r.Report, &c); err != nil {
			return nil, fmt.Errorf("the saved cut of run %s: %w", runID, err)
		}
		saved[c.For+"."+c.Format] = c
	}
	return saved, err
}

func alreadyWritten(written []record.ExportRecord, target, format string) bool {
	for _, w := range written {
		if w.For == target && w.Format == format {
			return true
		}
	}
	return false
}

// compare runs before and after on the held-out tasks, and reports the delta.
func (s *story) compare(ctx context.Context, run *record.Run) error {
	children, err := s.engine.Source.Children(ctx, run.ID)
	if err != nil {
		return err
	}
	before := run
	if run.Mode != record.ModeEval { // an eval run is itself the before
		if before, err = s.part(ctx, run, run, children, record.RoleBefore, s.plan.before, StageBefore); before == nil || err != nil {
			return err
		}
	}
	s.result.Before = &before.ID
	after, err := s.part(ctx, run, before, children, record.RoleAfter, s.plan.after, StageAfter)
	if after == nil || err != nil {
		return err
	}
	s.result.After = &after.ID
	return s.delta(ctx, run, before, after)
}

// part is one arm's eval run on the tasks of another run: the one that is there, gone on with, or a new one.
// It is nil where the run did not come to its end; the story stops there.
func (s *story) part(ctx context.Context, run, tasksOf *record.Run, children []*record.Run, role string, a *arm, stage Stage) (*record.Run, error) {
	part, err := s.partRun(ctx, run, tasksOf, children, role, a, stage)
	if err != nil {
		return nil, err
	}
	if part.StoppedBecause != record.StoppedComplete {
		s.result.Warnings = append(s.result.Warnings, record.Warning{Code: role + "_stopped",
			Text: fmt.Sprintf("the %s arm stopped (%s), so there is no delta: %s", role, part.StoppedBecause, part.Error), Fix: "assay resume " + run.ID})
		s.result.StoppedBecause = part.StoppedBecause
		return nil, nil
	}
	return part, nil
}

func (s *story) partRun(ctx context.Context, run, tasksOf *record.Run, children []*record.Run, role string, a *arm, stage Stage) (*record.Run, error) {
	for _, c := range children {
		if c.Role == role {
			return c, s.resumeRun(ctx, c, a, stage)
		}
	}
	if role == record.RoleBefore {
		if err := s.sameFiles(run, a); err != nil {
			return nil, err
		}
	}
	if err := s.engine.ready(ctx, s.plan); err != nil {
		return nil, err
	}
	part := s.plan.newRun(s.engine, role, a)
	part.Parent, part.PosedBy, part.Mode = run.ID, tasksOf.ID, record.ModeEval
	part.EvalRuns = s.plan.settings.DeltaRuns
	part.Overrides = run.Overrides
	tasks, err := s.engine.tasksFor(ctx, s.plan, part, nil)
	if err != nil {
		return nil, err
	}
	if err := s.engine.Sink.CreateRun(ctx, part); err != nil {
		return nil, err
	}
	s.engine.tell(StageStarted{stage})
	return part, s.simulate(ctx, part, a, tasks, nil)
}

// delta compares the two arms and keeps the report. Where nothing was made since
// it was kept, the kept one stands.
func (s *story) delta(ctx context.Context, run, before, after *record.Run) error {
	if !s.worked {
		if kept, err := s.keptDelta(ctx, run.ID, before.ID, after.ID); kept != nil || err != nil {
			s.result.Delta = kept
			return err
		}
	}
	s.engine.tell(StageStarted{StageDelta})
	report, err := s.engine.Delta(ctx, before.ID, after.ID, s.plan.deltaOptions())
	if err != nil {
		return err
	}
	s.result.Delta = &report
	if err := s.engine.saveReport(ctx, record.SavedReport{Kind: "delta", RunID: run.ID, Before: before.ID, After: after.ID}, &report); err != nil {
		return err
	}
	s.engine.tell(DeltaFinished{Before: before.ID, After: after.ID, Report: report})
	return nil
}

// keptDelta is the report that was kept of two runs last, nil where there is none.
func (s *story) keptDelta(ctx context.Context, runID, before, after string) (*DeltaReport, error) {
	reports, err := s.engine.Source.Reports(ctx, runID, "delta")
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Backward(reports) {
		if r.Before == before && r.After == after {
			report := &DeltaReport{}
			return report, json.Unmarshal(r.Report, report)
		}
	}
	return nil, nil
}
