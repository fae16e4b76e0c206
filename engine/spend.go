package engine

import (
	"context"
	"errors"
	"sync"

	"assay/engine/record"
)

// ledger is what models used up on behalf of one rollout, or of one batch's writer, and
// the first error that no call after it could get past. Calls find it in their context,
// since a call passes through the agent, the user or the judge, which know nothing of it.
// It is safe for concurrent use.
type ledger struct {
	mu      sync.Mutex
	spent   record.RolloutSpending
	counted bool // the agent's calls pass here, whatever they used
	refused error
}

type ledgerKey struct{}

func withLedger(ctx context.Context) (context.Context, *ledger) {
	l := &ledger{}
	return context.WithValue(ctx, ledgerKey{}, l), l
}

// note adds what came of a call to the ledger in ctx, its usage to the part that role
// picks; without a ledger nobody counts.
func note(ctx context.Context, role func(*record.RolloutSpending) *record.Usage, usage *record.Usage, err error) {
	l, ok := ctx.Value(ledgerKey{}).(*ledger)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	of := role(&l.spent)
	l.counted = l.counted || of == &l.spent.Agent
	if usage != nil {
		*of = of.Plus(*usage)
	}
	if l.refused == nil && stopOf(err) != "" {
		l.refused = err
	}
}

// stopOf is why an error ends a whole run, "" where it does not.
func stopOf(err error) record.StopReason {
	var a *record.AgentError
	if errors.As(err, &a) {
		return a.Stop
	}
	return ""
}

// refusal is the error that ends a run, nil for none.
func (l *ledger) refusal() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused
}

func (l *ledger) sum() record.RolloutSpending {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.spent
}

// of is what a rollout used up: where nobody counted its agent's calls, what that says
// of itself.
func (l *ledger) of(r *record.Rollout) record.RolloutSpending {
	spent := l.sum()
	if !l.counted && r.Usage != nil {
		spent.Agent = *r.Usage
	}
	return spent
}

// Parts of a ledger.
func byAgent(s *record.RolloutSpending) *record.Usage { return &s.Agent }
func byUser(s *record.RolloutSpending) *record.Usage  { return &s.User }
func byJudge(s *record.RolloutSpending) *record.Usage { return &s.Judge }

// byWriter is any part: a writer's ledger is of a batch, and only its sum is read.
func byWriter(s *record.RolloutSpending) *record.Usage { return &s.User }

// exhausted says which budget is spent, "" for none. Budgets of tokens and money are the
// story's: what its other runs used up counts. What is in flight when a budget runs out
// is let finish, so a run ends over it by up to its concurrency's worth.
func (s *simulation) exhausted() record.StopReason {
	spent := s.run.Counts.Spent.Total()
	spent = spent.Plus(s.elsewhere)
	switch {
	case s.settings.Budget > 0 && s.started >= s.settings.Budget:
		return record.StoppedBudget
	case s.settings.MaxTokens > 0 && spent.Tokens() >= s.settings.MaxTokens:
		return record.StoppedTokens
	case s.settings.MaxCost > 0 && spent.Cost >= s.settings.MaxCost:
		return record.StoppedCost
	}
	return ""
}

// bill counts what a rollout that came back used up: on its row where it has one.
func (s *simulation) bill(f *finished, kept bool) {
	where := &s.run.Counts.Spent.Rows
	if !kept {
		where = &s.run.Counts.Spent.Besides
	}
	*where = where.Plus(f.spent)
}

// elsewhere is what the other runs of a run's story have used up.
func (s *story) elsewhere(ctx context.Context, run *record.Run) (record.Usage, error) {
	var total record.Usage
	if b := s.plan.settings; b.MaxTokens == 0 && b.MaxCost == 0 {
		return total, nil // nobody will ask
	}
	first := run.ID
	if run.Parent != "" {
		first = run.Parent
	}
	runs, err := s.engine.Source.Children(ctx, first)
	if err != nil {
		return total, err
	}
	if first != run.ID {
		main, err := s.engine.Source.Run(ctx, first)
		if err != nil {
			return total, err
		}
		runs = append(runs, main)
	}
	for _, other := range runs {
		if other.ID != run.ID {
			total = total.Plus(other.Counts.Spent.Total())
		}
	}
	return total, nil
}
