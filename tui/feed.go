package tui

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"assay/engine"
	"assay/engine/record"
	"assay/tui/live"
)

// frame is the shortest time between two news to the screen: thirty a second are
// as smooth as text can be read, and leave the rest of a core to the engine.
const frame = 33 * time.Millisecond

// heartbeat is how often a story on its way is told of though nothing happened,
// so that times go on.
const heartbeat = time.Second

// most that is kept between two frames of what could pile up while nobody reads.
const (
	maxStream   = 16 << 10 // bytes of a reply that is being made: its end is shown
	maxWarnings = 100
)

// mailbox draws the events of a story together. Its size is bounded by what is in
// flight, not by how much happened since it was last emptied.
type mailbox struct {
	now func() time.Time

	mu      sync.Mutex
	flights map[string]*flight
	order   int
	part    live.Part
	retried map[record.Cause]int
	since   live.News // what is only told once
	full    bool
	held    bool          // a story is being begun: its news wait for who is to hear them
	urgent  bool          // tell though held
	wake    chan struct{} // holds one token: there may be something to tell
}

type flight struct {
	live.Flight
	order int
	said  []byte // the end of what is being said; Stream is made of it when it is told
}

// say takes a piece of what is being said.
func (f *flight) say(piece record.Text) {
	f.said = append(f.said, piece...)
	f.Said += len(piece)
	if len(f.said) <= maxStream {
		return
	}
	end := f.said[len(f.said)-maxStream/2:]
	for len(end) > 0 && end[0]&0xC0 == 0x80 { // not inside a character
		end = end[1:]
	}
	f.said = append(f.said[:0], end...)
}

// hush begins anew: what was said is a step now, or counts no more.
func (f *flight) hush() { f.said, f.Said, f.Stream = f.said[:0], 0, "" }

func newMailbox(now func() time.Time) *mailbox {
	return &mailbox{now: now, flights: map[string]*flight{}, retried: map[record.Cause]int{}, wake: make(chan struct{}, 1)}
}

// hold begins anew for another story; nothing is told until release.
func (b *mailbox) hold() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flights, b.retried = map[string]*flight{}, map[record.Cause]int{}
	b.part, b.since, b.full, b.held = "", live.News{}, false, true
}

// release tells what was held back.
func (b *mailbox) release() {
	b.mu.Lock()
	b.held = false
	b.mu.Unlock()
	b.ring()
}

// observe takes an event. It may be called from any goroutine and does not block.
func (b *mailbox) observe(ev engine.Event) {
	b.mu.Lock()
	b.take(ev)
	b.full = true
	b.mu.Unlock()
	b.ring()
}

// nudge has something told though nothing may have happened.
func (b *mailbox) nudge() {
	b.mu.Lock()
	b.urgent = true
	b.mu.Unlock()
	b.ring()
}

func (b *mailbox) ring() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

func (b *mailbox) take(ev engine.Event) {
	switch ev := ev.(type) {
	case engine.StageStarted:
		b.part = live.Part(ev.Stage)
	case engine.RunStarted:
		b.putRun(ev.Run)
	case engine.RunFinished:
		b.putRun(ev.Run)
		maps.DeleteFunc(b.flights, func(_ string, f *flight) bool { return f.RunID == ev.Run.ID })
	case engine.TasksPosed:
		b.posed(ev)
	case engine.RolloutStarted:
		b.order++
		b.flights[ev.RolloutID] = &flight{order: b.order, Flight: live.Flight{
			RunID: ev.RunID, ID: ev.RolloutID, Task: ev.Task, Key: ev.Key, HeldOut: ev.HeldOut, Began: b.now(),
		}}
	case engine.StepTaken:
		if f := b.flights[ev.RolloutID]; f != nil && ev.Index == len(f.Steps) {
			f.Steps = append(f.Steps, ev.Step)
			f.hush()
		}
	case engine.TextStreamed:
		switch f := b.flights[ev.RolloutID]; {
		case f == nil || ev.Delta.Reasoning:
		case ev.Delta.Again:
			f.hush()
		case ev.Delta.Tool != "":
			f.say("\ncalling " + ev.Delta.Tool + " …")
		default:
			f.say(ev.Delta.Text)
		}
	case engine.RolloutRetried:
		b.retried[ev.Cause]++
		if f := b.flights[ev.RolloutID]; f != nil {
			f.Steps, f.Retries = nil, f.Retries+1
			f.hush()
		}
	case engine.RolloutReturned:
		if f := b.flights[ev.RolloutID]; f != nil {
			f.Returned = true
		}
	case engine.OutcomesCommitted:
		for i := range ev.Outcomes {
			delete(b.flights, ev.Outcomes[i].Rollout.ID)
		}
		put(&b.since.Counts, ev.RunID, ev.Counts)
	case engine.Warned:
		if len(b.since.Warnings) < maxWarnings {
			b.since.Warnings = append(b.since.Warnings, ev.Warning)
		}
	case engine.CutFinished:
		b.since.Cuts = append(b.since.Cuts, cutOf(ev.Cut))
	case engine.DeltaFinished:
		b.since.Reported = true
	}
}

func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// putRun keeps a run without its files: nothing here reads them.
func (b *mailbox) putRun(run record.Run) {
	run.Files, run.RecipeText = nil, ""
	put(&b.since.Runs, run.ID, run)
}

func (b *mailbox) posed(ev engine.TasksPosed) {
	arms := map[string]int{}
	for i := range ev.Posed {
		arms[ev.Posed[i].Arm]++
	}
	batches := b.since.Posed[ev.RunID]
	put(&batches, ev.Batch, arms)
	put(&b.since.Posed, ev.RunID, batches)
}

func cutOf(c engine.CutResult) live.Cut {
	out := live.Cut{For: c.For, Format: c.Format, RowsIn: c.RowsIn, RowsOut: c.RowsOut, File: c.File, Warnings: c.Warnings}
	if c.Error != nil {
		out.Error = *c.Error
	}
	for _, g := range c.Gates {
		out.Gates = append(out.Gates, live.Gate{Name: g.Name, In: g.In, Out: g.Out})
	}
	return out
}

// empty takes what there is to tell; ok is false where that is nothing. What is
// in flight is told whole each time, the rest once.
func (b *mailbox) empty(always bool) (n live.News, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held && b.urgent {
		b.urgent = false
		return live.News{}, true
	}
	if b.held || !b.full && !b.urgent && !always {
		return live.News{}, false
	}
	n, b.since, b.full, b.urgent = b.since, live.News{}, false, false
	n.At, n.Part, n.Retried = b.now(), b.part, maps.Clone(b.retried)
	flying := slices.SortedFunc(maps.Values(b.flights), func(x, y *flight) int { return x.order - y.order })
	n.Flights = make([]live.Flight, len(flying))
	for i, f := range flying {
		if f.Said > 0 {
			f.Stream = record.Text(f.said)
		}
		n.Flights[i] = f.Flight
	}
	return n, true
}

// running reports whether a story is on its way: its times go on though nothing
// happens.
func (b *mailbox) running() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.flights) > 0
}

// feed tells of a mailbox until ctx ends: at most once a frame, and once a
// heartbeat where nothing happens. tell may block; what happens meanwhile is
// drawn together.
func feed(ctx context.Context, b *mailbox, tell func(live.News)) {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		quiet := false
		select {
		case <-ctx.Done():
			return
		case <-b.wake:
		case <-beat.C:
			if quiet = b.running(); !quiet {
				continue
			}
		}
		select { // not before the frame is over
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		if n, ok := b.empty(quiet); ok {
			tell(n)
			beat.Reset(heartbeat)
		}
		pause.Reset(frame)
	}
}
