package engine

import (
	"context"

	"assay/engine/grade"
	"assay/engine/record"
	"assay/engine/stats"
)

// Meter is how far a run's gold has come, and what it has bought.
type Meter struct {
	Labelled int `json:"labelled"` // rollouts with gold
	Counted  int `json:"counted"`  // of those what the word about a judge rests on
	// NextLook is the number of counted labels at which the word is given next, 0 after
	// the last; LastLook the one whose word stands, 0 before the first.
	NextLook int `json:"next_look"`
	LastLook int `json:"last_look"`
	// Tied are labelled rollouts without gold, as their votes are tied.
	Tied int `json:"tied"`
	// Tuning is the judge on the half of gold that its rubric may be tuned on; of the
	// other half nothing is told before it is asked for. Whoever labels blind is not
	// shown it.
	Tuning TuningMeter `json:"-"`
	// CannotPass says that no look can be passed any more.
	CannotPass bool `json:"-"`
}

// TuningMeter are a judge's figures on the tuning half of gold.
type TuningMeter struct{ Agreement, Kappa stats.Estimate }

// Meter reads how far a run's gold has come, and writes nothing. It is no look at the other half: nothing
// of that is in it but a count.
func (e *Engine) Meter(ctx context.Context, runID string) (*Meter, error) {
	run, err := e.Source.Run(ctx, runID)
	if err != nil {
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
	r := grade.Trust(in)
	m := &Meter{Labelled: len(b.gold), Counted: r.N + r.Skipped.Unjudged, LastLook: r.Looked, Tied: b.tied}
	m.NextLook = b.nextLook(m.Counted)
	m.CannotPass = r.Headline == grade.NotTrusted && r.LabelsNeeded == nil
	m.Tuning = tuningOf(in)
	return m, nil
}

func (b *bench) nextLook(counted int) int {
	looks := stats.TrustLooks()
	if b.trustAt > 0 {
		looks = []int{b.trustAt}
	}
	for _, look := range looks {
		if look > counted {
			return look
		}
	}
	return 0
}

// tuningOf are the figures of counted rows of the tuning half.
func tuningOf(in grade.TrustInput) TuningMeter {
	rows := []grade.TrustRow{}
	for _, row := range in.Rows {
		if grade.TuningHalf(row.TaskID) && (row.Kind == record.GoldHuman || row.Kind == record.GoldProgram) {
			rows = append(rows, row)
		}
	}
	in.Rows, in.Revised = rows, false
	r := grade.Trust(in)
	return TuningMeter{Agreement: r.Agreement, Kappa: r.Kappa}
}
