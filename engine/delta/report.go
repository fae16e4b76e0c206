package delta

import (
	"assay/engine/record"
	"assay/engine/stats"
)

// Scopes of a number.
const (
	ScopeHeldOut  = "held_out"  // held-out tasks only: what counts
	ScopeAllTasks = "all_tasks" // training tasks too, because it was asked for
)

// PassReport is what one run came to.
type PassReport struct {
	// Run is the run's id; the caller fills it in.
	Run   string `json:"run"`
	Scope string `json:"scope"`
	Tasks int    `json:"n_tasks"` // with at least one graded rollout
	Units int    `json:"n_units"` // situations among them
	Rows  int    `json:"n_rows"`  // done rollouts, graded or not; of an rl run's training tasks the graded probes
	K     int    `json:"k"`
	// PassAt1 is the mean over tasks of passes over graded rollouts. PassPowK and
	// PassAtK are over the tasks with K graded rollouts or more.
	PassAt1  stats.Estimate `json:"pass_at_1"`
	PassPowK stats.Estimate `json:"pass_pow_k"`
	PassAtK  stats.Estimate `json:"pass_at_k"`
	// Headroom is pass@k minus pass@1 over the same tasks: what sampling reaches and
	// one attempt does not. nil where pass@k is.
	Headroom *float64 `json:"headroom"`
	Unjudged int      `json:"unjudged"` // done rollouts without a reward
	Partial  int      `json:"partial"`  // rewards strictly between 0 and 1
	Lost     int      `json:"lost"`     // rollouts of these tasks that never ended
	// Interval names the method of the intervals.
	Interval string           `json:"interval"`
	Warnings []record.Warning `json:"warnings"`
}

// Headline is the one word of a comparison.
type Headline string

// Headlines, in the order in which they are tried; the first that holds is the
// report's. INSUFFICIENT DATA is tried twice: for too few paired tasks at once, for
// too few changes after FAIL.
const (
	InsufficientData  Headline = "INSUFFICIENT DATA"
	NotComparable     Headline = "NOT COMPARABLE"
	TargetNotMeasured Headline = "TARGET NOT MEASURED"
	Fail              Headline = "FAIL"
	Unresolved        Headline = "UNRESOLVED"
	Inconclusive      Headline = "INCONCLUSIVE"
	WithinNoise       Headline = "NO DIFFERENCE (within eval noise)"
	NoDifference      Headline = "NO DIFFERENCE"
	Passed            Headline = "PASS"
)

// Verdict is what a metric did between before and after.
type Verdict string

// Verdicts of a metric.
const (
	VerdictImproved     Verdict = "improved"      // the interval lies wholly on the good side, the change outside the noise band
	VerdictRegressed    Verdict = "regressed"     // wholly on the bad side; unless it is a guard, outside the band too
	VerdictWithinNoise  Verdict = "within_noise"  // excludes 0, but is no larger than the noise between eval runs
	VerdictNoDifference Verdict = "no_difference" // the interval includes 0
	VerdictInsufficient Verdict = "insufficient"  // too few situations, or too few of them changed
	VerdictDegenerate   Verdict = "degenerate"    // one value everywhere, on both sides
	VerdictNotMeasured  Verdict = "not_measured"  // no paired task has it on both sides
)

// Report is the comparison of two runs.
type Report struct {
	Before   string   `json:"before"`
	After    string   `json:"after"`
	Headline Headline `json:"headline"`
	// Line says the headline in a sentence, with the numbers behind it.
	Line string `json:"line"`
	// OK is true for PASS alone.
	OK     bool   `json:"ok"`
	Scope  string `json:"scope"`
	Target string `json:"target"`
	// Scorer is the one scorer version that graded both sides, "" where there is none.
	Scorer   string `json:"scorer"`
	Paired   int    `json:"n_paired"`   // tasks that both sides finished rollouts of
	Unpaired int    `json:"n_unpaired"` // tasks that only one side did
	Units    int    `json:"n_units"`    // situations among the paired tasks
	// Trained counts the tasks left out because they went into a training file.
	Trained int `json:"n_trained"`
	// UnpairedTasks names what was dropped.
	UnpairedTasks []string `json:"unpaired_tasks"`
	// Interval names the method of the intervals.
	Interval string `json:"interval"`
	// FamilyWise is a bound on the chance of at least one false alarm among the metrics.
	FamilyWise float64  `json:"family_wise"`
	Metrics    []Metric `json:"metrics"`
	Slices     []Slice  `json:"slices"`
	// Noise is the target's; nil where neither side repeats.
	Noise *Noise `json:"noise"`
	// Corrected is the change of the pass rate corrected for the judge by the gold of both
	// runs; filled in by the caller, nil where neither has any that counts.
	Corrected *stats.CorrectedChange `json:"corrected,omitempty"`
	// SelectionBound is how far rollouts that were not graded could have moved the
	// delta: the sum over sides of d/(1-d), d being the ungraded share. 0 where all are.
	SelectionBound float64 `json:"selection_bound"`
	// LostBefore and LostAfter are the shares of rollouts in scope that were lost, and
	// LossBound is how far they could have moved the delta: the sum over sides of d/(1-d),
	// d being the lost share.
	LostBefore float64 `json:"lost_before"`
	LostAfter  float64 `json:"lost_after"`
	LossBound  float64 `json:"loss_bound"`
	// NotComparable are the reasons why the runs cannot be compared, in sentences; Causes
	// are the same with what to do about each apart.
	NotComparable []string         `json:"not_comparable"`
	Causes        []record.Warning `json:"causes"`
	Warnings      []record.Warning `json:"warnings"`
}

// Kinds of metric.
const (
	KindReward = "reward" // the pass rate
	KindRate   = "rate"   // a marker whose values all lie in 0..1
	KindNumber = "number" // a marker of any other values
)

// Metric is one metric before and after: means over the paired tasks that have it on
// both sides. Numbers are nil where they could not be measured. Delta is always after
// minus before, whichever side is better.
type Metric struct {
	Name   string   `json:"name"`
	Kind   string   `json:"kind"`
	Before *float64 `json:"before"`
	After  *float64 `json:"after"`
	Delta  *float64 `json:"delta"`
	Lo     *float64 `json:"lo"`
	Hi     *float64 `json:"hi"`
	P      *float64 `json:"p"`
	PHolm  *float64 `json:"p_holm"`
	Paired int      `json:"n_paired"`
	Units  int      `json:"n_units"`
	// Changed counts the situations whose value is not the same on both sides.
	Changed       int     `json:"n_changed"`
	Verdict       Verdict `json:"verdict"`
	Guard         bool    `json:"guard"`
	LowerIsBetter bool    `json:"lower_is_better"`
	// Band is the noise between eval runs of this metric, nil where neither side
	// repeats.
	Band *float64 `json:"band"`
	// CouldMiss is the turn for the worse that the interval does not exclude.
	CouldMiss *float64 `json:"could_miss"`
}

// Slice is the target on the paired tasks that share a value.
type Slice struct {
	By     string   `json:"by"`
	Value  string   `json:"value"`
	Before *float64 `json:"before"`
	After  *float64 `json:"after"`
	Delta  *float64 `json:"delta"`
	Lo     *float64 `json:"lo"`
	Hi     *float64 `json:"hi"`
	Paired int      `json:"n_paired"`
	LowN   bool     `json:"low_n"` // too few situations to read the interval of
}

// Noise is how much a metric moves between eval runs of one and the same agent.
type Noise struct {
	RunStd     float64 `json:"run_std"` // pooled over the sides that have two eval runs or more
	Band       float64 `json:"band"`    // a change no larger than this is not a change
	DF         int     `json:"df"`
	Q          float64 `json:"q"` // two-sided 95% quantile of Student's t at DF
	BeforeRuns int     `json:"before_runs"`
	AfterRuns  int     `json:"after_runs"`
	Rough      bool    `json:"rough"` // one degree of freedom is all there is
}
