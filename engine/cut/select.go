package cut

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"assay/engine/record"
)

// candidate is a rollout on its way through the gates.
type candidate struct {
	sample *record.Sample
	// measured is the reward as graded, reward what is left of it.
	measured, reward float64
	pass             bool // by the measured reward
}

func (c *candidate) name() string { return c.sample.Rollout.Key.String() }

func (c *candidate) row(o *Options) Row {
	return Row{Sample: c.sample, Reward: c.reward, Loss: o.Loss}
}

// Select cuts a training set from samples of one run. The error wraps [ErrEmpty] where
// nothing is left, and the selection then still says what every gate took; any other
// error is a bad option.
func Select(target Target, samples []record.Sample, o Options) (*Selection, error) {
	if !slices.Contains(Targets(), target) {
		return nil, record.Problemf("bad_option", "use one of sft, dpo, grpo, rm", "%q is nothing to cut for", target)
	}
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	s := &sieve{options: &o, selection: &Selection{For: target, RowsIn: len(samples), Warnings: []record.Warning{}}}
	s.enter(samples)
	s.common()
	s.tiers()
	switch target {
	case SFT:
		s.sft()
	case DPO:
		s.dpo()
	case GRPO:
		s.grpo()
	case RM:
		s.rm()
	}
	if s.selection.RowsOut == 0 {
		return s.selection, s.selection.empty()
	}
	return s.selection, nil
}

// sieve holds the rows that are still in.
type sieve struct {
	options   *Options
	selection *Selection
	rows      []*candidate // ordered by task, eval run and k
	// rates are the pass rates of the tasks as graded, before anything is pruned.
	rates map[string]float64
}

func (s *sieve) enter(samples []record.Sample) {
	for i := range samples {
		s.rows = append(s.rows, &candidate{sample: &samples[i]})
	}
	slices.SortFunc(s.rows, func(a, b *candidate) int {
		x, y := &a.sample.Rollout.Key, &b.sample.Rollout.Key
		if c := strings.Compare(x.TaskID, y.TaskID); c != 0 {
			return c
		}
		return x.Compare(*y)
	})
}

// examplesShown is how many dropped rows a gate names. Convention.
const examplesShown = 3

// gate keeps the rows of which drop says nothing.
func (s *sieve) gate(name string, drop func(*candidate) (why string)) {
	s.sift(name, (*candidate).name, drop)
}

// sift is gate with the name that an example goes by; rows of one name are one example.
func (s *sieve) sift(name string, label, drop func(*candidate) string) {
	g := Gate{Name: name, In: len(s.rows), Examples: []string{}}
	kept, last := s.rows[:0:0], ""
	for _, c := range s.rows {
		why := drop(c)
		if why == "" {
			kept = append(kept, c)
			continue
		}
		s.selection.Dropped = append(s.selection.Dropped, Dropped{Sample: c.sample, Gate: len(s.selection.Gates), Why: why})
		if l := label(c); l != last && len(g.Examples) < examplesShown {
			g.Examples, last = append(g.Examples, l+": "+why), l
		}
	}
	s.rows, g.Out = kept, len(kept)
	s.selection.Gates = append(s.selection.Gates, g)
}

// tasks are the rows by task, in the order of the tasks.
func (s *sieve) tasks() [][]*candidate {
	var groups [][]*candidate
	for i, c := range s.rows {
		if i == 0 || c.sample.Task.ID != s.rows[i-1].sample.Task.ID {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], c)
	}
	return groups
}

// common are the gates of every target.
func (s *sieve) common() {
	s.gate("privileged_leak", quotesPrivileged)
	s.gate("eval_set", func(c *candidate) string {
		switch {
		case s.options.Mode == record.ModeEval:
			return "rollouts of an eval run are never trained on"
		case c.sample.HeldOut:
			return "its task is held out"
		}
		return ""
	})
	s.gate("unusable_label", s.label)
	s.rates = s.passRates()
	s.gate("junk", junk)
	s.contamination()
}

// label reads the reward, and drops a row that has none to be used.
func (s *sieve) label(c *candidate) string {
	o := &c.sample.Outcome
	switch {
	case o.Rollout.Status != record.StatusDone:
		return "the rollout is " + string(o.Rollout.Status)
	case o.Judgment == nil:
		return "not graded"
	case o.Judgment.Status != record.JudgeOK:
		return "judge status " + string(o.Judgment.Status)
	case o.Judgment.Reward == nil:
		return "no reward"
	case math.IsNaN(*o.Judgment.Reward) || math.IsInf(*o.Judgment.Reward, 0):
		return fmt.Sprintf("reward %g", *o.Judgment.Reward)
	}
	c.measured = *o.Judgment.Reward
	c.reward, c.pass = c.measured, c.measured >= s.options.PassThreshold
	return ""
}

// truncated drops, keeps or penalises replies that ran into their length limit.
func (s *sieve) truncated() {
	s.gate("truncated", func(c *candidate) string {
		if c.sample.Rollout.FinishReason != record.FinishLength {
			return ""
		}
		switch s.options.Truncated {
		case TruncatedPenalise:
			c.reward *= penalty
			c.pass = c.reward >= s.options.PassThreshold
		case TruncatedDrop:
			return "the reply ran into its length limit"
		}
		return ""
	})
}

// duplicates drops what a rollout of the same task did and said before, word for word.
// Equal rollouts of other tasks stay.
func (s *sieve) duplicates() {
	first := map[string]*candidate{}
	s.gate("duplicates", func(c *candidate) string {
		id := record.Identity("trace", struct {
			Task  string        `json:"task"`
			Steps []record.Step `json:"steps"`
			Final record.Text   `json:"final"`
		}{c.sample.Task.ID, c.sample.Rollout.Steps, c.sample.Rollout.FinalText})
		if was := first[id]; was != nil {
			return "the same as " + was.name()
		}
		first[id] = c
		return ""
	})
}

// passRates are each task's pass rate over the rollouts that its group is made of, as
// they were graded.
func (s *sieve) passRates() map[string]float64 {
	graded, passed := map[string]int{}, map[string]int{}
	for _, c := range s.rows {
		if s.probe(c) && s.selection.For == GRPO {
			continue
		}
		graded[c.sample.Task.ID]++
		if c.pass {
			passed[c.sample.Task.ID]++
		}
	}
	rates := make(map[string]float64, len(graded))
	for _, task := range slices.Sorted(maps.Keys(graded)) {
		rates[task] = float64(passed[task]) / float64(graded[task])
		s.selection.Rates = append(s.selection.Rates, TaskRate{TaskID: task, Rate: rates[task], Graded: graded[task]})
	}
	return rates
}

func (s *sieve) tiers() {
	tiers := []Tier{{Name: TierFloor}, {Name: TierFrontier}, {Name: TierSolved}}
	for _, rate := range s.rates {
		switch {
		case rate < s.options.Band[0]:
			tiers[0].Tasks++
		case rate <= s.options.Band[1]:
			tiers[1].Tasks++
		default:
			tiers[2].Tasks++
		}
	}
	s.selection.Tiers, s.selection.Band = tiers, s.options.Band
}

// rm keeps every graded rollout with its score.
func (s *sieve) rm() {
	s.duplicates()
	s.truncated()
	for _, c := range s.rows {
		s.selection.Rows = append(s.selection.Rows, c.row(s.options))
	}
	s.selection.RowsOut = len(s.rows)
}
