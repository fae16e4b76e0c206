package cut

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"assay/engine/record"
)

// Regime is what training on a reward would come to.
type Regime string

// Regimes, in the order in which they are tried; the first that holds is the scan's.
const (
	RegimeUnknown       Regime = "unknown"        // no group of graded rollouts to look into
	RegimeDegenerate    Regime = "degenerate"     // so few different rollouts a task that features cannot be told apart
	RegimeNoSignal      Regime = "no_signal"      // nothing goes with the reward beyond chance
	RegimeRewardHack    Regime = "reward_hack"    // what goes with it most is not what was meant
	RegimePoolExhausted Regime = "pool_exhausted" // too many tasks are solved already
	RegimeTrain         Regime = "train"
)

const (
	// scanShuffles place the floor: the 95th of 100 ordered maxima. Convention.
	scanShuffles = 100
	floorShare   = 0.95
	// scanMinRows is on how many rows a feature must differ from 0 to be ranked, lest a
	// handful make a correlation. Convention.
	scanMinRows = 20
	// vocabulary is how many of the most common words and word pairs become features.
	// Convention: it holds the delimiters and rubric words that policies pick up.
	vocabulary = 200
	// identity is a correlation that is 1 but for rounding.
	identity = 0.999
	// fewDistinct: with two different rollouts a task, everything that differs between
	// them is an exact function of the reward.
	fewDistinct = 3
	// exhausted is the share of tasks that always pass from where on the pool teaches
	// little: the upper end of the band, read from the other side.
	exhausted = 0.2
	// coarseGroup is under how many rollouts a group has too few arrangements for a sharp
	// floor. Convention.
	coarseGroup = 4
)

// Feature is something about rollouts that may go with their reward.
type Feature struct {
	Name string `json:"name"`
	// RhoWithin is its correlation with the reward, both centred within each task: what a
	// policy gradient would follow. RhoPooled is over all rows, difficulty mixed in.
	RhoWithin float64 `json:"rho_within"`
	RhoPooled float64 `json:"rho_pooled"`
	N         int     `json:"n"` // rows on which it is not 0
	// Above says that it clears the floor of chance.
	Above    bool `json:"above"`
	Endorsed bool `json:"endorsed"`
}

// Support is what there is to learn from.
type Support struct {
	Rows   int `json:"rows"`
	Tasks  int `json:"tasks"`  // with two graded rollouts or more
	Solved int `json:"solved"` // of those, every rollout passes
	Dead   int `json:"dead"`   // none does
	Mixed  int `json:"mixed"`  // rewards differ
	// Within and Between split the reward's variance: E[Var(r|task)] + Var(E[r|task]).
	// Only the first is gradient.
	Within  float64 `json:"var_within"`
	Between float64 `json:"var_between"`
}

// ScanReport is what training on a reward would teach. It flags; nothing is pruned by it.
type ScanReport struct {
	Regime Regime `json:"regime"`
	// Tau is the 95th percentile of the largest |rho| when rewards are shuffled within
	// their tasks; nil where nothing was ranked.
	Tau      *float64         `json:"tau"`
	Features []Feature        `json:"features"` // by |rho_within|, the largest first
	Support  Support          `json:"support"`
	Warnings []record.Warning `json:"warnings"`
}

// ScanOptions say how to scan.
type ScanOptions struct {
	Mode          record.Mode
	PassThreshold float64 // 0 means 1
	// Endorsed are the names of features that the reward is meant to follow; one matches
	// where it is contained in a feature's name.
	Endorsed []string
	Seed     int64
}

// Scan looks for what goes with the reward within each task of the training set: the
// features of every rollout (lengths, calls, tools, markers, common words) against its
// reward, both centred within the task, and against the floor that shuffling within
// tasks sets. It reads what a grpo cut would train on: no held-out task, nothing of an
// eval run, in rl mode no probe.
func Scan(samples []record.Sample, o ScanOptions) ScanReport {
	if o.PassThreshold == 0 {
		o.PassThreshold = defaultThreshold
	}
	p := newScanPool(samples, &o)
	r := ScanReport{Features: []Feature{}, Support: p.support(&o), Warnings: []record.Warning{}}
	columns := p.columns()
	r.rank(p, columns, &o)
	r.decide(p, &o)
	return r
}

// scanPool is the graded rollouts of the tasks that have two or more, in order of task.
type scanPool struct {
	rows    []*record.Sample
	rewards []float64
	centred []float64 // rewards less their task's mean
	bounds  []int     // where each task begins, and the end
}

func newScanPool(samples []record.Sample, o *ScanOptions) *scanPool {
	s := &sieve{options: &Options{Mode: o.Mode, PassThreshold: o.PassThreshold}, selection: &Selection{}}
	s.enter(samples)
	s.gate("eval_set", func(c *candidate) string {
		if c.sample.HeldOut || o.Mode == record.ModeEval || s.probe(c) {
			return "not trained on"
		}
		return s.label(c)
	})
	p := &scanPool{}
	for _, group := range s.tasks() {
		if len(group) < 2 {
			continue
		}
		p.bounds = append(p.bounds, len(p.rows))
		mean := 0.0
		for _, c := range group {
			mean += c.measured / float64(len(group))
		}
		for _, c := range group {
			p.rows = append(p.rows, c.sample)
			p.rewards = append(p.rewards, c.measured)
			p.centred = append(p.centred, c.measured-mean)
		}
	}
	p.bounds = append(p.bounds, len(p.rows))
	return p
}

// tasks yields where each task's rows begin and end.
func (p *scanPool) tasks() func(yield func(from, to int) bool) {
	return func(yield func(from, to int) bool) {
		for i := 1; i < len(p.bounds); i++ {
			if !yield(p.bounds[i-1], p.bounds[i]) {
				return
			}
		}
	}
}

func (p *scanPool) support(o *ScanOptions) Support {
	s := Support{Rows: len(p.rows), Tasks: len(p.bounds) - 1}
	n := float64(max(1, len(p.rows)))
	all := 0.0
	for _, r := range p.rewards {
		all += r / n
	}
	for from, to := range p.tasks() {
		rewards := p.rewards[from:to]
		least, most := slices.Min(rewards), slices.Max(rewards)
		switch {
		case least >= o.PassThreshold:
			s.Solved++
		case most < o.PassThreshold:
			s.Dead++
		}
		if least != most {
			s.Mixed++
		}
		mean := p.rewards[from] - p.centred[from]
		s.Between += float64(to-from) * (mean - all) * (mean - all) / n
	}
	for _, c := range p.centred {
		s.Within += c * c / n
	}
	return s
}

// column is one feature over the rows of a pool, as its values that are not 0.
type column struct {
	name   string
	at     []int32
	values []float64
	norm   float64 // root of its squares, centred within tasks
}

// rank correlates every column with the reward and sets the floor.
func (r *ScanReport) rank(p *scanPool, columns []column, o *ScanOptions) {
	reward := 0.0
	for _, c := range p.centred {
		reward += c * c
	}
	reward = math.Sqrt(reward)
	if reward == 0 || len(columns) == 0 {
		return
	}
	tau := p.floor(columns, reward, record.Stream("scan", o.Seed))
	r.Tau = &tau
	for i := range columns {
		c := &columns[i]
		rho := c.dot(p.centred) / (c.norm * reward)
		r.Features = append(r.Features, Feature{Name: c.name, RhoWithin: rho, RhoPooled: p.pooled(c), N: len(c.at),
			Above: math.Abs(rho) > tau, Endorsed: endorsed(c.name, o.Endorsed)})
	}
	slices.SortStableFunc(r.Features, func(a, b Feature) int {
		if c := cmp.Compare(math.Round(1e9*math.Abs(b.RhoWithin)), math.Round(1e9*math.Abs(a.RhoWithin))); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
}

// dot needs no centred column: centred rewards sum to 0 within each task.
func (c *column) dot(centred []float64) float64 {
	sum := 0.0
	for i, at := range c.at {
		sum += c.values[i] * centred[at]
	}
	return sum
}

// floor is the 95th percentile of the largest |rho| over shuffles of the rewards within
// their tasks (the maximum statistic of Westfall and Young 1993).
func (p *scanPool) floor(columns []column, reward float64, rng *rand.Rand) float64 {
	shuffled := slices.Clone(p.centred)
	maxima := make([]float64, scanShuffles)
	for i := range maxima {
		for from, to := range p.tasks() {
			group := shuffled[from:to]
			rng.Shuffle(len(group), func(a, b int) { group[a], group[b] = group[b], group[a] })
		}
		for j := range columns {
			maxima[i] = math.Max(maxima[i], math.Abs(columns[j].dot(shuffled)/(columns[j].norm*reward)))
		}
	}
	slices.Sort(maxima)
	return maxima[int(math.Ceil(floorShare*scanShuffles))-1]
}

// pooled is the plain correlation over all rows, 0 where either does not vary.
func (p *scanPool) pooled(c *column) float64 {
	n := float64(len(p.rows))
	var f, ff, fr, r, rr float64
	for i, at := range c.at {
		v := c.values[i]
		f, ff, fr = f+v, ff+v*v, fr+v*p.rewards[at]
	}
	for _, v := range p.rewards {
		r, rr = r+v, rr+v*v
	}
	spread := (ff - f*f/n) * (rr - r*r/n)
	if spread <= 0 {
		return 0
	}
	return (fr - f*r/n) / math.Sqrt(spread)
}

func endorsed(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return p != "" && strings.Contains(name, p) })
}

func (r *ScanReport) warnf(code, fix, format string, args ...any) {
	r.Warnings = append(r.Warnings, record.Warning{Code: code, Text: fmt.Sprintf(format, args...), Fix: fix})
}

// decide names the regime.
func (r *ScanReport) decide(p *scanPool, o *ScanOptions) {
	s := &r.Support
	switch {
	case s.Tasks == 0:
		r.Regime = RegimeUnknown
		r.warnf("no_groups", "run in mode rl, and grade", "no training task has two graded rollouts")
		return
	case p.medianDistinct() < fewDistinct && r.identities() > 1:
		r.Regime = RegimeDegenerate
		r.warnf("degenerate", "raise simulate.repeats, or the temperature", "tasks have under %d different rollouts, and %d features follow the reward exactly: they cannot be told apart", fewDistinct, r.identities())
		return
	case len(r.Features) == 0 || !r.Features[0].Above:
		r.Regime = RegimeNoSignal
		if s.Mixed == 0 {
			r.warnf("no_variance", "look at the judge, or pose other tasks", "no task has two different rewards: there is no gradient")
		}
		return
	}
	top := &r.Features[0]
	switch {
	case len(o.Endorsed) > 0 && !top.Endorsed:
		r.Regime = RegimeRewardHack
		r.warnf("reward_hack", "read rollouts with it and without", "the reward goes most with %s (%+.2f within tasks), which is not what it is meant to follow", top.Name, top.RhoWithin)
	case float64(s.Solved) > exhausted*float64(s.Tasks):
		r.Regime = RegimePoolExhausted
		r.warnf("pool_exhausted", "pose harder situations", "%d of %d tasks always pass: they give no gradient", s.Solved, s.Tasks)
	default:
		r.Regime = RegimeTrain
	}
	if len(o.Endorsed) == 0 {
		r.warnf("nothing_endorsed", "name what the reward is meant to follow", "nothing was endorsed, so a shortcut cannot be told from the behaviour that was meant")
	}
	if p.medianGroup() < coarseGroup {
		r.warnf("coarse_floor", "raise simulate.repeats", "tasks have under %d rollouts: the floor is coarse", coarseGroup)
	}
}

// identities counts the features that are the reward itself, within tasks.
func (r *ScanReport) identities() int {
	n := 0
	for i := range r.Features {
		if math.Abs(r.Features[i].RhoWithin) >= identity {
			n++
		}
	}
	return n
}

// medianDistinct is the median over tasks of how many different rollouts they have.
func (p *scanPool) medianDistinct() int {
	var counts []int
	for from, to := range p.tasks() {
		seen := map[string]bool{}
		for _, s := range p.rows[from:to] {
			seen[string(s.Rollout.FinalText)+"\n"+behaviourOf(s)] = true
		}
		counts = append(counts, len(seen))
	}
	slices.Sort(counts)
	return counts[len(counts)/2]
}

func (p *scanPool) medianGroup() int {
	var sizes []int
	for from, to := range p.tasks() {
		sizes = append(sizes, to-from)
	}
	slices.Sort(sizes)
	return sizes[len(sizes)/2]
}
