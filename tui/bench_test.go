package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/engine"
	"assay/engine/record"
	"assay/store"
)

// big is a store with one run of very many rollouts, made as they are read; each
// has a conversation of so many messages.
type big struct {
	*memory
	rollouts, messages int
}

func (b *big) RolloutHeads(_ context.Context, id string, q store.HeadQuery) ([]store.RolloutHead, int, error) {
	var out []store.RolloutHead
	for i := q.Offset; i < min(q.Offset+q.Limit, b.rollouts); i++ {
		out = append(out, headOf(testSample(id, i, 0)))
	}
	return out, b.rollouts, nil
}

func (b *big) Sample(_ context.Context, id string) (*record.Sample, error) {
	s := testSample("big", 1, 0)
	s.Rollout.ID = id
	s.Rollout.Steps = slices.Repeat(testSteps(1), b.messages/3+1)[:b.messages]
	return s, nil
}

func (b *big) FindRows(_ context.Context, _ string, q store.RowQuery) ([]store.Row, error) {
	n := b.rollouts
	if q.Limit > 0 {
		n = min(n, q.Limit)
	}
	rows := make([]store.Row, n)
	for i := range rows {
		rows[i] = store.Row(i + 1)
	}
	return rows, nil
}

func (b *big) HeadsAt(_ context.Context, rows []store.Row) ([]store.RolloutHead, error) {
	out := make([]store.RolloutHead, len(rows))
	for i, row := range rows {
		out[i] = headOf(testSample("big", int(row-1), 0))
	}
	return out, nil
}

func (b *big) TaskRows(context.Context, string, store.RowQuery) ([]store.TaskRow, error) {
	out := make([]store.TaskRow, b.rollouts)
	for i := range out {
		out[i] = store.TaskRow{TaskID: testTask(i).ID, Cells: "pfpl", Graded: 3, Passed: 2}
	}
	return out, nil
}

func (b *big) TaskHeads(_ context.Context, _ string, ids []string) ([]store.RolloutHead, error) {
	out := make([]store.RolloutHead, len(ids))
	for i, id := range ids {
		out[i] = headOf(testSample("big", 1, 0))
		out[i].TaskID, out[i].ID = id, id
	}
	return out, nil
}

func (b *big) Siblings(_ context.Context, id string) ([]store.RolloutHead, error) {
	heads, err := b.TaskHeads(context.Background(), "", []string{id, id})
	heads[1].ID += "1"
	return heads, err
}

func bigDriver(b *testing.B, rollouts, messages, width, height int) *driver {
	b.Helper()
	m := newMemory()
	m.addRun("big", record.Run{Recipe: "big", Status: record.RunDone, Role: record.RoleMain}, 1, 1)
	d := drive(b, m, width, height, func(o *Options) { o.Store = &big{m, rollouts, messages} })
	d.press("enter")
	return d
}

// BenchmarkFrame is one View with a list of 100,000 rows and a transcript of
// 130,000 messages, after a key that moves one of them.
func BenchmarkFrame(b *testing.B) {
	for _, size := range [][2]int{{80, 24}, {200, 50}} {
		for _, keys := range []string{"j", "pgdown", "tab pgdown", "tab G k"} {
			b.Run(fmt.Sprintf("%dx%d/%s", size[0], size[1], keys), func(b *testing.B) {
				d := bigDriver(b, 100_000, 130_000, size[0], size[1])
				d.press(keys)
				last := keyOf(keys[len(keys)-1:])
				if len(keys) > 1 && keys[len(keys)-2] != ' ' {
					last = keyOf("pgdown")
				}
				var view, worst time.Duration
				for b.Loop() {
					d.m.key(last) // what it asks of the store is not part of the frame
					from := time.Now()
					d.m.View()
					took := time.Since(from)
					view += took
					worst = max(worst, took)
				}
				b.ReportMetric(float64(view.Microseconds())/1000/float64(b.N), "ms/frame")
				b.ReportMetric(float64(worst.Microseconds())/1000, "ms/worst")
			})
		}
	}
}

// BenchmarkExploreFrame is the same on Explore: its list, its tasks, a transcript.
func BenchmarkExploreFrame(b *testing.B) {
	for _, keys := range []string{"j", "pgdown", "v j", "tab pgdown"} {
		b.Run(keys, func(b *testing.B) {
			d := bigDriver(b, 100_000, 130_000, 120, 40)
			d.press("3 " + keys)
			names := strings.Fields(keys)
			last := keyOf(names[len(names)-1])
			var view, worst time.Duration
			for b.Loop() {
				d.m.key(last)
				from := time.Now()
				d.m.View()
				took := time.Since(from)
				view += took
				worst = max(worst, took)
			}
			b.ReportMetric(float64(view.Microseconds())/1000/float64(b.N), "ms/frame")
			b.ReportMetric(float64(worst.Microseconds())/1000, "ms/worst")
		})
	}
}

// BenchmarkExploreKey is from key to View returned on Explore's list of 100,000
// rows, what it asks of the store included.
func BenchmarkExploreKey(b *testing.B) {
	for _, keys := range []string{"j", "pgdown", "tab j"} {
		b.Run(keys, func(b *testing.B) {
			d := bigDriver(b, 100_000, 1000, 120, 40)
			d.press("3 " + keys)
			names := strings.Fields(keys)
			last := keyOf(names[len(names)-1])
			var took []time.Duration
			for b.Loop() {
				from := time.Now()
				d.send(last)
				took = append(took, time.Since(from))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms/p99")
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms/p50")
		})
	}
}

// BenchmarkKey is from key to View returned while 2,000 events a second arrive
// from other goroutines and are told once a frame, on a list of 100,000 rows.
func BenchmarkKey(b *testing.B) {
	const perSecond = 2000
	d := bigDriver(b, 100_000, 1000, 120, 40)
	p := newPlay(d.store, d.m.box.observe)
	run := p.begin(record.Run{ID: "live", Recipe: "live", Role: record.RoleMain}, 2000)
	d.m.story, d.play = p, p
	d.m.live.Open("", p)
	ctx, cancel := context.WithCancel(context.Background())
	sent := make(chan int)
	go func() {
		n := 0
		defer func() { sent <- n }()
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for began := time.Now(); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			for ; n < int(time.Since(began).Seconds()*perSecond); n += 2 {
				s := testSample(run.ID, n/2, 0)
				d.m.box.observe(engine.RolloutStarted{RunID: run.ID, RolloutID: s.Rollout.ID, Task: s.Task, Key: s.Rollout.Key})
				d.m.box.observe(engine.OutcomesCommitted{RunID: run.ID, Outcomes: []record.Outcome{s.Outcome}, Counts: record.Counts{Planned: 2000, Done: n / 2}})
			}
		}
	}()
	var took []time.Duration
	began := time.Now()
	next := began
	for b.Loop() {
		if time.Now().After(next) { // the feeder's turn
			next = time.Now().Add(frame)
			if n, ok := d.m.box.empty(false); ok {
				d.m.Update(n)
				d.m.View()
			}
		}
		from := time.Now()
		d.m.Update(keyOf("j"))
		d.m.View()
		took = append(took, time.Since(from))
	}
	b.StopTimer()
	cancel()
	events := <-sent
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms/p99")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms/p50")
	b.ReportMetric(float64(events)/time.Since(began).Seconds(), "events/s")
}
