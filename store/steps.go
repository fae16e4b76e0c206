package store

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"assay/engine/record"

	"github.com/go-json-experiment/json/jsontext"
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

// readSteps reads what appendSteps wrote, in one pass: reading a run is mostly
// reading steps, and encoding/json walks each of them four times.
func readSteps(raw string) ([]record.Step, error) {
	dec := jsontext.NewDecoder(strings.NewReader(raw), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if _, err := dec.ReadToken(); err != nil { // [
		return nil, unreadable(err)
	}
	var steps []record.Step
	for dec.PeekKind() == '{' {
		s, err := readStep(dec)
		if err != nil {
			return nil, unreadable(fmt.Errorf("step %d: %w", len(steps), err))
		}
		steps = append(steps, s)
	}
	_, err := dec.ReadToken() // ]
	return steps, unreadable(err)
}

func readStep(dec *jsontext.Decoder) (s record.Step, err error) {
	if _, err = dec.ReadToken(); err != nil { // {
		return s, err
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadValue()
		if err != nil {
			return s, err
		}
		member := string(name)
		value, err := dec.ReadValue()
		if err != nil {
			return s, err
		}
		if err := readMember(&s, member, value); err != nil {
			return s, fmt.Errorf("%s: %w", member, err)
		}
	}
	_, err = dec.ReadToken() // }
	return s, err
}

func readMember(s *record.Step, name string, value jsontext.Value) error {
	text := func(t *record.Text) error { return t.UnmarshalJSON(value) }
	switch name {
	case `"user"`:
		s.Kind = record.StepUser
		return text(&s.Text)
	case `"text"`:
		s.Kind = record.StepText
		return text(&s.Text)
	case `"tool"`:
		s.Kind = record.StepTool
		return text((*record.Text)(&s.Tool))
	case `"fault"`:
		return text((*record.Text)(&s.Fault))
	case `"arguments"`:
		s.Arguments = json.RawMessage(value.Clone())
	case `"result"`:
		s.Result = json.RawMessage(value.Clone())
	case `"is_error"`:
		s.IsError = value.Kind() == 't'
	case `"latency_ms"`:
		return json.Unmarshal(value, &s.LatencyMS)
	default:
		var plain record.Text
		if err := plain.UnmarshalJSON([]byte(name)); err != nil {
			return err
		}
		if s.Extra == nil {
			s.Extra = map[string]json.RawMessage{}
		}
		s.Extra[string(plain)] = json.RawMessage(value.Clone())
	}
	return nil
}
