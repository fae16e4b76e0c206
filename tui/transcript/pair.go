package transcript

import (
	"fmt"

	"assay/engine/record"
	"assay/tui/ui"
)

// Side is one of the two rollouts of a pair.
type Side uint8

// Sides of a pair.
const (
	Left Side = iota
	Right
)

// Pair is two rollouts of a task side by side, aligned on their steps, as blocks for a
// [ui.Scroll]. Between them stands how the two of a row are to each other, and a line
// says where they part.
type Pair struct {
	theme ui.Theme
	gen   uint64
	docs  [2]*Doc
	steps [2][]record.Step
	rows  []pairRow
	parts int         // row, -1 where they do not part
	refs  []pairRef   // blocks
	spans [2][][2]int // where the blocks of each side's items begin and end
	alone bool        // one side is shown by itself
	side  Side        // which
}

// pairRow is an item of each side, -1 where there is none.
type pairRow struct {
	items [2]int
	same  sameness
}

// pairRef is one block: a row, and which block of its items; -1 is the line that says
// where the two part.
type pairRef struct{ row, block int }

// NewPair puts two rollouts side by side, their verdicts told by one threshold.
func NewPair(theme ui.Theme, a, b *record.Sample, threshold float64) *Pair {
	p := &Pair{theme: theme, parts: -1, docs: [2]*Doc{Of(theme, a, threshold), Of(theme, b, threshold)},
		steps: [2][]record.Step{a.Rollout.Steps, b.Rollout.Steps}}
	left, right := p.docs[Left], p.docs[Right]
	headL, headR := left.head(), right.head()
	p.beside(0, headL, 0, headR)
	steps := align(p.steps[Left], p.steps[Right])
	part := parting(steps, p.steps[Left], p.steps[Right])
	for i, s := range steps {
		if i == part {
			p.parts = len(p.rows)
		}
		p.rows = append(p.rows, pairRow{[2]int{from(s.left, headL), from(s.right, headR)}, s.same})
	}
	reply := len(p.rows)
	p.beside(len(left.items)-left.tail, len(left.items), len(right.items)-right.tail, len(right.items))
	if reply < len(p.rows) && (a.Rollout.FinalText != b.Rollout.FinalText || a.Rollout.Status != b.Rollout.Status) {
		p.rows[reply].same = reworded
		if p.parts < 0 {
			p.parts = reply
		}
	}
	p.lay()
	return p
}

// head is how many items stand before the steps.
func (d *Doc) head() int { return len(d.items) - d.tail - len(d.steps) }

// beside sets items side by side as they come.
func (p *Pair) beside(l, toL, r, toR int) {
	for l < toL || r < toR {
		row := pairRow{items: [2]int{-1, -1}}
		if l < toL {
			row.items[Left] = l
			l++
		}
		if r < toR {
			row.items[Right] = r
			r++
		}
		p.rows = append(p.rows, row)
	}
}

// lay finds the blocks of the rows.
func (p *Pair) lay() {
	p.gen++
	p.refs = p.refs[:0]
	for side, d := range p.docs {
		p.spans[side] = d.spans()
	}
	for at, row := range p.rows {
		if at == p.parts {
			p.refs = append(p.refs, pairRef{at, -1})
		}
		most := 0
		for side, item := range row.items {
			if p.shows(Side(side)) {
				most = max(most, p.blocks(Side(side), item))
			}
		}
		for block := range most {
			p.refs = append(p.refs, pairRef{at, block})
		}
	}
}

// spans is where the blocks of each item begin and end.
func (d *Doc) spans() [][2]int {
	out := make([][2]int, len(d.items))
	for at, r := range d.refs {
		if s := &out[r.item]; s[1] == 0 {
			*s = [2]int{at, at + 1}
		} else {
			s[1] = at + 1
		}
	}
	return out
}

func (p *Pair) shows(s Side) bool { return !p.alone || p.side == s }

// blocks is how many blocks an item has, 0 for none.
func (p *Pair) blocks(s Side, item int) int {
	if item < 0 {
		return 0
	}
	return p.spans[s][item][1] - p.spans[s][item][0]
}

// Alone shows one side by itself, for a window that is too narrow for two, and Both
// the two again. They give the block where what stood at the given one stands then.
func (p *Pair) Alone(s Side, block int) int {
	if p.alone && p.side == s {
		return block
	}
	return p.show(true, s, block)
}

// Both shows the two sides.
func (p *Pair) Both(block int) int {
	if !p.alone {
		return block
	}
	return p.show(false, p.side, block)
}

func (p *Pair) show(alone bool, s Side, block int) int {
	row := 0
	if block >= 0 && block < len(p.refs) {
		row = p.refs[block].row
	}
	p.alone, p.side = alone, s
	p.lay()
	for i, r := range p.refs {
		if r.row >= row {
			return i
		}
	}
	return max(len(p.refs)-1, 0)
}

// Restyle changes the theme.
func (p *Pair) Restyle(theme ui.Theme) {
	p.theme = theme
	p.gen++
	for _, d := range p.docs {
		d.Restyle(theme)
	}
}

// Parting is the block of the line where the two part; ok is false where they do not.
func (p *Pair) Parting() (block int, ok bool) {
	for at, r := range p.refs {
		if r.block < 0 {
			return at, true
		}
	}
	return 0, false
}

// Says is in a sentence where the two part; the names, clean, are what it calls them.
func (p *Pair) Says(left, right string) string {
	if p.parts < 0 {
		return "they never part: the same steps, the same words"
	}
	row := p.rows[p.parts]
	l, at := p.step(Left, row)
	r, atRight := p.step(Right, row)
	switch {
	case l == nil && r == nil:
		return "the same steps, and another end"
	case r == nil:
		return fmt.Sprintf("they part at step %d: only %s %s", at+1, left, does(l))
	case l == nil:
		return fmt.Sprintf("they part at step %d: only %s %s", atRight+1, right, does(r))
	case row.same == reworded:
		return fmt.Sprintf("they part at step %d, in words alone", at+1)
	case canonical(l.Arguments) != canonical(r.Arguments):
		return fmt.Sprintf("they part at step %d: both call %s, with other arguments", at+1, ui.CleanLine(l.Tool))
	}
	return fmt.Sprintf("they part at step %d: both call %s alike, and are answered otherwise", at+1, ui.CleanLine(l.Tool))
}

func does(s *record.Step) string {
	switch s.Kind {
	case record.StepTool:
		return "calls " + ui.CleanLine(s.Tool)
	case record.StepUser:
		return "hears the user again"
	}
	return "says something"
}

// step is the step of a row's item, nil where it is none.
func (p *Pair) step(s Side, row pairRow) (*record.Step, int) {
	at := row.items[s] - p.docs[s].head()
	if row.items[s] < 0 || at < 0 || at >= len(p.steps[s]) {
		return nil, -1
	}
	return &p.steps[s][at], at
}

// Difference is the next block in a direction, 1 or -1, where a row begins that is not
// the same on both sides; ok is false where there is none.
func (p *Pair) Difference(block, by int) (at int, ok bool) {
	row := -1
	if block >= 0 && block < len(p.refs) {
		row = p.refs[block].row
	}
	for i := block + by; i >= 0 && i < len(p.refs); i += by {
		begins := i == 0 || p.refs[i-1].row != p.refs[i].row
		if begins && p.refs[i].row != row && p.rows[p.refs[i].row].same != same {
			return i, true
		}
	}
	return block, false
}

// Toggle folds or unfolds the tool calls of a block's row, on both sides alike, and
// gives the block where the row begins then; ok is false where it has none.
func (p *Pair) Toggle(block int) (at int, ok bool) {
	if block < 0 || block >= len(p.refs) {
		return block, false
	}
	row := p.refs[block].row
	open := false
	for side, item := range p.rows[row].items {
		open = open || p.shows(Side(side)) && p.blocks(Side(side), item) > 1
	}
	for side, item := range p.rows[row].items {
		s, _ := p.step(Side(side), p.rows[row])
		if s == nil || s.Kind != record.StepTool {
			continue
		}
		ok = true
		if (p.blocks(Side(side), item) > 1) == open {
			p.docs[side].Toggle(p.spans[side][item][0])
		}
	}
	if !ok {
		return block, false
	}
	p.lay()
	for i, r := range p.refs {
		if r.row == row && r.block >= 0 {
			return i, true
		}
	}
	return block, true
}

// Text is what a block's row holds on both sides, whole and as it came, for copying;
// TextOf what it holds on one.
func (p *Pair) Text(block int) string {
	l, r := p.TextOf(block, Left), p.TextOf(block, Right)
	switch {
	case l == r || r == "":
		return l
	case l == "":
		return r
	}
	return l + "\n\n" + r
}

// TextOf is the text of one side.
func (p *Pair) TextOf(block int, s Side) string {
	if block < 0 || block >= len(p.refs) {
		return ""
	}
	item := p.rows[p.refs[block].row].items[s]
	if p.blocks(s, item) == 0 {
		return ""
	}
	return p.docs[s].Text(p.spans[s][item][0])
}
