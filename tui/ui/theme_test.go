package ui

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// luminance and contrast follow WCAG 2.1.
func luminance(c Color) float64 {
	part := func(shift int) float64 {
		v := float64(c>>shift&0xFF) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
}

func contrastOf(a, b Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// of256 is the colour that a terminal of 256 colours shows instead.
func of256(c Color) Color {
	r, g, b, _ := ansi.Convert256(ansi.RGBColor{R: uint8(c >> 16), G: uint8(c >> 8), B: uint8(c)}).RGBA()
	return RGB(r>>8<<16 | g>>8<<8 | b>>8)
}

func TestThemesCanBeRead(t *testing.T) {
	// The backgrounds that terminals come with: black to the usual dark greys, white
	// to the usual cream.
	backgrounds := map[string][]Color{
		"dark": {RGB(0x000000), RGB(0x1E1E1E), RGB(0x282C34)}, "contrast": {RGB(0x000000), RGB(0x1E1E1E)}, "safe": {RGB(0x000000), RGB(0x1E1E1E), RGB(0x282C34)},
		"light": {RGB(0xFFFFFF), RGB(0xFDF6E3)}, "safe-light": {RGB(0xFFFFFF), RGB(0xFDF6E3)},
	}
	for _, name := range Themes() {
		if name == "mono" {
			continue
		}
		theme := ThemeNamed(name)
		least := 4.5
		if name == "contrast" {
			least = 7
		}
		styles := map[string]Style{"text": theme.Text, "quiet": theme.Quiet, "accent": theme.Accent, "good": theme.Good, "bad": theme.Bad,
			"warn": theme.Warn, "info": theme.Info, "fault": theme.Fault, "user": theme.User, "agent": theme.Agent, "tool": theme.Tool}
		under := append(slices.Clone(backgrounds[name]), theme.Selected.BG, theme.Marked.BG, theme.Panel.BG)
		for what, style := range styles {
			for _, bg := range under {
				if got := contrastOf(style.FG, bg); got < least {
					t.Errorf("%s: %s has a contrast of %.2f on #%06X", name, what, got, uint32(bg)&0xFFFFFF)
				}
				// 3.9 allows for the steps of a palette of 256.
				if got := contrastOf(of256(style.FG), of256(bg)); got < least*3.9/4.5 {
					t.Errorf("%s: %s has a contrast of %.2f on #%06X with 256 colours", name, what, got, uint32(of256(bg))&0xFFFFFF)
				}
			}
		}
	}
}

func TestMonoHasNoColour(t *testing.T) {
	line := fmt.Sprintf("%+v", ThemeNamed("mono"))
	for _, m := range []string{"FG:1", "BG:1"} {
		if strings.Contains(line, m) {
			t.Errorf("the mono theme has a colour: %s", line)
		}
	}
}

func TestMarksDifferWithoutColour(t *testing.T) {
	theme := ThemeNamed("mono")
	seen := map[string]string{}
	for _, m := range []Mark{theme.Pass(), theme.Fail(), theme.Unjudged(), theme.Finished(), theme.Lost(), theme.Aborted(), theme.Running(), theme.Partly()} {
		if other, ok := seen[m.Sign]; ok {
			t.Errorf("%s and %s have one sign", m.Word, other)
		}
		if Width(m.Sign) != 1 {
			t.Errorf("%s is %d cells wide", m.Word, Width(m.Sign))
		}
		seen[m.Sign] = m.Word
	}
}

func TestReservedKeysDoNotCollide(t *testing.T) {
	if wrong := Collisions(Reserved()); wrong != nil {
		t.Error(wrong)
	}
	bad := []Action{
		{ID: "mine", Keys: []string{"q"}}, {ID: Up, Keys: []string{"w"}},
		{ID: "a", Keys: []string{"b"}}, {ID: "c", Keys: []string{"b"}},
	}
	if got := Collisions(bad); len(got) != 3 {
		t.Errorf("three collisions are told as %q", got)
	}
}

func TestBars(t *testing.T) {
	theme := ThemeNamed("mono")
	text := func(spans []Span) string {
		var b strings.Builder
		for _, s := range spans {
			b.WriteString(s.Text)
		}
		return b.String()
	}
	nan := math.NaN()
	tests := []struct{ name, got, want string }{
		{"interval", text(IntervalBar(theme, Style{}, 11, Interval{0.5, 0.3, 0.8})), "───━━●━━━──"},
		{"ends", text(IntervalBar(theme, Style{}, 5, Interval{1, 0, 1})), "━━━━●"},
		{"no interval", text(IntervalBar(theme, Style{}, 5, Interval{0.5, nan, nan})), "──●──"},
		{"nothing", text(IntervalBar(theme, Style{}, 5, Interval{nan, nan, nan})), "─────"},
		{"delta", text(DeltaBar(theme, Style{}, 11, Interval{0.2, 0.1, 0.3}, 0.5, 0.1)), "────┄│━●━──"},
		{"progress", text(Progress(theme, Style{}, 10, 3, 10)), "━━━───────"},
		{"progress of nothing", text(Progress(theme, Style{}, 4, 0, 0)), "────"},
		{"sparkline", Sparkline(4, []float64{0, 1, 2, 4}), "▁▃▅█"},
		{"sparkline of nothing", Sparkline(3, nil), "   "},
		{"mix", text(Mix(theme, 10, []Part{{Count: 6, Sign: 'p'}, {Count: 3, Sign: 'f'}, {Count: 1, Sign: 'l'}})), "ppppppfffl"},
		{"mix keeps the small", text(Mix(theme, 10, []Part{{Count: 999, Sign: 'p'}, {Count: 1, Sign: 'f'}})), "pppppppppf"},
		{"share", Share(0.854) + Share(1) + Share(0) + Share(0.9999) + Share(nan), ".851.0.00>.99–"},
		{"signed", Signed(0.123) + Signed(-0.0456) + Signed(0) + Signed(1.5), "+.123-.0460+1.500"},
		{"count", Count(1234567) + " " + Count(-1234) + " " + Count(12), "1,234,567 -1,234 12"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}

func TestConfirmDefaultsToNo(t *testing.T) {
	for _, tt := range []struct {
		keys string
		want Answer
	}{
		{"enter", No}, {"esc", No}, {"n", No}, {"y", Yes}, {"right enter", Yes}, {"tab tab enter", No}, {"x", Asking}, {"ctrl+c", No}, {"q", No}, {"space", Asking},
	} {
		var c Confirm
		got := Asking
		for _, key := range strings.Fields(tt.keys) {
			got = c.Key(key)
		}
		if got != tt.want {
			t.Errorf("%s comes to %v, want %v", tt.keys, got, tt.want)
		}
	}
}

func TestMenuFinds(t *testing.T) {
	m := NewMenu(Reserved())
	for _, r := range "redraw" {
		m.Key(string(r), string(r))
	}
	if found := m.Found(); len(found) == 0 || found[0].ID != Redraw {
		t.Errorf("redraw finds %v", found)
	}
	if a, closed := m.Key("enter", ""); a == nil || a.ID != Redraw || !closed {
		t.Errorf("enter gives %v", a)
	}
	m = NewMenu(Reserved())
	m.Key("", "\x1b[2Jzzz")
	if lines := strings.Join(m.View(ThemeNamed("dark"), 80, 24), ""); strings.Contains(lines, "\x1b[2J") {
		t.Error("what was pasted reaches the terminal")
	}
	if _, closed := m.Key("esc", ""); !closed {
		t.Error("Esc does not close")
	}
}
