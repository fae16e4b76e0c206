package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestCleanShowsWhatWouldActOrHide(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "restart payments", "restart payments"},
		{"escape", "a\x1b[31mb", "a␛[31mb"},
		{"operating system command", "\x1b]52;c;aGk=\a", "␛]52;c;aGk=␇"},
		{"unterminated hyperlink", "\x1b]8;;http://x", "␛]8;;http://x"},
		{"carriage return", "safe\rgone", "safe␍gone"},
		{"backspace", "ab\b", "ab␈"},
		{"nul", "a\x00b", "a␀b"},
		{"delete", "a\x7f", "a␡"},
		{"tab", "a\tb", "a⇥   b"},
		{"C1 as UTF-8", "a\u009b31mb", "a⟨U+009B⟩31mb"},
		{"C1 as a byte", "a\x9b31mb", "a⟨x9B⟩31mb"},
		{"bidi override", "user\u202egpj.exe\u202c", "user⟨RLO⟩gpj.exe⟨PDF⟩"},
		{"bidi isolate", "\u2066a\u2069", "⟨LRI⟩a⟨PDI⟩"},
		{"zero width", "pass\u200bword", "pass⟨ZWSP⟩word"},
		{"joiner without emoji", "a\u200db", "a⟨ZWJ⟩b"},
		{"byte order mark", "\ufeffx", "⟨BOM⟩x"},
		{"soft hyphen", "co\u00adop", "co⟨SHY⟩op"},
		{"line separator", "a\u2028b", "a⟨LS⟩b"},
		{"tag characters", "a\U000E0049\U000E0067", "a⟨U+E0049⟩⟨U+E0067⟩"},
		{"hangul filler", "a\u3164b", "a⟨U+3164⟩b"},
		{"braille blank", "a\u2800b", "a⟨U+2800⟩b"},
		{"private use", "\ue0a0", "⟨U+E0A0⟩"},
		{"unassigned", "\U0003FFFD", "⟨U+3FFFD⟩"},
		{"invalid byte", "a\xffb", "a⟨xFF⟩b"},
		{"cut off sequence", "a\xe2\x82", "a⟨xE2⟩⟨x82⟩"},
		{"lone surrogate", "a\xed\xa0\x80b", "a⟨U+D800⟩b"},
		{"overlong", "\xc0\xaf", "⟨xC0⟩⟨xAF⟩"},
		{"family", "👨\u200d👩\u200d👧", "👨⁺👩⁺👧"},
		{"skin tone", "👍🏽", "👍⟨tone 4⟩"},
		{"emoji variation", "❤\ufe0f", "❤ᵛ"},
		{"flag", "🇩🇪", "🇩🇪"},
		{"half a flag", "🇩x", "⟨U+1F1E9⟩x"},
		{"accent", "e\u0301", "e\u0301"},
		{"accent without a letter", "\u0301x", "◌\u0301x"},
		{"too many accents", "e" + strings.Repeat("\u0301", 6), "e" + strings.Repeat("\u0301", 4) + "⟨U+0301⟩⟨U+0301⟩"},
		{"wide", "支払い", "支払い"},
		{"hindi", "नमस्ते", "नमस्ते"},
		{"lines", "a\nb", "a\nb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Clean(tt.in); got != tt.want {
				t.Errorf("Clean(%q) = %q, want %q", tt.in, got, tt.want)
			}
			if got, want := CleanLine(tt.in), strings.ReplaceAll(tt.want, "\n", "↵"); got != want {
				t.Errorf("CleanLine(%q) = %q, want %q", tt.in, got, want)
			}
		})
	}
}

// checkClean holds what must be so of any text: nothing that acts or hides is
// left, nothing is lost, doing it twice changes nothing, and every terminal gives
// the emoji one width.
func checkClean(t interface{ Fatalf(string, ...any) }, in string) {
	out := Clean(in)
	if !utf8.ValidString(out) {
		t.Fatalf("Clean(%q) is not UTF-8: %q", in, out)
	}
	for _, r := range out {
		if r != '\n' && isHidden(r) {
			t.Fatalf("Clean(%q) leaves %U in %q", in, r, out)
		}
	}
	if again := Clean(out); again != out {
		t.Fatalf("Clean is not idempotent on %q: %q, then %q", in, out, again)
	}
	if line := CleanLine(in); strings.ContainsRune(line, '\n') {
		t.Fatalf("CleanLine(%q) has a line feed: %q", in, line)
	}
	if stripped := ansi.Strip(out); stripped != out {
		t.Fatalf("Clean(%q) leaves a sequence in %q", in, out)
	}
	// Every character that is seen as it is stands in the result as often.
	for _, r := range in {
		if r != utf8.RuneError && unicode.IsGraphic(r) && !isHidden(r) && !isFlag(r) && !unicode.IsMark(r) && !unicode.Is(unicode.Other_Grapheme_Extend, r) {
			if strings.Count(out, string(r)) < strings.Count(in, string(r)) {
				t.Fatalf("Clean(%q) loses %q: %q", in, r, out)
			}
		}
	}
	// Each one that is not leaves a mark: the result has no fewer characters.
	if utf8.RuneCountInString(out) < utf8.RuneCountInString(in)-2*strings.Count(in, "\xed") {
		t.Fatalf("Clean(%q) is shorter: %q", in, out)
	}
	for rest := out; rest != ""; {
		cluster, _ := ansi.FirstGraphemeCluster(rest, ansi.GraphemeWidth)
		rest = rest[len(cluster):]
		first, _ := utf8.DecodeRuneInString(cluster)
		if isPictograph(first) || isFlag(first) {
			if a, b := ansi.StringWidth(cluster), ansi.StringWidthWc(cluster); a != b {
				t.Fatalf("in Clean(%q), %q is %d cells to some terminals and %d to others", in, cluster, a, b)
			}
		}
	}
}

func hostile(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/hostile/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no hostile texts: %v", err)
	}
	var out []string
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(raw))
	}
	return out
}

func TestCleanHostileFiles(t *testing.T) {
	for _, text := range hostile(t) {
		checkClean(t, text)
	}
}

func TestCleanHoldsForAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.OneOf(
			rapid.String(),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
			rapid.SampledFrom([]string{"\x1b[", "\x1b]8;;", "\u202e", "\u200d", "\ufe0f", "👨", "👩", "🏽", "🇩", "🇪", "\u0301", "\u20e3", "1", "\xed\xa0\x80", "\u0300", "\r\n", "한", "क", "\u093f", "\U000E0041", "❤", "#"}),
		)).Draw(t, "pieces")
		checkClean(t, strings.Join(pieces, ""))
	})
}

func FuzzClean(f *testing.F) {
	for _, text := range hostile(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, in string) { checkClean(t, in) })
}

func TestCleanKeepsPlainTextAsItIs(t *testing.T) {
	in := "an ordinary reply, of ordinary length"
	if allocs := testing.AllocsPerRun(100, func() { Clean(in) }); allocs != 0 {
		t.Errorf("Clean of plain text allocates %v times", allocs)
	}
}

func BenchmarkClean(b *testing.B) {
	texts := map[string]string{
		"plain":   strings.Repeat("an ordinary reply. ", 5000),
		"mixed":   strings.Repeat("支払い ordinary ✓ ", 5000),
		"hostile": strings.Repeat("\x1b[31m\u202e👨\u200d👩\xff", 5000),
	}
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Clean(text)
			}
		})
	}
}
