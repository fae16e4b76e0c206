package model

import (
	"errors"
	"fmt"
	"strings"

	"assay/engine/record"
)

// longestAnswer bounds what one answer may come to, text, thought and calls together, as
// the agent protocol bounds a reply.
const longestAnswer = 16 << 20

var errLongAnswer = errors.New("the answer is over the bound of 16 MiB")

// answer puts a reply together from its pieces, and tells a listener of them.
type answer struct {
	listen func(record.Delta)
	heard  bool // a piece of the answer has come

	think     thinkSplitter
	reasoning strings.Builder // of fields of its own
	text      wtf8            // joins the halves of characters between pieces
	calls     []record.ToolCallMessage
	seals     []*seal
	at        map[int]int // the server's index of a call to its place in calls
	finish    record.FinishReason
	usage     *record.Usage
	logProbs  *record.LogProbs
	model     string
	left      int // bytes that it may still come to
}

// say takes a piece of text, in which thought may be marked by tags.
func (a *answer) say(piece record.Text) error {
	if piece == "" {
		return nil
	}
	if err := a.grow(len(piece)); err != nil {
		return err
	}
	said, thought := a.think.write(a.text.join(string(piece)))
	a.tell(said, thought)
	return nil
}

// ponder takes a piece of thought that the server keeps apart itself.
func (a *answer) ponder(piece record.Text) error {
	if piece == "" {
		return nil
	}
	if err := a.grow(len(piece)); err != nil {
		return err
	}
	a.reasoning.WriteString(string(piece))
	a.tell("", string(piece))
	return nil
}

// begin opens a call at the server's index, and goes on with one that is open there under
// the same id. Servers that number none, or all of them 0, tell calls apart by ids.
func (a *answer) begin(index *int, id string) (*record.ToolCallMessage, error) {
	if index != nil {
		if i, open := a.at[*index]; open && (id == "" || id == a.calls[i].ID || a.calls[i].ID == "") {
			if id != "" {
				a.calls[i].ID = id
			}
			return &a.calls[i], nil
		}
	} else if n := len(a.calls); n > 0 && (id == "" || id == a.calls[n-1].ID) {
		return &a.calls[n-1], nil
	}
	if err := a.grow(callSize); err != nil {
		return nil, err
	}
	a.calls = append(a.calls, record.ToolCallMessage{ID: id, Type: "function"})
	if index != nil {
		if a.at == nil {
			a.at = map[int]int{}
		}
		a.at[*index] = len(a.calls) - 1
	}
	return &a.calls[len(a.calls)-1], nil
}

// callSize is what a call costs beside its text, so that empty ones are bounded too.
const callSize = 256

// call adds to a call's name and arguments.
func (a *answer) call(index *int, id string, name, arguments record.Text) error {
	a.heard = true
	if err := a.grow(len(name) + len(arguments)); err != nil {
		return err
	}
	c, err := a.begin(index, id)
	if err != nil {
		return err
	}
	c.Function.Name += name
	c.Function.Arguments += arguments
	if a.listen != nil && name != "" && c.Function.Name == name {
		a.listen(record.Delta{Tool: name})
	}
	return nil
}

func (a *answer) logProb(values ...float64) {
	if a.logProbs == nil {
		a.logProbs = &record.LogProbs{}
	}
	for _, v := range values {
		a.logProbs.Sum += v
		a.logProbs.Tokens++
	}
	a.logProbs.List = append(a.logProbs.List, values...)
}

func (a *answer) grow(n int) error {
	a.heard = true
	if a.left -= n; a.left < 0 {
		return errLongAnswer
	}
	return nil
}

func (a *answer) tell(said, thought string) {
	if a.listen == nil {
		return
	}
	if thought != "" {
		a.listen(record.Delta{Text: record.Text(thought), Reasoning: true})
	}
	if said != "" {
		a.listen(record.Delta{Text: record.Text(said)})
	}
}

// reply is the whole answer.
func (a *answer) reply() record.ChatReply {
	said, thought := a.think.write(a.text.rest())
	a.tell(said, thought)
	a.tell(a.think.finish())
	if s := a.think.thought.String(); s != "" {
		if a.reasoning.Len() > 0 {
			a.reasoning.WriteString("\n")
		}
		a.reasoning.WriteString(strings.Trim(s, "\n"))
	}
	for i := range a.calls {
		c := &a.calls[i]
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%d", i)
		}
		if strings.TrimSpace(string(c.Function.Arguments)) == "" {
			c.Function.Arguments = "{}"
		}
	}
	finish := a.finish
	if finish == record.FinishStop && len(a.calls) > 0 { // servers differ in what they call it
		finish = record.FinishTool
	}
	return record.ChatReply{Text: record.Text(a.think.said.String()), Reasoning: record.Text(a.reasoning.String()), ToolCalls: a.calls,
		FinishReason: finish, Usage: a.usage, LogProbs: a.logProbs, Model: a.model, Sealed: a.sealed()}
}

// wtf8 joins pieces of text in which a character outside the basic plane may be cut
// between its surrogates: record.Text holds each half as three bytes.
type wtf8 struct{ half string }

func (w *wtf8) join(piece string) string {
	piece = w.half + piece
	w.half = ""
	if n := len(piece) - surrogateLen; n >= 0 && isHigh(piece[n:]) {
		piece, w.half = piece[:n], piece[n:]
	}
	for i := 0; ; i++ {
		next := strings.IndexByte(piece[i:], 0xED)
		if next < 0 {
			return piece
		}
		i += next
		if i+2*surrogateLen > len(piece) {
			return piece
		}
		if high, low := piece[i:i+surrogateLen], piece[i+surrogateLen:i+2*surrogateLen]; isHigh(high) && isLow(low) {
			r := (unit(high)-0xD800)<<10 + unit(low) - 0xDC00 + 0x10000
			piece = piece[:i] + string(r) + piece[i+2*surrogateLen:]
		}
	}
}

// rest is a half that stayed alone.
func (w *wtf8) rest() string {
	half := w.half
	w.half = ""
	return half
}

const surrogateLen = 3

func isHigh(s string) bool { return s[0] == 0xED && s[1] >= 0xA0 && s[1] <= 0xAF && s[2]&0xC0 == 0x80 }
func isLow(s string) bool  { return s[0] == 0xED && s[1] >= 0xB0 && s[1] <= 0xBF && s[2]&0xC0 == 0x80 }
func unit(s string) rune   { return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F) }
