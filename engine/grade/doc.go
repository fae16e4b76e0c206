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
//   - The reward, from one of a marker, a [Verifier] or a [Judge]: a program, a
//     function, or a model with a rubric over any [Chat] ([RubricJudge]). Conduct alone
//     is no reward: a [Grader] without one of the three gives no judgment.
//
// And what grades the grader: [Trust] holds a judge against gold, [Probe] tries the hacks
// that a policy finds first, [Rejudge] asks again, [JudgePair] asks in both orders,
// [CompareJudges] and [Best] tell several apart, and [DrawQueue] draws what people label.
// What the trust rule errs is in the documentation of package stats: a judge just below a
// floor is ever trusted in 4% of samples at the worst, where the bar is 5%.
//
// # Promises
//
// A verdict that is not there is nil with a status that says why, never 0. What a
// judge writes is parsed tolerantly and never guessed ([ParseVerdict]). Reference
// and truth reach no judge. A verifier's reason never quotes the reference, nor the
// output of tests. Everything here but a judge that waits and code that runs is a function
// of the case alone: no clock, no randomness, no map order, no network.
//
// Code of a reply runs confined, or not at all: [Guards] says what this system keeps it
// from, and a verifier of kind code is refused where a guard is missing, unless the recipe
// goes without by name. Its folder and its processes are gone when the check returns.
//
// # Concurrency
//
// A [Grader], a [Marker], a [Verifier] and the builtin judges are safe for use by
// many goroutines. [Grader.Grade] never panics: a panic below it becomes a
// judgment of status error.
package grade
