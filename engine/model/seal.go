package model

import (
	"strings"

	"assay/engine/record"
)

// seal is a thought of Anthropic's on its way: signed, or encrypted whole. The server
// refuses a turn that goes on after calls without its thoughts, or with others than it
// wrote (docs: extended thinking, preserving thinking blocks).
type seal struct {
	kind        string
	text, calls int // where it stands, as in record.Sealed
	thought     strings.Builder
	signature   strings.Builder
	data        string
}

// seal begins a thought that is to be sent back.
func (a *answer) seal(kind, data string) error {
	if err := a.grow(callSize + len(data)); err != nil {
		return err
	}
	a.seals = append(a.seals, &seal{kind: kind, data: data, text: a.think.said.Len(), calls: len(a.calls)})
	return nil
}

// thinkOn takes a piece of the thought that was begun last, and of its signature.
func (a *answer) thinkOn(piece record.Text, signature string) error {
	if n := len(a.seals); n > 0 {
		if err := a.grow(len(signature)); err != nil {
			return err
		}
		a.seals[n-1].thought.WriteString(string(piece))
		a.seals[n-1].signature.WriteString(signature)
	}
	return a.ponder(piece)
}

// sealed are the answer's thoughts in the form in which they are sent back.
func (a *answer) sealed() []record.Sealed {
	var all []record.Sealed
	for _, s := range a.seals {
		var form any = struct {
			Type string `json:"type"`
			Data string `json:"data"`
		}{s.kind, s.data}
		if s.kind == "thinking" {
			form = struct {
				Type      string      `json:"type"`
				Thinking  record.Text `json:"thinking"`
				Signature string      `json:"signature"`
			}{s.kind, record.Text(s.thought.String()), s.signature.String()}
		}
		block, err := record.Marshal(form)
		if err != nil { // text always marshals
			continue
		}
		all = append(all, record.Sealed{Text: s.text, Calls: s.calls, Block: block})
	}
	return all
}

// answerBlocks are an earlier answer's content: its text and its calls in their order,
// and what it sealed where that stood.
func answerBlocks(m *record.Message, text record.Text) []block {
	var blocks []block
	said := 0
	say := func(to int) {
		if part := text[said:to]; !blank(part) {
			blocks = append(blocks, block{Type: "text", Text: part})
		}
		said = to
	}
	rest := m.Sealed
	for ; len(rest) > 0 && rest[0].Calls == 0; rest = rest[1:] {
		say(max(said, min(rest[0].Text, len(text))))
		blocks = append(blocks, block{sealed: rest[0].Block})
	}
	say(len(text))
	for i, c := range m.ToolCalls {
		for ; len(rest) > 0 && rest[0].Calls <= i; rest = rest[1:] {
			blocks = append(blocks, block{sealed: rest[0].Block})
		}
		blocks = append(blocks, block{Type: "tool_use", ID: c.ID, Name: c.Function.Name, Input: toolInput(c.Function.Arguments)})
	}
	return blocks
}
