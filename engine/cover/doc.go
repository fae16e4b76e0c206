// Package cover makes covering arrays: few rows in which every t-tuple of values
// that the constraints allow appears at least once. Most failures take two
// factors, so the rows of a strength-2 array meet them where the whole grid would
// be thousands of times as large.
//
// It promises that no valid tuple is lost: a tuple is planned exactly where some
// allowed row holds it, however indirectly the constraints bear on it, and a
// built array covers all that is planned. Rows are a function of the model and
// the options alone, on every machine; effort is a count of weighed changes,
// never a clock.
//
// [Build] makes one small array; [Stable] makes it in blocks, so that editing one
// value of an axis moves no row of another. What really came back is measured by
// [Array.Coverage].
//
// # Sizes
//
// Rows at strength 2, joint, by default and with thirty million weighed changes
// (BenchmarkPairwise), beside what pairwise.org gives for AETG (Cohen, Dalal,
// Fredman and Patton 1997) and PICT (Czerwonka 2006):
//
//	model             bound  default  stretch  AETG  PICT
//	3^4                   9        9        9     9     9
//	3^13                 10       15       15    15    18
//	4^15 3^17 2^29       17       28       28    41    37
//	4^1 3^39 2^35        12       21       20    28    27
//	2^100                10       10       10    10    15
//	10^20               101      185      179   180   210
//
// At strength 3 by default: 10^10 in 1,296 rows (bound 1,000), 3^20 4^10 in 158
// (bound 68).
//
// Models and arrays are plain data that nobody writes to once they are built, so
// they may be shared by goroutines. A build runs on its caller's goroutine.
package cover
