package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"

	"assay/engine/record"
)

const (
	// longestBody bounds what is read of one answer. A stream wraps each token in a few
	// hundred bytes, so it is over longestAnswer. Convention, untested.
	longestBody = 64 << 20
	// longestErrorBody is how much of a refusal is read: the reason stands at its start.
	longestErrorBody = 64 << 10
	// longestGoodbye and maxGoodbye bound the wait for the end of a body whose answer is
	// there: a new connection takes about as long. Convention, untested.
	longestGoodbye = 50 * time.Millisecond
	maxGoodbye     = 4 << 10
)

var (
	errSilent   = fmt.Errorf("the server was silent: %w", context.DeadlineExceeded)
	errTooLong  = fmt.Errorf("the answer took too long: %w", context.DeadlineExceeded)
	errHungUp   = errors.New("the connection was closed without an answer")
	errLongBody = errors.New("the answer's body is over 64 MiB")
)

// exchange makes requests of one model's endpoint over HTTP.
type exchange struct {
	client *http.Client
	clock  Clock
	masker *record.Masker
	host   string
	// header makes a request's headers, with the key. A function is what no verb of fmt
	// looks into.
	header        func() http.Header
	idle, timeout time.Duration
}

// send makes one request. read is given the body of a 200 and whether it is a stream; it
// reports whether any of an answer has come.
func (x *exchange) send(ctx context.Context, method, url string, body []byte, read func(r io.Reader, stream bool) (heard bool, err error)) *failure {
	own, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	whole := time.AfterFunc(x.timeout, func() { cancel(errTooLong) })
	defer whole.Stop()
	silence := time.AfterFunc(x.idle, func() { cancel(errSilent) })
	defer silence.Stop()

	req, err := http.NewRequestWithContext(own, method, url, bytes.NewReader(body))
	if err != nil {
		return failed(kindAddress, "%s cannot be asked: %w", x.host, err)
	}
	req.Header = x.header()
	res, err := x.client.Do(req)
	if err != nil {
		return x.broken(ctx, own, false, err)
	}
	defer res.Body.Close()
	silence.Reset(x.idle)
	in := &watched{from: res.Body, silence: silence, idle: x.idle, left: longestBody}
	if res.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(in, longestErrorBody)) // what came of it is enough
		if ctx.Err() != nil {
			return ended(ctx, false, nil)
		}
		return refusal(x.host, res.StatusCode, readServerError(said, x.show), ownDelay(res.Header, x.clock.Now()))
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	heard, err := read(in, kind != "application/json")
	if err != nil {
		return x.broken(ctx, own, heard, err)
	}
	// What follows an answer is read so that the connection can be used again; a server
	// that keeps it open is not waited for.
	silence.Reset(longestGoodbye)
	_, _ = io.CopyN(io.Discard, res.Body, maxGoodbye)
	return nil
}

// broken says why a request without a refusal failed. ctx is the caller's, own the
// request's.
func (x *exchange) broken(ctx, own context.Context, heard bool, err error) *failure {
	var said *streamError
	why := context.Cause(own)
	switch {
	case ctx.Err() != nil:
		return ended(ctx, heard, nil)
	case errors.Is(why, errSilent):
		return failed(kindSilent, "%s: %w for %v", x.host, errSilent, x.idle)
	case errors.Is(why, errTooLong):
		return failed(kindBounds, "%s: %w, over %v", x.host, errTooLong, x.timeout)
	case errors.As(err, &said):
		return x.streamed(said, heard)
	case errors.Is(err, errLongBody), errors.Is(err, errLongAnswer), errors.Is(err, errLongLine):
		return failed(kindBounds, "%s: %w", x.host, err)
	}
	var at *url.Error
	if errors.As(err, &at) { // it repeats the address
		err = at.Err
	}
	if errors.Is(err, io.EOF) {
		err = errHungUp
	}
	return failed(kindServer, "%s: %s", x.host, x.show(err.Error()))
}

// streamed is the failure that a server told of under status 200, as its own statuses say
// it.
func (x *exchange) streamed(e *streamError, heard bool) *failure {
	said := readServerError(e.body, x.show)
	f := refusal(x.host, said.status(), said, none)
	f.heard = heard
	return f
}

// show makes text from outside safe to stand in an error: masked before it is cut, so
// that no piece of a key is left.
func (x *exchange) show(text string) string { return plainly(x.masker.Text(text)) }

// watched is a body that is read within bounds of silence and size.
type watched struct {
	from    io.Reader
	silence *time.Timer
	idle    time.Duration
	left    int
}

func (w *watched) Read(p []byte) (int, error) {
	if w.left <= 0 {
		return 0, errLongBody
	}
	n, err := w.from.Read(p[:min(len(p), w.left)])
	if n > 0 {
		w.left -= n
		w.silence.Reset(w.idle)
	}
	return n, err
}
