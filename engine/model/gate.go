package model

import (
	"context"
	"math"
	"slices"
	"sync"
)

// gate bounds how many requests are in flight at one endpoint. Its bound adapts by
// additive increase and multiplicative decrease (Chiu and Jain 1989): a server that
// says "too many" halves it, a round of answers raises it by one. Those who wait enter in
// the order in which they came.
type gate struct {
	mu       sync.Mutex
	most     float64 // what it may rise to
	bound    float64 // what it is
	inFlight int
	round    uint64 // counts the halvings
	queue    []chan struct{}
}

func newGate() *gate { return &gate{most: math.Inf(1), bound: math.Inf(1)} }

// atMost lowers what the bound may rise to; 0 changes nothing.
func (g *gate) atMost(n int) {
	if n <= 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.most = min(g.most, float64(n))
	g.bound = min(g.bound, g.most)
}

// enter waits for a place. The round that it gives goes back to leave.
func (g *gate) enter(ctx context.Context) (round uint64, err error) {
	g.mu.Lock()
	if len(g.queue) == 0 && g.free() {
		g.inFlight++
		defer g.mu.Unlock()
		return g.round, nil
	}
	turn := make(chan struct{})
	g.queue = append(g.queue, turn)
	g.mu.Unlock()

	select {
	case <-turn:
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.round, nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.queue, turn); i >= 0 {
		g.queue = slices.Delete(g.queue, i, i+1)
		return 0, ctx.Err()
	}
	g.inFlight-- // the turn came while the context ended
	g.admit()
	return 0, ctx.Err()
}

// news is what a request's end says of the server's load.
type news int

const (
	noNews   news = iota
	wentWell      // an answer came
	tooMany       // the server asked for less
)

// leave gives the place back. Requests that entered before the last halving say nothing
// new when the server refuses them too.
func (g *gate) leave(round uint64, n news) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case n == wentWell && !math.IsInf(g.bound, 1):
		g.bound = min(g.most, g.bound+1/g.bound)
	case n == tooMany && round == g.round:
		g.bound = max(1, math.Floor(min(g.bound, float64(g.inFlight))/2))
		g.round++
	}
	g.inFlight--
	g.admit()
}

func (g *gate) free() bool { return float64(g.inFlight)+1 <= g.bound }

func (g *gate) admit() {
	for len(g.queue) > 0 && g.free() {
		g.inFlight++
		close(g.queue[0])
		g.queue = g.queue[1:]
	}
}
