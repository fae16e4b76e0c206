package delta

import (
	"math"

	"assay/engine/record"
	"assay/engine/stats"
)

const (
	// minPaired is how many paired situations a metric needs at all. With five, the
	// smallest two-sided sign-flip p is 1/16, so fewer could not speak; convention on the
	// exact number.
	minPaired = 5
	// fewPaired and fewChanged: under so many paired situations, at most so many of which
	// changed, no interval covers from the data at hand. Convention; the coverage test
	// reports how badly.
	fewPaired, fewChanged = 20, 2
)

// pair is one metric over the paired tasks that have it on both sides.
type pair struct {
	tasks         []int
	before, after []float64 // of each of tasks
	change        units     // after minus before, by unit
}

// pairUp collects a metric's values on the given tasks.
func (t *table) pairUp(metric int, tasks []int) pair {
	var p pair
	for _, task := range tasks {
		b, okB := t.sides[before].value(metric, task)
		a, okA := t.sides[after].value(metric, task)
		if !okB || !okA {
			continue
		}
		p.tasks = append(p.tasks, task)
		p.before, p.after = append(p.before, b), append(p.after, a)
		p.change.add(t.unit[task], a-b)
	}
	return p
}

// constant is true where one value stands everywhere on both sides.
func (p *pair) constant() bool {
	for i := range p.before {
		if p.before[i] != p.before[0] || p.after[i] != p.before[0] {
			return false
		}
	}
	return true
}

// sums are the units' summed differences: what is sign-flipped.
func (p *pair) sums() []float64 {
	sums := make([]float64, len(p.change.list))
	for i, u := range p.change.list {
		sums[i] = u.Sum
	}
	return sums
}

// measure makes a metric of the paired tasks, its p_holm still open.
func (t *table) measure(at int, tasks []int, plan *plan) (Metric, pair, *Noise) {
	name := t.metrics[at]
	p := t.pairUp(at, tasks)
	m := Metric{Name: name, Kind: t.kind(at), Paired: len(p.tasks), Units: len(p.change.list), Changed: changed(p.change.list),
		Guard: plan.guards[name], LowerIsBetter: plan.lower[name]}
	if m.Paired == 0 {
		m.Verdict = VerdictNotMeasured
		return m, p, nil
	}
	b, a, d := stats.Mean(p.before), stats.Mean(p.after), settled(stats.UnitMean(p.change.list))
	m.Before, m.After, m.Delta = &b, &a, &d
	noise := t.noise(at, p.tasks)
	if noise != nil {
		m.Band = &noise.Band
	}
	if m.Units >= minPaired && !p.constant() {
		flips := stats.SignFlip(p.sums(), draws, record.Stream("delta", "sign flip", name))
		m.P = &flips
		if m.Lo, m.Hi = p.interval(m.Kind, name); m.Lo != nil {
			m.CouldMiss = couldMiss(&m)
		}
	}
	m.Verdict = verdict(&m, p.constant())
	return m, p, noise
}

// interval of the mean change. Where nothing changed the data have no spread to resample,
// and an interval without width would claim that nothing could: then it is what the share
// of situations that could be otherwise though none is could do to the mean, each turning
// by 1 at most. A number has no such most, and so no interval. nil where there is none.
func (p *pair) interval(kind string, of ...any) (lo, hi *float64) {
	if changed(p.change.list) == 0 {
		if kind == KindNumber {
			return nil, nil
		}
		most := unseen(len(p.change.list))
		least := -most
		return &least, &most
	}
	least, most := bounds(kind)
	l, h, ok := interval(p.change.list, least, most, of...)
	if !ok {
		return nil, nil
	}
	return &l, &h
}

// bounds are between what the change of a metric of this kind can lie.
func bounds(kind string) (least, most float64) {
	if kind == KindNumber {
		return math.Inf(-1), math.Inf(1)
	}
	return -1, 1
}

func (t *table) kind(at int) string {
	if t.sides[before].kinds[at] == KindNumber || t.sides[after].kinds[at] == KindNumber {
		return KindNumber
	}
	return t.sides[before].kinds[at]
}

// noise is the band between eval runs, nil where neither side has two.
func (t *table) noise(at int, tasks []int) *Noise {
	b, a := t.sides[before].runMeans(at, tasks), t.sides[after].runMeans(at, tasks)
	n, ok := stats.NoiseBand(b, a)
	if !ok {
		return nil
	}
	return &Noise{RunStd: n.RunStd, Band: n.Band, DF: n.DF, Q: n.Q, BeforeRuns: len(b), AfterRuns: len(a), Rough: n.DF == 1}
}

// couldMiss is how far the metric may have turned for the worse for all that its
// interval tells.
func couldMiss(m *Metric) *float64 {
	worst := -*m.Lo
	if m.LowerIsBetter {
		worst = *m.Hi
	}
	worst = math.Max(0, worst)
	return &worst
}

// verdict reads a metric by its interval and noise band.
func verdict(m *Metric, constant bool) Verdict {
	switch {
	case m.Units < minPaired:
		return VerdictInsufficient
	case constant:
		return VerdictDegenerate
	case m.Units < fewPaired && m.Changed <= fewChanged:
		return VerdictInsufficient
	}
	inBand := m.Band != nil && math.Abs(*m.Delta) <= *m.Band
	switch {
	case m.wholly(bad) && (m.Guard || !inBand):
		return VerdictRegressed
	case m.wholly(good) && !inBand:
		return VerdictImproved
	case m.wholly(good) || m.wholly(bad):
		return VerdictWithinNoise
	}
	return VerdictNoDifference
}

// disputed names the p-value that does not bear out what the interval decides, "" where
// both agree: the sign flips are the stricter test of few situations, and the adjusted p
// that of many metrics.
func (m *Metric) disputed() string {
	if m.P == nil || m.Lo == nil {
		return ""
	}
	outside := m.wholly(good) || m.wholly(bad)
	switch {
	case outside != (*m.P < alpha):
		return "p"
	case outside && m.PHolm != nil && *m.PHolm >= alpha:
		return "p_holm"
	}
	return ""
}

// Sides on which an interval can lie.
const (
	good = 1.0
	bad  = -1.0
)

// wholly is true where the interval lies on one side of 0, 0 left out.
func (m *Metric) wholly(side float64) bool {
	if m.Lo == nil {
		return false
	}
	if m.LowerIsBetter {
		side = -side
	}
	return side > 0 && *m.Lo > 0 || side < 0 && *m.Hi < 0
}
