package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"assay/engine/record"
)

// CommandJudge is a program that answers grade messages with verdicts, in the
// framing of the agent protocol. It is safe for concurrent use; its processes
// end with Close.
type CommandJudge struct {
	pool *pool
	ids  atomic.Uint64
}

// NewCommandJudge prepares a command judge. No process is started before the
// first request.
func NewCommandJudge(c CommandConfig) (*CommandJudge, error) {
	prog, err := c.program()
	if err != nil {
		return nil, err
	}
	return &CommandJudge{pool: newPool(prog)}, nil
}

// Close is that of [Command].
func (j *CommandJudge) Close() { j.pool.close() }

// Grade asks for one verdict, on a transcript as the agent itself saw it, and gives its message whole, as it was written: what
// counts as a verdict is for the grader to say. A deadline of ctx is
// [context.DeadlineExceeded]. Errors are [record.AgentError]s of cause judge,
// infrastructure or interrupted.
func (j *CommandJudge) Grade(ctx context.Context, r record.JudgeRequest) (json.RawMessage, error) {
	began := time.Now()
	id := strconv.FormatUint(j.ids.Add(1), 10)
	first, err := writeLine(newGradeMessage(id, &r))
	if err != nil {
		return nil, record.AgentErrorf(record.CauseJudge, "the request cannot be written as JSON: %w", err)
	}
	var verdict json.RawMessage
	err = j.pool.ask(ctx, id, first, func(m *message) ([]byte, bool, error) {
		switch *m.Type {
		case typeVerdict:
			verdict = m.raw
			return nil, true, nil
		case typeError:
			return nil, true, m.toError()
		}
		return nil, false, &protocolError{fmt.Sprintf("has the type %q, which is none of verdict, error", m.quote(*m.Type))}
	})
	if err != nil {
		return nil, blameJudge(explain(err, "verdict", time.Since(began)))
	}
	return verdict, nil
}

// blameJudge makes what would be an agent's fault the judge's.
func blameJudge(err error) error {
	switch cause := record.CauseOf(err); cause {
	case record.CauseInfrastructure, record.CauseInterrupted:
		return err
	default:
		return &record.AgentError{Cause: record.CauseJudge, Err: err}
	}
}
