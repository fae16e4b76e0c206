package tui

import (
	"fmt"
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/engine/record"
	"assay/tui/ui"
)

// sizes are the smallest window that keeps two panes, a usual one, a large one,
// and one that folds.
var sizes = []struct{ width, height int }{{80, 24}, {120, 40}, {200, 50}, {52, 20}}

// scene is a state of the app that is kept as pictures.
type scene struct {
	name string
	make func(t testing.TB, width, height int) *driver
}

// scenes are those of every screen.
func scenes() []scene {
	return slices.Concat(frameScenes, exploreScenes, deltaScenes, cutScenes, labelScenes)
}

// frameScenes are those of the frame, Runs and Live.
var frameScenes = []scene{
	{"first", func(t testing.TB, w, h int) *driver { return drive(t, newMemory(), w, h) }},
	{"runs", func(t testing.TB, w, h int) *driver { return drive(t, saved(), w, h) }},
	{"runs-recipes", func(t testing.TB, w, h int) *driver { d := drive(t, saved(), w, h); d.press("a j"); return d }},
	{"runs-form", func(t testing.TB, w, h int) *driver {
		d := drive(t, saved(), w, h)
		d.press("a a down down")
		d.write("8")
		return d
	}},
	{"runs-find", func(t testing.TB, w, h int) *driver {
		d := drive(t, saved(), w, h)
		d.press("/")
		d.write("night")
		return d
	}},
	{"runs-help", func(t testing.TB, w, h int) *driver { d := drive(t, saved(), w, h); d.press("?"); return d }},
	{"runs-palette", func(t testing.TB, w, h int) *driver {
		d := drive(t, saved(), w, h)
		d.press(":")
		d.write("hide")
		return d
	}},
	{"live-empty", func(t testing.TB, w, h int) *driver { d := drive(t, saved(), w, h); d.press("2"); return d }},
	{"live-saved", func(t testing.TB, w, h int) *driver { d := drive(t, saved(), w, h); d.press("enter j j"); return d }},
	{"live-transcript", func(t testing.TB, w, h int) *driver {
		d := drive(t, saved(), w, h)
		d.press("enter pgdown enter j j enter")
		return d
	}},
	{"live-running", func(t testing.TB, w, h int) *driver { d := drive(t, saved(), w, h); underway(d); return d }},
	{"live-ask", func(t testing.TB, w, h int) *driver {
		d := drive(t, saved(), w, h)
		underway(d)
		d.press("q")
		return d
	}},
	{"live-cut", func(t testing.TB, w, h int) *driver { d := drive(t, saved(), w, h); d.press("enter >"); return d }},
	{"live-warnings", func(t testing.TB, w, h int) *driver { d := drive(t, saved(), w, h); d.press("enter !"); return d }},
	{"live-delta", func(t testing.TB, w, h int) *driver { d := drive(t, saved(), w, h); d.press("enter > > > >"); return d }},
}

// underway begins a recipe and stops in the middle of its first run.
func underway(d *driver) {
	d.press("a enter")
	p := d.play
	p.observe(engine.StageStarted{Stage: engine.StageRun})
	run := p.begin(record.Run{ID: "77aa0c11d2e4b587", Recipe: "bring-your-own-agent", Program: "go run oncall/main.go", Role: record.RoleMain, Repeats: 2}, 30)
	p.observe(engine.Warned{RunID: run.ID, Warning: record.Warning{Code: "short_policy", Text: "the policy has 120 characters", Fix: "write out what must not be done"}})
	d.frame()
	for i := range 12 {
		p.finish(run, p.start(run, i, 0))
		if i%4 == 0 {
			d.frame()
		}
	}
	for i := range 5 {
		s := p.start(run, 12+i, 0)
		for at := range min(i, len(s.Rollout.Steps)) {
			p.step(s, at)
		}
	}
	p.observe(engine.RolloutRetried{RunID: run.ID, RolloutID: "none", Cause: record.CauseInfrastructure})
	d.frame()
}

func TestGoldenScreens(t *testing.T) {
	plainOnly(t)
	for _, scene := range scenes() {
		for _, size := range sizes {
			name := fmt.Sprintf("%s-%dx%d", scene.name, size.width, size.height)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				golden(t, name, scene.make(t, size.width, size.height).screen())
			})
		}
	}
}

// TestScreensFit holds what must be so of every screen at every size: as many rows
// as the window has, each as wide, nothing but text and styles.
func TestScreensFit(t *testing.T) {
	plainOnly(t)
	for _, scene := range scenes() {
		t.Run(scene.name, func(t *testing.T) {
			t.Parallel()
			d := scene.make(t, 80, 24)
			for _, size := range [][2]int{{80, 24}, {250, 60}, {79, 24}, {40, 12}, {24, 6}, {20, 5}} {
				t.Run(fmt.Sprintf("resized-to-%dx%d", size[0], size[1]), func(t *testing.T) {
					d.t = t
					d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
					checkFrame(t, d)
				})
			}
			t.Run("made-at-24x6", func(t *testing.T) { checkFrame(t, scene.make(t, 24, 6)) })
		})
	}
}

func TestGoldenThemes(t *testing.T) {
	plainOnly(t)
	for _, theme := range ui.Themes() {
		d := drive(t, saved(), 80, 24, func(o *Options) { o.Theme = theme })
		d.press("enter j j tab j j j enter")
		golden(t, "theme-"+theme, d.m.View().Content)
	}
}

// TestGoldenThemesOfEveryScreen keeps a picture of each screen, colours and all, in the
// light, the dark and the plain theme, taken on while the program runs.
func TestGoldenThemesOfEveryScreen(t *testing.T) {
	plainOnly(t)
	kept := []string{"runs-form", "live-transcript", "explore-transcript", "label-card", "judge-report", "delta-report", "cut-grpo"}
	for _, scene := range scenes() {
		if !slices.Contains(kept, scene.name) {
			continue
		}
		kept = slices.DeleteFunc(kept, func(name string) bool { return name == scene.name })
		t.Run(scene.name, func(t *testing.T) {
			t.Parallel()
			d := scene.make(t, 80, 24)
			for _, theme := range []string{"dark", "light", "mono"} {
				d.m.restyle(ui.ThemeNamed(theme))
				golden(t, "theme-"+theme+"-"+scene.name, d.m.View().Content)
			}
		})
	}
	if len(kept) > 0 {
		t.Errorf("there are no scenes %v", kept)
	}
}

func TestGoldenThemesOfExplore(t *testing.T) {
	plainOnly(t)
	for _, theme := range []string{"dark", "light", "mono"} {
		for view, keys := range map[string]string{"tasks": "3 v j l", "map": "3 m l", "siblings": "3 j j s"} {
			d := drive(t, saved(), 80, 24, func(o *Options) { o.Theme = theme })
			d.press(keys)
			golden(t, "theme-"+theme+"-explore-"+view, d.m.View().Content)
		}
	}
}

func TestNoColor(t *testing.T) {
	d := drive(t, saved(), 80, 24, func(o *Options) { o.Theme, o.Environ = "", []string{"TERM=xterm", "NO_COLOR=1"} })
	if d.m.theme.Name != "mono" {
		t.Errorf("NO_COLOR gets the theme %s", d.m.theme.Name)
	}
	d = drive(t, saved(), 80, 24, func(o *Options) { o.Theme, o.Environ = "", []string{"NO_COLOR="} })
	if d.m.theme.Name != "dark" {
		t.Errorf("an empty NO_COLOR gets the theme %s", d.m.theme.Name)
	}
}
