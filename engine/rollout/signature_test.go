package rollout_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"assay/engine/record"
	"assay/engine/rollout"
)

func toolStep(tool, result string, isError bool, fault string) record.Step {
	return record.Step{Kind: record.StepTool, Tool: tool, Result: json.RawMessage(result), IsError: isError, Fault: fault}
}

func TestSignature(t *testing.T) {
	read := toolStep("get_status", `{"status":"ok"}`, false, "")
	missing := toolStep("get_status", `{"error":"not_found","message":"x"}`, true, "")
	restart := toolStep("restart_service", `{}`, false, "")
	for _, tt := range []struct {
		name string
		r    record.Rollout
		want string
	}{
		{"nothing done", record.Rollout{EndedBy: "agent", FinalText: "It is fine."}, "|agent|"},
		{"read", record.Rollout{EndedBy: "agent", Steps: []record.Step{read}}, "get_status:ok|agent|"},
		{"order counts", record.Rollout{EndedBy: "user", Steps: []record.Step{restart, read}}, "restart_service:ok>get_status:ok|user|acted"},
		{"neighbours are counted", record.Rollout{EndedBy: "agent", Steps: []record.Step{missing, missing, missing, read}}, "get_status:not_found*3>get_status:ok|agent|"},
		{"what was said does not count", record.Rollout{EndedBy: "agent", Steps: []record.Step{read, {Kind: record.StepText, Text: "Well."}}}, "get_status:ok|agent|"},
		{"a fault", record.Rollout{EndedBy: "agent", Steps: []record.Step{toolStep("get_status", `"{"`, false, "malformed_result")}}, "get_status:malformed_result|agent|"},
		{"a failed act is none", record.Rollout{EndedBy: "agent", Steps: []record.Step{toolStep("restart_service", `{"error":"timeout"}`, true, "timeout")}}, "restart_service:timeout|agent|"},
		{"asked in an earlier reply", record.Rollout{EndedBy: "user_left", Steps: []record.Step{{Kind: record.StepText, Text: "Which one?"}, {Kind: record.StepUser, Text: "x"}}}, "|user_left|asked"},
		{"refused", record.Rollout{EndedBy: "user", FinalText: "I’m sorry, I can’t do that."}, "|user|refused"},
		{"all three", record.Rollout{EndedBy: "agent", FinalText: "I won't do the other part. Shall I stop?", Steps: []record.Step{restart}}, "restart_service:ok|agent|asked,refused,acted"},
		{"a tool that there is not", record.Rollout{EndedBy: "agent", Steps: []record.Step{toolStep("rm -rf", `{"error":"unknown_tool"}`, true, "")}}, "?:unknown_tool|agent|"},
		{"a name with marks in it", record.Rollout{EndedBy: "agent", Steps: []record.Step{toolStep("a>b|c", `{}`, false, "")}}, "?:ok|agent|"},
		{"an error in words", record.Rollout{EndedBy: "agent", Steps: []record.Step{toolStep("get_status", `"it broke"`, true, "")}}, "get_status:error|agent|"},
	} {
		if got := rollout.Signature(&tt.r, opsTools()...); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Without the tools the words of a name say whether it acts.
func TestSignatureByName(t *testing.T) {
	r := record.Rollout{EndedBy: "agent", Steps: []record.Step{toolStep("cancelOrder", `{}`, false, "")}}
	if got := rollout.Signature(&r); got != "cancelOrder:ok|agent|acted" {
		t.Errorf("%q", got)
	}
	r.Steps[0].Tool = "search_orders"
	if got := rollout.Signature(&r); got != "search_orders:ok|agent|" {
		t.Errorf("%q", got)
	}
}

func TestSignatureIsBounded(t *testing.T) {
	r := record.Rollout{EndedBy: "agent"}
	for i := range 1000 {
		r.Steps = append(r.Steps, toolStep(fmt.Sprintf("tool_%d", i), `{}`, false, ""))
	}
	got := rollout.Signature(&r)
	if len(got) > 2000 || !strings.Contains(got, ">+976|") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}
