package cut

import (
	"encoding/json"
	"strings"

	"assay/engine/record"
)

// quoteRunes is how many characters in a row make a quotation. Shorter runs are shared
// by any two texts on one subject. Convention.
const quoteRunes = 12

// quotesPrivileged finds text of the rollout's privileged block in what the agent said
// or called. Text that the agent was given in the conversation too is no leak.
func quotesPrivileged(c *candidate) string {
	r := &c.sample.Rollout
	if len(r.Privileged) == 0 {
		return ""
	}
	secret := windowsOf(privilegedTexts(r.Privileged))
	if len(secret) == 0 {
		return ""
	}
	said, given := conversation(c.sample)
	for window := range windows(given) {
		delete(secret, window)
	}
	for window := range windows(said) {
		if secret[window] {
			return "quotes its privileged block"
		}
	}
	return ""
}

// privilegedTexts are all strings of a JSON value, at any depth, member names left out.
func privilegedTexts(raw json.RawMessage) []string {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return nil
	}
	var texts []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			texts = append(texts, v)
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for _, item := range v {
				walk(item)
			}
		}
	}
	walk(value)
	return texts
}

// conversation is what the agent said, its calls' arguments included, and what it was
// given: the ask, the user's words and results.
func conversation(s *record.Sample) (said, given string) {
	var a, b strings.Builder
	write := func(to *strings.Builder, text string) {
		to.WriteString(text)
		to.WriteByte('\n')
	}
	write(&b, string(s.Task.Ask))
	write(&b, string(s.Rollout.Prompt))
	for i := range s.Rollout.Steps {
		step := &s.Rollout.Steps[i]
		switch step.Kind {
		case record.StepUser:
			write(&b, string(step.Text))
		case record.StepText:
			write(&a, string(step.Text))
		case record.StepTool:
			write(&a, string(step.Arguments))
			write(&b, string(step.Result))
		}
	}
	write(&a, string(s.Rollout.FinalText))
	return a.String(), b.String()
}

func windowsOf(texts []string) map[string]bool {
	set := map[string]bool{}
	for _, text := range texts {
		for window := range windows(text) {
			set[window] = true
		}
	}
	return set
}

// windows yields every run of quoteRunes characters of a text, letter case and white
// space evened out.
func windows(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		even := strings.Join(strings.Fields(strings.ToLower(text)), " ")
		starts := make([]int, 0, len(even))
		for i := range even {
			starts = append(starts, i)
		}
		starts = append(starts, len(even))
		for i := 0; i+quoteRunes < len(starts); i++ {
			if !yield(even[starts[i]:starts[i+quoteRunes]]) {
				return
			}
		}
	}
}
