// Package delta is the eighth step: it says what a run came to on its held-out
// tasks ([Pass]), and whether a change between two runs is real ([Compare]).
//
// A comparison is paired by task. What is resampled, sign-flipped and counted
// against every minimum is the unit: a situation with all its phrasings and
// mutations, since those share what makes them hard. Every number carries its
// interval and how many tasks it rests on; what was not graded leaves the
// denominator and is counted.
//
// Results are functions of their input: the draws come from streams named by what
// they are for, so the same two runs give the same text on every machine. The
// functions are safe for concurrent use and do not write to what they are given.
package delta
