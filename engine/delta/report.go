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
	Rows  int    `json:"n_rows"`  // done rollouts, graded or not
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
// report's.
const (
	InsufficientData  Headline = "INSUFFICIENT DATA"
	NotComparable     Headline = "NOT COMPARABLE"
	TargetNotMeasured Headline = "TARGET NOT MEASURED"
	Fail              Headline = "FAIL"
	Unresolved        Headline = "UNRESOLVED"
	Inconclusive      Headline = "INCONCLUSIVE"
	WithinNoise       Headline = "NO DIFFERENCE (within eval noise)"
	NoDifference      Headline = "NO DIFFERENCE"
	PassHeadline      Headline = "PASS"
)

// Verdict is what a metric did between before and after.
type Verdict string

// Verdicts of a metric.
const (
	Improved     Verdict = "improved"      // the interval lies wholly on the good side, outside the noise band
	Regressed    Verdict = "regressed"     // wholly on the bad side, outside the noise band
	Within       Verdict = "within_noise"  // excludes 0, but no larger than the noise between eval runs
	Same         Verdict = "no_difference" // the interval includes 0
	Insufficient Verdict = "insufficient"  // too few units
	Degenerate   Verdict = "degenerate"    // never varied on either side
	NotMeasured  Verdict = "not_measured"  // no paired task has it on both sides
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
	Paired   int    `json:"n_paired"`   // tasks with the target's rows on both sides
	Unpaired int    `json:"n_unpaired"` // tasks that only one side has
	Units    int    `json:"n_units"`    // situations among the paired tasks
	// Interval names the method of the intervals.
	Interval      string           `json:"interval"`
	Metrics       []Metric         `json:"metrics"`
	Slices        []Slice          `json:"slices"`
	Noise         *Noise           `json:"noise"`
	NotComparable []string         `json:"not_comparable"`
	Warnings      []record.Warning `json:"warnings"`
}

// Metric is one metric before and after. Numbers are nil where they could not be
// measured; delta is always after minus before, whichever side is better.
type Metric struct {
	Name          string   `json:"name"`
	Kind          string   `json:"kind"` // reward, rate or number
	Before        *float64 `json:"before"`
	After         *float64 `json:"after"`
	Delta         *float64 `json:"delta"`
	Lo            *float64 `json:"lo"`
	Hi            *float64 `json:"hi"`
	P             *float64 `json:"p"`
	PHolm         *float64 `json:"p_holm"`
	Paired        int      `json:"n_paired"`
	Verdict       Verdict  `json:"verdict"`
	Guard         bool     `json:"guard"`
	LowerIsBetter bool     `json:"lower_is_better"`
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
	LowN   bool     `json:"low_n"`
}

// Noise is how much the target moves between eval runs of one and the same agent.
type Noise struct {
	RunStd     *float64 `json:"run_std"` // pooled over the sides that have two eval runs or more
	Band       *float64 `json:"band"`    // a change no larger than this is not a change
	DF         int      `json:"df"`
	Q          *float64 `json:"q"`
	BeforeRuns int      `json:"before_runs"`
	AfterRuns  int      `json:"after_runs"`
	Rough      bool     `json:"rough"` // two eval runs are all there is
}
