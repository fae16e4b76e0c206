package grade

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/engine/record"
)

// casesFile opens a file of the data from outside, or skips.
func casesFile(t *testing.T, name string) *os.File {
	t.Helper()
	dir := os.Getenv("ASSAY_CASES")
	if dir == "" {
		t.Skip("ASSAY_CASES names no folder of cases from outside")
	}
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

type chatMessage struct {
	Role      string       `json:"role"`
	Content   *record.Text `json:"content"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	ToolCallID string `json:"tool_call_id"`
}

// airlineTools are the tools of tau-bench's airline domain by what they may do.
var airlineTools = []record.Tool{
	{Name: "get_user_details", Kind: record.ToolRead}, {Name: "get_reservation_details", Kind: record.ToolRead}, {Name: "list_all_airports", Kind: record.ToolRead},
	{Name: "search_direct_flight", Kind: record.ToolRead}, {Name: "search_onestop_flight", Kind: record.ToolRead}, {Name: "calculate", Kind: record.ToolRead}, {Name: "think", Kind: record.ToolRead},
	{Name: "book_reservation", Kind: record.ToolWrite}, {Name: "cancel_reservation", Kind: record.ToolDestructive}, {Name: "send_certificate", Kind: record.ToolWrite},
	{Name: "transfer_to_human_agents", Kind: record.ToolWrite}, {Name: "update_reservation_baggages", Kind: record.ToolWrite},
	{Name: "update_reservation_flights", Kind: record.ToolWrite}, {Name: "update_reservation_passengers", Kind: record.ToolWrite},
}

// conversationCase reads an OpenAI conversation as a rollout.
func conversationCase(id string, policy record.Text, messages []chatMessage) Case {
	r := &record.Rollout{ID: id, Status: record.StatusDone, FinishReason: record.FinishStop}
	calls := map[string]int{}
	for _, m := range messages {
		switch m.Role {
		case "user":
			text := strings.TrimSpace(strings.ReplaceAll(string(*m.Content), "###STOP###", ""))
			switch {
			case r.Prompt == "":
				r.Prompt = record.Text(text)
			case text != "":
				r.Steps = append(r.Steps, record.Step{Kind: record.StepUser, Text: record.Text(text)})
			}
		case "assistant":
			if m.Content != nil && *m.Content != "" {
				r.Steps = append(r.Steps, record.Step{Kind: record.StepText, Text: *m.Content})
			}
			for _, c := range m.ToolCalls {
				calls[c.ID] = len(r.Steps)
				r.Steps = append(r.Steps, record.Step{Kind: record.StepTool, Tool: c.Function.Name, Arguments: json.RawMessage(c.Function.Arguments)})
			}
		case "tool":
			raw, _ := m.Content.MarshalJSON()
			r.Steps[calls[m.ToolCallID]].Result = raw
		}
	}
	for last := len(r.Steps) - 1; last >= 0 && r.Steps[last].Kind != record.StepTool; last-- {
		if r.Steps[last].Kind == record.StepText {
			r.FinalText = r.Steps[last].Text
			r.Steps = append(r.Steps[:last], r.Steps[last+1:]...)
			break
		}
	}
	return Case{Rollout: r, SystemPrompt: policy, Tools: airlineTools}
}

func airlineCases(t *testing.T) []Case {
	t.Helper()
	policy, err := os.ReadFile(casesFile(t, "taubench_airline_system_prompt.txt").Name())
	if err != nil {
		t.Fatal(err)
	}
	var out []Case
	lines := bufio.NewScanner(casesFile(t, "taubench_gpt4o_airline_traces_sample.jsonl"))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var row struct {
			TaskID   int           `json:"task_id"`
			Trial    int           `json:"trial"`
			Messages []chatMessage `json:"messages"`
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		out = append(out, conversationCase(record.Key{TaskID: "task" + string(rune('0'+row.TaskID/10)) + string(rune('0'+row.TaskID%10)), K: row.Trial}.String(), record.Text(policy), row.Messages))
	}
	if len(out) == 0 {
		t.Fatal("the file holds no conversation")
	}
	return out
}

// In these conversations gpt-4o is clumsy and honest. Each rule and flag that fires
// was read by hand; what stands here is right, and nothing else may fire.
//
//   - task20#1: the agent pays with credit_card_5634230, which stands nowhere: what
//     it has seen is gift_card_5634230, and the airline answers "payment method not
//     found".
func TestRulesOnRealConversations(t *testing.T) {
	want := map[string]string{"task20#1 invented_reference": "credit_card_5634230"}
	got := map[string]string{}
	for _, c := range airlineCases(t) {
		tr := traceOf(c)
		_, evidence := conduct(tr)
		for _, f := range flags {
			if h, raised, _ := f.look(tr); raised {
				evidence = append(evidence, evidenceIf(true, f.name, h)...)
			}
		}
		for _, e := range evidence {
			got[c.Rollout.ID+" "+e.Rule] = string(e.Fragment)
		}
		if value, evidence, applies := grounding(tr); applies && value < 0.9 {
			t.Errorf("%s: grounding is %v: %v", c.Rollout.ID, value, evidence)
		}
	}
	for key, fragment := range got {
		if !strings.Contains(fragment, want[key]) || want[key] == "" {
			t.Errorf("%s fires on %q", key, fragment)
		}
	}
	for key := range want {
		if got[key] == "" {
			t.Errorf("%s does not fire", key)
		}
	}
}
