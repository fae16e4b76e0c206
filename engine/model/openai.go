package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"assay/engine/record"
)

// openAI is the language of chat completions. own is OpenAI's own server, which has
// another name for max_tokens than those that followed it.
type openAI struct{ own bool }

func (openAI) base(address string) string {
	if u, err := url.Parse(address); err == nil && strings.Trim(u.Path, "/") == "" {
		address = strings.TrimRight(address, "/") + "/v1"
	}
	return strings.TrimSuffix(strings.TrimRight(address, "/"), "/chat/completions")
}

func (openAI) path() string { return "/chat/completions" }

func (openAI) authorize(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

func (d openAI) body(model string, r *record.ChatRequest, no refused) map[string]any {
	messages := r.Messages
	body := map[string]any{"model": model, "stream": true}
	if !no.has("stream_options") {
		body["stream_options"] = map[string]any{"include_usage": true}
	}
	if len(r.Tools) > 0 {
		body["tools"] = openAITools(r.Tools)
	}
	if r.Temperature != nil && !no.has("temperature") {
		body["temperature"] = *r.Temperature
	}
	if r.MaxTokens > 0 {
		name, other := "max_tokens", "max_completion_tokens"
		if d.own {
			name, other = other, name
		}
		if no.has(name) {
			name = other
		}
		body[name] = r.MaxTokens
	}
	if r.Seed != nil && !no.has("seed") {
		body["seed"] = *r.Seed
	}
	if r.LogProbs {
		body["logprobs"] = true
	}
	switch {
	case len(r.Schema) == 0:
	case no.has("response_format"):
		messages = inWords(messages, r.Schema)
	default:
		body["response_format"] = map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "answer", "schema": r.Schema}}
	}
	body["messages"] = withContent(messages)
	return body
}

// openAITools gives tools without parameters an empty object of them: servers differ in
// whether they take none.
func openAITools(tools []record.Tool) []record.ToolSchema {
	schemas := record.ToolSchemas(tools)
	for i := range schemas {
		if len(schemas[i].Function.Parameters) == 0 {
			schemas[i].Function.Parameters = noParameters
		}
	}
	return schemas
}

var noParameters = json.RawMessage(`{"type":"object","properties":{}}`)

// withContent gives an empty content to messages that have neither one nor calls: null
// is refused there.
func withContent(messages []record.Message) []record.Message {
	out := make([]record.Message, len(messages))
	for i, m := range messages {
		if m.Content == nil && len(m.ToolCalls) == 0 {
			m.Content = new(record.Text)
		}
		out[i] = m
	}
	return out
}

// inWords asks for a schema that the server cannot enforce.
func inWords(messages []record.Message, schema json.RawMessage) []record.Message {
	text := record.Text("Answer with one JSON value and nothing else. It must fit this JSON schema: " + string(schema))
	return append([]record.Message{{Role: "system", Content: &text}}, messages...)
}

// completion is a chunk of a stream, or with messages in place of deltas a whole answer.
type completion struct {
	Model   string `json:"model"`
	Choices []struct {
		Index        int            `json:"index"`
		Delta        *openAIMessage `json:"delta"`
		Message      *openAIMessage `json:"message"`
		FinishReason loose          `json:"finish_reason"`
		LogProbs     *struct {
			Content []struct {
				LogProb float64 `json:"logprob"`
			} `json:"content"`
		} `json:"logprobs"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type openAIMessage struct {
	Content parts       `json:"content"`
	Refusal record.Text `json:"refusal"`
	// Two names for one thing; servers that send both send the same.
	ReasoningContent parts `json:"reasoning_content"`
	Reasoning        parts `json:"reasoning"`
	ToolCalls        []struct {
		Index    *int   `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      record.Text `json:"name"`
			Arguments argument    `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// parts is text, or a list of parts of which some are text, as newer servers write it.
type parts record.Text

func (p *parts) UnmarshalJSON(raw []byte) error {
	if len(raw) == 0 || raw[0] != '[' {
		return (*record.Text)(p).UnmarshalJSON(raw)
	}
	var list []struct {
		Text record.Text `json:"text"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	for _, part := range list {
		*p += parts(part.Text)
	}
	return nil
}

// argument is JSON text in a string, or the JSON itself from servers that do not quote it.
type argument record.Text

func (t *argument) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] != '"' && !bytes.Equal(raw, []byte("null")) {
		*t = argument(raw)
		return nil
	}
	return (*record.Text)(t).UnmarshalJSON(raw)
}

func (d openAI) piece(a *answer, data []byte) (done bool, err error) {
	if string(data) == "[DONE]" {
		if a.finish == "" {
			return false, errors.New("the server ended its stream without a finish reason")
		}
		return true, nil
	}
	return false, d.take(a, data)
}

func (d openAI) whole(a *answer, data []byte) error {
	if err := d.take(a, data); err != nil {
		return err
	}
	if a.finish == "" {
		return unreadable(data, errors.New("it has no finish reason"))
	}
	return nil
}

func (openAI) take(a *answer, data []byte) error {
	var c completion
	if err := json.Unmarshal(data, &c); err != nil {
		return unreadable(data, err)
	}
	if len(c.Error) > 0 && !bytes.Equal(c.Error, []byte("null")) {
		return &streamError{bytes.Clone(data)}
	}
	if c.Model != "" {
		a.model = c.Model
	}
	if u := c.Usage; u != nil {
		a.usage = &record.Usage{InputTokens: u.Prompt, OutputTokens: u.Completion}
	}
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 {
			continue // one answer was asked for
		}
		for _, m := range []*openAIMessage{choice.Delta, choice.Message} {
			if m == nil {
				continue
			}
			if err := m.add(a); err != nil {
				return err
			}
		}
		if choice.LogProbs != nil {
			for _, token := range choice.LogProbs.Content {
				a.logProb(token.LogProb)
			}
		}
		if choice.FinishReason != "" {
			a.finish = openAIFinish(string(choice.FinishReason))
		}
	}
	return nil
}

func (m *openAIMessage) add(a *answer) error {
	thought := m.ReasoningContent
	if thought == "" {
		thought = m.Reasoning
	}
	if err := a.ponder(record.Text(thought)); err != nil {
		return err
	}
	for _, text := range []record.Text{record.Text(m.Content), m.Refusal} {
		if err := a.say(text); err != nil {
			return err
		}
	}
	for _, c := range m.ToolCalls {
		if err := a.call(c.Index, c.ID, c.Function.Name, record.Text(c.Function.Arguments)); err != nil {
			return err
		}
	}
	return nil
}

func openAIFinish(reason string) record.FinishReason {
	switch reason {
	case "length", "max_tokens":
		return record.FinishLength
	case "tool_calls", "function_call":
		return record.FinishTool
	case "content_filter", "error":
		return record.FinishError
	}
	return record.FinishStop
}
