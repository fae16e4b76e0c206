// Package cut is the seventh step: it selects training rows from graded rollouts, one
// gate after the other, and says what each gate dropped and why.
//
// Nothing of a held-out task, and nothing of a run in eval mode, is ever selected. A
// selection is a function of the samples alone: their order does not matter, and what is
// drawn at random is drawn by a row's own hash, so that one row never moves an unrelated
// one. The package writes no file; store/exchange does. Functions are pure and safe for
// concurrent use; what they are given is not written to.
//
// # Gates
//
// For every target, in this order: privileged_leak, eval_set, unusable_label, junk,
// contamination. Then duplicates and truncated (for groups truncated alone, since a
// group is kept whole). Then, by target:
//
//	sft   failing, per_task
//	dpo   no_contrast, margin, length, unpaired
//	grpo  probes, mixed_policy, too_small, unanimous, out_of_band
//	rm    nothing more
//
// A group's pass rate is measured on its graded rollouts before anything is pruned from
// it, so that pruning cannot move a task into the band.
package cut
