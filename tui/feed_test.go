package tui

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"assay/engine"
	"assay/engine/record"
	"assay/tui/live"
)

func TestMailboxDrawsTogether(t *testing.T) {
	b := newMailbox(now)
	if _, ok := b.empty(false); ok {
		t.Error("there is news of nothing")
	}
	task := testTask(1)
	b.observe(engine.StageStarted{Stage: engine.StageRun})
	b.observe(engine.RunStarted{Run: record.Run{ID: "r", Files: map[string]string{"a": "b"}, RecipeText: "long"}})
	for i := range 3 {
		b.observe(engine.RolloutStarted{RunID: "r", RolloutID: fmt.Sprint(i), Task: task})
	}
	b.observe(engine.StepTaken{RunID: "r", RolloutID: "1", Index: 0, Step: record.Step{Kind: record.StepText, Text: "one"}})
	b.observe(engine.StepTaken{RunID: "r", RolloutID: "1", Index: 5, Step: record.Step{Kind: record.StepText, Text: "out of order"}})
	b.observe(engine.TextStreamed{RunID: "r", RolloutID: "2", Delta: record.Delta{Text: "so "}})
	b.observe(engine.TextStreamed{RunID: "r", RolloutID: "2", Delta: record.Delta{Text: "far"}})
	b.observe(engine.TextStreamed{RunID: "r", RolloutID: "2", Delta: record.Delta{Text: "thought", Reasoning: true}})
	b.observe(engine.TextStreamed{RunID: "r", RolloutID: "2", Delta: record.Delta{Tool: "get_order"}})
	b.observe(engine.OutcomesCommitted{RunID: "r", Outcomes: []record.Outcome{{Rollout: record.Rollout{ID: "0"}}}, Counts: record.Counts{Done: 1}})
	b.observe(engine.OutcomesCommitted{RunID: "r", Counts: record.Counts{Done: 2}})
	n, ok := b.empty(false)
	if !ok || n.Part != live.PartRun || n.Counts["r"].Done != 2 || len(n.Runs) != 1 || n.Runs["r"].Files != nil {
		t.Errorf("the news is %+v", n)
	}
	if len(n.Flights) != 2 || n.Flights[0].ID != "1" || n.Flights[1].ID != "2" || len(n.Flights[0].Steps) != 1 || n.Flights[1].Stream != "so far\ncalling get_order …" {
		t.Errorf("in flight are %+v", n.Flights)
	}
	b.observe(engine.StepTaken{RunID: "r", RolloutID: "1", Index: 1, Step: record.Step{Kind: record.StepText, Text: "two"}})
	if len(n.Flights[0].Steps) != 1 {
		t.Error("news that was told changes")
	}
	b.observe(engine.RolloutRetried{RunID: "r", RolloutID: "1", Cause: record.CauseInfrastructure})
	n, _ = b.empty(false)
	if f := n.Flights[0]; len(f.Steps) != 0 || f.Retries != 1 || n.Retried[record.CauseInfrastructure] != 1 || n.Counts != nil {
		t.Errorf("after a retry the news is %+v", n)
	}
	b.observe(engine.RunFinished{Run: record.Run{ID: "r"}})
	if n, _ = b.empty(false); len(n.Flights) != 0 {
		t.Error("a run that has ended has rollouts in flight")
	}
}

// TestMailboxStaysSmall sends a long story past a screen that never reads.
func TestMailboxStaysSmall(t *testing.T) {
	b := newMailbox(now)
	for i := range 5_000 {
		id := fmt.Sprint(i)
		b.observe(engine.RolloutStarted{RunID: "r", RolloutID: id})
		b.observe(engine.TextStreamed{RolloutID: id, Delta: record.Delta{Text: "支払い and so on and on"}})
		b.observe(engine.Warned{Warning: record.Warning{Code: id}})
		b.observe(engine.OutcomesCommitted{RunID: "r", Outcomes: []record.Outcome{{Rollout: record.Rollout{ID: id}}}, Counts: record.Counts{Done: i}})
	}
	b.observe(engine.RolloutStarted{RunID: "r", RolloutID: "last"})
	for range 5_000 {
		b.observe(engine.TextStreamed{RolloutID: "last", Delta: record.Delta{Text: "支払い"}})
	}
	n, _ := b.empty(false)
	if len(n.Flights) != 1 || len(n.Warnings) > maxWarnings || len(n.Counts) != 1 || n.Counts["r"].Done != 4_999 {
		t.Errorf("%d flights, %d warnings, %+v", len(n.Flights), len(n.Warnings), n.Counts)
	}
	if got := len(n.Flights[0].Stream); got > maxStream {
		t.Errorf("%d bytes of a stream are kept", got)
	}
	if r := n.Flights[0].Stream[:3]; r != "支" && r != "払" && r != "い" {
		t.Errorf("the stream is cut inside a character: %q", r)
	}
}

func TestHeldNewsWaitsForTheScreen(t *testing.T) {
	b := newMailbox(now)
	b.observe(engine.Warned{Warning: record.Warning{Code: "old story"}})
	b.hold()
	b.observe(engine.RunStarted{Run: record.Run{ID: "r"}})
	if _, ok := b.empty(true); ok {
		t.Error("news is told before anyone can hear it")
	}
	b.release()
	if n, ok := b.empty(false); !ok || len(n.Runs) != 1 || n.Warnings != nil {
		t.Errorf("after the wait the news is %+v", n)
	}
}

// TestFeedTellsOnceAFrame runs in a bubble of time of its own.
func TestFeedTellsOnceAFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newMailbox(time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		var all []time.Time
		var done sync.WaitGroup
		done.Go(func() {
			feed(ctx, b, func(n live.News) {
				mu.Lock()
				defer mu.Unlock()
				all = append(all, time.Now())
			})
		})
		heard := func() []time.Time {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(all)
		}
		begin := time.Now()
		b.observe(engine.RolloutStarted{RolloutID: "a"})
		for range 2000 { // two seconds of a thousand events each
			b.observe(engine.StepTaken{RolloutID: "a"})
			time.Sleep(time.Millisecond)
		}
		told := heard()
		busy := len(told)
		if most := int(2*time.Second/frame) + 2; busy > most || busy < most/2 {
			t.Errorf("told %d times in two seconds, want at most %d", busy, most)
		}
		for i := 1; i < len(told); i++ {
			if gap := told[i].Sub(told[i-1]); gap < frame {
				t.Errorf("two news %v apart", gap)
			}
		}
		if told[0].Sub(begin) > frame {
			t.Errorf("the first news took %v", told[0].Sub(begin))
		}
		time.Sleep(3 * heartbeat)
		if beats := len(heard()) - busy; beats < 2 || beats > 4 {
			t.Errorf("%d heartbeats in three while a rollout is in flight", beats)
		}
		b.observe(engine.OutcomesCommitted{Outcomes: []record.Outcome{{Rollout: record.Rollout{ID: "a"}}}})
		time.Sleep(frame)
		idle := len(heard())
		time.Sleep(time.Hour)
		if n := len(heard()) - idle; n != 0 {
			t.Errorf("told %d times in an idle hour", n)
		}
		cancel()
		done.Wait()
	})
}

// TestObserveNeverBlocks though whoever is told does.
func TestObserveNeverBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newMailbox(time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		stuck := make(chan struct{})
		var done sync.WaitGroup
		done.Go(func() { feed(ctx, b, func(live.News) { <-stuck }) })
		before := time.Now()
		for i := range 10_000 {
			b.observe(engine.RolloutStarted{RolloutID: fmt.Sprint(i)})
		}
		if took := time.Since(before); took != 0 {
			t.Errorf("observing took %v of the bubble's time", took)
		}
		close(stuck)
		cancel()
		done.Wait()
	})
}
