package modeltest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// signatureOf signs a thought, so that one that is changed is told from one that is not.
func signatureOf(thought string) string {
	sum := sha256.Sum256([]byte("signed " + thought))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// seal is a thought that only the server can read, with its signature.
func seal(thought string) string {
	return base64.StdEncoding.EncodeToString([]byte(thought)) + "." + signatureOf(thought)
}

func isSeal(data string) bool {
	text, signature, _ := strings.Cut(data, ".")
	thought, err := base64.StdEncoding.DecodeString(text)
	return err == nil && signature == signatureOf(string(thought))
}

// unsealed is what Anthropic's server says of thoughts that do not come back as it gave
// them, "" where they do: each must be whole, and with thinking enabled a turn that goes on
// after calls must begin with one.
func unsealed(body []byte) string {
	var r struct {
		Thinking struct {
			Type string `json:"type"`
		} `json:"thinking"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if json.Unmarshal(body, &r) != nil {
		return ""
	}
	fresh := true // the next answer begins a turn
	wrong := ""
	for i, m := range r.Messages {
		var content []struct{ Type, Thinking, Signature, Data string }
		_ = json.Unmarshal(m.Content, &content) // a text has no blocks
		if m.Role != "assistant" {
			if len(content) == 0 || content[0].Type != "tool_result" {
				fresh, wrong = true, ""
			}
			continue
		}
		for j, b := range content {
			if b.Type == "thinking" && b.Signature != signatureOf(b.Thinking) || b.Type == "redacted_thinking" && !isSeal(b.Data) {
				return fmt.Sprintf("messages.%d.content.%d: Invalid `signature` in `%s` block", i, j, b.Type)
			}
		}
		if fresh && len(content) > 0 && !strings.HasSuffix(content[0].Type, "thinking") {
			wrong = fmt.Sprintf("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`", i, content[0].Type)
		}
		fresh = false
	}
	if r.Thinking.Type != "enabled" {
		return ""
	}
	return wrong
}
