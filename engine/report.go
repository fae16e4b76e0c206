package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"assay/engine/cut"
	"assay/engine/delta"
	"assay/engine/record"
)

// Pass is a run's pass@1, pass^k and pass@k under its own scorer version, on
// held-out tasks or on all.
func (e *Engine) Pass(ctx context.Context, runID string, allTasks bool) (PassReport, error) {
	run, err := e.Source.Run(ctx, runID)
	if err != nil {
		return PassReport{}, err
	}
	rates, err := e.Source.TaskRates(ctx, runID)
	if err != nil {
		return PassReport{}, err
	}
	report, err := delta.Pass(rates, run.Repeats, delta.PassOptions{AllTasks: allTasks, Mode: run.Mode})
	if err != nil {
		return PassReport{}, err
	}
	report.Run = run.ID
	report.Warnings = append(report.Warnings, familyWarnings(run, run.Scorers, run.Scorer)...)
	return report, nil
}

// DeltaOptions are what a comparison is asked to look at.
type DeltaOptions struct {
	Target         string // "" is pass_at_1
	MustNotRegress []string
	LowerIsBetter  []string
	Proxy          string
	By             string
	AllTasks       bool
}

// Delta compares two runs on the tasks that both have, under one scorer version.
func (e *Engine) Delta(ctx context.Context, before, after string, o DeltaOptions) (DeltaReport, error) {
	in, err := e.compared(ctx, before, after, "")
	if err != nil {
		return DeltaReport{}, err
	}
	in.Target, in.MustNotRegress, in.LowerIsBetter = o.Target, o.MustNotRegress, o.LowerIsBetter
	in.Proxy, in.By, in.AllTasks = o.Proxy, o.By, o.AllTasks
	report, err := delta.Compare(in)
	if err != nil || report.Scorer == "" || len(report.NotComparable) > 0 {
		return report, err
	}
	report.Corrected, err = e.correctedDelta(ctx, in)
	return report, err
}

// compared reads both sides of a comparison. scorer is the version to read them under;
// "" is the one that both have.
func (e *Engine) compared(ctx context.Context, before, after, scorer string) (delta.Input, error) {
	b, gradedBefore, err := e.side(ctx, before)
	if err != nil {
		return delta.Input{}, err
	}
	a, gradedAfter, err := e.side(ctx, after)
	if err != nil {
		return delta.Input{}, err
	}
	common := scorer != ""
	if !common {
		scorer, common = delta.CommonScorer(gradedBefore, gradedAfter)
	}
	if common {
		b.Scorer, a.Scorer = scorer, scorer
	}
	trained, err := e.Source.Trained(ctx, nil)
	if err != nil {
		return delta.Input{}, err
	}
	for _, side := range []*delta.Side{&b, &a} {
		q := record.SampleQuery{Scorer: side.Scorer, Statuses: []record.Status{record.StatusDone, record.StatusLost}}
		if side.Samples, err = e.samples(ctx, side.Run.ID, q); err != nil {
			return delta.Input{}, err
		}
	}
	return delta.Input{Before: b, After: a, Trained: trained}, nil
}

// side reads what one run is as one side of a comparison, and which scorer
// versions could serve it.
func (e *Engine) side(ctx context.Context, runID string) (delta.Side, delta.Grading, error) {
	run, err := e.Source.Run(ctx, runID)
	if err != nil {
		return delta.Side{}, delta.Grading{}, err
	}
	complete, err := e.Source.CompleteScorers(ctx, runID)
	if err != nil {
		return delta.Side{}, delta.Grading{}, err
	}
	side := delta.Side{Run: run, Scorer: run.Scorer, Conditions: map[string]string{"generator": record.Generator}}
	if spec, ok := storedAgent(run); ok {
		side.Model = strings.Trim(spec.Model+"@"+spec.Checkpoint, "@")
		if spec.TrainingSeed != nil {
			side.TrainingSeeds = []string{strconv.FormatInt(*spec.TrainingSeed, 10)}
		}
	}
	return side, delta.Grading{Own: run.Scorer, Complete: complete}, nil
}

// storedAgent is the agent of a run as its configuration says it.
func storedAgent(run *record.Run) (AgentSpec, bool) {
	var config struct {
		Agent *AgentSpec `json:"agent"`
	}
	if json.Unmarshal(run.Config, &config) != nil || config.Agent == nil {
		return AgentSpec{}, false
	}
	return *config.Agent, true
}

func (e *Engine) samples(ctx context.Context, runID string, q record.SampleQuery) ([]record.Sample, error) {
	var out []record.Sample
	for s, err := range e.Source.Samples(ctx, runID, q) {
		if err != nil {
			return nil, err
		}
		out = append(out, *s)
	}
	return out, nil
}

// saveReport keeps a report as it is shown.
func (e *Engine) saveReport(ctx context.Context, saved record.SavedReport, report any) error {
	raw, err := record.Marshal(report)
	if err != nil {
		return fmt.Errorf("save the %s report: %w", saved.Kind, err)
	}
	saved.Report = raw
	return e.Sink.SaveReport(ctx, saved)
}

// Cut selects a training set from a run and has it written to file. A set that
// is empty or refused writes nothing and is a [record.Problem] with the code
// empty_selection; the gates that emptied it stand in the result.
func (e *Engine) Cut(ctx context.Context, runID, target, format, file string) (CutResult, error) {
	result := CutResult{For: target, Format: format}
	in, err := e.cuttable(ctx, runID)
	if err != nil {
		return result, err
	}
	sel, err := in.cut(target, &result)
	if err != nil {
		return result, err
	}
	if err := e.Exporter.Export(ctx, training(in.run, sel), format, file); err != nil {
		return result, err
	}
	result.File = file
	return result, nil
}

// cuttable is what training sets are cut from.
type cuttable struct {
	run     *record.Run
	samples []record.Sample
	eval    []record.Posed // the tasks that training must not have seen
}

func (e *Engine) cuttable(ctx context.Context, runID string) (*cuttable, error) {
	run, err := e.Source.Run(ctx, runID)
	if err != nil {
		return nil, err
	}
	in := &cuttable{run: run}
	if in.samples, err = e.samples(ctx, runID, record.SampleQuery{}); err != nil {
		return nil, err
	}
	posed, err := e.Source.Posed(ctx, runID)
	if err != nil {
		return nil, err
	}
	for _, p := range posed {
		if p.HeldOut {
			in.eval = append(in.eval, p)
		}
	}
	return in, nil
}

// cut selects for one target and fills in what came of it. An empty set is an error,
// and the selection then still says what every gate took.
func (in *cuttable) cut(target string, result *CutResult) (*cut.Selection, error) {
	sel, err := cut.Select(cut.Target(target), in.samples, cut.Options{Mode: in.run.Mode, PassThreshold: in.run.PassThreshold, EvalTasks: in.eval})
	if sel != nil {
		result.RowsIn, result.RowsOut, result.Gates, result.Warnings = sel.RowsIn, sel.RowsOut, sel.Gates, sel.Warnings
	}
	if errors.Is(err, cut.ErrEmpty) {
		return sel, &record.Problem{Code: emptySelection, Message: err.Error(), Where: "cut " + target, Fix: "see the gates: assay cut " + in.run.ID + " --for " + target, Err: err}
	}
	return sel, err
}

// emptySelection is the code of a cut that nothing is left of.
const emptySelection = "empty_selection"
