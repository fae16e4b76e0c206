package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"assay/engine/record"
)

// ModelVersion is part of a model agent's program identity: it changes whenever
// the same turn may be put to a model in other messages.
const ModelVersion = "1"

// Completer is a model that answers one request, as package model's backends do. An
// error says what it is put down to by being a [record.AgentError]; any other is put
// down to the line. It is safe for concurrent use.
type Completer interface {
	Complete(context.Context, record.ChatRequest) (record.ChatReply, error)
}

// DefaultMaxRounds is how many answers a model may give in one turn before it must
// have replied: more than the calls of any whole conversation among the 200 published
// tau-bench airline ones (gpt-4o, Yao et al. 2024), of which the longest makes 27.
const DefaultMaxRounds = 32

// ModelConfig says which model an agent is and how it is asked.
type ModelConfig struct {
	Completer Completer
	// Temperature is nil for the model's own.
	Temperature *float64
	// MaxTokens bounds one answer; 0 is the model's own bound.
	MaxTokens int
	// MaxRounds bounds the answers in one turn, those that call tools and the reply
	// together; 0 is DefaultMaxRounds.
	MaxRounds int
	// LogProbs asks for the log-probability of every token of a turn.
	LogProbs bool
}

// Model is an agent that is a model: Assay runs its tool loop. It depends on its Turn
// and on the model alone, and is safe for concurrent use.
//
// What a model gets wrong inside a turn is told to it and never costs the rollout: a
// call of an unknown tool, or with arguments that are no JSON, is a step with the
// error that the world answers. An answer that was cut off, or a turn at its last
// answer, is a reply with the finish reason length, and calls that stand in it are not
// made.
type Model struct {
	config ModelConfig
}

// NewModel makes a model agent.
func NewModel(c ModelConfig) (*Model, error) {
	switch {
	case c.Completer == nil:
		return nil, errors.New("a model agent needs a model to ask")
	case c.MaxTokens < 0, c.MaxRounds < 0:
		return nil, errors.New("a bound of a model agent is negative")
	}
	if c.MaxRounds == 0 {
		c.MaxRounds = DefaultMaxRounds
	}
	return &Model{config: c}, nil
}

// Reply answers one turn. Errors are [record.AgentError]s: those of the model as they
// come; cause agent where the deadline passed while it was answering, infrastructure
// where it had not begun to; interrupted where ctx was cancelled. The reply beside an
// error holds what the turn had used until then.
func (m *Model) Reply(ctx context.Context, turn record.Turn) (record.Reply, error) {
	if !turn.Deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, turn.Deadline)
		defer cancel()
	}
	t := modelTurn{config: &m.config, turn: &turn, messages: messagesOf(&turn), began: time.Now()}
	t.calls = callsIn(t.messages)
	for round := 1; ; round++ {
		answer, err := t.ask(ctx)
		if err != nil {
			return t.reply, err
		}
		t.count(&answer)
		switch {
		case len(answer.ToolCalls) == 0:
			return t.end(&answer, answer.FinishReason), nil
		case answer.FinishReason == record.FinishLength, round == m.config.MaxRounds:
			return t.end(&answer, record.FinishLength), nil
		}
		t.act(ctx, &answer)
		if err := ctx.Err(); err != nil { // no answer could come any more
			return t.reply, t.blame(ctx, err, true)
		}
	}
}

// modelTurn is one turn on its way.
type modelTurn struct {
	config   *ModelConfig
	turn     *record.Turn
	messages []record.Message
	calls    int // made in the conversation so far
	began    time.Time
	reply    record.Reply
	unlogged bool // an answer came without log-probabilities
}

// ask puts the messages to the model.
func (t *modelTurn) ask(ctx context.Context) (record.ChatReply, error) {
	var heard atomic.Bool
	seed := seedOf(t.turn.Seed)
	answer, err := t.config.Completer.Complete(ctx, record.ChatRequest{
		Messages: t.messages, Tools: t.turn.Tools, Temperature: t.config.Temperature, MaxTokens: t.config.MaxTokens,
		Seed: &seed, LogProbs: t.config.LogProbs,
		Stream: func(d record.Delta) {
			heard.Store(true)
			if t.turn.Stream != nil {
				t.turn.Stream(d)
			}
		},
	})
	if err != nil {
		return answer, t.blame(ctx, err, heard.Load())
	}
	return answer, nil
}

// seedOf is a turn's seed as servers take one: not all hold more than 31 bits, and
// 2^32-1 asks some of them for a draw of their own.
func seedOf(seed int64) int64 { return seed & (1<<31 - 1) }

// blame puts an error down to its cause. heard says whether the model had begun to
// answer: one that is too slow is the agent, an endpoint that says nothing is not.
func (t *modelTurn) blame(ctx context.Context, err error, heard bool) error {
	var known *record.AgentError
	isKnown := errors.As(err, &known)
	took := roundly(time.Since(t.began))
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return &record.AgentError{Cause: record.CauseInterrupted, Err: err}
	case ctx.Err() != nil && isKnown && known.Cause != record.CauseAgent && known.Cause != record.CauseInterrupted:
		late := *known
		late.Unasked = true // the deadline passed meanwhile, which was not the agent's doing
		return &late
	case ctx.Err() != nil && heard:
		return record.AgentErrorf(record.CauseAgent, "no reply after %s: %w", took, err)
	case ctx.Err() != nil:
		return &record.AgentError{Cause: record.CauseInfrastructure, Unasked: true, Err: fmt.Errorf("the model had not begun to answer after %s: %w", took, err)}
	case isKnown:
		return err
	}
	return &record.AgentError{Cause: record.CauseInfrastructure, Err: err}
}

// count adds what an answer used and thought.
func (t *modelTurn) count(answer *record.ChatReply) {
	r := &t.reply
	if u := answer.Usage; u != nil {
		if u.InputTokens > 0 && moreWords(t.messages, 2*u.InputTokens) {
			r.PromptTruncated = true
		}
		total := *u
		if r.Usage != nil {
			total = r.Usage.Plus(total)
		}
		r.Usage = &total
	}
	if strings.TrimSpace(string(answer.Reasoning)) != "" {
		r.Reasoning = append(r.Reasoning, answer.Reasoning)
	}
	if answer.Model != "" {
		name, _ := record.Text(answer.Model).MarshalJSON() // never fails
		r.Extra = map[string]json.RawMessage{"served_model": name}
	}
	switch l := answer.LogProbs; {
	case !t.config.LogProbs:
	case l == nil:
		t.unlogged = true
	case r.LogProbs == nil:
		sum := *l
		sum.List = append([]float64(nil), l.List...)
		r.LogProbs = &sum
	default:
		r.LogProbs.Sum += l.Sum
		r.LogProbs.Tokens += l.Tokens
		r.LogProbs.List = append(r.LogProbs.List, l.List...)
	}
}

// moreWords says whether messages hold more than n words. No tokenizer in use makes one
// token of two words with a space between, so a server that counted fewer than half as
// many tokens as there are words has not read all of them, as Ollama does where its
// window is too small and says nothing. Half, to be sure: a prompt that was cut a
// little, or in a script without spaces, is not noticed.
func moreWords(messages []record.Message, n int64) bool {
	for i := range messages {
		if c := messages[i].Content; c != nil {
			n -= int64(len(strings.Fields(string(*c))))
		}
	}
	return n < 0
}

// end makes the last answer the reply. A sum of log-probabilities that some of the
// turn's tokens are missing from is no sum of the turn, so there is none then.
func (t *modelTurn) end(answer *record.ChatReply, why record.FinishReason) record.Reply {
	t.reply.FinalText, t.reply.FinishReason = answer.Text, why
	if t.unlogged {
		t.reply.LogProbs = nil
	}
	return t.reply
}

// act makes an answer's calls in their order, and adds it and what came of it to the
// messages.
func (t *modelTurn) act(ctx context.Context, answer *record.ChatReply) {
	said := record.Message{Role: "assistant", Sealed: answer.Sealed}
	if strings.TrimSpace(string(answer.Text)) != "" {
		text := answer.Text
		said.Content = &text
		if t.turn.Say != nil {
			t.turn.Say(text)
		}
	}
	results := make([]record.Message, 0, len(answer.ToolCalls))
	for i := range answer.ToolCalls {
		name, arguments := answer.ToolCalls[i].Function.Name, answer.ToolCalls[i].Function.Arguments
		if strings.TrimSpace(string(arguments)) == "" {
			arguments = "{}"
		}
		call := record.ToolCallMessage{ID: callID(t.calls), Type: "function"}
		t.calls++
		call.Function.Name, call.Function.Arguments = sendable(name, t.turn.Tools), objectArguments(arguments)
		said.ToolCalls = append(said.ToolCalls, call)
		content := t.call(ctx, record.ToolCall{ID: call.ID, Tool: string(name), Arguments: json.RawMessage(arguments)})
		results = append(results, record.Message{Role: "tool", ToolCallID: call.ID, Name: call.Function.Name, Content: &content})
	}
	t.messages = append(append(t.messages, said), results...)
}

func (t *modelTurn) call(ctx context.Context, call record.ToolCall) record.Text {
	if t.turn.Call == nil {
		return record.Text(noWorld)
	}
	return record.ResultText(t.turn.Call(ctx, call).Result)
}
