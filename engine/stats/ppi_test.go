package stats_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"assay/engine/stats"
)

// singleTasks are tasks of one row each: labelled ones by gold and verdict, then the
// rest by verdict.
func singleTasks(both, goldOnly, judgeOnly, neither, passes, fails int) []stats.GradedTask {
	labelled := both + goldOnly + judgeOnly + neither
	inclusion := float64(labelled) / float64(labelled+passes+fails)
	var tasks []stats.GradedTask
	add := func(n int, gold, judge float64, label bool) {
		for range n {
			tasks = append(tasks, stats.GradedTask{Rows: []stats.Graded{{Judge: judge, Gold: gold, Labelled: label, Inclusion: inclusion}}})
		}
	}
	add(both, 1, 1, true)
	add(goldOnly, 1, 0, true)
	add(judgeOnly, 0, 1, true)
	add(neither, 0, 0, true)
	add(passes, 0, 1, false)
	add(fails, 0, 0, false)
	return tasks
}

func corrected(t testing.TB, tasks []stats.GradedTask) stats.Corrected {
	t.Helper()
	c, err := stats.CorrectedRate(tasks, stats.Z95)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The authors' own package ppi_py 0.2.3, ppi_mean_pointestimate and ppi_mean_ci at alpha
// 0.05, on 200 labelled rows and 2,000 others.
func TestCorrectedRateAgainstPpiPy(t *testing.T) {
	ends := func(lo, hi float64) float64 { return (hi - lo) / 2 / 1.959963985 }
	// Where the judge passes as many of the labelled rows as of the others, the weight is
	// theirs to the last digit: 0.56277056 in [0.54339133, 0.65660867]. Standard errors are
	// theirs but for n where we have n-1.
	tasks := singleTasks(110, 10, 30, 50, 1400, 600)
	lambda, se, goldSE, err := stats.RateErrors(tasks)
	if err != nil {
		t.Fatal(err)
	}
	theirs := math.Sqrt(199.0 / 200)
	near(t, "weight", lambda/(1+200.0/2000), 0.5627705627705628, 1e-9)
	near(t, "standard error", se*theirs, ends(0.54339133, 0.65660867), 1e-6)
	near(t, "gold's standard error", goldSE*theirs, ends(0.53210486, 0.66789514), 1e-8)

	// Where it does not, they take the variance of verdicts over all rows and we weigh the
	// labelled ones more, which differs in the next order: 0.57387884 with the weight
	// 0.5226608, in [0.51712553, 0.63063215].
	tasks = singleTasks(110, 10, 30, 50, 1300, 700)
	if lambda, se, _, err = stats.RateErrors(tasks); err != nil {
		t.Fatal(err)
	}
	c := corrected(t, tasks)
	near(t, "estimate", *c.Corrected.Value, 0.57387884, 0.002)
	near(t, "standard error", se*theirs, ends(0.51712553, 0.63063215), 1e-4)
	near(t, "weight", lambda/(1+200.0/2000), 0.5226608, 0.04)
	// Given one weight both are one formula.
	near(t, "estimate at our weight", *c.Corrected.Value, 0.6+lambda/(1+200.0/2000)*(0.65-0.70), 1e-12)
	near(t, "gold alone", *c.GoldOnly.Value, 0.6, 1e-12)
	near(t, "the judge alone", *c.JudgeOnly.Value, 1440.0/2200, 1e-12)
}

// The closed form of PPI++ for a mean (Angelopoulos, Duchi and Zrnic 2023, example 6.1)
// on disjoint labelled and unlabelled numbers, which shares no code with ours.
func TestCorrectedRateAgainstTheClosedForm(t *testing.T) {
	rng := seeded(51)
	const n, rest = 600, 3000
	var y, f, u []float64
	var tasks []stats.GradedTask
	for i := range n + rest {
		gold := rng.Float64()
		judge := math.Min(1, math.Max(0, 0.2+0.6*gold+0.2*rng.NormFloat64()))
		label := i < n
		if label {
			y, f = append(y, gold), append(f, judge)
		} else {
			u = append(u, judge)
		}
		tasks = append(tasks, stats.GradedTask{Rows: []stats.Graded{{Judge: judge, Gold: gold, Labelled: label, Inclusion: 1.0 / 6}}})
	}
	covariance := func(a, b []float64) float64 {
		sum := 0.0
		for i := range a {
			sum += (a[i] - stats.Mean(a)) * (b[i] - stats.Mean(b))
		}
		return sum / float64(len(a)-1)
	}
	weight := covariance(y, f) / ((1 + float64(n)/rest) * covariance(append(append([]float64(nil), f...), u...), append(append([]float64(nil), f...), u...)))
	variance := weight*weight*covariance(u, u)/rest + (covariance(y, y)+weight*weight*covariance(f, f)-2*weight*covariance(y, f))/n
	lambda, se, _, err := stats.RateErrors(tasks)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "weight", lambda/(1+float64(n)/rest), weight, 0.02)
	near(t, "estimate", *corrected(t, tasks).Corrected.Value, stats.Mean(y)+weight*(stats.Mean(u)-stats.Mean(f)), 0.001)
	near(t, "standard error", se, math.Sqrt(variance), 0.02*math.Sqrt(variance))
}

// gradedWorld draws tasks of rows with known truth.
type gradedWorld struct {
	tasks, rows   int
	base          float64 // gold's pass rate
	sure          float64 // share of tasks that always pass or always fail
	tpr, tnr      float64 // the judge's
	drawP, drawF  float64 // chance of a label for a row that the judge passes, or fails
	unitsOf       int     // tasks of one unit, which are all of one kind; 0 is 1
	labelledTasks int     // instead of the chances: so many tasks have one row drawn
}

func (w gradedWorld) draw(rng *rand.Rand) []stats.GradedTask {
	tasks := make([]stats.GradedTask, w.tasks)
	drawn := map[int]bool{}
	if w.labelledTasks > 0 {
		for _, i := range rng.Perm(w.tasks)[:w.labelledTasks] {
			drawn[i] = true
		}
	}
	chance := w.base
	for i := range tasks {
		if w.unitsOf < 2 || i%w.unitsOf == 0 {
			chance = w.base
			if rng.Float64() < w.sure {
				chance = one(rng.Float64() < w.base)
			}
		}
		if w.unitsOf > 1 {
			tasks[i].Unit = fmt.Sprint(i / w.unitsOf)
		}
		pick := rng.IntN(w.rows)
		for r := range w.rows {
			gold := rng.Float64() < chance
			judge := rng.Float64() < 1-w.tnr
			if gold {
				judge = rng.Float64() < w.tpr
			}
			row := stats.Graded{Judge: one(judge), Gold: one(gold), Inclusion: w.drawF}
			if judge {
				row.Inclusion = w.drawP
			}
			if w.labelledTasks > 0 {
				row.Inclusion = float64(w.labelledTasks) / float64(w.tasks*w.rows)
				row.Labelled = drawn[i] && r == pick
			} else {
				row.Labelled = rng.Float64() < row.Inclusion
			}
			tasks[i].Rows = append(tasks[i].Rows, row)
		}
	}
	return tasks
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// Units of tasks of rows, drawn with unequal chances, against the jackknife over units
// from raw rows; and lambda against the grid on which the jackknife is least.
func TestCorrectedRateAgainstJackknife(t *testing.T) {
	w := gradedWorld{tasks: 240, rows: 3, base: 0.6, sure: 0.5, tpr: 0.9, tnr: 0.7, drawP: 0.15, drawF: 0.4, unitsOf: 2}
	tasks := w.draw(seeded(52))
	estimate := func(without string, lambda float64) float64 {
		var judge, count, weight, gold, judged float64
		for _, task := range tasks {
			if task.Unit == without {
				continue
			}
			count++
			for _, row := range task.Rows {
				judge += row.Judge / 3
				if row.Labelled {
					weight += 1 / row.Inclusion
					gold += row.Gold / row.Inclusion
					judged += row.Judge / row.Inclusion
				}
			}
		}
		return gold/weight + lambda*(judge/count-judged/weight)
	}
	jackknife := func(lambda float64) float64 {
		squares, units := 0.0, w.tasks/2
		full := estimate("none", lambda)
		for u := range units {
			d := estimate(fmt.Sprint(u), lambda) - full
			squares += d * d
		}
		return math.Sqrt(float64(units-1) / float64(units) * squares)
	}
	lambda, se, goldSE, err := stats.RateErrors(tasks)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "estimate", *corrected(t, tasks).Corrected.Value, estimate("none", lambda), 1e-12)
	near(t, "standard error", se, jackknife(lambda), 0.03*se)
	near(t, "gold's standard error", goldSE, jackknife(0), 0.03*goldSE)
	best, least := 0.0, math.Inf(1)
	for i := range 101 {
		if s := jackknife(float64(i) / 100); s < least {
			best, least = float64(i)/100, s
		}
	}
	near(t, "lambda", lambda, best, 0.03)
}

// What a judge is worth: with gold on few of many rows the interval shrinks to
// sqrt(1 - rho^2 (1 - n/N)) of that of gold alone, rho the correlation of gold and verdict.
func TestCorrectedRateShrinksByTheCorrelation(t *testing.T) {
	const n, all = 4000, 40_000
	for _, w := range []gradedWorld{
		{base: 0.7, tpr: 0.95, tnr: 0.9}, {base: 0.5, tpr: 0.98, tnr: 0.5}, {base: 0.5, tpr: 0.5, tnr: 0.5},
	} {
		w.tasks, w.rows, w.labelledTasks = all, 1, n
		_, se, goldSE, err := stats.RateErrors(w.draw(seeded(53)))
		if err != nil {
			t.Fatal(err)
		}
		passes := w.base*w.tpr + (1-w.base)*(1-w.tnr)
		rho := w.base * (w.tpr - passes) / math.Sqrt(w.base*(1-w.base)*passes*(1-passes))
		near(t, "shrinkage", se/goldSE, math.Sqrt(1-rho*rho*(1-float64(n)/all)), 0.02)
	}
}

func TestCorrectedRateLimits(t *testing.T) {
	for name, c := range map[string]struct {
		tasks  []stats.GradedTask
		lambda float64
	}{
		"a judge that always passes": {singleTasks(30, 0, 20, 0, 500, 0), 0},
		"a judge that contradicts":   {singleTasks(2, 28, 18, 2, 200, 300), 0},
		"every row labelled":         {singleTasks(40, 5, 5, 30, 0, 0), 0},
		"a judge that is gold":       {singleTasks(30, 0, 0, 20, 300, 200), 1},
	} {
		got := corrected(t, c.tasks)
		near(t, name+": lambda", *got.Lambda, c.lambda, 1e-9)
		of := got.GoldOnly
		if c.lambda == 1 {
			of = got.JudgeOnly
		}
		near(t, name, *got.Corrected.Value, *of.Value, 1e-9)
	}
	// A judge that is gold on all of 50 labels may still be wrong on the next.
	c := corrected(t, singleTasks(30, 0, 0, 20, 30_000, 20_000))
	if width := *c.Corrected.Hi - *c.Corrected.Lo; width < 0.05 || width > 0.12 {
		t.Errorf("a judge that agrees on all of 50 labels gives an interval of %.3f", width)
	}
}

func TestCorrectedRateOfFewLabels(t *testing.T) {
	c := corrected(t, singleTasks(10, 2, 3, 14, 100, 100))
	if c.Missing != 1 || c.Corrected.Value == nil || c.Corrected.Lo != nil || c.GoldOnly.Lo == nil || c.GoldOnly.N != 29 || c.Corrected.N != 229 || c.JudgeOnly.N != 229 {
		t.Errorf("of 29 labels: %s", marshal(t, c))
	}
	if c = corrected(t, singleTasks(10, 2, 3, 15, 100, 100)); c.Missing != 0 || c.Corrected.Lo == nil {
		t.Errorf("of 30 labels: %s", marshal(t, c))
	}
	c = corrected(t, singleTasks(0, 0, 0, 0, 100, 100))
	if c.Missing != 30 || c.Corrected.Value != nil || c.GoldOnly.Value != nil || c.Lambda != nil || *c.JudgeOnly.Value != 0.5 || c.JudgeOnly.Lo == nil {
		t.Errorf("of no labels: %s", marshal(t, c))
	}
	if c = corrected(t, nil); c.Missing != 30 || c.JudgeOnly.Value != nil {
		t.Errorf("of no tasks: %s", marshal(t, c))
	}
}

func TestCorrectedRateRefuses(t *testing.T) {
	for name, row := range map[string]stats.Graded{
		"a verdict over 1":      {Judge: 1.5},
		"a verdict that is NaN": {Judge: math.NaN()},
		"gold under 0":          {Gold: -1, Labelled: true, Inclusion: 1},
		"no chance":             {Labelled: true},
		"a chance over 1":       {Labelled: true, Inclusion: 2},
	} {
		if _, err := stats.CorrectedRate([]stats.GradedTask{{Rows: []stats.Graded{row}}}, stats.Z95); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if _, err := stats.CorrectedRate([]stats.GradedTask{{}}, stats.Z95); err == nil {
		t.Error("a task without rows is taken")
	}
}

// rateTrial is what many draws of one world come to.
type rateTrial struct {
	corrected, gold, judge float64 // how often each interval covers
	width                  float64 // of corrected over gold's, on average
	lambda                 float64 // on average
}

func (w gradedWorld) trial(t testing.TB, trials int, seed uint64) rateTrial {
	rng := seeded(seed)
	var r rateTrial
	var width, goldWidth float64
	covers := func(e stats.Estimate) float64 {
		return one(e.Lo != nil && *e.Lo <= w.base && w.base <= *e.Hi) / float64(trials)
	}
	for range trials {
		c := corrected(t, w.draw(rng))
		r.corrected += covers(c.Corrected)
		r.gold += covers(c.GoldOnly)
		r.judge += covers(c.JudgeOnly)
		r.lambda += *c.Lambda / float64(trials)
		width += *c.Corrected.Hi - *c.Corrected.Lo
		goldWidth += *c.GoldOnly.Hi - *c.GoldOnly.Lo
	}
	r.width = width / goldWidth
	return r
}

// Judges good, bad and useless, labels drawn in equal shares and more often where the
// judge fails a row. The corrected interval covers whatever the judge is worth; the
// judge's own does not.
func TestCorrectedRateCovers(t *testing.T) {
	const trials = 600
	for i, c := range []struct {
		name           string
		tpr, tnr       float64
		narrow, broad  float64 // the interval's width over that of gold alone
		judgeAloneLies bool
	}{
		{"good", 0.97, 0.97, 0.4, 0.75, false},
		{"bad: passes half of the failures", 0.98, 0.5, 0.6, 0.95, true},
		{"useless: a coin", 0.5, 0.5, 0.97, 1.03, true},
		{"useless: passes all", 1, 0, 0.999, 1.001, true},
		{"worse than useless: contradicts", 0.2, 0.2, 0.97, 1.03, true},
	} {
		for _, w := range []gradedWorld{
			{tasks: 300, rows: 1, labelledTasks: 50},
			{tasks: 150, rows: 4, sure: 0.5, drawP: 0.12, drawF: 0.25},
		} {
			w.base, w.tpr, w.tnr = 0.7, c.tpr, c.tnr
			r := w.trial(t, trials, uint64(60+i))
			t.Logf("%s, %d rows a task: covers %.3f (gold alone %.3f, judge alone %.3f), width %.2f of gold's, lambda %.2f", c.name, w.rows, r.corrected, r.gold, r.judge, r.width, r.lambda)
			// Three Monte Carlo errors at 600 trials are 0.027.
			if r.corrected < 0.95-0.027 || r.gold < 0.95-0.027 {
				t.Errorf("%s: the interval covers %.3f, gold's %.3f", c.name, r.corrected, r.gold)
			}
			if r.width < c.narrow || r.width > c.broad {
				t.Errorf("%s: the interval is %.3f of gold's, want %.2f to %.2f", c.name, r.width, c.narrow, c.broad)
			}
			if c.judgeAloneLies && r.judge > 0.5 {
				t.Errorf("%s: the judge alone covers %.3f", c.name, r.judge)
			}
		}
	}
}

// The figures of the package's documentation. Run it with -bench Corrected -benchtime 1x.
func BenchmarkCorrectedRateCovers(b *testing.B) {
	const trials = 2000
	for _, judge := range []struct {
		name     string
		tpr, tnr float64
	}{{"good", 0.95, 0.95}, {"bad", 0.98, 0.5}, {"useless", 0.5, 0.5}} {
		for _, base := range []float64{0.5, 0.8, 0.95} {
			for _, labelled := range []int{30, 50, 100, 200} {
				for _, all := range []int{300, 2000} {
					w := gradedWorld{tasks: all, rows: 1, labelledTasks: labelled, base: base, tpr: judge.tpr, tnr: judge.tnr}
					b.Run(fmt.Sprintf("judge=%s/base=%.2f/labels=%d/tasks=%d", judge.name, base, labelled, all), func(b *testing.B) {
						for b.Loop() {
							r := w.trial(b, trials, 70)
							b.ReportMetric(r.corrected, "covers")
							b.ReportMetric(r.gold, "gold-covers")
							b.ReportMetric(r.judge, "judge-covers")
							b.ReportMetric(r.width, "width")
							b.ReportMetric(r.lambda, "lambda")
						}
					})
				}
			}
		}
	}
}
