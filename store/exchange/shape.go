package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"assay/engine/record"
)

// shape is which of the public row's spellings a line is in. Version 1 rows and
// the engine's own are alike; the others were written before rows had a version.
type shape int

const (
	shapeRow      shape = iota // prompt, steps, final_text
	shapeTraining              // messages in place of steps
	shapeChat                  // messages and nothing of the row's own: an OpenAI or TRL data set
	shapePlatform              // tool_trace in place of steps
	shapeFlat                  // lists as JSON text: steps_json, messages_json, metadata_json
)

// members is one JSON object on its way to a row: what was taken is gone from it.
type members struct {
	raw     map[string]json.RawMessage
	dropped []string // names of what could not be carried as it is
}

// parseObject reads one line. Python writes NaN and Infinity as bare words; they
// are read as the names that a row gives them.
func parseObject(line []byte) (*members, error) {
	m := &members{}
	err := json.Unmarshal(line, &m.raw)
	if err != nil {
		if named, any := nameNumbers(line); any {
			m.raw = nil
			err = json.Unmarshal(named, &m.raw)
		}
	}
	if err != nil {
		return nil, plainSyntax(err)
	}
	if m.raw == nil {
		return nil, errors.New("it is null, not an object")
	}
	for name, v := range m.raw {
		if bytes.Equal(v, []byte("null")) {
			delete(m.raw, name)
		}
	}
	return m, nil
}

// plainSyntax says in words what json says of a line.
func plainSyntax(err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fmt.Errorf("it is a JSON %s, not an object", kind.Value)
	}
	return fmt.Errorf("it is not JSON: %w", err)
}

// nameNumbers puts quotes around NaN, Infinity and -Infinity where they stand as
// values.
func nameNumbers(line []byte) (out []byte, any bool) {
	inString := false
	for i := 0; i < len(line); {
		c := line[i]
		switch {
		case inString && c == '\\' && i+1 < len(line):
			out = append(out, c, line[i+1])
			i += 2
			continue
		case c == '"':
			inString = !inString
		case !inString:
			if word := numberWord(line[i:]); word != "" {
				out = append(append(append(out, '"'), word...), '"')
				i += len(word)
				any = true
				continue
			}
		}
		out = append(out, c)
		i++
	}
	return out, any
}

func numberWord(at []byte) string {
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(at, []byte(word)) {
			return word
		}
	}
	return ""
}

// take removes a member and gives it; nil where there is none.
func (m *members) take(name string) json.RawMessage {
	v := m.raw[name]
	delete(m.raw, name)
	return v
}

// read takes a member into dest. One of another type is kept among the unknown
// members under its name with "source_" before it, and named as dropped.
func (m *members) read(name string, dest any) {
	v := m.take(name)
	if v != nil && json.Unmarshal(v, dest) != nil {
		m.keepAside(name, v)
	}
}

func (m *members) keepAside(name string, v json.RawMessage) {
	m.raw["source_"+name] = v
	m.dropped = append(m.dropped, name)
}

// text takes a member that is text; one that is not is its JSON.
func (m *members) text(name string) record.Text { return textOf(m.take(name)) }

func textOf(v json.RawMessage) record.Text {
	var t record.Text
	if v == nil || t.UnmarshalJSON(v) == nil {
		return t
	}
	return record.Text(v)
}

// normalise rewrites a line of any spelling in that of a row and says which it
// was.
func (m *members) normalise() (shape, error) {
	kind := shapeRow
	for _, name := range []string{"steps", "messages", "metadata"} {
		var packed string
		v := m.raw[name+"_json"]
		if v == nil || json.Unmarshal(v, &packed) != nil || !json.Valid([]byte(packed)) {
			continue
		}
		kind = shapeFlat
		delete(m.raw, name+"_json")
		if m.raw[name] == nil {
			m.raw[name] = json.RawMessage(packed)
		}
	}
	if trace := m.raw["tool_trace"]; trace != nil && isEmptyList(m.raw["steps"]) {
		m.raw["steps"] = m.take("tool_trace")
		kind = shapePlatform
	}
	if m.raw["messages"] != nil && isEmptyList(m.raw["steps"]) && m.raw["final_text"] == nil {
		if kind != shapeFlat {
			kind = shapeTraining
		}
		if !m.looksLikeRow() {
			kind = shapeChat
		}
		return kind, m.readMessages()
	}
	return kind, nil
}

// looksLikeRow tells rows from plain chat: they name their task or their grade.
func (m *members) looksLikeRow() bool {
	for _, name := range []string{"schema_version", "scenario_id", "rollout_index", "reward", "markers", "prompt", "policy_version"} {
		if m.raw[name] != nil {
			return true
		}
	}
	return false
}

func isEmptyList(v json.RawMessage) bool {
	trimmed := bytes.TrimSpace(v)
	return len(trimmed) == 0 || string(bytes.Join(bytes.Fields(trimmed), nil)) == "[]"
}

// readSteps reads steps. A step that both says something and calls a tool is two.
func readSteps(raw json.RawMessage) ([]record.Step, error) {
	if raw == nil {
		return nil, nil
	}
	var list []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New("steps is not a list of objects")
	}
	var steps []record.Step
	for i, s := range list {
		read, err := readStep(s)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i, err)
		}
		steps = append(steps, read...)
	}
	return steps, nil
}

func readStep(s map[string]json.RawMessage) ([]record.Step, error) {
	for name, v := range s {
		if bytes.Equal(v, []byte("null")) && name != "arguments" && name != "result" {
			delete(s, name)
		}
	}
	alias(s, "tool", "tool_name", "name")
	alias(s, "arguments", "args", "input")
	alias(s, "result", "output", "observation")
	var before []record.Step
	if s["tool"] != nil && s["text"] != nil {
		before = []record.Step{{Kind: record.StepText, Text: textOf(s["text"])}}
		delete(s, "text")
	}
	if v := s["arguments"]; v != nil {
		s["arguments"] = argumentsOf(v)
	}
	if s["user"] == nil && s["text"] == nil && s["tool"] == nil {
		return nil, errors.New("none of user, text, tool is there")
	}
	whole, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var step record.Step
	if err := json.Unmarshal(whole, &step); err != nil {
		return nil, err
	}
	// Marshal took out the white space of what was received.
	if step.Kind == record.StepTool {
		step.Arguments, step.Result = rawOr(s["arguments"], step.Arguments), rawOr(s["result"], step.Result)
	}
	return append(before, step), nil
}

func rawOr(raw, otherwise json.RawMessage) json.RawMessage {
	if raw == nil {
		return otherwise
	}
	return raw
}

// alias gives a member the name that a row has for it, where it has none yet.
func alias(s map[string]json.RawMessage, name string, others ...string) {
	if s["user"] != nil {
		return
	}
	for _, other := range others {
		if s[name] == nil && s[other] != nil {
			s[name] = s[other]
			delete(s, other)
		}
	}
}

// argumentsOf is a call's arguments: an object as it is, or one inside a string.
func argumentsOf(v json.RawMessage) json.RawMessage {
	var packed string
	if json.Unmarshal(v, &packed) == nil && isStructure(packed) {
		return json.RawMessage(packed)
	}
	return v
}

// isStructure is true for the text of a JSON object or list.
func isStructure(text string) bool {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	return trimmed != "" && (trimmed[0] == '{' || trimmed[0] == '[') && json.Valid([]byte(text))
}
