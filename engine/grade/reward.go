package grade

import (
	"context"
	"fmt"
	"strconv"

	"assay/engine/record"
)

// markerReward takes the reward from one of the user's markers.
type markerReward struct {
	at   int // among the grader's markers
	name string
}

func (r *markerReward) judge(_ context.Context, g *Grader, _ *worker, markers []record.Marker) (record.Judgment, []record.Marker) {
	m := &markers[len(markers)-len(g.markers)+r.at]
	switch {
	case m.Status == record.MarkerError:
		return record.Judgment{Status: record.JudgeError, Reason: record.Text(r.name+": ") + m.Note}, nil
	case m.Value == nil:
		return record.Judgment{Status: record.JudgeMissingReward, Reason: record.Text(r.name + " does not apply")}, nil
	case *m.Value < 0 || *m.Value > 1:
		return record.Judgment{Status: record.JudgeInvalidResult, Reason: record.Text(fmt.Sprintf("%s is %v, and a reward lies in 0..1", r.name, *m.Value))}, nil
	}
	reward := *m.Value
	return record.Judgment{Status: record.JudgeOK, Reward: &reward, Reason: record.Text(r.name + " = " + strconv.FormatFloat(reward, 'g', 6, 64))}, nil
}

// verifierReward takes it from a program that checks the reply.
type verifierReward struct{ v *Verifier }

func (r *verifierReward) judge(ctx context.Context, _ *Grader, w *worker, _ []record.Marker) (record.Judgment, []record.Marker) {
	c := w.trace.c
	var reference []byte
	if c.Task != nil {
		reference = c.Task.Reference
	}
	reward, status, reason := r.v.Verify(ctx, c.Rollout.FinalText, reference)
	return record.Judgment{Status: status, Reward: reward, Reason: record.Text(reason)}, nil
}

// judgeReward takes it from a judge.
type judgeReward struct{ cfg JudgeConfig }

func (r *judgeReward) judge(ctx context.Context, g *Grader, w *worker, _ []record.Marker) (record.Judgment, []record.Marker) {
	a, err := r.cfg.ask(ctx, w.trace.c)
	if err != nil {
		return record.Judgment{Status: statusOf(err), Reason: record.Text(err.Error()), Raw: kept(a.raw), Cut: a.cut}, nil
	}
	j := record.Judgment{Status: a.Status, Reward: a.Reward, Reason: a.Reason, FailureClass: a.FailureClass,
		Criteria: a.Criteria, Raw: kept(a.raw), Meta: a.Meta, Cut: a.cut}
	return j, judgeMarkers(g, w.trace.c.Rollout.ID, a.Markers)
}

// kept is a judge's reply as it is stored: whole, or the beginning of one that was
// too long to be read.
func kept(raw []byte) record.Text {
	const beginning = 4096
	if len(raw) > maxVerdict {
		return record.Text(raw[:beginning]) + "…"
	}
	return record.Text(raw)
}

// judgeMarkers are the markers that came with a verdict. A name that the run uses
// already is kept apart under "judge.", so that no judge overwrites a rule.
func judgeMarkers(g *Grader, rolloutID string, values []NamedValue) []record.Marker {
	out := make([]record.Marker, 0, len(values))
	for _, v := range values {
		name := v.Name
		if checkMarkerName(name) != nil || g.hasMarker(name) {
			name = "judge." + name
		}
		m := record.Marker{RolloutID: rolloutID, Scorer: g.rewardID, Name: name, Value: v.Value, Status: record.MarkerOK}
		if v.Value == nil {
			m.Status = record.MarkerNotApplicable
		}
		out = append(out, m)
	}
	return out
}

func (g *Grader) hasMarker(name string) bool {
	for _, m := range g.markers {
		if m.Name == name {
			return true
		}
	}
	return false
}
