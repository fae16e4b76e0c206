package grade

import (
	"context"
	"fmt"

	"assay/engine/record"
	"assay/engine/stats"
)

// Repeat is one row that a judge was asked about twice.
type Repeat struct {
	RolloutID, TaskID string
	First, Again      bool // it passes
}

// Repeats is how far a judge agrees with itself.
type Repeats struct {
	N int `json:"n"`
	// Same is the share of rows with the same verdict both times, null where the judge
	// cannot but repeat itself.
	Same stats.Estimate `json:"same"`
	// Deterministic says that equal questions get equal answers by construction, as at
	// temperature 0: then agreement with itself is no evidence of anything.
	Deterministic bool   `json:"deterministic"`
	Wavers        bool   `json:"wavers"`
	Says          string `json:"says"`
}

// A judge that says otherwise of every tenth row when it is asked again cannot agree with
// gold much better than that; 20 rows tell a tenth from nothing. Convention, untested.
const (
	wavering  = 0.90
	minRepeat = 20
)

// RepeatsOf counts rows that were judged twice. The answers of a deterministic judge are
// not offered as evidence, however many.
func RepeatsOf(rows []Repeat, deterministic bool) *Repeats {
	r := &Repeats{N: len(rows), Deterministic: deterministic}
	if deterministic {
		r.Says = "asked twice at temperature 0 a judge repeats itself: that is determinism, and says nothing of its worth"
		return r
	}
	// A verdict and its repeat are two raters of the same row.
	list := make([]stats.Rating, len(rows))
	for i, row := range rows {
		list[i] = stats.Rating{Gold: row.First, Judge: row.Again, Task: row.TaskID, Inclusion: 1}
	}
	ratings, err := stats.NewRatings(list)
	if err != nil {
		panic(fmt.Sprintf("grade: a chance of 1 is refused: %v", err))
	}
	r.Same = ratings.Agreement(stats.Z95)
	switch {
	case r.N == 0:
		r.Says = "no row was judged twice"
	case r.N < minRepeat:
		r.Says = fmt.Sprintf("%d rows are too few to tell: %d are needed", r.N, minRepeat)
	default:
		r.Wavers = *r.Same.Value < wavering
		r.Says = fmt.Sprintf("the same verdict on %.0f%% of %d rows", 100**r.Same.Value, r.N)
	}
	return r
}

// Deterministic is a judge that answers equal questions alike by construction.
type Deterministic interface {
	Deterministic() bool
}

// Deterministic is true: a builtin judge is a function of the transcript.
func (fairJudge) Deterministic() bool { return true }

// Deterministic is true, crooked as it is.
func (crookedJudge) Deterministic() bool { return true }

// Rejudge asks a judge twice about each case. A deterministic one is not asked at all.
// threshold is the reward that passes. Rows that get no reward one of the times are left
// out. The error is that of ctx.
func Rejudge(ctx context.Context, judge JudgeConfig, cases []Case, threshold float64) (*Repeats, error) {
	if d, ok := judge.Judge.(Deterministic); ok && d.Deterministic() {
		return RepeatsOf(nil, true), nil
	}
	var rows []Repeat
	for i := range cases {
		var word [2]*bool
		for at := range word {
			var err error
			if word[at], _, _, err = verdictOn(ctx, &judge, &cases[i], threshold); err != nil {
				return nil, err
			}
		}
		if word[0] != nil && word[1] != nil {
			rows = append(rows, Repeat{cases[i].Rollout.ID, taskOf(&cases[i]), *word[0], *word[1]})
		}
	}
	return RepeatsOf(rows, false), nil
}

func taskOf(c *Case) string {
	if c.Task == nil {
		return c.Rollout.Key.TaskID
	}
	return c.Task.ID
}

// Preference is which of two replies a pairwise judge prefers.
type Preference string

// Preferences, by content, not by place.
const (
	PreferA   Preference = "a"
	PreferB   Preference = "b"
	PreferTie Preference = "tie"
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
	ToFirst int  `json:"to_first"`
	A       int  `json:"a"`
	B       int  `json:"b"`
	Ties    int  `json:"ties"`
	Flagged bool `json:"flagged"`
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
	return p
}

// PairJudge prefers one of two replies to the same ask. first is shown first. Its word is
// first, second or tie.
type PairJudge interface {
	Prefer(ctx context.Context, first, second JudgeRequest) (word string, err error)
}

// JudgePair asks a pairwise judge about two rollouts of one task in both orders. The
// error is the judge's own, or names a word that is none: then there is no verdict.
func JudgePair(ctx context.Context, judge PairJudge, a, b Case, rubric record.Text) (PairVerdict, error) {
	v := PairVerdict{TaskID: taskOf(&a)}
	// Each reply may have half of what one alone has.
	left, _ := fit(newJudgeRequest(&a, rubric), DefaultMaxChars/2)
	right, _ := fit(newJudgeRequest(&b, rubric), DefaultMaxChars/2)
	word, err := judge.Prefer(ctx, left, right)
	if err != nil {
		return v, err
	}
	if v.AFirst, err = preferenceOf(word, PreferA, PreferB); err != nil {
		return v, err
	}
	if word, err = judge.Prefer(ctx, right, left); err != nil {
		return v, err
	}
	v.BFirst, err = preferenceOf(word, PreferB, PreferA)
	return v, err
}

func preferenceOf(word string, first, second Preference) (Preference, error) {
	switch word {
	case "first":
		return first, nil
	case "second":
		return second, nil
	case "tie":
		return PreferTie, nil
	}
	return "", fmt.Errorf("a pairwise judge says %q, which is none of first, second, tie", clip(word))
}

// Best is the place of the best of several judges measured on the same gold, by the lower
// end of kappa's interval and then of agreement's, and whether it is trusted. Where none
// is, the best is still named, and says that none clears the floors. It is -1 of none.
func Best(reports []TrustReport) (at int, says string) {
	at = -1
	for i := range reports {
		if at < 0 || better(&reports[i], &reports[at]) {
			at = i
		}
	}
	switch {
	case at < 0:
		return at, "no judge was measured"
	case reports[at].Headline == Trusted:
		return at, fmt.Sprintf("the best of %d judges is %s, and it clears the floors; on gold that chose it, it looks better than it is", len(reports), reports[at].Judge)
	}
	return at, fmt.Sprintf("none of %d judges clears the floors; the best of them is %s", len(reports), reports[at].Judge)
}

func better(a, b *TrustReport) bool {
	if trusted := a.Headline == Trusted; trusted != (b.Headline == Trusted) {
		return trusted
	}
	if x, y := lowerEnd(a.Kappa), lowerEnd(b.Kappa); x != y {
		return x > y
	}
	return lowerEnd(a.Agreement) > lowerEnd(b.Agreement)
}

// lowerEnd sorts what has no interval behind everything.
func lowerEnd(e stats.Estimate) float64 {
	if e.Lo == nil {
		return -2
	}
	return *e.Lo
}
