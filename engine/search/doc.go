// Package search decides what is asked: which situations of the grid are posed,
// in which wording, by which user, in which world.
//
// A [Planner] poses, batch by batch, the asks that the user already has, rows of
// the covering array and points of the grid beyond it, and open-ended asks that no
// grid holds. Where outcomes are observed, five arms share the later batches by
// what they find: two over the grid, the open-ended one, one that aims at tool
// calls not seen yet, and one that rewrites the asks of rollouts that failed.
//
// The template writer puts each situation into the words of a person, and needs no
// model. It reads the tools for what a person would call them, the clauses of the
// policy for what a person could touch them by, and it never says where on the
// grid an ask stands. The person behind an ask knows, in [record.User], what the
// ask leaves out, and the world that a task begins with holds the things that it
// names in the state that its coordinates say.
//
// # What it promises
//
// Everything is a function of the [Input] and of the outcomes that were given to
// [Planner.Observe]: no clock, no map order, no sum of floats in the order of
// arrival. What is kept, dealt or dropped is decided by a row's own hash, so one
// row never moves another, and words are drawn from a stream named by the
// situation and the phrasing, so a situation reads the same in every run of a
// seed. What steers is integer arithmetic. The plan of batch b rests on the
// outcomes of the batches before b-1 alone, however fast they came: feedback is
// one batch late and at most two batches are in flight. Held-out tasks teach the
// search nothing.
//
// # Concurrency
//
// A Planner may be used from several goroutines; [Planner.Next] waits for the
// feedback it needs. A posed task is shared and never written to again.
package search
