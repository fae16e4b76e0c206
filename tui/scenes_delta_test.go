package tui

import (
	"testing"

	"assay/engine/record"
)

// deltaScenes are those of Delta, cutScenes those of Cut.
var deltaScenes = []scene{
	{"delta-empty", func(t testing.TB, w, h int) *driver {
		m := newMemory()
		d := drive(t, m, w, h, withEngine(t, m))
		d.press("6")
		return d
	}},
	{"delta-pick", func(t testing.TB, w, h int) *driver { return comparing(t, w, h, "esc k b j a") }},
	{"delta-report", func(t testing.TB, w, h int) *driver { return comparing(t, w, h, "") }},
	{"delta-rules", func(t testing.TB, w, h int) *driver { return comparing(t, w, h, "g j enter") }},
	{"delta-end", func(t testing.TB, w, h int) *driver { return comparing(t, w, h, "G") }},
	{"delta-asked", func(t testing.TB, w, h int) *driver { return comparing(t, w, h, "j t") }},
	{"delta-tasks", func(t testing.TB, w, h int) *driver { return comparing(t, w, h, "enter j") }},
	{"delta-numbers", func(t testing.TB, w, h int) *driver { return comparing(t, w, h, "j j j enter tab") }},
	{"delta-task", func(t testing.TB, w, h int) *driver { return comparing(t, w, h, "enter enter") }},
	{"delta-incomparable", func(t testing.TB, w, h int) *driver {
		m := compared()
		other := record.NewScorer("judge", "strict", "m", "", nil)
		m.runs[2].Scorer, m.runs[2].Scorers = other.ID, []record.Scorer{other}
		d := drive(t, m, w, h, withEngine(t, m))
		d.press("6")
		return d
	}},
}

// comparing opens Delta on the story whose report was saved, and presses keys.
func comparing(t testing.TB, w, h int, keys string) *driver {
	m := reported()
	d := drive(t, m, w, h, withEngine(t, m))
	d.press("6 " + keys)
	return d
}

var cutScenes = []scene{
	{"cut-empty", func(t testing.TB, w, h int) *driver {
		m := newMemory()
		d := drive(t, m, w, h, withEngine(t, m))
		d.press("7")
		return d
	}},
	{"cut-sft", func(t testing.TB, w, h int) *driver { return cutting(t, w, h, "") }},
	{"cut-grpo", func(t testing.TB, w, h int) *driver { return cutting(t, w, h, "> > tab j e") }},
	{"cut-rows", func(t testing.TB, w, h int) *driver { return cutting(t, w, h, "enter j") }},
	{"cut-row", func(t testing.TB, w, h int) *driver { return cutting(t, w, h, "enter j enter j j j enter") }},
	{"cut-write", func(t testing.TB, w, h int) *driver {
		d := cutting(t, w, h, "w G enter ctrl+u")
		d.write("out/支払い.jsonl")
		return d
	}},
	{"cut-refused", func(t testing.TB, w, h int) *driver {
		m := compared()
		m.runs[0].Mode = record.ModeEval
		d := drive(t, m, w, h, withEngine(t, m))
		d.press("7 G k")
		return d
	}},
}

// cutting opens Cut on the compared story, and presses keys.
func cutting(t testing.TB, w, h int, keys string) *driver {
	m := compared()
	d := drive(t, m, w, h, withEngine(t, m))
	d.press("7 " + keys)
	return d
}
