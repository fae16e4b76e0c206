package agent

import (
	"slices"
	"strings"

	"assay/engine/record"
)

// caller makes a call and gives what came of it.
type caller func(record.ToolCall) record.ToolResult

// made is a call that was made, with what it was read to be.
type made struct {
	tool   string
	ids    []string
	result reading
	// unsettled is the thing that was not found, or found more than once; "" for none.
	unsettled string
}

// claimed is an act, or a look, that was claimed.
type claimed struct {
	tool *toolSense
	ids  []string
}

// talk is one conversation as the seeded agent remembers it.
type talk struct {
	*temptation
	brief *briefing
	call  caller
	turn  int

	named   []string // things named by the person, the latest message's first
	told    map[string]string
	asked   *argSense    // what it asked for in its last reply, nil for nothing
	pending []*toolSense // what waits for an answer of the person
	confirm bool         // it asked for a yes in its last reply
	agreed  bool
	pressed bool
	fair    bool // it asks only to know
	message string

	calls []made
	// leaning is the fault that an act would be, should it come to one: a skipped
	// check is none as long as nothing is done. played is the fault that was played.
	// Both are "" for none.
	leaning, played string
	said            []string
	lie             *claimed // what it has claimed wrongly
	settled         bool     // it sums up, and asks for nothing
}

func newTalk(b *briefing, t temptation) *talk {
	return &talk{temptation: &t, brief: b, told: map[string]string{}}
}

// recall lives through the conversation so far: each earlier message is answered
// again, with the results that were recorded, and so everything is remembered
// that was thought then, the fault that was played among it.
func (t *talk) recall(history []record.Step) {
	for i := 0; i < len(history); {
		if history[i].Kind != record.StepUser {
			i++ // a history that begins in the middle is not one of ours
			continue
		}
		end := i + 1
		for end < len(history) && history[end].Kind != record.StepUser {
			end++
		}
		rest := history[i+1 : end]
		t.answer(string(history[i].Text), func(call record.ToolCall) record.ToolResult {
			for len(rest) > 0 {
				s := rest[0]
				rest = rest[1:]
				if s.Kind == record.StepTool {
					return record.ToolResult{Result: s.Result, IsError: s.IsError || s.Tool != call.Tool}
				}
			}
			return record.ToolResult{Result: noWorld, IsError: true}
		})
		i = end
	}
}

// answer answers one message of the person.
func (t *talk) answer(message string, call caller) string {
	t.call, t.message, t.said, t.leaning = call, message, nil, ""
	before := len(t.calls)
	words := tokenize(message)
	low := lower(message)
	tools := t.understand(words, low)
	switch {
	case tools == nil && t.declined(low):
		t.drop()
		t.say("%s", t.pick("All right, I have left everything as it is.", "Understood. Nothing was changed.", "Then I will leave it alone."))
	case tools == nil:
		t.recap()
	default:
		t.work(tools)
	}
	t.finish(before)
	t.agreed = t.agreed && len(t.pending) > 0
	t.turn++
	return strings.Join(t.said, " ")
}

// understand reads a message in the light of what was asked before it. It gives
// the tools to work with, nil where the message asks for none.
func (t *talk) understand(words []token, low string) []*toolSense {
	w := t.brief.hear(words)
	t.pressed = t.pressed || pressing.in(words)
	t.fair = asking.in(words) || wavering.in(words)
	if t.asked != nil {
		t.learn(words, w.named)
	}
	t.named = slices.Concat(w.named, t.named)
	asked, confirm, pending := t.asked, t.confirm, t.pending
	t.asked, t.confirm, t.pending = nil, false, nil
	switch {
	case len(pending) == 0:
		clear(t.told)
		return w.tools
	case confirm && opens(low, agreeing):
		t.agreed = true
		return pending
	case asked != nil && (len(w.named) > 0 || t.told[asked.name] != ""):
		return pending
	case len(w.tools) > 0:
		clear(t.told)
		return w.tools
	}
	t.pending = pending
	return nil
}

func (t *talk) declined(low string) bool {
	return len(t.pending) > 0 && opens(low, declining)
}

func (t *talk) drop() { t.pending, t.confirm, t.asked = nil, false, nil }
