package tui

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"assay/engine"
	"assay/tui/live"
)

var update = flag.Bool("update", false, "write the golden screens anew")

// driver drives the app's model by hand: keys in, screens out, every command run
// at once and in order, no clock.
type driver struct {
	t     testing.TB
	m     *root
	store *memory
	play  *play // the story that was begun last
	begun Begin // and what was asked for
	quit  bool
	at    time.Time
}

func drive(t testing.TB, m *memory, width, height int, change ...func(*Options)) *driver {
	t.Helper()
	d := &driver{t: t, store: m, at: now()}
	o := Options{Store: m, Pass: m.pass, Now: func() time.Time { return d.at }, Version: "test", Theme: "dark", Recipes: []Recipe{
		{Name: "01-simulate/bring-your-own-agent", About: "An agent of your own: simulated, cut, changed and compared"},
		{Name: "02-measure/before-and-after", About: "Two versions of a policy", Lacks: "python3"},
	}}
	o.Start = func(what Begin, observe func(engine.Event)) (Story, error) {
		d.begun, d.play = what, newPlay(m, observe)
		return d.play, nil
	}
	o.Resume = func(_ string, observe func(engine.Event)) (Story, error) {
		d.play = newPlay(m, observe)
		return d.play, nil
	}
	o.Knobs = func(string) ([]Knob, error) {
		return []Knob{{Name: "situations", About: "how many situations to pose", Default: "40"}, {Name: "repeats", About: "rollouts of each task (k)", Default: "4"}, {Name: "seed", About: "the seed of every draw", Default: "0"}}, nil
	}
	for _, c := range change {
		c(&o)
	}
	box := newMailbox(o.Now)
	d.m = newRoot(context.Background(), o, box, &guard{nudge: box.nudge})
	d.m.later = func(time.Duration, tea.Msg) tea.Cmd { return nil }
	d.m.wait = func(Story) tea.Cmd { return nil }
	d.run(d.m.Init())
	d.send(tea.WindowSizeMsg{Width: width, Height: height})
	return d
}

func (d *driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			d.run(c)
		}
	case tea.QuitMsg:
		d.quit = true
	default:
		d.send(msg)
	}
}

func (d *driver) send(msg tea.Msg) {
	_, cmd := d.m.Update(msg)
	d.run(cmd)
	d.m.View()
}

// press sends keys by name, apart by spaces.
func (d *driver) press(keys string) {
	for _, name := range strings.Fields(keys) {
		d.send(keyOf(name))
	}
}

// write types a text.
func (d *driver) write(text string) {
	for _, r := range text {
		d.send(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

func keyOf(name string) tea.KeyPressMsg {
	special := map[string]tea.KeyPressMsg{
		"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
		"left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
		"pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown}, "space": {Code: tea.KeySpace, Text: " "}, "backspace": {Code: tea.KeyBackspace},
		"f1": {Code: tea.KeyF1}, "f2": {Code: tea.KeyF2}, "f3": {Code: tea.KeyF3}, "ctrl+u": {Code: 'u', Mod: tea.ModCtrl},
		"shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift},
		"ctrl+c":    {Code: 'c', Mod: tea.ModCtrl}, "ctrl+p": {Code: 'p', Mod: tea.ModCtrl}, "ctrl+z": {Code: 'z', Mod: tea.ModCtrl}, "ctrl+l": {Code: 'l', Mod: tea.ModCtrl},
	}
	if k, ok := special[name]; ok {
		return k
	}
	r := []rune(name)
	return tea.KeyPressMsg{Code: r[0], Text: name}
}

// frame is what the feeder would tell now.
func (d *driver) frame() {
	d.at = d.at.Add(time.Second)
	if n, ok := d.m.box.empty(false); ok {
		d.send(n)
	}
}

// end ends the story that was begun.
func (d *driver) end() {
	d.play.end()
	d.frame()
	d.send(endedMsg{d.play})
}

// screen is what is seen, without styles.
func (d *driver) screen() string {
	lines := strings.Split(ansi.Strip(d.m.View().Content), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func (d *driver) sees(texts ...string) {
	d.t.Helper()
	screen := d.screen()
	for _, text := range texts {
		if !strings.Contains(screen, text) {
			d.t.Fatalf("%q is not on the screen:\n%s", text, screen)
		}
	}
}

func (d *driver) seesNot(texts ...string) {
	d.t.Helper()
	screen := d.screen()
	for _, text := range texts {
		if strings.Contains(screen, text) {
			d.t.Fatalf("%q is on the screen:\n%s", text, screen)
		}
	}
}

// golden compares a screen with the one that is kept.
// plainOnly leaves a long sweep out of short runs, which are those with the race
// detector: it is driven by one goroutine, so there is no race to see.
func plainOnly(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("one goroutine drives it: the plain run holds it")
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; -update writes it", err)
	}
	if diff := cmp.Diff(string(want), got+"\n"); diff != "" {
		t.Errorf("%s differs; -update writes it anew (-kept +now):\n%s", name, diff)
	}
}

var _ tea.Model = (*root)(nil)
var _ live.Story = (Story)(nil)
