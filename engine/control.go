package engine

import "sync"

// Control steers a story that is running. Its methods are safe for concurrent
// use and never block. The zero value is ready.
type Control struct {
	mu          sync.Mutex
	changed     chan struct{} // holds one token: something was asked for
	stops       int
	paused      bool
	concurrency int // 0: the recipe's
	current     int // what is in force
	cancelled   []string
}

func (c *Control) note() {
	select {
	case c.signal() <- struct{}{}:
	default:
	}
}

// signal is the channel that carries a token when something was asked for.
// c.mu must not be held.
func (c *Control) signal() chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changed == nil {
		c.changed = make(chan struct{}, 1)
	}
	return c.changed
}

// Stop drains: no rollout begins, those in flight get a grace period and are
// kept. A second stop aborts.
func (c *Control) Stop() {
	c.mu.Lock()
	c.stops++
	c.mu.Unlock()
	c.note()
}

// Abort ends the rollouts in flight; they are not kept.
func (c *Control) Abort() {
	c.mu.Lock()
	c.stops = max(c.stops+1, 2)
	c.mu.Unlock()
	c.note()
}

// SetPaused holds back rollouts that have not begun, or lets them go on.
func (c *Control) SetPaused(paused bool) {
	c.mu.Lock()
	c.paused = paused
	c.mu.Unlock()
	c.note()
}

// Paused reports whether new rollouts are held back.
func (c *Control) Paused() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.paused
}

// SetConcurrency sets how many rollouts may be in flight, 1 to 4096; numbers
// outside are drawn in. It never changes a result, only how fast it comes.
func (c *Control) SetConcurrency(n int) {
	c.mu.Lock()
	c.concurrency = min(max(n, 1), maxConcurrency)
	c.mu.Unlock()
	c.note()
}

// Concurrency is how many rollouts may be in flight; 0 before a run has begun.
func (c *Control) Concurrency() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.concurrency > 0 {
		return c.concurrency
	}
	return c.current
}

// StopRollout ends one rollout in flight; it is lost, cause interrupted.
func (c *Control) StopRollout(rolloutID string) {
	c.mu.Lock()
	c.cancelled = append(c.cancelled, rolloutID)
	c.mu.Unlock()
	c.note()
}

// asked is what the loop reads when the signal comes.
type asked struct {
	stops     int
	paused    bool
	limit     int
	cancelled []string
}

// ask reads what is asked for; recipe is the concurrency where nobody set one.
func (c *Control) ask(recipe int) asked {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := asked{stops: c.stops, paused: c.paused, limit: recipe, cancelled: c.cancelled}
	if c.concurrency > 0 {
		a.limit = c.concurrency
	}
	c.current, c.cancelled = a.limit, nil
	return a
}

// stopped reports whether a stop was asked for.
func (c *Control) stopped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stops > 0
}
