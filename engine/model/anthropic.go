package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"assay/engine/record"
)

// anthropic is the language of Anthropic's messages.
type anthropic struct{}

// anthropicVersion is that of the interface, a date (docs: api/versioning).
const anthropicVersion = "2023-06-01"

func (anthropic) base(address string) string {
	address = strings.TrimSuffix(strings.TrimRight(address, "/"), "/messages")
	return strings.TrimSuffix(address, "/v1") + "/v1"
}

func (anthropic) path() string { return "/messages" }

func (anthropic) authorize(h http.Header, key string) {
	if key != "" {
		h.Set("X-Api-Key", key)
	}
	h.Set("Anthropic-Version", anthropicVersion)
}

// block is a part of a message's content as it is sent.
type block struct {
	Type      string          `json:"type"`
	Text      record.Text     `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      record.Text     `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   *record.Text    `json:"content,omitempty"`

	sealed json.RawMessage // the whole block, as it came
}

// MarshalJSON writes a sealed block as it came.
func (b block) MarshalJSON() ([]byte, error) {
	if b.sealed != nil {
		return b.sealed, nil
	}
	type plain block
	return record.Marshal(plain(b))
}

type anthropicMessage struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

type anthropicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
}

func (anthropic) body(model string, r *record.ChatRequest, no refused) map[string]any {
	messages := r.Messages
	body := map[string]any{"model": model, "stream": true, "max_tokens": r.MaxTokens}
	if r.MaxTokens == 0 {
		body["max_tokens"] = defaultAnthropicTokens
	}
	if len(r.Tools) > 0 {
		tools := make([]anthropicTool, len(r.Tools))
		for i, t := range r.Tools {
			tools[i] = anthropicTool{t.Name, t.Description, t.Parameters}
			if len(t.Parameters) == 0 {
				tools[i].Schema = noParameters
			}
		}
		body["tools"] = tools
	}
	if r.Temperature != nil && !no.has("temperature") {
		body["temperature"] = min(*r.Temperature, 1) // its scale ends there
	}
	switch {
	case len(r.Schema) == 0:
	case no.has("output_config"):
		messages = inWords(messages, r.Schema)
	default:
		body["output_config"] = map[string]any{"format": map[string]any{"type": "json_schema", "schema": r.Schema}}
	}
	system, turns := anthropicTurns(messages)
	if system != "" {
		body["system"] = system
	}
	body["messages"] = turns
	return body
}

// anthropicTurns turns messages of the OpenAI form into Anthropic's: the system's apart,
// tool results as the user's, and what one side says in a row as one message.
func anthropicTurns(messages []record.Message) (system record.Text, turns []anthropicMessage) {
	add := func(role string, b ...block) {
		if len(b) == 0 {
			return
		}
		if n := len(turns); n > 0 && turns[n-1].Role == role {
			turns[n-1].Content = append(turns[n-1].Content, b...)
			return
		}
		turns = append(turns, anthropicMessage{role, b})
	}
	for _, m := range messages {
		var text record.Text
		if m.Content != nil {
			text = *m.Content
		}
		switch m.Role {
		case "system", "developer":
			if system != "" && text != "" {
				system += "\n\n"
			}
			system += text
		case "tool":
			add("user", block{Type: "tool_result", ToolUseID: m.ToolCallID, Content: &text})
		case "assistant":
			add("assistant", answerBlocks(&m, text)...)
		default:
			if blank(text) {
				text = noText
			}
			add("user", block{Type: "text", Text: text})
		}
	}
	return system, turns
}

// noText stands for a message without text, which the interface refuses.
const noText = "(no text)"

func blank(t record.Text) bool { return strings.TrimSpace(string(t)) == "" }

// toolInput is a call's arguments as the object that the interface wants; what is none,
// so that the model sees what it wrote, as a member of one.
func toolInput(arguments record.Text) json.RawMessage {
	raw := bytes.TrimSpace([]byte(arguments))
	if len(raw) > 0 && raw[0] == '{' && json.Valid(raw) {
		return raw
	}
	wrapped, err := record.Marshal(struct {
		Text record.Text `json:"not_json"`
	}{arguments})
	if err != nil {
		return json.RawMessage("{}")
	}
	return wrapped
}

// heardBlock is a part of an answer's content.
type heardBlock struct {
	Type     string          `json:"type"`
	Text     record.Text     `json:"text"`
	Thinking record.Text     `json:"thinking"`
	ID       string          `json:"id"`
	Name     record.Text     `json:"name"`
	Input    json.RawMessage `json:"input"`
	// A thought is signed, or encrypted whole.
	Signature string `json:"signature"`
	Data      string `json:"data"`
}

type anthropicUsage struct {
	Input   int64 `json:"input_tokens"`
	Written int64 `json:"cache_creation_input_tokens"`
	Read    int64 `json:"cache_read_input_tokens"`
	Output  int64 `json:"output_tokens"`
}

// event is one of a stream, or with content a whole answer.
type event struct {
	Type    string `json:"type"`
	Index   *int   `json:"index"`
	Message *struct {
		Model string          `json:"model"`
		Usage *anthropicUsage `json:"usage"`
	} `json:"message"`
	Block *heardBlock `json:"content_block"`
	Delta *struct {
		Type        string      `json:"type"`
		Text        record.Text `json:"text"`
		Thinking    record.Text `json:"thinking"`
		Signature   string      `json:"signature"`
		PartialJSON record.Text `json:"partial_json"`
		StopReason  string      `json:"stop_reason"`
	} `json:"delta"`
	Usage *anthropicUsage `json:"usage"`

	Model      string       `json:"model"`
	Content    []heardBlock `json:"content"`
	StopReason string       `json:"stop_reason"`
}

func (anthropic) piece(a *answer, data []byte) (done bool, err error) {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return false, unreadable(data, err)
	}
	switch e.Type {
	case "message_start":
		if e.Message != nil {
			a.model = e.Message.Model
			a.count(e.Message.Usage)
		}
	case "content_block_start":
		if e.Block != nil {
			return false, a.block(e.Index, e.Block)
		}
	case "content_block_delta":
		if d := e.Delta; d != nil {
			if d.Type == "input_json_delta" {
				return false, a.call(e.Index, "", "", d.PartialJSON)
			}
			if err := a.thinkOn(d.Thinking, d.Signature); err != nil {
				return false, err
			}
			return false, a.say(d.Text)
		}
	case "message_delta":
		a.count(e.Usage)
		if e.Delta != nil && e.Delta.StopReason != "" {
			a.finish = anthropicFinish(e.Delta.StopReason)
		}
	case "message_stop":
		if a.finish == "" {
			return false, errors.New("the server ended its stream without a stop reason")
		}
		return true, nil
	case "error":
		return false, &streamError{bytes.Clone(data)}
	}
	return false, nil // a ping, and events of later versions
}

func (anthropic) whole(a *answer, data []byte) error {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return unreadable(data, err)
	}
	switch {
	case e.Type == "error":
		return &streamError{bytes.Clone(data)}
	case e.StopReason == "":
		return unreadable(data, errors.New("it has no stop reason"))
	}
	for i := range e.Content {
		if err := a.block(&i, &e.Content[i]); err != nil {
			return err
		}
	}
	a.model, a.finish = e.Model, anthropicFinish(e.StopReason)
	a.count(e.Usage)
	return nil
}

// block takes the beginning of a block, or the whole of one. A call that is streamed
// begins with an empty input, which its pieces replace.
func (a *answer) block(index *int, b *heardBlock) error {
	switch b.Type {
	case "text":
		return a.say(b.Text)
	case "thinking", "redacted_thinking":
		if err := a.seal(b.Type, b.Data); err != nil {
			return err
		}
		return a.thinkOn(b.Thinking, b.Signature)
	case "tool_use":
		input := record.Text(b.Input)
		if string(b.Input) == "{}" {
			input = ""
		}
		return a.call(index, b.ID, b.Name, input)
	}
	return nil
}

// count takes what a usage says. The counts of a stream's end go before those of its
// start, and may leave out the input's.
func (a *answer) count(u *anthropicUsage) {
	if u == nil {
		return
	}
	if a.usage == nil {
		a.usage = &record.Usage{}
	}
	if in := u.Input + u.Written + u.Read; in > 0 {
		a.usage.InputTokens = in
	}
	a.usage.OutputTokens = max(a.usage.OutputTokens, u.Output)
}

func anthropicFinish(reason string) record.FinishReason {
	switch reason {
	case "max_tokens", "model_context_window_exceeded":
		return record.FinishLength
	case "tool_use":
		return record.FinishTool
	case "refusal":
		return record.FinishError
	}
	return record.FinishStop
}
