// Package world answers an agent's tool calls from a made-up world that fits
// the tools' schemas, remembers what was done to it, and fails on purpose.
//
// A [Toolset] is what is read out of the schemas, once; a [World] is one
// rollout's own world, made from a task: its id, the entities that it sets up,
// the words of its ask, and the fault it plans.
//
// # What it promises
//
//   - The same call in the same state gives the same answer, on any machine. The
//     answer depends on the task's id, the tools, the call and the state; not on
//     the clock, the agent, the run or the other tasks.
//   - A record is shaped by the tool's Returns where there is one (a JSON Schema or
//     an example), by the tool's name and description otherwise. One entity has
//     one value of one field, whichever tool shows it.
//   - An argument is never handed back as a finding. Only locators (the id, path or
//     name that says which record is meant) stand in the answer to the call. What
//     a write stored is shown by later reads: it is then the state of the world.
//   - What the ask, the person, a schema or an earlier answer named exists; any
//     other reference is not found. What was created can be read, what was deleted
//     is gone, what was acted on is already done.
//   - A refusal says what is wrong and what would be right. Unreadable, huge or
//     deeply nested arguments and schemas with cycles are refused or left
//     unchecked (see [Toolset.Warnings]); they neither panic nor hang.
//   - A fault costs no real time: latency is a number on the result.
//
// Every number that shapes a world is a field of [Dials], with its default and
// the reason for it.
//
// # Concurrency
//
// A Toolset may be shared by any number of goroutines. A World belongs to one
// rollout: its calls are made one after the other.
package world
