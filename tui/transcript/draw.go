package transcript

import (
	"bytes"
	"encoding/json"
	"strings"

	"assay/engine/record"
	"assay/tui/ui"
)

// gutter is the width of the column that says who speaks, with the cursor's cell
// before it.
const gutter = 7

// narrow is the width under which the gutter shrinks to a sign: text needs the
// room more than the speaker's name.
const narrow = 34

// Draw lays out a block.
func (d *Doc) Draw(block, width int, look ui.Look) []string {
	r := d.refs[block]
	it := &d.items[r.item]
	p := pen{theme: d.theme, width: width, base: d.theme.Base(look), active: look == ui.Active, query: d.query}
	if it.kind == kindAgent || it.kind == kindTool {
		p.evidence = d.evidence[it.step]
	}
	switch it.kind {
	case kindFacts:
		return p.facts(it)
	case kindUser:
		return p.said("user", d.theme.User, it, r, d.flagged(it))
	case kindAgent:
		return p.said("agent", d.theme.Agent, it, r, d.flagged(it))
	case kindStream:
		return p.stream(it, r)
	case kindTool:
		if r.slice < 0 {
			return p.call(&d.steps[it.step], d.open[it.step], d.flags[it.step])
		}
		return p.body(it.slices[r.slice], d.theme.Quiet, gutter+2)
	case kindHeading:
		return []string{p.row(ui.S(d.theme.Line, "── "), ui.S(d.theme.Strong, it.title), ui.S(d.theme.Line, " "+strings.Repeat("─", max(width-5-ui.Width(it.title)-1, 0))))}
	}
	return p.verdict(it, r)
}

func (d *Doc) flagged(it *item) []string {
	if it.kind == kindUser {
		return nil
	}
	return d.flags[it.step]
}

// pen draws rows of one block.
type pen struct {
	theme  ui.Theme
	width  int
	base   ui.Style
	active bool

	query    string   // lower case
	evidence []string // clean
}

func (p pen) row(spans ...ui.Span) string {
	first := ui.S(p.base, " ")
	if p.active {
		first = ui.S(p.theme.Accent, "▎")
	}
	return ui.Row(p.width, p.base, append([]ui.Span{first}, spans...)...)
}

func (p pen) sides(left, right []ui.Span) string {
	first := ui.S(p.base, " ")
	if p.active {
		first = ui.S(p.theme.Accent, "▎")
	}
	return ui.Sides(p.width, p.base, append([]ui.Span{first}, left...), right)
}

func (p pen) gutter() int {
	if p.width < narrow {
		return 3
	}
	return gutter
}

// facts puts as many facts on a row as fit, and breaks one only where it is longer
// than a row.
func (p pen) facts(it *item) []string {
	var rows []string
	line := ""
	flush := func() {
		for _, text := range ui.Wrap(line, p.width-2) {
			rows = append(rows, p.row(ui.S(p.theme.Quiet, text)))
		}
	}
	for _, fact := range strings.Split(it.title, factSeparator) {
		switch {
		case line == "":
			line = fact
		case ui.Width(line)+len(factSeparator)+ui.Width(fact) <= p.width-2:
			line += factSeparator + fact
		default:
			flush()
			line = fact
		}
	}
	flush()
	return rows
}

// said is a message: who in the gutter, the text beside it, flags below.
func (p pen) said(who string, style ui.Style, it *item, r ref, flags []string) []string {
	gutter := p.gutter()
	label := ui.Pad(who, gutter-1)
	if gutter < 6 {
		label = ui.Pad(map[string]string{"user": "›", "agent": "‹"}[who], gutter-1)
	}
	text := ""
	if r.slice >= 0 {
		text = ui.Clean(it.slices[r.slice])
	}
	style2 := p.theme.Text
	if text == "" {
		text, style2 = "(nothing)", p.theme.Quiet
	}
	var rows []string
	for i, line := range ui.Wrap(text, p.width-gutter-1) {
		lead := ui.S(style, label)
		if i > 0 || r.slice > 0 {
			lead = ui.S(style, ui.Spaces(gutter-1))
		}
		rows = append(rows, p.row(append([]ui.Span{lead}, p.lit(style2, line)...)...))
	}
	if int(r.slice) == len(it.slices)-1 {
		rows = append(rows, p.flags(flags, gutter)...)
	}
	return rows
}

func (p pen) flags(flags []string, indent int) []string {
	var rows []string
	for _, f := range flags {
		mark := p.theme.Fail()
		rows = append(rows, p.row(ui.S(p.base, ui.Spaces(indent-1)), ui.S(mark.Style, mark.Sign+" "+f)))
	}
	return rows
}

func (p pen) stream(it *item, r ref) []string {
	text := ""
	if r.slice >= 0 {
		text = it.slices[r.slice]
	}
	if text == "" {
		mark := p.theme.Running()
		return []string{p.row(ui.S(mark.Style, ui.Pad("agent", p.gutter()-1)), ui.S(p.theme.Quiet, mark.Sign+" working"))}
	}
	rows := p.said("agent", p.theme.Agent, it, r, nil)
	if int(r.slice) == len(it.slices)-1 {
		rows = append(rows, p.row(ui.S(p.theme.Quiet, ui.Spaces(p.gutter()-1)+p.theme.Running().Sign+" still speaking")))
	}
	return rows
}

// call is a tool call on one line: what was called with what, and its outcome.
func (p pen) call(s *record.Step, open bool, flags []string) []string {
	t := p.theme
	fold := "▸ "
	if open {
		fold = "▾ "
	}
	indent := ui.Spaces(p.gutter() - 3)
	left := []ui.Span{ui.S(p.base, indent), ui.S(t.Quiet, fold)}
	left = append(left, p.lit(t.Tool, ui.Line(s.Tool, p.width))...)
	left = append(left, p.lit(t.Quiet, "  "+arguments(s.Arguments, p.width))...)
	rows := []string{p.sides(left, outcome(t, s))}
	return append(rows, p.flags(flags, p.gutter())...)
}

func (p pen) body(text string, style ui.Style, indent int) []string {
	var rows []string
	for _, line := range ui.Wrap(ui.Clean(text), p.width-indent-1) {
		rows = append(rows, p.row(append([]ui.Span{ui.S(p.base, ui.Spaces(indent-1))}, p.lit(style, line)...)...))
	}
	return rows
}

// verdict draws the lines behind the conversation: a mark, a title, a reason.
func (p pen) verdict(it *item, r ref) []string {
	var rows []string
	if r.slice <= 0 {
		style := p.theme.Text
		if it.kind == kindVerdict {
			style = p.theme.Strong
		}
		if it.kind == kindNote {
			style = p.theme.Quiet
		}
		word := ""
		if it.kind == kindVerdict {
			word = it.mark.Word + "  "
		}
		for i, line := range ui.Wrap(word+it.title, p.width-5) {
			sign := it.mark.Sign
			if i > 0 {
				sign = " "
			}
			rows = append(rows, p.row(ui.S(p.base, " "), ui.S(it.mark.Style, sign+" "), ui.S(style, line)))
		}
	}
	if r.slice >= 0 {
		rows = append(rows, p.body(it.slices[r.slice], p.theme.Quiet, 4)...)
	}
	return rows
}

// shownArguments is how many bytes of a call's arguments its one line reads, more
// than a row shows; all of them are there when it is unfolded.
const shownArguments = 4 << 10

// arguments is a call's arguments on one line of so many cells, without the outer
// braces.
func arguments(raw json.RawMessage, width int) string {
	if len(raw) > shownArguments {
		return ui.Line(strings.TrimPrefix(string(raw[:shownArguments]), "{"), width)
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return ui.Line(string(raw), width)
	}
	s := b.String()
	if strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}") {
		s = s[1 : len(s)-1]
	}
	return ui.Line(s, width)
}

// outcome is what came of a call, in a word or two with a mark.
func outcome(t ui.Theme, s *record.Step) []ui.Span {
	var out []ui.Span
	if s.Fault != "" {
		out = append(out, ui.S(t.Fault, " ⚑ fault "+ui.CleanLine(s.Fault)+" "))
	}
	switch {
	case s.IsError:
		out = append(out, ui.S(t.Bad, " ✗ "+errorCode(s.Result)+" "))
	case s.Fault == "":
		out = append(out, ui.S(t.Quiet, " ok "))
	}
	return out
}

func errorCode(result json.RawMessage) string {
	var e struct {
		Error record.Text `json:"error"`
	}
	const most = 24 // as long as the longest of our own codes, with room
	if len(result) < 1<<16 && json.Unmarshal(result, &e) == nil && e.Error != "" {
		return ui.Cut(ui.CleanLine(string(e.Error)), most)
	}
	return "error"
}

// callText is a tool call whole: arguments and result, indented where they are
// JSON, a string result as its text.
func callText(s *record.Step) string {
	var b strings.Builder
	b.WriteString("arguments ")
	b.WriteString(indented(s.Arguments))
	b.WriteString("\nresult ")
	var text record.Text
	if len(s.Result) > 0 && s.Result[0] == '"' && text.UnmarshalJSON(s.Result) == nil {
		b.WriteString(string(text))
	} else {
		b.WriteString(indented(s.Result))
	}
	return b.String()
}

func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
