package cut

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"assay/engine/record"
)

// longerShare is from what share of pairs with a longer chosen side on length itself is
// being taught. Convention.
const longerShare = 0.75

// dpo pairs a pass with a failure of the same task and policy version, each rollout in
// at most one pair, those of like length together.
func (s *sieve) dpo() {
	s.duplicates()
	s.truncated()
	s.contrast()
	s.partnered("margin", fmt.Sprintf("no partner whose reward differs by %.3g", s.options.Margin), s.differ)
	s.partnered("length", fmt.Sprintf("no such partner within %.3g times its length", s.options.LengthRatio), func(pass, fail *candidate) bool {
		return s.differ(pass, fail) && s.alike(pass, fail)
	})
	taken := map[*candidate]bool{}
	for _, group := range s.tasks() {
		for _, m := range s.match(group) {
			taken[m.pass], taken[m.fail] = true, true
			s.selection.Pairs = append(s.selection.Pairs, Pair{TaskID: m.pass.sample.Task.ID,
				Chosen: m.pass.row(s.options), Rejected: m.fail.row(s.options), Margin: m.pass.reward - m.fail.reward})
		}
	}
	s.gate("unpaired", func(c *candidate) string {
		if !taken[c] {
			return "its partners are all taken"
		}
		return ""
	})
	s.selection.RowsOut = len(s.rows)
	s.warnOfLength()
}

// differ is true for a pass and a failure of one policy version with enough between
// their rewards.
func (s *sieve) differ(pass, fail *candidate) bool {
	return pass.pass && !fail.pass && pass.sample.Rollout.PolicyVersion == fail.sample.Rollout.PolicyVersion &&
		pass.reward-fail.reward >= s.options.Margin
}

// alike is true where neither side is too long for the other.
func (s *sieve) alike(pass, fail *candidate) bool {
	return s.options.LengthRatio == 0 || math.Exp(apart(pass, fail)) <= s.options.LengthRatio
}

// apart is how many times longer one rollout is than the other, as a logarithm.
func apart(a, b *candidate) float64 {
	return math.Abs(math.Log(length(a.sample) / length(b.sample)))
}

// partnered drops rows without a partner of their task.
func (s *sieve) partnered(gate, why string, partners func(pass, fail *candidate) bool) {
	has := map[*candidate]bool{}
	for _, group := range s.tasks() {
		for _, pass := range group {
			for _, fail := range group {
				if partners(pass, fail) {
					has[pass], has[fail] = true, true
				}
			}
		}
	}
	s.gate(gate, func(c *candidate) string {
		if !has[c] {
			return why
		}
		return ""
	})
}

// contrast drops tasks that have no pass and failure of one policy version.
func (s *sieve) contrast() {
	type side struct{ pass, fail bool }
	sides := map[[2]string]side{}
	key := func(c *candidate) [2]string { return [2]string{c.sample.Task.ID, c.sample.Rollout.PolicyVersion} }
	for _, c := range s.rows {
		k := key(c)
		has := sides[k]
		has.pass, has.fail = has.pass || c.pass, has.fail || !c.pass
		sides[k] = has
	}
	task := func(c *candidate) string { return c.sample.Task.ID }
	s.sift("no_contrast", task, func(c *candidate) string {
		switch has := sides[key(c)]; {
		case !has.fail:
			return "no failure of its policy version to set against a pass"
		case !has.pass:
			return "no pass of its policy version"
		}
		return ""
	})
}

// match is a pass and a failure that make a pair.
type match struct {
	pass, fail *candidate
	apart      float64
}

// match pairs the rollouts of one task, the closest in length first.
func (s *sieve) match(group []*candidate) []match {
	var all []match
	for _, pass := range group {
		for _, fail := range group {
			if s.differ(pass, fail) && s.alike(pass, fail) {
				all = append(all, match{pass, fail, apart(pass, fail)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b match) int { return cmp.Compare(a.apart, b.apart) })
	taken := map[*candidate]bool{}
	return slices.DeleteFunc(all, func(m match) bool {
		if taken[m.pass] || taken[m.fail] {
			return true
		}
		taken[m.pass], taken[m.fail] = true, true
		return false
	})
}

// length is the characters that the agent said, 1 at least.
func length(s *record.Sample) float64 {
	n := utf8.RuneCountInString(string(s.Rollout.FinalText))
	for i := range s.Rollout.Steps {
		if step := &s.Rollout.Steps[i]; step.Kind == record.StepText {
			n += utf8.RuneCountInString(string(step.Text))
		}
	}
	return float64(max(1, n))
}

func (s *sieve) warnOfLength() {
	longer := 0
	for _, p := range s.selection.Pairs {
		if length(p.Chosen.Sample) > length(p.Rejected.Sample) {
			longer++
		}
	}
	if n := len(s.selection.Pairs); n > 0 && float64(longer) >= longerShare*float64(n) {
		s.selection.warnf("chosen_longer", "set a length ratio, or check that the judge does not pay for length", "the chosen side is the longer one in %d of %d pairs: training on them teaches length", longer, n)
	}
}
