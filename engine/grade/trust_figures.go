package grade

import (
	"slices"

	"assay/engine/record"
	"assay/engine/stats"
)

// Halves is the agreement on both halves of gold: the one that a rubric may be
// tuned on, and the other.
type Halves struct {
	Tuning stats.Estimate `json:"tuning"`
	Other  stats.Estimate `json:"other"`
	// Fitted says that the rubric reads as fitted to its examples.
	Fitted bool `json:"fitted"`
}

// A gap of 0.15 between the halves with 10 rows a side is what a rubric that quotes
// its examples shows; convention, untested.
const (
	fittedGap  = 0.15
	fittedRows = 10
)

// inTuningHalf deals a task to a half by its own hash, so that a label more never
// moves another.
func inTuningHalf(taskID string) bool { return record.Under(0.5, taskID, "gold-half") }

func halvesOf(rows []TrustRow) *Halves {
	var tuning, other []TrustRow
	for _, row := range rows {
		if inTuningHalf(row.TaskID) {
			tuning = append(tuning, row)
		} else {
			other = append(other, row)
		}
	}
	t, o := ratingsOf(tuning), ratingsOf(other)
	h := &Halves{Tuning: t.Agreement(stats.Z95), Other: o.Agreement(stats.Z95)}
	h.Fitted = t.N() >= fittedRows && o.N() >= fittedRows && *h.Tuning.Value-*h.Other.Value >= fittedGap
	return h
}

// Length is how a judge takes to length inside one gold class, where the truth is
// the same for long and short.
type Length struct {
	Gold      string  `json:"gold"` // pass or fail
	N         int     `json:"n"`
	Median    int     `json:"median"`     // characters; longer is long
	LongPass  float64 `json:"long_pass"`  // share of the long that the judge passes
	ShortPass float64 `json:"short_pass"` // and of the short
	P         float64 `json:"p"`          // two-proportion test
	Sensitive bool    `json:"sensitive"`
}

// A gap of 0.15 in size that a two-proportion test at 0.05 does not put down to
// chance is a judge that pays for length; the size is convention, untested.
const (
	lengthGap   = 0.15
	lengthAlpha = 0.05
)

func lengthsOf(rows []TrustRow) []Length {
	out := []Length{}
	for _, class := range []struct {
		name string
		gold bool
	}{{"pass", true}, {"fail", false}} {
		if l, ok := lengthOf(class.name, class.gold, rows); ok {
			out = append(out, l)
		}
	}
	return out
}

// lengthOf splits one class at its median length. ok is false where one side has no
// rows.
func lengthOf(name string, gold bool, rows []TrustRow) (Length, bool) {
	var class []TrustRow
	var lengths []int
	for _, row := range rows {
		if row.Gold == gold && row.Status == record.JudgeOK {
			class = append(class, row)
			lengths = append(lengths, row.Length)
		}
	}
	if len(class) < 2 {
		return Length{}, false
	}
	slices.Sort(lengths)
	l := Length{Gold: name, N: len(class), Median: lengths[(len(lengths)-1)/2]}
	var long, short, longPass, shortPass int
	for _, row := range class {
		passed := 0
		if row.Pass {
			passed = 1
		}
		if row.Length > l.Median {
			long++
			longPass += passed
		} else {
			short++
			shortPass += passed
		}
	}
	if long == 0 || short == 0 {
		return Length{}, false
	}
	l.LongPass, l.ShortPass = float64(longPass)/float64(long), float64(shortPass)/float64(short)
	l.P = stats.TwoProportions(longPass, long, shortPass, short)
	gap := l.LongPass - l.ShortPass
	l.Sensitive = (gap >= lengthGap || gap <= -lengthGap) && l.P < lengthAlpha
	return l, true
}

// CutRows is the agreement on transcripts that were cut for the judge, and on whole
// ones.
type CutRows struct {
	Cut   stats.Estimate `json:"cut"`
	Whole stats.Estimate `json:"whole"`
}

// cutRowsOf is nil where nothing was cut.
func cutRowsOf(rows []TrustRow) *CutRows {
	var cut, whole []TrustRow
	for _, row := range rows {
		if row.Cut {
			cut = append(cut, row)
		} else {
			whole = append(whole, row)
		}
	}
	if len(cut) == 0 {
		return nil
	}
	return &CutRows{Cut: ratingsOf(cut).Agreement(stats.Z95), Whole: ratingsOf(whole).Agreement(stats.Z95)}
}

// JudgeComparison is two judges, or two rubrics, on the same labelled rows.
type JudgeComparison struct {
	N          int     `json:"n"`           // rows that both judged
	OnlyFirst  int     `json:"only_first"`  // rows on which the first alone agrees with gold
	OnlySecond int     `json:"only_second"` // and the second alone
	P          float64 `json:"p"`           // exact McNemar
}

// CompareJudges compares two judges on the same gold: on which rows one is right and
// the other is wrong. Rows are matched by rollout; one that is not judged by both is
// left out.
func CompareJudges(first, second []TrustRow) JudgeComparison {
	other := make(map[string]TrustRow, len(second))
	for _, row := range second {
		other[row.RolloutID] = row
	}
	var c JudgeComparison
	for _, a := range first {
		b, has := other[a.RolloutID]
		if !has || a.Status != record.JudgeOK || b.Status != record.JudgeOK {
			continue
		}
		c.N++
		right, otherRight := a.Pass == a.Gold, b.Pass == a.Gold
		switch {
		case right && !otherRight:
			c.OnlyFirst++
		case otherRight && !right:
			c.OnlySecond++
		}
	}
	c.P = stats.McNemarExact(c.OnlyFirst, c.OnlySecond)
	return c
}
