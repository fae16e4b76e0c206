package record

// ChatRequest is one question to a model that can be talked to, as a judge, a writer or
// a person asks it: messages in, a text out. Content is text; there are no tools.
type ChatRequest struct {
	Messages []Message
	// Temperature is nil for the model's own.
	Temperature *float64
	// MaxTokens bounds the answer; 0 is the model's own bound.
	MaxTokens int
}
