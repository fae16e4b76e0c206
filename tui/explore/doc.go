// Package explore is the screen that finds what fails and why: the rollouts of a
// run kept by a filter, as a list, as tasks with the verdicts on their attempts,
// as groups, or as a map of two axes; and each rollout as a transcript, alone or
// beside a sibling with the step marked where the two part.
//
// The screen keeps no truth of its own: a filter is asked of the store, which
// gives the places of the rollouts in its file, and what is in sight is read by
// page. Reading is done in commands. A scan that is not wanted any more is
// cancelled; answers carry what they answer and are dropped when they are
// outdated.
//
// A Model belongs to the goroutine that runs the Bubble Tea loop.
package explore
