package engine

import (
	"context"
	"fmt"
	"slices"

	"assay/engine/grade"
	"assay/engine/record"
)

// TrustReportKind is the kind of saved trust reports.
const TrustReportKind = "trust"

// TrustOptions are what a trust report is asked to look at beside the labels.
type TrustOptions struct {
	// Probes asks the judge about replies that a policy would try first, and twice about
	// the same ones.
	Probes bool
	// Pairs asks the judge which of two attempts at one ask is better, in both orders.
	Pairs bool
	// Compare are judges to measure on the same gold. Rows that one has not judged are
	// judged now and appended; the run's reward stays what it is.
	Compare []*JudgeSpec
}

// TrustReport says whether a run's judge can be trusted; its JSON is what trust
// prints, and what is saved.
type TrustReport struct {
	grade.TrustReport
	// Corrected is the run's pass rate corrected for the judge; nil where gold does not
	// allow it.
	Corrected *CorrectedPass  `json:"corrected"`
	Rubric    *RubricUse      `json:"rubric"`
	People    []Person        `json:"people"`
	Pairs     []PeoplePair    `json:"pairs"`
	Others    []ComparedJudge `json:"compared"`
}

// RubricUse is the version of the rubric that the judge reads.
type RubricUse struct {
	Hash   string `json:"hash"`
	Name   string `json:"name"`
	Parent string `json:"parent,omitempty"`
	// OtherLooks is how often a judge with it was measured on the half of gold that
	// rubrics are not tuned on, this time included.
	OtherLooks int `json:"other_looks"`
}

// Person is one annotator: how often a second look at a row agreed with the first.
// That is the ceiling of what any judge can be shown to do.
type Person struct {
	Annotator string          `json:"annotator"`
	Kind      record.GoldKind `json:"kind"`
	Labels    int             `json:"labels"` // passes and fails at a first look
	Twice     int             `json:"twice"`  // rows with a pass or fail at both looks
	Same      int             `json:"same"`   // of those the same
}

// PeoplePair is two annotators on the rows that both gave a pass or a fail.
type PeoplePair struct {
	First  string `json:"first"`
	Second string `json:"second"`
	N      int    `json:"n"`
	Same   int    `json:"same"`
}

// ComparedJudge is another judge on the same gold.
type ComparedJudge struct {
	grade.TrustReport
	// Against compares the run's judge, as the first, with this one.
	Against grade.JudgeComparison `json:"against"`
}

// Trust measures the judge that gives a run its reward against the run's gold, and
// keeps the report. It counts as a look at the half of gold that rubrics are not
// tuned on.
func (e *Engine) Trust(ctx context.Context, runID string, o TrustOptions) (*TrustReport, error) {
	run, err := e.Source.Run(ctx, runID)
	if err != nil {
		return nil, err
	}
	if run.Scorer == "" {
		return nil, record.Problemf("no_reward", "grade it with a judge first: assay grade "+runID+" --judge builtin:fair", "run %s has no reward, so no judge to measure", runID)
	}
	if err := e.keepRubrics(ctx, run, ""); err != nil {
		return nil, err
	}
	b, err := e.newBench(ctx, run)
	if err != nil {
		return nil, err
	}
	in, err := b.input(ctx, run.Scorer)
	if err != nil {
		return nil, err
	}
	if err := e.ask(ctx, run, o, &in); err != nil {
		return nil, err
	}
	r := &TrustReport{TrustReport: grade.Trust(in), People: b.people, Pairs: b.pairs, Others: []ComparedJudge{}}
	if r.Corrected, err = b.corrected(ctx); err != nil {
		return nil, err
	}
	if r.Rubric, err = e.lookAtOther(ctx, run, run.Scorer); err != nil {
		return nil, err
	}
	r.Warnings = append(r.Warnings, b.warnings...)
	r.Warnings = append(r.Warnings, familyWarnings(run, run.Scorers, run.Scorer)...)
	for _, spec := range o.Compare {
		other, err := b.compare(ctx, spec, in.Rows)
		if err != nil {
			return nil, err
		}
		r.Others = append(r.Others, *other)
	}
	r.Warnings = append(r.Warnings, r.best()...)
	return r, e.saveTrust(ctx, run, r)
}

func (e *Engine) saveTrust(ctx context.Context, run *record.Run, r *TrustReport) error {
	raw, err := record.Marshal(r)
	if err != nil {
		return fmt.Errorf("save the trust report: %w", err)
	}
	return e.Sink.SaveReport(ctx, record.SavedReport{Kind: TrustReportKind, RunID: run.ID, Report: raw})
}

// lookAtOther counts a look at the other half of gold for the rubric behind a scorer
// version; nil where it has none.
func (e *Engine) lookAtOther(ctx context.Context, run *record.Run, scorer string) (*RubricUse, error) {
	hash := rubricOf(run, scorer)
	if hash == "" {
		return nil, nil
	}
	versions, err := e.Source.Rubrics(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, v := range versions {
		if v.Hash != hash {
			continue
		}
		looks, err := e.Sink.CountOtherLook(ctx, hash)
		return &RubricUse{Hash: hash, Name: v.Name, Parent: v.Parent, OtherLooks: looks}, err
	}
	return nil, nil
}

// input is what the trust rule reads about one scorer version.
func (b *bench) input(ctx context.Context, scorer string) (grade.TrustInput, error) {
	return b.inputWith(ctx, scorer, rubricOf(b.run, scorer))
}

// inputWith is input where the rubric behind the scorer version is known.
func (b *bench) inputWith(ctx context.Context, scorer, rubricHash string) (grade.TrustInput, error) {
	rows, undone, err := b.rows(ctx, scorer)
	if err != nil {
		return grade.TrustInput{}, err
	}
	revised, err := b.revised(ctx, rubricHash)
	return grade.TrustInput{Run: b.run.ID, Judge: scorer, RunScorer: b.run.Scorer, Rows: rows, Tied: b.tied, Undone: undone,
		Unordered: !b.drawn, TrustAt: b.trustAt, Revised: revised}, err
}

// revised reports whether a rubric was made from another one.
func (b *bench) revised(ctx context.Context, hash string) (bool, error) {
	if hash == "" {
		return false, nil
	}
	versions, err := b.engine.Source.Rubrics(ctx, "")
	return slices.ContainsFunc(versions, func(v record.Rubric) bool { return v.Hash == hash && v.Parent != "" }), err
}

// compare measures another judge on the same gold.
func (b *bench) compare(ctx context.Context, spec *JudgeSpec, first []grade.TrustRow) (*ComparedJudge, error) {
	p, err := b.engine.regrader(b.run, spec)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if err := b.engine.keepRubrics(ctx, b.run, p.recipe.rubric()); err != nil {
		return nil, err
	}
	if err := b.engine.judgeOnRows(ctx, b.run, p, b.rolloutIDs()); err != nil {
		return nil, err
	}
	scorer := p.grader.RewardScorer()
	in, err := b.inputWith(ctx, scorer, record.RubricHash(record.Text(p.recipe.rubric())))
	if err != nil {
		return nil, err
	}
	in.RunScorer = "" // the word is about this judge, whether it gives the run its reward or not
	report := grade.Trust(in)
	report.Warnings = append(report.Warnings, familyWarnings(b.run, p.grader.Scorers(), scorer)...)
	return &ComparedJudge{TrustReport: report, Against: grade.CompareJudges(counted(first), counted(in.Rows))}, nil
}

// counted leaves out rows that were picked for what they are.
func counted(rows []grade.TrustRow) []grade.TrustRow {
	return slices.DeleteFunc(slices.Clone(rows), func(r grade.TrustRow) bool { return r.Diagnostic })
}

// best warns of what a choice among several judges needs to know.
func (r *TrustReport) best() []record.Warning {
	if len(r.Others) == 0 {
		return nil
	}
	all := []grade.TrustReport{r.TrustReport}
	for i := range r.Others {
		all = append(all, r.Others[i].TrustReport)
	}
	at, says := grade.Best(all)
	w := record.Warning{Code: "best_judge", Text: says, Fix: "measure the one that you choose on new gold"}
	if all[at].Headline != grade.Trusted {
		w.Code, w.Fix = "none_clears", "rewrite its rubric, or label more where labels are short"
	}
	return []record.Warning{w}
}
