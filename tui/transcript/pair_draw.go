package transcript

import (
	"strings"

	"assay/tui/ui"
)

// pairGutter is the width of the column between the sides: a sign with a space beside.
const pairGutter = 3

// Len is the number of blocks.
func (p *Pair) Len() int { return len(p.refs) }

// Version tells drawn blocks apart.
func (p *Pair) Version(block int) uint64 { return p.gen<<32 | uint64(uint32(block)) }

// blockOf is the nth block of an item on its side.
func (p *Pair) blockOf(s Side, item, n int) (at int, ok bool) {
	if !p.shows(s) || n >= p.blocks(s, item) {
		return 0, false
	}
	return p.spans[s][item][0] + n, true
}

// Draw lays out a block: both sides, as high as the higher, or one alone.
func (p *Pair) Draw(block, width int, look ui.Look) []string {
	r := p.refs[block]
	switch {
	case r.block < 0:
		return []string{p.partLine(width, look)}
	case p.alone:
		return p.drawAlone(r, width, look)
	}
	row, base := p.rows[r.row], p.theme.Base(look)
	widths := [2]int{max((width-pairGutter)/2, 0), max(width-pairGutter-(width-pairGutter)/2, 0)}
	var cells [2][]string
	for side, item := range row.items {
		if at, ok := p.blockOf(Side(side), item, r.block); ok {
			cells[side] = p.docs[side].Draw(at, widths[side], look)
		}
	}
	sign := p.sign(same)
	if r.block == 0 {
		sign = p.sign(row.same)
	}
	lines := make([]string, max(len(cells[Left]), len(cells[Right]), 1))
	for i := range lines {
		middle := ui.Row(pairGutter, base, ui.S(base, " "), sign, ui.S(base, " "))
		lines[i] = pairCell(cells[Left], i, widths[Left], base) + middle + pairCell(cells[Right], i, widths[Right], base)
		sign = p.sign(same)
	}
	return lines
}

func pairCell(lines []string, i, width int, base ui.Style) string {
	if i < len(lines) {
		return lines[i]
	}
	return base.Render(ui.Spaces(width))
}

// drawAlone is one side with the row's sign before it.
func (p *Pair) drawAlone(r pairRef, width int, look ui.Look) []string {
	row, base := p.rows[r.row], p.theme.Base(look)
	at, ok := p.blockOf(p.side, row.items[p.side], r.block)
	if !ok {
		return []string{base.Render(ui.Spaces(width))}
	}
	lines := p.docs[p.side].Draw(at, max(width-2, 1), look)
	for i := range lines {
		lead := ui.S(base, "  ")
		if i == 0 && r.block == 0 && row.same != same {
			lead = p.sign(row.same)
		}
		lines[i] = ui.Row(2, base, lead) + lines[i]
	}
	return lines
}

// sign says how the two of a row stand to each other.
func (p *Pair) sign(s sameness) ui.Span {
	t := p.theme
	switch s {
	case reworded:
		return ui.S(t.Quiet, "~")
	case differs:
		return ui.S(t.Warn, "≠")
	case onlyLeft:
		return ui.S(t.Warn, "◂")
	case onlyRight:
		return ui.S(t.Warn, "▸")
	}
	return ui.S(t.Line, "│")
}

// partLine is the line across where the two part.
func (p *Pair) partLine(width int, look ui.Look) string {
	t := p.theme
	const says = " here they part "
	rest := max(width-ui.Width(says)-1, 0)
	lead := ui.S(t.Warn, "┄")
	if look == ui.Active {
		lead = ui.S(t.Accent, "▎")
	}
	return ui.Row(width, t.Base(look), lead, ui.S(t.Warn, strings.Repeat("┄", rest/2)), ui.S(t.Warn.With(ui.Bold), says), ui.S(t.Warn, strings.Repeat("┄", rest-rest/2)))
}
