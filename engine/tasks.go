package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"assay/engine/axes"
	"assay/engine/record"
	"assay/engine/search"
)

// taskSource is where a run's tasks come from.
type taskSource struct {
	planner  planner
	search   *search.Planner // nil where the tasks are another run's
	aim      []search.Trace  // what the search is aimed by
	stored   [][]record.Posed
	warnings []record.Warning
	excluded int
}

// tasksFor is the source of a run's tasks: those that are stored with it first,
// then another run's where it poses those, else the search.
func (e *Engine) tasksFor(ctx context.Context, p *plan, run *record.Run, stored []record.Posed) (*taskSource, error) {
	trained, err := e.Source.Trained(ctx, nil)
	if err != nil {
		return nil, err
	}
	t := &taskSource{stored: batchesOf(stored)}
	if run.PosedBy != "" {
		if run.Parent == "" && p.recipe.Simulate.Aim != "" {
			return nil, record.Problemf("bad_flag", "leave out --aim, or --tasks", "the tasks are those of run %s: there is nothing to aim", run.PosedBy)
		}
		return t, e.replay(ctx, run, trained, t)
	}
	if t.aim, err = e.aimOf(ctx, p, run); err != nil {
		return nil, err
	}
	if p.settings.Array == "smallest" {
		if p.array, err = extended(ctx, p.array, t.aim); err != nil {
			return nil, inRecipe("simulate.aim", err)
		}
	}
	return t, p.newSearch(run, trained, t)
}

// replay poses the tasks of another run: in mode eval those that are held out or
// were given by the user.
func (e *Engine) replay(ctx context.Context, run *record.Run, trained map[string]bool, t *taskSource) error {
	all, err := e.Source.Posed(ctx, run.PosedBy)
	if err != nil {
		return err
	}
	var posed []record.Posed
	for _, p := range all {
		switch {
		case run.Mode == record.ModeEval && !p.HeldOut && p.Arm != record.ArmGiven:
			continue
		case run.Role == record.RoleBefore && !p.HeldOut:
			continue
		case trained[p.Task.ID]:
			t.excluded++
			continue
		}
		p.Batch, p.Order = 0, len(posed)
		posed = append(posed, p)
	}
	if len(posed) == 0 {
		return record.Problemf("no_tasks", "pose the tasks of a run that has held-out ones", "run %s has no task that this run may pose", run.PosedBy)
	}
	if run.Parent == "" {
		t.warnings = append(t.warnings, record.Warning{Code: "replayed",
			Text: fmt.Sprintf("the tasks are those of run %s, with its writers; k is %d", run.PosedBy, run.Repeats)})
	}
	t.planner = &fixedTasks{posed: posed}
	return nil
}

func (p *plan) newSearch(run *record.Run, trained map[string]bool, t *taskSource) error {
	given := make([]search.Given, len(p.recipe.Simulate.Seeds))
	for i, s := range p.recipe.Simulate.Seeds {
		given[i] = search.Given{Ask: record.Text(s.Ask), User: s.User, Reference: s.Reference}
	}
	texts := []string{p.recipe.SystemPrompt}
	for _, s := range p.recipe.Simulate.Seeds {
		texts = append(texts, s.Ask)
	}
	var ids []search.KnownID
	for _, k := range axes.KnownIDs(p.tools, texts...) {
		ids = append(ids, search.KnownID{Argument: k.Argument, ID: k.ID})
	}
	references := map[string][]string{}
	for _, r := range p.set.References {
		references[r.Tool] = append(references[r.Tool], r.Argument)
	}
	var writer search.Writer
	if w := p.writer; w != nil {
		by, err := search.NewModelWriter(search.ModelWriterConfig{Model: w, Name: w.name(), Masker: w.masker, Seed: run.Seed, Temperature: p.recipe.Simulate.Writer.Temperature, MaxTokens: or(p.recipe.Simulate.Writer.MaxTokens, 0)})
		if err != nil {
			return inRecipe("simulate.writer", err)
		}
		writer = by
	}
	planner, err := search.New(search.Input{
		Array: p.array, Tools: p.tools, References: references, KnownIDs: ids,
		Mode: run.Mode, Seed: run.Seed, Situations: p.settings.Situations, Phrasings: p.settings.Phrasings,
		Given: given, Holdout: p.settings.Holdout, FaultRate: p.settings.FaultRate,
		ArmWeights: p.settings.ArmWeights, Batch: p.settings.Batch, HardShare: p.settings.HardShare, HardAsked: p.recipe.Simulate.HardShare != nil,
		PassThreshold: run.PassThreshold, Aim: t.aim, Writer: writer, Stored: slices.Concat(t.stored...), Exclude: trained,
	})
	if err != nil {
		return inRecipe("simulate", err)
	}
	t.planner, t.search = planner, planner
	return nil
}

// fixedTasks poses one batch of tasks that are there already.
type fixedTasks struct {
	posed []record.Posed
	given bool
}

// Next is the whole list, once.
func (f *fixedTasks) Next(context.Context) ([]record.Posed, bool) {
	if f.given || len(f.posed) == 0 {
		return nil, false
	}
	f.given = true
	return f.posed, true
}

// Observe learns nothing: the tasks are fixed.
func (f *fixedTasks) Observe(int, []record.Outcome) {}

// State is null: there is no search.
func (f *fixedTasks) State() json.RawMessage { return json.RawMessage("null") }
