package transcript

import (
	"fmt"
	"strings"

	"assay/tui/ui"
)

// Search finds words in a transcript: the line they are typed into, what was
// found, and which of it one is at. The zero value looks for nothing.
type Search struct {
	Typing bool // the line is open
	Field  ui.Field

	query string
	of    *Doc // that the hits are of
	on    ui.Blocks
	lead  int // how many blocks of on stand before the transcript
	hits  []Hit
	at    int
	known bool // the hits are there
}

// Found is the answer of a search.
type Found struct {
	of    *Doc
	query string
	hits  []Hit
}

// Begin opens the line.
func (s *Search) Begin() {
	s.Typing = true
	s.Field.Set(s.query)
}

// Key takes a key of the open line and reports that it asks for the search.
func (s *Search) Key(key, text string) (search bool) {
	switch key {
	case "esc":
		s.Typing = false
	case "enter":
		s.Typing = false
		s.query = strings.TrimSpace(s.Field.Text())
		return true
	default:
		s.Field.Key(key, text)
	}
	return false
}

// Active reports whether something is looked for.
func (s *Search) Active() bool { return s.query != "" }

// In lights the words in a transcript and gives the search through it, to be run
// away from the loop; nil where nothing is looked for.
func (s *Search) In(d *Doc) func() Found { return s.Behind(d, d, 0) }

// Behind is In for a transcript that stands behind lead blocks among others.
func (s *Search) Behind(d *Doc, on ui.Blocks, lead int) func() Found {
	s.hits, s.at, s.known, s.of, s.on, s.lead = nil, 0, false, d, on, lead
	if d == nil {
		return nil
	}
	if d.query != strings.ToLower(s.query) {
		d.Light(s.query)
	}
	if s.query == "" {
		return nil
	}
	finder, query := d.Finder(s.query), s.query
	return func() Found { return Found{d, query, finder.Hits()} }
}

// Take takes an answer, goes to the first place, and reports false where the
// answer is outdated.
func (s *Search) Take(f Found, scroll *ui.Scroll) bool {
	if f.of != s.of || f.query != s.query {
		return false
	}
	s.hits, s.at, s.known = f.hits, 0, true
	s.Go(0, scroll)
	return true
}

// Go goes to the place so many behind the one that one is at, around the end.
func (s *Search) Go(by int, scroll *ui.Scroll) {
	if n := len(s.hits); n > 0 && s.of != nil {
		s.at = (s.at + by + n) % n
		scroll.To(s.on, s.lead+s.of.Show(s.hits[s.at]))
	}
}

// Text says which of the places one is at, "" where nothing is looked for.
func (s *Search) Text() string {
	switch {
	case s.query == "" || !s.known:
		return ""
	case len(s.hits) == 0:
		return "not found: " + ui.CleanLine(s.query)
	}
	return fmt.Sprintf("%d of %s: %s", s.at+1, ui.Count(len(s.hits)), ui.CleanLine(s.query))
}

// Line draws the open line.
func (s *Search) Line(t ui.Theme, width int) string {
	return ui.Row(width, ui.Style{}, append([]ui.Span{ui.S(t.Accent.With(ui.Bold), " find ")}, s.Field.Spans(t, width-7)...)...)
}

// IDs of the actions that jump in a transcript.
const (
	NextCall    = "next-call"
	PrevCall    = "previous-call"
	NextTrouble = "next-trouble"
	PrevTrouble = "previous-trouble"
)

// JumpActions are the jumps, with the place of the next trouble in the footer, 0
// for none.
func JumpActions(footer int) []ui.Action {
	return []ui.Action{
		{ID: NextCall, Keys: []string{"]"}, Name: "next call", Help: "Go to the next tool call"},
		{ID: PrevCall, Keys: []string{"["}, Name: "call before", Help: "Go to the tool call before"},
		{ID: NextTrouble, Keys: []string{")"}, Name: "next trouble", Help: "Go to the next failure, fault or broken rule", Footer: footer},
		{ID: PrevTrouble, Keys: []string{"("}, Name: "trouble before", Help: "Go to the failure, fault or broken rule before"},
	}
}

// Jump does one of the jumps from a block. isJump is false where the ID is of none,
// ok where there is nothing that way.
func (d *Doc) Jump(id string, block int) (at int, ok, isJump bool) {
	switch id {
	case NextCall:
		at, ok = d.NextCall(block, 1)
	case PrevCall:
		at, ok = d.NextCall(block, -1)
	case NextTrouble:
		at, ok = d.NextTrouble(block, 1)
	case PrevTrouble:
		at, ok = d.NextTrouble(block, -1)
	default:
		return block, false, false
	}
	return at, ok, true
}
