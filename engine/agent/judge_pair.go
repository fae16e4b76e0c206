package agent

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"assay/engine/record"
)

// Prefer asks which of two attempts at one ask is better, with a compare message, and
// gives the word of the preference: first, second or tie, as it was written. Errors are
// those of [CommandJudge.Grade].
func (j *CommandJudge) Prefer(ctx context.Context, first, second record.JudgeRequest) (string, error) {
	began := time.Now()
	id := strconv.FormatUint(j.ids.Add(1), 10)
	line, err := writeLine(newCompareMessage(id, first, second))
	if err != nil {
		return "", record.AgentErrorf(record.CauseJudge, "the request cannot be written as JSON: %w", err)
	}
	var preferred string
	err = j.pool.ask(ctx, id, line, func(m *message) ([]byte, bool, error) {
		switch *m.Type {
		case typePreference:
			var err error
			preferred, err = m.toPreference()
			return nil, true, err
		case typeError:
			return nil, true, m.toError()
		}
		return nil, false, &protocolError{"has the type " + strconv.Quote(m.quote(*m.Type)) + ", which is none of preference, error"}
	})
	if err != nil {
		return "", blameJudge(explain(err, "preference", time.Since(began)))
	}
	return preferred, nil
}

// Prefer is that of [CommandJudge]: the compare message is the body of a POST, and the
// preference or error its answer.
func (j *HTTPJudge) Prefer(ctx context.Context, first, second record.JudgeRequest) (string, error) {
	body, err := writeLine(newCompareMessage(j.at.nextID(), first, second))
	if err != nil {
		return "", record.AgentErrorf(record.CauseJudge, "the request cannot be written as JSON: %w", err)
	}
	raw, err := j.at.post(ctx, "preference", body)
	if err != nil {
		return "", blameJudge(err)
	}
	m, err := parseMessage(raw)
	if err != nil {
		return "", record.AgentErrorf(record.CauseJudge, "the answer of %s %w", j.at.url.Host, err)
	}
	m.mask, m.from = j.at.mask, "the endpoint"
	switch *m.Type {
	case typePreference:
		preferred, err := m.toPreference()
		if err != nil {
			return "", blameJudge(err)
		}
		return preferred, nil
	case typeError:
		return "", blameJudge(m.toError())
	}
	return "", record.AgentErrorf(record.CauseJudge, "the answer of %s has the type %s, which is none of preference, error", j.at.url.Host, strconv.Quote(m.quote(*m.Type)))
}

// toPreference reads a preference's word.
func (m *message) toPreference() (string, error) {
	var body preferenceBody
	if err := m.read(&body); err != nil {
		return "", fmt.Errorf("the preference %w", err)
	}
	if body.Preferred == nil {
		return "", errors.New("the preference does not say which is preferred")
	}
	return *body.Preferred, nil
}
