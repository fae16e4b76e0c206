package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Answer is a whole answer of a model.
type Answer struct {
	Text      string
	Reasoning string // in a field of its own; tags are written into Text
	Redacted  string // a thought that is encrypted whole, of Anthropic's dialect
	Calls     []Call
	Finish    string // as OpenAI calls it; "" is what follows from Calls
	Input     int    // tokens; 0 with Output is 12 and 7
	Output    int
	LogProbs  []float64 // of OpenAI's dialect, with the first piece of the text
}

// Call is one call of a tool. Arguments are sent as they are, JSON or not.
type Call struct {
	ID, Name, Arguments string
}

// pieces cuts a text as a server streams it, by words.
func pieces(text string) []string { return strings.SplitAfter(text, " ") }

// halves cuts arguments in two, so that they have to be put together.
func halves(text string) []string {
	if len(text) < 2 {
		return []string{text}
	}
	return []string{text[:len(text)/2], text[len(text)/2:]}
}

func (a *Answer) finish() string {
	switch {
	case a.Finish != "":
		return a.Finish
	case len(a.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (a *Answer) tokens() (in, out int) {
	if a.Input == 0 && a.Output == 0 {
		return 12, 7
	}
	return a.Input, a.Output
}

func (c *Call) id(i int) string {
	if c.ID != "" {
		return c.ID
	}
	return fmt.Sprintf("call_%d", i+1)
}

type object = map[string]any

// Encode is the body of the answer in a dialect, and where a piece of it ends.
func (a *Answer) Encode(dialect, model string, stream bool) (body []byte, ends []int) {
	var b bytes.Buffer
	switch {
	case dialect == Anthropic && stream:
		a.anthropicStream(model, func(event object) {
			fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", event["type"], quote(event))
			ends = append(ends, b.Len())
		})
	case dialect == Anthropic:
		b.Write(quote(a.anthropicWhole(model)))
	case stream:
		a.openAIStream(model, func(chunk object) {
			fmt.Fprintf(&b, "data: %s\n\n", quote(chunk))
			ends = append(ends, b.Len())
		})
		b.WriteString("data: [DONE]\n\n")
	default:
		b.Write(quote(a.openAIWhole(model)))
	}
	return b.Bytes(), append(ends, b.Len())
}

// quote never fails: what it is given is made of maps, texts and numbers.
func quote(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

func (a *Answer) openAIStream(model string, send func(object)) {
	chunk := func(delta object, finish any) object {
		return object{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1764547200, "model": model,
			"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}}}
	}
	send(chunk(object{"role": "assistant", "content": ""}, nil))
	if a.Reasoning != "" {
		for _, p := range pieces(a.Reasoning) {
			send(chunk(object{"reasoning_content": p}, nil))
		}
	}
	if a.Text != "" {
		for i, p := range pieces(a.Text) {
			c := chunk(object{"content": p}, nil)
			if i == 0 && len(a.LogProbs) > 0 {
				c["choices"].([]any)[0].(object)["logprobs"] = a.logProbs()
			}
			send(c)
		}
	}
	for i := range a.Calls {
		c := &a.Calls[i]
		send(chunk(object{"tool_calls": []any{object{"index": i, "id": c.id(i), "type": "function", "function": object{"name": c.Name, "arguments": ""}}}}, nil))
		for _, p := range halves(c.Arguments) {
			send(chunk(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": p}}}}, nil))
		}
	}
	send(chunk(object{}, a.finish()))
	send(object{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1764547200, "model": model, "choices": []any{}, "usage": a.openAIUsage()})
}

func (a *Answer) openAIUsage() object {
	in, out := a.tokens()
	return object{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out}
}

func (a *Answer) logProbs() object {
	list := make([]any, len(a.LogProbs))
	for i, v := range a.LogProbs {
		list[i] = object{"token": "t", "logprob": v, "bytes": nil, "top_logprobs": []any{}}
	}
	return object{"content": list, "refusal": nil}
}

func (a *Answer) openAIWhole(model string) object {
	message := object{"role": "assistant", "content": a.Text}
	if a.Reasoning != "" {
		message["reasoning_content"] = a.Reasoning
	}
	if len(a.Calls) > 0 {
		list := make([]any, len(a.Calls))
		for i := range a.Calls {
			c := &a.Calls[i]
			list[i] = object{"id": c.id(i), "type": "function", "function": object{"name": c.Name, "arguments": c.Arguments}}
		}
		message["tool_calls"] = list
	}
	choice := object{"index": 0, "message": message, "finish_reason": a.finish()}
	if len(a.LogProbs) > 0 {
		choice["logprobs"] = a.logProbs()
	}
	return object{"id": "chatcmpl-1", "object": "chat.completion", "created": 1764547200, "model": model, "choices": []any{choice}, "usage": a.openAIUsage()}
}

func (a *Answer) anthropicFinish() string {
	switch a.finish() {
	case "tool_calls":
		return "tool_use"
	case "length":
		return "max_tokens"
	}
	return "end_turn"
}

func (a *Answer) anthropicStream(model string, send func(object)) {
	in, out := a.tokens()
	send(object{"type": "message_start", "message": object{"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": object{"input_tokens": in, "output_tokens": 1}}})
	send(object{"type": "ping"})
	index := 0
	block := func(start object, deltas ...object) {
		send(object{"type": "content_block_start", "index": index, "content_block": start})
		for _, d := range deltas {
			send(object{"type": "content_block_delta", "index": index, "delta": d})
		}
		send(object{"type": "content_block_stop", "index": index})
		index++
	}
	if a.Reasoning != "" {
		var deltas []object
		for _, p := range pieces(a.Reasoning) {
			deltas = append(deltas, object{"type": "thinking_delta", "thinking": p})
		}
		block(object{"type": "thinking", "thinking": "", "signature": ""}, append(deltas, object{"type": "signature_delta", "signature": signatureOf(a.Reasoning)})...)
	}
	if a.Redacted != "" {
		block(object{"type": "redacted_thinking", "data": seal(a.Redacted)})
	}
	if a.Text != "" {
		var deltas []object
		for _, p := range pieces(a.Text) {
			deltas = append(deltas, object{"type": "text_delta", "text": p})
		}
		block(object{"type": "text", "text": ""}, deltas...)
	}
	for i := range a.Calls {
		c := &a.Calls[i]
		deltas := []object{{"type": "input_json_delta", "partial_json": ""}}
		for _, p := range halves(c.Arguments) {
			deltas = append(deltas, object{"type": "input_json_delta", "partial_json": p})
		}
		block(object{"type": "tool_use", "id": c.id(i), "name": c.Name, "input": object{}}, deltas...)
	}
	send(object{"type": "message_delta", "delta": object{"stop_reason": a.anthropicFinish(), "stop_sequence": nil}, "usage": object{"output_tokens": out}})
	send(object{"type": "message_stop"})
}

func (a *Answer) anthropicWhole(model string) object {
	in, out := a.tokens()
	content := []any{}
	if a.Reasoning != "" {
		content = append(content, object{"type": "thinking", "thinking": a.Reasoning, "signature": signatureOf(a.Reasoning)})
	}
	if a.Redacted != "" {
		content = append(content, object{"type": "redacted_thinking", "data": seal(a.Redacted)})
	}
	if a.Text != "" {
		content = append(content, object{"type": "text", "text": a.Text})
	}
	for i := range a.Calls {
		c := &a.Calls[i]
		content = append(content, object{"type": "tool_use", "id": c.id(i), "name": c.Name, "input": json.RawMessage(c.Arguments)})
	}
	return object{"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": content, "stop_reason": a.anthropicFinish(), "stop_sequence": nil,
		"usage": object{"input_tokens": in, "output_tokens": out}}
}
