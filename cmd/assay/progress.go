package main

import (
	"fmt"
	"sync"
	"time"

	"assay/engine"
	"assay/engine/record"
)

// How often the progress line moves: on a terminal a line that is redrawn, else
// a line now and then for a log.
const (
	redrawEvery = 100 * time.Millisecond
	logEvery    = 10 * time.Second
)

// progress is the line that a headless story shows on stderr.
type progress struct {
	s     *session
	now   func() time.Time
	live  bool
	mu    sync.Mutex
	stage engine.Stage
	last  time.Time
	began time.Time
	drawn bool
	said  map[record.Warning]bool
}

func newProgress(s *session, now func() time.Time) *progress {
	start := now()
	return &progress{s: s, now: now, live: s.isTerminal(s.err), last: start, began: start, said: map[record.Warning]bool{}}
}

func (p *progress) observe(e engine.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := e.(type) {
	case engine.StageStarted:
		p.stage = e.Stage
	case engine.OutcomesCommitted:
		p.draw(e.Counts)
	case engine.Warned:
		p.warn(e.Warning)
	}
}

// warn says a warning once, when it arises.
func (p *progress) warn(w record.Warning) {
	if p.said[w] {
		return
	}
	p.said[w] = true
	if p.drawn {
		fmt.Fprint(p.s.err, "\r\x1b[K")
		p.drawn = false
	}
	p.s.warn([]record.Warning{w})
}

// rest says the warnings of a result that were not said as they arose.
func (p *progress) rest(warnings []record.Warning) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range warnings {
		p.warn(w)
	}
}

func (p *progress) draw(c record.Counts) {
	every := logEvery
	if p.live {
		every = redrawEvery
	}
	now := p.now()
	if now.Sub(p.last) < every {
		return
	}
	p.last = now
	line := fmt.Sprintf("%s: %d of %d rollouts, %d passed of %d graded, %d lost, %.0f s", p.stage, c.Done+c.LostTotal(), c.Planned, c.Passed, c.Graded, c.LostTotal(), now.Sub(p.began).Seconds())
	if p.live {
		fmt.Fprintf(p.s.err, "\r%s\x1b[K", line)
		p.drawn = true
		return
	}
	p.s.say(line)
}

// close leaves the terminal on a line of its own.
func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn {
		fmt.Fprint(p.s.err, "\r\x1b[K")
	}
}
