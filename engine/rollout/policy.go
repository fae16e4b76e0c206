package rollout

import (
	"encoding/json"

	"assay/engine/record"
)

// Policy is what is being measured: the agent with its prompt, tools and
// settings.
type Policy struct {
	Kind string // builtin, command, http, model, function
	// Program says which program answers, in the words of its kind: name, options
	// and version of a builtin, files' hash or declared version of a command, URL
	// and version of an endpoint, the name of a Go function.
	Program      json.RawMessage
	Model        string
	Checkpoint   string
	SystemPrompt record.Text
	// Tools are what the agent is shown; nil means each task's own.
	Tools    []record.Tool
	Sampling json.RawMessage
}

// Version is the identity of the policy. Seeds, concurrency, deadlines and the
// environment are no part of it.
func (p Policy) Version() string {
	var tools *string
	if p.Tools != nil {
		hash := record.ToolsHash(p.Tools)
		tools = &hash
	}
	return record.Identity("policy", struct {
		Kind         string          `json:"kind"`
		Program      json.RawMessage `json:"program"`
		Model        string          `json:"model"`
		Checkpoint   string          `json:"checkpoint"`
		SystemPrompt record.Text     `json:"system_prompt"`
		Tools        *string         `json:"tools"`
		Sampling     json.RawMessage `json:"sampling"`
	}{p.Kind, orNull(p.Program), p.Model, p.Checkpoint, p.SystemPrompt, tools, orNull(p.Sampling)})
}

// PromptHash is the identity of a system prompt as it is sent.
func PromptHash(prompt record.Text) string { return record.Identity("prompt", prompt) }

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}
