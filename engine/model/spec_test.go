package model

import (
	"strings"
	"testing"

	"assay/engine/record"
)

func TestParseSpec(t *testing.T) {
	for text, want := range map[string]Spec{
		"openai:gpt-5-mini":                               {"openai", "gpt-5-mini", ""},
		"anthropic:claude-haiku-4-5":                      {"anthropic", "claude-haiku-4-5", ""},
		"ollama:llama3.2:1b":                              {"ollama", "llama3.2:1b", ""},
		"vllm:Qwen/Qwen3-8B@http://localhost:8000/v1":     {"vllm", "Qwen/Qwen3-8B", "http://localhost:8000/v1"},
		"openai:claude@20240620@https://gateway.test/v1/": {"openai", "claude@20240620", "https://gateway.test/v1/"},
		"anthropic:claude-3-5-sonnet@20240620":            {"anthropic", "claude-3-5-sonnet@20240620", ""},
		"ollama:m@http://[::1]:11434":                     {"ollama", "m", "http://[::1]:11434"},
	} {
		got, err := ParseSpec(text)
		if err != nil || got != want || got.String() != text || !IsSpec(text) {
			t.Errorf("%s is %#v, %v", text, got, err)
		}
	}
	for text, says := range map[string]string{
		"opnai:gpt-5":               "did you mean openai:gpt-5",
		"Anthropic:claude":          "did you mean anthropic:claude",
		"gpt-5":                     "openai:gpt-5",
		"xyz:m":                     "write one of openai:MODEL",
		"openai:":                   "names no model",
		"openai":                    "openai:MODEL",
		"openai: gpt":               "names no model",
		"vllm:m":                    "vllm:m@http://HOST:8000/v1",
		"vllm:m@localhost:8000":     "write a whole one",
		"vllm:m@ftp://host/v1":      "write a whole one",
		"vllm:@http://host/v1":      "names no model",
		"vllm:m@http://u:p@host/v1": "by the environment",
		"vllm:m@http://host/v1?k=v": "has a query",
	} {
		_, err := ParseSpec(text)
		if p, ok := err.(*record.Problem); !ok || p.Code != "bad_model" || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
		if strings.Contains(err.Error(), "u:p") {
			t.Errorf("a password is shown: %v", err)
		}
	}
}

func TestFamily(t *testing.T) {
	for model, want := range map[string]string{
		"": "", "anthropic:claude-haiku-4-5": "claude", "claude-3-5-sonnet-20241022": "claude", "openai:gpt-4o": "gpt", "gpt4o-mini": "gpt", "o3-mini": "gpt", "chatgpt-4o-latest": "gpt",
		"openrouter:meta-llama/llama-3.1-8b": "llama", "ollama:llama3.2": "llama", "ollama:llama3.2:1b": "llama", "vllm:Qwen/Qwen2.5-7B-Instruct": "qwen",
		"vllm:Qwen/Qwen2.5-7B-Instruct@http://host:8000/v1": "qwen", "ollama:gemma3:4b": "gemini", "qwq-32b": "qwen", "mistral-small": "mistral", "mixtral-8x7b": "mistral",
		"google/gemini-2.5-pro": "gemini", "gemma-3": "gemini", "deepseek-r1": "deepseek",
	} {
		if got := Family(model); got != want {
			t.Errorf("%q is of %q, want %q", model, got, want)
		}
	}
}
