package rollout_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"assay/engine/record"
	"assay/engine/rollout"
)

type function = rollout.AgentFunc

// says replies with the texts, one a turn, the last one again and again.
func says(texts ...record.Text) function {
	return func(_ context.Context, t record.Turn) (record.Reply, error) {
		return record.Reply{FinalText: texts[min(t.Rollout.Turn, len(texts)-1)]}, nil
	}
}

// run makes one rollout with a clock that stands still and waits that cost
// nothing.
func run(t *testing.T, r *rollout.Runner, task *record.Task) record.Rollout {
	t.Helper()
	if r.Policy.Tools == nil {
		r.Policy.Tools = opsTools()
	}
	if r.Wait == nil {
		r.Wait = func(context.Context, time.Duration) error { return nil }
	}
	return r.Run(t.Context(), "run", record.Posed{Task: task}, 0, 0)
}

func askOf(ask record.Text, user record.User) *record.Task {
	t := &record.Task{SituationID: "s", Ask: ask, User: user, Tools: opsTools(),
		World: record.World{Entities: []record.Entity{{Argument: "service", ID: "billing", State: record.EntityExists}}}}
	t.Identify()
	return t
}

// texts are what was said in the steps: "u:" by the user, "t:" by the agent.
func texts(o record.Rollout) []string {
	var out []string
	for _, s := range o.Steps {
		switch s.Kind {
		case record.StepUser:
			out = append(out, "u:"+string(s.Text))
		case record.StepText:
			out = append(out, "t:"+string(s.Text))
		case record.StepTool:
			out = append(out, s.Tool)
		}
	}
	return out
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// heard collects what hooks are told.
type heard struct {
	mu      sync.Mutex
	indices []int
	steps   []record.Step
	text    record.Text
	retried []record.Cause
	lost    []error
}

func (h *heard) hooks() rollout.Hooks {
	locked := func(f func()) {
		h.mu.Lock()
		defer h.mu.Unlock()
		f()
	}
	return rollout.Hooks{
		Step: func(_ string, i int, s record.Step) {
			locked(func() { h.indices, h.steps = append(h.indices, i), append(h.steps, s) })
		},
		Text:    func(_ string, d record.Delta) { locked(func() { h.text += d.Text }) },
		Retried: func(_ string, c record.Cause, _ error) { locked(func() { h.retried = append(h.retried, c) }) },
		Lost:    func(_ string, err error) { locked(func() { h.lost = append(h.lost, err) }) },
	}
}
