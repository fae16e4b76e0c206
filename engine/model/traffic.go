package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"assay/engine/record"
)

// Clock is the time that traffic goes by: waits between tries, limits a minute.
type Clock interface {
	Now() time.Time
	// Wait returns nil after d, or the context's error as soon as that ends.
	Wait(ctx context.Context, d time.Duration) error
}

// TrafficOptions are what a [Traffic] is given. The zero value works.
type TrafficOptions struct {
	// Clock is nil for the real time.
	Clock Clock
	// Jitter spreads the waits; nil draws from the record's stream ("traffic"), so that a
	// program's first draws are always the same.
	Jitter *rand.Rand
	// Masker learns the keys that models are made with, and keeps them out of errors. Give
	// the one that the run's file is written through; nil is one of this traffic's own.
	Masker *record.Masker
	// Transport carries the requests; nil is one with connections that are kept.
	Transport http.RoundTripper
	// Waiting hears that a request failed and is made again after a wait. It is called
	// from many goroutines and must not block; nil hears nothing.
	Waiting func(endpoint string, wait time.Duration, err error)
}

// Traffic is what models share: connections, and what is known of each endpoint. It is
// safe for concurrent use.
type Traffic struct {
	clock   Clock
	masker  *record.Masker
	client  *http.Client
	own     *http.Transport // nil where the transport was given
	waiting func(string, time.Duration, error)

	mu        sync.Mutex
	jitter    *rand.Rand
	endpoints map[string]*endpoint
}

// idlePerHost keeps a connection for each of as many rollouts as a run may have in
// flight: the standard two would open one a request. Convention, untested.
const idlePerHost = 512

// NewTraffic makes traffic, which is to be closed.
func NewTraffic(o TrafficOptions) *Traffic {
	t := &Traffic{clock: o.Clock, masker: o.Masker, jitter: o.Jitter, waiting: o.Waiting, endpoints: map[string]*endpoint{}}
	if t.clock == nil {
		t.clock = realTime{}
	}
	if t.masker == nil {
		t.masker = record.NewMasker()
	}
	if t.jitter == nil {
		t.jitter = record.Stream("traffic")
	}
	transport := o.Transport
	if transport == nil {
		t.own = &http.Transport{
			Proxy:               http.ProxyFromEnvironment, // what every program on the machine does
			DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			ForceAttemptHTTP2:   true,
			MaxIdleConns:        2 * idlePerHost,
			MaxIdleConnsPerHost: idlePerHost,
			IdleConnTimeout:     90 * time.Second,
			TLSHandshakeTimeout: 15 * time.Second,
			// A server cannot make the client hold more than this before the body.
			MaxResponseHeaderBytes: 1 << 20,
		}
		transport = t.own
	}
	// A redirect would carry a key to where the user has not said that it may go.
	t.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return t
}

// Close lets go of the connections that are kept. Requests in flight go on.
func (t *Traffic) Close() {
	if t.own != nil {
		t.own.CloseIdleConnections()
	}
}

// endpoint is what is known of one address.
type endpoint struct {
	traffic *Traffic
	name    string // for people: the host
	gate    *gate

	mu       sync.Mutex
	requests *rate.Limiter // nil without a bound
	tokens   *rate.Limiter
	rest     time.Time // until when the server asked to be left alone
	lost     int       // wrong addresses since a request was read
}

// strikes is how many answers of a wrong address stop the run, with none between them of
// somebody who read the request.
const strikes = 3

func (t *Traffic) endpoint(address, name string, l Limits) *endpoint {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.endpoints[address]
	if e == nil {
		e = &endpoint{traffic: t, name: name, gate: newGate()}
		t.endpoints[address] = e
	}
	e.gate.atMost(l.Concurrent)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.requests = stricter(e.requests, l.Requests)
	e.tokens = stricter(e.tokens, l.Tokens)
	return e
}

// stricter is a limiter of so many a minute where that is less than what is allowed. No
// more than a second's worth goes out at once, so that no minute holds more than a
// sixtieth over its bound.
func stricter(old *rate.Limiter, perMinute int) *rate.Limiter {
	limit := rate.Limit(float64(perMinute) / 60)
	if perMinute == 0 || old != nil && old.Limit() <= limit {
		return old
	}
	return rate.NewLimiter(limit, max(1, perMinute/60))
}

// do makes one request until it is answered, cannot be, or has been tried often enough.
// tokens is what it is expected to use, in and out.
func (e *endpoint) do(ctx context.Context, tokens, allowed int, send func(context.Context) *failure) *failure {
	for tries := 1; ; tries++ {
		f := e.once(ctx, tokens, send)
		if f == nil || ctx.Err() != nil {
			return f
		}
		if tries >= f.kind.tries(allowed) {
			return f.after(tries)
		}
		if f.own > longestOwnDelay {
			f.err = fmt.Errorf("%w; it asks to wait %v, which is too long", f.err, f.own.Round(time.Second))
			return f
		}
		wait := delay(tries, f.own, e.traffic.draw())
		if e.traffic.waiting != nil {
			e.traffic.waiting(e.name, wait, f.err)
		}
		if e.traffic.clock.Wait(ctx, wait) != nil {
			return ended(ctx, false, f.err)
		}
	}
}

// once makes one try: a place, the limits' leave, the request, and what it teaches.
func (e *endpoint) once(ctx context.Context, tokens int, send func(context.Context) *failure) *failure {
	round, err := e.gate.enter(ctx)
	if err != nil {
		return ended(ctx, false, nil)
	}
	heard := noNews
	defer func() { e.gate.leave(round, heard) }()
	if e.leave(ctx, tokens) != nil {
		return ended(ctx, false, nil)
	}
	f := send(ctx)
	switch {
	case f == nil:
		heard = wentWell
	case f.kind == kindOverload:
		heard = tooMany
	}
	e.learn(f)
	return f
}

// leave waits until the server's rest is over and the limits allow the request.
func (e *endpoint) leave(ctx context.Context, tokens int) error {
	e.mu.Lock()
	now := e.traffic.clock.Now()
	at := now
	if e.rest.After(at) {
		at = e.rest
	}
	var taken []*rate.Reservation
	for _, l := range []struct {
		limiter *rate.Limiter
		n       int
	}{{e.requests, 1}, {e.tokens, tokens}} {
		if l.limiter == nil {
			continue
		}
		for n := l.n; n > 0; n -= l.limiter.Burst() { // a request may be of more than may go out at once
			r := l.limiter.ReserveN(now, min(n, l.limiter.Burst()))
			taken = append(taken, r)
			if due := now.Add(r.DelayFrom(now)); due.After(at) {
				at = due
			}
		}
	}
	e.mu.Unlock()
	if !at.After(now) {
		return ctx.Err()
	}
	err := e.traffic.clock.Wait(ctx, at.Sub(now))
	if err != nil {
		for _, r := range taken {
			r.CancelAt(e.traffic.clock.Now())
		}
	}
	return err
}

// learn keeps what an answer says of the endpoint, and makes the last of too many wrong
// addresses the run's end.
func (e *endpoint) learn(f *failure) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case f == nil, f.kind == kindRequest, f.kind == kindContext:
		e.lost = 0 // whoever reads requests is there; one in trouble may be a gateway
	case f.kind == kindOverload && f.own >= 0 && f.own <= longestOwnDelay:
		if until := e.traffic.clock.Now().Add(f.own); until.After(e.rest) {
			e.rest = until
		}
	case f.kind == kindAddress:
		if e.lost++; e.lost >= strikes {
			f.lastStrike = true
		}
	}
}

// used corrects what a request was expected to use by what it did. What was used beyond
// is waited for by those who come after.
func (e *endpoint) used(expected, tokens int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.tokens == nil {
		return
	}
	now := e.traffic.clock.Now()
	for n := tokens - expected; n > 0; n -= e.tokens.Burst() {
		e.tokens.ReserveN(now, min(n, e.tokens.Burst()))
	}
}

func (t *Traffic) draw() float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.jitter.Float64()
}

type realTime struct{}

func (realTime) Now() time.Time { return time.Now() }

func (realTime) Wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
