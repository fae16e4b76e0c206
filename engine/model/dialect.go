package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"assay/engine/record"
)

// dialect is a language that servers speak.
type dialect interface {
	// base is the address to which paths are added.
	base(address string) string
	path() string
	// authorize puts the key and what else each request needs into its headers. key may
	// be "".
	authorize(h http.Header, key string)
	// body is a request's body, without what the server is known to refuse.
	body(model string, r *record.ChatRequest, no refused) map[string]any
	// piece takes one event of a stream. It reports whether it ends the answer; an
	// error of type *streamError is the server's own.
	piece(a *answer, data []byte) (done bool, err error)
	// whole takes an answer that was not streamed.
	whole(a *answer, data []byte) error
}

// refused are members of requests that this server has answered with "unsupported".
type refused []string

func (r refused) has(member string) bool { return slices.Contains(r, member) }

// errCut is a stream that ended before its answer.
var errCut = errors.New("the stream was cut before the answer's end")

// read puts an answer together.
func read(d dialect, a *answer, in io.Reader, stream bool) error {
	if !stream {
		raw, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		return d.whole(a, raw)
	}
	events := newEvents(in)
	for {
		data, err := events.next()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return errCut
		case err != nil:
			return err
		}
		done, err := d.piece(a, data)
		var syntax *json.SyntaxError
		switch {
		case err != nil && events.over && errors.As(err, &syntax):
			return errCut // in mid-line
		case err != nil:
			return err
		case done:
			return nil
		}
	}
}

// unreadable is an answer that is not of its dialect. Far more of it is quoted than an
// error shows: it is cut to that after the keys are masked, so that no piece of one is left.
func unreadable(data []byte, err error) error {
	const quoted = 16 << 10
	return fmt.Errorf("the server's answer cannot be read (%w): %q", err, data[:min(len(data), quoted)])
}

// streamError is an error that a server sends in place of the rest of an answer, or of
// an answer that it sends with status 200.
type streamError struct{ body []byte }

func (e *streamError) Error() string { return string(e.body) }
