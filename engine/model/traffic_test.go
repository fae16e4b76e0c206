package model

import (
	"context"
	"errors"
	"math"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"assay/engine/model/modeltest"
	"assay/engine/record"
)

func TestOwnDelay(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		after, ms string
		want      time.Duration
	}{
		{"", "", none}, {"2", "", 2 * time.Second}, {"0", "", 0}, {"0.5", "", 500 * time.Millisecond}, {" 3 ", "", 3 * time.Second},
		{"9", "250", 250 * time.Millisecond}, {"9", "soon", 9 * time.Second},
		{"Tue, 01 Dec 2026 12:00:07 GMT", "", 7 * time.Second}, {"Tue, 01 Dec 2026 11:00:00 GMT", "", 0},
		{"-1", "", none}, {"NaN", "", none}, {"Inf", "", none}, {"soon", "", none}, {"1e300", "", math.MaxInt64},
	} {
		h := http.Header{}
		if c.after != "" {
			h.Set("Retry-After", c.after)
		}
		if c.ms != "" {
			h.Set("retry-after-ms", c.ms)
		}
		if got := ownDelay(h, now); got != c.want {
			t.Errorf("%q, %q: %v, want %v", c.after, c.ms, got, c.want)
		}
	}
}

func TestDelay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tries := rapid.IntRange(1, 100).Draw(t, "tries")
		draw := rapid.Float64Range(0, 0.999999).Draw(t, "draw")
		if d := delay(tries, none, draw); d <= 0 || d > longestDelay || d > firstDelay<<min(tries-1, 16) {
			t.Fatalf("backs off %v", d)
		}
		own := time.Duration(rapid.Int64Range(0, int64(longestOwnDelay)).Draw(t, "own"))
		if d := delay(tries, own, draw); d < own || d > own+firstDelay {
			t.Fatalf("waits %v where the server says %v", d, own)
		}
	})
}

// The server's own delay is waited for, by those who come after too.
func TestServersDelay(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.RateLimited(7*time.Second), modeltest.Say("hello"))
	var told []time.Duration
	m, clock := newModel(t, both(s.URL)[0], Options{}, TrafficOptions{Waiting: func(endpoint string, wait time.Duration, err error) {
		if !strings.HasPrefix(endpoint, "127.0.0.1:") || err == nil {
			t.Errorf("%s: %v", endpoint, err)
		}
		told = append(told, wait)
	}})
	if _, err := m.Complete(t.Context(), ask("hello")); err != nil {
		t.Fatal(err)
	}
	if len(clock.waits) == 0 || clock.waits[0] < 7*time.Second || clock.waits[0] > 8*time.Second || !slices.Equal(told, clock.waits[:1]) {
		t.Errorf("waited %v, told of %v", clock.waits, told)
	}
	e := m.endpoint
	e.learn(&failure{kind: kindOverload, own: 5 * time.Second})
	before := clock.now
	if err := e.leave(t.Context(), 1); err != nil || clock.now.Sub(before) != 5*time.Second {
		t.Errorf("another request left after %v, %v", clock.now.Sub(before), err)
	}
}

func TestWaitsEndWithTheContext(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.RateLimited(time.Minute))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	traffic := NewTraffic(TrafficOptions{Waiting: func(string, time.Duration, error) { cancel() }}) // real time: it would be a minute
	defer traffic.Close()
	spec, _ := ParseSpec(both(s.URL)[0])
	m, err := New(ctx, spec, Options{}, keyed, traffic)
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Complete(ctx, ask("hello"))
	if a := agentError(t, err); !a.Unasked || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "429") {
		t.Errorf("%v", err)
	}
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name     string
		limits   []Limits
		tokens   int
		requests int
		least    time.Duration // that so many requests take
		most     time.Duration
	}{
		{"requests", []Limits{{Requests: 60}}, 10, 61, 59 * time.Second, 61 * time.Second},
		{"tokens", []Limits{{Tokens: 6000}}, 1000, 13, 2 * time.Minute, 135 * time.Second},
		{"a request over a second's tokens", []Limits{{Tokens: 600}}, 700, 2, 2 * time.Minute, 145 * time.Second},
		{"the stricter of two", []Limits{{Requests: 600}, {Requests: 60}, {}}, 1, 31, 29 * time.Second, 31 * time.Second},
		{"none", []Limits{{}}, 1e9, 1000, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock := newClock()
			traffic := NewTraffic(TrafficOptions{Clock: clock})
			defer traffic.Close()
			var e *endpoint
			for _, l := range c.limits {
				e = traffic.endpoint("http://one", "one", l)
			}
			began := clock.now
			for range c.requests {
				if err := e.leave(t.Context(), c.tokens); err != nil {
					t.Fatal(err)
				}
			}
			if took := clock.now.Sub(began); took < c.least || took > c.most {
				t.Errorf("took %v, want %v to %v", took, c.least, c.most)
			}
			other := traffic.endpoint("http://two", "two", Limits{})
			if other == e || other.requests != nil {
				t.Error("another endpoint is bound too")
			}
		})
	}
}

// What was used beyond what was expected is waited for by the next.
func TestUsedTokens(t *testing.T) {
	clock := newClock()
	traffic := NewTraffic(TrafficOptions{Clock: clock})
	defer traffic.Close()
	e := traffic.endpoint("http://one", "one", Limits{Tokens: 6000})
	if err := e.leave(t.Context(), 100); err != nil {
		t.Fatal(err)
	}
	e.used(100, 6100)
	began := clock.now
	if err := e.leave(t.Context(), 100); err != nil || clock.now.Sub(began) < time.Minute {
		t.Errorf("left after %v, %v", clock.now.Sub(began), err)
	}
}

// The gate lets no more in than its bound, keeps the order, loses no place, and its bound
// stays between one and what it may be.
func TestGate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 20).Draw(t, "most")
		g := newGate()
		g.atMost(most)
		var rounds []uint64
		t.Repeat(map[string]func(*rapid.T){
			"enter": func(t *rapid.T) {
				ctx, cancel := context.WithCancel(context.Background())
				cancel() // a full gate is not waited for
				round, err := g.enter(ctx)
				if (err == nil) != (float64(len(rounds))+1 <= g.bound) {
					t.Fatalf("%v with %d of %v in flight", err, len(rounds), g.bound)
				}
				if err == nil {
					rounds = append(rounds, round)
				}
			},
			"leave": func(t *rapid.T) {
				if len(rounds) == 0 {
					t.Skip()
				}
				before, inFlight := g.bound, g.inFlight
				n := rapid.SampledFrom([]news{noNews, wentWell, tooMany}).Draw(t, "news")
				i := rapid.IntRange(0, len(rounds)-1).Draw(t, "which")
				old := rounds[i] != g.round
				g.leave(rounds[i], n)
				rounds = slices.Delete(rounds, i, i+1)
				switch {
				case n == tooMany && !old && g.bound > max(1, float64(inFlight)/2), n == tooMany && old && g.bound != before, n == wentWell && g.bound < before:
					t.Fatalf("news %d of an old round %v: the bound went from %v to %v with %d in flight", n, old, before, g.bound, inFlight)
				}
			},
			"": func(t *rapid.T) {
				if g.inFlight != len(rounds) || len(g.queue) != 0 || g.bound < 1 || g.bound > float64(most) {
					t.Fatalf("%d in flight of %d, %d wait, bound %v of %d", g.inFlight, len(rounds), len(g.queue), g.bound, most)
				}
			},
		})
	})
}

// Under a server that takes so many at once, what is in flight comes down to about that
// within a few rounds and stays there: few are refused, and the server is kept busy.
func TestConcurrencyAdapts(t *testing.T) {
	const wanted, takes, rounds = 256, 8, 200
	g := newGate()
	full, cancel := context.WithCancel(context.Background())
	cancel() // a full gate is not waited for
	answered, refused, first := 0, 0, 0
	for n := range rounds {
		var in []uint64
		for len(in) < wanted {
			round, err := g.enter(full)
			if err != nil {
				break
			}
			in = append(in, round)
		}
		if n == 0 {
			first = len(in)
		}
		if n > 10 {
			answered += min(len(in), takes)
			refused += max(0, len(in)-takes)
		}
		for i, round := range in {
			if i < takes {
				g.leave(round, wentWell)
			} else {
				g.leave(round, tooMany)
			}
		}
	}
	if first != wanted {
		t.Errorf("%d of %d go out before the server has refused any", first, wanted)
	}
	if refused > answered/10 || answered < (rounds-11)*takes/2 {
		t.Errorf("%d answered and %d refused in %d rounds of at most %d", answered, refused, rounds-11, takes)
	}
}

// Those who wait enter in the order in which they came, and one who gives up costs no
// place.
func TestGateKeepsTheOrder(t *testing.T) {
	g := newGate()
	g.atMost(1)
	round, err := g.enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	order := make(chan int, 3)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			c := t.Context()
			if i == 1 {
				c = ctx
			}
			r, err := g.enter(c)
			if err != nil {
				return
			}
			order <- i
			g.leave(r, wentWell)
		})
		for waiting := 0; waiting <= i; {
			g.mu.Lock()
			waiting = len(g.queue)
			g.mu.Unlock()
			runtime.Gosched()
		}
	}
	cancel()
	for waiting := 3; waiting > 2; {
		g.mu.Lock()
		waiting = len(g.queue)
		g.mu.Unlock()
		runtime.Gosched()
	}
	g.leave(round, wentWell)
	all.Wait()
	close(order)
	var got []int
	for i := range order {
		got = append(got, i)
	}
	if !slices.Equal(got, []int{0, 2}) || g.inFlight != 0 {
		t.Errorf("entered %v, %d in flight", got, g.inFlight)
	}
}

func TestConnectionsAreKept(t *testing.T) {
	s := modeltest.NewServer(t)
	m, _ := newModel(t, both(s.URL)[0], Options{}, TrafficOptions{})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 10 {
				if _, err := m.Complete(context.Background(), ask("hello")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	from := map[string]bool{}
	for _, r := range s.Requests() {
		from[r.From] = true
	}
	if len(from) > 8 { // a dial may be under way when a connection comes free
		t.Errorf("40 requests, 4 at a time, came over %d connections", len(from))
	}
}

// A kept connection that the server has closed meanwhile costs neither a try nor a wait.
func TestClosedConnections(t *testing.T) {
	hello, hangUp := modeltest.Say("hello"), modeltest.HangUp()
	s := modeltest.NewServer(t, hello, hangUp, hello, hangUp, hello)
	m, clock := newModel(t, both(s.URL)[0], Options{Tries: 1}, TrafficOptions{})
	for range 3 {
		if reply, err := m.Complete(t.Context(), ask("hello")); err != nil || reply.Text != "hello" {
			t.Fatalf("%q, %v", reply.Text, err)
		}
	}
	if len(s.Requests()) != 5 || len(clock.waits) > 0 {
		t.Errorf("%d requests, waited %v", len(s.Requests()), clock.waits)
	}
	for _, r := range s.Requests() {
		if _, sent := r.Header["Idempotency-Key"]; sent {
			t.Error("a key is sent that says nothing")
		}
	}
}

var _ agentCompleter = (*Model)(nil)

// agentCompleter is what package agent asks of a model.
type agentCompleter interface {
	Complete(context.Context, record.ChatRequest) (record.ChatReply, error)
}
