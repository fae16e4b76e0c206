package cut

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/engine/record"
)

// probes is how many rollouts of a group an rl run makes before it looks at their
// grades and may stop. Which groups go on depends on them, so they train none.
const probes = 2

func (s *sieve) probe(c *candidate) bool {
	return s.options.Mode == record.ModeRL && c.sample.Rollout.Key.K < probes
}

// grpo keeps whole groups whose pass rate lies in the band.
func (s *sieve) grpo() {
	s.gate("probes", func(c *candidate) string {
		if s.probe(c) {
			return "a probe: whether its group went on depends on it"
		}
		return ""
	})
	s.truncated()
	groups := map[string]*Group{}
	for _, rows := range s.tasks() {
		g := s.group(rows)
		groups[g.TaskID] = g
	}
	policies := s.policies()
	s.groupGate("mixed_policy", groups, func(g *Group) string {
		if n := policies[g.TaskID]; n > 1 {
			return fmt.Sprintf("its rollouts are of %d policy versions", n)
		}
		return ""
	})
	s.groupGate("too_small", groups, func(g *Group) string {
		if len(g.Rows) < 2 {
			return "a group of one compares with nothing"
		}
		return ""
	})
	s.groupGate("unanimous", groups, func(g *Group) string {
		switch {
		case g.PassRate == 0:
			return "every rollout fails"
		case g.PassRate == 1:
			return "every rollout passes"
		case g.Std == 0:
			return "every rollout that is left has one reward"
		}
		return ""
	})
	s.groupGate("out_of_band", groups, func(g *Group) string {
		if g.PassRate < s.options.Band[0] || g.PassRate > s.options.Band[1] {
			return fmt.Sprintf("pass rate %.2f is outside %.2f..%.2f", g.PassRate, s.options.Band[0], s.options.Band[1])
		}
		return ""
	})
	for _, rows := range s.tasks() {
		s.selection.Groups = append(s.selection.Groups, *groups[rows[0].sample.Task.ID])
	}
	slices.SortStableFunc(s.selection.Groups, func(a, b Group) int {
		if c := cmp.Compare(spread(b), spread(a)); c != 0 {
			return c
		}
		return strings.Compare(a.TaskID, b.TaskID)
	})
	s.selection.RowsOut = len(s.rows)
	s.selection.warnf("gate_skipped", "", "equal rollouts of one task stay in: a group is kept whole, its mean and spread being what a reward is measured against")
}

// spread is a group's Std in billionths: spreads that are equal but for their last bits
// sort as equal.
func spread(g Group) float64 { return math.Round(g.Std * 1e9) }

func (s *sieve) group(rows []*candidate) *Group {
	g := &Group{TaskID: rows[0].sample.Task.ID, PassRate: s.rates[rows[0].sample.Task.ID], PolicyVersion: rows[0].sample.Rollout.PolicyVersion}
	for _, c := range rows {
		g.Rows = append(g.Rows, c.row(s.options))
		g.Mean += c.reward
	}
	n := float64(len(rows))
	g.Mean /= n
	for _, c := range rows {
		g.Std += (c.reward - g.Mean) * (c.reward - g.Mean)
	}
	g.Std = math.Sqrt(g.Std / n)
	return g
}

// policies counts the policy versions of each task's rollouts.
func (s *sieve) policies() map[string]int {
	counts := map[string]int{}
	for _, rows := range s.tasks() {
		versions := map[string]bool{}
		for _, c := range rows {
			versions[c.sample.Rollout.PolicyVersion] = true
		}
		counts[rows[0].sample.Task.ID] = len(versions)
	}
	return counts
}

// groupGate keeps or drops groups whole; it counts rows and names tasks.
func (s *sieve) groupGate(name string, groups map[string]*Group, drop func(*Group) string) {
	task := func(c *candidate) string { return c.sample.Task.ID }
	s.sift(name, task, func(c *candidate) string { return drop(groups[task(c)]) })
}
