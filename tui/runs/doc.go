// Package runs is the first screen: all runs, newest first, and, where there is
// none yet or a new one is wanted, the recipes that can run on this machine.
//
// It reads the list from the store when it opens and when it is told that
// something changed; pass rates, which cost some work each, are read one by one
// for the runs in sight. A Model belongs to the goroutine that runs the Bubble
// Tea loop.
package runs
