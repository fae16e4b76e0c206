package delta

import (
	"fmt"
	"testing"
	"time"

	"assay/engine"
	"assay/engine/record"
	"assay/tui/ui"
)

// BenchmarkKeyInAQueue is a key and the frame after it in a queue of 2,000 tasks with 24
// attempts a side.
func BenchmarkKeyInAQueue(b *testing.B) {
	tasks := engine.DeltaTasks{Metrics: []string{"pass_at_1"}, Threshold: 1}
	for i := range 2000 {
		p := engine.DeltaPair{Task: &record.Task{ID: fmt.Sprint(i), Ask: "restart payments please, it is down since ten minutes"}}
		for k := range 24 {
			zero, one := 0.0, 1.0
			key := record.Key{TaskID: p.Task.ID, EvalRun: k / 8, K: k % 8}
			p.Before = append(p.Before, engine.DeltaAttempt{RolloutID: "b", Key: key, Status: record.StatusDone, Reward: &zero, Values: []float64{0}})
			p.After = append(p.After, engine.DeltaAttempt{RolloutID: "a", Key: key, Status: record.StatusDone, Reward: &one, Values: []float64{float64((i + k) % 2)}})
		}
		tasks.Pairs = append(tasks.Pairs, p)
	}
	m := New(b.Context(), Options{Store: fakeStore{}, Engine: &fakeEngine{}, Dir: b.TempDir(), Now: time.Now, Theme: ui.ThemeNamed("dark")})
	m.sheet = newSheet(m.theme, &shown{})
	m.level = levelTasks
	m.queues = &queues{metric: "pass_at_1", kind: "reward", tasks: tasks, theme: m.theme, seen: m.seen, which: unstable, widest: 26}
	for i := range tasks.Pairs {
		m.queues.all.Unstable = append(m.queues.all.Unstable, engine.DeltaMove{Pair: &tasks.Pairs[i], Unstable: true})
	}
	b.ReportAllocs()
	for b.Loop() {
		m.Do(ui.PageDown)
		if m.queues.list().Cursor() == m.queues.Len()-1 {
			m.Do(ui.Top)
		}
		m.View(120, 40)
	}
}
