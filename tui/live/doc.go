// Package live is the screen of a story on its way, and of one that has ended:
// its rollouts as they come, the selected one as a transcript, what it comes to
// so far, and the delta when it is there.
//
// The screen keeps no truth of its own. What is committed it reads from the
// store; what is in flight it hears as [News], at most once a frame. Reading is
// done in commands that carry a generation; an answer to an older question is
// dropped, and one question of each kind is on its way at a time, so a slow disk
// makes the screen late, never stuck.
//
// A Model belongs to the goroutine that runs the Bubble Tea loop.
package live
