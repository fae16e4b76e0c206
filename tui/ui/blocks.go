package ui

// Blocks is what a [Scroll] shows: things of one or more lines each. Draw gives
// block i as lines of exactly width cells; Version changes whenever what Draw
// would give does.
type Blocks interface {
	Len() int
	Version(i int) uint64
	Draw(i, width int, look Look) []string
}

// Scroll is a cursor and a window over blocks of any height. It keeps its place
// as a block and a line in it and never asks how high the whole is, so a
// conversation of a hundred thousand messages scrolls as one of ten. The zero
// value is at the top.
type Scroll struct {
	cursor        int
	block, line   int // the first line that is seen
	width, height int
	cache         map[blockKey][]string
}

type blockKey struct {
	version uint64
	block   int
	width   int
	look    Look
}

// keptBlocks bounds the cache: some windows' worth, so that turning back is free.
const keptBlocks = 512

// Cursor is the block under the cursor.
func (s *Scroll) Cursor() int { return s.cursor }

// Place is the first line that is seen: a block, and a line of it.
func (s *Scroll) Place() (block, line int) { return s.block, s.line }

// Restore goes to a cursor and a first line that were kept, as far as they are
// there.
func (s *Scroll) Restore(cursor, block, line int) {
	s.cursor, s.block, s.line = max(cursor, 0), max(block, 0), max(line, 0)
}

// Forget drops what was drawn.
func (s *Scroll) Forget() { s.cache = nil }

// Reset goes to the top of other content.
func (s *Scroll) Reset() { *s = Scroll{width: s.width, height: s.height} }

func (s *Scroll) lines(b Blocks, i int, look Look) []string {
	key := blockKey{b.Version(i), i, s.width, look}
	if lines, ok := s.cache[key]; ok {
		return lines
	}
	if s.cache == nil || len(s.cache) >= keptBlocks {
		s.cache = make(map[blockKey][]string, keptBlocks/4)
	}
	lines := b.Draw(i, s.width, look)
	s.cache[key] = lines
	return lines
}

func (s *Scroll) rows(b Blocks, i int) int { return len(s.lines(b, i, Plain)) }

// To puts the cursor on a block and shows its beginning.
func (s *Scroll) To(b Blocks, block int) {
	s.cursor = max(min(block, b.Len()-1), 0)
	s.show(b)
}

// Bottom goes to the end.
func (s *Scroll) Bottom(b Blocks) {
	s.cursor = max(b.Len()-1, 0)
	s.bottomAt(b, b.Len()-1)
}

// bottomAt makes the last line of a block the last that is seen.
func (s *Scroll) bottomAt(b Blocks, block int) {
	if block < 0 || s.width <= 0 || s.height <= 0 {
		s.block, s.line = 0, 0
		return
	}
	left := s.height
	for ; block >= 0; block-- {
		rows := s.rows(b, block)
		if rows >= left {
			s.block, s.line = block, rows-left
			return
		}
		left -= rows
	}
	s.block, s.line = 0, 0
}

// AtBottom is true where the last line is seen.
func (s *Scroll) AtBottom(b Blocks) bool {
	if b.Len() == 0 || s.width <= 0 {
		return true
	}
	left := s.height + s.line
	for i := s.block; i < b.Len(); i++ {
		if left -= s.rows(b, i); left < 0 {
			return false
		}
	}
	return true
}

// Move does one of the movement actions and reports whether id was one. Down and
// up go from block to block, and line by line through one that is higher than the
// window.
func (s *Scroll) Move(id string, b Blocks) bool {
	n := b.Len()
	switch id {
	case Up, Down, Top, Bottom, PageUp, PageDown:
	default:
		return false
	}
	if n == 0 || s.width <= 0 || s.height <= 0 {
		return true
	}
	s.clamp(b)
	switch id {
	case Top:
		s.cursor, s.block, s.line = 0, 0, 0
	case Bottom:
		s.Bottom(b)
	case PageDown:
		s.page(b, max(s.height-1, 1))
	case PageUp:
		s.page(b, -max(s.height-1, 1))
	case Down:
		s.down(b)
	case Up:
		s.up(b)
	}
	return true
}

func (s *Scroll) down(b Blocks) {
	if _, below := s.hidden(b); below > 0 {
		s.scroll(b, 1)
		return
	}
	if s.cursor < b.Len()-1 {
		s.cursor++
		s.show(b)
	}
}

func (s *Scroll) up(b Blocks) {
	if above, _ := s.hidden(b); above > 0 {
		s.scroll(b, -1)
		return
	}
	if s.cursor > 0 {
		s.cursor--
		if rows := s.rows(b, s.cursor); rows > s.height {
			s.bottomAt(b, s.cursor)
			return
		}
		s.show(b)
	}
}

func (s *Scroll) page(b Blocks, by int) {
	s.scroll(b, by)
	if by > 0 && s.AtBottom(b) {
		s.cursor = b.Len() - 1
		return
	}
	s.cursor = s.block
}

// hidden is how many lines of the cursor's block are above and below the window.
func (s *Scroll) hidden(b Blocks) (above, below int) {
	if s.cursor < s.block {
		return s.rows(b, s.cursor), 0
	}
	first := -s.line // line of the window where the cursor's block begins
	for i := s.block; i < s.cursor; i++ {
		if first += s.rows(b, i); first > s.height {
			break
		}
	}
	return max(-first, 0), max(first+s.rows(b, s.cursor)-s.height, 0)
}

// show moves the window as little as it takes to see the cursor's block, from its
// beginning where it is higher than the window.
func (s *Scroll) show(b Blocks) {
	if s.width <= 0 || s.height <= 0 || b.Len() == 0 {
		return
	}
	if s.cursor < s.block || s.cursor == s.block && s.line > 0 {
		s.block, s.line = s.cursor, 0
		return
	}
	if s.cursor-s.block > s.height { // every block has a line: it cannot be in sight
		s.seat(b)
		return
	}
	if _, below := s.hidden(b); below > 0 {
		s.seat(b)
	}
}

func (s *Scroll) seat(b Blocks) {
	if s.rows(b, s.cursor) >= s.height {
		s.block, s.line = s.cursor, 0
		return
	}
	s.bottomAt(b, s.cursor)
}

// scroll moves the window by lines, not past either end.
func (s *Scroll) scroll(b Blocks, by int) {
	s.line += by
	for s.line < 0 && s.block > 0 {
		s.block--
		s.line += s.rows(b, s.block)
	}
	s.line = max(s.line, 0)
	for s.block < b.Len()-1 && s.line >= s.rows(b, s.block) {
		s.line -= s.rows(b, s.block)
		s.block++
	}
	if by > 0 && s.AtBottom(b) {
		s.bottomAt(b, b.Len()-1)
	}
}

func (s *Scroll) clamp(b Blocks) {
	n := b.Len()
	s.cursor = max(min(s.cursor, n-1), 0)
	if s.block >= n {
		s.block, s.line = max(n-1, 0), 0
	}
}

// View draws height lines of width cells. Another width keeps the place.
func (s *Scroll) View(b Blocks, width, height int, focused bool) []string {
	if width <= 0 || height <= 0 {
		return nil
	}
	resized := width != s.width || height != s.height
	s.width, s.height = width, height
	s.clamp(b)
	if b.Len() > 0 {
		s.line = min(s.line, max(s.rows(b, s.block)-1, 0))
		if resized {
			s.show(b)
			if s.AtBottom(b) {
				s.bottomAt(b, b.Len()-1) // a higher window has room above
			}
		}
	}
	lines := make([]string, 0, height)
	skip := s.line
	for i := s.block; i < b.Len() && len(lines) < height; i++ {
		look := Plain
		switch {
		case i == s.cursor && focused:
			look = Active
		case i == s.cursor:
			look = Marked
		}
		drawn := s.lines(b, i, look)
		drawn = drawn[min(skip, len(drawn)):]
		skip = 0
		lines = append(lines, drawn[:min(len(drawn), height-len(lines))]...)
	}
	for len(lines) < height {
		lines = append(lines, Spaces(width))
	}
	return lines
}

// Click puts the cursor on the block at the nth line of the window and reports
// which that is, -1 below the last.
func (s *Scroll) Click(b Blocks, line int) int {
	at := -s.line
	for i := s.block; i < b.Len() && at <= line; i++ {
		if at += s.rows(b, i); at > line {
			s.cursor = i
			return i
		}
	}
	return -1
}

// Wheel moves the window by lines and takes the cursor along where it would
// leave.
func (s *Scroll) Wheel(b Blocks, by int) {
	if b.Len() == 0 || s.width <= 0 || s.height <= 0 {
		return
	}
	s.clamp(b)
	s.scroll(b, by)
	if by < 0 {
		if s.cursor-s.block > s.height {
			s.cursor = s.block
		}
		for first := 0; s.cursor > s.block; s.cursor-- {
			first = -s.line
			for i := s.block; i < s.cursor; i++ {
				first += s.rows(b, i)
			}
			if first < s.height {
				break
			}
		}
		return
	}
	s.cursor = max(s.cursor, s.block)
}
