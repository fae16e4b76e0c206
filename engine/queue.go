package engine

import (
	"context"
	"encoding/json"
	"slices"

	"assay/engine/grade"
	"assay/engine/record"
)

// QueueOptions say how a labelling queue is drawn.
type QueueOptions struct {
	Name  string      // "" is the order's
	Order grade.Order // "" is mixed
	Rows  int         // different rollouts; 0 is what the last look of trust needs
	// Listed are the rollouts of a listed queue, in its order; nil is all.
	Listed []string
}

// Queue gives the labelling queue of a name. It draws and saves it where the run has
// none of that name: a queue stays as it was drawn, so that its probabilities stay
// true. A run that is not finished has no queue yet.
func (e *Engine) Queue(ctx context.Context, runID string, o QueueOptions) (record.QueueHead, error) {
	if o.Order == "" {
		o.Order = grade.OrderMixed
	}
	if o.Name == "" {
		o.Name = string(o.Order)
	}
	run, err := e.Source.Run(ctx, runID)
	if err != nil {
		return record.QueueHead{}, err
	}
	if err := e.keepRubrics(ctx, run, ""); err != nil { // what labels are given by
		return record.QueueHead{}, err
	}
	head, ok, err := e.queueNamed(ctx, runID, o.Name)
	if err != nil {
		return head, err
	}
	if ok && o.Rows > 0 && o.Rows != head.Rows {
		return head, record.Problemf("queue_drawn", "leave out the number of rows to go on with it", "queue %s of run %s is drawn already, and its probabilities hold for the %d rows that it has", o.Name, runID, head.Rows)
	}
	if ok {
		return head, nil
	}
	switch {
	case !slices.Contains(grade.Orders(), o.Order):
		return record.QueueHead{}, record.Problemf("bad_order", "use one of mixed, random, listed", "%q is no order of a queue", o.Order)
	case run.Status == record.RunRunning:
		return record.QueueHead{}, record.Problemf("still_running", "wait for it to end, or stop it", "run %s is still running: rows that come later would have no chance to be drawn", runID)
	}
	candidates, err := e.candidates(ctx, run, o)
	if err != nil {
		return record.QueueHead{}, err
	}
	items := grade.DrawQueue(candidates, grade.QueueOptions{Name: o.Name, Order: o.Order, Rows: o.Rows, Seed: run.Seed, Threshold: run.PassThreshold})
	if len(items) == 0 {
		return record.QueueHead{}, record.Problemf("no_rollouts", "run the recipe first: assay resume "+runID, "run %s has no rollout that is done, so there is nothing to label", runID)
	}
	if err := e.Sink.SaveQueue(ctx, runID, o.Name, items); err != nil {
		return record.QueueHead{}, err
	}
	head, _, err = e.queueNamed(ctx, runID, o.Name)
	return head, err
}

func (e *Engine) queueNamed(ctx context.Context, runID, name string) (record.QueueHead, bool, error) {
	heads, err := e.Source.Queues(ctx, runID)
	if err != nil {
		return record.QueueHead{}, false, err
	}
	for _, h := range heads {
		if h.Queue == name {
			return h, true, nil
		}
	}
	return record.QueueHead{}, false, nil
}

// candidates are what a queue is drawn from: all done rollouts, or those listed.
func (e *Engine) candidates(ctx context.Context, run *record.Run, o QueueOptions) ([]record.Candidate, error) {
	all, err := e.Source.Candidates(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	turned, err := e.turned(ctx, run)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]*record.Candidate, len(all))
	for i := range all {
		all[i].Probed = turned[all[i].RolloutID]
		byID[all[i].RolloutID] = &all[i]
	}
	if o.Order != grade.OrderListed || o.Listed == nil {
		return all, nil
	}
	listed := make([]record.Candidate, 0, len(o.Listed))
	for _, id := range o.Listed {
		c := byID[id]
		if c == nil {
			return nil, record.Problemf("not_found", "list rollouts of this run that are done, each once", "%s is no rollout of run %s that can be labelled", id, run.ID)
		}
		listed, byID[id] = append(listed, *c), nil
	}
	return listed, nil
}

// turned are the rollouts on which a probe in the run's last trust report changed the
// mind of the judge that still gives the reward.
func (e *Engine) turned(ctx context.Context, run *record.Run) (map[string]bool, error) {
	saved, err := e.Source.Reports(ctx, run.ID, TrustReportKind)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, s := range slices.Backward(saved) {
		var r TrustReport
		if json.Unmarshal(s.Report, &r) != nil || r.Judge != run.Scorer || len(r.Probes) == 0 {
			continue
		}
		for _, p := range r.Probes {
			for _, row := range p.Rows {
				if row.Before != nil && *row.Before != row.After {
					out[row.RolloutID] = true
				}
			}
		}
		break
	}
	return out, nil
}
