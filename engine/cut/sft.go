package cut

import (
	"fmt"
	"slices"
	"strings"

	"assay/engine/record"
)

// sft keeps passes, of each task one per behaviour before any behaviour comes again.
func (s *sieve) sft() {
	s.duplicates()
	s.truncated()
	s.gate("failing", func(c *candidate) string {
		if !c.pass {
			return fmt.Sprintf("reward %.3g is under %.3g", c.reward, s.options.PassThreshold)
		}
		return ""
	})
	s.perTask()
	for _, c := range s.rows {
		s.selection.Rows = append(s.selection.Rows, c.row(s.options))
	}
	s.selection.RowsOut = len(s.rows)
	if s.options.Pick == PickBest && s.options.PerTask > 0 && equalRewards(s.rows) {
		s.selection.warnf("best_is_any", "compare with pick: random", "every pass has one reward, so the best of k is any pass: the pick changes nothing beyond the pass filter")
	}
}

// perTask orders each task's passes and, where a task may give only so many, drops the
// rest.
func (s *sieve) perTask() {
	within := map[*candidate]bool{}
	var ordered []*candidate
	for _, group := range s.tasks() {
		for i, c := range s.byBehaviour(group) {
			ordered = append(ordered, c)
			within[c] = s.options.PerTask == 0 || i < s.options.PerTask
		}
	}
	s.rows = ordered
	s.gate("per_task", func(c *candidate) string {
		if !within[c] {
			return fmt.Sprintf("its task has given %d", s.options.PerTask)
		}
		return ""
	})
}

// byBehaviour sorts the passes of one task: a first row of each behaviour, then a second
// of each, and so on; within a round the better or the luckier first.
func (s *sieve) byBehaviour(group []*candidate) []*candidate {
	sorted := slices.Clone(group)
	slices.SortFunc(sorted, s.prefer)
	seen, round := map[string]int{}, make(map[*candidate]int, len(sorted))
	for _, c := range sorted {
		behaviour := behaviourOf(c.sample)
		round[c] = seen[behaviour]
		seen[behaviour]++
	}
	slices.SortStableFunc(sorted, func(a, b *candidate) int { return round[a] - round[b] })
	return sorted
}

// prefer orders rows by reward, equals and a random pick by their own hash.
func (s *sieve) prefer(a, b *candidate) int {
	if s.options.Pick == PickBest && a.reward != b.reward {
		if a.reward > b.reward {
			return -1
		}
		return 1
	}
	x, y := s.rank(a), s.rank(b)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return a.sample.Rollout.Key.Compare(b.sample.Rollout.Key)
}

func (s *sieve) rank(c *candidate) uint64 {
	key := &c.sample.Rollout.Key
	return record.Rank("cut", s.options.Seed, key.TaskID, key.EvalRun, key.K)
}

// behaviourOf is what the agent did: its signature, or where a rollout has none the
// tools it called in order.
func behaviourOf(s *record.Sample) string {
	if s.Rollout.Behavior != "" {
		return s.Rollout.Behavior
	}
	var b strings.Builder
	for i := range s.Rollout.Steps {
		if step := &s.Rollout.Steps[i]; step.Kind == record.StepTool {
			fmt.Fprintf(&b, "%s %t\n", step.Tool, step.IsError)
		}
	}
	return b.String()
}

func equalRewards(rows []*candidate) bool {
	for _, c := range rows {
		if c.reward != rows[0].reward {
			return false
		}
	}
	return len(rows) > 0
}
