// Package cut is the seventh step: it selects training rows from graded rollouts,
// one gate after the other, and says what each gate dropped and why.
//
// Nothing of a held-out task, and nothing of a run in eval mode, is ever selected.
// A selection is a function of the samples alone: it does not depend on their
// order, and one row never decides whether an unrelated one is kept. The package
// writes no file; store/exchange does. Functions are pure and safe for concurrent
// use; what they are given is not written to.
package cut
