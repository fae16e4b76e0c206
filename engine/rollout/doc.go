// Package rollout lets an agent attempt a task: a conversation between the
// agent and the task's person, in a world of its own, recorded step by step.
//
// [Runner.Run] makes one rollout. The person is scripted ([Scripted]) unless
// another is given; the world is that of package world, or the agent answers its
// own tools.
//
// # What it promises
//
//   - A rollout always ends, with a status and a cause: done, lost, or aborted
//     when its context ended. An agent that errs, panics, hangs, floods or calls
//     tools without end costs its rollout and nothing else.
//   - Nothing is put down to the agent that is not its doing: an error of the
//     person, the world or the line has its own cause.
//   - For an agent that depends only on its Turn, the rollout depends on the seed,
//     the task, the eval run and k alone. A retry starts the whole rollout over,
//     world and person too, so an attempt that failed leaves no trace.
//   - Steps begin with the agent's first act; later messages of the person are
//     user steps, earlier replies text steps, and the last reply is FinalText only.
//   - A person whose patience ran out has left: a result, not an error.
//
// # Concurrency
//
// A Runner may be used by any number of goroutines once it is set up. Each
// rollout has its own recorder, so rollouts never mix. Hooks are called from the
// rollout's goroutines, in the order of its steps, and must be cheap. An agent
// that does not return after its context ended is left behind with its goroutine;
// what it does afterwards is not recorded.
package rollout
