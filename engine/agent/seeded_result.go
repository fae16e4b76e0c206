package agent

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"assay/engine/record"
)

// outcome is what the agent reads a result to be. It goes by what it was sent
// alone: which faults were injected it is not told.
type outcome int

const (
	outcomeOK outcome = iota
	outcomeMissing
	outcomeDone      // it was done before
	outcomeAmbiguous // more than one thing answers
	outcomeRefused   // the arguments, or the tool itself
	outcomeTimeout
	outcomeDenied
	outcomeGarbled // unreadable
	outcomeStale   // old
)

// failed reports outcomes after which nothing may be claimed.
func (o outcome) failed() bool { return o != outcomeOK && o != outcomeStale }

// reading is a result as the agent reads it.
type reading struct {
	outcome outcome
	age     string   // of a stale result: "3 days ago"
	facts   []string // a few members, "status restarted"
	choices []string // of an ambiguous one
	message string   // of an error
}

// maxFacts is how many members of a result are told; more is no summary.
const maxFacts = 3

// readResult reads what came of a call. ids are the things that the call named:
// they are not told again as findings.
func readResult(r record.ToolResult, ids []string) reading {
	if r.IsError {
		return readError(r.Result)
	}
	raw := bytes.TrimSpace(r.Result)
	if len(raw) == 0 || raw[0] != '{' && raw[0] != '[' {
		return reading{outcome: outcomeGarbled}
	}
	return readMembers(raw, ids)
}

// readMembers walks the top level of an object, or of the first object of a list.
func readMembers(raw []byte, ids []string) reading {
	out := reading{outcome: outcomeOK}
	dec := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	members, nulls := 0, 0
	for dec.PeekKind() == '[' {
		if _, err := dec.ReadToken(); err != nil {
			return reading{outcome: outcomeGarbled}
		}
	}
	if dec.PeekKind() != '{' {
		return out // an empty list, or one of plain values
	}
	if _, err := dec.ReadToken(); err != nil {
		return reading{outcome: outcomeGarbled}
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return reading{outcome: outcomeGarbled}
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return reading{outcome: outcomeGarbled}
		}
		members++
		if value.Kind() == 'n' {
			nulls++
		}
		out.takeMember(key, value, ids)
	}
	if members > 0 && nulls == members {
		return reading{outcome: outcomeGarbled}
	}
	return out
}

func (r *reading) takeMember(key string, value jsontext.Value, ids []string) {
	text := ""
	switch value.Kind() {
	case '"':
		raw, err := jsontext.AppendUnquote(nil, value)
		if err != nil {
			return
		}
		text = string(raw)
	case '0', 't', 'f':
		text = string(value)
	default:
		return
	}
	switch {
	case key == "as_of" || key == "age" || key == "retrieved" || key == "cached_at":
		if strings.Contains(text, "ago") {
			r.outcome, r.age = outcomeStale, text
			return
		}
	case key == "cached" && text == "true", key == "stale" && text == "true":
		r.outcome = outcomeStale
		return
	}
	if len(r.facts) < maxFacts && len(text) <= 80 && text != "" {
		for _, id := range ids {
			if text == id {
				return
			}
		}
		r.facts = append(r.facts, strings.ReplaceAll(key, "_", " ")+" "+text)
	}
}

func readError(raw []byte) reading {
	var e struct {
		Error   string   `json:"error"`
		Message string   `json:"message"`
		Matches []string `json:"matches"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return reading{outcome: outcomeGarbled}
	}
	r := reading{outcome: outcomeRefused, choices: e.Matches, message: e.Message}
	switch e.Error {
	case record.ErrNotFound:
		r.outcome = outcomeMissing
	case record.ErrAlreadyDone:
		r.outcome = outcomeDone
	case record.ErrAmbiguous:
		r.outcome = outcomeAmbiguous
	case record.ErrTimeout:
		r.outcome = outcomeTimeout
	case record.ErrPermissionDenied:
		r.outcome = outcomeDenied
	}
	return r
}
