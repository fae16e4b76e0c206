// Package stats holds the intervals, tests and estimators that the rest of the
// program states its numbers with.
//
// Every function is pure: no clock, no environment, no package state; a random
// draw comes only from the generator that the caller passes in, so equal inputs
// give equal text. All are safe for concurrent use as long as the generators are
// not shared. Nothing of the project is imported.
//
// The formulas are the published ones and each function names its source. Each is
// tested three ways: against published values, against a second implementation in
// the tests that shares no code, and by simulating a known truth.
//
// # What the trust rule errs
//
// [TrustPlan] may call a judge TRUSTED that is not: that is its error. Over 120 judges just
// below a floor (24 shares of gold that passes, from 0.04 to 0.96, by five ways to split
// the judge's errors into false passes and false failures), 2,000 samples each, the worst
// judge is trusted in
//
//	rows of a task                    watched   at the last look   at one look
//	one                               3.65%     2.10%              3.70%
//	two, alike in half of the tasks   2.65%     1.75%              3.45%
//	two, always alike                 3.35%     2.25%              3.85%
//	four, alike in half of the tasks  1.80%     1.55%              3.40%
//	four, always alike                2.55%     2.05%              4.00%
//	ten, alike in three of four       0.00%     0.00%              2.15%
//
// of samples: watched by somebody who acts on the first look that says so, at the look at
// 200 by somebody who did not watch, and at one look fixed before, the worst of 50, 100 and
// 200 labels. The bar is 5%; a figure's own Monte Carlo error is 0.4 points. Judges that are right 95, 98 and 99 times in 100 where half of
// gold passes are trusted at the first look in 74%, 97% and all of 500 samples.
// TestTrustRuleError holds judges near the worst in every test run, TestTrustRuleErrorExact one
// look exactly, BenchmarkTrustRuleError makes the table.
//
// # What a corrected rate is worth
//
// [CorrectedRate] at 95%, 2,000 samples of one row a task, labels drawn at random:
//
//	judge                        gold passes   labels of tasks   covers   width of gold's   judge alone covers
//	good: right 95 in 100        0.50          50 of 300         0.97     0.62              0.96
//	                             0.80          50 of 300         0.97     0.67              0.74
//	                             0.80          100 of 2,000      0.95     0.58              0.10
//	                             0.95          50 of 300         0.95     0.82              0.12
//	                             0.95          100 of 2,000      0.93     0.77              0.00
//	bad: passes half of failures 0.50          50 of 300         0.96     0.88              0.00
//	                             0.80          100 of 2,000      0.95     0.82              0.00
//	                             0.95          50 of 300         0.97     0.88              0.95
//	useless: a coin              0.50          50 of 300         0.97     1.00              0.96
//	                             0.80          50 of 300         0.94     1.00              0.00
//
// It helps where the judge is good and most rows have no label; it costs nothing where the
// judge is useless; it does not help where most rows are labelled, and little where gold
// hardly varies. That the judge alone covers is luck: its errors both ways happen to cancel.
// Coverage is promised where gold's failures and passes both show among the labels. Where 95 in
// 100 pass and 2,000 tasks rest on few labels it is not: of a good judge the interval covers
// 0.90 at 30 labels, 0.91 at 50, 0.93 at 100, 0.94 at 200, as most samples have not seen
// the judge's rare errors in their proportion. BenchmarkCorrectedRateCovers makes the table,
// TestCorrectedRateCovers and TestCorrectedDeltaCovers hold it for judges good, bad and
// useless and for one that is fooled more after a change than before.
package stats
