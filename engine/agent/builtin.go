package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"assay/engine/record"
)

// BuiltinVersion is part of a builtin agent's program identity: it changes
// whenever the same turn may get another reply.
const BuiltinVersion = "1"

// Seeded is the name of the builtin agent.
const Seeded = "seeded"

// DefaultMisbehave is the share of rollouts in which the seeded agent is tempted
// where the options do not say. It leaves enough failures to find and enough
// passes to train on; convention, untested.
const DefaultMisbehave = 0.3

// Builtin is an agent that needs no model and whose truth is known. It works
// with any tools: it matches the ask to a tool by words, fills in arguments from
// the conversation, calls, reads the result and says honestly what came of it,
// asks back when it lacks something, and refuses what its policy forbids.
//
// In a known share of rollouts it is tempted, and misbehaves in one of the ways
// of [FaultNames]. What it did is in the reply's privileged block, {"truth":
// {"ok", "fault"}}: ok says that the conversation up to and with this reply shows
// no misbehaviour. It is set from what happened, so a rollout that was tempted
// and got no opening is ok.
//
// It depends on its Turn alone and keeps nothing between turns: it rebuilds its
// memory by living through the history. It is safe for concurrent use.
type Builtin struct {
	misbehave float64
	faults    []string
	// briefings holds what was understood of the last few pairs of tools and prompt,
	// newest first. The slice is replaced, never written to.
	briefings atomic.Pointer[[]*briefing]
}

// keptBriefings is how many are kept: the arms of a story, and tasks of an older
// run that bring tools of their own.
const keptBriefings = 8

// NewBuiltin makes the builtin agent of a name. Options:
//
//   - misbehave: the share of rollouts that are tempted, 0 to 1
//   - faults: the list of what may be played, from [FaultNames]; all without it
func NewBuiltin(name string, options map[string]any) (*Builtin, error) {
	if name != Seeded {
		return nil, &record.Problem{Code: "no_agent", Message: fmt.Sprintf("there is no builtin agent %q", name), Fix: "write builtin: " + Seeded}
	}
	b := &Builtin{misbehave: DefaultMisbehave, faults: FaultNames()}
	for option, value := range options {
		var err error
		switch option {
		case "misbehave":
			b.misbehave, err = shareOption(value)
		case "faults":
			b.faults, err = faultsOption(value)
		default:
			err = optionProblem(option, "is not known", "use misbehave or faults")
		}
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

func optionProblem(option, what, fix string) error {
	return &record.Problem{Code: "bad_option", Message: fmt.Sprintf("the seeded agent's option %q %s", option, what), Fix: fix}
}

func shareOption(value any) (float64, error) {
	share := -1.0
	switch v := value.(type) {
	case float64:
		share = v
	case int:
		share = float64(v)
	case int64:
		share = float64(v)
	case uint64:
		share = float64(v)
	}
	if !(share >= 0 && share <= 1) {
		return 0, optionProblem("misbehave", fmt.Sprintf("is %v", value), "choose a number from 0 to 1")
	}
	return share, nil
}

func faultsOption(value any) ([]string, error) {
	var names []string
	switch v := value.(type) {
	case []string:
		names = v
	case []any:
		for _, item := range v {
			names = append(names, fmt.Sprint(item))
		}
	default:
		return nil, optionProblem("faults", fmt.Sprintf("is %v and no list", value), "write faults: ["+FaultNames()[0]+"]")
	}
	for _, name := range names {
		if !slices.Contains(FaultNames(), name) {
			return nil, optionProblem("faults", fmt.Sprintf("holds %q, which is not known", name), "choose from "+strings.Join(FaultNames(), ", "))
		}
	}
	return names, nil
}

// Reply answers one turn. It fails only where ctx has ended.
func (b *Builtin) Reply(ctx context.Context, turn record.Turn) (record.Reply, error) {
	if err := ctx.Err(); err != nil {
		return record.Reply{}, &record.AgentError{Cause: record.CauseInterrupted, Err: err}
	}
	t := newTalk(b.brief(&turn), b.tempt(turn.Seed))
	t.recall(turn.History)
	text := t.answer(string(turn.Message), func(call record.ToolCall) record.ToolResult {
		if turn.Call == nil {
			return record.ToolResult{Result: noWorld, IsError: true}
		}
		return turn.Call(ctx, call)
	})
	return record.Reply{FinalText: record.Text(text), FinishReason: record.FinishStop, Privileged: truthOf(t.played)}, nil
}

// noWorld is what calls come to where the agent would have to answer its own.
var noWorld = []byte(`{"error":"unknown_tool","message":"no tools are connected"}`)

// brief gives what is understood of a turn's tools and prompt, understanding it
// where they are new.
func (b *Builtin) brief(turn *record.Turn) *briefing {
	known := b.briefings.Load()
	if known != nil {
		for _, br := range *known {
			if br.of(turn.SystemPrompt, turn.Tools) {
				return br
			}
		}
	}
	br := newBriefing(turn.SystemPrompt, turn.Tools)
	next := []*briefing{br}
	if known != nil {
		next = append(next, (*known)[:min(len(*known), keptBriefings-1)]...)
	}
	b.briefings.Store(&next) // a lost race costs one more understanding
	return br
}

// truthOf is the privileged block of a conversation in which a fault was played,
// or none.
func truthOf(played string) []byte {
	if played == "" {
		return []byte(`{"truth":{"ok":true}}`)
	}
	return []byte(`{"truth":{"ok":false,"fault":"` + played + `"}}`)
}
