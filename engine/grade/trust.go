package grade

import (
	"fmt"
	"math"

	"assay/engine/record"
	"assay/engine/stats"
)

// Headline is what a trust report comes to, in one or two words.
type Headline string

// The words of a trust report.
const (
	Trusted      Headline = "TRUSTED"
	NotMeasured  Headline = "NOT MEASURED" // there is no gold that counts
	Inconclusive Headline = "INCONCLUSIVE" // more labels can still decide
	NotTrusted   Headline = "FAIL"         // it lies below a floor, or cannot pass any more
)

// The rule by which a judge is trusted. The floors are those of public judge
// calibration reports (agreement 0.80 at its lower end; kappa 0.60, "substantial"
// in Landis and Koch 1977). Looking three times at a growing sample and stopping at
// the first good look would make a 95% interval lie; at 2.39 the worst of 50 judges
// just below a floor is ever trusted in 4.95% of 2,000 samples, watched at every
// look, and at 1.96 in 4.40% where there is one look at 100 (TestTrustRuleError).
const (
	AgreementFloor = 0.80
	KappaFloor     = 0.60
	MinLabels      = 50
	MinOfEachClass = 10
	// MaxUnjudged is the share of labelled rows without a verdict from which a judge
	// cannot be decided: it may have failed on just the rows that are hard.
	MaxUnjudged = 0.10

	zOfLooks = 2.39
	zOfOne   = 1.96
)

// looks are the numbers of counted labels at which the word is given.
var looks = [...]int{MinLabels, 100, 200}

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
	// Unordered gold, such as an imported file, is one look at all of it.
	Unordered bool
	// TrustAt is the one number of labels at which to look, fixed before the first
	// label; 0 means the looks.
	TrustAt int
	// Revised says that the rubric has a parent: then the rows that it was tuned on
	// give no word, and the other half alone does.
	Revised bool
	Probes  []ProbeResult
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

	Halves  *Halves  `json:"halves"`
	Length  []Length `json:"length"`
	CutRows *CutRows `json:"cut_rows,omitempty"`
	Skipped Skipped  `json:"skipped"`
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
}

// Trust decides whether a judge can be trusted. It is a pure function: the same
// rows in the same order give the same report.
func Trust(in TrustInput) TrustReport {
	r := TrustReport{Run: in.Run, Judge: in.Judge, Probes: in.Probes, Warnings: []record.Warning{}, Length: []Length{}}
	if r.Probes == nil {
		r.Probes = []ProbeResult{}
	}
	counted := r.counted(in)
	r.figures(counted)
	r.decide(in, counted)
	r.warn(in, counted)
	r.OK = r.Headline == Trusted && (in.RunScorer == "" || in.RunScorer == in.Judge)
	return r
}

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
	f := figuresOf(rows, zOfOne)
	r.N, r.Confusion, r.Agreement, r.Kappa = f.confusion.N(), f.confusion, f.agreement, f.kappa
	if r.N == 0 {
		return
	}
	r.AC1 = f.confusion.AC1(zOfOne)
	r.PassWhenGoldFail = f.confusion.PassWhenGoldFails()
	r.FailWhenGoldPass = f.confusion.FailWhenGoldPasses()
	r.Halves = halvesOf(rows)
	r.CutRows = cutRowsOf(rows)
	if f.oneClass() {
		return
	}
	// Of a judge that guesses, no length tells anything.
	if r.Kappa.Lo != nil && *r.Kappa.Lo > 0 {
		r.Length = lengthsOf(rows)
	}
}

// figures are the two numbers that decide, with their intervals.
type figures struct {
	confusion        stats.Confusion
	labelled         int
	agreement, kappa stats.Estimate
}

// figuresOf counts rows and makes both intervals at the normal quantile z. Rows of
// one task are not independent: where a task has several, the intervals are those
// of the tasks.
func figuresOf(rows []TrustRow, z float64) figures {
	f := figures{labelled: len(rows)}
	judged := make([]TrustRow, 0, len(rows))
	for _, row := range rows {
		if row.Status == record.JudgeOK {
			f.confusion.Add(row.Gold, row.Pass)
			judged = append(judged, row)
		}
	}
	n := f.confusion.N()
	if n == 0 {
		return f
	}
	inflate := clusterInflation(judged)
	share := float64(f.confusion.TP+f.confusion.TN) / float64(n)
	lo, hi := wilson(share, float64(n)/inflate, z)
	f.agreement = stats.NewEstimate(share, lo, hi, n)
	f.kappa = f.confusion.Kappa(z * math.Sqrt(inflate))
	return f
}

func (f *figures) oneClass() bool {
	c := f.confusion
	return c.TP+c.FN == 0 || c.FP+c.TN == 0
}

func (f *figures) enough() bool {
	c := f.confusion
	return c.TP+c.FN >= MinOfEachClass && c.FP+c.TN >= MinOfEachClass
}

func (f *figures) unjudgedShare() float64 {
	if f.labelled == 0 {
		return 0
	}
	return 1 - float64(f.confusion.N())/float64(f.labelled)
}

// clears reports whether both lower ends clear their floors.
func (f *figures) clears() bool {
	return f.enough() && f.agreement.Lo != nil && *f.agreement.Lo >= AgreementFloor && f.kappa.Lo != nil && *f.kappa.Lo >= KappaFloor
}

// below reports whether an upper end lies under its floor: more labels will not
// lift it.
func (f *figures) below() bool {
	return f.agreement.Hi != nil && *f.agreement.Hi < AgreementFloor || !f.oneClass() && f.kappa.Hi != nil && *f.kappa.Hi < KappaFloor
}

// decide gives the word, by the last look that was reached.
func (r *TrustReport) decide(in TrustInput, rows []TrustRow) {
	if len(rows) == 0 {
		r.Headline, r.Says = NotMeasured, "there is no label of a person or a program that counts"
		needed := firstLook(in)
		r.LabelsNeeded = &needed
		return
	}
	at, z := lookReached(in, len(rows))
	r.Looked = at
	if at == 0 {
		r.tooFew(in, rows)
		return
	}
	f := figuresOf(rows[:at], z)
	switch {
	case f.unjudgedShare() > MaxUnjudged:
		r.Headline = Inconclusive
		r.Says = fmt.Sprintf("%.0f%% of the labelled rows have no verdict, and %.0f%% may lack one", 100*f.unjudgedShare(), 100*MaxUnjudged)
	case f.clears():
		r.Headline = Trusted
		r.Says = fmt.Sprintf("at %d labels agreement is %.3f at its lower end (floor %.2f) and kappa %.3f (floor %.2f)", at, *f.agreement.Lo, AgreementFloor, *f.kappa.Lo, KappaFloor)
	case f.below():
		r.Headline, r.Says = NotTrusted, f.shortfall(at)+"; its upper end lies below the floor"
	default:
		r.open(in, rows, &f, at)
	}
}

func firstLook(in TrustInput) int {
	if in.TrustAt > 0 {
		return in.TrustAt
	}
	return looks[0]
}

// lookReached is the last look at n labels, with its quantile; 0 where none is
// reached.
func lookReached(in TrustInput, n int) (at int, z float64) {
	switch {
	case in.TrustAt > 0:
		if n >= in.TrustAt {
			return in.TrustAt, zOfOne
		}
		return 0, zOfOne
	case in.Unordered:
		if n >= MinLabels {
			return n, zOfOne
		}
		return 0, zOfOne
	}
	for _, look := range looks {
		if n >= look {
			at = look
		}
	}
	return at, zOfLooks
}

// tooFew is the word before the first look.
func (r *TrustReport) tooFew(in TrustInput, rows []TrustRow) {
	f := figuresOf(rows, zOfOne)
	needed := firstLook(in) - len(rows)
	r.Headline, r.LabelsNeeded = Inconclusive, &needed
	r.Says = fmt.Sprintf("%d labels are too few: the first look is at %d, %d more", len(rows), firstLook(in), needed)
	if f.oneClass() {
		r.Says += "; all gold so far is of one class, and 10 of each are needed"
	}
}

// open is the word where a look decided nothing.
func (r *TrustReport) open(in TrustInput, rows []TrustRow, f *figures, at int) {
	r.Says = f.shortfall(at)
	single := in.TrustAt > 0 || in.Unordered
	if single {
		r.Headline = NotTrusted
		if !f.enough() {
			r.Headline = Inconclusive
		}
		return
	}
	all := figuresOf(rows, zOfLooks)
	if needed, can := labelsNeeded(&all); can {
		r.Headline, r.LabelsNeeded = Inconclusive, &needed
		r.Says += fmt.Sprintf("; %d more labels, all of them agreeing, can still pass", needed)
		return
	}
	r.Headline = NotTrusted
	r.Says += "; it cannot pass within 200"
}

// shortfall names the number that fell short and its floor.
func (f *figures) shortfall(at int) string {
	switch {
	case f.oneClass():
		return fmt.Sprintf("at %d labels all gold is of one class; %d of each are needed", at, MinOfEachClass)
	case !f.enough():
		return fmt.Sprintf("at %d labels one class has fewer than %d", at, MinOfEachClass)
	case f.agreement.Lo != nil && *f.agreement.Lo < AgreementFloor:
		return fmt.Sprintf("at %d labels agreement is %.3f, %.3f at its lower end, under the floor of %.2f", at, *f.agreement.Value, *f.agreement.Lo, AgreementFloor)
	case f.kappa.Value != nil && f.kappa.Lo != nil:
		return fmt.Sprintf("at %d labels kappa is %.3f, %.3f at its lower end, under the floor of %.2f", at, *f.kappa.Value, *f.kappa.Lo, KappaFloor)
	}
	return fmt.Sprintf("at %d labels kappa cannot be computed", at)
}

// labelsNeeded searches for the next look that a judge can pass at all: every label
// from here on agrees, in whatever classes help most. The search is exact over the
// splits into classes.
func labelsNeeded(f *figures) (needed int, can bool) {
	for _, look := range looks {
		more := look - f.labelled
		if more <= 0 {
			continue
		}
		for passes := 0; passes <= more; passes++ {
			best := figures{confusion: f.confusion, labelled: look}
			best.confusion.TP += passes
			best.confusion.TN += more - passes
			best.interval(zOfLooks)
			if best.clears() && best.unjudgedShare() <= MaxUnjudged {
				return more, true
			}
		}
	}
	return 0, false
}

// interval makes both intervals of independent rows from the counts.
func (f *figures) interval(z float64) {
	n := f.confusion.N()
	share := float64(f.confusion.TP+f.confusion.TN) / float64(n)
	lo, hi := wilson(share, float64(n), z)
	f.agreement, f.kappa = stats.NewEstimate(share, lo, hi, n), f.confusion.Kappa(z)
}

// wilson is the score interval (Wilson 1927) of a share of n things, where n may be
// a number of independent things that is not whole.
func wilson(share, n, z float64) (lo, hi float64) {
	centre := share + z*z/(2*n)
	half := z * math.Sqrt(share*(1-share)/n+z*z/(4*n*n))
	scale := 1 + z*z/n
	return math.Max(0, (centre-half)/scale), math.Min(1, (centre+half)/scale)
}

// clusterInflation is how many times the variance of an agreement grows because
// rows of one task stand or fall together: the linearised variance over tasks over
// that of independent rows, 1 at least (Kish 1965). It is 1 where no task has two
// rows, and where all agree: then nothing is seen to vary, and tasks are counted
// instead of rows.
func clusterInflation(rows []TrustRow) float64 {
	type cluster struct{ n, agreed float64 }
	byTask := map[string]*cluster{}
	agreed := 0.0
	for _, row := range rows {
		c := byTask[row.TaskID]
		if c == nil {
			c = &cluster{}
			byTask[row.TaskID] = c
		}
		c.n++
		if row.Gold == row.Pass {
			c.agreed++
			agreed++
		}
	}
	n, m := float64(len(rows)), float64(len(byTask))
	if m == n || m < 2 {
		return max(1, n/m)
	}
	share := agreed / n
	if share == 0 || share == 1 {
		return n / m
	}
	sum := 0.0
	for _, row := range rows { // in the order of the rows, so that the sum is the same every time
		c := byTask[row.TaskID]
		if c.n > 0 {
			d := c.agreed - share*c.n
			sum += d * d
			c.n = 0
		}
	}
	clustered := m / (m - 1) * sum / (n * n)
	return max(1, clustered/(share*(1-share)/n))
}

// warn adds what a reader of the word must know.
func (r *TrustReport) warn(in TrustInput, rows []TrustRow) {
	add := func(code, fix, format string, args ...any) {
		r.Warnings = append(r.Warnings, record.Warning{Code: code, Text: fmt.Sprintf(format, args...), Fix: fix})
	}
	if in.RunScorer != "" && in.RunScorer != in.Judge {
		add("other_judge", "regrade the run with this judge, or measure the one that graded it", "the run's reward is the word of %s, not of the judge on the bench", in.RunScorer)
	}
	if r.Skipped.ModelGold > 0 {
		add("model_gold", "have people label", "%d labels are of a model or of unknown origin and do not count", r.Skipped.ModelGold)
	}
	if len(rows) > 0 && r.Skipped.Unjudged > 0 {
		add("unjudged", "regrade with --only-missing", "%d of %d labelled rows have no verdict", r.Skipped.Unjudged, len(rows))
	}
	f := figuresOf(rows, zOfOne)
	switch {
	case f.confusion.N() > 0 && f.oneClass():
		add("one_class", "label rows of the other class", "all gold is of one class: kappa and length say nothing")
	case r.Kappa.Hi != nil && r.Kappa.Lo != nil && *r.Kappa.Lo <= 0:
		add("guessing", "read the disagreements and rewrite the rubric", "kappa is %.2f: the judge may be guessing", *r.Kappa.Value)
	}
	if r.Halves != nil && r.Halves.Fitted {
		add("fitted_rubric", "label more of the other half", "agreement is %.2f on the tuning half and %.2f on the other: the rubric reads as fitted to its examples", *r.Halves.Tuning.Value, *r.Halves.Other.Value)
	}
	for _, l := range r.Length {
		if l.Sensitive {
			add("length", "say in the rubric that length is worth nothing", "where gold says %s the judge passes %.0f%% of the longer replies and %.0f%% of the shorter", l.Gold, 100*l.LongPass, 100*l.ShortPass)
		}
	}
	for _, p := range r.Probes {
		switch {
		case p.LowPower:
			add("low_power", fmt.Sprintf("probe %d rows at least", MinProbeRows), "probe %s has %d rows", p.Name, p.N)
		case p.Exploitable:
			add("exploitable", "close the hole in the rubric, then probe again", "probe %s: %s", p.Name, p.says())
		}
	}
	if tasks := tasksOf(rows); r.N > 0 && tasks < len(rows) {
		add("clustered", "", "%d labels are of %d tasks: the intervals are those of the tasks", len(rows), tasks)
	}
}

func tasksOf(rows []TrustRow) int {
	seen := map[string]bool{}
	for _, row := range rows {
		seen[row.TaskID] = true
	}
	return len(seen)
}
