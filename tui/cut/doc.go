// Package cut is the screen of the training files: what each target would get of a run,
// gate by gate what falls and why, the pass rates that a group can be learnt from, and
// the hack scan: what training on this reward would teach. Every number opens as a list
// of its rows, a row as its transcript, and a set is written from here.
//
// Nothing is written by looking: a preview cuts in memory. Reading a run and scanning it
// take time and are commands; asking anew cancels what is on its way, and an outdated
// answer is dropped.
//
// A Model belongs to the goroutine that runs the Bubble Tea loop.
package cut
