package rollout

import (
	"encoding/json"
	"strconv"
	"strings"

	"assay/engine/record"
	"assay/engine/world"
)

// signatureCalls is how many different calls in a row a signature spells out;
// behind them it says how many more there were. Convention, untested: a plan is
// shorter, a loop is the same however long.
const signatureCalls = 24

// Signature is what an agent did, not what it said: its tool calls in order with
// their outcomes, how the conversation ended, and whether it asked back, refused
// or acted. It has the form
//
//	get_order:ok>cancel_order:already_done*2|user|asked,acted
//
// An outcome is ok, the code of an error, or the fault that shaped an answer.
// Equal neighbours are counted. Tools the agent was not shown are "?". The last
// part is empty where none of the three holds.
//
// tools say which calls act; without them the words of their names do.
func Signature(r *record.Rollout, tools ...record.Tool) string {
	var b strings.Builder
	acted := writeCalls(&b, r.Steps, tools)
	b.WriteByte('|')
	b.WriteString(r.EndedBy)
	b.WriteByte('|')
	asked, refused := manners(r)
	mark := b.Len()
	for _, flag := range []struct {
		holds bool
		name  string
	}{{asked, "asked"}, {refused, "refused"}, {acted, "acted"}} {
		if !flag.holds {
			continue
		}
		if b.Len() > mark {
			b.WriteByte(',')
		}
		b.WriteString(flag.name)
	}
	return b.String()
}

// writeCalls writes the calls and reports whether one of them changed the world.
func writeCalls(b *strings.Builder, steps []record.Step, tools []record.Tool) (acted bool) {
	var last string
	var same, shown, hidden int
	flush := func() {
		if same > 1 {
			b.WriteByte('*')
			b.WriteString(strconv.Itoa(same))
		}
	}
	for i := range steps {
		s := &steps[i]
		if s.Kind != record.StepTool {
			continue
		}
		outcome := Outcome(s)
		acted = acted || !s.IsError && acts(s.Tool, tools)
		name := s.Tool
		if outcome == record.ErrUnknownTool || !plainName(name) {
			name = "?"
		}
		call := name + ":" + outcome
		switch {
		case call == last:
			same++
			continue
		case shown == signatureCalls:
			hidden++
			continue
		}
		flush()
		if shown > 0 {
			b.WriteByte('>')
		}
		b.WriteString(call)
		last, same = call, 1
		shown++
	}
	flush()
	if hidden > 0 {
		b.WriteString(">+")
		b.WriteString(strconv.Itoa(hidden))
	}
	return acted
}

// plainName is true of names that cannot be taken for the signature's own marks.
func plainName(name string) bool {
	const longest = 128 // of the function names that model servers take: 64
	return name != "" && len(name) <= longest && !strings.ContainsAny(name, ":>|*+,\n")
}

// Outcome is what came of a tool call: ok, the code of an error, or the fault
// that shaped an answer that looks like one.
func Outcome(s *record.Step) string {
	switch {
	case !s.IsError && s.Fault != "":
		return s.Fault
	case !s.IsError:
		return "ok"
	}
	var body struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(s.Result, &body) != nil || !plainName(body.Error) {
		return "error"
	}
	return body.Error
}

// acts reports whether a tool changes the world.
func acts(name string, tools []record.Tool) bool {
	for i := range tools {
		if tools[i].Name == name && tools[i].Kind != "" {
			return tools[i].Kind != record.ToolRead
		}
	}
	return world.Writes(name)
}

// manners are whether the agent asked back in any of its replies, and whether
// its last one refuses.
func manners(r *record.Rollout) (asked, refused bool) {
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Kind == record.StepText && !asked {
			asked = readReply(string(s.Text)).asks
		}
	}
	return asked || readReply(string(r.FinalText)).asks, refuses(string(r.FinalText))
}
