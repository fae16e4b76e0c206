package axes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// maxSchemaDepth bounds how deep a schema is followed, through references too.
// Published tool schemas nest less than ten deep; a cycle stops here.
const maxSchemaDepth = 32

// schemaTypes are the types of JSON Schema (draft 2020-12, 6.1.1).
var schemaTypes = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

// schema is the part of JSON Schema that the axes read.
type schema struct {
	Ref         string            `json:"$ref"`
	Type        json.RawMessage   `json:"type"`
	Description string            `json:"description"`
	Properties  json.RawMessage   `json:"properties"`
	Items       json.RawMessage   `json:"items"`
	Enum        []json.RawMessage `json:"enum"`
	Const       json.RawMessage   `json:"const"`
	Default     json.RawMessage   `json:"default"`
	Example     json.RawMessage   `json:"example"`
	Examples    []json.RawMessage `json:"examples"`
	AnyOf       []json.RawMessage `json:"anyOf"`
	OneOf       []json.RawMessage `json:"oneOf"`
	Format      string            `json:"format"`
	Required    []string          `json:"required"`
}

// property is one named member of an object's schema.
type property struct {
	Name   string
	Schema json.RawMessage
}

// checkArguments checks that raw can be the schema of a tool's arguments. path
// is where it stands.
func checkArguments(path string, raw json.RawMessage) error {
	if err := checkSchema(path, raw, 0); err != nil {
		return err
	}
	var s schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil // true, false: schemas of any arguments
	}
	if types := s.types(); len(types) > 0 && !slices.Contains(types, "object") {
		return at(path+".type", "arguments are an object, not %s", strings.Join(types, " or "))
	}
	return nil
}

// checkSchema checks the shape of a schema and of all below it.
func checkSchema(path string, raw json.RawMessage, depth int) error {
	raw = bytes.TrimSpace(raw)
	switch {
	case depth > maxSchemaDepth:
		return at(path, "nested more than %d deep", maxSchemaDepth)
	case string(raw) == "true" || string(raw) == "false":
		return nil
	case len(raw) == 0 || raw[0] != '{':
		return at(path, "want a JSON Schema (an object)")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return at(path, "%v", err)
	}
	if t, ok := members["type"]; ok {
		if err := checkType(path+".type", t); err != nil {
			return err
		}
	}
	if e, ok := members["enum"]; ok {
		var values []json.RawMessage
		if json.Unmarshal(e, &values) != nil || len(values) == 0 {
			return at(path+".enum", "want a list with at least one value")
		}
	}
	if r, ok := members["required"]; ok {
		var names []string
		if json.Unmarshal(r, &names) != nil {
			return at(path+".required", "want a list of names")
		}
	}
	for _, key := range []string{"properties", "$defs", "definitions"} {
		m, ok := members[key]
		if !ok {
			continue
		}
		properties, err := orderedMembers(m)
		if err != nil {
			return at(path+"."+key, "want an object of schemas")
		}
		for _, p := range properties {
			if err := checkSchema(path+"."+key+"."+p.Name, p.Schema, depth+1); err != nil {
				return err
			}
		}
	}
	if m, ok := members["items"]; ok && len(m) > 0 && m[0] != '[' {
		if err := checkSchema(path+".items", m, depth+1); err != nil {
			return err
		}
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		m, ok := members[key]
		if !ok {
			continue
		}
		var options []json.RawMessage
		if json.Unmarshal(m, &options) != nil {
			return at(path+"."+key, "want a list of schemas")
		}
		for i, option := range options {
			if err := checkSchema(fmt.Sprintf("%s.%s[%d]", path, key, i), option, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkType(path string, raw json.RawMessage) error {
	types, ok := typeNames(raw)
	if !ok || len(types) == 0 {
		return at(path, "want one of %s, or a list of them", strings.Join(schemaTypes, ", "))
	}
	for _, t := range types {
		if !slices.Contains(schemaTypes, t) {
			return at(path, "unknown type %q%s; the types are %s", t, Suggest(t, schemaTypes), strings.Join(schemaTypes, ", "))
		}
	}
	return nil
}

func typeNames(raw json.RawMessage) ([]string, bool) {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}, true
	}
	var many []string
	return many, json.Unmarshal(raw, &many) == nil
}

// types are the types that the schema names itself, without null.
func (s schema) types() []string {
	names, _ := typeNames(s.Type)
	return slices.DeleteFunc(names, func(t string) bool { return t == "null" || t == "" })
}

// orderedMembers are an object's members in the order of the document.
func orderedMembers(raw json.RawMessage) ([]property, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	open, err := dec.Token()
	if err != nil {
		return nil, err
	}
	if open != json.Delim('{') {
		return nil, fmt.Errorf("want an object, not %v", open)
	}
	var out []property
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		p := property{Name: fmt.Sprint(key)}
		if err := dec.Decode(&p.Schema); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// arguments are the properties of a tool's arguments, in document order, with
// local references and optional wrappers (anyOf with null) resolved.
func arguments(parameters json.RawMessage) []argument {
	if len(parameters) == 0 {
		return nil
	}
	var root schema
	if json.Unmarshal(parameters, &root) != nil {
		return nil
	}
	root = resolve(parameters, root, 0)
	properties, err := orderedMembers(root.Properties)
	if err != nil {
		return nil
	}
	out := make([]argument, 0, len(properties))
	for _, p := range properties {
		var s schema
		if json.Unmarshal(p.Schema, &s) != nil {
			continue
		}
		out = append(out, argument{Name: p.Name, schema: resolve(parameters, s, 0), raw: p.Schema})
	}
	return out
}

// argument is one argument of a tool.
type argument struct {
	Name string
	schema
	raw json.RawMessage
}

// resolve follows a local reference, or the one option of an optional wrapper,
// until the schema says its type. A cycle, or a reference that leads nowhere,
// leaves the schema without one.
func resolve(root json.RawMessage, s schema, depth int) schema {
	if depth > maxSchemaDepth {
		return schema{Description: s.Description}
	}
	next := json.RawMessage(nil)
	switch {
	case s.Ref != "":
		next = localReference(root, s.Ref)
	case len(s.types()) == 0 && len(s.AnyOf)+len(s.OneOf) > 0:
		next = firstNonNull(append(slices.Clone(s.AnyOf), s.OneOf...))
	}
	if next == nil {
		return s
	}
	var target schema
	if json.Unmarshal(next, &target) != nil {
		return s
	}
	target = resolve(root, target, depth+1)
	if s.Description != "" {
		target.Description = s.Description
	}
	if len(target.Examples) == 0 {
		target.Examples = s.Examples
	}
	return target
}

func firstNonNull(options []json.RawMessage) json.RawMessage {
	for _, o := range options {
		var s schema
		if json.Unmarshal(o, &s) == nil && string(s.Type) != `"null"` {
			return o
		}
	}
	return nil
}

// localReference is the schema that "#/$defs/Name" points to within root; nil
// where it points nowhere or elsewhere.
func localReference(root json.RawMessage, ref string) json.RawMessage {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	at := root
	for step := range strings.SplitSeq(path, "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		var members map[string]json.RawMessage
		if json.Unmarshal(at, &members) != nil {
			return nil
		}
		if at, ok = members[step]; !ok {
			return nil
		}
	}
	return at
}
