package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Z95 is the standard normal's 0.975 quantile to the two digits in which it is
// usually stated and in which the published intervals that this package is held
// against were computed.
const Z95 = 1.96

// NormalQuantile is the standard normal's quantile at p, 0 < p < 1.
func NormalQuantile(p float64) float64 { return distuv.UnitNormal.Quantile(p) }

// NormalCDF is the chance that a standard normal lies at or below x.
func NormalCDF(x float64) float64 { return distuv.UnitNormal.CDF(x) }

// TQuantile is the quantile at p of Student's t with df degrees of freedom, NaN for
// df under 1. An infinite df gives the normal's.
func TQuantile(p, df float64) float64 {
	switch {
	case df < 1 || math.IsNaN(df):
		return math.NaN()
	case math.IsInf(df, 1):
		return NormalQuantile(p)
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(p)
}
