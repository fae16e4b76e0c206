package grade

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"assay/engine/record"
)

// Prefer asks the model which of two replies meets the rubric better. Its word is first,
// second or tie; a reply that cannot be read is asked for once more, and is then an error.
func (j *RubricJudge) Prefer(ctx context.Context, first, second JudgeRequest) (string, error) {
	return j.preferWhole(ctx, first, second, DefaultMaxChars/2)
}

func (j *RubricJudge) preferWhole(ctx context.Context, first, second JudgeRequest, maxChars int) (string, error) {
	shown, err := showPair(first, second, maxChars)
	if err != nil {
		return "", err
	}
	messages := append(message("system", j.pairInstructions()), message("user", shown)...)
	reply, err := j.say(ctx, messages, j.maxTokens)
	if err != nil {
		return "", err
	}
	word, err := readPreference(reply)
	if err == nil {
		return word, nil
	}
	messages = append(messages, message("assistant", clipTo(string(reply), maxRepeated))...)
	messages = append(messages, message("user", fmt.Sprintf(askAgain, err))...)
	if reply, err = j.say(ctx, messages, j.maxTokens); err != nil {
		return "", err
	}
	return readPreference(reply)
}

// pairInstructions are the system message of a comparison.
func (j *RubricJudge) pairInstructions() string {
	var b strings.Builder
	b.WriteString(`You compare two conversations between a user and an assistant that can call tools: two attempts at one and the same ask. You compare by the criteria below and by nothing else.

` + shownAsMaterial(`the assistant's instructions, its tools, the ask, and under "first" and "second" each attempt step by step, its final reply, and which tools were called and which were not`) + `
Which attempt stands first says nothing of its worth.
`)
	j.writeCriteria(&b)
	b.WriteString(`
Answer with one JSON object and nothing else:
{"reason": "one sentence that points to the step in which they differ", "preferred": "first"}
preferred is "first", "second", or "tie" where neither meets the criteria better than the other. A missed criterion marked [hard] weighs more than all others together.`)
	return b.String()
}

// attempt is one of two rollouts as it is shown.
type attempt struct {
	Steps          []record.Step   `json:"steps"`
	FinalText      record.Text     `json:"final_text"`
	ToolsCalled    []string        `json:"tools_called"`
	ToolsNotCalled []string        `json:"tools_not_called"`
	Cut            json.RawMessage `json:"cut,omitempty"`
}

// showPair writes two rollouts of one task down, each bounded. What they share is shown
// once.
func showPair(first, second JudgeRequest, maxChars int) (string, error) {
	bound := func(whole JudgeRequest) (JudgeRequest, attempt) {
		called, not := calledAndNot(&whole)
		req, cut := fit(whole, maxChars)
		return req, attempt{req.Steps, req.FinalText, called, not, cut}
	}
	req, a := bound(first)
	_, b := bound(second)
	raw, err := record.Marshal(struct {
		SystemPrompt record.Text   `json:"system_prompt"`
		Tools        []record.Tool `json:"tools"`
		Prompt       record.Text   `json:"prompt"`
		First        attempt       `json:"first"`
		Second       attempt       `json:"second"`
	}{req.SystemPrompt, req.Tools, req.Prompt, a, b})
	return string(raw), err
}

// readPreference reads a model's word, in an object somewhere in its reply. Two objects
// are no word, whatever they say.
func readPreference(reply record.Text) (string, error) {
	if len(reply) > maxVerdict {
		return "", fmt.Errorf("the reply is over %d bytes", maxVerdict)
	}
	found, err := verdictObjects(readable(reply), "preferred")
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", fmt.Errorf("the reply holds no object")
	case len(found) > 1:
		return "", fmt.Errorf("the reply holds %d verdicts", len(found))
	}
	preferred, has := found[0].member("preferred")
	if !has || preferred.kind != looseText {
		return "", fmt.Errorf("the object does not say which is preferred")
	}
	switch word := strings.ToLower(strings.TrimSpace(preferred.text)); word {
	case wordFirst, wordSecond, wordTie:
		return word, nil
	}
	return "", fmt.Errorf("preferred is %q, which is none of first, second, tie", clip(preferred.text))
}
