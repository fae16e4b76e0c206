package tui

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"assay/tui/ui"
)

const (
	keysBegin = "<!-- keys: go test ./tui -run TestActionsDoNotCollide -update writes them -->\n"
	keysEnd   = "<!-- end of keys -->\n"
)

// engineScenes are states of Runs and Explore that offer what an engine is needed for.
var engineScenes = []scene{
	{"runs with an engine", func(t testing.TB, w, h int) *driver { m := saved(); return drive(t, m, w, h, withEngine(t, m)) }},
	{"explore with an engine", func(t testing.TB, w, h int) *driver {
		m := saved()
		d := drive(t, m, w, h, withEngine(t, m))
		d.press("3")
		return d
	}},
}

// ownKeys are what each screen has beside the reserved keys, over all its states: what
// can be done depends on what is shown.
type ownKeys map[int][]ui.Action

func (own ownKeys) add(screen int, actions []ui.Action) {
	for _, a := range actions {
		if digit := a.Keys[0]; digit >= "1" && digit <= "9" && len(a.Keys) == 1 { // Label's failure tags, one entry
			a.ID, a.Keys, a.Name = "tags", []string{"1..9"}, "failure tags"
		}
		known := func(b ui.Action) bool { return a.ID == b.ID || slices.Equal(a.Keys, b.Keys) }
		if slices.ContainsFunc(ui.Reserved(), known) || slices.ContainsFunc(own[screen], known) {
			continue
		}
		own[screen] = append(own[screen], a)
	}
}

// checkReadmesKeys wants the README to list the keys that the program has, from the
// same actions as footer, help and palette.
func checkReadmesKeys(t *testing.T, own ownKeys) {
	const file = "../README.md"
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, begun := strings.Cut(string(raw), keysBegin)
	kept, tail, ended := strings.Cut(rest, keysEnd)
	if !begun || !ended {
		t.Fatalf("the README has no place for the keys: %q and %q", keysBegin, keysEnd)
	}
	want := own.list()
	if *update {
		if err := os.WriteFile(file, []byte(head+keysBegin+want+keysEnd+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if kept != want {
		t.Errorf("the README's keys are not the program's; -update writes them anew. It has\n%s\nand they are\n%s", kept, want)
	}
}

// list is all keys as Markdown.
func (own ownKeys) list() string {
	var b strings.Builder
	b.WriteString("\n| everywhere | |\n|---|---|\n")
	for _, a := range ui.Reserved() {
		if !strings.HasPrefix(a.ID, "screen-") {
			fmt.Fprintf(&b, "| %s | %s |\n", keysOf(a), a.Help)
		}
	}
	fmt.Fprintf(&b, "| `F1` to `F%d`, and `1` to `%[1]d` except on Label | Go to a screen |\n", ui.Screens)
	b.WriteString("\n| screen | its own keys |\n|---|---|\n")
	for n := ui.ScreenRuns; n <= ui.Screens; n++ {
		var keys []string
		for _, a := range own[n] {
			keys = append(keys, keysOf(a)+" "+a.Name)
		}
		fmt.Fprintf(&b, "| %d %s | %s |\n", n, screenName(n), strings.Join(keys, ", "))
	}
	return b.String() + "\n"
}

// keysOf are an action's keys in Markdown's code.
func keysOf(a ui.Action) string {
	labels := make([]string, len(a.Keys))
	for i, key := range a.Keys {
		labels[i] = "`" + strings.ReplaceAll(ui.KeyLabel(key), "|", `\|`) + "`"
	}
	return strings.Join(labels, " ")
}
