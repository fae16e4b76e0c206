package delta

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// forest is a picture of changes, a line each: a dot, the interval around it, zero in
// the middle, and behind it the noise between eval runs where it is known.
type forest struct {
	title string
	lines []forestLine
}

type forestLine struct {
	name, says   string
	figure       string // the change as the table writes it
	class        string // how the dot and the interval look
	at           float64
	lo, hi, band *float64
}

// Sizes of the picture, in CSS pixels. Conventions, untested: a name of thirty letters,
// lines as high as text.
const (
	forestName   = 240
	forestPlot   = 420
	forestFigure = 70
	forestSays   = 330
	forestLineAt = 24
	nameLetters  = 32
	saysLetters  = 48
)

// draw writes the picture as inline SVG; nothing where there is nothing to show.
func (f *forest) draw(b *strings.Builder) {
	if len(f.lines) == 0 {
		return
	}
	width, height := forestName+forestPlot+forestFigure+forestSays, forestLineAt*(len(f.lines)+1)
	reach := f.reach()
	x := func(v float64) float64 {
		return forestName + forestPlot/2 + math.Max(-1, math.Min(1, v/reach))*(forestPlot/2-8)
	}
	fmt.Fprintf(b, `<svg role="img" viewBox="0 0 %d %d" width="%d" height="%d"><title>%s</title>`+"\n", width, height, width, height, shown(f.title))
	bottom := forestLineAt * len(f.lines)
	for _, v := range []float64{-reach, 0, reach} {
		dash := ""
		if v != 0 {
			dash = ` stroke-dasharray="2 4"`
		}
		fmt.Fprintf(b, `<line x1="%.1f" y1="0" x2="%.1f" y2="%d" stroke="var(--quiet)"%s/><text x="%.1f" y="%d" text-anchor="middle">%+.2g</text>`+"\n", x(v), x(v), bottom, dash, x(v), bottom+17, v)
	}
	for i, l := range f.lines {
		mid := forestLineAt*i + forestLineAt/2
		fmt.Fprintf(b, `<g class="%s">`, l.class)
		if l.band != nil {
			fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="14" fill="var(--band)"/>`, x(-*l.band), mid-7, x(*l.band)-x(-*l.band))
		}
		fmt.Fprintf(b, `<text x="0" y="%d">%s<title>%s</title></text>`, mid+5, shown(shortened(l.name, nameLetters)), shown(l.name))
		if l.lo != nil && l.hi != nil {
			fmt.Fprintf(b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="currentColor" stroke-width="2"/>`, x(*l.lo), mid, x(*l.hi), mid)
		}
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%d" r="4" fill="currentColor"/>`, x(l.at), mid)
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, forestName+forestPlot+forestFigure-14, mid+5, shown(l.figure))
		fmt.Fprintf(b, `<text x="%d" y="%d">%s<title>%s</title></text></g>`+"\n", forestName+forestPlot+forestFigure, mid+5, shown(shortened(l.says, saysLetters)), shown(l.says))
	}
	b.WriteString("</svg>\n")
}

// reach is how far the scale goes to either side: over every interval and all noise.
func (f *forest) reach() float64 {
	most := 0.0
	for _, l := range f.lines {
		most = math.Max(most, math.Abs(l.at))
		for _, v := range []*float64{l.lo, l.hi, l.band} {
			if v != nil {
				most = math.Max(most, math.Abs(*v))
			}
		}
	}
	if most == 0 || math.IsInf(most, 0) || math.IsNaN(most) {
		return 1
	}
	return most
}

func shortened(s string, letters int) string {
	if utf8.RuneCountInString(s) <= letters {
		return s
	}
	return string([]rune(s)[:letters-1]) + "…"
}
