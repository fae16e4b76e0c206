// Package search decides what is asked: which situations of the grid are posed,
// in which wording, by which user, in which world.
//
// A [Planner] is given the covering array and poses its rows, the asks that the
// user already has, and open-ended asks that no grid holds. The template writer
// puts each situation into the words of a person; it needs no model.
//
// # What it promises
//
// Everything is a function of the [Input] and of the outcomes that were given to
// [Planner.Observe]: no clock, no map order, no sum of floats in the order of
// arrival. What is kept, dealt or dropped is decided by a row's own hash, so one
// row never moves another, and words are drawn from a stream named by the
// situation and the phrasing. The plan of batch b rests on the outcomes of the
// batches before b-1 alone: feedback comes one batch late and at most two
// batches are in flight.
//
// # Concurrency
//
// Next and Observe may be called from different goroutines. Next waits for the
// feedback it needs. A posed task is shared and never written to again.
package search
