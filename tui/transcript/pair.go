package transcript

import (
	"bytes"
	"strings"

	"assay/engine/record"
	"assay/tui/ui"
)

// Part is the first step in which two rollouts of a task differ: another call,
// other words, another result. It is the number of steps where only the final
// reply differs, and -1 where nothing does.
func Part(a, b *record.Sample) int {
	n := min(len(a.Rollout.Steps), len(b.Rollout.Steps))
	for i := range n {
		if !sameStep(&a.Rollout.Steps[i], &b.Rollout.Steps[i]) {
			return i
		}
	}
	if len(a.Rollout.Steps) != len(b.Rollout.Steps) || a.Rollout.FinalText != b.Rollout.FinalText || a.Rollout.Status != b.Rollout.Status {
		return n
	}
	return -1
}

func sameStep(a, b *record.Step) bool {
	return a.Kind == b.Kind && a.Text == b.Text && a.Tool == b.Tool && sameJSON(a.Arguments, b.Arguments) && sameJSON(a.Result, b.Result)
}

func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, errX := record.Canonical(a)
	y, errY := record.Canonical(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// Pair is two rollouts of a task side by side, aligned on their steps, as blocks
// for a [ui.Scroll]. Steps that are the same stand beside each other; a line says
// where the two part.
type Pair struct {
	theme       ui.Theme
	left, right *Doc
	aligned     []beside // items
	parted      int      // index into aligned of the first that differ, -1 for none
	rows        []pairRow
	gen         uint64
}

// beside is two items next to each other; -1 is none.
type beside struct{ left, right int }

// pairRow is two blocks next to each other, or the line where the two part.
type pairRow struct {
	beside
	line bool
}

// NewPair puts two rollouts side by side, their verdicts told by one threshold.
func NewPair(theme ui.Theme, a, b *record.Sample, threshold float64) *Pair {
	p := &Pair{theme: theme, left: Of(theme, a, threshold), right: Of(theme, b, threshold), parted: -1}
	part := Part(a, b)
	steps := align(a.Rollout.Steps, b.Rollout.Steps)
	headL, headR := p.left.head(), p.right.head()
	for i := range max(headL, headR) {
		p.aligned = append(p.aligned, beside{within(i, headL), within(i, headR)})
	}
	for i, s := range steps {
		if part >= 0 && p.parted < 0 && i == part {
			p.parted = len(p.aligned)
		}
		p.aligned = append(p.aligned, beside{from(s.left, headL), from(s.right, headR)})
	}
	if part >= 0 && p.parted < 0 {
		p.parted = len(p.aligned)
	}
	tailL, tailR := len(p.left.items)-p.left.tail, len(p.right.items)-p.right.tail
	for i := range max(p.left.tail, p.right.tail) {
		p.aligned = append(p.aligned, beside{from(within(i, p.left.tail), tailL), from(within(i, p.right.tail), tailR)})
	}
	p.lay()
	return p
}

func within(i, n int) int {
	if i < n {
		return i
	}
	return -1
}

func from(i, start int) int {
	if i < 0 {
		return -1
	}
	return start + i
}

// head is how many items stand before the steps.
func (d *Doc) head() int { return len(d.items) - d.tail - len(d.steps) }

// lay finds the blocks of the items.
func (p *Pair) lay() {
	p.rows = p.rows[:0]
	l, r := p.left.spans(), p.right.spans()
	for i, it := range p.aligned {
		if i == p.parted {
			p.rows = append(p.rows, pairRow{line: true})
		}
		left, right := span(l, it.left), span(r, it.right)
		for at := range max(left[1]-left[0], right[1]-right[0]) {
			p.rows = append(p.rows, pairRow{beside: beside{from(within(at, left[1]-left[0]), left[0]), from(within(at, right[1]-right[0]), right[0])}})
		}
	}
	p.gen++
}

func span(spans [][2]int, item int) [2]int {
	if item < 0 || item >= len(spans) {
		return [2]int{}
	}
	return spans[item]
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

// Parting is the row of the line where the two part; ok is false where they do not.
func (p *Pair) Parting() (row int, ok bool) {
	for i, r := range p.rows {
		if r.line {
			return i, true
		}
	}
	return 0, false
}

// Len is the number of rows.
func (p *Pair) Len() int { return len(p.rows) }

// Version tells drawn rows apart.
func (p *Pair) Version(i int) uint64 { return p.gen<<32 | uint64(uint32(i)) }

// Draw lays out a row: both sides, as high as the higher.
func (p *Pair) Draw(i, width int, look ui.Look) []string {
	row := p.rows[i]
	if row.line {
		title := " here they part "
		side := max((width-len(title))/2, 2)
		return []string{ui.Row(width, p.theme.Base(look), ui.S(p.theme.Warn, strings.Repeat("┄", side)), ui.S(p.theme.Warn.With(ui.Bold), title), ui.S(p.theme.Warn, strings.Repeat("┄", max(width-side-len(title), 0))))}
	}
	left := (width - 1) / 2
	l, r := p.side(p.left, row.left, left, look), p.side(p.right, row.right, width-1-left, look)
	for len(l) < len(r) {
		l = append(l, p.theme.Base(look).Render(ui.Spaces(left)))
	}
	for len(r) < len(l) {
		r = append(r, p.theme.Base(look).Render(ui.Spaces(width-1-left)))
	}
	return ui.Beside(p.theme, l, r)
}

func (p *Pair) side(d *Doc, block, width int, look ui.Look) []string {
	if block < 0 {
		return nil
	}
	return d.Draw(block, width, look)
}

// Toggle folds or unfolds the tool calls of a row, and gives the row where they
// stand then.
func (p *Pair) Toggle(i int) (at int, ok bool) {
	if i < 0 || i >= len(p.rows) || p.rows[i].line {
		return i, false
	}
	row := p.rows[i]
	item := beside{-1, -1}
	if row.left >= 0 {
		item.left = int(p.left.refs[row.left].item)
	}
	if row.right >= 0 {
		item.right = int(p.right.refs[row.right].item)
	}
	if row.left >= 0 {
		_, ok = p.left.Toggle(row.left)
	}
	if row.right >= 0 {
		_, other := p.right.Toggle(row.right)
		ok = ok || other
	}
	if !ok {
		return i, false
	}
	p.lay()
	for at, r := range p.rows {
		if !r.line && (r.left >= 0 && int(p.left.refs[r.left].item) == item.left || r.right >= 0 && int(p.right.refs[r.right].item) == item.right) {
			return at, true
		}
	}
	return i, true
}

// Text is what a row holds, whole and as it came, for copying.
func (p *Pair) Text(i int) string {
	if i < 0 || i >= len(p.rows) || p.rows[i].line {
		return ""
	}
	l, r := p.left.Text(p.rows[i].left), p.right.Text(p.rows[i].right)
	switch {
	case l == r || r == "":
		return l
	case l == "":
		return r
	}
	return l + "\n\n" + r
}

// Restyle changes the theme.
func (p *Pair) Restyle(theme ui.Theme) {
	p.theme = theme
	p.left.Restyle(theme)
	p.right.Restyle(theme)
	p.gen++
}

// mostAligned bounds the table of the alignment; longer conversations are put side
// by side step by step. Convention: a few milliseconds.
const mostAligned = 1 << 20

// align puts two lists of steps side by side: equal beginnings as they are, behind
// them so that equal steps, then calls of one tool, then steps of one kind, stand
// beside each other as often as can be (Needleman and Wunsch, 1970).
func align(a, b []record.Step) []beside {
	var out []beside
	at := 0
	for at < min(len(a), len(b)) && sameStep(&a[at], &b[at]) {
		out = append(out, beside{at, at})
		at++
	}
	n, m := len(a)-at, len(b)-at
	if n*m > mostAligned || n == 0 || m == 0 {
		for i := at; i < max(len(a), len(b)); i++ {
			out = append(out, beside{within(i, len(a)), within(i, len(b))})
		}
		return out
	}
	best := make([]int32, (n+1)*(m+1)) // best[i*(m+1)+j] is of a[at+i:] and b[at+j:]
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			most := max(best[(i+1)*(m+1)+j], best[i*(m+1)+j+1])
			if s := likeness(&a[at+i], &b[at+j]); s > 0 {
				most = max(most, s+best[(i+1)*(m+1)+j+1])
			}
			best[i*(m+1)+j] = most
		}
	}
	for i, j := 0, 0; i < n || j < m; {
		switch {
		case i < n && j < m && pairs(best, m, i, j, likeness(&a[at+i], &b[at+j])):
			out = append(out, beside{at + i, at + j})
			i, j = i+1, j+1
		case j == m || i < n && best[(i+1)*(m+1)+j] >= best[i*(m+1)+j+1]:
			out = append(out, beside{at + i, -1})
			i++
		default:
			out = append(out, beside{-1, at + j})
			j++
		}
	}
	return out
}

func pairs(best []int32, m, i, j int, s int32) bool {
	return s > 0 && best[i*(m+1)+j] == s+best[(i+1)*(m+1)+j+1]
}

// likeness of two steps: 0 is that they never stand side by side.
func likeness(a, b *record.Step) int32 {
	switch {
	case a.Kind != b.Kind:
		return 0
	case a.Kind != record.StepTool && a.Text == b.Text, a.Kind == record.StepTool && a.Tool == b.Tool && bytes.Equal(a.Arguments, b.Arguments):
		return 4
	case a.Kind != record.StepTool:
		return 1
	case a.Tool == b.Tool:
		return 2
	}
	return 0
}
