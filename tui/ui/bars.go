package ui

import (
	"fmt"
	"math"
	"strings"
)

// Interval is a number with its interval, as it is drawn. Lo and Hi are NaN where
// there is none, Value is NaN where there is no number.
type Interval struct{ Value, Lo, Hi float64 }

// NewInterval reads what may be missing.
func NewInterval(value, lo, hi *float64) Interval {
	read := func(v *float64) float64 {
		if v == nil {
			return math.NaN()
		}
		return *v
	}
	return Interval{read(value), read(lo), read(hi)}
}

// Known reports whether there is a number.
func (i Interval) Known() bool { return !math.IsNaN(i.Value) }

// HasBounds reports whether there is an interval.
func (i Interval) HasBounds() bool { return !math.IsNaN(i.Lo) && !math.IsNaN(i.Hi) }

// Signs of a bar.
const (
	signTrack = '─'
	signSpan  = '━'
	signPoint = '●'
	signZero  = '│'
	signBand  = '┄'
)

// IntervalBar draws a share on a track from 0 to 1 in width cells: the interval
// thick, the number as a point.
func IntervalBar(t Theme, style Style, width int, in Interval) []Span {
	return bar(t, style, width, in, 0, 1, math.NaN())
}

// DeltaBar draws a difference on a track from -reach to reach, with zero marked
// and, where band is a number, the noise band from -band to band dotted.
func DeltaBar(t Theme, style Style, width int, in Interval, reach, band float64) []Span {
	return bar(t, style, width, in, -reach, reach, band)
}

func bar(t Theme, style Style, width int, in Interval, from, to, band float64) []Span {
	if width <= 0 || to <= from {
		return nil
	}
	at := func(v float64) int {
		return max(min(int(math.Round((v-from)/(to-from)*float64(width-1))), width-1), 0)
	}
	cells := make([]rune, width)
	thick := make([]bool, width)
	for i := range cells {
		cells[i] = signTrack
	}
	if !math.IsNaN(band) {
		for i := at(-band); i <= at(band); i++ {
			cells[i] = signBand
		}
	}
	if in.HasBounds() {
		for i := at(in.Lo); i <= at(in.Hi); i++ {
			cells[i], thick[i] = signSpan, true
		}
	}
	if from < 0 && to > 0 {
		cells[at(0)], thick[at(0)] = signZero, false
	}
	if in.Known() {
		cells[at(in.Value)], thick[at(in.Value)] = signPoint, true
	}
	return runs(cells, thick, style, t.Line)
}

// runs joins cells of one style into spans.
func runs(cells []rune, thick []bool, on, off Style) []Span {
	var out []Span
	for start := 0; start < len(cells); {
		end := start + 1
		for end < len(cells) && thick[end] == thick[start] {
			end++
		}
		style := off
		if thick[start] {
			style = on
		}
		out = append(out, S(style, string(cells[start:end])))
		start = end
	}
	return out
}

// Progress draws how much of a whole is done in width cells.
func Progress(t Theme, style Style, width int, done, whole int) []Span {
	if width <= 0 {
		return nil
	}
	full := 0
	if whole > 0 {
		full = max(min(done*width/whole, width), 0)
	}
	return []Span{
		S(style, strings.Repeat(string(signSpan), full)),
		S(t.Line, strings.Repeat(string(signTrack), width-full)),
	}
}

// Sparkline draws the last width values as columns against their highest. Values
// below 0 count as 0; without a value above 0 it is flat.
func Sparkline(width int, values []float64) string {
	const columns = "▁▂▃▄▅▆▇█"
	steps := []rune(columns)
	values = values[max(len(values)-width, 0):]
	top := 0.0
	for _, v := range values {
		if !math.IsInf(v, 0) && v > top {
			top = v
		}
	}
	var b strings.Builder
	b.WriteString(Spaces(width - len(values)))
	for _, v := range values {
		i := 0
		if top > 0 && v > 0 {
			i = min(int(v/top*float64(len(steps))), len(steps)-1)
		}
		b.WriteRune(steps[i])
	}
	return b.String()
}

// Part is one piece of a whole.
type Part struct {
	Count int
	Style Style
	Sign  rune
}

// Mix draws how a whole divides in exactly width cells, by largest remainder, so
// that every part that is not empty is seen as long as there are cells for it.
func Mix(t Theme, width int, parts []Part) []Span {
	total, filled := 0, 0
	for _, p := range parts {
		if p.Count > 0 {
			total += p.Count
			filled++
		}
	}
	if total == 0 || width <= 0 || filled > width {
		return []Span{S(t.Line, strings.Repeat(string(signTrack), max(width, 0)))}
	}
	cells := make([]int, len(parts))
	rest := make([]float64, len(parts))
	left := width
	for i, p := range parts {
		if p.Count <= 0 {
			continue
		}
		exact := float64(p.Count) / float64(total) * float64(width)
		cells[i] = max(int(exact), 1)
		rest[i] = exact - float64(cells[i])
		left -= cells[i]
	}
	for ; left != 0; left -= sign(left) {
		best := -1
		for i, p := range parts {
			if p.Count <= 0 || left < 0 && cells[i] <= 1 {
				continue
			}
			if best < 0 || float64(sign(left))*(rest[i]-rest[best]) > 0 {
				best = i
			}
		}
		cells[best] += sign(left)
		rest[best] -= float64(sign(left))
	}
	out := make([]Span, 0, len(parts))
	for i, p := range parts {
		if cells[i] > 0 {
			out = append(out, S(p.Style, strings.Repeat(string(p.Sign), cells[i])))
		}
	}
	return out
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

// Share is a number from 0 to 1 in two decimals without the zero in front, as the
// field prints rates: .85, 1.0; a dash where there is none.
func Share(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case v >= 0.995 && v <= 1:
		if v == 1 {
			return "1.0"
		}
		return ">.99" // not all of them
	case v > 0 && v < 0.005:
		return "<.01"
	case v >= 0 && v < 1:
		return fmt.Sprintf("%.2f", v)[1:]
	}
	return fmt.Sprintf("%.2f", v)
}

// Signed is a difference with its sign, in three decimals without the zero in
// front: +.123, -.045, 0.
func Signed(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case v == 0:
		return "0"
	case math.Abs(v) < 0.0005:
		return fmt.Sprintf("%+.0e", v)
	}
	s := fmt.Sprintf("%+.3f", v)
	if math.Abs(v) < 0.9995 {
		s = s[:1] + s[2:]
	}
	return s
}

// Bounds is an interval in brackets, "" where there is none.
func (i Interval) Bounds() string {
	if !i.HasBounds() {
		return ""
	}
	return "[" + Share(i.Lo) + ", " + Share(i.Hi) + "]"
}
