package record

import "encoding/json"

// Plus is the sum of both.
func (u Usage) Plus(more Usage) Usage {
	return Usage{u.InputTokens + more.InputTokens, u.OutputTokens + more.OutputTokens, u.Cost + more.Cost}
}

// Tokens are input and output together.
func (u Usage) Tokens() int64 { return u.InputTokens + u.OutputTokens }

// Spending is what a run has used up, of what it was told: Rows on the rollouts that are
// on disk, Besides on what no row tells of, such as a writer's calls and rollouts that
// were broken off.
type Spending struct {
	Rows    Usage `json:"rows"`
	Besides Usage `json:"besides"`
}

// Total is both together.
func (s Spending) Total() Usage {
	return s.Rows.Plus(s.Besides)
}

// RolloutSpending is what one rollout used up by who asked for it, attempts that failed
// among it.
type RolloutSpending struct {
	Agent Usage `json:"agent"`
	User  Usage `json:"user"`
	Judge Usage `json:"judge"`
}

// Total is what all of them used up.
func (s RolloutSpending) Total() Usage {
	return s.Agent.Plus(s.User).Plus(s.Judge)
}

// Plus is the sum of both.
func (s RolloutSpending) Plus(more RolloutSpending) RolloutSpending {
	return RolloutSpending{s.Agent.Plus(more.Agent), s.User.Plus(more.User), s.Judge.Plus(more.Judge)}
}

// spentMember is where a rollout's spending stands in its Extra, where that is more than
// its usage says. No agent can write it.
const spentMember = "spent"

// SetSpending notes what the rollout used up in all, unless its usage says so.
func (r *Rollout) SetSpending(s RolloutSpending) {
	delete(r.Extra, spentMember)
	if s == r.Spending() {
		return
	}
	raw, err := Marshal(s)
	if err != nil { // a cost that is no number: the usage stands
		return
	}
	if r.Extra == nil {
		r.Extra = map[string]json.RawMessage{}
	}
	r.Extra[spentMember] = raw
}

// Spending is what the rollout used up in all: where nothing is noted, its agent's usage.
func (r *Rollout) Spending() RolloutSpending {
	var s RolloutSpending
	if raw, ok := r.Extra[spentMember]; ok && json.Unmarshal(raw, &s) == nil {
		return s
	}
	if r.Usage != nil {
		s = RolloutSpending{Agent: *r.Usage}
	}
	return s
}
