package grade

import (
	"strings"

	"assay/engine/record"
)

// trace is a case as the rules read it: its calls with what came of them, what
// the agent and the user said, cut into words once. Traces are pooled; nothing in
// a result may point into one, but strings may.
type trace struct {
	c     *Case
	frame *frame
	// calls are the tool steps in order.
	calls []call
	// said are the agent's texts in order, the final text last.
	said []utterance
	// asked are the user's texts in order, the ask first.
	asked []record.Text
	// leaves backs the arguments and results of all calls.
	leaves []leaf
	// known is what the agent could know at the point that the build has reached:
	// see [appendSquashed].
	known   []byte
	needle  []byte // scratch of [trace.stands]
	scanned int    // bytes that it has looked through
	claims  []claim
	// standing are indices of the calls whose failure nothing has mended.
	standing []int
	flagged  bool // some call carries code, commands or files
}

// call is one tool step.
type call struct {
	step    int
	tool    string
	info    toolInfo
	args    span // into trace.leaves
	result  span
	outcome outcome
	code    bool // an argument holds a command, code or a path
	// counted and grounded are its arguments that must come from somewhere, and
	// those that do.
	counted, grounded int
	ungrounded        int // the first of the former that does not, into leaves; -1 for none
	knownTo           int // how much of trace.known there was when it was made
}

type span struct{ from, to int }

// acts reports whether the call may change the world. A tool of unknown kind may.
func (c *call) acts() bool { return c.info.kind != record.ToolRead }

// utterance is one text of the agent.
type utterance struct {
	step int // -1 is the final text
	text string
	prose
}

// order places an utterance among the steps: the final text comes after all.
func (u *utterance) order() int {
	if u.step < 0 {
		return int(^uint(0) >> 1)
	}
	return u.step
}

func (t *trace) argsOf(c *call) []leaf    { return t.leaves[c.args.from:c.args.to] }
func (t *trace) resultsOf(c *call) []leaf { return t.leaves[c.result.from:c.result.to] }

// build reads a case. It reuses what t holds from an earlier one.
func (t *trace) build(c *Case, f *frame) {
	t.reset(c, f)
	ask := c.Rollout.Prompt
	if ask == "" && c.Task != nil {
		ask = c.Task.Ask
	}
	t.hear(ask)
	steps := c.Rollout.Steps
	for i := range steps {
		switch s := &steps[i]; s.Kind {
		case record.StepUser:
			t.hear(s.Text)
		case record.StepText:
			t.say(i, s.Text)
		case record.StepTool:
			t.addCall(i, s)
		}
	}
	t.say(-1, c.Rollout.FinalText)
	t.findStanding()
	t.findClaims()
}

// Bounds on what a trace keeps for the next case, of one of its buffers: one giant
// must not weigh on a run for good.
const (
	maxKept      = 1 << 22 // bytes
	maxKeptItems = 1 << 15 // words or leaves, some 100 bytes each
)

func (t *trace) reset(c *Case, f *frame) {
	if t.giant() {
		*t = trace{}
	}
	t.c, t.frame = c, f
	t.calls, t.said, t.asked = t.calls[:0], t.said[:0], t.asked[:0]
	clear(t.leaves)
	t.leaves, t.known, t.claims, t.standing = t.leaves[:0], t.known[:0], t.claims[:0], t.standing[:0]
	t.flagged, t.scanned = false, 0
}

func (t *trace) giant() bool {
	words := 0
	for _, u := range t.said[:cap(t.said)] {
		words += cap(u.words)
	}
	return cap(t.known) > maxKept || cap(t.leaves) > maxKeptItems || words > maxKeptItems
}

func (t *trace) hear(text record.Text) {
	t.asked = append(t.asked, text)
	t.known = appendSquashed(t.known, string(text))
}

func (t *trace) say(step int, text record.Text) {
	if len(t.said) < cap(t.said) {
		t.said = t.said[:len(t.said)+1] // keep the slices of an earlier utterance
	} else {
		t.said = append(t.said, utterance{})
	}
	u := &t.said[len(t.said)-1]
	u.step, u.text = step, string(text)
	u.cut(u.text)
}

func (t *trace) addCall(i int, s *record.Step) {
	c := call{step: i, tool: s.Tool, info: t.frame.tool(s.Tool), ungrounded: -1, knownTo: len(t.known)}
	from := len(t.leaves)
	t.leaves = appendLeaves(t.leaves, string(s.Arguments))
	mid := len(t.leaves)
	t.leaves = appendLeaves(t.leaves, string(s.Result))
	c.args, c.result = span{from, mid}, span{mid, len(t.leaves)}
	broken := t.openEmbedded(&c)
	c.outcome = outcomeOf(s, t.resultsOf(&c), c.info.kind)
	if c.outcome == outOK && broken && !s.IsError {
		c.outcome = outMalformed
	}
	t.ground(&c)
	for _, l := range t.argsOf(&c) {
		if codeArgument(l.key) && l.kind == 's' {
			c.code, t.flagged = true, true
		}
	}
	// What a refused call says back is the agent's own word, not a source.
	if c.outcome == outOK || c.outcome == outStale || c.outcome == outDone || c.outcome == outAmbiguous {
		for _, l := range t.resultsOf(&c) {
			t.known = appendSquashed(t.known, l.key)
			t.known = appendSquashed(t.known, l.value)
		}
	}
	t.calls = append(t.calls, c)
}

// openEmbedded replaces a result that is JSON inside a JSON string by its leaves:
// logs from elsewhere keep results that way. broken says that the text begins
// like JSON and is not.
func (t *trace) openEmbedded(c *call) (broken bool) {
	results := t.resultsOf(c)
	if len(results) != 1 || results[0].kind != 's' || results[0].depth != 0 {
		return false
	}
	text := strings.TrimSpace(results[0].value)
	if len(text) < 2 || (text[0] != '{' && text[0] != '[') {
		return false
	}
	w := leafWalk{s: text, out: t.leaves}
	whole := w.value("", 0, 0)
	if len(w.out) > len(t.leaves) {
		t.leaves = append(t.leaves[:c.result.from], w.out[len(t.leaves):]...)
		c.result.to = len(t.leaves)
	}
	return !whole
}

// findStanding lists the failures that stand at the end: no later call of the
// same tool came through, and where the failed call was to act no other act did.
func (t *trace) findStanding() {
	for i := range t.calls {
		c := &t.calls[i]
		if !c.outcome.failed() && c.outcome != outStale {
			continue
		}
		if !t.mended(i) {
			t.standing = append(t.standing, i)
		}
	}
}

func (t *trace) mended(i int) bool {
	c := &t.calls[i]
	for j := i + 1; j < len(t.calls); j++ {
		later := &t.calls[j]
		if later.tool == c.tool && !t.otherReferences(c, later) {
			return true // come through, or failed again: then the later one stands
		}
		if c.acts() && c.info.kind != "" && later.acts() && later.outcome == outOK {
			return true
		}
	}
	return false
}

// otherReferences reports whether two calls name different things.
func (t *trace) otherReferences(a, b *call) bool {
	for _, l := range t.argsOf(a) {
		if !isReference(l.key) {
			continue
		}
		for _, m := range t.argsOf(b) {
			if m.key == l.key {
				return m.value != l.value
			}
		}
	}
	return false
}

// codeArgument reports argument names that hold commands, code or paths.
func codeArgument(key string) bool {
	switch key {
	case "command", "cmd", "code", "script", "sql", "path", "file", "file_path", "filename", "patch", "diff", "content", "new_string", "new_str", "args":
		return true
	}
	return false
}

// appendSquashed adds text without anything but letters and digits, lower-cased,
// so that "INC-88" is found in "inc 88" and "payments api" in "payments-api". One
// byte parts it from what was there.
func appendSquashed(dst []byte, text string) []byte {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c >= 0x80:
			dst = append(dst, c)
		case c >= 'A' && c <= 'Z':
			dst = append(dst, c+'a'-'A')
		}
	}
	return append(dst, ' ')
}

// squash is the squashed form of a short value.
func squash(text string) string {
	var buf [64]byte
	squashed := appendSquashed(buf[:0], text)
	return string(squashed[:len(squashed)-1])
}
