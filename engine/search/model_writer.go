package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"assay/engine/record"
)

// Completer is a model that answers one request, as package model's backends do.
type Completer interface {
	Complete(context.Context, record.ChatRequest) (record.ChatReply, error)
}

// ModelWriter is a [Writer] that has a model put situations into words, several in one
// call. The model is told of each in prose, and its answer is read tolerantly: what
// cannot be read of it is missing, and the planner asks again or keeps the template's
// words. It is safe for concurrent use.
type ModelWriter struct {
	model       Completer
	name        string
	seed        int64
	temperature *float64
	maxTokens   int
	masker      *record.Masker
}

// ModelWriterConfig says which model writes and how it is asked.
type ModelWriterConfig struct {
	Model Completer
	// Name stands on every task that it writes.
	Name string
	// Seed is the run's: equal briefs are asked for with equal seeds.
	Seed int64
	// Temperature is nil for the model's own.
	Temperature *float64
	MaxTokens   int // of one call's answer; 0 is the model's own bound
	// Masker takes keys out of what an error quotes of an answer, before that is cut; nil
	// takes none.
	Masker *record.Masker
}

// NewModelWriter makes a writer of a model.
func NewModelWriter(c ModelWriterConfig) (*ModelWriter, error) {
	switch {
	case c.Model == nil:
		return nil, errors.New("a model writer needs a model to ask")
	case c.Name == "" || c.Name == templateName:
		return nil, fmt.Errorf("%q is no name for a model that writes", c.Name)
	case c.MaxTokens < 0:
		return nil, fmt.Errorf("max_tokens: %d is negative", c.MaxTokens)
	}
	return &ModelWriter{model: c.Model, name: c.Name, seed: c.Seed, temperature: c.Temperature, maxTokens: c.MaxTokens, masker: c.Masker}, nil
}

// Name implements [Writer].
func (w *ModelWriter) Name() string { return w.name }

// Write implements [Writer]. An answer of which nothing can be read is an error.
func (w *ModelWriter) Write(ctx context.Context, briefs []Brief) ([]Draft, error) {
	if len(briefs) == 0 {
		return nil, nil
	}
	task, situations := record.Text(writerTask), record.Text(situationsOf(briefs))
	seed := w.seedOf(briefs)
	answer, err := w.model.Complete(ctx, record.ChatRequest{
		Messages:    []record.Message{{Role: "system", Content: &task}, {Role: "user", Content: &situations}},
		Temperature: w.temperature, MaxTokens: w.maxTokens, Seed: &seed, Schema: json.RawMessage(asksSchema),
	})
	if err != nil {
		return nil, err
	}
	drafts := make([]Draft, len(briefs))
	read := 0
	for n, text := range readAsks(string(answer.Text), len(briefs)) {
		drafts[n-1].Ask = text
		read++
	}
	switch {
	case read > 0:
		return drafts, nil
	case answer.FinishReason == record.FinishLength:
		return nil, errors.New("its answer was cut off before the first message: raise max_tokens")
	}
	return nil, fmt.Errorf("its answer holds no messages: %.200q", w.masker.Text(string(answer.Text)))
}

// seedOf is the seed of one call: that of what it is for, so that an ask that is asked
// for again is not drawn the same way.
func (w *ModelWriter) seedOf(briefs []Brief) int64 {
	parts := []any{"writer", w.seed}
	for i := range briefs {
		parts = append(parts, briefs[i].situation, briefs[i].phrasing, briefs[i].Refused)
	}
	return record.SeedOf(parts...) & (1<<31 - 1) // what every server takes
}

// writerTask is what the model is told of its task.
const writerTask = `You write the first messages that people send to an assistant. You are given situations, each described to you alone: nobody else reads the description. For each you write the one message with which the person begins, as that person would type it.

- Write as the person, about their matter, in their way of writing. Let the situation show in what they say. Never describe it, name it, or speak of situations, users, assistants under test, rules or tools.
- Where names are given that must stand in the message, they stand in it letter by letter.
- The draft shows what the message is about. Put it in words of your own: other sentences, another order, other reasons. People differ: so do your messages, in length, tone and how they begin.
- Add no ids, numbers or names of things that are not given.

Answer with one JSON object and nothing else: {"asks": [{"situation": 1, "message": "…"}, …]}, with one entry for each situation.`

// asksSchema is the answer's form for servers that hold a model to one.
const asksSchema = `{"type":"object","properties":{"asks":{"type":"array","items":{"type":"object","properties":{"situation":{"type":"integer"},"message":{"type":"string"}},` +
	`"required":["situation","message"],"additionalProperties":false}}},"required":["asks"],"additionalProperties":false}`

// situationsOf puts briefs down for the model, numbered from 1.
func situationsOf(briefs []Brief) string {
	var b strings.Builder
	for i := range briefs {
		brief := &briefs[i]
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "Situation %d\n%s\n", i+1, brief.Circumstances)
		if wants := strings.TrimSpace(string(brief.Wants)); wants != "" {
			fmt.Fprintf(&b, "What they want: %s.\n", strings.TrimRight(wants, "."))
		}
		if len(brief.Names) > 0 {
			fmt.Fprintf(&b, "Must stand in the message, letter by letter: %s\n", strings.Join(brief.Names, ", "))
		}
		fmt.Fprintf(&b, "Draft: %s\n", oneLine(brief.Draft))
		for _, other := range brief.Earlier {
			fmt.Fprintf(&b, "Was said so already, so differ from it: %s\n", oneLine(other))
		}
		if brief.Refused != "" {
			fmt.Fprintf(&b, "Your last message for this was refused because %s. Write another.\n", brief.Refused)
		}
	}
	return b.String()
}

func oneLine(text record.Text) string { return strings.Join(strings.Fields(string(text)), " ") }
