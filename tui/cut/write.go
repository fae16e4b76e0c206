package cut

import (
	"fmt"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"assay/tui/report"
	"assay/tui/ui"
)

// writing is a training file that is to be written: which format, and where.
type writing struct {
	file   string
	list   ui.List
	field  ui.Field
	typing bool
}

// writeMsg is the yes to writing over a file.
type writeMsg struct{ format string }

// fileRow is the row behind the formats: the file's name.
func fileRow() int { return len(formats()) }

// openWrite asks for the format and the file.
func (m *Model) openWrite() tea.Cmd {
	p := m.plan()
	if p.Error != nil {
		return ui.Toast("Nothing can be written: " + ui.CleanLine(*p.Error))
	}
	m.write = &writing{file: filepath.Join(m.opts.Dir, m.preview.Run.ID+"."+p.For+".jsonl")}
	m.level = levelWrite
	return nil
}

// Typing reports whether the file's name is being typed.
func (m *Model) Typing() bool { return m.level == levelWrite && m.write.typing }

// Type takes a key of the file's name.
func (m *Model) Type(msg tea.KeyPressMsg) tea.Cmd {
	w := m.write
	switch key := msg.String(); key {
	case "enter":
		if w.field.Text() != "" {
			w.file = w.field.Text()
		}
		w.typing = false
		w.list.Set(0, fileRow()+1)
	case "esc":
		w.typing = false
	default:
		w.field.Key(key, msg.Text)
	}
	return nil
}

// chooseWrite does what Enter does: writes in the format under the cursor, or lets the
// file's name be typed.
func (m *Model) chooseWrite() tea.Cmd {
	w := m.write
	if w.list.Cursor() == fileRow() {
		w.typing = true
		w.field.Set(w.file)
		return nil
	}
	if m.writes.Busy() || m.looking.Busy() {
		return nil
	}
	_, gen := m.looking.Ask(m.ctx)
	return lookFor(gen, formats()[w.list.Cursor()].name, w.file)
}

func (m *Model) lookedFor(msg thereMsg) tea.Cmd {
	switch {
	case msg.err != nil:
		return ui.Failed(msg.err)
	case m.write == nil:
		return nil
	case !msg.there:
		return m.begin(msg.format)
	}
	return ui.Ask(ui.Confirm{
		Question: "Write over the file?",
		Says:     ui.CleanLine(m.write.file) + " is there already. The new file takes its place when it is whole.",
		Yes:      "Write over it",
	}, func() tea.Msg { return writeMsg{msg.format} })
}

// Writing names the file that is being written, "" for none.
func (m *Model) Writing() string {
	if m.writes.Busy() {
		return "the training file"
	}
	return ""
}

// begin writes the file.
func (m *Model) begin(format string) tea.Cmd {
	if m.write == nil || m.preview == nil {
		return nil
	}
	ctx, gen := m.writes.Ask(m.ctx)
	return write(ctx, m.opts.Store, m.opts.Engine, gen, m.preview.Run.ID, m.plan().For, format, m.write.file)
}

func (m *Model) wrote(msg wroteMsg) tea.Cmd {
	if msg.err != nil {
		return ui.Failed(msg.err)
	}
	if msg.exports != nil {
		m.exports = msg.exports
	}
	m.gen++
	m.level, m.write = levelCut, nil
	return ui.Toast(fmt.Sprintf("Written: %s for %s, to %s", ui.Plural(msg.result.RowsOut, "row"), msg.result.For, ui.CleanLine(msg.result.File)))
}

// writeRows draws the choice.
type writeRows struct{ m *Model }

func (r writeRows) Len() int           { return fileRow() + 1 }
func (r writeRows) Version(int) uint64 { return 0 }
func (r writeRows) Draw(i, width int, look ui.Look) string {
	t, w := r.m.theme, r.m.write
	base := t.Base(look)
	lead := ui.S(base, "  ")
	if look == ui.Active {
		lead = ui.S(t.Accent, "▎ ")
	}
	const name = 10
	if i < fileRow() {
		f := formats()[i]
		return ui.Row(width, base, lead, ui.S(t.Strong, ui.Pad(f.name, name)), ui.S(t.Quiet, f.says))
	}
	spans := []ui.Span{lead, ui.S(t.Quiet, ui.Pad("file", name))}
	if w.typing {
		return ui.Row(width, base, append(spans, w.field.Spans(t, width-2-name)...)...)
	}
	return ui.Row(width, base, append(spans, ui.S(t.Text, ui.CleanLine(w.file)))...)
}

// writeTop are the lines above the choice.
const writeTop = 4

func (m *Model) writeView(width, height int) []string {
	t, p := m.theme, m.plan()
	l := report.Lines{Theme: t, Width: width}
	l.All = append(l.All, ui.Rule(t, width, "Write the "+ui.CleanLine(p.For)+" set", true))
	l.Gap()
	l.Row(ui.S(t.Text, fmt.Sprintf("%s of %s. Enter writes them in the format under the cursor.", ui.Plural(p.RowsOut, "row"), ui.Plural(m.tasks[p.For], "task"))))
	l.Gap()
	m.write.list.Forget() // what is typed changes the last row
	l.All = append(l.All, m.write.list.View(writeRows{m}, width, fileRow()+1, true)...)
	l.Gap()
	if m.writes.Busy() {
		l.Row(ui.S(t.Info, t.Running().Sign+" Writing …"))
	}
	l.Text(t.Quiet, "Its tasks are remembered: no later run measures on them, and no comparison counts them.")
	return l.All
}
