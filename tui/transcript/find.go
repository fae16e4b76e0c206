package transcript

import (
	"strings"

	"assay/engine/record"
	"assay/tui/ui"
)

// Hit is a place in a conversation where a text was found.
type Hit struct{ item, slice int32 }

// maxHits bounds what a search finds. Convention: more than anybody goes through.
const maxHits = 10_000

// Finder is a search through a conversation as it is now. It reads what does not
// change any more, so it may run beside the loop.
type Finder struct {
	steps []record.Step
	items []item
	query string
}

// Finder makes a search for words, in any case.
func (d *Doc) Finder(query string) Finder {
	return Finder{steps: d.steps, items: d.items, query: strings.ToLower(query)}
}

// Hits is where the words stand, in order, folded tool calls included.
func (f Finder) Hits() []Hit {
	if f.query == "" {
		return nil
	}
	var hits []Hit
	for i := range f.items {
		it := &f.items[i]
		texts := it.slices
		if it.kind == kindTool {
			s := &f.steps[it.step]
			if f.in(s.Tool) {
				hits = append(hits, Hit{int32(i), -1})
			}
			if texts == nil {
				texts = ui.Slices(callText(s))
			}
		} else if f.in(it.title) {
			hits = append(hits, Hit{int32(i), -1})
		}
		for at, text := range texts {
			if f.in(text) {
				hits = append(hits, Hit{int32(i), int32(at)})
			}
		}
		if len(hits) >= maxHits {
			return hits[:maxHits]
		}
	}
	return hits
}

func (f Finder) in(text string) bool { return strings.Contains(strings.ToLower(text), f.query) }

// Show gives the block where a hit stands, unfolding its tool call.
func (d *Doc) Show(h Hit) (block int) {
	if int(h.item) >= len(d.items) {
		return 0
	}
	it := &d.items[h.item]
	if it.kind == kindTool && h.slice >= 0 && !d.open[it.step] {
		d.open[it.step] = true
		d.unfold(it)
		d.index()
	}
	first := d.blockOf(int(h.item))
	for at := first; at < len(d.refs) && d.refs[at].item == h.item; at++ {
		if d.refs[at].slice == h.slice {
			return at
		}
	}
	return first
}

// Light has words stand out wherever they are, "" none.
func (d *Doc) Light(query string) {
	d.query = strings.ToLower(query)
	d.gen++
}

// blockOf is the first block of an item.
func (d *Doc) blockOf(item int) int {
	for at := range d.refs {
		if int(d.refs[at].item) == item {
			return at
		}
	}
	return 0
}

// NextCall is the tool call after a block, or with by -1 the one before.
func (d *Doc) NextCall(block, by int) (at int, ok bool) {
	return d.next(block, by, func(it *item) bool { return it.kind == kindTool })
}

// NextTrouble is the failed or faulty tool call, or the step that a rule holds
// against the agent or a verdict rests on, after a block or before it.
func (d *Doc) NextTrouble(block, by int) (at int, ok bool) {
	return d.next(block, by, func(it *item) bool {
		if it.kind == kindTool && (d.steps[it.step].IsError || d.steps[it.step].Fault != "") {
			return true
		}
		switch it.kind {
		case kindTool, kindAgent:
			return len(d.flags[it.step]) > 0 || len(d.evidence[it.step]) > 0
		case kindVerdict:
			return true
		}
		return false
	})
}

func (d *Doc) next(block, by int, wanted func(*item) bool) (at int, ok bool) {
	if block < 0 || block >= len(d.refs) {
		return block, false
	}
	for i := int(d.refs[block].item) + by; i >= 0 && i < len(d.items); i += by {
		if wanted(&d.items[i]) {
			return d.blockOf(i), true
		}
	}
	return block, false
}

// lit divides a line so that what is looked for stands out, and what a verdict
// rests on.
func (p pen) lit(style ui.Style, line string) []ui.Span {
	for _, fragment := range p.evidence {
		if from, to, ok := overlap(line, fragment); ok {
			return p.around(style, line, from, to, p.theme.Warn.With(ui.Underline))
		}
	}
	if p.query != "" {
		if low := strings.ToLower(line); len(low) == len(line) {
			if from := strings.Index(low, p.query); from >= 0 {
				return p.around(style, line, from, from+len(p.query), style.With(ui.Reverse))
			}
		}
	}
	return []ui.Span{ui.S(style, line)}
}

// around is a line with a piece in another style; what is behind it may hold more.
func (p pen) around(style ui.Style, line string, from, to int, lit ui.Style) []ui.Span {
	spans := []ui.Span{ui.S(style, line[:from]), ui.S(lit, line[from:to])}
	return append(spans, p.lit(style, line[to:])...)
}

// leastOverlap is how much of a line a fragment must hold to be told from chance.
// Convention, untested.
const leastOverlap = 6

// overlap is the part of a line that belongs to a fragment: all of the fragment, or
// where that goes over several lines the whole line.
func overlap(line, fragment string) (from, to int, ok bool) {
	if from = strings.Index(line, fragment); from >= 0 {
		return from, from + len(fragment), true
	}
	if len(line) >= leastOverlap && len(fragment) > len(line) && strings.Contains(fragment, line) {
		return 0, len(line), true
	}
	return 0, 0, false
}

// evidenceOf is what a verdict and markers that failed rest on, by step; -1 is the
// final reply.
func evidenceOf(s *record.Sample) map[int][]string {
	out := map[int][]string{}
	add := func(list []record.Evidence) {
		for _, e := range list {
			for _, fragment := range strings.Split(ui.Clean(string(e.Fragment)), "\n") {
				if fragment = strings.TrimSpace(fragment); len(fragment) > 1 {
					out[e.Step] = append(out[e.Step], fragment)
				}
			}
		}
	}
	if s.Judgment != nil {
		add(s.Judgment.Evidence)
	}
	for _, m := range s.Markers {
		if m.Status == record.MarkerOK && m.Value != nil && *m.Value == 0 {
			add(m.Evidence)
		}
	}
	return out
}
