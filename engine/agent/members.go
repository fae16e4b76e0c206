package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// eachMember passes the members of the JSON object in line on, in their order; values
// are parts of line. A name that comes twice is an error, which reads as those of
// parseMessage: one of the two would be dropped, and no reader knows which was meant.
// Names that differ in their case alone count as one, as they do to whoever reads them.
func eachMember(line []byte, each func(name string, value json.RawMessage)) error {
	// What a string holds was looked at before, and lone surrogates are let through.
	d := jsontext.NewDecoder(bytes.NewBuffer(line), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := d.ReadToken(); err != nil {
		return fmt.Errorf("is not a message of the protocol: %w", err)
	}
	seen := map[string]bool{}
	for d.PeekKind() == '"' {
		token, err := d.ReadToken()
		if err != nil {
			return fmt.Errorf("is not a message of the protocol: %w", err)
		}
		name := token.String()
		folded := strings.ToLower(strings.ToUpper(name))
		if seen[folded] {
			return fmt.Errorf("has the member %.50q twice", name)
		}
		seen[folded] = true
		value, err := d.ReadValue()
		if err != nil {
			return fmt.Errorf("is not a message of the protocol: %w", err)
		}
		each(name, json.RawMessage(value))
	}
	return nil
}
