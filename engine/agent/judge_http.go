package agent

import (
	"context"
	"fmt"
	"strings"

	"assay/engine/record"
)

// HTTPJudge is an endpoint that is sent grade messages, as a [CommandJudge] is, one as
// the body of a POST, and answers with the verdict. It is safe for concurrent use, and
// keeps connections, which Close lets go of.
type HTTPJudge struct {
	at *endpoint
}

// NewHTTPJudge prepares an HTTP judge. Nothing is sent before the first request.
func NewHTTPJudge(c HTTPConfig) (*HTTPJudge, error) {
	at, err := newEndpoint(c)
	if err != nil {
		return nil, err
	}
	return &HTTPJudge{at: at}, nil
}

// Check is that of [HTTP].
func (j *HTTPJudge) Check(ctx context.Context) error { return j.at.check(ctx) }

// Close is that of [HTTP].
func (j *HTTPJudge) Close() { j.at.end() }

// Grade asks for one verdict and gives the answer whole, as it was written, whatever it
// is but an error of the protocol: what counts as a verdict is for the grader to say. A
// deadline of ctx is [context.DeadlineExceeded]. Errors are [record.AgentError]s of
// cause judge, infrastructure or interrupted; 401 and 403, and the third wrong address
// in a row, stop the run as with [HTTP].
func (j *HTTPJudge) Grade(ctx context.Context, r record.JudgeRequest) ([]byte, error) {
	body, err := writeLine(newGradeMessage(j.at.nextID(), &r))
	if err != nil {
		return nil, record.AgentErrorf(record.CauseJudge, "the request cannot be written as JSON: %w", err)
	}
	raw, err := j.at.post(ctx, "verdict", body)
	if err != nil {
		return nil, blameJudge(err)
	}
	if m, err := parseMessage(raw); err == nil && *m.Type == typeError {
		m.mask, m.from = j.at.mask, "the endpoint"
		return nil, blameJudge(m.toError())
	}
	if strings.TrimSpace(string(raw)) == "" {
		return nil, &record.AgentError{Cause: record.CauseJudge, Err: fmt.Errorf("the answer of %s is empty", j.at.url.Host)}
	}
	return raw, nil
}
