// Package judge is the screen that says whether a run's judge can be trusted: the
// trust report as a page, with every floor beside the number that is held against
// it, probes that open row by row, and the rollouts on which judge and gold differ
// as a queue to read, each with the judge's reason and the labels given by hand.
//
// The page is the last report that was saved. Measuring again is an act of its own,
// because it is a look at the half of gold that rubrics are not tuned on, and looks
// are counted.
//
// A Model belongs to the goroutine that runs the Bubble Tea loop.
package judge
