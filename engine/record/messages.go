package record

import (
	"encoding/json"
	"fmt"
)

// ToolSchemas is a list of tools in the OpenAI form.
func ToolSchemas(tools []Tool) []ToolSchema {
	if len(tools) == 0 {
		return nil
	}
	out := make([]ToolSchema, len(tools))
	for i, t := range tools {
		out[i].Type = "function"
		out[i].Function.Name, out[i].Function.Description, out[i].Function.Parameters = t.Name, t.Description, t.Parameters
	}
	return out
}

// Messages is a conversation in the OpenAI chat form: the system prompt where
// there is one, the first ask, each step, and the final text. A run of tool
// steps becomes one assistant message a call, with its result behind it.
func Messages(system, prompt Text, steps []Step, final Text) []Message {
	out := make([]Message, 0, 2*len(steps)+3)
	if system != "" {
		out = append(out, Message{Role: "system", Content: &system})
	}
	out = append(out, Message{Role: "user", Content: &prompt})
	for i := range steps {
		s := &steps[i]
		switch s.Kind {
		case StepUser:
			out = append(out, Message{Role: "user", Content: &s.Text})
		case StepText:
			out = append(out, Message{Role: "assistant", Content: &s.Text})
		case StepTool:
			call := ToolCallMessage{ID: fmt.Sprintf("call_%d", i), Type: "function"}
			call.Function.Name, call.Function.Arguments = Text(s.Tool), Text(orNull(s.Arguments))
			result := ResultText(s.Result)
			out = append(out,
				Message{Role: "assistant", ToolCalls: []ToolCallMessage{call}},
				Message{Role: "tool", ToolCallID: call.ID, Name: Text(s.Tool), Content: &result})
		}
	}
	return append(out, Message{Role: "assistant", Content: &final})
}

// ResultText is a tool's result as a message's content: a JSON string as its
// text, anything else as its JSON.
func ResultText(raw json.RawMessage) Text {
	if len(raw) > 0 && raw[0] == '"' {
		var t Text
		if t.UnmarshalJSON(raw) == nil {
			return t
		}
	}
	return Text(orNull(raw))
}
