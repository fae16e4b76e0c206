package rollout

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"assay/engine/record"
	"assay/engine/world"
)

// Agent answers one turn of a conversation. An error that is a
// [record.AgentError] says what the failure is put down to; any other is the
// agent's.
type Agent interface {
	Reply(context.Context, record.Turn) (record.Reply, error)
}

// AgentFunc is an agent that is a Go function.
type AgentFunc func(context.Context, record.Turn) (record.Reply, error)

// Reply calls f.
func (f AgentFunc) Reply(ctx context.Context, turn record.Turn) (record.Reply, error) {
	return f(ctx, turn)
}

// Defaults of a runner.
const (
	// DefaultMaxTurns is how many replies a conversation may have: 75% of the 200
	// published tau-bench airline conversations (gpt-4o, Yao et al. 2024) have no
	// more.
	DefaultMaxTurns = 8
	// DefaultMaxCalls is how many tool calls a rollout may make before it is cut
	// off. The longest of the same conversations makes 27, so ten times as many are
	// a loop; convention, untested.
	DefaultMaxCalls = 256
	// DefaultTimeout is how long one reply may take. Convention, untested.
	DefaultTimeout = 60 * time.Second
	// DefaultGrace is how long an agent whose context ended may still take to return
	// before it is left behind. The agent protocol gives a process two seconds
	// before it is killed; this leaves room for that.
	DefaultGrace = 5 * time.Second
)

// Retries say how often an attempt that failed is made again, by its cause.
// Other causes are not retried.
type Retries struct {
	Agent          int // further attempts after a failure of the agent or an empty reply
	Infrastructure int // further attempts after a failure of the line
	// Backoff is the wait before the first retry of infrastructure; it doubles, and
	// up to half of it is added by a draw.
	Backoff time.Duration
}

// DefaultRetries follow the contract: once for the agent, three tries for
// infrastructure. The backoff is convention, untested.
func DefaultRetries() Retries {
	return Retries{Agent: 1, Infrastructure: 2, Backoff: 500 * time.Millisecond}
}

// Hooks hear a rollout as it happens. Each may be nil.
type Hooks struct {
	// Step hears each step as it is recorded. After a retry the index begins at 0
	// again.
	Step func(rolloutID string, index int, step record.Step)
	// Text hears a reply while it is being made.
	Text func(rolloutID string, delta record.Delta)
	// Retried hears that an attempt failed and another begins.
	Retried func(rolloutID string, cause record.Cause, err error)
	// Lost hears why a rollout was lost; the error may be a [record.AgentError] that
	// stops the run.
	Lost func(rolloutID string, err error)
}

// Runner makes rollouts of one policy. Agent must be set; the zero value of the
// rest is the default. It must not be changed once it is in use.
type Runner struct {
	Agent   Agent
	Policy  Policy
	ToolsBy record.ToolsBy // "" means world
	Seed    int64

	MaxTurns int           // replies in a rollout; 0 means DefaultMaxTurns
	MaxCalls int           // tool calls in a rollout; 0 means DefaultMaxCalls
	Timeout  time.Duration // of one reply; 0 means DefaultTimeout, less is none
	// Grace is how long an agent whose context ended may take to return; 0 means
	// DefaultGrace.
	Grace time.Duration
	// MaxTokens ends a conversation once its replies have used as many tokens, input
	// and output together; 0 is no limit.
	MaxTokens int64
	Retries   *Retries     // nil means DefaultRetries
	Dials     *world.Dials // nil means world.DefaultDials
	Hooks     Hooks

	// Serve opens one rollout's world to an agent that calls it from outside its
	// turn, over MCP: it gives the address, and closed ends the service. A call is a
	// step of the turn that is open when it comes; between turns it is refused. nil
	// serves nothing.
	Serve func(ask func(context.Context, record.ToolCall) record.ToolResult) (address record.WorldAddress, closed func())
	// Person plays the user of a task; nil plays the scripted one.
	Person func(task *record.Task, draws *rand.Rand) (Person, error)
	// UserModel is who plays the users, on every row; "" is the kind of the task's own.
	UserModel string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Wait sleeps before a retry; nil waits for real.
	Wait func(context.Context, time.Duration) error

	once     sync.Once
	ready    settled
	toolsets sync.Map // tools hash -> *world.Toolset, for tasks with tools of their own
}

// settled is what all rollouts of a runner share.
type settled struct {
	version, promptHash string
	toolset             *world.Toolset // of Policy.Tools
	dials               world.Dials
	retries             Retries
	maxTurns, maxCalls  int
	timeout, grace      time.Duration
	now                 func() time.Time
	wait                func(context.Context, time.Duration) error
	person              func(*record.Task, *rand.Rand) (Person, error)
}

func (r *Runner) settle() {
	s := settled{version: r.Policy.Version(), promptHash: PromptHash(r.Policy.SystemPrompt), dials: world.DefaultDials(),
		retries: DefaultRetries(), maxTurns: r.MaxTurns, maxCalls: r.MaxCalls, timeout: r.Timeout, grace: r.Grace, now: r.Now, wait: r.Wait, person: r.Person}
	if r.Policy.Tools != nil {
		s.toolset = world.Compile(r.Policy.Tools)
	}
	if r.Dials != nil {
		s.dials = *r.Dials
	}
	if r.Retries != nil {
		s.retries = *r.Retries
	}
	if s.maxTurns <= 0 {
		s.maxTurns = DefaultMaxTurns
	}
	if s.maxCalls <= 0 {
		s.maxCalls = DefaultMaxCalls
	}
	if s.timeout == 0 {
		s.timeout = DefaultTimeout
	}
	if s.grace <= 0 {
		s.grace = DefaultGrace
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.wait == nil {
		s.wait = sleep
	}
	if s.person == nil {
		s.person = scriptedPerson
	}
	r.ready = s
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// toolset is what the world answers for a task.
func (r *Runner) toolset(task *record.Task) *world.Toolset {
	if r.ready.toolset != nil {
		return r.ready.toolset
	}
	hash := task.ToolsHash
	if hash == "" {
		hash = record.ToolsHash(task.Tools)
	}
	if known, ok := r.toolsets.Load(hash); ok {
		return known.(*world.Toolset)
	}
	made, _ := r.toolsets.LoadOrStore(hash, world.Compile(task.Tools))
	return made.(*world.Toolset)
}

// Run makes one rollout. It returns a rollout that is done, lost, or, where ctx
// ended, aborted; an error is on the rollout, with its cause.
func (r *Runner) Run(ctx context.Context, runID string, posed record.Posed, evalRun, k int) record.Rollout {
	r.once.Do(r.settle)
	s := &r.ready
	task := posed.Task
	key := record.Key{TaskID: task.ID, EvalRun: evalRun, K: k}
	out := record.Rollout{
		ID: record.RolloutID(runID, key), RunID: runID, Key: key, Status: record.StatusRunning, StartedAt: s.now(),
		Sampling: r.Policy.Sampling, PolicyVersion: s.version, PromptHash: s.promptHash, WriterModel: task.Writer, UserModel: task.User.Kind,
	}
	if r.UserModel != "" {
		out.UserModel = r.UserModel
	}
	tools := r.Policy.Tools
	if tools == nil {
		tools = task.Tools
	}
	var failures Retries // so far, by cause
	for {
		out.Attempts++
		begun := s.now()
		a := attempt{runner: r, out: &out, task: task, tools: tools, takeEmpty: failures.Agent >= s.retries.Agent}
		err := a.run(ctx)
		out.FinishedAt = s.now()
		out.Latency = out.FinishedAt.Sub(begun)
		if err == nil {
			out.Status = record.StatusDone
			break
		}
		if ctx.Err() != nil {
			abort(ctx, &out)
			return out
		}
		wait, again := s.retries.next(&failures, err)
		if !again {
			r.lose(&out, err)
			return out
		}
		if r.Hooks.Retried != nil {
			r.Hooks.Retried(out.ID, record.CauseOf(err), err)
		}
		if wait > 0 {
			wait += time.Duration(record.Rank("backoff", out.ID, out.Attempts) % uint64(wait/2+1))
			if s.wait(ctx, wait) != nil {
				abort(ctx, &out)
				return out
			}
		}
	}
	out.Behavior = Signature(&out, tools...)
	return out
}

// next reports whether another attempt is due after an error, and the wait
// before it.
func (r Retries) next(failures *Retries, err error) (time.Duration, bool) {
	var agentErr *record.AgentError
	if errors.As(err, &agentErr) && agentErr.Stop != "" {
		return 0, false // the whole run stops, so no attempt can mend it
	}
	switch record.CauseOf(err) {
	case record.CauseAgent:
		failures.Agent++
		return 0, failures.Agent <= r.Agent
	case record.CauseInfrastructure:
		failures.Infrastructure++
		wait := r.Backoff << min(failures.Infrastructure-1, 16)
		if agentErr != nil {
			wait = max(wait, min(agentErr.After, maxAfter))
		}
		return wait, failures.Infrastructure <= r.Infrastructure
	}
	return 0, false
}

// maxAfter is the longest wait that an endpoint can ask for: a minute is the span that
// rate limits are counted over.
const maxAfter = time.Minute

// abort marks a rollout whose context ended.
func abort(ctx context.Context, out *record.Rollout) {
	out.Status, out.Cause, out.EndedBy, out.Error = record.StatusAborted, record.CauseInterrupted, record.EndedByError, record.Text(context.Cause(ctx).Error())
}

func (r *Runner) lose(out *record.Rollout, err error) {
	out.Status, out.Cause, out.EndedBy, out.Error = record.StatusLost, record.CauseOf(err), record.EndedByError, record.Text(err.Error())
	out.FinishReason = record.FinishError
	if r.Hooks.Lost != nil {
		r.Hooks.Lost(out.ID, err)
	}
}

// scriptedPerson plays users of the kind scripted.
func scriptedPerson(task *record.Task, draws *rand.Rand) (Person, error) {
	switch task.User.Kind {
	case "", UserScripted:
		return NewScripted(task.User, draws), nil
	}
	return nil, &record.AgentError{Cause: record.CauseUser, Err: fmt.Errorf("the user of task %s is played by a %s, and the run has none", task.ID, task.User.Kind)}
}
