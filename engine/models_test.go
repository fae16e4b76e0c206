package engine

import (
	"testing"

	"assay/engine/model"
	"assay/engine/record"
)

// A bound of money that sees no price is no bound, and the run says so of each model.
func TestNoPrice(t *testing.T) {
	p := &plan{backends: []*backend{
		{key: "agent", spec: model.Spec{Provider: "openai", Model: "a"}},
		{key: "simulate.user", spec: model.Spec{Provider: "openai", Model: "b"}, priced: true},
		{key: "simulate.writer", spec: model.Spec{Provider: "ollama", Model: "c"}}}}
	if ws := p.unpricedWarnings(); ws != nil {
		t.Errorf("without a bound: %v", ws)
	}
	p.settings.MaxCost = 1
	if ws := p.unpricedWarnings(); len(ws) != 1 || ws[0].Code != "no_price" || ws[0].Fix == "" {
		t.Errorf("%v", ws)
	}
}

func TestNoUsage(t *testing.T) {
	used := record.Spending{Rows: record.Usage{InputTokens: 5}}
	paid := used
	paid.Rows.Cost = 1
	for name, c := range map[string]struct {
		tokens int64
		cost   float64
		spent  record.Spending
		warned bool
	}{
		"nothing told": {1, 0, record.Spending{}, true},
		"tokens alone": {0, 1, used, true},
		"tokens":       {1, 0, used, false},
		"both":         {1, 1, paid, false},
		"unbounded":    {0, 0, record.Spending{}, false},
	} {
		p := &plan{}
		p.settings.MaxTokens, p.settings.MaxCost = c.tokens, c.cost
		if got := p.noUsage(&record.Counts{Done: 1, Spent: c.spent}); len(got) > 0 != c.warned {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// An answer that was kept uses no budget, though its agent tells on the row what it took.
func TestKeptAnswersUseNothing(t *testing.T) {
	ctx, l := withLedger(t.Context())
	row := &record.Rollout{Usage: &record.Usage{InputTokens: 5}}
	if got := l.of(row).Agent.InputTokens; got != 5 {
		t.Errorf("an agent that counts itself: %d", got)
	}
	note(ctx, byAgent, nil, nil)
	if got := l.of(row).Agent.InputTokens; got != 0 {
		t.Errorf("a kept answer: %d", got)
	}
}
