package grade

import (
	"encoding/json"
	"testing"

	"assay/engine/record"
)

func TestOutcomes(t *testing.T) {
	tests := []struct {
		name    string
		result  string
		isError bool
		fault   string
		kind    record.ToolKind
		want    outcome
	}{
		{"a record", `{"id":"7","status":"paid"}`, false, "", record.ToolRead, outOK},
		{"a failed payment, read", `{"id":"7","status":"failed"}`, false, "", record.ToolRead, outOK},
		{"a write that failed", `{"status":"failed","reason":"card"}`, false, "", record.ToolWrite, outFailed},
		{"not found", `{"error":"not_found","message":"no order 9"}`, true, "", record.ToolRead, outNotFound},
		{"not found in prose", `"Error: payment method not found"`, false, "", record.ToolWrite, outNotFound},
		{"already done", `{"error":"already_done"}`, true, "", record.ToolWrite, outDone},
		{"ambiguous", `{"error":"ambiguous","matches":[1,2]}`, true, "", record.ToolRead, outAmbiguous},
		{"refused", `{"error":"invalid_arguments"}`, true, "", record.ToolRead, outRefused},
		{"no such tool", `{"error":"unknown_tool"}`, true, "", "", outUndeclared},
		{"timeout", `{"error":"timeout"}`, true, "", record.ToolRead, outTimeout},
		{"denied, nested", `{"error":{"code":"permission_denied","message":"no"}}`, true, "", record.ToolRead, outDenied},
		{"an error of its own", `{"error":"the flux is off"}`, true, "", record.ToolRead, outFailed},
		{"no error", `{"error":null,"id":7}`, false, "", record.ToolRead, outOK},
		{"no errors", `{"errors":[],"id":7}`, false, "", record.ToolRead, outOK},
		{"success false", `{"success":false}`, false, "", record.ToolWrite, outFailed},
		{"success true", `{"success":true}`, false, "", record.ToolWrite, outOK},
		{"a flagged error without words", `{"detail":"x"}`, true, "", record.ToolRead, outFailed},
		{"an error log that was read", `{"lines":["error: not found"]}`, false, "", record.ToolRead, outOK},
		{"a document about errors", `"Errors are handled by the not found page, and this manual goes on for long: lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore et dolore magna aliqua. Ut enim ad minim veniam, quis nostrud exercitation ullamco laboris nisi ut aliquip ex ea commodo consequat and more"`, false, "", record.ToolRead, outOK},
		{"half of a JSON", `"{\"id\": \"7\", \"sta"`, false, "", record.ToolRead, outMalformed},
		{"a whole JSON in a text", `"{\"error\": \"not_found\"}"`, false, "", record.ToolRead, outNotFound},
		{"all nulls", `{"id":null,"status":null}`, false, "", record.ToolRead, outMalformed},
		{"some nulls", `{"id":"7","closed_at":null}`, false, "", record.ToolRead, outOK},
		{"a gateway's page", `"<html><body>502 Bad Gateway</body></html>"`, false, "", record.ToolRead, outMalformed},
		{"an empty text", `""`, false, "", record.ToolRead, outOK},
		{"an empty list", `[]`, false, "", record.ToolRead, outOK},
		{"old by its own word", `{"status":"packed","as_of":"3 days ago","cached":true}`, false, "", record.ToolRead, outStale},
		{"dated, not old", `{"status":"packed","as_of":"2024-05-14"}`, false, "", record.ToolRead, outOK},
		{"an injected timeout", `{}`, true, record.ConditionTimeout, record.ToolRead, outTimeout},
		{"an injected staleness", `{"a":1}`, false, record.ConditionStale, record.ToolRead, outStale},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := ask("x").step(record.Step{Kind: record.StepTool, Tool: "tool", Arguments: json.RawMessage(`{}`), Result: json.RawMessage(tt.result), IsError: tt.isError, Fault: tt.fault})
			c.tools = []record.Tool{{Name: "tool", Kind: tt.kind}}
			if got := traceOf(c.Case()).calls[0].outcome; got != tt.want {
				t.Errorf("outcome %d, want %d", got, tt.want)
			}
		})
	}
}
