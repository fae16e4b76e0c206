package store

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"assay/engine/record"
)

// appendSteps writes steps as the JSON that record.Step reads. Received
// arguments and results go in as their bytes: encoding/json would take out
// their white space.
func appendSteps(dst []byte, steps []record.Step) ([]byte, error) {
	dst = append(dst, '[')
	for i := range steps {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendStep(dst, &steps[i]); err != nil {
			return nil, fmt.Errorf("step %d: %w", i, err)
		}
	}
	return append(dst, ']'), nil
}

func appendStep(dst []byte, s *record.Step) ([]byte, error) {
	switch s.Kind {
	case record.StepUser:
		dst = appendText(append(dst, `{"user":`...), s.Text)
	case record.StepText:
		dst = appendText(append(dst, `{"text":`...), s.Text)
	case record.StepTool:
		if err := validJSON("arguments", s.Arguments); err != nil {
			return nil, err
		}
		if err := validJSON("result", s.Result); err != nil {
			return nil, err
		}
		dst = appendText(append(dst, `{"tool":`...), record.Text(s.Tool))
		dst = appendRaw(append(dst, `,"arguments":`...), s.Arguments)
		dst = appendRaw(append(dst, `,"result":`...), s.Result)
		if s.IsError {
			dst = append(dst, `,"is_error":true`...)
		}
		if s.Fault != "" {
			dst = appendText(append(dst, `,"fault":`...), record.Text(s.Fault))
		}
		if s.LatencyMS != 0 {
			dst = strconv.AppendInt(append(dst, `,"latency_ms":`...), int64(s.LatencyMS), 10)
		}
	default:
		return nil, fmt.Errorf("a step of kind %q is none of user, text, tool", s.Kind)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Extra)) {
		if err := validJSON(name, s.Extra[name]); err != nil {
			return nil, err
		}
		dst = appendText(append(dst, ','), record.Text(name))
		dst = appendRaw(append(dst, ':'), s.Extra[name])
	}
	return append(dst, '}'), nil
}

func appendText(dst []byte, t record.Text) []byte {
	quoted, _ := t.MarshalJSON() // never fails
	return append(dst, quoted...)
}

func appendRaw(dst []byte, raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return append(dst, "null"...)
	}
	return append(dst, raw...)
}
