package ui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func stripped(s string) string { return ansi.Strip(s) }

// S2 is text in a style, as a screen has it.
func S2(text string) string { return Style{FG: RGB(0xFF0000)}.Render(text) }

// numbers are rows that count how often they are drawn.
type numbers struct {
	n     int
	drawn int
}

func (r *numbers) Len() int             { return r.n }
func (r *numbers) Version(i int) uint64 { return 1 }
func (r *numbers) Draw(i, width int, look Look) string {
	r.drawn++
	return Pad(fmt.Sprint(i), width)
}

func TestListDrawsWhatIsSeen(t *testing.T) {
	rows := &numbers{n: 100_000}
	var l List
	l.View(rows, 20, 30, true)
	if rows.drawn != 30 {
		t.Errorf("%d rows drawn for a window of 30", rows.drawn)
	}
	l.Move(Down, rows.n)
	l.View(rows, 20, 30, true)
	if rows.drawn != 32 { // the row left, the row entered
		t.Errorf("%d rows drawn after one step, want 32", rows.drawn)
	}
	l.View(rows, 21, 30, true)
	if rows.drawn != 62 {
		t.Errorf("%d rows drawn after the width changed, want 62", rows.drawn)
	}
}

func TestListKeepsTheCursorInSight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l List
		n := rapid.IntRange(0, 200).Draw(t, "n")
		for range rapid.IntRange(1, 30).Draw(t, "moves") {
			height := rapid.IntRange(1, 20).Draw(t, "height")
			l.Move(rapid.SampledFrom([]string{Up, Down, Top, Bottom, PageUp, PageDown}).Draw(t, "move"), n)
			if rapid.Bool().Draw(t, "shrink") {
				n = rapid.IntRange(0, 200).Draw(t, "n")
			}
			lines := l.View(&numbers{n: n}, 10, height, true)
			if len(lines) != height {
				t.Fatalf("%d lines for a height of %d", len(lines), height)
			}
			if n == 0 {
				continue
			}
			seen := false
			for _, line := range lines {
				seen = seen || strings.TrimSpace(line) == fmt.Sprint(l.Cursor())
			}
			if !seen {
				t.Fatalf("row %d of %d is not among %q", l.Cursor(), n, lines)
			}
		}
	})
}

// heights are blocks of so many lines each, "block.line".
type heights struct {
	h     []int
	drawn int
}

func (b *heights) Len() int             { return len(b.h) }
func (b *heights) Version(i int) uint64 { return uint64(b.h[i]) }
func (b *heights) Draw(i, width int, look Look) []string {
	b.drawn++
	out := make([]string, b.h[i])
	for line := range out {
		out[line] = Pad(fmt.Sprintf("%d.%d", i, line), width)
	}
	return out
}

// all is every line of the blocks.
func (b *heights) all() []string {
	var out []string
	for i := range b.h {
		for line := range b.h[i] {
			out = append(out, fmt.Sprintf("%d.%d", i, line))
		}
	}
	return out
}

// TestScrollShowsAWindow checks against the plain idea of a scroller: what is seen
// is always a run of consecutive lines of the whole, as long as the window or the
// whole, and holds a line of the block under the cursor.
func TestScrollShowsAWindow(t *testing.T) {
	moves := []string{Up, Down, Top, Bottom, PageUp, PageDown}
	rapid.Check(t, func(t *rapid.T) {
		b := &heights{h: rapid.SliceOfN(rapid.IntRange(1, 12), 0, 30).Draw(t, "heights")}
		whole := b.all()
		var s Scroll
		height := rapid.IntRange(1, 15).Draw(t, "height")
		s.View(b, 10, height, true)
		for range rapid.IntRange(1, 40).Draw(t, "moves") {
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				height = rapid.IntRange(1, 15).Draw(t, "height")
			case 1:
				s.Wheel(b, rapid.IntRange(-5, 5).Draw(t, "by"))
			default:
				s.Move(rapid.SampledFrom(moves).Draw(t, "move"), b)
			}
			var seen []string
			for _, line := range s.View(b, 10, height, true) {
				if line = strings.TrimSpace(line); line != "" {
					seen = append(seen, line)
				}
			}
			if want := min(height, len(whole)); len(seen) != want {
				t.Fatalf("%d lines are seen, want %d: %q", len(seen), want, seen)
			}
			if !strings.Contains("|"+strings.Join(whole, "|")+"|", "|"+strings.Join(seen, "|")+"|") {
				t.Fatalf("%q is no run of %q", seen, whole)
			}
			if len(whole) == 0 {
				continue
			}
			found := false
			for _, line := range seen {
				found = found || strings.HasPrefix(line, fmt.Sprintf("%d.", s.Cursor()))
			}
			if !found {
				t.Fatalf("block %d is not in sight: %q", s.Cursor(), seen)
			}
		}
	})
}

// TestScrollReachesEveryLine goes down, and up again, one key at a time.
func TestScrollReachesEveryLine(t *testing.T) {
	b := &heights{h: []int{1, 3, 40, 1, 2, 17, 1}}
	for _, id := range []string{Down, Up, PageDown, PageUp} {
		var s Scroll
		s.View(b, 10, 7, true)
		if id == Up || id == PageUp {
			s.Bottom(b)
		}
		seen := map[string]bool{}
		for range 200 {
			for _, line := range s.View(b, 10, 7, true) {
				seen[strings.TrimSpace(line)] = true
			}
			s.Move(id, b)
		}
		for _, line := range b.all() {
			if !seen[line] {
				t.Errorf("%s never shows %s", id, line)
			}
		}
	}
}

func TestScrollCostsWhatIsSeen(t *testing.T) {
	b := &heights{h: make([]int, 130_000)}
	for i := range b.h {
		b.h[i] = 1 + i%5
	}
	var s Scroll
	for _, id := range []string{Down, Bottom, PageUp, Top, PageDown, Bottom, Up} {
		b.drawn = 0
		s.Move(id, b)
		s.View(b, 80, 40, true)
		if b.drawn > 200 {
			t.Errorf("%s draws %d blocks for a window of 40 lines", id, b.drawn)
		}
	}
}
