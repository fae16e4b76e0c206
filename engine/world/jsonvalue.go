package world

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"assay/engine/record"
)

// value is one JSON value whose members keep the order in which they were
// written, as a person who reads a record expects.
type value struct {
	kind    jsontext.Kind // one of n t f " 0 { [
	text    string        // of a string, unquoted
	raw     json.RawMessage
	members []member
	items   []*value
}

type member struct {
	name  string
	value *value
}

// maxSchemaDepth bounds how deep a schema or an example is read; deeper parts
// are left out. Real ones end at about ten.
const maxSchemaDepth = 64

// parseValue reads one JSON value.
func parseValue(raw []byte) (*value, error) {
	d := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	v, err := readValue(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}

func readValue(d *jsontext.Decoder, depth int) (*value, error) {
	if k := d.PeekKind(); depth > maxSchemaDepth || k != '{' && k != '[' {
		raw, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		if depth > maxSchemaDepth && (k == '{' || k == '[') {
			return &value{kind: 'n', raw: json.RawMessage("null")}, nil
		}
		v := &value{kind: raw.Kind(), raw: bytes.Clone(raw)}
		if v.kind == '"' {
			unquoted, err := jsontext.AppendUnquote(nil, raw)
			if err != nil && !utf8.Valid(unquoted) {
				return nil, err
			}
			v.text = string(unquoted)
		}
		return v, nil
	}
	open, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	v := &value{kind: open.Kind()}
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		var name string
		if v.kind == '{' {
			token, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			name = token.String()
		}
		child, err := readValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		if v.kind == '{' {
			v.members = append(v.members, member{name, child})
		} else {
			v.items = append(v.items, child)
		}
	}
	_, err = d.ReadToken()
	return v, err
}

// at is the named member, nil where v is no object or has none.
func (v *value) at(name string) *value {
	if v == nil {
		return nil
	}
	for i := range v.members {
		if v.members[i].name == name {
			return v.members[i].value
		}
	}
	return nil
}

// str is the named member's text, "" where it is no string.
func (v *value) str(name string) string {
	if m := v.at(name); m != nil {
		return m.text
	}
	return ""
}

// num is the named member as a number, nil where it is none.
func (v *value) num(name string) *float64 {
	m := v.at(name)
	if m == nil || m.kind != '0' {
		return nil
	}
	var f float64
	if json.Unmarshal(m.raw, &f) != nil {
		return nil
	}
	return &f
}

// whole is the named member as an integer of 0 or more, fallback otherwise.
func (v *value) whole(name string, fallback int) int {
	f := v.num(name)
	if f == nil || *f < 0 || *f > 1<<30 {
		return fallback
	}
	return int(*f)
}

// types are the words of a schema's type member.
func (v *value) types() []string {
	t := v.at("type")
	switch {
	case t == nil:
		return nil
	case t.kind == '"':
		return []string{t.text}
	}
	var out []string
	for _, item := range t.items {
		if item.kind == '"' {
			out = append(out, item.text)
		}
	}
	return out
}

// appendString writes a JSON string. Text that is not UTF-8 is written as the
// record package writes it.
func appendString(dst []byte, s string) []byte {
	if out, err := jsontext.AppendQuote(dst, s); err == nil {
		return out
	}
	quoted, _ := record.Text(s).MarshalJSON() // never fails
	return append(dst, quoted...)
}

// pointedValue is the value at a reference of the form "#/a/b", nil for none.
func pointedValue(root *value, ref string) *value {
	if ref == "#" {
		return root
	}
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	at := root
	for part := range strings.SplitSeq(path, "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		if at != nil && at.kind == '[' {
			i, ok := indexOf(part, len(at.items))
			if !ok {
				return nil
			}
			at = at.items[i]
			continue
		}
		at = at.at(part)
	}
	return at
}

// rawOf writes a value back.
func rawOf(v *value) json.RawMessage {
	switch v.kind {
	case '{':
		out := []byte{'{'}
		for i, m := range v.members {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(append(appendString(out, m.name), ':'), rawOf(m.value)...)
		}
		return append(out, '}')
	case '[':
		out := []byte{'['}
		for i, item := range v.items {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, rawOf(item)...)
		}
		return append(out, ']')
	}
	return v.raw
}
