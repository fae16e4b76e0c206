package search

import (
	"slices"
	"strings"
	"testing"

	"assay/engine/record"
)

// A pronoun stands before the particle of its verb.
func TestPronounStandsBeforeTheParticle(t *testing.T) {
	for _, c := range []struct{ verb, object, want string }{
		{"call off", "it", "call it off"},
		{"look up", "it", "look it up"},
		{"shut down", "it", "shut it down"},
		{"call off", "my order ORD-1", "call off my order ORD-1"},
		{"get out of", "it", "get out of it"},
		{"go over", "it", "go over it"},
		{"cancel", "it", "cancel it"},
	} {
		if got := withObject(c.verb, c.object); got != c.want {
			t.Errorf("%s + %s is %q", c.verb, c.object, got)
		}
	}
}

// Asks of two tools are where a thing is called "it": none says "call off it".
func TestAsksAreGrammatical(t *testing.T) {
	in := oncallInput(t)
	in.Situations = 150
	joined := 0
	for _, posed := range all(t, mustNew(t, in)) {
		ask := strings.ToLower(string(posed.Task.Ask))
		if posed.Task.Axes[record.AxisTool] == record.ToolMulti {
			joined++
		}
		for _, wince := range []string{" off it", " up it", " down it", "it would be good to keep", "how i know", "can you do calling", "can you do showing"} {
			if strings.Contains(ask, wince) {
				t.Errorf("%q stands in %q", wince, ask)
			}
		}
	}
	if joined < 10 {
		t.Errorf("only %d asks need two tools", joined)
	}
}

// A person outside the conversation is brought in once.
func TestTheOtherPersonIsMentionedOnce(t *testing.T) {
	lines := []string{"It failed when {other} tried it.", "It failed.", "{Other} had a go at it."}
	if got := oneMention(lines, nil, []string{"{Other} may have done it."}); !slices.Equal(got, lines[1:2]) {
		t.Errorf("after a mention: %q", got)
	}
	if got := oneMention(lines, []string{"Nobody did."}); !slices.Equal(got, lines) {
		t.Errorf("without a mention: %q", got)
	}
	if got := oneMention(lines[:1], lines[2:]); len(got) != 1 {
		t.Errorf("where every line mentions them: %q", got)
	}
	book := oncallBook()
	in := oncallInput(t)
	in.Situations = 150
	for _, posed := range all(t, mustNew(t, in)) {
		for _, other := range book.domain.others {
			if ask := string(posed.Task.Ask); posed.Task.Axes != nil && strings.Count(strings.ToLower(ask), strings.ToLower(other)) > 1 {
				t.Errorf("%s comes up twice in %q", other, ask)
			}
		}
	}
}
