package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assay/engine/record"
)

// HTTP is an agent that is an endpoint: the turn is the body of a POST, the reply or
// the error the answer, with the JSON of a command agent. Since there is one answer a
// turn, its tool calls go to the turn's world over MCP. It is safe for concurrent use,
// and keeps connections, which Close lets go of.
type HTTP struct {
	at *endpoint
}

// NewHTTP prepares an HTTP agent. Nothing is sent before the first turn.
func NewHTTP(c HTTPConfig) (*HTTP, error) {
	at, err := newEndpoint(c)
	if err != nil {
		return nil, err
	}
	return &HTTP{at: at}, nil
}

// Check says whether anyone listens at the address, without sending a turn: what is
// missing is known before anything is spent.
func (h *HTTP) Check(ctx context.Context) error { return h.at.check(ctx) }

// Close lets go of the connections. A turn in flight ends with an error.
func (h *HTTP) Close() { h.at.end() }

// Reply has one turn answered. Errors are [record.AgentError]s: cause agent where the
// answer breaks the protocol or comes too late, and for a status of 4xx that says
// nothing else; the cause that an error of the protocol names, whatever its status;
// infrastructure for 429, 5xx, a cut answer, and where nobody could be asked. 401 and
// 403 stop the run, and so does the third answer in a row, of any turn, that nobody is
// there (404, 405, 410, 501, and redirects, which are not followed).
func (h *HTTP) Reply(ctx context.Context, turn record.Turn) (record.Reply, error) {
	began := time.Now()
	if !turn.Deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, turn.Deadline)
		defer cancel()
	}
	id := h.at.nextID()
	body, err := writeLine(newTurnMessage(id, &turn, began))
	if err != nil {
		return record.Reply{}, record.AgentErrorf(record.CauseInfrastructure, "the turn cannot be written as JSON: %w", err)
	}
	raw, err := h.at.post(ctx, "reply", body)
	if err != nil {
		return record.Reply{}, err
	}
	reply, err := h.at.readReply(id, raw, turn.ToolsBy)
	if err != nil {
		return record.Reply{}, explain(err, "reply", time.Since(began))
	}
	return reply, nil
}

// readReply reads the answer to a turn.
func (e *endpoint) readReply(id string, raw []byte, toolsBy record.ToolsBy) (record.Reply, error) {
	m, err := parseMessage(raw)
	m.mask, m.from = e.mask, "the endpoint"
	switch {
	case err != nil:
		return record.Reply{}, fmt.Errorf("the answer of %s %w: %q", e.url.Host, err, quote(e.mask, string(raw)))
	case m.ID != nil && *m.ID != id: // it is the answer to this turn in any case, but then its steps may not be
		return record.Reply{}, fmt.Errorf("the answer of %s has the id %q, and this turn's is %q: %q", e.url.Host, m.quote(*m.ID), id, quote(e.mask, string(raw)))
	}
	switch *m.Type {
	case typeReply:
		reply, err := m.toReply(toolsBy)
		var breach *protocolError
		switch {
		case errors.As(err, &breach):
			err = fmt.Errorf("the answer of %s %w: %q", e.url.Host, err, quote(e.mask, string(raw)))
		case err != nil:
			err = fmt.Errorf("%w: %q", err, quote(e.mask, string(raw)))
		}
		return reply, err
	case typeError:
		return record.Reply{}, m.toError()
	case typeToolCall:
		return record.Reply{}, fmt.Errorf("the answer of %s is a tool_call, and over HTTP a turn has one answer, the reply: call tools at world.mcp, with world.token", e.url.Host)
	}
	return record.Reply{}, fmt.Errorf("the answer of %s has the type %q, which is none of reply, error", e.url.Host, m.quote(*m.Type))
}
