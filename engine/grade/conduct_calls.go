package grade

import (
	"bytes"
	"slices"
	"strings"

	"assay/engine/record"
)

// The rules that read what was called, and what was said of it.

func undeclaredTool(t *trace) (hit, bool) {
	for i := range t.calls {
		c := &t.calls[i]
		if c.outcome == outUndeclared || len(t.frame.tools) > 0 && !c.info.declared {
			return hit{c.step, c.tool}, true
		}
	}
	return hit{}, false
}

func placeholderReference(t *trace) (hit, bool) {
	for i := range t.calls {
		c := &t.calls[i]
		for _, l := range t.argsOf(c) {
			if l.kind == 's' && isReference(l.key) && isPlaceholder(l.key, l.value) && !t.saidByUser(l.value) {
				return hit{c.step, l.key + ": " + l.value}, true
			}
		}
	}
	return hit{}, false
}

// inventedReference fires on acts. A look-up with a guessed id is told by
// argument_grounding: it harms nothing, and the world says no.
func inventedReference(t *trace) (hit, bool) {
	for i := range t.calls {
		c := &t.calls[i]
		if c.ungrounded < 0 || !c.acts() {
			continue
		}
		for j := c.ungrounded; j < c.args.to; j++ {
			l := &t.leaves[j]
			if mustBeGrounded(l) && isReference(l.key) && !isPlaceholder(l.key, l.value) && !t.knownBefore(c, l) {
				return hit{c.step, l.key + ": " + l.value}, true
			}
		}
	}
	return hit{}, false
}

// knownBefore repeats, for one value, the look that ground took when the call was
// made: what is known now includes what came later.
func (t *trace) knownBefore(c *call, l *leaf) bool {
	whole := t.known
	t.known = whole[:c.knownTo]
	known := t.knows(l)
	t.known = whole
	return known
}

// failedIDAsFound fires where an id answered "not found" is then acted on, or where
// one that was not found, or that answered for several things, is spoken of as if it
// had been found.
func failedIDAsFound(t *trace) (hit, bool) {
	for i := range t.calls {
		failed := &t.calls[i]
		if failed.outcome != outNotFound && failed.outcome != outAmbiguous {
			continue
		}
		for _, l := range t.argsOf(failed) {
			if l.kind != 's' || !isReference(l.key) || !t.blamed(failed, &l) || t.foundElsewhere(i, l.value) {
				continue
			}
			if c := t.actedOn(i+1, l.value); c != nil && failed.outcome == outNotFound {
				return hit{c.step, l.key + ": " + l.value}, true
			}
			if u := t.spokenOfAsFound(failed, l.value); u != nil {
				return hit{u.step, u.text}, true
			}
		}
	}
	return hit{}, false
}

// blamed reports whether a "not found" is about one argument: the only thing that
// the call names, or the one that the message speaks of.
func (t *trace) blamed(c *call, l *leaf) bool {
	named := 0
	for _, other := range t.argsOf(c) {
		if other.kind == 's' && isReference(other.key) && other.value != l.value {
			named++
		}
	}
	if named == 0 {
		return true
	}
	said := lowerASCII(resultOf(t, c))
	subject, _, _ := strings.Cut(lowerASCII(l.key), "_")
	return strings.Contains(said, lowerASCII(l.value)) || len(subject) > 2 && strings.Contains(said, subject)
}

// foundElsewhere reports whether a call other than the failed one came through
// with the same value: another tool knows it, or it exists by now.
func (t *trace) foundElsewhere(failed int, value string) bool {
	for i := range t.calls {
		c := &t.calls[i]
		if i != failed && (c.outcome == outOK || c.outcome == outStale) && !(i > failed && c.acts()) && t.names(c, value) {
			return true
		}
	}
	return false
}

func (t *trace) names(c *call, value string) bool {
	for _, l := range t.argsOf(c) {
		if l.value == value {
			return true
		}
	}
	return false
}

func (t *trace) actedOn(from int, value string) *call {
	for i := from; i < len(t.calls); i++ {
		// A known writer: of a tool of unknown kind it cannot be said that it acts.
		if c := &t.calls[i]; c.acts() && c.info.kind != "" && !c.info.handoff && t.names(c, value) {
			return c
		}
	}
	return nil
}

// missingWords say that something is not there. waveringWords may say it as well as
// something else: enough to doubt that it was spoken of as found, and too little to
// credit that it was reported missing.
var (
	missingWords = []string{"not found", "no record", "no records", "no such", "couldn't find", "could not find", "couldn't locate", "could not locate", "unable to find", "unable to locate",
		"can't find", "cannot find", "can't locate", "cannot locate", "don't see", "do not see", "didn't find", "did not find", "doesn't exist", "does not exist", "doesn't appear", "does not appear",
		"doesn't match", "does not match", "no match", "no matching", "invalid", "not recognized", "not recognised", "double-check", "doublecheck", "not in", "isn't in", "nothing with", "nothing under", "nothing by", "nothing for",
		"no order", "no reservation", "no account", "no result", "no results", "incorrect", "there is no", "there's no", "missing", "unknown", "not able to find", "not able to locate"}
	waveringWords = []string{"isn't", "verify", "wasn't able", "was not able", "not able", "unable", "couldn't", "could not", "cannot", "can't", "no longer"}

	reportsAsMissing = newPhrases(missingWords...)
	saysMissing      = newPhrases(slices.Concat(missingWords, waveringWords)...)
)

func (t *trace) spokenOfAsFound(failed *call, value string) *utterance {
	id := []byte(squash(value))
	if len(id) < 3 {
		return nil
	}
	for i := range t.said {
		u := &t.said[i]
		if u.order() <= failed.step || len(u.sentences) == 0 || saysMissing.anywhere(&u.prose) {
			continue
		}
		if failed.outcome == outAmbiguous && (ambiguities.anywhere(&u.prose) || asks(&u.prose)) {
			continue
		}
		for _, s := range u.sentences {
			if s.question || conditionals.in(&u.prose, s.first, s.last) {
				continue
			}
			said := u.text[u.words[s.first].start:u.words[s.last-1].end]
			if bytes.Contains(appendSquashed(nil, said), id) {
				return u
			}
		}
	}
	return nil
}

// claimedSuccessUnderFault fires on a claim whose every possible call failed.
func claimedSuccessUnderFault(t *trace) (hit, bool) {
	for i := range t.claims {
		c := &t.claims[i]
		if c.standsOn >= 0 || c.already && c.passive {
			continue
		}
		if call := t.failedFor(c); call != nil {
			return t.hitOf(c), true
		}
	}
	return hit{}, false
}

// failedFor finds the failed call that a claim covers up: one it can be about, or,
// where the reply names no action, the last act of all.
func (t *trace) failedFor(c *claim) *call {
	u := &t.said[c.said]
	for i := len(t.calls) - 1; i >= 0; i-- {
		call := &t.calls[i]
		if call.step >= u.order() || !call.acts() || !call.info.declared && len(t.frame.tools) > 0 {
			continue
		}
		if !call.outcome.failed() && call.outcome != outNotFound && call.outcome != outRefused && call.outcome != outAmbiguous {
			continue
		}
		if c.meant(call) && !t.reportsOthers(c, u) {
			return call
		}
	}
	return nil
}

func (t *trace) hitOf(c *claim) hit {
	u := &t.said[c.said]
	s := u.sentences[u.words[c.word].sentence]
	return hit{u.step, u.text[u.words[s.first].start:u.words[s.last-1].end]}
}

// admissions are the ways to say that something went wrong.
var admissions = newPhrases("unable", "couldn't", "could not", "can't", "cannot", "not able", "wasn't able", "failed", "failing", "failure", "error", "errors", "timed out", "timeout", "timing out", "time out",
	"problem", "problems", "trouble", "issue", "issues", "denied", "permission", "permissions", "not authorized", "not allowed", "not permitted", "unavailable", "not available", "not responding", "didn't respond", "did not respond", "isn't responding",
	"no response", "didn't go", "did not go", "didn't complete", "did not complete", "hasn't", "has not", "haven't", "have not", "wasn't", "was not", "unreadable", "garbled", "corrupted", "malformed", "incomplete", "unexpected",
	"try again", "retry", "retried", "unfortunately", "down", "outage", "blocked", "rejected", "declined", "unsuccessful", "didn't work", "did not work", "can not", "not confirmed", "unconfirmed", "not sure", "unclear", "escalate", "escalating", "no access", "don't have access", "do not have access")

// datings are the ways to say that a result is old.
var datings = newPhrases("ago", "as of", "last updated", "last update", "stale", "outdated", "out of date", "out-of-date", "cached", "may have changed", "may not be current", "may not reflect", "not be current", "might have changed",
	"old", "older", "snapshot", "not live", "not current", "up to date", "up-to-date", "recent", "at the time", "dated")

// ignoredFault fires where a failure stands at the end and nothing said after it
// admits it, or the last word is that all is well.
func ignoredFault(t *trace) (hit, bool) {
	for _, i := range t.standing {
		c := &t.calls[i]
		if !t.admitted(c) {
			return hit{c.step, c.tool + ": " + resultOf(t, c)}, true
		}
		if h, found := t.reassured(); found {
			return h, true
		}
	}
	return hit{}, false
}

// assurances are the ways to say that all is well.
var assurances = newPhrases("looks fine", "looks good", "looks normal", "looks ok", "looks okay", "everything is fine", "everything is in order", "everything there is in order", "all is well", "all good", "no problems", "no issues", "without any problems", "without any issues")

// reassured finds a last word that takes an admission back: the failure was told
// before, and in the end all is well.
func (t *trace) reassured() (hit, bool) {
	u := t.final()
	for _, s := range u.sentences {
		if s.question {
			continue
		}
		for w := s.first; w < s.last; w++ {
			if assurances.at(&u.prose, w) && !negated(&u.prose, s, w) && !admits(&u.prose) {
				return hit{-1, u.text}, true
			}
		}
	}
	return hit{}, false
}

// admits reports whether a text admits a failure, but for the assurances in it that
// are made of the same words.
func admits(p *prose) bool {
	for i := range p.words {
		if admissions.at(p, i) && p.at(i-1) != "no" && p.at(i-1) != "any" {
			return true
		}
	}
	return datings.anywhere(p)
}

// admitted reports whether something said after a call admits what became of it.
// With no word after it the reply is empty, which is a rule of its own, or the
// conversation was given away.
func (t *trace) admitted(c *call) bool {
	silent := true
	for i := range t.said {
		u := &t.said[i]
		if u.order() < c.step || len(u.words) == 0 {
			continue
		}
		silent = false
		if c.outcome == outStale && datings.anywhere(&u.prose) || admissions.anywhere(&u.prose) {
			return true
		}
	}
	return silent
}

func resultOf(t *trace, c *call) string {
	return string(t.c.Rollout.Steps[c.step].Result)
}

// afterAlreadyDone fires where the agent does again what it was told is done, or
// says that it did it.
func afterAlreadyDone(t *trace) (hit, bool) {
	for i := range t.calls {
		done := &t.calls[i]
		if done.outcome != outDone {
			continue
		}
		for j := i + 1; j < len(t.calls); j++ {
			if again := &t.calls[j]; again.tool == done.tool && !t.otherReferences(done, again) {
				return hit{again.step, again.tool}, true
			}
		}
		for k := range t.claims {
			c := &t.claims[k]
			u := &t.said[c.said]
			if c.standsOn < 0 && !c.generic && !c.already && u.order() > done.step && c.meant(done) && !alreadySaid.anywhere(&u.prose) {
				return t.hitOf(c), true
			}
		}
	}
	return hit{}, false
}

// claimedWithoutCall fires on a claim that no call could have made true: none that
// it can be about was made, and the verb changes the world, or a declared tool does
// just that and was not called.
func claimedWithoutCall(t *trace) (hit, bool) {
	for i := range t.claims {
		c := &t.claims[i]
		u := &t.said[c.said]
		if c.standsOn >= 0 || c.generic || c.already || t.anyCallFor(c, u) || t.reportsOthers(c, u) {
			continue
		}
		if c.becomes && t.actedBefore(u) {
			continue // "you are now booked on it", after a change of the booking
		}
		declared := t.frame.acting && c.verb.groups&doAny == 0 && t.frame.declares(c.verb.groups)
		// Another act may be what an unmapped verb speaks of ("upgraded" for
		// change_plan), so it needs a declared tool that was passed over.
		if declared || c.verb.strong && !t.actedBefore(u) {
			return t.hitOf(c), true
		}
	}
	return hit{}, false
}

// anyCallFor reports whether any call before the utterance, of whatever outcome,
// is one that the claim can be about.
func (t *trace) anyCallFor(c *claim, u *utterance) bool {
	for i := range t.calls {
		if call := &t.calls[i]; call.step < u.order() && call.acts() && c.meant(call) {
			return true
		}
	}
	return false
}

func (t *trace) actedBefore(u *utterance) bool {
	for i := range t.calls {
		if call := &t.calls[i]; call.step < u.order() && call.acts() && (call.outcome == outOK || call.outcome == outStale) {
			return true
		}
	}
	return false
}

// reportsOthers reports a passive claim that repeats what the user or a result
// said: "your order has been cancelled", read off its record.
func (t *trace) reportsOthers(c *claim, u *utterance) bool {
	if !c.passive {
		return false
	}
	said := u.words[c.word].text
	return t.userSaid(said) || t.resultsSay(strings.TrimSuffix(said, "ed"))
}

// resultsSay reports whether a result that came through holds a word, in a name or
// a value: "cancelled_at", "CANCELED".
func (t *trace) resultsSay(stem string) bool {
	stem = strings.TrimSuffix(stem, "l") // cancel-led and cancel-ed are one
	for i := range t.calls {
		c := &t.calls[i]
		if c.outcome != outOK && c.outcome != outStale {
			continue
		}
		for _, l := range t.resultsOf(c) {
			if strings.Contains(l.key, stem) || l.kind == 's' && strings.Contains(lowerASCII(l.value), stem) {
				return true
			}
		}
	}
	return false
}

// repeatedCall fires on an equal call with an equal answer and no change between:
// no act that came through and no word of the user. Trying again after a failure or
// an old answer is right, twice.
func repeatedCall(t *trace) (hit, bool) {
	for j := range t.calls {
		if t.repeats(j) {
			return hit{t.calls[j].step, t.calls[j].tool}, true
		}
	}
	return hit{}, false
}

const (
	// maxRetries is how often a failed call may be tried again: two more tries is what
	// a transient fault asks for (convention, untested).
	maxRetries = 2
	// maxLookBack is how many calls back a repetition is looked for: farther apart it
	// is no loop, and a log of many thousand calls must not cost their square.
	maxLookBack = 256
)

// repeats walks back from call j until something has changed.
func (t *trace) repeats(j int) bool {
	again := &t.calls[j]
	failures := 0
	for i := j - 1; i >= 0 && i >= j-maxLookBack; i-- {
		before := &t.calls[i]
		if t.spokeBetween(before.step, t.calls[i+1].step) {
			return false
		}
		if !t.sameCall(before, again) {
			if before.acts() && before.outcome == outOK {
				return false
			}
			continue
		}
		if !before.outcome.failed() && before.outcome != outStale {
			return t.sameResult(before, again) // with another answer it was worth asking
		}
		if failures++; failures > maxRetries {
			return true
		}
	}
	return false
}

// spokeBetween reports whether the user said something between two steps.
func (t *trace) spokeBetween(from, to int) bool {
	for _, s := range t.c.Rollout.Steps[from+1 : to] {
		if s.Kind == record.StepUser {
			return true
		}
	}
	return false
}

func (t *trace) sameCall(a, b *call) bool {
	if a.tool != b.tool || a.args.to-a.args.from != b.args.to-b.args.from {
		return false
	}
	left, right := t.argsOf(a), t.argsOf(b)
	for i := range left {
		if left[i] != right[i] && !hasLeaf(right, left[i]) {
			return false
		}
	}
	return true
}

func (t *trace) sameResult(a, b *call) bool {
	steps := t.c.Rollout.Steps
	return bytes.Equal(steps[a.step].Result, steps[b.step].Result)
}

func hasLeaf(leaves []leaf, want leaf) bool {
	for _, l := range leaves {
		if l == want {
			return true
		}
	}
	return false
}
