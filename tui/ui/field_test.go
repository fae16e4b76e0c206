package ui

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFieldKeys(t *testing.T) {
	for _, tt := range []struct{ typed, keys, want string }{
		{"reward=0", "", "reward=0|"},
		{"reward=0", "left left", "reward|=0"},
		{"reward=0 tool", "ctrl+w", "reward=0 |"},
		{"reward=0 tool ", "ctrl+w ctrl+w", "|"},
		{"reward=0", "home delete", "|eward=0"},
		{"one two", "ctrl+a alt+right ctrl+k", "one |"},
		{"one two", "alt+left ctrl+u", "|two"},
		{"é支", "left backspace", "|支"},
		{"x", "backspace backspace left right end", "|"},
		{"x", "f5 up enter", "x|"},
	} {
		var f Field
		f.Insert(tt.typed)
		for _, key := range strings.Fields(tt.keys) {
			f.Key(key, "")
		}
		if got := f.Before() + "|" + f.After(); got != tt.want {
			t.Errorf("%q and %s give %q, want %q", tt.typed, tt.keys, got, tt.want)
		}
	}
	var f Field
	f.Set("stance=adv")
	f.Replace(3, "adversarial")
	if f.Text() != "stance=adversarial" {
		t.Errorf("completed to %q", f.Text())
	}
	f.Insert("\nx\r")
	if strings.ContainsAny(f.Text(), "\r\n") {
		t.Error("a field has more than one line")
	}
}

// TestFieldFits holds whatever is in it, and wherever its cursor.
func TestFieldFits(t *testing.T) {
	theme := ThemeNamed("mono")
	rapid.Check(t, func(t *rapid.T) {
		var f Field
		f.Set(rapid.String().Draw(t, "text"))
		for range rapid.IntRange(0, 30).Draw(t, "left") {
			f.Key("left", "")
		}
		width := rapid.IntRange(12, 60).Draw(t, "width") // the widest name of one character has ten cells
		used := 0
		for _, s := range f.Spans(theme, width) {
			used += Width(s.Text)
			if Clean(s.Text) != s.Text {
				t.Fatalf("%q is not clean", s.Text)
			}
		}
		if used > width {
			t.Fatalf("%q takes %d cells of %d", f.Text(), used, width)
		}
	})
}
