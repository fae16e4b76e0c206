package tui

import (
	"testing"

	"assay/tui/ui"
)

// exploreScenes are those of Explore.
var exploreScenes = []scene{
	{"explore-empty", func(t testing.TB, w, h int) *driver { d := drive(t, newMemory(), w, h); d.press("3"); return d }},
	{"explore-rollouts", func(t testing.TB, w, h int) *driver { return exploring(t, w, h, "j j space space") }},
	{"explore-transcript", func(t testing.TB, w, h int) *driver { return exploring(t, w, h, "j j enter ] enter") }},
	{"explore-tasks", func(t testing.TB, w, h int) *driver { return exploring(t, w, h, "v j j l l") }},
	{"explore-groups", func(t testing.TB, w, h int) *driver { return exploring(t, w, h, "v v b b j") }},
	{"explore-map", func(t testing.TB, w, h int) *driver { return exploring(t, w, h, "m l j") }},
	{"explore-sql", func(t testing.TB, w, h int) *driver {
		d := exploring(t, w, h, "")
		d.m.do("sql")
		d.press("ctrl+u")
		d.write("SELECT rollout_id, k, tool_calls, status FROM rollouts ORDER BY rollout_no LIMIT 9")
		d.press("enter j")
		return d
	}},
	{"explore-cause", func(t testing.TB, w, h int) *driver {
		d, _ := atBench(t, labelMemory(), ui.ScreenExplore, w, h)
		d.press("j c k k")
		return d
	}},
	{"explore-replay", func(t testing.TB, w, h int) *driver {
		d, _ := atBench(t, labelMemory(), ui.ScreenExplore, w, h)
		d.press("/")
		d.write("fault=timeout")
		d.press("enter p p")
		return d
	}},
	{"explore-siblings", func(t testing.TB, w, h int) *driver { return exploring(t, w, h, "j j s") }},
	{"explore-filter", func(t testing.TB, w, h int) *driver {
		d := exploring(t, w, h, "/")
		d.write("reward=0 stance=")
		return d
	}},
	{"explore-problem", func(t testing.TB, w, h int) *driver {
		d := exploring(t, w, h, "/")
		d.write("stanse=x")
		d.press("enter")
		return d
	}},
	{"explore-filtered", func(t testing.TB, w, h int) *driver {
		d := exploring(t, w, h, "/")
		d.write("reward=0 stance=adversarial k-split")
		d.press("enter o")
		return d
	}},
	{"explore-nothing", func(t testing.TB, w, h int) *driver {
		d := exploring(t, w, h, "/")
		d.write("stance=nobody")
		d.press("enter")
		return d
	}},
	{"explore-find", func(t testing.TB, w, h int) *driver {
		d := exploring(t, w, h, "enter /")
		d.write("runbook")
		d.press("enter n")
		return d
	}},
}

// exploring opens Explore on the story that is saved, and presses keys.
func exploring(t testing.TB, w, h int, keys string) *driver {
	d := drive(t, saved(), w, h)
	d.press("3 " + keys)
	return d
}
