// Package stats holds the intervals, tests and estimators that the rest of the
// program states its numbers with.
//
// Every function is pure: no clock, no environment, no package state; a random
// draw comes only from the generator that the caller passes in, so equal inputs
// give equal text. All are safe for concurrent use as long as the generators are
// not shared. Nothing of the project is imported.
//
// The formulas are the published ones and each function names its source. Each is
// tested three ways: against published values, against a second implementation in
// the tests that shares no code, and by simulating a known truth.
package stats
