package label

import "assay/tui/ui"

// leaf is text to be read beside the cards: a block a paragraph, with headings.
type leaf struct {
	theme  ui.Theme
	blocks []paragraph
}

type paragraph struct {
	heading bool
	text    string // raw: cleaned when drawn
}

func (l *leaf) add(title, text string) {
	l.blocks = append(l.blocks, paragraph{heading: true, text: title})
	for _, slice := range ui.Slices(text) {
		l.blocks = append(l.blocks, paragraph{text: slice})
	}
}

// Len is the number of blocks.
func (l *leaf) Len() int { return len(l.blocks) }

// Version is the same for all time: the text stays.
func (l *leaf) Version(i int) uint64 { return uint64(i) }

// Draw lays out a paragraph.
func (l *leaf) Draw(i, width int, look ui.Look) []string {
	t, b := l.theme, l.blocks[i]
	style := t.Text
	if b.heading {
		style = t.Strong
	}
	var lines []string
	for _, line := range ui.Wrap(ui.Clean(b.text), width-2) {
		lines = append(lines, ui.Row(width, ui.Style{}, ui.S(style, " "+line)))
	}
	return lines
}
