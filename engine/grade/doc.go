// Package grade is step 06: what a rollout is worth, from its own trace.
//
// In order, each result kept apart with the version of what said it:
//
//   - Conduct rules ([ConductRules]): deterministic, from the trace alone. Their
//     marker "conduct" is 1, 0.5 or 0; its evidence names the rules.
//   - Trace flags ([FlagNames]), a checklist from the task's own coordinates
//     ([ChecklistNames]) and argument_grounding: markers that appear only where
//     they apply, 1 is good.
//   - Markers of the user's own ([CompileMarker]): expressions over the row.
//   - The reward, from one of a marker, a [Verifier] or a [Judge]. Conduct alone is
//     no reward: a [Grader] without one of the three gives no judgment.
//
// # Promises
//
// A verdict that is not there is nil with a status that says why, never 0. What a
// judge writes is parsed tolerantly and never guessed ([ParseVerdict]). Reference
// and truth reach no judge. A verifier's reason never quotes the reference.
// Everything here but a judge that waits is a function of the case alone: no
// clock, no randomness, no map order, no network.
//
// # Concurrency
//
// A [Grader], a [Marker], a [Verifier] and the builtin judges are safe for use by
// many goroutines. [Grader.Grade] never panics: a panic below it becomes a
// judgment of status error.
package grade
