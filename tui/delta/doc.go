// Package delta is the screen of a comparison: two runs are chosen, or come with one;
// the report with its headline, what makes it so, and every metric's interval against
// zero and the noise; behind a metric or a slice its tasks, as queues of those that
// regressed, improved and are unstable; behind a task two of its rollouts side by side.
//
// The report of a story is shown as it was saved. One that is made here answers the
// question that is asked here (another target, guards, all tasks), and is shown as
// that; undo goes back. Comparing and reading tasks take time and are commands; asking
// anew cancels what is on its way, and an outdated answer is dropped.
//
// A Model belongs to the goroutine that runs the Bubble Tea loop.
package delta
