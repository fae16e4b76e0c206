package grade

import (
	"context"
	"encoding/json"
	"time"

	"assay/engine/record"
)

// JudgeRequest is all that a judge is given.
type JudgeRequest = record.JudgeRequest

// Judge gives its word on one rollout: a verdict object or a bare number, as it
// came, for [ParseVerdict] to read. An error of context.DeadlineExceeded is a
// timeout, any other an error; neither is a reward of 0.
type Judge interface {
	Judge(context.Context, JudgeRequest) ([]byte, error)
}

// JudgeFunc is a Go function as a judge.
type JudgeFunc func(context.Context, JudgeRequest) ([]byte, error)

// Judge calls f.
func (f JudgeFunc) Judge(ctx context.Context, req JudgeRequest) ([]byte, error) { return f(ctx, req) }

// Versioned is a judge that is a program of its own: another version of it is
// another scorer.
type Versioned interface {
	Version() string
}

// JudgeConfig is a judge as the source of the reward.
type JudgeConfig struct {
	Judge Judge
	// Name is how people know it: "builtin:fair", a program's argv[0], a function's
	// given name. With Model, Rubric and Settings it makes the scorer's version.
	Name     string
	Model    string
	Rubric   record.Text
	Settings json.RawMessage
	// Timeout bounds one verdict; 0 is none beside the context's.
	Timeout time.Duration
	// MaxChars bounds the transcript; 0 means [DefaultMaxChars].
	MaxChars int
}
