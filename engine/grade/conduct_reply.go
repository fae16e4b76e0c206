package grade

import (
	"strings"
	"unicode"

	"assay/engine/record"
)

// The rules that read what was said, whatever was called.

// final is the final text as an utterance.
func (t *trace) final() *utterance { return &t.said[len(t.said)-1] }

// handedOff reports a conversation that the agent ended by giving it away: then
// no word needs to follow.
func (t *trace) handedOff() bool {
	steps := t.c.Rollout.Steps
	if len(steps) == 0 || len(t.calls) == 0 {
		return false
	}
	last := &t.calls[len(t.calls)-1]
	return last.step == len(steps)-1 && last.info.handoff && last.outcome == outOK
}

func emptyReply(t *trace) (hit, bool) {
	for _, r := range t.final().text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsSymbol(r) {
			return hit{}, false
		}
	}
	return hit{step: -1, fragment: t.final().text}, !t.handedOff()
}

// stubs are replies that a server, a proxy or a serialiser made instead of the
// agent. They count as the whole reply only, or as its beginning.
var (
	wholeStubs = map[string]bool{"null": true, "none": true, "undefined": true, "nil": true, "nan": true, "[object object]": true,
		"{}": true, "[]": true, "error": true, "internal server error": true, "bad gateway": true, "service unavailable": true, "gateway timeout": true, "...": true}
	stubBeginnings = []string{"<!doctype html", "<html", "traceback (most recent call last)", "error: 4", "error: 5", "error code: ", "http error",
		"500 internal server error", "502 bad gateway", "503 service unavailable", "504 gateway", "429 too many requests", "upstream connect error", "rate limit exceeded",
		"rate limit reached", "request timed out", "connection refused", "connection reset", "internal server error", "api error", "apierror", "{\"error\""}
)

func infrastructureStub(t *trace) (hit, bool) {
	text := strings.TrimSpace(t.final().lower)
	fired := wholeStubs[strings.TrimRight(text, ".!")]
	for _, beginning := range stubBeginnings {
		fired = fired || strings.HasPrefix(text, beginning)
	}
	return hit{-1, t.final().text}, fired
}

func degenerateOutput(t *trace) (hit, bool) {
	for i := range t.said {
		u := &t.said[i]
		if fragment, found := loops(&u.prose, u.text); found {
			return hit{u.step, fragment}, true
		}
		if garbled(u.text) {
			return hit{u.step, u.text}, true
		}
	}
	return hit{}, false
}

// How often a run of words must repeat to count as a loop: a single word six
// times ("very very very" is emphasis, six are not), a phrase four times and at
// least twelve words in all. Convention, checked against real conversations.
const (
	wordLoop   = 6
	phraseLoop = 4
	maxPeriod  = 12
)

// loops finds a run of words that repeats without end.
func loops(p *prose, text string) (string, bool) {
	words := p.words
	for period := 1; period <= maxPeriod && period < len(words); period++ {
		run := 0
		for i := period; i < len(words); i++ {
			if words[i].key != words[i-period].key || words[i].text != words[i-period].text {
				run = 0
				continue
			}
			run++
			need := (phraseLoop - 1) * period
			if period == 1 {
				need = wordLoop - 1
			}
			need = max(need, min(12-period, wordLoop*period-period))
			if run >= need && letters(words[i-period+1:i+1]) {
				return text[words[i-period+1].start:words[i].end], true
			}
		}
	}
	return "", false
}

// letters reports whether the words hold any letter: columns of numbers repeat
// rightly.
func letters(words []word) bool {
	for _, w := range words {
		for i := 0; i < len(w.text); i++ {
			if c := w.text[i]; c >= 'a' && c <= 'z' || c >= 0x80 {
				return true
			}
		}
	}
	return false
}

// garbledShare is the share of replacement characters from which a text is no
// text; 5 at least, so that one broken emoji is forgiven. Convention, untested.
const garbledShare = 0.1

func garbled(text string) bool {
	n := strings.Count(text, "\uFFFD")
	return n >= 5 && float64(n) >= garbledShare*float64(len([]rune(text)))
}

// harnessSigns are what only a harness writes: chat-template tokens, raw calls,
// and this simulation's own words. Longer words first where one holds another.
var harnessSigns = []string{"<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|start_header_id|>", "<|assistant|>", "<|user|>", "<|system|>", "<|tool",
	"[inst]", "[/inst]", "<<sys>>", "<tool_call>", "</tool_call>", "<tool_response>", "<function_call", "<function=", "<think>", "</think>", "###stop###",
	"tool_condition", "world_state", "malformed_result", "stale_result", "fault_rate", "situation_id", "task_id:", "injected fault", "simulated user", "as a simulated"}

func leakedHarness(t *trace) (hit, bool) {
	for i := range t.said {
		u := &t.said[i]
		if at, sign := firstSign(u.lower); sign != "" && !t.userWrote(sign) {
			return hit{u.step, u.text[at:]}, true
		}
	}
	return hit{}, false
}

// firstSign finds a harness sign in a lower-cased text.
func firstSign(lower string) (int, string) {
	if !strings.ContainsAny(lower, "<[_#") && !strings.Contains(lower, "simulated") && !strings.Contains(lower, "injected") {
		return 0, ""
	}
	for _, sign := range harnessSigns {
		if at := strings.Index(lower, sign); at >= 0 {
			return at, sign
		}
	}
	return 0, ""
}

func (t *trace) userWrote(sign string) bool {
	for _, text := range t.asked {
		if strings.Contains(lowerASCII(string(text)), sign) {
			return true
		}
	}
	return strings.Contains(lowerASCII(string(t.frame.prompt)), sign)
}

func inventedIdentifier(t *trace) (hit, bool) {
	for i := range t.said {
		u := &t.said[i]
		for j := range u.words {
			w := &u.words[j]
			if w.digits < 2 || !looksLikeID(u.text[w.start:w.end]) {
				continue
			}
			if !t.stands(w.text) && !t.passedAsArgument(squash(w.text)) {
				return hit{u.step, u.text[w.start:w.end]}, true
			}
		}
	}
	return hit{}, false
}

// passedAsArgument reports whether a call that came through took the id: then the
// agent named the thing itself, and rightly ("I saved it as report-07").
func (t *trace) passedAsArgument(id string) bool {
	for i := range t.calls {
		c := &t.calls[i]
		if c.outcome != outOK {
			continue
		}
		for _, l := range t.argsOf(c) {
			if strings.Contains(squash(l.value), id) {
				return true
			}
		}
	}
	return false
}

// minIDLength is the fewest characters of an identifier: below it live units,
// times, models and ordinals (3rd, 10am, A320, 250ms).
const minIDLength = 5

// looksLikeID reports words that are names of things: letters and at least two
// digits together, with a capital or a hyphen. Addresses, dates, amounts with
// units and versions are not.
func looksLikeID(w string) bool {
	if len(w) < minIDLength || strings.ContainsAny(w, "@/'$") || strings.Contains(w, "://") {
		return false
	}
	digits, letters, capitals, joints := 0, 0, 0, 0
	for i := 0; i < len(w); i++ {
		switch c := w[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'A' && c <= 'Z':
			capitals++
			letters++
		case c >= 'a' && c <= 'z':
			letters++
		case c == '-' || c == '_':
			joints++
		case c == '#':
		default:
			return false
		}
	}
	if digits < 2 || letters == 0 || capitals+joints == 0 {
		return false
	}
	return !amountWithUnit(w) && !spelledDate(w) && !hyphenatedNumber(w)
}

// amountWithUnit reports digits followed by a unit: 100GB, 1080P, 15:00EST, 50-MINUTE.
func amountWithUnit(w string) bool {
	i := 0
	for i < len(w) && (w[i] >= '0' && w[i] <= '9' || w[i] == '-' || w[i] == '.') {
		i++
	}
	for j := i; j < len(w); j++ {
		if w[j] >= '0' && w[j] <= '9' || w[j] == '-' && j > i+8 {
			return false
		}
	}
	return i > 0
}

// hyphenatedNumber reports words joined to a number of two digits at most:
// "top-10", "phase-12", and "COVID-19", whose letters are more than a prefix has.
func hyphenatedNumber(w string) bool {
	at := strings.LastIndexByte(w, '-')
	if at < 0 || len(w)-at-1 > 2 || hasDigit(w[:at]) {
		return false
	}
	return at >= 5 || w[:at] == lowerASCII(w[:at])
}

func spelledDate(w string) bool {
	lower := lowerASCII(w)
	for _, month := range []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"} {
		if at := strings.Index(lower, month); at >= 0 {
			rest := strings.Trim(lower[:at]+lower[at+3:], "0123456789-_")
			return rest == "" || strings.HasPrefix("january february march april june july august september october november december", rest) || len(rest) <= 6
		}
	}
	return false
}

func repeatedReply(t *trace) (hit, bool) {
	for i := range t.said {
		for j := range i {
			if a, b := &t.said[i], &t.said[j]; sameReply(&a.prose, &b.prose) {
				return hit{a.step, a.text}, true
			}
		}
	}
	return hit{}, false
}

// minRepeated is how many words two replies must share to be a repetition rather
// than a courtesy said twice; convention, untested.
const minRepeated = 6

func sameReply(a, b *prose) bool {
	if len(a.words) < minRepeated || len(a.words) != len(b.words) {
		return false
	}
	for i := range a.words {
		if a.words[i].text != b.words[i].text {
			return false
		}
	}
	return true
}

// danglers are words that no sentence ends with.
var danglers = map[string]bool{"and": true, "or": true, "the": true, "a": true, "an": true, "because": true, "with": true, "of": true, "your": true, "my": true, "is": true, "are": true}

func cutOff(t *trace) (hit, bool) {
	u := t.final()
	if t.c.Rollout.FinishReason == record.FinishLength {
		return hit{-1, ending(u.text)}, true
	}
	if len(u.words) < minRepeated {
		return hit{}, false
	}
	last := u.words[len(u.words)-1]
	rest := strings.TrimSpace(u.text[last.end:])
	if rest == "," || rest == "" && danglers[last.text] {
		return hit{-1, ending(u.text)}, true
	}
	return hit{}, false
}

func ending(s string) string {
	if len(s) <= maxFragment/2 {
		return s
	}
	start := len(s) - maxFragment/2
	for start < len(s) && s[start]&0xC0 == 0x80 {
		start++
	}
	return "…" + s[start:]
}
