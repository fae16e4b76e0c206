package stats

import "math"

// Confusion counts two raters' binary verdicts on the same things: gold first, the
// judge second. FP is gold fail, judge pass.
type Confusion struct {
	TP int `json:"tp"`
	FP int `json:"fp"`
	FN int `json:"fn"`
	TN int `json:"tn"`
}

// Add counts one pair of verdicts.
func (c *Confusion) Add(gold, judge bool) {
	switch {
	case gold && judge:
		c.TP++
	case gold:
		c.FN++
	case judge:
		c.FP++
	default:
		c.TN++
	}
}

// N is how many pairs were counted.
func (c Confusion) N() int { return c.TP + c.FP + c.FN + c.TN }

// Agreement is the share of equal verdicts with its 95% score interval.
func (c Confusion) Agreement() Estimate { return WilsonEstimate(c.TP+c.TN, c.N()) }

// PassWhenGoldFails is the share of gold failures that the judge passes: what a
// policy trained on it is taught. Its N is the gold failures.
func (c Confusion) PassWhenGoldFails() Estimate { return WilsonEstimate(c.FP, c.FP+c.TN) }

// FailWhenGoldPasses is the share of gold passes that the judge fails. Its N is the
// gold passes.
func (c Confusion) FailWhenGoldPasses() Estimate { return WilsonEstimate(c.FN, c.FN+c.TP) }

// Kappa is Cohen's kappa with its interval at the normal quantile z. The value is that
// of the counts; the interval is [Kappa]'s of the counts with [agreementPrior] added to
// each, so that it has a width where all agree and keeps its word where one class is
// rare. The value is nil where there is none; see [Kappa].
func (c Confusion) Kappa(z float64) Estimate {
	cells := shares{float64(c.TP), float64(c.FN), float64(c.FP), float64(c.TN)}
	return cells.kappa(float64(c.N()), c.N(), z)
}

// AC1 is Gwet's AC1 with its interval at the normal quantile z, taken as kappa's is.
func (c Confusion) AC1(z float64) Estimate {
	cells := shares{float64(c.TP), float64(c.FN), float64(c.FP), float64(c.TN)}
	return cells.ac1(float64(c.N()), c.N(), z)
}

// Kappa is Cohen's kappa (Cohen 1960) of a square table of counts, row one rater's
// category and column the other's, with the interval of its large-sample standard
// error at the normal quantile z (Fleiss, Cohen and Everitt 1969). The value is nil
// for an empty table and where chance alone would agree always (all of one class).
func Kappa(table [][]int, z float64) Estimate {
	n, p, row, column := proportions(table)
	if n == 0 {
		return Estimate{}
	}
	observed, expected := 0.0, 0.0
	for i := range p {
		observed += p[i][i]
		expected += row[i] * column[i]
	}
	if expected >= 1 {
		return Estimate{N: n}
	}
	kappa := (observed - expected) / (1 - expected)
	sum := 0.0
	for i := range p {
		for j := range p[i] {
			if i == j {
				d := 1 - (row[i]+column[i])*(1-kappa)
				sum += p[i][i] * d * d
				continue
			}
			d := column[i] + row[j]
			sum += (1 - kappa) * (1 - kappa) * p[i][j] * d * d
		}
	}
	d := kappa - expected*(1-kappa)
	variance := math.Max(0, sum-d*d) / (float64(n) * (1 - expected) * (1 - expected))
	half := z * math.Sqrt(variance)
	return NewEstimate(kappa, math.Max(-1, kappa-half), math.Min(1, kappa+half), n)
}

// AC1 is Gwet's AC1 (Gwet 2008) of a square table of counts for two raters, with the
// interval of its linearised standard error at the normal quantile z. Unlike kappa it
// holds still where one class is rare. The value is nil for an empty table.
func AC1(table [][]int, z float64) Estimate {
	n, p, row, column := proportions(table)
	q := float64(len(table))
	if n == 0 || q < 2 {
		return Estimate{N: n}
	}
	share := make([]float64, len(table)) // of each category, over both raters
	observed, expected := 0.0, 0.0
	for i := range p {
		share[i] = (row[i] + column[i]) / 2
		observed += p[i][i]
		expected += share[i] * (1 - share[i]) / (q - 1)
	}
	ac1 := (observed - expected) / (1 - expected)
	variance := 0.0
	for i := range p {
		for j := range p[i] {
			agrees := 0.0
			if i == j {
				agrees = 1
			}
			chance := (2 - share[i] - share[j]) / (2 * (q - 1))
			d := (agrees-expected)/(1-expected) - 2*(1-ac1)*(chance-expected)/(1-expected) - ac1
			variance += p[i][j] * d * d
		}
	}
	half := z * math.Sqrt(variance/float64(n))
	return NewEstimate(ac1, math.Max(-1, ac1-half), math.Min(1, ac1+half), n)
}

// proportions turns counts into shares of their total, with both margins.
func proportions(table [][]int) (n int, p [][]float64, row, column []float64) {
	for _, counts := range table {
		for _, count := range counts {
			n += count
		}
	}
	p = make([][]float64, len(table))
	row, column = make([]float64, len(table)), make([]float64, len(table))
	if n == 0 {
		return 0, p, row, column
	}
	for i, counts := range table {
		p[i] = make([]float64, len(table))
		for j, count := range counts {
			p[i][j] = float64(count) / float64(n)
			row[i] += p[i][j]
			column[j] += p[i][j]
		}
	}
	return n, p, row, column
}
