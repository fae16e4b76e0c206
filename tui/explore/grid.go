package explore

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"assay/engine/record"
	"assay/store"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// grid is the map: the failure rate of every pair of values of two axes.
type grid struct {
	down, across int // indices into gridFields
	rows, cols   []string
	cells        map[[2]string]store.Tally
	row, col     int // the cell under the cursor
	top, left    int // the first that are seen
}

func newGrid() grid { return grid{down: 0, across: 2} }

// gridFields are the fields that make an axis of the map.
func gridFields() []string { return append(record.AxisNames(), "fault", "failure_class", "arm") }

func (g *grid) names() []string {
	fields := gridFields()
	return []string{fields[g.down], fields[g.across]}
}

// turn goes to the next field on one of the axes, past the one on the other.
func (g *grid) turn(across bool) {
	axis, other := &g.down, g.across
	if across {
		axis, other = &g.across, g.down
	}
	n := len(gridFields())
	*axis = (*axis + 1) % n
	if *axis == other {
		*axis = (*axis + 1) % n
	}
	g.rows, g.cols, g.cells = nil, nil, nil
	g.row, g.col, g.top, g.left = 0, 0, 0, 0
}

// fill takes the tallies of pairs of values. Values stand in the order of their
// failures, most first.
func (g *grid) fill(tallies []store.Tally) {
	g.cells = make(map[[2]string]store.Tally, len(tallies))
	down, across := map[string]store.Tally{}, map[string]store.Tally{}
	add := func(to map[string]store.Tally, value string, t store.Tally) {
		sum := to[value]
		sum.Graded, sum.Passed = sum.Graded+t.Graded, sum.Passed+t.Passed
		to[value] = sum
	}
	for _, t := range tallies {
		g.cells[[2]string{t.Values[0], t.Values[1]}] = t
		add(down, t.Values[0], t)
		add(across, t.Values[1], t)
	}
	g.rows, g.cols = byFailures(down), byFailures(across)
	g.row, g.col = max(min(g.row, len(g.rows)-1), 0), max(min(g.col, len(g.cols)-1), 0)
}

func byFailures(values map[string]store.Tally) []string {
	out := make([]string, 0, len(values))
	for v := range values {
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(values[b].Failed()-values[a].Failed(), values[b].Graded-values[a].Graded, cmp.Compare(a, b))
	})
	return out
}

func (g *grid) move(id string) bool {
	switch id {
	case ui.Up:
		g.row--
	case ui.Down:
		g.row++
	case ui.Left:
		g.col--
	case ui.Right:
		g.col++
	case ui.Top:
		g.row = 0
	case ui.Bottom:
		g.row = len(g.rows) - 1
	case ui.PageUp, ui.PageDown:
	default:
		return false
	}
	g.row = max(min(g.row, len(g.rows)-1), 0)
	g.col = max(min(g.col, len(g.cols)-1), 0)
	return true
}

// under is the cell under the cursor; ok is false where the map is empty.
func (g *grid) under() (down, across string, t store.Tally, ok bool) {
	if g.row >= len(g.rows) || g.col >= len(g.cols) {
		return "", "", store.Tally{}, false
	}
	down, across = g.rows[g.row], g.cols[g.col]
	return down, across, g.cells[[2]string{down, across}], true
}

// leastCell is the narrowest column that holds a rate with its n.
const leastCell = 11

// View draws the map: a row of names, the cells, and a line on the one under the
// cursor.
func (g *grid) View(t ui.Theme, width, height int) []string {
	if len(g.rows) == 0 || height < 3 {
		return nil
	}
	names := g.names()
	side := ui.Width(names[0]) + 2
	for _, v := range g.rows {
		side = max(side, ui.Width(valueText(v, width))+2)
	}
	side = min(side, max(width/3, 12))
	cell := max(min((width-side)/max(len(g.cols), 1), 18), leastCell)
	seen := max((width-side)/cell, 1)
	g.left = window(g.left, g.col, seen, len(g.cols))
	rows := max(height-3, 1)
	g.top = window(g.top, g.row, rows, len(g.rows))
	right := min(g.left+seen, len(g.cols))

	head := []ui.Span{ui.S(t.Quiet, ui.Pad(" "+names[0]+" ╲ "+names[1], side))}
	for c := g.left; c < right; c++ {
		style := t.Quiet
		if c == g.col {
			style = t.Strong
		}
		head = append(head, ui.S(style, ui.Pad(" "+valueText(g.cols[c], cell-2), cell)))
	}
	if right < len(g.cols) {
		head = append(head, ui.S(t.Quiet, "…"))
	}
	lines := []string{ui.Row(width, ui.Style{}, head...)}
	for r := g.top; r < min(g.top+rows, len(g.rows)); r++ {
		style := t.Text
		if r == g.row {
			style = t.Strong
		}
		spans := []ui.Span{transcript.Cursor(t, ui.Plain), ui.S(style, ui.Pad(valueText(g.rows[r], side-2), side-1))}
		for c := g.left; c < right; c++ {
			spans = append(spans, g.cell(t, r, c, cell))
		}
		lines = append(lines, ui.Row(width, ui.Style{}, spans...))
	}
	for len(lines) < height-1 {
		lines = append(lines, ui.Spaces(width))
	}
	return append(lines, g.foot(t, width))
}

// window keeps a place among n in sight of so many.
func window(first, at, seen, n int) int {
	first = max(min(first, at), at-seen+1)
	return max(min(first, n-seen), 0)
}

// shades say a failure rate without colour: the fuller the more.
var shades = [...]string{"·", "░", "▒", "▓", "█"}

func (g *grid) cell(t ui.Theme, r, c, width int) ui.Span {
	tally, ok := g.cells[[2]string{g.rows[r], g.cols[c]}]
	text, style := "", t.Quiet
	switch {
	case ok && tally.Graded > 0:
		rate := float64(tally.Failed()) / float64(tally.Graded)
		shade := shades[min(int(math.Ceil(rate*float64(len(shades)-1))), len(shades)-1)]
		text = fmt.Sprintf(" %s %s n%d", shade, ui.PadLeft(ui.Share(rate), 4), tally.Graded)
		style = rateStyle(t, rate)
	case ok:
		text = fmt.Sprintf(" ? %d", tally.Done+tally.Lost)
	default:
		text = " –"
	}
	if r == g.row && c == g.col {
		style = style.With(ui.Reverse)
	}
	return ui.S(style, ui.Pad(text, width))
}

// rateStyle grows with a failure rate.
func rateStyle(t ui.Theme, rate float64) ui.Style {
	switch {
	case rate >= 0.5:
		return t.Bad.With(ui.Bold)
	case rate > 0.2:
		return t.Bad
	case rate > 0:
		return t.Warn
	}
	return t.Good
}

func (g *grid) foot(t ui.Theme, width int) string {
	down, across, tally, ok := g.under()
	if !ok {
		return ui.Spaces(width)
	}
	names := g.names()
	in := failureRate(tally)
	return ui.Row(width, ui.Style{}, ui.S(t.Quiet, " "+names[0]+" "), ui.S(t.Text, valueText(down, width/3)), ui.S(t.Quiet, "  "+names[1]+" "), ui.S(t.Text, valueText(across, width/3)),
		ui.S(t.Quiet, "   failed "), ui.S(t.Strong, fmt.Sprintf("%d of %d", tally.Failed(), tally.Graded)), ui.S(t.Quiet, " in "+ui.Plural(tally.Tasks, "task")+"  "), ui.S(t.Strong, ui.Share(in.Value)), ui.S(t.Text, " "+in.Bounds()))
}
