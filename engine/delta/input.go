package delta

import (
	"slices"
	"strings"

	"assay/engine/record"
)

// PassAt1 is the name of the reward's metric.
const PassAt1 = "pass_at_1"

// Side is one of the two runs.
type Side struct {
	Run *record.Run // required
	// Samples are the run's done and lost rollouts, with the judgments of Scorer.
	Samples []record.Sample
	// Scorer is the scorer version of those judgments, "" where there is no reward. Both
	// sides must have the same; see [CommonScorer].
	Scorer string
	// Conditions are what must be equal for a comparison beside what the rollouts say:
	// the versions of the world and of the user's prompt, by a name for people.
	Conditions map[string]string
	// Model names the agent's weights, checkpoint included, "" where it has none;
	// TrainingSeeds are the distinct seeds that it was trained with, as its recipes
	// declare them.
	Model         string
	TrainingSeeds []string
}

// Input is a comparison to make.
type Input struct {
	Before, After Side
	// Target is the metric the change was made for, "" for pass_at_1.
	Target string
	// MustNotRegress names guards; LowerIsBetter names metrics whose fall is good.
	MustNotRegress, LowerIsBetter []string
	// Proxy is the metric that was trained on, where that is not the target.
	Proxy string
	// By names the fields to slice the target by, with commas between: an axis, fault,
	// arm, origin or writer. "" is tool, stance and fault.
	By string
	// AllTasks adds training tasks; of an rl run's only the probes.
	AllTasks bool
	// Trained holds the tasks that went into a training file: left out on both sides.
	Trained map[string]bool
}

// Grading says which scorer versions could serve one side.
type Grading struct {
	Own string // the run's own scorer version
	// Complete are the versions under which every done rollout has its judgment.
	Complete []string
}

// CommonScorer is the one scorer version to compare under: after's if before is
// complete in it, else before's if after is. ok is false where neither holds.
func CommonScorer(before, after Grading) (scorer string, ok bool) {
	switch {
	case before.Own == after.Own:
		return after.Own, true
	case after.Own != "" && slices.Contains(before.Complete, after.Own):
		return after.Own, true
	case before.Own != "" && slices.Contains(after.Complete, before.Own):
		return before.Own, true
	}
	return "", false
}

// plan is an input with its defaults filled in and its names checked.
type plan struct {
	target, proxy string
	guards, lower map[string]bool
	by            []string
}

// defaultSlices are the fields that most often tell failures apart. Convention.
const defaultSlices = "tool,stance,fault"

// newPlan checks every name against what either side has.
func newPlan(in *Input, known []string) (plan, error) {
	p := plan{target: in.Target, proxy: in.Proxy, guards: map[string]bool{}, lower: map[string]bool{}}
	if p.target == "" {
		p.target = PassAt1
	}
	check := func(use, name string) error {
		if name == PassAt1 || slices.Contains(known, name) {
			return nil
		}
		return record.Problemf("unknown_metric", "name one of "+strings.Join(append([]string{PassAt1}, known...), ", "),
			"%s names %q, which neither run has", use, name)
	}
	if err := check("target", p.target); err != nil {
		return p, err
	}
	if p.proxy != "" {
		if err := check("proxy", p.proxy); err != nil {
			return p, err
		}
	}
	for _, name := range in.MustNotRegress {
		if err := check("must_not_regress", name); err != nil {
			return p, err
		}
		p.guards[name] = true
	}
	for _, name := range in.LowerIsBetter {
		if err := check("lower_is_better", name); err != nil {
			return p, err
		}
		p.lower[name] = true
	}
	by := in.By
	if by == "" {
		by = defaultSlices
	}
	for field := range strings.SplitSeq(by, ",") {
		field = strings.TrimSpace(field)
		if _, ok := sliceFields[field]; !ok {
			return p, record.Problemf("unknown_field", "slice by one of "+strings.Join(SliceFields(), ", "), "by names %q, which is no field of a task", field)
		}
		p.by = append(p.by, field)
	}
	return p, nil
}

// good is the sign that makes a change of the metric good when positive.
func (p *plan) good(metric string) float64 {
	if p.lower[metric] {
		return -1
	}
	return 1
}

// markerNames are the markers of both sides, sorted.
func markerNames(in *Input) []string {
	seen := map[string]bool{}
	for _, side := range []*Side{&in.Before, &in.After} {
		for i := range side.Samples {
			for j := range side.Samples[i].Markers {
				seen[side.Samples[i].Markers[j].Name] = true
			}
		}
	}
	names := make([]string, 0, len(seen))
	for name := range seen {
		if name != PassAt1 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
