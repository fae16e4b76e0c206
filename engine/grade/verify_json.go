package grade

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"assay/engine/record"
)

// replyJSON is the JSON of a reply: the reply itself, or the only code fence in it.
func replyJSON(reply string) (json.RawMessage, bool) {
	text := strings.TrimSpace(reply)
	if json.Valid([]byte(text)) {
		return json.RawMessage(text), true
	}
	_, rest, found := strings.Cut(text, "```")
	if !found {
		return nil, false
	}
	inner, after, closed := strings.Cut(rest, "```")
	if !closed || strings.Contains(after, "```") {
		return nil, false
	}
	if first, body, ok := strings.Cut(inner, "\n"); ok && !strings.ContainsAny(first, "{[\"") {
		inner = body
	}
	inner = strings.TrimSpace(inner)
	return json.RawMessage(inner), json.Valid([]byte(inner))
}

func buildJSONValid(*verifySpec) (examiner, error) {
	return atOnce(func(reply string, _ reference) checked {
		_, ok := replyJSON(reply)
		return verdict(ok, "the reply is JSON", "the reply is not JSON")
	}), nil
}

func buildJSONSchema(spec *verifySpec) (examiner, error) {
	if len(spec.Schema) == 0 {
		return nil, errors.New("schema is missing")
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(spec.Schema, &schema); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return atOnce(func(reply string, _ reference) checked {
		raw, ok := replyJSON(reply)
		if !ok {
			return missed("the reply is not JSON")
		}
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			return missed("the reply is not JSON")
		}
		return verdict(resolved.Validate(v) == nil, "the reply keeps the schema", "the reply breaks the schema")
	}), nil
}

func buildJSONField(spec *verifySpec) (examiner, error) {
	if spec.Field == "" {
		return nil, errors.New("field is missing")
	}
	path := strings.Split(spec.Field, ".")
	return atOnce(func(reply string, gold reference) checked {
		raw, ok := replyJSON(reply)
		if !ok {
			return missed("the reply is not JSON")
		}
		got, ok := fieldAt(raw, path)
		if !ok {
			return missed("the reply has no field " + spec.Field)
		}
		return verdict(sameJSON(got, gold.raw), "the field "+spec.Field+" is the reference", "the field "+spec.Field+" is not the reference")
	}), nil
}

// fieldAt walks a path of names and indices.
func fieldAt(raw json.RawMessage, path []string) (json.RawMessage, bool) {
	for _, name := range path {
		raw = bytes.TrimSpace(raw)
		if len(raw) > 0 && raw[0] == '[' {
			var list []json.RawMessage
			i, err := strconv.Atoi(name)
			if err != nil || json.Unmarshal(raw, &list) != nil || i < 0 || i >= len(list) {
				return nil, false
			}
			raw = list[i]
			continue
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) != nil {
			return nil, false
		}
		var ok bool
		if raw, ok = object[name]; !ok {
			return nil, false
		}
	}
	return raw, true
}

// sameJSON compares two values in canonical form: 1 is 1.0, members have no order.
func sameJSON(a, b json.RawMessage) bool {
	left, err := record.Canonical(a)
	if err != nil {
		return false
	}
	right, err := record.Canonical(b)
	return err == nil && bytes.Equal(left, right)
}
