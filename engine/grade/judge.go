package grade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	// Scale maps the judge's ratings to rewards; nil where it gives rewards. A rating
	// outside 0..1 without a scale is refused.
	Scale *Scale
	// Timeout bounds one verdict; 0 is none beside the context's.
	Timeout time.Duration
	// MaxChars bounds the transcript; 0 means [DefaultMaxChars].
	MaxChars int
}

func (j *JudgeConfig) maxChars() int {
	if j.MaxChars == 0 {
		return DefaultMaxChars
	}
	return j.MaxChars
}

// verdictJudge is a judge that is given the whole transcript, bounds it itself, and
// reads its own reply: a rubric judge counts what was called before anything is cut, and
// knows its criteria.
type verdictJudge interface {
	verdict(ctx context.Context, whole JudgeRequest, maxChars int, scale *Scale) (v Verdict, raw []byte, cut json.RawMessage, err error)
}

// answer is what a judge said of one case, and of how much of it.
type answer struct {
	Verdict
	raw []byte
	cut json.RawMessage
}

// ask asks for one verdict. The error is the judge's own, its panic included.
func (j *JudgeConfig) ask(ctx context.Context, c *Case) (a answer, err error) {
	if j.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, j.Timeout)
		defer cancel()
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the judge panicked: %v", r)
		}
	}()
	whole := newJudgeRequest(c, j.Rubric)
	if own, ok := j.Judge.(verdictJudge); ok {
		a.Verdict, a.raw, a.cut, err = own.verdict(ctx, whole, j.maxChars(), j.Scale)
		return a, err
	}
	req, cut := fit(whole, j.maxChars())
	a.cut = cut
	if a.raw, err = j.Judge.Judge(ctx, req); err == nil {
		a.Verdict = ParseRating(a.raw, j.Scale)
	}
	return a, err
}

// statusOf tells a judge that ran out of time from one that failed.
func statusOf(err error) record.JudgeStatus {
	if errors.Is(err, context.DeadlineExceeded) {
		return record.JudgeTimeout
	}
	return record.JudgeError
}
