package grade

import (
	"context"
	"fmt"

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
