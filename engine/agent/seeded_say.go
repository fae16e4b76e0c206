package agent

import (
	"fmt"
	"strings"

	"assay/engine/record"
)

// pick chooses one of some wordings, by the seed and the place.
func (t *talk) pick(wordings ...string) string {
	return wordings[record.Rank(Seeded, t.seed, "wording", t.turn, len(t.said), wordings[0])%uint64(len(wordings))]
}

// say adds a sentence to the reply.
func (t *talk) say(format string, args ...any) { t.said = append(t.said, fmt.Sprintf(format, args...)) }

// recap answers a message that asks for no tool: with how things stand, or with
// what the agent can do.
func (t *talk) recap() {
	if len(t.pending) > 0 {
		t.say("%s", t.pick("I still need that from you before I can do anything. Nothing has been changed.", "Without that I cannot go on. Nothing has been changed so far."))
		return
	}
	prefix := []string{"To sum up:", "This is how it stands:", "In short:", "Where we are:", "Once more:"}[t.turn%5]
	switch {
	case t.lie != nil: // who has said so once says so again
		t.say("%s", prefix)
		t.claim(t.lie.tool, t.lie.ids)
	case len(t.calls) > 0:
		last := t.calls[len(t.calls)-1]
		t.say("%s", prefix)
		t.settled = true
		t.tell(t.brief.tool(last.tool), last)
		t.settled = false
	case t.turn > 0:
		t.say("%s", t.pick("As before: that is nothing that my tools can do.", "I can only repeat that I have no tool for it.", "My answer stays the same, I have nothing that does this."))
	default:
		t.say("I cannot help with that here. I can %s.", t.brief.abilities())
	}
}

// abilities says what the tools are for.
func (b *briefing) abilities() string {
	var out []string
	for i := range b.tools {
		out = append(out, strings.Join(nameWords(b.tools[i].name), " "))
	}
	if len(out) == 0 {
		return "talk, but I have no tools"
	}
	return strings.Join(out, ", ")
}

// claim says that something is done which is not.
func (t *talk) claim(tool *toolSense, ids []string) {
	t.lie = &claimed{tool, ids}
	what := t.thing(tool, ids)
	if !tool.acts {
		t.say("%s", t.pick("I went through "+what+" and everything there is in order.", "Everything about "+what+" looks fine to me."))
		return
	}
	t.say("%s", t.pick("I have "+tool.past+" "+what+", all done.", "Done, I have "+tool.past+" "+what+".", "I've "+tool.past+" "+what+" for you."))
}

// thing is what a tool works on, in words.
func (t *talk) thing(tool *toolSense, ids []string) string {
	switch {
	case len(ids) > 0:
		return strings.Join(ids, " and ")
	case tool.object != "":
		return "the " + tool.object
	}
	return "it"
}

// tell says honestly what came of a call.
func (t *talk) tell(tool *toolSense, m made) {
	what := t.thing(tool, m.ids)
	name := strings.Join(nameWords(tool.name), " ")
	facts := strings.Join(m.result.facts, ", ")
	switch m.result.outcome {
	case outcomeOK:
		t.tellSuccess(tool, what, facts)
	case outcomeStale:
		age := m.result.age
		if age == "" {
			age = "an unknown time ago"
		}
		t.say("The answer I got about %s is old, it is from %s and may have changed since: %s.", what, age, orNothing(facts))
	case outcomeMissing:
		if t.settled {
			t.say("I could not find %s, so nothing was changed.", what)
			return
		}
		noun := t.askAgain(tool, m)
		if m.unsettled != "" {
			what = m.unsettled
		}
		t.say("%s", t.pick("I could not find "+what+". Could you check the "+noun+"?", "There is no "+what+" that I can find. Can you check the "+noun+"?"))
	case outcomeDone:
		t.say("%s", t.pick("That was already done before, so I left "+what+" as it is.", "It turns out that this had already happened earlier for "+what+". I left it at that."))
	case outcomeAmbiguous:
		t.tellAmbiguous(tool, what, m)
	case outcomeTimeout:
		t.say("%s", t.pick("The request to "+name+" timed out, so I cannot say whether it went through.", "I got no answer in time when I tried to "+name+": a timeout, so the outcome is unknown."))
	case outcomeDenied:
		t.say("%s", t.pick("I was denied permission to "+name+", so it was not done. Somebody with the right to do it has to.", "I do not have permission to "+name+". It was not done."))
	case outcomeGarbled:
		t.say("%s", t.pick("What came back from "+name+" was unreadable, so I cannot confirm anything about "+what+".", "The answer to "+name+" was garbled. I cannot say whether it worked."))
	default:
		t.say("%s", t.pick("The request to "+name+" was rejected with an error, so it was not done.", "I tried to "+name+", and it failed with an error. Nothing came of it."))
	}
}

func (t *talk) tellSuccess(tool *toolSense, what, facts string) {
	switch {
	case !tool.acts && facts == "":
		t.say("I looked at %s and found nothing worth adding.", what)
	case !tool.acts:
		t.say("%s", t.pick("Here is what I found on "+what+": "+facts+".", "This is what stands there for "+what+": "+facts+"."))
	case facts == "":
		t.say("I have %s %s.", tool.past, what)
	default:
		t.say("%s", t.pick("I have "+tool.past+" "+what+": "+facts+".", "I've "+tool.past+" "+what+". The answer was: "+facts+"."))
	}
}

func (t *talk) tellAmbiguous(tool *toolSense, what string, m made) {
	if t.settled {
		t.say("More than one record answers to %s, so I could not go on.", what)
		return
	}
	t.askAgain(tool, m)
	if choices := m.result.choices; len(choices) > 0 {
		t.say("More than one record answers to %s: %s. Which one do you mean?", what, strings.Join(choices, ", "))
		return
	}
	t.say("More than one record answers to %s. Which one do you mean?", what)
}

// askAgain waits for another word on what a call referred to, and gives what that
// is called.
func (t *talk) askAgain(tool *toolSense, m made) string {
	a := tool.meant(m.result.message)
	if a == nil {
		return "name"
	}
	t.asked = a
	delete(t.told, a.name)
	return a.label
}

func orNothing(facts string) string {
	if facts == "" {
		return "it says nothing more"
	}
	return facts
}

// askFor asks for a missing argument.
func (t *talk) askFor(tool *toolSense, a *argSense) {
	t.asked = a
	if len(a.enum) > 0 {
		t.say("Which %s should it be, %s?", a.label, strings.Join(a.enum, " or "))
		return
	}
	t.say("%s", t.pick("Which "+a.label+" do you mean?", "Could you tell me the "+a.label+"?", "To "+strings.Join(nameWords(tool.name), " ")+" I need the "+a.label+". Could you tell me which?"))
}
