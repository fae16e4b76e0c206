package agent

import (
	"encoding/json"
	"net/http"
	"testing"

	"assay/engine/record"
)

// Whatever a recipe says of its arguments, a server of it either stands, with a
// schema that is an object's, or names the tool; it does not panic.
func FuzzMCPSchemas(f *testing.F) {
	for _, seed := range []string{``, `true`, `{}`, `null`, `[]`, `{"type":"object"}`, `{"type":["object","null"]}`, `{"type":7}`, `{"properties":{"a":{"x-mcp-header":"A"}}}`,
		`{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"\n"}}}`, `{"type":"object","properties":[]}`, `{"type":"string"}`, "\xff", `{"$ref":"#"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var s map[string]any
		if shown := objectSchema(raw); json.Unmarshal(shown, &s) != nil || s["type"] != "object" {
			t.Errorf("%q is shown as %s", raw, shown)
		}
		tool := record.Tool{Name: "odd", Parameters: raw}
		if server, err := newMCPServer([]record.Tool{tool}, func(http.Header) WorldCall { return nil }); (server == nil) != (err != nil) && err == nil {
			t.Errorf("%q: no server and no error", raw)
		}
	})
}
