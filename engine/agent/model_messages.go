package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	"assay/engine/record"
)

// messagesOf is a turn as messages, the last one that which is to be answered. It
// depends on the turn alone.
//
// Which calls of an earlier turn a model made side by side is not in a history, so
// each has a message of its own, in their order; what was said beside the first of
// them stands in its message. Calls and names are made fit to be sent: a server turns
// away a whole request for what a model once got wrong in it.
func messagesOf(turn *record.Turn) []record.Message {
	ask, steps := turn.Message, []record.Step(nil)
	if len(turn.History) > 0 {
		ask = turn.History[0].Text
		steps = append(append(steps, turn.History[1:]...), record.Step{Kind: record.StepUser, Text: turn.Message})
	}
	whole := record.Messages(turn.SystemPrompt, ask, steps, "")
	whole = whole[:len(whole)-1] // the reply is what is asked for
	messages := make([]record.Message, 0, len(whole))
	calls, id := 0, ""
	for _, m := range whole {
		if m.Role == "tool" {
			m.ToolCallID, m.Name = id, sendable(m.Name, turn.Tools)
		}
		for i := range m.ToolCalls {
			id = callID(calls)
			calls++
			f := &m.ToolCalls[i].Function
			m.ToolCalls[i].ID, f.Name, f.Arguments = id, sendable(f.Name, turn.Tools), objectArguments(f.Arguments)
		}
		if last := len(messages) - 1; len(m.ToolCalls) > 0 && last >= 0 && isSaid(&messages[last]) {
			messages[last].ToolCalls = m.ToolCalls
			continue
		}
		messages = append(messages, m)
	}
	return messages
}

// isSaid is true of an assistant's words that no call stands beside.
func isSaid(m *record.Message) bool { return m.Role == "assistant" && len(m.ToolCalls) == 0 }

// callsIn counts the calls of a conversation.
func callsIn(messages []record.Message) int {
	n := 0
	for i := range messages {
		n += len(messages[i].ToolCalls)
	}
	return n
}

// callID names the n-th call of a conversation. Ids are ours: those of servers are
// drawn, may be missing, and are not kept in a history. Mistral's servers take nine
// letters and digits and nothing else, the others anything that is so.
func callID(n int) string { return fmt.Sprintf("call%05d", n) }

// maxSentName is the longest name of a function that OpenAI's and Anthropic's servers
// take.
const maxSentName = 64

// sendable is the name of a called tool as it is sent back to the model: a tool that
// there is by its name, another with what no server takes replaced.
func sendable(name record.Text, tools []record.Tool) record.Text {
	for i := range tools {
		if tools[i].Name == string(name) {
			return name
		}
	}
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, string(name))
	if plain == "" {
		plain = "_"
	}
	return record.Text(plain[:min(len(plain), maxSentName)])
}

// malformedArguments is the member under which a model is shown arguments of its own
// that are no object.
const malformedArguments = "malformed_arguments"

// objectArguments are arguments as they are sent back to the model: an object, since
// servers read them before the model does. What the model meant as one and wrote as a
// string is that object, as it is to the world.
func objectArguments(written record.Text) record.Text {
	raw := []byte(strings.TrimSpace(string(written)))
	if isObject(raw) {
		return written
	}
	if len(raw) == 0 || string(raw) == "null" {
		return "{}"
	}
	inner := written
	var quoted record.Text
	if json.Valid(raw) && raw[0] == '"' && quoted.UnmarshalJSON(raw) == nil {
		if isObject([]byte(strings.TrimSpace(string(quoted)))) {
			return quoted
		}
		inner = quoted
	}
	out, err := record.Marshal(map[string]record.Text{malformedArguments: inner})
	if err != nil { // text always marshals
		return "{}"
	}
	return record.Text(out)
}

func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' && json.Valid(raw) }
