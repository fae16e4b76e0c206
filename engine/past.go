package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/engine/record"
)

// pastRows are the rollouts of a run that are on disk and stay.
type pastRows struct {
	rows  map[record.Key]*record.Outcome
	retry int // lost ones that a resume makes again
	// spent is what all of them used up, again what those did that are made again.
	spent record.Usage
	again map[record.Key]record.RolloutSpending
}

// past reads what a run has. Rollouts that infrastructure or an interruption
// lost are made again; a rollout that the agent lost is its result. feedback says that
// a search will read what the agent did.
func (e *Engine) past(ctx context.Context, run *record.Run, feedback bool) (*pastRows, error) {
	p := &pastRows{rows: map[record.Key]*record.Outcome{}, again: map[record.Key]record.RolloutSpending{}}
	q := record.SampleQuery{Statuses: []record.Status{record.StatusDone, record.StatusLost}}
	for sample, err := range e.Source.Samples(ctx, run.ID, q) {
		if err != nil {
			return nil, err
		}
		o := sample.Outcome
		p.spent = p.spent.Plus(o.Rollout.Spending().Total())
		if o.Rollout.Status == record.StatusLost && o.Rollout.Cause.Retried() {
			p.retry++
			p.again[o.Rollout.Key] = o.Rollout.Spending()
			continue
		}
		if !feedback {
			thin(&o.Rollout)
		}
		p.rows[o.Rollout.Key] = &o
	}
	return p, nil
}

// thin leaves of a rollout on disk what counting reads: which steps there were, and
// whether something was said. The rest would fill the memory of a long run that is
// resumed. A search reads what the agent did, so where there is one all is kept.
func thin(r *record.Rollout) {
	mark := func(t *record.Text) {
		if *t != "" {
			*t = "…"
		}
	}
	mark(&r.FinalText)
	for i := range r.Steps {
		mark(&r.Steps[i].Text)
		r.Steps[i].Arguments, r.Steps[i].Result, r.Steps[i].Extra = nil, nil, nil
	}
	r.Extra, r.Sampling, r.Privileged = nil, nil, nil
}

// lostList is "3 agent, 1 context".
func lostList(lost map[record.Cause]int) string {
	var parts []string
	for _, cause := range slices.Sorted(maps.Keys(lost)) {
		parts = append(parts, fmt.Sprintf("%d %s", lost[cause], cause))
	}
	return strings.Join(parts, ", ")
}
