// Package engine runs a recipe: it simulates an agent over the situations that
// it will meet, grades what it did, cuts training files from it, and compares a
// changed agent with the first one on held-out tasks.
//
// How data flows, in one direction:
//
//	recipe -> axes -> cover -> search -> tasks -> rollout(agent, world, person) -> grade -> sink -> screens
//	                             ^                                                   |
//	                             +------- signatures, cells, one batch late ---------+
//
// The whole story is in run.go, the loop that makes rollouts in loop.go. The
// engine knows no screen and writes no file: what it makes it gives to a [Sink],
// and only when that says it is on disk does it tell an observer.
//
// # Two laws
//
// Determinism: for an agent that depends only on its turn, runs that end
// situations_complete give equal canonical rows at any concurrency, interrupted
// or not. One goroutine owns a run's state, draws come from streams named by
// what they are for, and feedback reaches the plan one whole batch late.
//
// No silent number: a missing verdict leaves the denominator and is counted, a
// lost rollout is counted by its cause, and what makes a number weaker stands
// beside it as a warning.
//
// # Agents in Go
//
// An agent may be a Go function: it is registered in [Engine.Functions], as a
// rollout.AgentFunc, and named by agent.function in the recipe. It is given one
// [record.Turn] and asks its rollout's world through the turn. The package's example is
// a whole program.
package engine
