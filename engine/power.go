package engine

import (
	"context"
	"fmt"
	"math"

	"assay/engine/record"
	"assay/engine/stats"
)

// PowerOptions say what is to be shown, and on what.
type PowerOptions struct {
	// Effect is the gain in pass rate to be shown, in (0, 1]; 0 asks for none.
	Effect float64
	// Run gives the base, k and the spread; "" takes Base and K and a binomial spread.
	Run  string
	Base float64 // in [0, 1]
	K    int     // attempts a task and side
}

// PowerVerdict is what a question of power comes to, in a word.
type PowerVerdict string

// The words of a power report.
const (
	PowerSized      PowerVerdict = "sized"        // n_tasks show the effect
	PowerEnough     PowerVerdict = "enough"       // the run's tasks show it, whatever end of the range holds
	PowerPerhaps    PowerVerdict = "perhaps"      // they lie within the range
	PowerTooFew     PowerVerdict = "too_few"      // they lie below it, which is no proof under a binomial spread: tasks of unlike chances need fewer
	PowerDetectable PowerVerdict = "detectable"   // no effect was asked about
	PowerSaturated  PowerVerdict = "saturated"    // there is too little left to gain
	PowerFloored    PowerVerdict = "floored"      // almost nothing passes
	PowerOutOfReach PowerVerdict = "out_of_reach" // base and effect come to more than 1
)

// PowerReport says how many held-out tasks an effect needs, or what a set can show; its
// JSON is what power prints. Sizes are for a paired comparison at a two-sided level of
// 0.05 with a power of 0.8, by the normal approximation: at some twenty
// tasks an interval by t shows the effect in 77 of 100 sets, not 80.
type PowerReport struct {
	Effect   *float64 `json:"effect"`
	Base     float64  `json:"base"`
	K        int      `json:"k"`
	SD       float64  `json:"sd"`        // over tasks, of a task's difference, where all gain alike
	SDSource string   `json:"sd_source"` // measured or binomial
	// NTasks is the size at the upper end of the range, NLow that at the lower; nil where
	// there is nothing to size. Under a binomial spread NLow is no least size: tasks that
	// differ in their chance, and gain alike, need fewer.
	NTasks *int `json:"n_tasks"`
	NLow   *int `json:"n_low"`
	// Have is how many tasks the run has; 0 without one. Detectable is the smallest gain
	// that they show; nil where none is.
	Have       int          `json:"have"`
	Detectable *float64     `json:"detectable"`
	Verdict    PowerVerdict `json:"verdict"`
	Notes      []string     `json:"notes"`
}

const (
	powerAlpha = 0.05
	powerWant  = 0.8
	// powerEdge is how near to 0 or 1 a base may lie and still be sized: beyond, the
	// normal approximation sizes a set that shows nothing as one of a few tasks.
	// Convention, as of the ceiling of a comparison.
	powerEdge = 0.1

	sdMeasured, sdBinomial = "measured", "binomial"
)

// Power answers how many tasks an effect needs, or what a run's tasks can show.
func (e *Engine) Power(ctx context.Context, o PowerOptions) (*PowerReport, error) {
	r := &PowerReport{Base: o.Base, K: o.K, SDSource: sdBinomial, Notes: []string{}}
	lo, hi := 1.0, 1.0 // the ends of the spread, as shares of it
	if o.Run != "" {
		pass, err := e.Pass(ctx, o.Run, false)
		if err != nil {
			return nil, err
		}
		if pass.PassAt1.Value == nil {
			return nil, record.Problemf("no_reward", "grade it first: assay grade "+o.Run+" --judge builtin:fair", "run %s has no held-out task with a reward", o.Run)
		}
		r.Base, r.K, r.Have = *pass.PassAt1.Value, max(1, pass.K), pass.Tasks
		rates, err := e.Source.TaskRates(ctx, o.Run)
		if err != nil {
			return nil, err
		}
		if sd, df := rerunSD(rates); df > 0 && sd > 0 {
			r.SD, r.SDSource = sd, sdMeasured
			lo, hi = stats.SDInterval(1, df, 0.95)
			r.Notes = append(r.Notes, fmt.Sprintf("the spread is measured between eval runs on %d degrees of freedom", df))
		}
	}
	if o.Effect > 0 {
		r.Effect = &o.Effect
	}
	if r.SDSource == sdBinomial {
		r.SD = stats.BinomialSD(r.Base, o.Effect, r.K)
		r.Notes = append(r.Notes, "the spread is binomial, as if all tasks had one chance: tasks that differ in it have less, tasks that differ in their gain more; eval runs of a run measure it")
	}
	r.decide(lo, hi)
	return r, nil
}

// rerunSD is the standard deviation over tasks of the difference of two eval runs of one
// policy, from each task's variance between its eval runs, with its degrees of freedom. A
// task that was not graded twice is left out.
func rerunSD(rates []record.TaskRate) (sd float64, df int) {
	shares := map[string][]float64{}
	var order []string
	for _, t := range rates {
		if !t.HeldOut || t.Graded == 0 {
			continue
		}
		if shares[t.TaskID] == nil {
			order = append(order, t.TaskID)
		}
		shares[t.TaskID] = append(shares[t.TaskID], float64(t.Passed)/float64(t.Graded))
	}
	squares := 0.0
	for _, task := range order {
		list := shares[task]
		mean := 0.0
		for _, x := range list {
			mean += x / float64(len(list))
		}
		for _, x := range list {
			squares += (x - mean) * (x - mean)
		}
		df += len(list) - 1
	}
	if df == 0 {
		return 0, 0
	}
	return math.Sqrt(2 * squares / float64(df)), df
}

// decide sizes what can be sized, and names what cannot.
func (r *PowerReport) decide(lo, hi float64) {
	effect := 0.0
	if r.Effect != nil {
		effect = *r.Effect
	}
	switch {
	case r.Base >= 1-powerEdge:
		r.Verdict = PowerSaturated
		r.Notes = append(r.Notes, fmt.Sprintf("the base is %.3f: at most %.3f is left to gain; pose harder situations", r.Base, 1-r.Base))
		return
	case r.Base <= powerEdge:
		r.Verdict = PowerFloored
		r.Notes = append(r.Notes, fmt.Sprintf("the base is %.3f: almost nothing passes, so no spread can be told; pose easier situations", r.Base))
		return
	case effect > 1-r.Base+1e-9: // 0.8 and 0.2 come to 1, whatever the last bits say
		r.Verdict = PowerOutOfReach
		r.Notes = append(r.Notes, fmt.Sprintf("a base of %.3f cannot gain %.3f", r.Base, effect))
		return
	}
	r.detect(hi)
	if r.Effect == nil {
		r.Verdict = PowerDetectable
		return
	}
	low := stats.SampleSize(effect, lo*r.SD, powerAlpha, powerWant)
	high := stats.SampleSize(effect, gainSpread(hi*r.SD, effect), powerAlpha, powerWant)
	r.NLow, r.NTasks = &low, &high
	r.Notes = append(r.Notes, "the lower size holds where every task gains alike, the upper where a few gain all and none loses")
	switch {
	case r.Have == 0:
		r.Verdict = PowerSized
	case r.Have >= high:
		r.Verdict = PowerEnough
	case r.Have >= low:
		r.Verdict = PowerPerhaps
	default:
		r.Verdict = PowerTooFew
	}
}

// gainSpread adds the most that tasks can differ in a gain of the given mean where none
// loses: a share of effect gains all, of variance effect(1-effect).
func gainSpread(sd, effect float64) float64 { return math.Sqrt(sd*sd + effect*(1-effect)) }

// detect finds the smallest gain that the run's tasks show at the upper end of the spread.
func (r *PowerReport) detect(hi float64) {
	if r.Have == 0 {
		return
	}
	least := stats.DetectableEffect(r.Have, powerAlpha, powerWant, 1-r.Base, func(effect float64) float64 {
		sd := r.SD
		if r.SDSource == sdBinomial {
			sd = stats.BinomialSD(r.Base, effect, r.K)
		}
		return gainSpread(hi*sd, effect)
	})
	if math.IsInf(least, 1) {
		r.Notes = append(r.Notes, fmt.Sprintf("%s show no gain at all", record.Counted(r.Have, "task")))
		return
	}
	r.Detectable = &least
}
