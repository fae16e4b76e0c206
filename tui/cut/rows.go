package cut

import (
	"fmt"
	"slices"

	"assay/engine"
	"assay/engine/record"
	"assay/tui/report"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// entry is one row of a run, kept or dropped.
type entry struct {
	rolloutID string
	key       record.Key
	task      *record.Task
	says      string // why it was dropped, or what it stands beside
	reward    *float64
}

// rows is a number of the gates, opened.
type rows struct {
	title   string
	entries []entry
	list    ui.List
	theme   ui.Theme
	seen    map[string]bool // rollouts of which the list tells the verdict
}

// open lists the rows of the line under the cursor; nil where it has none.
func (m *Model) open() *rows {
	p := m.plan()
	switch l := m.line(min(m.gates.Cursor(), m.Len()-1)); l.kind {
	case lineGate:
		r := &rows{title: ui.CleanLine(p.Gates[l.gate].Name) + " took", theme: m.theme, seen: m.seen}
		for i := range p.Dropped {
			if d := &p.Dropped[i]; d.Gate == l.gate {
				r.entries = append(r.entries, entry{rolloutID: d.RolloutID, key: d.Key, task: d.Task, says: d.Why})
			}
		}
		return r
	case lineIn:
		r := &rows{title: "all rows", theme: m.theme, seen: m.seen}
		for i := range p.Dropped {
			d := &p.Dropped[i]
			r.entries = append(r.entries, entry{rolloutID: d.RolloutID, key: d.Key, task: d.Task, says: p.Gates[d.Gate].Name + ": " + d.Why})
		}
		r.keep(p.Kept)
		slices.SortStableFunc(r.entries, func(a, b entry) int { return a.key.Compare(b.key) })
		return r
	case lineKept:
		r := &rows{title: "kept for " + ui.CleanLine(p.For), theme: m.theme, seen: m.seen}
		r.keep(p.Kept)
		return r
	}
	return nil
}

func (r *rows) keep(kept []engine.CutKept) {
	for i := range kept {
		k := &kept[i]
		says := "kept"
		if k.Beside != "" {
			says = k.Beside
		}
		r.entries = append(r.entries, entry{rolloutID: k.RolloutID, key: k.Key, task: k.Task, says: says, reward: &k.Reward})
	}
}

// Len is the number of rows.
func (r *rows) Len() int { return len(r.entries) }

// Version tells drawn rows apart.
func (r *rows) Version(i int) uint64 { return uint64(i) }

// Draw draws a row: which attempt it is, what was asked, and why it is here.
func (r *rows) Draw(i, width int, look ui.Look) string {
	t := r.theme
	base := t.Base(look)
	e := &r.entries[i]
	r.seen[e.rolloutID] = true
	lead := ui.S(base, "  ")
	if look == ui.Active {
		lead = ui.S(t.Accent, "▎ ")
	}
	mark := ui.S(t.Bad, "− ")
	style := t.Quiet
	if e.reward != nil {
		mark, style = ui.S(t.Good, "+ "), t.Text
	}
	says := ui.Cut(ui.CleanLine(e.says), max(width/2, 12))
	return ui.Sides(width, base, []ui.Span{lead, mark, ui.S(t.Quiet, ui.PadLeft(fmt.Sprint(e.key.K+1), 2)+"  "), ui.S(t.Text, ui.Line(string(e.task.Ask), width))},
		[]ui.Span{ui.S(style, "  "+says+" ")})
}

// under is the row under the cursor, nil where there is none.
func (r *rows) under() *entry {
	if len(r.entries) == 0 {
		return nil
	}
	return &r.entries[min(r.list.Cursor(), len(r.entries)-1)]
}

// rowsTop are the lines above the list.
const rowsTop = 1

func (m *Model) rowsView(width, height int) []string {
	t, r := m.theme, m.rows
	about := aboutRows(height)
	lines := []string{ui.Rule(t, width, r.title, true, ui.S(t.Quiet, ui.Plural(r.Len(), "row")))}
	lines = append(lines, r.list.View(r, width, max(height-about-rowsTop, 0), true)...)
	if about == 0 {
		return lines
	}
	l := report.Lines{Theme: t, Width: width, All: append(lines, ui.Rule(t, width, "", false))}
	if e := r.under(); e != nil {
		reward := ""
		if e.reward != nil {
			reward = "reward " + ui.Share(*e.reward) + "  "
		}
		l.Row(ui.S(t.Text, ui.Line(e.says, width-4)))
		l.Row(ui.S(t.Quiet, reward+"attempt "+fmt.Sprint(e.key.K+1)+"  "+ui.CleanLine(transcript.Situation(e.task, false))))
		l.Row(ui.S(t.Quiet, "Enter reads it"))
	} else {
		l.Row(ui.S(t.Quiet, "no rows"))
	}
	return l.All[:min(len(l.All), height)]
}
