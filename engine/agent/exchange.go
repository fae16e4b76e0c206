package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"assay/engine/record"
)

const (
	// cancelGrace is how long a process may tidy up after a cancel, by the protocol.
	cancelGrace = 2 * time.Second
	// errorGrace is how long a process that broke the protocol may take to read what
	// was wrong and log it. Convention, untested.
	errorGrace = 250 * time.Millisecond
	// maxTurnMessages bounds what a program may write in one turn: an agent that
	// calls a tool ten thousand times is in a loop. Convention, untested.
	maxTurnMessages = 10_000
	// maxTurnBytes bounds the lines of one turn together: four of the longest, all of
	// which stay on the rollout. Convention, untested.
	maxTurnBytes = 4 * maxLine
	// maxUnread is how many answers may wait for a program that does not read before
	// no more of its calls are taken.
	maxUnread = 64
)

// protocolError is a program's breach of the protocol: what it wrote is of no
// more use, and it is killed and replaced.
type protocolError struct{ text string }

func (e *protocolError) Error() string { return e.text }

// logHint is what most breaches come from.
const logHint = "stdout carries nothing but protocol messages: print logs to stderr"

// exitError is a process that ended while it was asked something.
type exitError struct {
	status string
	// clean says that it ended with status 0 before it said anything in this
	// exchange: it had finished before it was asked.
	clean bool
	log   string
}

func (e *exitError) Error() string {
	text := "the process ended in mid-turn with " + e.status
	if e.log == "" {
		return text + "; its stderr is empty"
	}
	return text + "; its stderr ends:\n" + e.log
}

// busyError is a deadline or a cancellation that came before a process was free.
type busyError struct{ err error }

func (e *busyError) Error() string { return "no process was free: " + e.err.Error() }

func (e *busyError) Unwrap() error { return e.err }

// cutShort is a deadline or a cancellation in mid-turn, with what had come until
// then.
type cutShort struct {
	err  error
	text string
}

func (e *cutShort) Error() string {
	if errors.Is(e.err, context.DeadlineExceeded) {
		return "the program was cancelled at its deadline" + e.text
	}
	return "the program was cancelled: " + e.err.Error() + e.text
}

func (e *cutShort) Unwrap() error { return e.err }

// handler takes a message of the exchange's own id. It gives what to write back,
// if anything, and whether the exchange is over. A *protocolError kills the
// process; any other error of a message that is done leaves it alive.
type handler func(*message) (answer []byte, done bool, err error)

// ask has one exchange with some process of the pool: it writes first and passes
// what comes back to handle, until handle is done.
//
// A process that had ended by itself, with status 0, before it was asked is no
// error of anyone: programs that answer one turn and end are started anew.
func (p *pool) ask(ctx context.Context, id string, first []byte, handle handler) error {
	for {
		proc, err := p.acquire(ctx)
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return &busyError{err}
		}
		if err != nil {
			return err
		}
		served := proc.served
		err = p.converse(ctx, proc, id, first, handle)
		var exit *exitError
		if served > 0 && errors.As(err, &exit) && exit.clean {
			continue
		}
		return err
	}
}

// converse has the exchange with proc, and releases or discards it.
func (p *pool) converse(ctx context.Context, proc *process, id string, first []byte, handle handler) error {
	c := conversation{pool: p, proc: proc, id: id, out: [][]byte{first}, logMark: proc.log.mark(), handle: handle}
	err := c.run(ctx)
	var breach *protocolError
	var exit *exitError
	switch {
	case errors.As(err, &breach):
		farewell, _ := writeLine(errorMessage{Type: typeError, ID: id, Error: breach.text}) // plain strings always marshal
		p.discard(proc, farewell, errorGrace, true)
		return fmt.Errorf("%w%s", err, c.logSuffix())
	case errors.As(err, &exit):
		p.discard(proc, nil, 0, true)
		if p.stillborn() {
			return &record.AgentError{Cause: record.CauseAgent, Stop: record.StoppedAgentFailed, Err: fmt.Errorf("the program has never said a word: %w", err)}
		}
	case c.interrupted:
		farewell, _ := writeLine(errorMessage{Type: typeCancel, ID: id})
		p.discard(proc, farewell, cancelGrace, false)
		return &cutShort{err, c.silence() + c.logSuffix()}
	default:
		p.release(proc)
	}
	return err
}

// conversation is the state of one exchange.
type conversation struct {
	pool    *pool
	proc    *process
	id      string
	handle  handler
	out     [][]byte // what is still to be written
	logMark int64

	lines, bytes int // received
	over         bool
	result       error // of handle, when it was done
	interrupted  bool
}

func (c *conversation) run(ctx context.Context) error {
	var late <-chan time.Time // bounds the wait for the rest of what came behind a reply
	for {
		var send chan<- []byte
		var next []byte
		if len(c.out) > 0 {
			send, next = c.proc.out, c.out[0]
		}
		lines, reaped := c.proc.lines, (<-chan struct{})(nil)
		if len(c.out) > maxUnread {
			lines, reaped = nil, c.proc.reaped
		}
		select {
		case send <- next:
			c.out = c.out[1:]
		case <-reaped:
			c.out = nil // nobody is left to read it
		case f, open := <-lines:
			if !open {
				return c.ended()
			}
			if err := c.take(f); err != nil {
				return err
			}
			if c.over && !f.more {
				return c.result
			}
			if c.over {
				late = time.After(errorGrace)
			}
		case <-late:
			return &protocolError{fmt.Sprintf("the program wrote %d bytes behind its reply; %s", c.proc.frames.pending.Load(), logHint)}
		case <-ctx.Done():
			c.interrupted = true
			return ctx.Err()
		case <-c.pool.closing:
			c.interrupted = true
			return errPoolClosed
		}
	}
}

// take handles one line.
func (c *conversation) take(f frame) error {
	if c.lines == 0 && c.proc.served == 0 {
		c.pool.heard(c.proc)
	}
	c.lines++
	c.bytes += len(f.line)
	switch {
	case f.long:
		return c.breach("is over %d MiB: %q", maxLine>>20, c.quote(string(f.line)))
	case c.over:
		return c.breach("came after the turn's reply, and a turn has one: %q; %s", c.quote(string(f.line)), logHint)
	case c.lines > maxTurnMessages:
		return &protocolError{fmt.Sprintf("the program wrote more than %d messages in one turn", maxTurnMessages)}
	case c.bytes > maxTurnBytes:
		return &protocolError{fmt.Sprintf("the program wrote more than %d MiB in one turn", maxTurnBytes>>20)}
	}
	m, err := parseMessage(f.line)
	m.mask, m.from = c.pool.prog.mask, "the program"
	switch {
	case err != nil:
		return c.breach("%w: %q; %s", err, c.quote(string(f.line)), logHint)
	case m.ID == nil:
		return c.breach("has no id: %q", c.quote(string(f.line)))
	case *m.ID != c.id:
		return c.breach("has the id %q, and this turn's is %q: an earlier turn was answered twice, or the id was not copied: %q", c.quote(*m.ID), c.id, c.quote(string(f.line)))
	}
	answer, done, err := c.handle(&m)
	if answer != nil {
		c.out = append(c.out, answer)
	}
	var breach *protocolError
	if errors.As(err, &breach) {
		return c.breach("%w: %q", err, c.quote(string(f.line)))
	}
	if done {
		c.over, c.result = true, err
		return nil
	}
	return err
}

func (c *conversation) quote(s string) string { return quote(c.pool.prog.mask, s) }

// breach is a protocol error of the line that was just received.
func (c *conversation) breach(format string, args ...any) error {
	return &protocolError{fmt.Errorf("line %d "+format, append([]any{c.lines}, args...)...).Error()}
}

// ended explains the end of the process's output.
func (c *conversation) ended() error {
	if c.over {
		return c.result
	}
	grace := time.NewTimer(errorGrace)
	defer grace.Stop()
	select {
	case <-c.proc.ended:
	case <-grace.C:
		return &protocolError{"the program closed its stdout in mid-turn and went on running"}
	}
	status := c.proc.status()
	return &exitError{status: status, clean: c.lines == 0 && status == "exit status 0", log: c.log()}
}

// log is the program's stderr since the exchange began or, where that is
// nothing, its end.
func (c *conversation) log() string {
	mask := c.pool.prog.mask
	log := mask.Text(c.proc.log.since(c.logMark))
	if log == "" {
		log = mask.Text(c.proc.log.since(0))
		log = log[max(0, len(log)-lastLog):]
	}
	clean, _ := record.Text(log).Clean()
	return strings.TrimSpace(clean)
}

// lastLog is how much stderr from before a turn is shown with the turn's error.
const lastLog = 4 << 10

func (c *conversation) logSuffix() string {
	if c.proc.log.mark() == c.logMark {
		return ""
	}
	return "; its stderr in this turn:\n" + c.log()
}

// silence says what came of a program that did not answer in time, and the
// mistake that this usually is.
func (c *conversation) silence() string {
	switch pending := c.proc.frames.pending.Load(); {
	case c.over:
		return ""
	case pending > 0:
		return fmt.Sprintf(" (it wrote %d bytes without a newline: every message ends with one)", pending)
	case c.lines == 0:
		return " (it wrote nothing in this turn: is its output flushed after every line?)"
	}
	return fmt.Sprintf(" (it wrote %d messages and no reply)", c.lines)
}
