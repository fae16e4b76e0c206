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
// Models and arrays are plain data that nobody writes to once they are built, so
// they may be shared by goroutines. A build runs on its caller's goroutine.
package cover
