package stats

import "math"

// Noise is how much a number moves between repeated runs of the same thing.
type Noise struct {
	// RunStd is the standard deviation between runs, pooled over the sides that have
	// two runs or more; DF its degrees of freedom, the sum over those of runs-1.
	RunStd float64
	DF     int
	// Q is the two-sided 95% quantile of Student's t at DF, Band the largest difference
	// of the two sides' means that runs of one thing give at that level.
	Q, Band float64
}

// NoiseBand pools the spread of two sides' run means into the band
// q x run_std x sqrt(1/nb + 1/na). ok is false where neither side has two runs or one
// has none: then there is no band.
func NoiseBand(before, after []float64) (noise Noise, ok bool) {
	squares := 0.0
	for _, side := range [][]float64{before, after} {
		if len(side) < 2 {
			continue
		}
		mean := Mean(side)
		for _, v := range side {
			squares += (v - mean) * (v - mean)
		}
		noise.DF += len(side) - 1
	}
	if noise.DF == 0 || len(before) == 0 || len(after) == 0 {
		return Noise{}, false
	}
	noise.RunStd = math.Sqrt(squares / float64(noise.DF))
	noise.Q = TQuantile(0.975, float64(noise.DF))
	noise.Band = Band(noise.Q, noise.RunStd, len(before), len(after))
	return noise, true
}

// Band is q x runStd x sqrt(1/nb + 1/na).
func Band(q, runStd float64, nb, na int) float64 {
	return q * runStd * math.Sqrt(1/float64(nb)+1/float64(na))
}

// Mean is the mean of vs, NaN where there are none.
func Mean(vs []float64) float64 {
	if len(vs) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, v := range vs {
		sum += v
	}
	return sum / float64(len(vs))
}

// StdDev is the sample standard deviation of vs (n-1 in the denominator), NaN for
// fewer than two.
func StdDev(vs []float64) float64 {
	if len(vs) < 2 {
		return math.NaN()
	}
	mean, squares := Mean(vs), 0.0
	for _, v := range vs {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares / float64(len(vs)-1))
}
