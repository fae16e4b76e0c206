package engine

import (
	"cmp"
	"context"
	"slices"

	"assay/engine/grade"
	"assay/engine/record"
)

// ask puts to the judge that gives a run its reward what the labels cannot tell: the hacks
// that a policy finds first, the same rows twice, and pairs in both orders.
func (e *Engine) ask(ctx context.Context, run *record.Run, o TrustOptions, in *grade.TrustInput) error {
	if !o.Probes && !o.Pairs {
		return nil
	}
	p, err := e.benchJudge(ctx, run, run.Scorer)
	if err != nil {
		return err
	}
	defer p.close()
	if err := e.ready(ctx, p); err != nil {
		return err
	}
	judge := *p.reward.Judge
	candidates, err := e.candidatesByRank(ctx, run)
	if err != nil {
		return err
	}
	if o.Probes {
		cases, err := e.cases(ctx, run, rowsToProbe(candidates, run.PassThreshold))
		if err != nil {
			return err
		}
		if in.Probes, err = grade.Probe(ctx, judge, cases, run.PassThreshold); err != nil {
			return err
		}
		if in.Repeats, err = grade.Rejudge(ctx, judge, cases, run.PassThreshold); err != nil {
			return err
		}
	}
	if !o.Pairs {
		return nil
	}
	pairs, err := e.pairs(ctx, run, candidates)
	if err != nil {
		return err
	}
	in.Positions, err = grade.JudgePairs(ctx, judge, pairs)
	return err
}

// candidatesByRank are the run's done rollouts in an order of chance of its own.
func (e *Engine) candidatesByRank(ctx context.Context, run *record.Run) ([]record.Candidate, error) {
	candidates, err := e.Source.Candidates(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	rank := func(c record.Candidate) uint64 {
		return record.Rank("probe", run.Seed, c.Key.TaskID, c.Key.EvalRun, c.Key.K)
	}
	slices.SortFunc(candidates, func(a, b record.Candidate) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), a.Key.Compare(b.Key))
	})
	return candidates, nil
}

// cases are the rollouts of the ids, as a judge is asked about them, in the order of a
// run's samples.
func (e *Engine) cases(ctx context.Context, run *record.Run, ids []string) ([]grade.Case, error) {
	var cases []grade.Case
	for s, err := range e.Source.Samples(ctx, run.ID, record.SampleQuery{Rollouts: ids}) {
		if err != nil {
			return nil, err
		}
		cases = append(cases, caseOf(run, s))
	}
	return cases, nil
}

// probeRows is how many rows a probe is tried on: twice what it needs at least, half
// of them failing where there are as many, since only a failing reply can begin to
// pass. Convention, untested.
const probeRows = 2 * grade.MinProbeRows

// rowsToProbe takes rows of both verdicts, the first that come.
func rowsToProbe(candidates []record.Candidate, threshold float64) []string {
	var failing, others []string
	for _, c := range candidates {
		if c.Reward != nil && *c.Reward < threshold {
			failing = append(failing, c.RolloutID)
		} else {
			others = append(others, c.RolloutID)
		}
	}
	n := min(len(failing), max(probeRows/2, probeRows-len(others)))
	return append(failing[:n:n], others[:min(len(others), probeRows-n)]...)
}

// pairRows is how many pairs a judge is shown in both orders: of forty, a share of flips of
// 0.20 has an interval of 0.10 to 0.35. Convention, untested.
const pairRows = 40

// pairsRead bounds the pairs that are read to find those that differ, as a multiple of the
// pairs that are wanted.
const pairsRead = 4

// pairs are the first two rollouts of tasks that have two, by rank, of different replies: a
// task gives one pair, so that pairs are independent. A run in which no task has two that
// differ is a [record.Problem].
func (e *Engine) pairs(ctx context.Context, run *record.Run, candidates []record.Candidate) ([]grade.CasePair, error) {
	first := map[string]string{} // of tasks without a pair yet
	paired := map[string]bool{}
	var pairs [][2]string
	for _, c := range candidates {
		task := c.Key.TaskID
		switch one, has := first[task]; {
		case paired[task] || len(pairs) == pairRows*pairsRead:
		case !has:
			first[task] = c.RolloutID
		default:
			pairs = append(pairs, [2]string{one, c.RolloutID})
			paired[task] = true
		}
	}
	ids := make([]string, 0, 2*len(pairs))
	for _, p := range pairs {
		ids = append(ids, p[0], p[1])
	}
	out := []grade.CasePair{}
	if len(ids) > 0 {
		cases, err := e.cases(ctx, run, ids)
		if err != nil {
			return nil, err
		}
		byID := make(map[string]grade.Case, len(cases))
		for _, c := range cases {
			byID[c.Rollout.ID] = c
		}
		for _, p := range pairs {
			pair := grade.CasePair{A: byID[p[0]], B: byID[p[1]]}
			if len(out) < pairRows && !pair.Alike() {
				out = append(out, pair)
			}
		}
	}
	if len(out) == 0 {
		return nil, record.Problemf("no_pairs", "run with simulate.repeats of 2 or more", "no task of run %s has two attempts that differ, so there is no pair to ask about", run.ID)
	}
	return out, nil
}
