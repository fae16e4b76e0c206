package stats_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"assay/engine/stats"
)

// counted are labels, one a task, mixed.
func counted(tp, fp, fn, tn int) []stats.Counted {
	var labels []stats.Counted
	add := func(n int, gold, judge bool) {
		for range n {
			labels = append(labels, stats.Counted{Gold: gold, Judge: judge, Task: fmt.Sprint(len(labels))})
		}
	}
	add(tp, true, true)
	add(fp, false, true)
	add(fn, true, false)
	add(tn, false, false)
	seeded(41).Shuffle(len(labels), func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
	return labels
}

func needed(v stats.TrustVerdict) int {
	if v.Needed == nil {
		return -1
	}
	return *v.Needed
}

func TestTrustDecides(t *testing.T) {
	unjudged := func(labels []stats.Counted, n int) []stats.Counted {
		for i := range n {
			labels[i].Unjudged = true
		}
		return labels
	}
	clustered := counted(25, 0, 0, 25)
	for i := range clustered {
		clustered[i].Task = fmt.Sprint(i % 10)
	}
	for name, c := range map[string]struct {
		plan   stats.TrustPlan
		labels []stats.Counted
		word   stats.TrustWord
		look   int
		short  stats.Shortfall
		needed int // -1 for none
	}{
		"no labels":                    {labels: nil, word: stats.TrustNotMeasured, short: stats.ShortOfLabels, needed: 50},
		"15 of 15":                     {labels: counted(8, 0, 0, 7), word: stats.TrustInconclusive, short: stats.ShortOfLabels, needed: 35},
		"16 of 16":                     {labels: counted(8, 0, 0, 8), word: stats.TrustInconclusive, short: stats.ShortOfLabels, needed: 34},
		"49 of 49":                     {labels: counted(25, 0, 0, 24), word: stats.TrustInconclusive, short: stats.ShortOfLabels, needed: 1},
		"50 of 50":                     {labels: counted(25, 0, 0, 25), word: stats.TrustTrusted, look: 50, needed: -1},
		"50 of 50 in ten tasks":        {labels: clustered, word: stats.TrustInconclusive, look: 50, short: stats.ShortOfAgreement, needed: 50},
		"nine of a class":              {labels: counted(41, 0, 0, 9), word: stats.TrustInconclusive, look: 50, short: stats.ShortOfClass, needed: 50},
		"one class":                    {labels: counted(50, 0, 0, 0), word: stats.TrustInconclusive, look: 50, short: stats.ShortOfClass, needed: 50},
		"five of 50 unjudged":          {labels: unjudged(counted(25, 0, 0, 25), 5), word: stats.TrustTrusted, look: 50, needed: -1},
		"six of 50 unjudged":           {labels: unjudged(counted(25, 0, 0, 25), 6), word: stats.TrustInconclusive, look: 50, short: stats.ShortOfVerdicts, needed: 50},
		"always passes":                {labels: counted(20, 30, 0, 0), word: stats.TrustFail, look: 50, short: stats.ShortOfAgreement, needed: -1},
		"40 of 50":                     {labels: counted(20, 5, 5, 20), word: stats.TrustInconclusive, look: 50, short: stats.ShortOfAgreement, needed: 50},
		"33 of 50":                     {labels: counted(17, 8, 9, 16), word: stats.TrustFail, look: 50, short: stats.ShortOfAgreement, needed: 150},
		"a kappa that is short":        {labels: counted(38, 3, 0, 9), word: stats.TrustInconclusive, look: 50, short: stats.ShortOfKappa, needed: 50},
		"35 wrong of 40":               {labels: counted(2, 20, 15, 3), word: stats.TrustFail, short: stats.ShortOfLabels, needed: -1},
		"one look, not reached":        {plan: stats.TrustPlan{At: 80}, labels: counted(30, 0, 0, 30), word: stats.TrustInconclusive, short: stats.ShortOfLabels, needed: 20},
		"one look, passed":             {plan: stats.TrustPlan{At: 80}, labels: counted(40, 2, 2, 40), word: stats.TrustTrusted, look: 80, needed: -1},
		"one look, not passed":         {plan: stats.TrustPlan{At: 80}, labels: counted(35, 5, 5, 35), word: stats.TrustFail, look: 80, short: stats.ShortOfAgreement, needed: -1},
		"one look, too early to count": {plan: stats.TrustPlan{At: 20}, labels: counted(10, 0, 0, 10), word: stats.TrustInconclusive, look: 20, short: stats.ShortOfLabels, needed: -1},
		// AgentRewardBench's second person against the first, the control in a public
		// report: 105 labels without an order.
		"a second person": {plan: stats.TrustPlan{At: 105}, labels: counted(33, 6, 6, 60), word: stats.TrustTrusted, look: 105, needed: -1},
	} {
		v := c.plan.Decide(c.labels)
		if v.Word != c.word || v.Look != c.look || v.Figures.Short != c.short || needed(v) != c.needed {
			t.Errorf("%s: %s at %d, short of %q, %d needed; want %s at %d, %q, %d (agreement %s, kappa %s)", name,
				v.Word, v.Look, v.Figures.Short, needed(v), c.word, c.look, c.short, c.needed, marshal(t, v.Figures.Agreement), marshal(t, v.Figures.Kappa))
		}
	}
}

// Between two looks the word of the last one stands, whatever the labels after it say.
func TestTrustStandsBetweenLooks(t *testing.T) {
	labels := counted(50, 0, 0, 50)
	for i := 50; i < 99; i++ {
		labels[i].Judge = !labels[i].Gold
		if v := (stats.TrustPlan{}).Decide(labels[:i+1]); v.Word != stats.TrustTrusted || v.Look != 50 || v.Figures.Labels != 50 {
			t.Fatalf("at %d labels: %s by the look at %d", i+1, v.Word, v.Look)
		}
	}
	if v := (stats.TrustPlan{}).Decide(labels); v.Word == stats.TrustTrusted || v.Look != 100 {
		t.Errorf("at 100 labels, half of them wrong: %s by the look at %d", v.Word, v.Look)
	}
}

// The labels still needed against every completion there is: all ways to spread the
// missing labels over the four cells, disagreements too.
func TestTrustNeededIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(50, 70).Draw(t, "at")
		more := rapid.IntRange(1, 7).Draw(t, "more")
		plan := stats.TrustPlan{At: at}
		wrong := rapid.IntRange(0, 12).Draw(t, "wrong")
		leak := rapid.IntRange(0, wrong).Draw(t, "leak")
		passes := rapid.IntRange(0, at-more-wrong).Draw(t, "passes")
		labels := counted(passes, leak, wrong-leak, at-more-wrong-passes)
		can := false
		for a := 0; a <= more && !can; a++ {
			for b := 0; a+b <= more && !can; b++ {
				for c := 0; a+b+c <= more && !can; c++ {
					var rest []stats.Counted
					for i, l := range counted(a, b, c, more-a-b-c) {
						l.Task = fmt.Sprint("new", i)
						rest = append(rest, l)
					}
					can = plan.Decide(slices.Concat(labels, rest)).Word == stats.TrustTrusted
				}
			}
		}
		v := plan.Decide(labels)
		if can && needed(v) != more || !can && v.Needed != nil {
			t.Fatalf("%d needed, and a completion by %d exists: %v", needed(v), more, can)
		}
	})
}

// floorJudges are judges just below a floor and above the other or at it: for each
// base of gold passes and each share of errors that are false passes, the one with the
// fewest errors that is not good enough. Beside rows that are independent, rows of a
// task that are all, or half of the time, one row repeated.
func floorJudges(bases, shares []float64, clusters [][2]float64) []ratingJudge {
	var judges []ratingJudge
	for _, base := range bases {
		for _, leak := range shares {
			with := func(errors float64) (j ratingJudge, good, possible bool) {
				j = ratingJudge{base: base, tpr: 1 - errors*(1-leak)/base, tnr: 1 - errors*leak/(1-base), rows: 1}
				agreement, kappa, _ := j.truth()
				possible = j.tpr >= 0 && j.tnr >= 0
				return j, possible && agreement >= stats.AgreementFloor && kappa >= stats.KappaFloor, possible
			}
			good, bad := 0.0, 0.25 // at a quarter of errors agreement is under its floor
			for bad-good > 1e-6 {
				if _, ok, _ := with((good + bad) / 2); ok {
					good = (good + bad) / 2
				} else {
					bad = (good + bad) / 2
				}
			}
			j, _, possible := with(bad)
			if !possible {
				continue // so lopsided that no number of errors meets the floor
			}
			for _, c := range clusters {
				j.rows, j.alike = int(c[0]), c[1]
				judges = append(judges, j)
			}
		}
	}
	return judges
}

// labels draws so many counted labels of the judge.
func (j ratingJudge) labels(n int, rng *rand.Rand) []stats.Counted {
	labels := make([]stats.Counted, 0, n+j.rows)
	for task := 0; len(labels) < n; task++ {
		name := fmt.Sprint(task)
		for _, row := range j.task(rng) {
			labels = append(labels, stats.Counted{Gold: row[0], Judge: row[1], Task: name})
		}
	}
	return labels[:n]
}

// trustError is how often a judge that is not good enough is called TRUSTED.
type trustError struct {
	watched float64 // at any of the looks: by somebody who stops at the first
	last    float64 // at the last look
	once    float64 // at one look, the worst of 50, 100 and 200 labels
}

func (j ratingJudge) trustError(samples int, rng *rand.Rand) trustError {
	looks := stats.TrustLooks()
	var watched, last int
	once := make([]int, len(looks))
	for range samples {
		labels := j.labels(looks[len(looks)-1], rng)
		ever, trusted := false, false
		for i, look := range looks {
			trusted = false
			if outOfReach(labels[:look]) {
				continue
			}
			if stats.TrustFiguresOf(labels[:look], stats.Z95).Short == stats.ShortOfNothing {
				once[i]++
				// The wider interval passes only where the narrower one does.
				trusted = stats.TrustFiguresOf(labels[:look], stats.LooksZ).Short == stats.ShortOfNothing
			}
			ever = ever || trusted
		}
		if ever {
			watched++
		}
		if trusted {
			last++
		}
	}
	return trustError{share(watched, samples), share(last, samples), share(slices.Max(once), samples)}
}

func worstTrustError(judges []ratingJudge, samples int) (worst trustError, watched, once ratingJudge) {
	for i, j := range judges {
		e := j.trustError(samples, seeded(uint64(100+i)))
		if e.watched > worst.watched {
			worst.watched, watched = e.watched, j
		}
		if e.once > worst.once {
			worst.once, once = e.once, j
		}
		worst.last = math.Max(worst.last, e.last)
	}
	return worst, watched, once
}

// outOfReach says that labels are short of a floor even if every row were of a task of
// its own. Clustering only lowers the ends (TestClusteringOnlyWidens), and this takes a
// tenth of the time.
func outOfReach(labels []stats.Counted) bool {
	var c stats.Confusion
	for _, l := range labels {
		c.Add(l.Gold, l.Judge)
	}
	lo, _ := stats.Wilson(c.TP+c.TN, c.N(), stats.Z95)
	kappa := c.Kappa(stats.Z95)
	return lo < stats.AgreementFloor || kappa.Lo == nil || *kappa.Lo < stats.KappaFloor
}

// The chance that a judge just below a floor is ever called TRUSTED, at its worst over
// such judges, 2,000 samples each: at most 5%, with no allowance for chance. These judges are
// near the worst of the whole grid, BenchmarkTrustRuleError.
func TestTrustRuleError(t *testing.T) {
	judges := slices.Concat(
		floorJudges([]float64{0.12, 0.24, 0.84}, []float64{0, 0.5, 1}, [][2]float64{{1, 0}}),
		floorJudges([]float64{0.16, 0.88}, []float64{0.5}, [][2]float64{{2, 1}, {4, 1}}))
	worst, watched, once := worstTrustError(judges, 2000)
	t.Logf("over %d judges: watched %.4f (%+v), at the last look %.4f, at one look %.4f (%+v)", len(judges), worst.watched, watched, worst.last, worst.once, once)
	if worst.watched > 0.05 || worst.last > 0.05 || worst.once > 0.05 {
		t.Errorf("the rule errs in more than 5%%: %+v", worst)
	}
	if worst.watched < 0.01 {
		t.Errorf("the rule errs in %.4f at worst: these judges do not test it", worst.watched)
	}
}

// The floors can be met: how often judges that are right so often are trusted at the
// first look.
func TestGoodJudgesAreTrustedAtTheFirstLook(t *testing.T) {
	const samples = 500
	for _, c := range []struct{ base, right, least float64 }{{0.5, 0.99, 0.99}, {0.5, 0.98, 0.95}, {0.5, 0.95, 0.70}, {0.7, 0.98, 0.90}} {
		j, rng, trusted := ratingJudge{base: c.base, tpr: c.right, tnr: c.right, rows: 1}, seeded(140), 0
		for range samples {
			if (stats.TrustPlan{}).Decide(j.labels(stats.TrustMinLabels, rng)).Word == stats.TrustTrusted {
				trusted++
			}
		}
		t.Logf("right %.2f on a base of %.2f: trusted at the first look in %.3f", c.right, c.base, share(trusted, samples))
		if share(trusted, samples) < c.least {
			t.Errorf("right %.2f on a base of %.2f: trusted at the first look in %.3f, want %.2f", c.right, c.base, share(trusted, samples), c.least)
		}
	}
}

// One look at 50 labels of independent rows, exactly: every table of 50 decided a second
// way, and weighed with its multinomial chance. Agreement's end is found by bisection of
// the score test, kappa's by a numerical gradient of raw counts.
func TestTrustRuleErrorExact(t *testing.T) {
	const n = stats.TrustMinLabels
	kappa := func(c [4]float64) float64 { // tp, fp, fn, tn
		total := c[0] + c[1] + c[2] + c[3]
		chance := ((c[0]+c[1])*(c[0]+c[2]) + (c[3]+c[1])*(c[3]+c[2])) / total
		return (c[0] + c[3] - chance) / (total - chance)
	}
	passes := func(c [4]float64) bool {
		agree := (c[0] + c[3]) / n
		lo, hi := 0.0, agree
		for range 60 {
			if p := (lo + hi) / 2; (agree-p)/math.Sqrt(p*(1-p)/n) > stats.Z95 {
				lo = p
			} else {
				hi = p
			}
		}
		padded, mean, square := [4]float64{}, 0.0, 0.0
		for i := range c {
			padded[i] = c[i] + 0.5
		}
		for i := range padded {
			const step = 1e-4
			up, down := padded, padded
			up[i] += step
			down[i] -= step
			slope := (kappa(up) - kappa(down)) / (2 * step)
			mean += padded[i] * slope
			square += padded[i] * slope * slope
		}
		return c[0]+c[2] >= 10 && c[1]+c[3] >= 10 && lo >= 0.80 &&
			kappa(padded)-stats.Z95*math.Sqrt(square-mean*mean/(n+2)) >= 0.60
	}
	judges := floorJudges([]float64{0.3, 0.8}, []float64{0.5, 1}, [][2]float64{{1, 0}})
	exact, disagree := make([]float64, len(judges)), 0
	for tp := range n + 1 {
		for fp := range n + 1 - tp {
			for fn := range n + 1 - tp - fp {
				c := [4]float64{float64(tp), float64(fp), float64(fn), float64(n - tp - fp - fn)}
				if fp+fn > n/5 {
					continue
				}
				pass := passes(c)
				if pass != (stats.TrustFiguresOf(counted(tp, fp, fn, n-tp-fp-fn), stats.Z95).Short == stats.ShortOfNothing) {
					disagree++
				}
				for i, j := range judges {
					if pass {
						exact[i] += multinomial(c, [4]float64{j.base * j.tpr, (1 - j.base) * (1 - j.tnr), j.base * (1 - j.tpr), (1 - j.base) * j.tnr})
					}
				}
			}
		}
	}
	if disagree > 0 {
		t.Errorf("%d tables of %d are decided differently a second way", disagree, n)
	}
	for i, j := range judges {
		t.Logf("one look at %d: %.4f (%+v)", n, exact[i], j)
		if exact[i] > 0.05 {
			t.Errorf("one look at %d errs in %.4f", n, exact[i])
		}
	}
}

func multinomial(counts, chances [4]float64) float64 {
	log, total := 0.0, 0.0
	for i, k := range counts {
		if k > 0 {
			log += k * math.Log(chances[i])
		}
		factorial, _ := math.Lgamma(k + 1)
		log -= factorial
		total += k
	}
	factorial, _ := math.Lgamma(total + 1)
	return math.Exp(log + factorial)
}

// The whole grid. Run it with -bench TrustRuleError -benchtime 1x.
func BenchmarkTrustRuleError(b *testing.B) {
	var bases []float64
	for base := 0.04; base < 0.97; base += 0.04 {
		bases = append(bases, base)
	}
	shares := []float64{0, 0.25, 0.5, 0.75, 1}
	for _, clusters := range [][2]float64{{1, 0}, {2, 0.5}, {2, 1}, {4, 0.5}, {4, 1}, {10, 0.75}} { // rows of a task, how often alike
		b.Run(fmt.Sprintf("rows=%g/alike=%g", clusters[0], clusters[1]), func(b *testing.B) {
			judges := floorJudges(bases, shares, [][2]float64{clusters})
			for b.Loop() {
				worst, watched, once := worstTrustError(judges, 2000)
				b.ReportMetric(worst.watched, "watched")
				b.ReportMetric(worst.last, "last")
				b.ReportMetric(worst.once, "once")
				b.ReportMetric(float64(len(judges)), "judges")
				b.Logf("watched %+v, once %+v", watched, once)
			}
		})
	}
}
