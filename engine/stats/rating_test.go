package stats_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"assay/engine/stats"
)

func ratings(t testing.TB, rows []stats.Rating) stats.Ratings {
	t.Helper()
	r, err := stats.NewRatings(rows)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// one row a task, all drawn with one chance.
func singles(c stats.Confusion, inclusion float64) []stats.Rating {
	var rows []stats.Rating
	add := func(n int, gold, judge bool) {
		for range n {
			rows = append(rows, stats.Rating{Gold: gold, Judge: judge, Task: fmt.Sprint(len(rows)), Inclusion: inclusion})
		}
	}
	add(c.TP, true, true)
	add(c.FN, true, false)
	add(c.FP, false, true)
	add(c.TN, false, false)
	return rows
}

func same(t interface {
	Helper()
	Errorf(string, ...any)
}, what string, got, want stats.Estimate, tolerance float64) {
	t.Helper()
	for _, pair := range [][2]*float64{{got.Value, want.Value}, {got.Lo, want.Lo}, {got.Hi, want.Hi}} {
		switch {
		case (pair[0] == nil) != (pair[1] == nil):
			t.Errorf("%s: %v, want %v", what, pair[0], pair[1])
		case pair[0] != nil && math.Abs(*pair[0]-*pair[1]) > tolerance:
			t.Errorf("%s: %v, want %v", what, *pair[0], *pair[1])
		}
	}
	if got.N != want.N {
		t.Errorf("%s: n %d, want %d", what, got.N, want.N)
	}
}

// With one row a task and equal chances there is nothing to weight and nothing to
// cluster.
func TestRatingsOfSingleRowsAreTheConfusions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(0, 60)
		c := stats.Confusion{TP: count.Draw(t, "tp"), FP: count.Draw(t, "fp"), FN: count.Draw(t, "fn"), TN: count.Draw(t, "tn")}
		inclusion := rapid.Float64Range(0.01, 1).Draw(t, "inclusion")
		r, err := stats.NewRatings(singles(c, inclusion))
		if err != nil {
			t.Fatal(err)
		}
		if r.Confusion() != c {
			t.Fatalf("confusion %+v, want %+v", r.Confusion(), c)
		}
		same(t, "agreement", r.Agreement(stats.Z95), c.Agreement(), 1e-9)
		same(t, "kappa", r.Kappa(stats.LooksZ), c.Kappa(stats.LooksZ), 1e-9)
		same(t, "AC1", r.AC1(stats.Z95), c.AC1(stats.Z95), 1e-9)
		same(t, "leak", r.PassWhenGoldFails(stats.Z95), c.PassWhenGoldFails(), 1e-9)
		same(t, "miss", r.FailWhenGoldPasses(stats.Z95), c.FailWhenGoldPasses(), 1e-9)
	})
}

// schools are the 126 rows of apiclus2, a two-stage sample of Californian schools that
// comes with Lumley's R package survey: district, weight, and whether the school met its
// own target (here gold) and the schoolwide one (here the judge), with how many rows.
var schools = []struct {
	district    int
	weight      float64
	gold, judge bool
	rows        int
}{
	{15, 18.925, true, true, 1}, {63, 18.925, true, true, 1}, {83, 18.925, false, false, 2}, {83, 18.925, true, true, 1},
	{117, 18.925, true, true, 1}, {132, 18.925, false, false, 1}, {132, 18.925, true, true, 2}, {152, 18.925, false, false, 2},
	{152, 18.925, true, true, 1}, {173, 18.925, true, true, 4}, {176, 18.925, false, false, 1}, {198, 18.925, false, true, 2},
	{198, 18.925, true, true, 2}, {200, 41.635, true, true, 5}, {228, 18.925, false, true, 1}, {228, 18.925, true, true, 1},
	{264, 18.925, true, true, 1}, {295, 18.925, false, false, 2}, {295, 18.925, true, true, 3}, {302, 18.925, true, true, 4},
	{403, 18.925, true, true, 5}, {452, 18.925, false, true, 1}, {452, 18.925, true, true, 3}, {456, 18.925, true, true, 1},
	{480, 18.925, false, true, 1}, {480, 18.925, true, true, 4}, {523, 18.925, false, false, 1}, {523, 18.925, true, true, 1},
	{534, 18.925, false, false, 1}, {534, 18.925, false, true, 1}, {534, 18.925, true, true, 3}, {549, 18.925, true, true, 5},
	{552, 18.925, true, true, 2}, {570, 136.26, false, false, 2}, {570, 136.26, true, false, 1}, {570, 136.26, true, true, 2},
	{574, 18.925, true, true, 1}, {575, 105.98, true, true, 5}, {596, 26.495, true, true, 5}, {620, 272.52, false, false, 1},
	{620, 272.52, false, true, 1}, {620, 272.52, true, true, 3}, {638, 52.99, false, false, 4}, {638, 52.99, true, true, 1},
	{639, 26.495, false, false, 1}, {639, 26.495, true, true, 4}, {674, 18.925, true, true, 2}, {679, 18.925, false, false, 4},
	{687, 18.925, false, false, 1}, {687, 18.925, false, true, 1}, {687, 18.925, true, true, 1}, {701, 18.925, true, true, 2},
	{711, 18.925, true, true, 2}, {719, 18.925, false, false, 1}, {731, 34.065, false, false, 1}, {731, 34.065, false, true, 1},
	{731, 34.065, true, true, 3}, {742, 18.925, false, false, 1}, {768, 18.925, false, true, 1}, {768, 18.925, true, true, 1},
	{781, 22.71, true, true, 5}, {795, 18.925, true, true, 1},
}

// Values and standard errors of package survey 4.1-1 (Lumley 2004) for
// svydesign(id = ~dnum, weights = ~pw, data = apiclus2): svymean of the agreement,
// svykappa(~comp.imp + sch.wide), and svycontrast of AC1's formula.
func TestRatingsAgainstPackageSurvey(t *testing.T) {
	var rows []stats.Rating
	for _, s := range schools {
		for range s.rows {
			rows = append(rows, stats.Rating{Gold: s.gold, Judge: s.judge, Task: fmt.Sprint(s.district), Inclusion: 1 / s.weight})
		}
	}
	r := ratings(t, rows)
	if r.N() != 126 || r.Tasks() != 40 {
		t.Fatalf("%d rows of %d districts", r.N(), r.Tasks())
	}
	const z = stats.Z95
	near(t, "agreement", *r.Agreement(z).Value, 0.8841328413, 1e-10)
	near(t, "kappa", *r.Kappa(z).Value, 0.7140723935, 1e-10)
	near(t, "AC1", *r.AC1(z).Value, 0.8058314900, 1e-10)

	agreement, kappa, ac1 := r.StandardErrors()
	near(t, "agreement's standard error", agreement, 0.0312767303, 1e-10)
	near(t, "kappa's standard error", kappa, 0.0682854206, 1e-10)
	near(t, "AC1's standard error", ac1, 0.0609527129, 1e-10)
}

// The linearised variances against the jackknife over tasks, which knows nothing of
// influence values: each task is left out in turn and everything computed from raw
// weighted counts.
func TestRatingsAgainstJackknifeOverTasks(t *testing.T) {
	rng := seeded(31)
	j := ratingJudge{base: 0.6, tpr: 0.9, tnr: 0.75, rows: 4, alike: 0.5}
	var rows []stats.Rating
	for task := range 150 {
		for i, row := range j.task(rng) {
			inclusion := []float64{0.2, 0.5, 0.5, 1}[i]
			if rng.Float64() < inclusion {
				rows = append(rows, stats.Rating{Gold: row[0], Judge: row[1], Task: fmt.Sprint(task), Inclusion: inclusion})
			}
		}
	}
	r := ratings(t, rows)
	statistic := func(without string) (agreement, kappa, ac1 float64) {
		var both, goldOnly, judgeOnly, neither float64
		for _, row := range rows {
			if row.Task == without {
				continue
			}
			w := 1 / row.Inclusion
			switch {
			case row.Gold && row.Judge:
				both += w
			case row.Gold:
				goldOnly += w
			case row.Judge:
				judgeOnly += w
			default:
				neither += w
			}
		}
		n := both + goldOnly + judgeOnly + neither
		agreement = (both + neither) / n
		chance := ((both+goldOnly)*(both+judgeOnly) + (judgeOnly+neither)*(goldOnly+neither)) / n / n
		pass := (2*both + goldOnly + judgeOnly) / 2 / n
		gwet := 2 * pass * (1 - pass)
		return agreement, (agreement - chance) / (1 - chance), (agreement - gwet) / (1 - gwet)
	}
	a, k, c := statistic("")
	near(t, "agreement", *r.Agreement(1).Value, a, 1e-12)
	near(t, "kappa", *r.Kappa(1).Value, k, 1e-12)
	near(t, "AC1", *r.AC1(1).Value, c, 1e-12)
	tasks, squares := map[string]bool{}, [3]float64{}
	for _, row := range rows {
		if tasks[row.Task] {
			continue
		}
		tasks[row.Task] = true
		da, dk, dc := statistic(row.Task)
		squares[0] += (da - a) * (da - a)
		squares[1] += (dk - k) * (dk - k)
		squares[2] += (dc - c) * (dc - c)
	}
	m := float64(len(tasks))
	se := func(i int) float64 { return math.Sqrt((m - 1) / m * squares[i]) }
	agreement, kappa, gwet := r.StandardErrors()
	near(t, "agreement's standard error", agreement, se(0), 0.02*se(0))
	near(t, "kappa's standard error", kappa, se(1), 0.02*se(1))
	near(t, "AC1's standard error", gwet, se(2), 0.02*se(2))
}

// ratingJudge draws tasks of rows: gold passes with chance base, the judge is right
// with tpr and tnr, and with chance alike all rows of a task are one row repeated.
type ratingJudge struct {
	base, tpr, tnr float64
	rows           int
	alike          float64
}

func (j ratingJudge) row(rng *rand.Rand) [2]bool {
	gold := rng.Float64() < j.base
	if gold {
		return [2]bool{true, rng.Float64() < j.tpr}
	}
	return [2]bool{false, rng.Float64() >= j.tnr}
}

func (j ratingJudge) task(rng *rand.Rand) [][2]bool {
	rows := make([][2]bool, j.rows)
	alike := rng.Float64() < j.alike
	for i := range rows {
		rows[i] = j.row(rng)
		if alike {
			rows[i] = rows[0]
		}
	}
	return rows
}

// truth is agreement, kappa and AC1 over all that the judge could ever be shown.
func (j ratingJudge) truth() (agreement, kappa, ac1 float64) {
	agreement = j.base*j.tpr + (1-j.base)*j.tnr
	passes := j.base*j.tpr + (1-j.base)*(1-j.tnr)
	chance := j.base*passes + (1-j.base)*(1-passes)
	share := (j.base + passes) / 2
	return agreement, (agreement - chance) / (1 - chance), (agreement - 2*share*(1-share)) / (1 - 2*share*(1-share))
}

// Rows that the judge fails are drawn for labelling three times as often as those that
// it passes, and rows of a task resemble each other. Weighted, the intervals keep
// their word; unweighted and by row they do not.
func TestRatingsCoverUnderUnequalChances(t *testing.T) {
	const trials = 2000
	j := ratingJudge{base: 0.7, tpr: 0.92, tnr: 0.7, rows: 4, alike: 0.5}
	agreement, kappa, ac1 := j.truth()
	var covered [3]int
	naive := 0
	rng := seeded(32)
	for range trials {
		var rows []stats.Rating
		var plain stats.Confusion
		for task := range 150 {
			for _, row := range j.task(rng) {
				inclusion := 0.2
				if !row[1] {
					inclusion = 0.6
				}
				if rng.Float64() < inclusion {
					rows = append(rows, stats.Rating{Gold: row[0], Judge: row[1], Task: fmt.Sprint(task), Inclusion: inclusion})
					plain.Add(row[0], row[1])
				}
			}
		}
		r := ratings(t, rows)
		for i, e := range []stats.Estimate{r.Agreement(stats.Z95), r.Kappa(stats.Z95), r.AC1(stats.Z95)} {
			if truth := [...]float64{agreement, kappa, ac1}[i]; *e.Lo <= truth && truth <= *e.Hi {
				covered[i]++
			}
		}
		if k := plain.Kappa(stats.Z95); *k.Lo <= kappa && kappa <= *k.Hi {
			naive++
		}
	}
	t.Logf("coverage: agreement %.3f, kappa %.3f, AC1 %.3f; kappa without weights and clusters %.3f",
		share(covered[0], trials), share(covered[1], trials), share(covered[2], trials), share(naive, trials))
	for i, name := range []string{"agreement", "kappa", "AC1"} {
		// Three Monte Carlo errors at 2,000 trials are 0.015.
		if c := share(covered[i], trials); c < 0.95-0.015 {
			t.Errorf("%s's interval covers %.3f", name, c)
		}
	}
	if c := share(naive, trials); c > 0.93 {
		t.Errorf("without weights and clusters kappa covers %.3f: this population does not tell the two apart", c)
	}
}

func share(k, n int) float64 { return float64(k) / float64(n) }

// Where all agree nothing is seen to vary, and rows of a task count as one.
func TestRatingsThatAllAgreeCountTasks(t *testing.T) {
	var rows []stats.Rating
	for i := range 60 {
		rows = append(rows, stats.Rating{Gold: i%12 < 6, Judge: i%12 < 6, Task: fmt.Sprint(i / 3), Inclusion: 0.5})
	}
	r := ratings(t, rows)
	lo, _ := stats.Wilson(20, 20, stats.Z95)
	near(t, "agreement", *r.Agreement(stats.Z95).Lo, lo, 1e-12)
	half := stats.Confusion{TP: 10, TN: 10}.Kappa(stats.Z95)
	near(t, "kappa", *r.Kappa(stats.Z95).Lo, *half.Lo, 1e-12)
	// One disagreement more, and neither may look better for it.
	rows[0].Judge = !rows[0].Judge
	worse := ratings(t, rows)
	if *worse.Agreement(stats.Z95).Lo > lo || *worse.Kappa(stats.Z95).Lo > *half.Lo {
		t.Error("a judge that disagrees once comes out better than one that never does")
	}
}

// Rows that share a task are worth no more than rows that do not.
func TestClusteringOnlyWidens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(0, 40)
		rows := singles(stats.Confusion{TP: count.Draw(t, "tp"), FP: count.Draw(t, "fp"), FN: count.Draw(t, "fn"), TN: count.Draw(t, "tn")}, 1)
		apart, err := stats.NewRatings(rows)
		if err != nil {
			t.Fatal(err)
		}
		for i, task := range rapid.SliceOfN(rapid.IntRange(0, 30), len(rows), len(rows)).Draw(t, "task") {
			rows[i].Task = fmt.Sprint(task)
		}
		together, err := stats.NewRatings(rows)
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range []func(stats.Ratings) stats.Estimate{
			func(r stats.Ratings) stats.Estimate { return r.Agreement(stats.Z95) },
			func(r stats.Ratings) stats.Estimate { return r.Kappa(stats.Z95) },
		} {
			a, b := of(apart), of(together)
			if a.Value != nil && *a.Value > 0 && b.Lo != nil && *b.Lo > *a.Lo+1e-12 {
				t.Fatalf("%v, of shared tasks %v", *a.Lo, *b.Lo)
			}
		}
	})
}

func TestRatingsOfFewTasksHaveNoInterval(t *testing.T) {
	r := ratings(t, []stats.Rating{
		{Gold: true, Judge: true, Task: "a", Inclusion: 1}, {Gold: false, Judge: true, Task: "a", Inclusion: 1},
		{Gold: false, Judge: false, Task: "b", Inclusion: 1}, {Gold: true, Judge: true, Task: "b", Inclusion: 1},
	})
	for name, e := range map[string]stats.Estimate{"agreement": r.Agreement(1.96), "kappa": r.Kappa(1.96), "AC1": r.AC1(1.96)} {
		if e.Value == nil || e.Lo != nil || e.N != 4 {
			t.Errorf("%s of two tasks = %s, want a value alone", name, marshal(t, e))
		}
	}
	var none stats.Ratings
	if e := none.Agreement(1.96); e.Value != nil || none.Kappa(1.96).Value != nil || none.AC1(1.96).Value != nil {
		t.Errorf("agreement of nothing = %s", marshal(t, e))
	}
}

// A row whose chance is not known, as one picked for its verdict, is refused.
func TestRatingsRefuseUnknownChances(t *testing.T) {
	for _, inclusion := range []float64{0, -0.5, 1.5, math.NaN(), math.Inf(1)} {
		if _, err := stats.NewRatings([]stats.Rating{{Task: "a", Inclusion: inclusion}}); err == nil {
			t.Errorf("an inclusion chance of %v is taken", inclusion)
		}
	}
}
