package exchange

import (
	"bytes"
	"encoding/json"
	"slices"

	"assay/engine/record"
)

// privileged are the names of members that no training file may hold: what only
// the truth, the judge and people know.
var privileged = []string{"privileged", "reference", "hidden_state", "truth", "gold", "gold_reward", "gold_kind", "gold_labels"}

// alwaysPrivileged are those that are scrubbed inside what tools were called with
// and returned, where the other names may be a tool's own words: a booking has
// a reference.
var alwaysPrivileged = []string{"privileged", "gold_reward", "gold_kind", "gold_labels"}

// scrub is a JSON value without the named members, at any depth, also inside
// strings that are JSON objects or lists themselves. A value that holds none of
// them stays as its bytes.
func scrub(raw json.RawMessage, names []string) json.RawMessage {
	if !mentions(raw, names) {
		return raw
	}
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // numbers stay as they are written
	if dec.Decode(&v) != nil {
		return nil // what cannot be read cannot be shown to be clean
	}
	clean, err := record.Marshal(without(v, names))
	if err != nil {
		return nil
	}
	return clean
}

// mentions is true where a name may stand in raw: as it is, or with escapes that
// could spell it.
func mentions(raw []byte, names []string) bool {
	if bytes.Contains(raw, []byte(`\u`)) {
		return true
	}
	return slices.ContainsFunc(names, func(name string) bool { return bytes.Contains(raw, []byte(name)) })
}

func without(v any, names []string) any {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			if slices.Contains(names, name) {
				delete(v, name)
				continue
			}
			v[name] = without(inner, names)
		}
	case []any:
		for i := range v {
			v[i] = without(v[i], names)
		}
	case string:
		if isStructure(v) {
			return string(scrub(json.RawMessage(v), names))
		}
	}
	return v
}

// scrubSteps are steps without anything privileged.
func scrubSteps(steps []record.Step) []record.Step {
	out := make([]record.Step, len(steps))
	for i, s := range steps {
		s.Arguments, s.Result = scrub(s.Arguments, alwaysPrivileged), scrub(s.Result, alwaysPrivileged)
		s.Extra = scrubMembers(s.Extra)
		out[i] = s
	}
	return out
}

func scrubMembers(members map[string]json.RawMessage) map[string]json.RawMessage {
	out := make(map[string]json.RawMessage, len(members))
	for name, v := range members {
		if !slices.Contains(privileged, name) {
			out[name] = scrub(v, privileged)
		}
	}
	return out
}

// objectArguments is a call's arguments as an object for templates that want one:
// the empty object where they are none.
func objectArguments(raw json.RawMessage) json.RawMessage {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) > 0 && trimmed[0] == '{' {
		return json.RawMessage(trimmed)
	}
	return json.RawMessage("{}")
}
