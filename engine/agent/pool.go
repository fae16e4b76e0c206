package agent

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

const (
	// firstPatience is how long the first process may take to say its first word
	// before a second is tried beside it: the time in which `go run` builds a small
	// program, or an interpreter loads its libraries. Convention, untested.
	firstPatience = 10 * time.Second
	// leastPatience and patience bound, once a process has spoken, how long a turn
	// waits for a free one before another is started. Under the least, a queue behind
	// a program that answers at once looks like want. Convention, untested.
	leastPatience = 100 * time.Millisecond
	patience      = time.Second
	// stillbornAfter is how many processes may end without a word before a program of
	// which none was ever heard is given up: the first, and one more for luck.
	stillbornAfter = 2
	// closeGrace is how long a process may take to end after its stdin is closed.
	closeGrace = 2 * time.Second
)

var errPoolClosed = errors.New("the agent is closed")

// pool keeps the processes of one program, and gives each to one exchange at a
// time.
//
// It grows by need, and slowly. The first process starts alone. Another starts
// only when an exchange has waited for a free one as long as a start takes: a
// program that answers at once is then never worth a second process, and one
// that takes seconds gets as many as there are turns in flight. No more start at
// once than have started, so that `go run` does not build the same thing thirty
// times side by side.
type pool struct {
	prog program
	// The constants of these names; tests shorten them.
	firstPatience, leastPatience, patience time.Duration

	mu        sync.Mutex
	closed    bool
	idle      []*process // the last used at the end
	live      map[*process]struct{}
	starting  int // started and silent, or on the way to be started
	spoken    int // live processes that have spoken
	waiting   []*waiter
	started   int // ever
	lastStart time.Time
	cost      time.Duration // the shortest time from a start to a first word, 0 before one
	unheard   int           // processes that ended in mid-exchange before any had spoken

	closing chan struct{}
	ends    sync.WaitGroup // processes, and whatever sees one off
}

// waiter is an exchange in want of a process. What it gets is a process, or nil:
// leave to start one, which is then counted in starting.
type waiter struct{ ready chan *process }

func newPool(prog program) *pool {
	return &pool{prog: prog, firstPatience: firstPatience, leastPatience: leastPatience, patience: patience,
		live: make(map[*process]struct{}), closing: make(chan struct{})}
}

// acquire gives a process that nobody else converses with.
func (p *pool) acquire(ctx context.Context) (*process, error) {
	p.mu.Lock()
	switch {
	case p.closed:
		p.mu.Unlock()
		return nil, errPoolClosed
	case ctx.Err() != nil:
		p.mu.Unlock()
		return nil, ctx.Err()
	case len(p.idle) > 0:
		proc := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		proc.idle = false
		p.mu.Unlock()
		return proc, nil
	case len(p.live)+p.starting == 0:
		p.starting++
		p.mu.Unlock()
		return p.start()
	}
	w := &waiter{ready: make(chan *process, 1)}
	p.waiting = append(p.waiting, w)
	wait := p.waitLocked()
	p.mu.Unlock()
	return p.wait(ctx, w, wait)
}

// waitLocked is how long to wait for a free process before starting another.
func (p *pool) waitLocked() time.Duration {
	if p.cost == 0 {
		return p.firstPatience
	}
	return min(max(p.cost, p.leastPatience), p.patience)
}

// wait waits until a process is free, or it is time to start one.
func (p *pool) wait(ctx context.Context, w *waiter, d time.Duration) (*process, error) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case proc := <-w.ready:
			if proc == nil {
				return p.start()
			}
			return proc, nil
		case <-timer.C:
			p.mu.Lock()
			if p.mayGrowLocked() && p.forgetLocked(w) {
				p.starting++
				p.mu.Unlock()
				return p.start()
			}
			timer.Reset(p.waitLocked())
			p.mu.Unlock()
		case <-ctx.Done():
			return nil, p.abandon(w, ctx.Err())
		case <-p.closing:
			return nil, p.abandon(w, errPoolClosed)
		}
	}
}

// mayGrowLocked says whether a process may be started beside those that are
// there: as many at once as have spoken, and one more when the last has been
// silent for as long as it is waited for.
func (p *pool) mayGrowLocked() bool {
	return p.starting < max(1, p.spoken) || time.Since(p.lastStart) >= p.waitLocked()
}

// forgetLocked takes a waiter out; false says that it has been served already.
func (p *pool) forgetLocked(w *waiter) bool {
	at := slices.Index(p.waiting, w)
	if at < 0 {
		return false
	}
	p.waiting = slices.Delete(p.waiting, at, at+1)
	return true
}

// abandon gives up waiting, and passes on what came in the same moment.
func (p *pool) abandon(w *waiter, err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.forgetLocked(w) {
		return err
	}
	if proc := <-w.ready; proc != nil {
		p.freeLocked(proc)
	} else {
		p.starting--
		p.wakeLocked()
	}
	return err
}

// start starts a process, counted in starting by the caller.
func (p *pool) start() (*process, error) {
	p.mu.Lock()
	if p.closed {
		p.starting--
		p.mu.Unlock()
		return nil, errPoolClosed
	}
	p.ends.Add(1)
	p.started++
	p.lastStart = time.Now()
	p.mu.Unlock()

	proc, err := start(p.prog, time.Now(), p.reaped, p.gone)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err != nil:
		p.ends.Done()
		p.starting--
		p.wakeLocked()
		return nil, err
	case proc.dropped: // over already; who converses with it will see why
		p.starting--
		p.wakeLocked()
	default:
		p.live[proc] = struct{}{}
	}
	return proc, nil
}

// heard notes that a process has said something.
func (p *pool) heard(proc *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, live := p.live[proc]; !live || proc.spoke {
		return
	}
	proc.spoke = true
	p.starting--
	p.spoken++
	if took := time.Since(proc.startedAt); p.cost == 0 || took < p.cost {
		p.cost = took
	}
}

// stillborn notes that a process ended by itself in an exchange, and says whether the
// program can be given up: it has ended so as often as a failure of an agent is tried, and
// none of its processes has ever said anything. That is a program that does not compile,
// lacks a module or its key; another hundred rollouts would say no more.
func (p *pool) stillborn() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unheard++
	return p.cost == 0 && p.unheard >= stillbornAfter
}

// release takes a process back after an exchange that ended well.
func (p *pool) release(proc *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	proc.served++
	p.freeLocked(proc)
}

// freeLocked gives a process to whoever has waited longest.
func (p *pool) freeLocked(proc *process) {
	switch {
	case p.closed, proc.over(proc.reaped):
		proc.silence()
	case len(p.waiting) > 0:
		w := p.waiting[0]
		p.waiting = slices.Delete(p.waiting, 0, 1)
		w.ready <- proc
	default:
		proc.idle = true
		p.idle = append(p.idle, proc)
	}
}

// discard sees a process off that is of no more use, in the background.
func (p *pool) discard(proc *process, farewell []byte, grace time.Duration, hangUp bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropLocked(proc)
	if proc.left { // nothing to see off, and close may already have returned
		proc.silence()
		return
	}
	p.ends.Go(func() { proc.end(farewell, grace, hangUp) })
}

// reaped is called when a process is over, by itself or not.
func (p *pool) reaped(proc *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if proc.idle {
		proc.idle = false
		p.idle = slices.DeleteFunc(p.idle, func(other *process) bool { return other == proc })
		proc.silence()
	}
	proc.dropped = true
	p.dropLocked(proc)
}

// gone is called when nothing of a process is left.
func (p *pool) gone(proc *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	proc.left = true
	p.ends.Done()
}

// dropLocked counts a process out, and lets another start in its place where an
// exchange has none to wait for.
func (p *pool) dropLocked(proc *process) {
	if _, live := p.live[proc]; !live {
		return
	}
	delete(p.live, proc)
	if proc.spoke {
		p.spoken--
	} else {
		p.starting--
	}
	p.wakeLocked()
}

// wakeLocked lets the first in the queue start a process when none is there.
func (p *pool) wakeLocked() {
	if len(p.live)+p.starting == 0 && len(p.waiting) > 0 && !p.closed {
		w := p.waiting[0]
		p.waiting = slices.Delete(p.waiting, 0, 1)
		p.starting++
		w.ready <- nil
	}
}

// close ends every process and returns when nothing of them is left.
func (p *pool) close() {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		p.ends.Wait()
		return
	}
	p.closed = true
	close(p.closing)
	idle := p.idle
	p.idle = nil
	for _, proc := range idle {
		proc.idle = false
		p.ends.Go(func() { proc.end(nil, closeGrace, true) })
	}
	p.mu.Unlock()
	p.ends.Wait()
}
