package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"assay/engine/record"
)

// CommandConfig says which program an agent or a judge is.
type CommandConfig struct {
	// Argv is the program and its arguments, passed on as they are: no shell.
	Argv []string
	// Dir is the working directory, which a program named by a relative path is
	// looked up in; "" is ours.
	Dir string
	// Env names the environment variables that the program may see beside PATH, HOME
	// and LANG.
	Env []string
	// Environ is the environment to take them from, in the form of [os.Environ]; nil
	// is our own, read once.
	Environ []string
	// Masker takes the values of keys out of what is said of the program in errors,
	// before any of it is cut; nil is one that knows those that the program may see.
	Masker *record.Masker
}

func (c CommandConfig) program() (program, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return program{}, &record.Problem{Code: "no_command", Message: "the command is empty", Fix: "write command: [program, argument]"}
	}
	environ := c.Environ
	if environ == nil {
		environ = os.Environ()
	}
	mask := c.Masker
	if mask == nil {
		mask = record.NewMasker(record.Secrets(environ, c.Env)...)
	}
	return program{argv: c.Argv, dir: c.Dir, env: Environment(environ, c.Env), mask: mask}, nil
}

// Command is an agent that is a program speaking the agent protocol, version 1,
// kept alive between turns. It is safe for concurrent use; its processes end
// with Close.
type Command struct {
	pool *pool
	ids  atomic.Uint64
}

// NewCommand prepares a command agent. No process is started before the first
// turn, so a missing program is that turn's error.
func NewCommand(c CommandConfig) (*Command, error) {
	prog, err := c.program()
	if err != nil {
		return nil, err
	}
	return &Command{pool: newPool(prog)}, nil
}

// Close asks every process to end by closing its stdin, kills what has not ended
// two seconds later with its children, and returns when none is left. A turn in
// flight ends with an error.
func (c *Command) Close() { c.pool.close() }

// Started is how many processes have ever been started.
func (c *Command) Started() int {
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	return c.pool.started
}

// Reply has one turn with one process. Errors are [record.AgentError]s: cause
// agent where the program broke the protocol, ended, or was too slow; the cause
// that the program names where it reports an error; infrastructure where no
// process was free before the deadline; interrupted where ctx was cancelled.
func (c *Command) Reply(ctx context.Context, turn record.Turn) (record.Reply, error) {
	began := time.Now()
	if !turn.Deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, turn.Deadline)
		defer cancel()
	}
	id := strconv.FormatUint(c.ids.Add(1), 10)
	first, err := writeLine(newTurnMessage(id, &turn, began))
	if err != nil {
		return record.Reply{}, record.AgentErrorf(record.CauseInfrastructure, "the turn cannot be written as JSON: %w", err)
	}
	var reply record.Reply
	err = c.pool.ask(ctx, id, first, func(m *message) ([]byte, bool, error) {
		switch *m.Type {
		case typeToolCall:
			answer, err := answerCall(ctx, &turn, m)
			return answer, false, err
		case typeText:
			return nil, false, say(&turn, m)
		case typeReply:
			r, err := m.toReply(turn.ToolsBy)
			reply = r
			return nil, true, err
		case typeError:
			return nil, true, m.toError()
		}
		return nil, false, &protocolError{fmt.Sprintf("has the type %q, which is none of tool_call, text, reply, error", m.quote(*m.Type))}
	})
	if err != nil {
		return record.Reply{}, explain(err, "reply", time.Since(began))
	}
	return reply, nil
}

// answerCall asks the world, which records the step.
func answerCall(ctx context.Context, turn *record.Turn, m *message) ([]byte, error) {
	call, err := m.toCall()
	if err != nil {
		return nil, &protocolError{err.Error()}
	}
	if turn.ToolsBy == record.ToolsByAgent {
		return nil, &protocolError{"is a tool_call, but tools_by is agent and nobody answers it; set tools_by: world in the recipe, or report the calls as steps of the reply"}
	}
	if turn.Call == nil {
		return nil, &protocolError{"is a tool_call, and this turn has no world to answer it"}
	}
	result := turn.Call(ctx, record.ToolCall{ID: string(call.Call), Tool: string(call.Tool), Arguments: call.Arguments})
	return writeLine(toolResultMessage{Type: typeToolResult, ID: *m.ID, Call: call.Call, Result: orNull(result.Result), IsError: result.IsError})
}

func say(turn *record.Turn, m *message) error {
	var body textBody
	if err := m.own(&body); err != nil {
		return &protocolError{err.Error()}
	}
	if body.Text == nil {
		return &protocolError{"is a text without text"}
	}
	if turn.Say != nil {
		turn.Say(*body.Text)
	}
	return nil
}

// toError is what a program or an endpoint reports of itself.
func (m *message) toError() error {
	var body errorBody
	if err := m.own(&body); err != nil {
		return record.AgentErrorf(record.CauseAgent, "%s reported an error that %w", m.from, err)
	}
	text, _ := record.Text(m.mask.Text(string(body.Error))).Clean()
	if text == "" {
		text = "an error, without saying which"
	}
	cause := record.CauseAgent
	if body.Cause != nil {
		switch named := record.Cause(*body.Cause); named {
		case record.CauseAgent, record.CauseInfrastructure, record.CauseContext:
			cause = named
		default:
			return record.AgentErrorf(cause, "%s reported an error of the cause %q, which is none of agent, infrastructure, context: %s", m.from, m.quote(*body.Cause), text)
		}
	}
	return record.AgentErrorf(cause, "%s reported: %s", m.from, text)
}

// explain puts an exchange's error down to its cause. what is the thing that did
// not come.
func explain(err error, what string, took time.Duration) error {
	var known *record.AgentError
	var busy *busyError
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, errPoolClosed), errors.Is(err, context.Canceled):
		return &record.AgentError{Cause: record.CauseInterrupted, Err: err}
	case errors.As(err, &busy):
		return &record.AgentError{Cause: record.CauseInfrastructure, Unasked: true, Err: fmt.Errorf("no process was free within %s: %w", roundly(took), err)}
	case errors.Is(err, context.DeadlineExceeded):
		return record.AgentErrorf(record.CauseAgent, "no %s after %s: %w", what, roundly(took), err)
	}
	return &record.AgentError{Cause: record.CauseAgent, Err: err}
}

func roundly(d time.Duration) time.Duration {
	if d > time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Millisecond)
}
