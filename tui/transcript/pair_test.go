package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"assay/engine/record"
	"assay/tui/ui"
)

func ending(final string, steps ...record.Step) *record.Sample {
	reward := 1.0
	return &record.Sample{
		Posed: record.Posed{Task: &record.Task{ID: "t", Ask: "payments is down, restart it"}},
		Outcome: record.Outcome{
			Rollout:  record.Rollout{ID: "r", Status: record.StatusDone, Steps: steps, FinalText: record.Text(final)},
			Judgment: &record.Judgment{Status: record.JudgeOK, Reward: &reward, Scorer: "marker:x@1", Reason: "because"},
		},
	}
}

var styles = regexp.MustCompile("\x1b\\[[0-9;]*m")

// pairDrawn is a pair whole, without styles; every line is checked for its width.
func pairDrawn(t *testing.T, d *Pair, width int) []string {
	t.Helper()
	var out []string
	for i := range d.Len() {
		for _, line := range d.Draw(i, width, ui.Plain) {
			text := styles.ReplaceAllString(line, "")
			if w := ui.Width(text); w != width {
				t.Errorf("a line of block %d is %d cells wide, not %d: %q", i, w, width, text)
			}
			for _, r := range text {
				if !unicode.IsGraphic(r) {
					t.Errorf("block %d holds %U", i, r)
					break
				}
			}
			out = append(out, strings.TrimRight(text, " "))
		}
	}
	return out
}

func TestSideBySide(t *testing.T) {
	look, restart := tool("get_runbook", `{"service":"payments"}`, `{"steps":["drain"]}`), tool("restart_service", `{"service":"payments"}`, `{"ok":true}`)
	d := NewPair(ui.ThemeNamed("mono"), ending("Restarted.", restart), ending("Restarted.", look, restart), 1)
	lines := pairDrawn(t, d, 121)
	text := strings.Join(lines, "\n")
	at, ok := d.Parting()
	if !ok || !strings.Contains(strings.Join(plain(d.Draw(at, 80, ui.Plain)), ""), "here they part") {
		t.Errorf("the parting is not marked:\n%s", text)
	}
	for _, want := range []string{"▸", "▸ get_runbook", "Restarted."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	for _, line := range lines {
		if strings.Contains(line, "restart_service") && strings.Count(line, "restart_service") != 2 {
			t.Errorf("the calls that are the same do not stand side by side: %q", line)
		}
	}
	if says := d.Says("before", "after"); says != "they part at step 1: only after calls get_runbook" {
		t.Error(says)
	}
}

func plain(lines []string) []string {
	for i := range lines {
		lines[i] = styles.ReplaceAllString(lines[i], "")
	}
	return lines
}

func TestSays(t *testing.T) {
	x := tool("x", "1", "1")
	for _, c := range []struct {
		a, b *record.Sample
		want string
	}{
		{ending("a", x), ending("a", x), "they never part: the same steps, the same words"},
		{ending("a", x), ending("b", x), "the same steps, and another end"},
		{ending("a", x), ending("a"), "they part at step 1: only before calls x"},
		{ending("a", x), ending("a", tool("x", "2", "1")), "they part at step 1: both call x, with other arguments"},
		{ending("a", x), ending("a", tool("x", "1", "2")), "they part at step 1: both call x alike, and are answered otherwise"},
		{ending("a", said("p"), x), ending("a", said("q"), x), "they part at step 1, in words alone"},
		{ending("a"), ending("a", record.Step{Kind: record.StepUser, Text: "hm"}), "they part at step 1: only after hears the user again"},
	} {
		if got := NewPair(ui.ThemeNamed("mono"), c.a, c.b, 1).Says("before", "after"); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestTogglesBothSides(t *testing.T) {
	d := NewPair(ui.ThemeNamed("mono"), ending("a", tool("x", `{"left":1}`, `{"l":"result"}`)), ending("a", tool("x", `{"right":1}`, `{"r":"result"}`)), 1)
	at, ok := d.Parting()
	if !ok {
		t.Fatal("they do not part")
	}
	before := d.Len()
	if at, ok = d.Toggle(at + 1); !ok || d.Len() <= before {
		t.Fatal("nothing was unfolded")
	}
	if text := strings.Join(pairDrawn(t, d, 100), "\n"); !strings.Contains(text, `"l": "result"`) || !strings.Contains(text, `"r": "result"`) {
		t.Errorf("not both sides are unfolded:\n%s", text)
	}
	if _, ok = d.Toggle(at); !ok || d.Len() != before {
		t.Error("it is not folded again")
	}
	if _, ok := d.Toggle(0); ok {
		t.Error("a row without a call was unfolded")
	}
}

func TestDifferences(t *testing.T) {
	same := tool("x", "0", "1")
	d := NewPair(ui.ThemeNamed("mono"), ending("a", same, tool("y", "1", "1"), same, tool("z", "1", "1")), ending("b", same, tool("y", "2", "1"), same), 1)
	var found []int
	for at := -1; ; {
		next, ok := d.Difference(at, 1)
		if !ok {
			break
		}
		found, at = append(found, d.refs[next].row), next
	}
	var back []int
	for at := d.Len(); ; {
		next, ok := d.Difference(at, -1)
		if !ok {
			break
		}
		back, at = append(back, d.refs[next].row), next
	}
	if len(found) != 3 || fmt.Sprint(reversed(back)) != fmt.Sprint(found) {
		t.Errorf("differences %v, and backwards %v", found, back)
	}
}

func reversed(in []int) []int {
	var out []int
	for i := len(in) - 1; i >= 0; i-- {
		out = append(out, in[i])
	}
	return out
}

// Every byte of either side can be reached, together and alone.
func TestPairsHideNothing(t *testing.T) {
	var long strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&long, "w%05d ", i)
	}
	d := NewPair(ui.ThemeNamed("mono"), ending(long.String(), said("left")), ending("short", said("right")), 1)
	all := func() string { return strings.Join(pairDrawn(t, d, 90), " ") }
	if text := all(); strings.Count(text, "w0") != 3000 || !strings.Contains(text, "short") {
		t.Error("words are missing side by side")
	}
	at, _ := d.Parting()
	if at = d.Alone(Right, at); d.TextOf(at, Right) != "right" || d.Alone(Right, at) != at {
		t.Error("the place is lost where one side is shown alone")
	}
	if text := all(); strings.Contains(text, "w0") || !strings.Contains(text, "short") || !strings.Contains(text, "right") {
		t.Error("the right side alone is not that")
	}
	d.Alone(Left, 0)
	if text := all(); strings.Count(text, "w0") != 3000 || strings.Contains(text, "short") {
		t.Error("the left side alone is not that")
	}
	if at = d.Both(at); d.TextOf(at, Left) != "left" || d.Both(at) != at {
		t.Error("the place is lost where both sides are shown again")
	}
}

func TestHostileTextSideBySide(t *testing.T) {
	files, err := filepath.Glob("../ui/testdata/hostile/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no hostile texts: %v", err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw)
		s := ending(text, said(text), tool(text, text, text), record.Step{Kind: record.StepUser, Text: record.Text(text)})
		s.Task.Ask = record.Text(text)
		for _, width := range []int{120, 81, 40, 11} {
			d := NewPair(ui.ThemeNamed("dark"), s, ending("a", tool(text, "1", "1")), 1)
			for i := range d.Len() {
				d.Toggle(i)
			}
			pairDrawn(t, d, width)
			d.Alone(Left, 0)
			pairDrawn(t, d, width)
			if says := d.Says("before", "after"); ui.CleanLine(says) != says {
				t.Errorf("%s: %q is not clean", f, says)
			}
		}
	}
}
