package live

import (
	"slices"

	"assay/engine/record"
	"assay/tui/report"
	"assay/tui/ui"
)

// page is text of single lines that scrolls as a whole.
type page struct {
	lines []string
	gen   uint64
}

func (p *page) Len() int             { return len(p.lines) }
func (p *page) Version(i int) uint64 { return p.gen }
func (p *page) Draw(i, width int, _ ui.Look) []string {
	return []string{p.lines[i]}
}

// cutPage is what became of the training files.
func cutPage(t ui.Theme, width int, cuts []Cut, underway bool) []string {
	l := report.Lines{Theme: t, Width: width}
	l.Gap()
	if len(cuts) == 0 && underway {
		l.Row(ui.S(t.Quiet, "The training files are being cut."))
		return l.All
	}
	if len(cuts) == 0 {
		l.Row(ui.S(t.Quiet, "No training file was written."))
		return l.All
	}
	for _, c := range cuts {
		mark := t.Pass()
		if c.Error != "" {
			mark = t.Fail()
		}
		rows := ui.Plural(c.RowsOut, "row")
		if c.RowsIn > 0 {
			rows = ui.Count(c.RowsOut) + " of " + ui.Plural(c.RowsIn, "row")
		}
		l.Row(ui.S(mark.Style, mark.Sign+" "), ui.S(t.Strong, ui.CleanLine(c.For)), ui.S(t.Quiet, "  "+ui.CleanLine(c.Format)+"  "), ui.S(t.Text, rows))
		if c.File != "" {
			l.Row(ui.S(t.Quiet, "  "+ui.CleanLine(c.File)))
		}
		if c.Error != "" {
			l.Text(t.Bad, "  "+c.Error)
		}
		for _, g := range c.Gates {
			if g.In == g.Out {
				continue
			}
			l.Row(ui.S(t.Text, "  "+ui.Pad(ui.CleanLine(g.Name), 28)), ui.S(t.Bad, ui.PadLeft("−"+ui.Count(g.In-g.Out), 8)),
				ui.S(t.Quiet, "  "+ui.Count(g.In)+" → "+ui.Count(g.Out)))
		}
		l.Warnings(c.Warnings)
		l.Gap()
	}
	return l.All
}

// warningsPage is every warning whole, with what to do, the newest first.
func warningsPage(t ui.Theme, width int, warnings []record.Warning) []string {
	l := report.Lines{Theme: t, Width: width}
	l.Gap()
	if len(warnings) == 0 {
		l.Row(ui.S(t.Quiet, "There are no warnings."))
	}
	newest := slices.Clone(warnings)
	slices.Reverse(newest)
	l.Warnings(newest)
	return l.All
}
