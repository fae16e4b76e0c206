package engine

import (
	"fmt"
	"strings"

	"assay/engine/record"
)

// familyWarnings say that a judge is of the agent's own model family: such judges
// have been seen to favour their kin (Panickssery et al. 2024). They follow every
// number that rests on the judge.
func familyWarnings(run *record.Run, scorers []record.Scorer, scorer string) []record.Warning {
	spec, ok := storedAgent(run)
	if !ok {
		return nil
	}
	for _, s := range scorers {
		if s.ID != scorer || modelFamily(s.Model) == "" || modelFamily(s.Model) != modelFamily(spec.Model) {
			continue
		}
		return []record.Warning{{Code: "same_family", Text: fmt.Sprintf("the judge %s is of the agent's own model family (%s)", s.Model, spec.Model), Fix: "judge with a model of another family, and measure both: assay trust " + run.ID + " --compare ..."}}
	}
	return nil
}

// families are the names that models of one maker go by, beside their own first word.
var families = map[string]string{"chatgpt": "gpt", "o1": "gpt", "o3": "gpt", "o4": "gpt", "codex": "gpt", "davinci": "gpt",
	"mixtral": "mistral", "codestral": "mistral", "ministral": "mistral", "magistral": "mistral", "qwq": "qwen", "gemma": "gemini", "codellama": "llama"}

// modelFamily is the family of a model's name, "" of none: "anthropic:claude-haiku-4-5"
// is claude, "openrouter:meta-llama/llama-3.1-8b" is llama.
func modelFamily(model string) string {
	name := strings.ToLower(model[strings.LastIndexAny(model, ":/")+1:])
	word, _, _ := strings.Cut(name, "-")
	if family, ok := families[word]; ok {
		return family
	}
	letters := strings.TrimRightFunc(word, func(r rune) bool { return r < 'a' || r > 'z' })
	for strings.ContainsAny(letters, "0123456789") { // gpt4o is gpt
		letters = strings.TrimRight(letters[:strings.LastIndexAny(letters, "0123456789")], "0123456789.")
	}
	if family, ok := families[letters]; ok {
		return family
	}
	return letters
}
