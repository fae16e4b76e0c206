package grade

import (
	"iter"
	"slices"

	"assay/engine/record"
)

// Trial is what an expression would say of the rollouts of a run.
type Trial struct {
	Expr          string   `json:"expr"`
	N             int      `json:"n"` // rollouts that it was tried on
	OK            int      `json:"ok"`
	NotApplicable int      `json:"not_applicable"`
	Errors        int      `json:"errors"`
	Mean          *float64 `json:"mean"` // of those ok; null for none
	Lowest        *float64 `json:"lowest"`
	Highest       *float64 `json:"highest"`
	// Values counts the values, most frequent first; at most ten of them.
	Values     []ValueCount `json:"values"`
	FirstError string       `json:"first_error,omitempty"`
	// Constant says that it never varied: as a metric it can show no change.
	Constant bool `json:"constant"`
}

// ValueCount is one value and how many rollouts have it.
type ValueCount struct {
	Value    float64  `json:"value"`
	N        int      `json:"n"`
	Rollouts []string `json:"rollouts"` // ids of the first three
}

// maxTrialValues is how many distinct values a trial lists.
const maxTrialValues = 10

// Try compiles an expression and runs it on cases without keeping anything. Cases
// whose rollout is not done are passed over, as grading does. The error is an
// [*ExprError], or that of the sequence.
func Try(source string, cases iter.Seq2[Case, error]) (Trial, error) {
	trial := Trial{Expr: source, Values: []ValueCount{}}
	m, err := CompileMarker("try", source)
	if err != nil {
		return trial, err
	}
	var t trace
	var f *frame
	e := newEvaluator()
	counts := map[float64]*ValueCount{}
	sum := 0.0
	for c, err := range cases {
		if err != nil {
			return trial, err
		}
		if c.Rollout == nil || c.Rollout.Status != record.StatusDone {
			continue
		}
		trial.N++
		if tools := c.tools(); f == nil || f.prompt != c.SystemPrompt || !sameTools(f.tools, tools) {
			f = newFrame(c.SystemPrompt, tools)
		}
		t.build(&c, f)
		e.hold(&t, m.uses)
		value, ok, err := m.run(e)
		switch {
		case err != nil:
			trial.Errors++
			if trial.FirstError == "" {
				trial.FirstError = err.Error()
			}
		case !ok:
			trial.NotApplicable++
		default:
			trial.OK++
			sum += value
			trial.count(counts, value, c.Rollout.ID)
		}
	}
	trial.finish(counts, sum)
	return trial, nil
}

func (t *Trial) count(counts map[float64]*ValueCount, value float64, id string) {
	vc := counts[value]
	if vc == nil {
		vc = &ValueCount{Value: value}
		counts[value] = vc
	}
	vc.N++
	if len(vc.Rollouts) < 3 {
		vc.Rollouts = append(vc.Rollouts, id)
	}
	if t.Lowest == nil || value < *t.Lowest {
		t.Lowest = &value
	}
	if t.Highest == nil || value > *t.Highest {
		t.Highest = &value
	}
}

func (t *Trial) finish(counts map[float64]*ValueCount, sum float64) {
	if t.OK == 0 {
		return
	}
	mean := sum / float64(t.OK)
	t.Mean, t.Constant = &mean, len(counts) == 1
	for _, vc := range counts {
		t.Values = append(t.Values, *vc)
	}
	slices.SortFunc(t.Values, func(a, b ValueCount) int {
		switch {
		case a.N != b.N:
			return b.N - a.N
		case a.Value < b.Value:
			return -1
		case a.Value > b.Value:
			return 1
		}
		return 0
	})
	t.Values = t.Values[:min(len(t.Values), maxTrialValues)]
}
