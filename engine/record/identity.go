package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Marshal is json.Marshal that leaves <, > and & as they are, so that text
// from outside is not rewritten on its way through the project.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Canonical rewrites one JSON value in the form of RFC 8785: members sorted,
// numbers as doubles, no white space. Values that RFC 8785 refuses but the
// world produces are kept rather than refused: a string with a lone surrogate
// stays as it was escaped, and of two members with one name both stay.
func Canonical(raw []byte) ([]byte, error) {
	v := jsontext.Value(bytes.Clone(raw))
	if err := v.Canonicalize(); err == nil {
		return v, nil
	}
	v = jsontext.Value(bytes.Clone(raw))
	err := v.Canonicalize(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(true))
	return v, err
}

// Identity is the id of a thing: the first 16 hex digits of SHA-256 over kind,
// a newline and the canonical JSON of v.
//
// v must be marshalable; every caller passes plain data, so a failure is a
// fault of the program and panics.
func Identity(kind string, v any) string {
	if axes, ok := v.(Axes); ok {
		if raw, plain := appendPlain(nil, axes); plain {
			return identityOf(kind, raw)
		}
	}
	raw, err := Marshal(v)
	if err == nil {
		raw, err = Canonical(raw)
	}
	if err != nil {
		panic(fmt.Sprintf("record: identity of a %s: %v", kind, err))
	}
	return identityOf(kind, raw)
}

// identityOf is the identity of what has this canonical JSON.
func identityOf(kind string, raw []byte) string {
	h := sha256.New()
	h.Write([]byte(kind))
	h.Write([]byte{'\n'})
	h.Write(raw)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// appendPlain appends the canonical JSON of coordinates that hold nothing to
// escape, false where they do. A search asks for the identity of thousands of
// points, most of which are such, and this is ten times as fast as the rest of
// Identity.
func appendPlain(b []byte, axes Axes) (raw []byte, plain bool) {
	if axes == nil {
		return b, false
	}
	b = append(b, '{')
	for i, name := range slices.Sorted(maps.Keys(axes)) {
		value := axes[name]
		if !plainText(name) || !plainText(value) {
			return b, false
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, name...)
		b = append(b, `":"`...)
		b = append(b, value...)
		b = append(b, '"')
	}
	return append(b, '}'), true
}

// plainText says whether JSON holds a text as it is.
func plainText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
