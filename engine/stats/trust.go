package stats

import "slices"

// The rule by which a judge is trusted. The agreement floor is that of public judge
// calibration reports; kappa's is the lower edge of "substantial" (Landis and Koch
// 1977). The numbers of labels are convention, untested.
const (
	AgreementFloor   = 0.80
	KappaFloor       = 0.60
	TrustMinLabels   = 50
	TrustMinOfClass  = 10
	TrustMaxUnjudged = 0.10
)

// LooksZ is the normal quantile of both intervals where the word is given three times
// on a growing sample and may be acted on at the first: 0.025 shared among three looks,
// by Bonferroni, is 0.0084 a look. [Z95] is that of a single look.
const LooksZ = 2.39

// TrustLooks are the numbers of counted labels at which the word is given.
func TrustLooks() []int { return []int{TrustMinLabels, 100, 200} }

// Counted is one label that counts, with the judge's verdict on the same row.
type Counted struct {
	Gold, Judge bool // true is a pass
	// Unjudged says that the judge gave no verdict; Judge then means nothing.
	Unjudged bool
	// Task names what rows share that stand or fall together.
	Task string
	// Inclusion is the chance with which the row was drawn, see [Rating]; one that is not
	// above 0 and at most 1 is taken for 1. Where all rows have one chance it changes
	// nothing.
	Inclusion float64
}

func (l Counted) chance() float64 {
	if !(l.Inclusion > 0 && l.Inclusion <= 1) {
		return 1
	}
	return l.Inclusion
}

// TrustWord is what is said of a judge.
type TrustWord string

// The words.
const (
	TrustNotMeasured  TrustWord = "NOT MEASURED" // no label counts
	TrustInconclusive TrustWord = "INCONCLUSIVE" // labels are short, or more can still decide
	TrustFail         TrustWord = "FAIL"         // an upper end lies under its floor, or no look can be passed any more
	TrustTrusted      TrustWord = "TRUSTED"
)

// Shortfall names what keeps a judge from being trusted, the first that holds.
type Shortfall string

// The shortfalls, in the order in which they are looked for.
const (
	ShortOfNothing   Shortfall = ""
	ShortOfLabels    Shortfall = "labels"
	ShortOfVerdicts  Shortfall = "unjudged"
	ShortOfClass     Shortfall = "class"
	ShortOfAgreement Shortfall = "agreement"
	ShortOfKappa     Shortfall = "kappa"
)

// TrustFigures are the numbers that the word rests on, of so many labels.
type TrustFigures struct {
	Labels, Unjudged int
	Confusion        Confusion
	// Both intervals are at the rule's quantile, clustered by task.
	Agreement, Kappa Estimate
	Short            Shortfall
	// Below says that an upper end lies under its floor.
	Below bool
}

// TrustFiguresOf holds labels against the floors, with both intervals at the normal
// quantile z.
func TrustFiguresOf(labels []Counted, z float64) TrustFigures {
	f := TrustFigures{Labels: len(labels)}
	rows := make([]Rating, 0, len(labels))
	for _, l := range labels {
		if l.Unjudged {
			f.Unjudged++
			continue
		}
		rows = append(rows, Rating{Gold: l.Gold, Judge: l.Judge, Task: l.Task, Inclusion: l.chance()})
	}
	ratings, _ := NewRatings(rows) // chance gives none that is refused
	f.Confusion, f.Agreement, f.Kappa = ratings.Confusion(), ratings.Agreement(z), ratings.Kappa(z)
	f.Short = f.shortfall()
	f.Below = under(f.Agreement.Hi, AgreementFloor) || under(f.Kappa.Hi, KappaFloor)
	return f
}

func (f TrustFigures) shortfall() Shortfall {
	passes, fails := f.Confusion.TP+f.Confusion.FN, f.Confusion.FP+f.Confusion.TN
	switch {
	case f.Labels < TrustMinLabels:
		return ShortOfLabels
	case float64(f.Unjudged) > TrustMaxUnjudged*float64(f.Labels):
		return ShortOfVerdicts
	case passes < TrustMinOfClass || fails < TrustMinOfClass:
		return ShortOfClass
	case f.Agreement.Lo == nil || *f.Agreement.Lo < AgreementFloor:
		return ShortOfAgreement
	case f.Kappa.Lo == nil || *f.Kappa.Lo < KappaFloor:
		return ShortOfKappa
	}
	return ShortOfNothing
}

func under(end *float64, floor float64) bool { return end != nil && *end < floor }

// TrustPlan says at how many labels the word is given. It is fixed before the first
// label. The zero value is the looks of [TrustLooks] at [LooksZ].
type TrustPlan struct {
	// At is the one number of labels to look at, at [Z95]; 0 means the looks. Gold that
	// has no order is one look at all of it: At is its number.
	At int
}

func (p TrustPlan) looks() (at []int, z float64) {
	if p.At > 0 {
		return []int{p.At}, Z95
	}
	return TrustLooks(), LooksZ
}

// TrustVerdict is the word about a judge and what it rests on.
type TrustVerdict struct {
	Word TrustWord
	// Look is the number of labels at the look that gave the word, 0 where none is
	// reached yet.
	Look int
	// Figures are those of the look, or of all labels where none is reached.
	Figures TrustFigures
	// Needed is how many more labels the next look takes that can be passed at all; nil
	// where the judge is trusted and where no look can be passed any more.
	Needed *int
}

// Decide gives the word about a judge from counted labels in the order in which they
// were given. Between two looks the word of the last one stands. It is a pure function.
func (p TrustPlan) Decide(labels []Counted) TrustVerdict {
	looks, z := p.looks()
	v := TrustVerdict{}
	for _, look := range looks {
		if look <= len(labels) {
			v.Look = look
		}
	}
	considered := labels
	if v.Look > 0 {
		considered = labels[:v.Look]
	}
	v.Figures = TrustFiguresOf(considered, z)
	if v.Look == 0 {
		v.Figures.Short = ShortOfLabels
	}
	if v.Look > 0 && v.Figures.Short == ShortOfNothing {
		v.Word = TrustTrusted
		return v
	}
	v.Needed = p.needed(labels)
	v.Word = v.untrusted()
	return v
}

// untrusted is the word where no look was passed.
func (v TrustVerdict) untrusted() TrustWord {
	f := v.Figures
	switch {
	case f.Labels == 0:
		return TrustNotMeasured
	case f.Short == ShortOfVerdicts || f.Short == ShortOfClass:
		return TrustInconclusive // the labels are at fault, not the judge
	case v.Look > 0 && f.Short == ShortOfLabels:
		return TrustInconclusive // a plan that looks too early
	case v.Look > 0 && f.Below, v.Needed == nil:
		return TrustFail
	}
	return TrustInconclusive
}

// needed searches the looks to come for the first that can be passed: every further
// label agrees and is of a task of its own, and every split of them into passes and
// failures is tried. It is exact, as a label that disagrees never helps. It is nil where
// no look can be passed.
func (p TrustPlan) needed(labels []Counted) *int {
	looks, z := p.looks()
	for _, look := range looks {
		if more := look - len(labels); more > 0 && canPass(labels, more, z) {
			return &more
		}
	}
	return nil
}

func canPass(labels []Counted, more int, z float64) bool {
	chance := usualChance(labels)
	all := slices.Grow(slices.Clone(labels), more)[:len(labels)+more]
	for passes := range more + 1 {
		for i := range more {
			pass := i < passes
			all[len(labels)+i] = Counted{Gold: pass, Judge: pass, Task: freshTask(i), Inclusion: chance}
		}
		f := TrustFiguresOf(all, z)
		if f.Short == ShortOfNothing {
			return true
		}
		if under(f.Agreement.Lo, AgreementFloor) {
			return false // in whatever classes
		}
	}
	return false
}

// usualChance is the chance whose inverse is the mean weight: a label to come is taken
// to weigh as much as those that there are.
func usualChance(labels []Counted) float64 {
	weights := 0.0
	for _, l := range labels {
		weights += 1 / l.chance()
	}
	if weights == 0 {
		return 1
	}
	return float64(len(labels)) / weights
}

// freshTask names a task that no label is of: a NUL stands in no id.
func freshTask(i int) string { return "\x00" + string(rune('a'+i)) }
