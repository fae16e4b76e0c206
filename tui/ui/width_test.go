package ui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func someText(t *rapid.T) string {
	return Clean(strings.Join(rapid.SliceOf(rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"支払い", "🇩🇪", "👨\u200d👩", "e\u0301", "नि", "word ", " ", "\n", "\x1b[2J", "👍🏽"}),
	)).Draw(t, "text"), ""))
}

func TestRowsHaveTheWidthAskedFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ReplaceAll(someText(t), "\n", "↵")
		width := rapid.IntRange(0, 40).Draw(t, "width")
		if got := Width(Cut(text, width)); got > width {
			t.Fatalf("Cut(%q, %d) has %d cells", text, width, got)
		}
		for name, row := range map[string]string{
			"Pad": Pad(text, width), "PadLeft": PadLeft(text, width),
			"Row":   Row(width, Style{BG: RGB(1)}, S(Style{Attr: Bold}, text), S(Style{}, " "), S(Style{FG: RGB(2)}, text)),
			"Sides": Sides(width, Style{}, []Span{S(Style{}, text)}, []Span{S(Style{}, "right")}),
		} {
			if got := Width(row); got != width {
				t.Fatalf("%s(%q, %d) has %d cells: %q", name, text, width, got, row)
			}
		}
	})
}

func TestWrapLosesNothing(t *testing.T) {
	without := func(s string) string { return strings.NewReplacer(" ", "", "\n", "").Replace(s) }
	rapid.Check(t, func(t *rapid.T) {
		text := someText(t)
		width := rapid.IntRange(2, 30).Draw(t, "width") // a wide character needs two cells
		rows := Wrap(text, width)
		for _, row := range rows {
			if first, _ := ansi.FirstGraphemeCluster(row, ansi.WcWidth); Width(row) > width && first != row {
				t.Fatalf("Wrap(%q, %d) gives a row of %d cells: %q", text, width, Width(row), row)
			}
			if strings.ContainsRune(row, '\n') {
				t.Fatalf("a row holds a line feed: %q", row)
			}
		}
		if got, want := without(strings.Join(rows, "")), without(text); got != want {
			t.Fatalf("Wrap(%q, %d) shows %q", text, width, rows)
		}
	})
}

func TestWrapBreaksAtSpaces(t *testing.T) {
	tests := []struct {
		in    string
		width int
		want  string
	}{
		{"", 5, ""},
		{"one two three", 7, "one two|three"},
		{"one two three", 8, "one two|three"},
		{"onetwothree", 4, "onet|woth|ree"},
		{"a\n\nb", 4, "a||b"},
		{"支払い確認", 4, "支払|い確|認"},
		{"ab 支払 cd", 5, "ab|支払|cd"},
		{"ab 支払 cd", 7, "ab 支払|cd"},
	}
	for _, tt := range tests {
		if got := strings.Join(Wrap(tt.in, tt.width), "|"); got != tt.want {
			t.Errorf("Wrap(%q, %d) = %q, want %q", tt.in, tt.width, got, tt.want)
		}
	}
}

func TestSlicesLoseNothing(t *testing.T) {
	texts := map[string]string{
		"spaces": strings.Repeat("some words ", 5000),
		"lines":  strings.Repeat("a line of text\n", 5000),
		"none":   strings.Repeat("x", 50000),
		"wide":   strings.Repeat("支払い", 9000),
		"broken": strings.Repeat("\xed\xa0\x80", 9000),
		"bytes":  strings.Repeat("\x80", 20000),
	}
	for name, text := range texts {
		parts := Slices(text)
		whole := strings.Join(parts, "")
		if name == "lines" {
			whole = strings.Join(parts, "\n")
		}
		if whole != text {
			t.Errorf("%s: the slices are not the text", name)
		}
		for _, p := range parts {
			if len(p) > sliceBytes {
				t.Errorf("%s: a slice of %d bytes", name, len(p))
			}
			if name == "wide" && strings.Contains(Clean(p), "⟨") {
				t.Errorf("%s: a slice is cut inside a character", name)
			}
		}
	}
}

func TestCutEndsAtGraphemes(t *testing.T) {
	for _, tt := range []struct {
		in    string
		width int
		want  string
	}{
		{"payments", 8, "payments"},
		{"payments", 7, "paymen…"},
		{"支払い", 5, "支払…"},
		{"支払い", 4, "支…"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"x", 0, ""},
	} {
		if got := Cut(tt.in, tt.width); got != tt.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", tt.in, tt.width, got, tt.want)
		}
	}
}

func TestOverKeepsWhatIsAround(t *testing.T) {
	screen := []string{"0123456789", "支払い支払", S2("0123456789"), "0123456789"}
	got := Over(screen, []string{"[xx]", "[yy]"}, 10)
	want := []string{"0123456789", "支 [xx] 払", "012[yy]789", "0123456789"}
	for i := range want {
		if plain := stripped(got[i]); plain != want[i] {
			t.Errorf("line %d is %q, want %q", i, plain, want[i])
		}
	}
}
