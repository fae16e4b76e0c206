package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"assay/engine/record"
)

// HTTPConfig says where an agent or a judge is that is asked over HTTP.
type HTTPConfig struct {
	// URL takes a POST with the JSON of the agent protocol. It holds no password.
	URL string
	// Headers go with every request. Their values may be keys: they are taken from the
	// environment by the caller, and are in no error.
	Headers map[string]string
	// Masker takes the values of keys out of what is said of the endpoint in errors,
	// before any of it is cut; nil takes none.
	Masker *record.Masker
}

// endpoint is a program on the other end of HTTP. It is safe for concurrent use.
type endpoint struct {
	url    *url.URL
	header http.Header
	client *http.Client
	mask   *record.Masker

	ids     atomic.Uint64
	strikes atomic.Int32 // wrong addresses since a request was read
	closing context.Context
	close   context.CancelFunc
}

const (
	// dialPatience is how long an endpoint may take to be connected to, and as long again
	// to agree on a key. Convention, untested.
	dialPatience = 10 * time.Second
	// keptConnections is how many connections to an endpoint are kept between turns: as
	// many as a run's rollouts in flight usually are, several times over.
	keptConnections = 256
	// maxHeader bounds the headers of an answer, in bytes.
	maxHeader = 1 << 20
	// wrongAddresses is how many answers that nobody is there end the run: one may be a
	// deployment that is under way.
	wrongAddresses = 3
)

func newEndpoint(c HTTPConfig) (*endpoint, error) {
	u, err := url.Parse(c.URL)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, &record.Problem{Code: "bad_address", Message: fmt.Sprintf("%q is no address of an endpoint", quote(c.Masker, c.URL)), Fix: "write http://HOST:PORT/PATH"}
	case u.User != nil:
		return nil, &record.Problem{Code: "bad_address", Message: "the address of the endpoint " + u.Host + " holds a name or a password", Fix: "put it into the environment, and write headers: {Authorization: ${NAME}}"}
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: dialPatience}).DialContext, TLSHandshakeTimeout: dialPatience,
		ForceAttemptHTTP2: true, MaxIdleConnsPerHost: keptConnections, IdleConnTimeout: idlePatience, MaxResponseHeaderBytes: maxHeader,
	}
	e := &endpoint{url: u, header: http.Header{}, mask: c.Masker, client: &http.Client{Transport: transport, CheckRedirect: stay}}
	e.closing, e.close = context.WithCancel(context.Background())
	for name, value := range c.Headers {
		e.header.Set(name, value)
	}
	e.header.Set("Content-Type", "application/json")
	e.header.Set("Accept", "application/json")
	return e, nil
}

// stay follows no redirect: the headers are for the address that the recipe names, and
// a POST that is sent on may arrive as a GET.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// end lets go of the connections and ends the requests in flight.
func (e *endpoint) end() {
	e.close()
	e.client.CloseIdleConnections()
}

func (e *endpoint) nextID() string { return strconv.FormatUint(e.ids.Add(1), 10) }

// check finds out whether anyone listens, without asking for anything.
func (e *endpoint) check(ctx context.Context) error {
	port := e.url.Port()
	if port == "" {
		port = e.url.Scheme // the dialer knows both by name
	}
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: e.url}); proxy != nil || err != nil {
		return nil // who listens behind a proxy is for it to say
	}
	conn, err := (&net.Dialer{Timeout: dialPatience}).DialContext(ctx, "tcp", net.JoinHostPort(e.url.Hostname(), port))
	if err != nil {
		return &record.Problem{Code: "unreachable", Message: fmt.Sprintf("nobody answers at %s: %v", e.url.Host, err), Fix: "start the endpoint, or correct its address", Err: err}
	}
	return conn.Close()
}

// post has the endpoint answer body and gives its answer, which is at most maxLine
// bytes, with the status 2xx, or with any where it is a message of the protocol. Errors
// are [record.AgentError]s. what is the thing that does not come where it is late.
func (e *endpoint) post(ctx context.Context, what string, body []byte) ([]byte, error) {
	began := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.closing, cancel)()
	var asked atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(w httptrace.WroteRequestInfo) { asked.Store(w.Err == nil) }})
	request, err := http.NewRequestWithContext(traced, http.MethodPost, e.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, &record.AgentError{Cause: record.CauseInfrastructure, Err: err}
	}
	request.Header = e.header.Clone()
	answer, err := e.client.Do(request)
	if err != nil {
		return nil, e.noAnswer(ctx, err, what, asked.Load(), began)
	}
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxLine+1))
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, e.noAnswer(ctx, err, what, true, began)
	case err != nil:
		return nil, record.AgentErrorf(record.CauseInfrastructure, "the answer of %s was cut off after %d bytes: %w", e.url.Host, len(raw), err)
	case len(raw) > maxLine:
		return nil, record.AgentErrorf(record.CauseAgent, "the answer of %s is over %d MiB: %q", e.url.Host, maxLine>>20, quote(e.mask, string(raw)))
	}
	return raw, e.refused(answer, raw)
}

// noAnswer explains a request that nothing came of. asked says that the endpoint has
// it whole.
func (e *endpoint) noAnswer(ctx context.Context, err error, what string, asked bool, began time.Time) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // the address is said below, without what stands behind its "?"
	}
	took := roundly(time.Since(began))
	switch {
	case e.closing.Err() != nil:
		return &record.AgentError{Cause: record.CauseInterrupted, Err: errPoolClosed}
	case errors.Is(ctx.Err(), context.Canceled):
		return &record.AgentError{Cause: record.CauseInterrupted, Err: err}
	case ctx.Err() != nil && asked:
		return record.AgentErrorf(record.CauseAgent, "no %s of %s after %s: %w", what, e.url.Host, took, ctx.Err())
	case ctx.Err() != nil:
		return &record.AgentError{Cause: record.CauseInfrastructure, Unasked: true, Err: fmt.Errorf("%s was not reached within %s: %w", e.url.Host, took, ctx.Err())}
	}
	return record.AgentErrorf(record.CauseInfrastructure, "%s cannot be asked: %w", e.url.Host, err)
}

// refused is what a status other than 2xx is put down to; nil where the answer is to be
// read. An endpoint that says in the protocol's words what went wrong is believed
// whatever its status, unless that is about the key.
func (e *endpoint) refused(answer *http.Response, raw []byte) error {
	status := answer.StatusCode
	text := fmt.Sprintf("%s answered %d %s", e.url.Host, status, http.StatusText(status))
	if said := strings.TrimSpace(quote(e.mask, string(raw))); said != "" {
		text += fmt.Sprintf(": %q", said)
	}
	switch m, err := parseMessage(raw); {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return &record.AgentError{Cause: record.CauseInfrastructure, Stop: record.StoppedAuth,
			Err: &record.Problem{Code: "auth", Message: text, Fix: "see that the environment holds the right key, and that headers names it"}}
	case status/100 == 2:
		e.strikes.Store(0)
		return nil
	case err == nil && *m.Type == typeError:
		e.strikes.Store(0)
		return nil
	}
	switch {
	case status/100 == 3:
		text += fmt.Sprintf("; redirects are not followed: it names %q", quote(e.mask, answer.Header.Get("Location")))
		fallthrough
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed, status == http.StatusGone, status == http.StatusNotImplemented:
		return e.wrongAddress(text)
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status == http.StatusTooEarly, status >= 500:
		return &record.AgentError{Cause: record.CauseInfrastructure, Err: errors.New(text), After: retryAfter(answer.Header.Get("Retry-After"), time.Now())}
	}
	e.strikes.Store(0) // who refuses a request has read it; one in trouble may be a gateway
	return &record.AgentError{Cause: record.CauseAgent, Err: errors.New(text)}
}

// wrongAddress counts answers that nobody is there.
func (e *endpoint) wrongAddress(text string) error {
	err := &record.AgentError{Cause: record.CauseInfrastructure,
		Err: &record.Problem{Code: "wrong_address", Message: text, Fix: "check the address: a POST to " + e.url.Path + " at " + e.url.Host + " must answer"}}
	if e.strikes.Add(1) >= wrongAddresses {
		err.Stop = record.StoppedWrongAddress
	}
	return err
}

// retryAfter reads the header of that name: seconds, or a date of HTTP. 0 where it says
// nothing, or something past.
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil {
		const day = 24 * 60 * 60
		return time.Duration(min(max(seconds, 0), day)) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}
