package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"assay/engine/record"
	"assay/engine/rollout"
)

// simulate makes a run's rollouts and leaves the run on disk with how it ended.
// past is nil for a new run.
func (s *story) simulate(ctx context.Context, run *record.Run, a *arm, tasks *taskSource, past *pastRows) error {
	s.worked = true
	settings := s.plan.settings
	settings.Mode, settings.EvalRuns = run.Mode, run.EvalRuns
	sim := &simulation{
		engine: s.engine, control: s.control, run: run, settings: settings,
		grader: s.plan.grader, prompt: a.policy.SystemPrompt, tools: a.tools,
		planner: tasks.planner, search: tasks.search, stored: tasks.stored, upFront: !s.plan.feedback(run), compared: run.Mode == record.ModeEval || s.plan.after != nil, back: map[string]bool{},
	}
	sim.runner = s.runner(run, a)
	closed, err := serveWorlds(sim.runner, a)
	if err != nil {
		return err
	}
	defer closed()
	run.Status, run.StoppedBecause, run.Error = record.RunRunning, "", ""
	// What no row tells of is known from the run alone; the rest is counted again.
	run.Counts = record.Counts{Excluded: tasks.excluded, Spent: record.Spending{Besides: run.Counts.Spent.Besides}}
	if sim.elsewhere, err = s.elsewhere(ctx, run); err != nil {
		return err
	}
	if past != nil {
		sim.past, sim.carried = past.rows, past.again
		run.Counts.Spent.Rows = past.spent
		run.Warnings = nil // what its numbers say is said of all of them, at its end
		if run.Role == record.RoleMain {
			run.Warnings = slices.Clone(s.plan.warnings)
		}
		for _, o := range past.rows {
			sim.count(o)
			sim.hear(&o.Rollout)
		}
	}
	run.Warnings = append(run.Warnings, tasks.warnings...)
	s.engine.tell(RunStarted{*run})
	reason, err := sim.simulate(ctx)
	s.finish(run, reason, sim, tasks)
	if err != nil {
		run.Error = record.Text(s.engine.Masker.Text(err.Error()))
	}
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	if saveErr := s.engine.Sink.UpdateRun(saving, run); saveErr != nil && err == nil {
		err = saveErr
	}
	s.engine.tell(RunFinished{*run})
	return err
}

// saveTimeout bounds the last write of a run whose story was cancelled: a disk
// that does not answer in ten seconds will not.
const saveTimeout = 10 * time.Second

// runner is the rollout machinery for one arm of one run.
func (s *story) runner(run *record.Run, a *arm) *rollout.Runner {
	e := s.engine
	r := &rollout.Runner{
		Agent: a.agent, Policy: a.policy, ToolsBy: a.toolsBy, Seed: run.Seed,
		MaxTurns: a.maxTurns, Timeout: a.timeout, Now: e.Now,
	}
	if user := &s.plan.recipe.Simulate.User; s.plan.user != nil {
		played := &rollout.PlayedUsers{Model: s.plan.user, Temperature: user.Temperature, MaxTokens: or(user.MaxTokens, 0), Timeout: time.Duration(or(user.Timeout, 0))}
		r.Person, r.UserModel = played.Person, s.plan.user.name()
	}
	if e.Observe != nil {
		r.Hooks.Step = func(rolloutID string, index int, step record.Step) {
			e.tell(StepTaken{RunID: run.ID, RolloutID: rolloutID, Index: index, Step: step})
		}
		r.Hooks.Text = func(rolloutID string, d record.Delta) {
			e.tell(TextStreamed{RunID: run.ID, RolloutID: rolloutID, Delta: d})
		}
		r.Hooks.Retried = func(rolloutID string, cause record.Cause, err error) {
			e.tell(RolloutRetried{RunID: run.ID, RolloutID: rolloutID, Cause: cause, Err: err})
		}
	}
	return r
}

// finish says how a run ended: status, coverage, and what weakens its numbers.
func (s *story) finish(run *record.Run, reason record.StopReason, sim *simulation, tasks *taskSource) {
	run.StoppedBecause, run.Status = reason, reason.Status()
	if reason == record.StoppedAgentFailed || reason == record.StoppedEmptyReplies || reason == record.StoppedAuth || reason == record.StoppedWrongAddress {
		run.Error = sim.blocked
	}
	run.FinishedAt = s.engine.Now()
	c := &run.Counts
	run.Hollow = c.Done > 0 && c.Calls == 0 && len(s.plan.tools) > 0 || c.Done == 0 && c.LostTotal() > 0
	warned := map[string]bool{}
	for _, w := range run.Warnings {
		warned[w.Code+w.Text] = true
	}
	add := func(ws ...record.Warning) {
		for _, w := range ws {
			if !warned[w.Code+w.Text] {
				warned[w.Code+w.Text] = true
				run.Warnings = append(run.Warnings, w)
				s.engine.tell(Warned{run.ID, w})
			}
		}
	}
	if t := tasks.search; t != nil {
		report := t.Report()
		c.Dropped = report.Equal + report.NearDuplicates
		c.Excluded += report.Excluded
		add(report.Warnings...)
		run.Coverage = sim.coverage()
	}
	add(s.plan.refusedWarnings()...)
	add(familyWarnings(run, run.Scorers, run.Scorer)...)
	add(deadTools(&sim.tally, run.ID)...)
	if n := sim.truncated; n > 0 {
		add(record.Warning{Code: "prompt_truncated", Text: fmt.Sprintf("in %d of %s the agent was given less than what was said: its prompt was cut to fit", n, record.Counted(c.Done, "rollout")),
			Fix: "give the model a longer context (Ollama: num_ctx in extra), or shorten the policy and the tools' results"})
	}
	add(runWarnings(run)...)
	add(s.plan.noUsage(c)...)
}

// noUsage says which budgets were not kept, since nobody told what was used up. Of models
// a price that is not given is told of before the run, and answers that were kept use
// nothing.
func (p *plan) noUsage(c *record.Counts) []record.Warning {
	for _, b := range p.backends {
		if b.options.Cache != nil {
			return nil
		}
	}
	spent := c.Spent.Total()
	tokens := p.settings.MaxTokens > 0 && spent.Tokens() == 0
	cost := p.settings.MaxCost > 0 && spent.Cost == 0 && (len(p.backends) == 0 || spent.Tokens() == 0)
	var what string
	switch {
	case c.Done == 0:
		return nil
	case tokens && cost:
		what = "usage, so the budget of tokens and money"
	case tokens:
		what = "tokens, so the budget of tokens"
	case cost:
		what = "cost, so the budget of money"
	default:
		return nil
	}
	return []record.Warning{{Code: "no_usage", Text: "the agent reports no " + what + " was not kept", Fix: "have the agent report usage, or bound the run with --budget"}}
}

// runWarnings are what a finished run's counts say of its numbers.
func runWarnings(run *record.Run) []record.Warning {
	var ws []record.Warning
	c := &run.Counts
	if n := c.LostTotal(); n > 0 {
		ws = append(ws, record.Warning{Code: "lost", Text: fmt.Sprintf("%d of %s lost (%s): they are not missing at random, so a rate over the rest is not that of all", n, record.Counted(n+c.Done, "rollout"), lostList(c.Lost)),
			Fix: lossFix(run.ID, c.Lost)})
	}
	if run.Hollow && c.Done == 0 {
		ws = append(ws, record.Warning{Code: "hollow", Text: "every rollout was lost: nothing was tested", Fix: "see the first error, mend it, then assay resume " + run.ID})
	} else if run.Hollow {
		ws = append(ws, record.Warning{Code: "hollow", Text: "no rollout called a tool, though there are tools: nothing was tested", Fix: "see that the agent is given its tools and calls them"})
	}
	if run.Scorer == "" {
		ws = append(ws, record.Warning{Code: "no_reward", Text: "no marker, verifier or judge is the reward, so every reward is null: conduct alone does not say that the task was done", Fix: "write grade.reward in the recipe"})
	} else if un := c.Done - c.Graded; un > 0 {
		ws = append(ws, record.Warning{Code: "unjudged", Text: fmt.Sprintf("%d of %d rollouts have no reward and are in no rate", un, c.Done), Fix: "assay grade " + run.ID + " --only-missing, or make the reward total"})
	}
	if c.Excluded > 0 {
		ws = append(ws, record.Warning{Code: "trained", Text: record.Counted(c.Excluded, "task") + " left out, exported for training: a number measured on what was trained on would flatter",
			Fix: "--tasks RUN poses another run's tasks again, another --seed new ones, and another --db knows no training file"})
	}
	return ws
}

// lossFix is what can be done about lost rollouts: a resume makes again what
// infrastructure lost, and nothing makes again what is the agent's own result.
func lossFix(runID string, lost map[record.Cause]int) string {
	again, others := 0, 0
	for cause, n := range lost {
		if cause.Retried() {
			again += n
		} else {
			others += n
		}
	}
	switch retry := fmt.Sprintf("assay resume %s makes the %d again that the agent is not to blame for", runID, again); {
	case again == 0:
		return "see their errors with assay rows " + runID + " --where status=lost, mend what loses them, and run again"
	case others == 0:
		return "assay resume " + runID + " makes them again"
	default:
		return retry
	}
}

func fewHeldOut(n int) record.Warning {
	return record.Warning{Code: "few_held_out", Text: fmt.Sprintf("%d tasks are held out; a comparison needs %d to say anything and 20 to be worth reading", n, minHeldOut),
		Fix: "raise simulate.situations, simulate.phrasings or simulate.holdout"}
}
