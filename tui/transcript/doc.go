// Package transcript shows what happened in a rollout: who said what, tool calls
// folded to a line with their outcome, injected faults marked, and at the end the
// verdict with its reason.
//
// A [Doc] is the conversation as blocks for a [ui.Scroll]. Building one reads
// nothing and lays nothing out, so it may be done in a command; text is cleaned,
// wrapped and drawn when it comes into sight. Long text is divided, so a reply of
// megabytes can be read to its last byte at the cost of a short one.
//
// A Doc belongs to one goroutine at a time.
package transcript

import (
	"assay/engine/record"
	"assay/tui/ui"
)

// kind of an item.
type kind uint8

const (
	kindFacts kind = iota
	kindUser
	kindAgent
	kindTool
	kindStream
	kindHeading
	kindVerdict
	kindMarker
	kindNote
)

// item is one thing in a conversation. Its text is divided into slices; a folded
// tool call has one block, an open one a block for each slice too.
type item struct {
	kind   kind
	step   int      // index into steps for a tool call
	slices []string // raw: cleaned when drawn
	mark   ui.Mark
	title  string // clean
}

// ref is one block: an item, and which part of it.
type ref struct {
	item  int32
	slice int32 // -1 is the head line of a tool call
}

// Doc is one conversation.
type Doc struct {
	theme ui.Theme
	steps []record.Step
	items []item
	refs  []ref
	open  map[int]bool     // tool calls that are unfolded, by index of the step
	flags map[int][]string // what markers found at a step, clean
	// evidence is what verdicts rest on, by step, and query what is looked for: both
	// are lit wherever they stand.
	evidence map[int][]string
	query    string
	gen      uint64 // changes whenever items are replaced
	streams  uint64 // how often the stream changed
	tail     int    // items that stand behind the steps: stream, final, verdict
}

// New is a conversation that begins with what was asked. facts is a line about
// the task, "" for none.
func New(theme ui.Theme, facts string, ask record.Text) *Doc {
	d := &Doc{theme: theme, open: map[int]bool{}}
	if facts != "" {
		d.add(item{kind: kindFacts, title: ui.CleanLine(facts)})
	}
	d.add(item{kind: kindUser, slices: ui.Slices(string(ask))})
	return d
}

// Of is the whole conversation of a saved rollout, its verdict told by the run's
// pass threshold.
func Of(theme ui.Theme, s *record.Sample, threshold float64) *Doc {
	ask := s.Rollout.Prompt
	facts := ""
	if s.Task != nil {
		if ask == "" {
			ask = s.Task.Ask
		}
		facts = Facts(s.Task, s.HeldOut, s.Rollout.Key)
	}
	d := New(theme, facts, ask)
	d.flags, d.evidence = flagsOf(s), evidenceOf(s)
	d.Append(s.Rollout.Steps)
	d.finish(s, threshold)
	return d
}

// Steps is how many steps are shown.
func (d *Doc) Steps() int { return len(d.steps) }

// Append adds steps as they happen.
func (d *Doc) Append(steps []record.Step) {
	d.dropTail()
	for i := range steps {
		at := len(d.steps) + i
		switch s := &steps[i]; s.Kind {
		case record.StepUser:
			d.add(item{kind: kindUser, step: at, slices: ui.Slices(string(s.Text))})
		case record.StepText:
			d.add(item{kind: kindAgent, step: at, slices: ui.Slices(string(s.Text))})
		default:
			d.add(item{kind: kindTool, step: at})
		}
	}
	d.steps = append(d.steps, steps...)
}

// Stream shows what is being said right now, behind the steps; "" shows that
// something is awaited.
func (d *Doc) Stream(text record.Text) {
	d.dropTail()
	d.streams++
	d.addTail(item{kind: kindStream, slices: ui.Slices(string(text))})
}

// Restyle changes the theme.
func (d *Doc) Restyle(theme ui.Theme) {
	d.theme = theme
	d.gen++
}

// SameFolds takes over which tool calls are unfolded in another state of the same
// conversation.
func (d *Doc) SameFolds(other *Doc) {
	for step := range other.open {
		if step < len(d.steps) {
			d.open[step] = true
		}
	}
	for i := range d.items {
		if it := &d.items[i]; it.kind == kindTool && d.open[it.step] {
			d.unfold(it)
		}
	}
	d.index()
}

func (d *Doc) add(it item) {
	d.items = append(d.items, it)
	d.indexItem(len(d.items) - 1)
}

func (d *Doc) addTail(it item) {
	d.tail++
	d.add(it)
}

func (d *Doc) dropTail() {
	if d.tail == 0 {
		return
	}
	d.items = d.items[:len(d.items)-d.tail]
	for len(d.refs) > 0 && int(d.refs[len(d.refs)-1].item) >= len(d.items) {
		d.refs = d.refs[:len(d.refs)-1]
	}
	d.tail = 0
}

func (d *Doc) index() {
	d.refs = d.refs[:0]
	for i := range d.items {
		d.indexItem(i)
	}
}

func (d *Doc) indexItem(i int) {
	it := &d.items[i]
	if it.kind == kindTool || len(it.slices) == 0 {
		d.refs = append(d.refs, ref{int32(i), -1})
		if it.kind == kindTool && !d.open[it.step] {
			return
		}
	}
	for s := range it.slices {
		d.refs = append(d.refs, ref{int32(i), int32(s)})
	}
}

// Toggle folds or unfolds the tool call of a block and gives the block where its
// line stands then; ok is false where the block is none of a tool call.
func (d *Doc) Toggle(block int) (at int, ok bool) {
	if block < 0 || block >= len(d.refs) {
		return block, false
	}
	i := int(d.refs[block].item)
	it := &d.items[i]
	if it.kind != kindTool {
		return block, false
	}
	if d.open[it.step] {
		delete(d.open, it.step)
	} else {
		d.open[it.step] = true
		d.unfold(it)
	}
	d.index()
	for at := range d.refs {
		if int(d.refs[at].item) == i {
			return at, true
		}
	}
	return block, true
}

// unfold gives a tool call its text; a folded one has none.
func (d *Doc) unfold(it *item) {
	if it.slices == nil {
		it.slices = ui.Slices(callText(&d.steps[it.step]))
	}
}

// Len is the number of blocks.
func (d *Doc) Len() int { return len(d.refs) }

// Version tells drawn blocks apart.
func (d *Doc) Version(block int) uint64 {
	r := d.refs[block]
	it := &d.items[r.item]
	v := d.gen<<56 | uint64(r.item)<<24 | uint64(uint32(r.slice+1))<<2
	if it.kind == kindTool && d.open[it.step] {
		v |= 1
	}
	if it.kind == kindStream {
		return 1<<63 | d.streams<<24 | uint64(uint32(r.slice+1))
	}
	return v
}

// Text is what a block's item holds, whole and as it came, for copying.
func (d *Doc) Text(block int) string {
	if block < 0 || block >= len(d.refs) {
		return ""
	}
	it := &d.items[d.refs[block].item]
	if it.kind == kindTool {
		s := &d.steps[it.step]
		return s.Tool + " " + string(s.Arguments) + "\n" + string(s.Result)
	}
	out := it.title
	for i, s := range it.slices {
		if i > 0 || out != "" && len(it.slices) > 0 {
			out += "\n"
		}
		out += s
	}
	return out
}
