package record

import "encoding/json"

// ChatRequest is one question to a model that can be talked to, as an agent's loop, a
// judge, a writer or a person asks it: messages in, one answer out.
type ChatRequest struct {
	Messages []Message
	// Tools are what the model may call. Judges, writers and people give none.
	Tools []Tool
	// Temperature is nil for the model's own.
	Temperature *float64
	// MaxTokens bounds the answer; 0 is the model's own bound.
	MaxTokens int
	// Seed asks a server that can for the same answer again; nil asks for none. A server
	// without seeds ignores it.
	Seed *int64
	// LogProbs asks for the log-probability of each token of the answer.
	LogProbs bool
	// Schema is a JSON schema that the answer must fit, enforced where the server can
	// and only a request in words elsewhere. Empty is free text.
	Schema json.RawMessage
	// Stream hears the answer while it is being made; what it hears may be missed. It
	// may be nil.
	Stream func(Delta)
}

// ChatReply is a model's whole answer.
type ChatReply struct {
	Text Text
	// Reasoning is what the model thought aloud, kept apart from what it said: a
	// reasoning field of the server's, or what stood in <think> tags.
	Reasoning Text
	// ToolCalls are in the order in which the model made them. Their arguments are text
	// as the model wrote it, and may be no JSON.
	ToolCalls    []ToolCallMessage
	FinishReason FinishReason
	Usage        *Usage    // nil where the server tells none
	LogProbs     *LogProbs // nil where not asked for or not told
	// Sealed go back with the answer, in the further requests of the turn that it is of.
	Sealed []Sealed
	// Model is what the server calls the model that answered; it may say more than the
	// name that was asked for.
	Model string
	// Cached says that nobody was asked: its usage is what the answer took when it was
	// made.
	Cached bool `json:"-"`
}

// Sealed is a part of an answer that only the server it came from can read or check, as a
// signed or encrypted thought. Who answers an answer's calls sends it back as it came and
// where it stood, since servers refuse a turn that goes on without; nobody else has a use
// for it.
type Sealed struct {
	Text  int             // where it stood: so many bytes of the answer's text went before it,
	Calls int             // and so many of its calls
	Block json.RawMessage // in the server's own form
}
