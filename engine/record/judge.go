package record

import "encoding/json"

// JudgeRequest is all that a judge is given of one rollout. It holds no axes,
// fault plan, gold or truth. Reference is null: only a verifier that declares a
// reference reads it.
type JudgeRequest struct {
	Rubric       *Text           `json:"rubric"`
	SystemPrompt Text            `json:"system_prompt"`
	Tools        []Tool          `json:"tools"`
	Prompt       Text            `json:"prompt"`
	Steps        []Step          `json:"steps"`
	FinalText    Text            `json:"final_text"`
	Reference    json.RawMessage `json:"reference"`
}
