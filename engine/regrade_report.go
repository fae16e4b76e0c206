package engine

import (
	"context"
	"fmt"

	"assay/engine/grade"
	"assay/engine/record"
	"assay/engine/stats"
)

// report sums up the run under the scorer version.
func (r *regrade) report(ctx context.Context) (*GradeReport, error) {
	out := &GradeReport{Run: r.run.ID, Scorer: r.scorer, Graded: r.graded, Status: r.status,
		Judged: r.standing.Judged, Done: r.standing.Done, Own: r.standing.Own, Warnings: []record.Warning{}}
	var tally grade.Tally
	var mean rewardMean
	for s, err := range r.engine.Source.Samples(ctx, r.run.ID, record.SampleQuery{Scorer: r.scorer}) {
		if err != nil {
			return nil, err
		}
		if s.Judgment != nil {
			tally.Add(s.Judgment, r.run.PassThreshold)
		}
		mean.add(s)
	}
	out.Reward = mean.estimate(r.scorer)
	out.Partial = tally.Partial
	out.Warnings = append(out.Warnings, tally.Warnings(r.run.ID)...)
	if !out.Own {
		out.Warnings = append(out.Warnings, record.Warning{Code: "partial_regrade", Text: fmt.Sprintf("%d of %d rollouts are judged by %s: until all are, the run's reward stays that of %s", out.Judged, out.Done, r.scorer, r.run.Scorer), Fix: "grade it again when the run has ended"})
	}
	out.Warnings = append(out.Warnings, familyWarnings(r.run, r.plan.grader.Scorers(), r.scorer)...)
	return out, nil
}

// rewardMean is the mean over tasks of their mean rewards, with the situations as units.
// The zero value is empty.
type rewardMean struct {
	tasks []taskReward // in the order in which they came
	index map[string]int
}

type taskReward struct {
	unit   string
	sum, n float64
}

// add counts a rollout that has a reward.
func (m *rewardMean) add(s *record.Sample) {
	reward := s.Reward()
	if reward == nil {
		return
	}
	at, seen := m.index[s.Task.ID]
	if !seen {
		if m.index == nil {
			m.index = map[string]int{}
		}
		at = len(m.tasks)
		m.index[s.Task.ID] = at
		m.tasks = append(m.tasks, taskReward{unit: s.Task.SituationID})
	}
	m.tasks[at].sum += *reward
	m.tasks[at].n++
}

// The interval of a mean reward, as everywhere: 2,000 draws over units.
const (
	rewardInterval = stats.Expanded
	intervalDraws  = 2000
)

// estimate is the mean with its interval, whose draws are named by the scorer version.
func (m *rewardMean) estimate(scorer string) stats.Estimate {
	var units []stats.Unit
	index := map[string]int{}
	for _, t := range m.tasks {
		at, seen := index[t.unit]
		if !seen {
			at = len(units)
			index[t.unit] = at
			units = append(units, stats.Unit{})
		}
		units[at].Sum += t.sum / t.n
		units[at].Size++
	}
	lo, hi, _ := stats.MeanInterval(units, rewardInterval, 0.95, intervalDraws, record.Stream("reward", scorer))
	return stats.NewEstimate(stats.UnitMean(units), max(0, lo), min(1, hi), len(m.tasks)) // a reward lies in 0 to 1
}
