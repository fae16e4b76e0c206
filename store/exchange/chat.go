package exchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"assay/engine/record"
)

// chatMessage is one message of a conversation as other tools write it.
type chatMessage struct {
	Role       string            `json:"role"`
	Content    json.RawMessage   `json:"content"`
	ToolCalls  []json.RawMessage `json:"tool_calls"`
	ToolCallID string            `json:"tool_call_id"`
	Name       string            `json:"name"`
}

// conversation is a chat in the form of a row.
type conversation struct {
	system, prompt, final record.Text
	steps                 []record.Step
	asked                 bool           // the first user message has come
	open                  map[string]int // calls without a result: id to step
	waiting               []int          // the same, in order
}

// readMessages turns messages into prompt, steps, final_text and system_prompt.
func (m *members) readMessages() error {
	var list []chatMessage
	if err := json.Unmarshal(m.take("messages"), &list); err != nil {
		return errors.New("messages is not a list of messages")
	}
	c := conversation{open: map[string]int{}}
	for i := range list {
		if err := c.add(&list[i], i == len(list)-1); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	steps, err := record.Marshal(c.steps)
	if err != nil {
		return err
	}
	m.raw["steps"] = steps
	put := func(name string, t record.Text) {
		if t != "" && m.raw[name] == nil {
			quoted, _ := t.MarshalJSON() // never fails
			m.raw[name] = quoted
		}
	}
	put("prompt", c.prompt)
	put("final_text", c.final)
	put("system_prompt", c.system)
	return nil
}

func (c *conversation) add(m *chatMessage, last bool) error {
	content := contentText(m.Content)
	switch m.Role {
	case "system", "developer":
		if c.system != "" {
			c.system += "\n\n"
		}
		c.system += content
	case "user":
		if !c.asked && len(c.steps) == 0 {
			c.prompt, c.asked = content, true
			return nil
		}
		c.asked = true
		c.steps = append(c.steps, record.Step{Kind: record.StepUser, Text: content})
	case "assistant":
		if last && len(m.ToolCalls) == 0 {
			c.final = content
			return nil
		}
		if content != "" {
			c.steps = append(c.steps, record.Step{Kind: record.StepText, Text: content})
		}
		for _, call := range m.ToolCalls {
			if err := c.call(call); err != nil {
				return err
			}
		}
	case "tool", "function":
		return c.result(m, content)
	default:
		return fmt.Errorf("role %q is none of system, user, assistant, tool", m.Role)
	}
	return nil
}

// call reads a tool call in the OpenAI form or the flat one.
func (c *conversation) call(raw json.RawMessage) error {
	var call struct {
		ID        string          `json:"id"`
		Name      record.Text     `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Function  *struct {
			Name      record.Text     `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	}
	if err := json.Unmarshal(raw, &call); err != nil {
		return fmt.Errorf("a tool call is not one: %w", err)
	}
	if call.Function != nil {
		call.Name, call.Arguments = call.Function.Name, call.Function.Arguments
	}
	if call.Name == "" {
		return errors.New("a tool call has no name")
	}
	at := len(c.steps)
	c.steps = append(c.steps, record.Step{Kind: record.StepTool, Tool: string(call.Name), Arguments: argumentsOf(call.Arguments)})
	if call.ID != "" {
		c.open[call.ID] = at
	}
	c.waiting = append(c.waiting, at)
	return nil
}

// result gives a result to its call: the one it names, else the first that waits.
func (c *conversation) result(m *chatMessage, content record.Text) error {
	at, known := c.open[m.ToolCallID]
	if !known {
		if len(c.waiting) == 0 {
			return errors.New("a tool's result has no call before it")
		}
		at = c.waiting[0]
	}
	delete(c.open, m.ToolCallID)
	for i, w := range c.waiting {
		if w == at {
			c.waiting = append(c.waiting[:i:i], c.waiting[i+1:]...)
			break
		}
	}
	if isStructure(string(content)) {
		c.steps[at].Result = json.RawMessage(content)
		return nil
	}
	quoted, err := content.MarshalJSON()
	c.steps[at].Result = quoted
	return err
}

// contentText is a message's content: text, or parts of which the texts count.
func contentText(raw json.RawMessage) record.Text {
	var parts []struct {
		Text record.Text `json:"text"`
	}
	if len(raw) > 0 && raw[0] == '[' && json.Unmarshal(raw, &parts) == nil {
		texts := make([]string, len(parts))
		for i, p := range parts {
			texts[i] = string(p.Text)
		}
		return record.Text(strings.Join(texts, ""))
	}
	return textOf(raw)
}
