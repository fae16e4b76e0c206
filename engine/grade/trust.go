package grade

import (
	"fmt"
	"slices"
	"strings"

	"assay/engine/record"
	"assay/engine/stats"
)

// Headline is what a trust report comes to, in one or two words.
type Headline string

// The words of a trust report.
const (
	Trusted      = Headline(stats.TrustTrusted)
	NotMeasured  = Headline(stats.TrustNotMeasured)  // there is no gold that counts
	Inconclusive = Headline(stats.TrustInconclusive) // labels are short, or more can still decide
	NotTrusted   = Headline(stats.TrustFail)         // it lies below a floor, or cannot pass any more
)

// The rule by which a judge is trusted; [stats.TrustPlan] is the rule itself. A judge
// just below a floor is ever trusted in 3.65% of samples at worst where the meter is
// watched at every look, and in 3.85% at one look (the table and its tests are in
// package stats).
const (
	AgreementFloor = stats.AgreementFloor
	KappaFloor     = stats.KappaFloor
	MinLabels      = stats.TrustMinLabels
	MinOfEachClass = stats.TrustMinOfClass
	// MaxUnjudged is the share of labelled rows without a verdict from which a judge
	// cannot be decided: it may have failed on just the rows that are hard.
	MaxUnjudged = stats.TrustMaxUnjudged
)

// TrustRow is one rollout with its gold and the verdict of the judge on the bench.
type TrustRow struct {
	RolloutID, TaskID string
	Gold              bool // pass
	Kind              record.GoldKind
	// Diagnostic rows were picked because of a verdict or a disagreement: they are
	// worth reading and never counted.
	Diagnostic bool
	// Status and Pass are the judge's; Pass means nothing unless Status is ok.
	Status record.JudgeStatus
	Pass   bool
	Length int  // characters of the reply
	Cut    bool // the judge saw a cut transcript
	// Inclusion is the chance, above 0 and at most 1, with which a queue drew the row; 0
	// where all rows had one chance. Where chances differ every estimate weighs rows by
	// their inverse.
	Inclusion float64
}

// TrustInput is what a trust report rests on.
type TrustInput struct {
	Run   string
	Judge string // the scorer version on the bench
	// RunScorer is the scorer version that gives the run its reward: the word is
	// about the judge on the bench, and another one's rewards are not covered by it.
	RunScorer string
	// Rows are in the order in which their gold was given.
	Rows []TrustRow
	// Tied are labelled rows that have no gold, as their votes are tied, and Undone those
	// whose rollout is not done: neither is among Rows.
	Tied, Undone int
	// Unordered gold, such as an imported file, is one look at all of it.
	Unordered bool
	// TrustAt is the one number of labels at which to look, fixed before the first
	// label; 0 means the looks.
	TrustAt int
	// Revised says that the rubric has a parent: then the rows that it was tuned on
	// give no word, and the other half alone does.
	Revised bool
	Probes  []ProbeResult
	// Repeats is what became of rows that the judge was asked about twice, nil where it
	// was not.
	Repeats *Repeats
	// Positions is, of a pairwise judge, what became of pairs that were shown in both
	// orders; nil where there are none.
	Positions *Positions
	// JudgeModel and Auditor are the model of the judge and the model that labelled or
	// probed, "" for none: a model does not audit itself.
	JudgeModel, Auditor string
}

// TrustReport says whether a judge can be trusted.
type TrustReport struct {
	Run      string          `json:"run"`
	Judge    string          `json:"judge"`
	Headline Headline        `json:"headline"`
	OK       bool            `json:"ok"`
	Says     string          `json:"says"` // the headline's reason: the number, the floor, what is needed
	N        int             `json:"n"`    // counted labels with a verdict
	GoldKind record.GoldKind `json:"gold_kind"`
	// Looked is the number of labels at the look that gave the word, 0 where none was
	// reached. The figures below are of all counted labels.
	Looked int `json:"looked"`

	Agreement        stats.Estimate  `json:"agreement"`
	Kappa            stats.Estimate  `json:"kappa"`
	AC1              stats.Estimate  `json:"ac1"`
	Confusion        stats.Confusion `json:"confusion"`
	PassWhenGoldFail stats.Estimate  `json:"pass_when_gold_fail"`
	FailWhenGoldPass stats.Estimate  `json:"fail_when_gold_pass"`
	// Intervals names what the intervals of the figures are.
	Intervals string `json:"intervals"`

	Halves  *Halves  `json:"halves"`
	Length  []Length `json:"length"`
	CutRows *CutRows `json:"cut_rows,omitempty"`
	Skipped Skipped  `json:"skipped"`
	// Weighted says that rows were drawn with different chances and weighed by them.
	Weighted bool `json:"weighted"`
	// Repeats and Positions are null where nothing was asked twice.
	Repeats   *Repeats   `json:"repeats"`
	Positions *Positions `json:"positions"`
	// LabelsNeeded is how many more counted labels the next look that it can pass
	// needs; nil where it cannot pass within 200, or needs none.
	LabelsNeeded *int             `json:"labels_needed"`
	Probes       []ProbeResult    `json:"probes"`
	Warnings     []record.Warning `json:"warnings"`
}

// Skipped counts labelled rows that the word does not rest on.
type Skipped struct {
	Unjudged   int `json:"unjudged"`
	Diagnostic int `json:"diagnostic"`
	ModelGold  int `json:"model_gold"` // of kind model or unknown
	TunedOn    int `json:"tuned_on"`   // of the tuning half of a revised rubric
	Tied       int `json:"tied"`       // whose votes are tied, so that they have no gold
	Undone     int `json:"undone"`     // whose rollout is not done
}

// Says lists what does not count, "" where all labels do.
func (k Skipped) Says() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{k.Unjudged, "without a verdict"}, {k.Diagnostic, "picked rather than drawn"}, {k.ModelGold, "of models or unknown origin"},
		{k.TunedOn, "that the rubric was tuned on"}, {k.Tied, "with tied votes"}, {k.Undone, "of rollouts that are not done"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return strings.Join(parts, ", ")
}

// Trust decides whether a judge can be trusted. It is a pure function: the same
// rows in the same order give the same report.
func Trust(in TrustInput) TrustReport {
	r := TrustReport{Run: in.Run, Judge: in.Judge, Probes: in.Probes, Warnings: []record.Warning{}, Length: []Length{}, Repeats: in.Repeats, Positions: in.Positions}
	r.Skipped.Tied, r.Skipped.Undone = in.Tied, in.Undone
	if r.Probes == nil {
		r.Probes = []ProbeResult{}
	}
	counted := r.counted(in)
	r.figures(counted)
	r.decide(in, counted)
	r.warn(in, counted)
	r.OK = r.Headline == Trusted && (in.RunScorer == "" || in.RunScorer == in.Judge) && !in.auditsItself()
	return r
}

func (in *TrustInput) auditsItself() bool { return in.Auditor != "" && in.Auditor == in.JudgeModel }

// counted are the rows that the word rests on, in order: gold of people or
// programs, drawn without a look at the verdict, and of the other half where the
// rubric was revised. Rows without a verdict stay among them.
func (r *TrustReport) counted(in TrustInput) []TrustRow {
	var out []TrustRow
	for _, row := range in.Rows {
		switch {
		case row.Kind != record.GoldHuman && row.Kind != record.GoldProgram:
			r.Skipped.ModelGold++
		case row.Diagnostic:
			r.Skipped.Diagnostic++
		case in.Revised && inTuningHalf(row.TaskID):
			r.Skipped.TunedOn++
		default:
			if row.Status != record.JudgeOK {
				r.Skipped.Unjudged++
			}
			if r.GoldKind != record.GoldProgram {
				r.GoldKind = row.Kind
			}
			out = append(out, row)
		}
	}
	return out
}

// figures fills in the numbers of all counted rows, at 95%.
func (r *TrustReport) figures(rows []TrustRow) {
	ratings := ratingsOf(rows)
	r.N, r.Confusion = ratings.N(), ratings.Confusion()
	r.Agreement, r.Kappa = ratings.Agreement(stats.Z95), ratings.Kappa(stats.Z95)
	if r.N == 0 {
		return
	}
	r.AC1 = ratings.AC1(stats.Z95)
	r.PassWhenGoldFail, r.FailWhenGoldPass = ratings.PassWhenGoldFails(stats.Z95), ratings.FailWhenGoldPasses(stats.Z95)
	r.Weighted = slices.ContainsFunc(rows, func(row TrustRow) bool { return row.chance() != rows[0].chance() })
	r.Intervals = intervalsSay(ratings, r.Weighted)
	r.Halves = halvesOf(rows)
	r.CutRows = cutRowsOf(rows)
	// Of a judge that guesses, and of gold of one class, no length tells anything.
	if r.Kappa.Lo != nil && *r.Kappa.Lo > 0 {
		r.Length = lengthsOf(rows)
	}
}

// intervalsSay names the intervals of a bench: which are Wilson's, which large-sample,
// and whether rows stand alone or are clustered by task.
func intervalsSay(r stats.Ratings, weighted bool) string {
	if r.Tasks() == r.N() && !weighted {
		return "95%: Wilson's of shares, large-sample of kappa and AC1, over independent labels"
	}
	return fmt.Sprintf("95%%: Wilson's of shares, large-sample of kappa and AC1, at the effective number of %d labels clustered in %d tasks", r.N(), r.Tasks())
}

// chance is the row's inclusion chance; one that is none counts as 1, as of a row that
// stands for itself alone.
func (row *TrustRow) chance() float64 {
	if !(row.Inclusion > 0 && row.Inclusion <= 1) {
		return 1
	}
	return row.Inclusion
}

// ratingsOf are the rows with a verdict.
func ratingsOf(rows []TrustRow) stats.Ratings {
	list := make([]stats.Rating, 0, len(rows))
	for _, row := range rows {
		if row.Status == record.JudgeOK {
			list = append(list, stats.Rating{Gold: row.Gold, Judge: row.Pass, Task: row.TaskID, Inclusion: row.chance()})
		}
	}
	ratings, err := stats.NewRatings(list)
	if err != nil {
		panic(fmt.Sprintf("grade: a chance that was taken is refused: %v", err)) // chance gives none that is
	}
	return ratings
}

// decide gives the word, by the last look that was reached.
func (r *TrustReport) decide(in TrustInput, rows []TrustRow) {
	labels := make([]stats.Counted, len(rows))
	for i, row := range rows {
		labels[i] = stats.Counted{Gold: row.Gold, Judge: row.Pass, Unjudged: row.Status != record.JudgeOK, Task: row.TaskID, Inclusion: row.chance()}
	}
	plan := in.plan(labels)
	v := plan.Decide(labels)
	r.Headline, r.Looked, r.LabelsNeeded = Headline(v.Word), v.Look, v.Needed
	r.Says = says(plan, &v)
}

// plan is when the word is given. Gold without an order is one look at all of it; where it
// is too little for any, the look is the first that it can still pass.
func (in *TrustInput) plan(labels []stats.Counted) stats.TrustPlan {
	if in.TrustAt > 0 || !in.Unordered {
		return stats.TrustPlan{At: in.TrustAt}
	}
	if len(labels) >= MinLabels {
		return stats.TrustPlan{At: len(labels)}
	}
	plan := stats.TrustPlan{}
	for _, plan.At = range stats.TrustLooks() {
		if plan.Decide(labels).Needed != nil {
			break
		}
	}
	return plan
}

// says is the reason for the word: the number, the floor, what is needed.
func says(plan stats.TrustPlan, v *stats.TrustVerdict) string {
	f := &v.Figures
	switch {
	case f.Labels == 0:
		return "there is no label of a person or a program that counts"
	case v.Word == stats.TrustTrusted:
		return fmt.Sprintf("at %d labels agreement is %.3f at its lower end (floor %.2f) and kappa %.3f (floor %.2f)", v.Look, *f.Agreement.Lo, AgreementFloor, *f.Kappa.Lo, KappaFloor) + shared(plan)
	case v.Look == 0 && v.Needed != nil:
		s := fmt.Sprintf("%d labels are too few: the next look that it can pass is at %d, %d more", f.Labels, f.Labels+*v.Needed, *v.Needed)
		if oneClass(f.Confusion) {
			s += fmt.Sprintf("; all gold so far is of one class, and %d of each are needed", MinOfEachClass)
		}
		return s
	}
	s := shortfall(v)
	if f.Short == stats.ShortOfAgreement || f.Short == stats.ShortOfKappa {
		s += shared(plan)
	}
	switch {
	case v.Word == stats.TrustFail && f.Below:
		s += "; its upper end lies below the floor"
	case v.Word == stats.TrustFail && plan.At == 0:
		s += "; it cannot pass within 200"
	case v.Needed != nil:
		s += fmt.Sprintf("; %d more labels, all of them agreeing, can still pass", *v.Needed)
	}
	return s
}

// shared says why the interval of a look is wider than that of the same figure in the
// table.
func shared(plan stats.TrustPlan) string {
	if plan.At > 0 {
		return ""
	}
	return fmt.Sprintf(", in the interval at z %.2f that three looks share", stats.LooksZ)
}

// shortfall names the number that fell short and its floor.
func shortfall(v *stats.TrustVerdict) string {
	f := &v.Figures
	at := f.Labels
	switch f.Short {
	case stats.ShortOfVerdicts:
		return fmt.Sprintf("%d of %d labelled rows have no verdict, and a tenth may lack one", f.Unjudged, at)
	case stats.ShortOfClass:
		if oneClass(f.Confusion) {
			return fmt.Sprintf("at %d labels all gold is of one class; %d of each are needed", at, MinOfEachClass)
		}
		return fmt.Sprintf("at %d labels one class has fewer than %d", at, MinOfEachClass)
	case stats.ShortOfLabels:
		if v.Look > 0 {
			return fmt.Sprintf("%d labels are too few for any word; %d are needed", at, MinLabels)
		}
		fallthrough
	case stats.ShortOfAgreement:
		if f.Agreement.Value != nil && f.Agreement.Lo != nil {
			return fmt.Sprintf("at %d labels agreement is %.3f, %.3f at its lower end, under the floor of %.2f", at, *f.Agreement.Value, *f.Agreement.Lo, AgreementFloor)
		}
		return fmt.Sprintf("at %d labels agreement has no interval: they are of too few tasks", at)
	}
	if f.Kappa.Value != nil && f.Kappa.Lo != nil {
		return fmt.Sprintf("at %d labels kappa is %.3f, %.3f at its lower end, under the floor of %.2f", at, *f.Kappa.Value, *f.Kappa.Lo, KappaFloor)
	}
	return fmt.Sprintf("at %d labels kappa cannot be computed", at)
}

func oneClass(c stats.Confusion) bool { return c.TP+c.FN == 0 || c.FP+c.TN == 0 }

func tasksOf(rows []TrustRow) int {
	seen := map[string]bool{}
	for _, row := range rows {
		seen[row.TaskID] = true
	}
	return len(seen)
}
