package ui

// Rows is what a [List] shows. Draw gives row i in exactly width cells; Version
// changes whenever what Draw would give does, and tells rows apart.
type Rows interface {
	Len() int
	Version(i int) uint64
	Draw(i, width int, look Look) string
}

// Look is how a row stands to the cursor.
type Look uint8

// Looks of a row.
const (
	Plain  Look = iota
	Marked      // under the cursor, in a pane without focus
	Active      // under the cursor, in the pane in focus
)

// Base is the style under a row of that look.
func (t Theme) Base(l Look) Style {
	switch l {
	case Active:
		return t.Selected
	case Marked:
		return t.Marked
	}
	return Style{}
}

// List is a cursor and a window over rows of one line each. Only what the window
// shows is drawn, and what was drawn is kept by version, width and look. The zero
// value is a list at its top.
type List struct {
	cursor, top, height int
	cache               map[listKey]string
}

type listKey struct {
	version uint64
	row     int
	width   int
	look    Look
}

// Cursor is the row under the cursor, 0 where there is none.
func (l *List) Cursor() int { return l.cursor }

// Set puts the cursor on a row of n.
func (l *List) Set(row, n int) {
	l.cursor = max(min(row, n-1), 0)
}

// Top is the first row that is seen.
func (l *List) Top() int { return l.top }

// SetTop makes a row the first that is seen, as far as the cursor and the end of
// the list allow.
func (l *List) SetTop(row int) { l.top = row }

// Move does one of the movement actions over n rows and reports whether id was
// one.
func (l *List) Move(id string, n int) bool {
	page := max(l.height-1, 1)
	switch id {
	case Up:
		l.Set(l.cursor-1, n)
	case Down:
		l.Set(l.cursor+1, n)
	case Top:
		l.Set(0, n)
	case Bottom:
		l.Set(n-1, n)
	case PageUp:
		l.Set(l.cursor-page, n)
	case PageDown:
		l.Set(l.cursor+page, n)
	default:
		return false
	}
	return true
}

// Window is the rows that a view of that height shows: from, and up to but not
// including, to. The cursor is among them.
func (l *List) Window(n, height int) (from, to int) {
	l.height = height
	l.cursor = max(min(l.cursor, n-1), 0)
	l.top = max(min(l.top, n-height), 0)
	if l.cursor < l.top {
		l.top = l.cursor
	}
	if l.cursor >= l.top+height {
		l.top = l.cursor - height + 1
	}
	return l.top, min(l.top+height, n)
}

// Row is the list row on the nth line of the window, for the mouse.
func (l *List) Row(line int) int { return l.top + line }

// View draws height lines of width cells, empty ones below the last row.
func (l *List) View(rows Rows, width, height int, focused bool) []string {
	if width <= 0 || height <= 0 {
		return nil
	}
	from, to := l.Window(rows.Len(), height)
	if l.cache == nil || len(l.cache) > 8*height+64 {
		l.cache = make(map[listKey]string, 2*height)
	}
	lines := make([]string, 0, height)
	for i := from; i < to; i++ {
		look := Plain
		switch {
		case i == l.cursor && focused:
			look = Active
		case i == l.cursor:
			look = Marked
		}
		key := listKey{rows.Version(i), i, width, look}
		line, ok := l.cache[key]
		if !ok {
			line = rows.Draw(i, width, look)
			l.cache[key] = line
		}
		lines = append(lines, line)
	}
	for len(lines) < height {
		lines = append(lines, Spaces(width))
	}
	return lines
}

// Forget drops what was drawn, as when the theme changes.
func (l *List) Forget() { l.cache = nil }
