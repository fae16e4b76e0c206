package model

import "strings"

// Family is the family of a model's name, "" of none: "anthropic:claude-haiku-4-5" is
// claude, "vllm:meta-llama/llama-3.1-8b@http://host/v1" is llama.
func Family(model string) string {
	if i := addressStart(model); i >= 0 {
		model = model[:i]
	}
	name := strings.ToLower(model)
	if provider, rest, found := strings.Cut(name, ":"); found && !strings.Contains(provider, "/") && IsSpec(name) {
		name, _, _ = strings.Cut(rest, ":") // ollama's tags stand behind another colon
	}
	name = name[strings.LastIndexAny(name, ":/")+1:]
	word, _, _ := strings.Cut(name, "-")
	if family := ownFamily(word); family != "" {
		return family
	}
	letters := strings.TrimRightFunc(word, func(r rune) bool { return r < 'a' || r > 'z' })
	for strings.ContainsAny(letters, "0123456789") { // gpt4o is gpt
		letters = strings.TrimRight(letters[:strings.LastIndexAny(letters, "0123456789")], "0123456789.")
	}
	if family := ownFamily(letters); family != "" {
		return family
	}
	return letters
}

// ownFamily are the names that models of one maker go by, beside their own first word.
func ownFamily(word string) string {
	switch word {
	case "chatgpt", "o1", "o3", "o4", "codex", "davinci":
		return "gpt"
	case "mixtral", "codestral", "ministral", "magistral":
		return "mistral"
	case "qwq":
		return "qwen"
	case "gemma":
		return "gemini"
	case "codellama":
		return "llama"
	}
	return ""
}
