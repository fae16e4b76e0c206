package grade

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"assay/engine/record"
	"assay/engine/stats"
)

// Preference is which of two replies a pairwise judge prefers.
type Preference string

// Preferences, by content, not by place.
const (
	PreferA   Preference = "a"
	PreferB   Preference = "b"
	PreferTie Preference = "tie"
)

// The words of a pairwise judge, by place.
const (
	wordFirst  = "first"
	wordSecond = "second"
	wordTie    = "tie"
)

// PairVerdict is one pair of replies, shown in both orders.
type PairVerdict struct {
	TaskID string
	// AFirst is the preference where a was shown first, BFirst where b was.
	AFirst, BFirst Preference
}

// Word is what the pair comes to: what both orders say, else a tie.
func (p PairVerdict) Word() Preference {
	if p.AFirst == p.BFirst {
		return p.AFirst
	}
	return PreferTie
}

// flips reports a pair that is decided by the order alone.
func (p PairVerdict) flips() bool {
	return p.AFirst != p.BFirst && p.AFirst != PreferTie && p.BFirst != PreferTie
}

// Positions is what a pairwise judge makes of the order in which it is shown replies.
type Positions struct {
	N     int            `json:"n"`
	Flips int            `json:"flips"` // pairs whose winner changes with the order: ties
	Share stats.Estimate `json:"share"` // of flips; Wilson, over pairs
	// ToFirst is how many of the flips went to the reply that was shown first.
	ToFirst int `json:"to_first"`
	A       int `json:"a"`
	B       int `json:"b"`
	Ties    int `json:"ties"`
	// Silent are pairs on which the judge gave no word in one of the orders: they are in no
	// other number.
	Silent  int    `json:"silent"`
	Flagged bool   `json:"flagged"`
	Says    string `json:"says"`
}

// flipShare is the share of flips from where order rather than content decides too much
// (the flag of public pairwise audits). Convention, untested.
const flipShare = 0.20

// PositionsOf counts pairs that were shown in both orders.
func PositionsOf(pairs []PairVerdict) *Positions {
	p := &Positions{N: len(pairs)}
	for _, pair := range pairs {
		switch pair.Word() {
		case PreferA:
			p.A++
		case PreferB:
			p.B++
		default:
			p.Ties++
		}
		if pair.flips() {
			p.Flips++
			p.ToFirst += count(pair.AFirst == PreferA)
		}
	}
	p.Share = stats.WilsonEstimate(p.Flips, p.N)
	p.Flagged = p.N > 0 && *p.Share.Value >= flipShare
	p.Says = p.says()
	return p
}

func (p *Positions) says() string {
	if p.N == 0 {
		return "no pair of replies was judged in both orders"
	}
	return fmt.Sprintf("of %d pairs shown in both orders %d have one winner and %d are ties; %d of the ties are flips, whose winner changes with the order (%.0f%% of pairs, Wilson [%.0f%%, %.0f%%]), %d of them to the reply shown first",
		p.N, p.A+p.B, p.Ties, p.Flips, 100**p.Share.Value, 100**p.Share.Lo, 100**p.Share.Hi, p.ToFirst)
}

// PairJudge prefers one of two replies to the same ask. first is shown first. Its word is
// first, second or tie. A [Judge] that is one too can be asked about pairs.
type PairJudge interface {
	Prefer(ctx context.Context, first, second JudgeRequest) (word string, err error)
}

// wholePairJudge is a pairwise judge that is given whole transcripts and bounds them
// itself, each to maxChars.
type wholePairJudge interface {
	preferWhole(ctx context.Context, first, second JudgeRequest, maxChars int) (word string, err error)
}

// JudgePair asks a pairwise judge about two rollouts of one task in both orders. The
// error is the judge's own, its panic included, or names a word that is none: then there
// is no verdict.
func JudgePair(ctx context.Context, judge PairJudge, a, b Case, rubric record.Text) (v PairVerdict, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the judge panicked: %v", r)
		}
	}()
	v.TaskID = taskOf(&a)
	left, right := newJudgeRequest(&a, rubric), newJudgeRequest(&b, rubric)
	prefer := judge.Prefer
	const room = DefaultMaxChars / 2 // each reply may have half of what one alone has
	if own, ok := judge.(wholePairJudge); ok {
		prefer = func(ctx context.Context, first, second JudgeRequest) (string, error) {
			return own.preferWhole(ctx, first, second, room)
		}
	} else {
		left, _ = fit(left, room)
		right, _ = fit(right, room)
	}
	word, err := prefer(ctx, left, right)
	if err != nil {
		return v, err
	}
	if v.AFirst, err = preferenceOf(word, PreferA, PreferB); err != nil {
		return v, err
	}
	if word, err = prefer(ctx, right, left); err != nil {
		return v, err
	}
	v.BFirst, err = preferenceOf(word, PreferB, PreferA)
	return v, err
}

func preferenceOf(word string, first, second Preference) (Preference, error) {
	switch word {
	case wordFirst:
		return first, nil
	case wordSecond:
		return second, nil
	case wordTie:
		return PreferTie, nil
	}
	return "", fmt.Errorf("a pairwise judge says %q, which is none of first, second, tie", clip(word))
}

// CasePair are two rollouts of one task.
type CasePair struct{ A, B Case }

// Alike reports two rollouts that did and said the same: shown both, a judge has nothing
// to choose by.
func (p *CasePair) Alike() bool {
	a, b := p.A.Rollout, p.B.Rollout
	if a.FinalText != b.FinalText || len(a.Steps) != len(b.Steps) {
		return false
	}
	for i := range a.Steps {
		x, y := &a.Steps[i], &b.Steps[i]
		if x.Kind != y.Kind || x.Text != y.Text || x.Tool != y.Tool || !bytes.Equal(x.Arguments, y.Arguments) || !bytes.Equal(x.Result, y.Result) {
			return false
		}
	}
	return true
}

// JudgePairs asks a judge about each pair in both orders. Pairs without a word are counted
// apart, and a cause is said, the first or the one that ends it: after a refused key or a
// wrong address the rest are not asked and have no word either. A judge that cannot be asked about
// pairs, or has a word on none, is a [record.Problem]; any other error is that of ctx.
func JudgePairs(ctx context.Context, judge JudgeConfig, pairs []CasePair) (*Positions, error) {
	asked, ok := judge.Judge.(PairJudge)
	if !ok {
		return nil, record.Problemf("not_pairwise", "leave out --pairs, or measure a builtin, a command or a model", "%s gives verdicts on one reply and cannot be asked which of two is better", judge.Name)
	}
	var verdicts []PairVerdict
	var cause error // why a pair has no word: the first, or the one that ends it
	for i := range pairs {
		v, err := judge.askPair(ctx, asked, &pairs[i])
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			verdicts = append(verdicts, v)
			continue
		}
		var refused *record.AgentError
		stop := errors.As(err, &refused) && refused.Stop != ""
		if cause == nil || stop {
			cause = err
		}
		if stop {
			break
		}
	}
	if cause != nil && len(verdicts) == 0 {
		return nil, record.Problemf("judge_silent", "mend what the judge says is wrong, or leave out --pairs", "%s gave no word on any of %s: %w", judge.Name, record.Counted(len(pairs), "pair"), cause)
	}
	p := PositionsOf(verdicts)
	if p.Silent = len(pairs) - len(verdicts); p.Silent > 0 {
		p.Says += fmt.Sprintf("; on %d more it gave no word: %s", p.Silent, clip(cause.Error()))
	}
	return p, nil
}

// askPair is one pair within the judge's own time for two verdicts.
func (j *JudgeConfig) askPair(ctx context.Context, judge PairJudge, p *CasePair) (PairVerdict, error) {
	if j.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 2*j.Timeout)
		defer cancel()
	}
	return JudgePair(ctx, judge, p.A, p.B, j.Rubric)
}

// Prefer takes the reply that earns more; equal ones are a tie.
func (fairJudge) Prefer(_ context.Context, first, second JudgeRequest) (string, error) {
	return preferHigher(fairVerdict(first).Reward, fairVerdict(second).Reward, wordTie), nil
}

// Prefer takes the reply that earns more by its own lights. Between equal ones it has one
// fault more than where it grades: it takes the one that is shown first.
func (crookedJudge) Prefer(_ context.Context, first, second JudgeRequest) (string, error) {
	return preferHigher(crookedVerdict(first).Reward, crookedVerdict(second).Reward, wordFirst), nil
}

func preferHigher(first, second float64, equal string) string {
	switch {
	case first > second:
		return wordFirst
	case second > first:
		return wordSecond
	}
	return equal
}
