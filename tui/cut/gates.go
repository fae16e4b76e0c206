package cut

import (
	"fmt"
	"slices"

	"assay/engine"
	"assay/engine/record"
	"assay/tui/ui"
)

// gateKind is what a line of the gates is.
type gateKind uint8

const (
	lineIn gateKind = iota
	lineGate
	lineKept
	lineFile
	lineWarning
)

// gateLine is one line of the gates: what came in, each gate, what is kept, the files
// that were written, the warnings.
type gateLine struct {
	kind    gateKind
	gate    int // index into the plan's gates
	export  *record.ExportRecord
	warning *record.Warning
}

// line is the nth line.
func (m *Model) line(i int) gateLine {
	p := m.plan()
	if i == 0 {
		return gateLine{kind: lineIn}
	}
	if i--; i < len(p.Gates) {
		return gateLine{kind: lineGate, gate: i}
	}
	if i -= len(p.Gates); i == 0 {
		return gateLine{kind: lineKept}
	}
	i--
	files := m.files()
	if i < len(files) {
		return gateLine{kind: lineFile, export: files[i]}
	}
	return gateLine{kind: lineWarning, warning: &p.Warnings[i-len(files)]}
}

// files are those that were written for the target, the newest last.
func (m *Model) files() []*record.ExportRecord {
	var out []*record.ExportRecord
	for i := range m.exports {
		if m.exports[i].For == m.plan().For {
			out = append(out, &m.exports[i])
		}
	}
	return out
}

// firstLine is the line that the cursor begins on: the first gate that took rows, or
// else what is kept.
func (m *Model) firstLine() int {
	p := m.plan()
	for i := range p.Gates {
		if p.Gates[i].In > p.Gates[i].Out {
			return 1 + i
		}
	}
	return 1 + len(p.Gates)
}

// Len is the number of lines.
func (m *Model) Len() int {
	p := m.plan()
	if p == nil {
		return 0
	}
	return 2 + len(p.Gates) + len(m.files()) + len(p.Warnings)
}

// Version tells drawn lines apart.
func (m *Model) Version(i int) uint64 { return m.gen<<32 | uint64(i) }

const (
	gateWidth = 16 // the longest name of a gate
	inWidth   = 7
)

// Draw draws a line.
func (m *Model) Draw(i, width int, look ui.Look) string {
	t, p := m.theme, m.plan()
	base := t.Base(look)
	lead := ui.S(base, "  ")
	if look == ui.Active {
		lead = ui.S(t.Accent, "▎ ")
	}
	row := func(spans ...ui.Span) string { return ui.Row(width, base, append([]ui.Span{lead}, spans...)...) }
	bar := func(n int) []ui.Span {
		return ui.Progress(t, t.Accent, max(min(width-2-gateWidth-2*inWidth-3, 40), 0), n, p.RowsIn)
	}
	switch l := m.line(i); l.kind {
	case lineIn:
		return row(append([]ui.Span{ui.S(t.Text, ui.Pad("rows in", gateWidth)), ui.S(t.Strong, ui.PadLeft(ui.Count(p.RowsIn), inWidth)), ui.S(base, ui.Spaces(inWidth+1))}, bar(p.RowsIn)...)...)
	case lineGate:
		g := &p.Gates[l.gate]
		took, style := "–", t.Quiet
		if g.In > g.Out {
			took, style = "−"+ui.Count(g.In-g.Out), t.Bad
		}
		name := t.Quiet
		if g.In > g.Out {
			name = t.Text
		}
		return row(append([]ui.Span{ui.S(name, ui.Pad(ui.CleanLine(g.Name), gateWidth)), ui.S(t.Text, ui.PadLeft(ui.Count(g.Out), inWidth)), ui.S(style, ui.PadLeft(took, inWidth)), ui.S(base, " ")}, bar(g.Out)...)...)
	case lineKept:
		if p.Error != nil {
			mark := t.Fail()
			return row(ui.S(mark.Style, mark.Sign+" refused: nothing is left to train on"))
		}
		mark := t.Pass()
		return row(append([]ui.Span{ui.S(mark.Style, mark.Sign+" "), ui.S(t.Strong, ui.Pad("kept", gateWidth-2)), ui.S(t.Strong, ui.PadLeft(ui.Count(p.RowsOut), inWidth)), ui.S(base, ui.Spaces(inWidth+1))}, bar(p.RowsOut)...)...)
	case lineFile:
		return row(ui.S(t.Good, "▤ "), ui.S(t.Text, ui.Pad(ui.CleanLine(l.export.Format), gateWidth-2)), ui.S(t.Text, ui.PadLeft(ui.Count(l.export.Rows), inWidth)), ui.S(t.Quiet, "  "+ui.Line(l.export.File, width)))
	default:
		return row(ui.S(t.Warn, "! "), ui.S(t.Text, ui.Line(l.warning.Code, width)), ui.S(t.Quiet, "  "+ui.Line(l.warning.Text, width)))
	}
}

// about says below the panes what the line under the cursor is.
func (m *Model) about() []ui.Span {
	t, p := m.theme, m.plan()
	switch l := m.line(min(m.gates.Cursor(), m.Len()-1)); l.kind {
	case lineIn:
		return []ui.Span{ui.S(t.Quiet, "every finished rollout of the run, for "+ui.CleanLine(p.For)+": "+targetSays(p.For))}
	case lineGate:
		g := &p.Gates[l.gate]
		spans := []ui.Span{ui.S(t.Text, gateSays(g.Name))}
		if len(g.Examples) > 0 {
			spans = append(spans, ui.S(t.Quiet, "  First: "+ui.CleanLine(g.Examples[0])))
		}
		return spans
	case lineKept:
		if p.Error != nil {
			return []ui.Span{ui.S(t.Bad, ui.CleanLine(*p.Error))}
		}
		return []ui.Span{ui.S(t.Text, fmt.Sprintf("%s of %s: %s. Enter lists them, w writes them.", ui.Plural(p.RowsOut, "row"), ui.Plural(m.tasks[p.For], "task"), targetSays(p.For)))}
	case lineFile:
		return []ui.Span{ui.S(t.Text, fmt.Sprintf("%s of %s, in %s: ", ui.Plural(l.export.Rows, "row"), ui.Plural(len(l.export.TaskIDs), "task"), ui.CleanLine(l.export.Format))), ui.S(t.Quiet, ui.CleanLine(l.export.File))}
	default:
		return warning(t, l.warning)
	}
}

// warning is what a warning says, with what to do.
func warning(t ui.Theme, w *record.Warning) []ui.Span {
	spans := []ui.Span{ui.S(t.Text, ui.CleanLine(w.Text))}
	if w.Fix != "" {
		spans = append(spans, ui.S(t.Quiet, "  → "+ui.CleanLine(w.Fix)))
	}
	return spans
}

func tasksOf(kept []engine.CutKept) int {
	ids := make([]string, len(kept))
	for i := range kept {
		ids[i] = kept[i].Key.TaskID
	}
	slices.Sort(ids)
	return len(slices.Compact(ids))
}
