package delta

import (
	"cmp"
	"slices"

	"assay/engine/record"
	"assay/tui/ui"
)

// pick is the choice of two runs.
type pick struct {
	runs          []*record.Run
	read          bool
	list          ui.List
	before, after string // run ids, "" where none is marked
	version       uint64
}

// take keeps the runs that were read, those of a story together, and stays on the run
// under the cursor.
func (p *pick) take(runs []*record.Run) {
	under := p.under()
	place := map[string]int{}
	for i, r := range runs {
		place[r.ID] = i
	}
	story := func(r *record.Run) int {
		if at, ok := place[r.Parent]; ok {
			return at
		}
		return place[r.ID]
	}
	p.runs = slices.Clone(runs)
	slices.Reverse(p.runs) // a story's runs oldest first
	slices.SortStableFunc(p.runs, func(a, b *record.Run) int { return cmp.Compare(story(a), story(b)) })
	p.read = true
	p.version++
	if under != nil {
		p.goTo(under.ID)
	}
}

// goTo puts the cursor on a run.
func (p *pick) goTo(runID string) {
	for i, r := range p.runs {
		if r.ID == runID {
			p.list.Set(i, len(p.runs))
		}
	}
}

// under is the run under the cursor, nil where there is none.
func (p *pick) under() *record.Run {
	if len(p.runs) == 0 {
		return nil
	}
	return p.runs[min(p.list.Cursor(), len(p.runs)-1)]
}

// mark makes the run under the cursor before or after; marked so already, it is not
// any more.
func (p *pick) mark(before bool) {
	r := p.under()
	if r == nil {
		return
	}
	this, other := &p.after, &p.before
	if before {
		this, other = other, this
	}
	switch r.ID {
	case *this:
		*this = ""
	default:
		*this = r.ID
		if *other == r.ID {
			*other = ""
		}
	}
	p.version++
}

// next marks the run under the cursor as what is missing: before, then after.
func (p *pick) next() {
	r := p.under()
	switch {
	case r == nil:
	case r.ID == p.before:
		p.before = ""
	case r.ID == p.after:
		p.after = ""
	case p.before == "":
		p.before = r.ID
	default:
		p.after = r.ID
	}
	p.version++
}

func (p *pick) swap() {
	p.before, p.after = p.after, p.before
	p.version++
}

// both reports whether two runs are marked.
func (p *pick) both() bool { return p.before != "" && p.after != "" }

// pickRows draws the choice.
type pickRows struct {
	*pick
	m *Model
}

func (p pickRows) Len() int { return len(p.runs) }

func (p pickRows) Version(i int) uint64 { return p.version<<20 | uint64(i) }

// widths of the choice's columns.
const (
	markWidth  = 9
	partWidth  = 9
	tasksWidth = 8
	passWidth  = 14
	ageWidth   = 5
	idWidth    = 14
)

func pickRecipeWidth(width int) int {
	return max(width-2-markWidth-partWidth-tasksWidth-passWidth-ageWidth-idWidth, 8)
}

func (p pickRows) head(width int) string {
	t := p.m.theme
	return ui.Row(width, ui.Style{}, ui.S(t.Quiet, "  "+ui.Pad("", markWidth)+ui.Pad("recipe", pickRecipeWidth(width))+ui.Pad("part", partWidth)+
		ui.PadLeft("tasks", tasksWidth)+"  "+ui.Pad("verdicts", passWidth-2)+ui.Pad("run", idWidth)+ui.PadLeft("age", ageWidth)))
}

func (p pickRows) Draw(i, width int, look ui.Look) string {
	t := p.m.theme
	base := t.Base(look)
	r := p.runs[i]
	cursor := ui.S(base, "  ")
	if look == ui.Active {
		cursor = ui.S(t.Accent, "▎ ")
	}
	mark := ""
	switch r.ID {
	case p.before:
		mark = "● before"
	case p.after:
		mark = "● after"
	}
	name := ui.Line(r.Recipe, width)
	if r.Name != "" {
		name += "  " + ui.Line(r.Name, width)
	}
	if r.Parent != "" {
		name = "  └"
	}
	part := ui.Line(r.Role, partWidth)
	if r.Parent == "" && r.Role == record.RoleMain {
		part = string(r.Mode)
	}
	recipe := pickRecipeWidth(width)
	verdicts := t.Pass().Sign + ui.Count(r.Counts.Passed) + " " + t.Fail().Sign + ui.Count(r.Counts.Graded-r.Counts.Passed)
	if r.Counts.Graded == 0 {
		verdicts = "none"
	}
	return ui.Row(width, base, cursor, ui.S(t.Accent.With(ui.Bold), ui.Pad(mark, markWidth)), ui.S(t.Text, ui.Pad(ui.Pad(name, recipe-1), recipe)),
		ui.S(t.Quiet, ui.Pad(ui.CleanLine(part), partWidth)), ui.S(t.Text, ui.PadLeft(ui.Count(r.Counts.Tasks), tasksWidth)),
		ui.S(t.Quiet, "  "+ui.Pad(verdicts, passWidth-2)), ui.S(t.Quiet, ui.Pad(ui.Line(r.ID, idWidth-1), idWidth)), ui.S(t.Quiet, ui.PadLeft(ui.Age(p.m.now.Sub(r.StartedAt)), ageWidth)))
}

// pickView draws the choice in height lines.
func (m *Model) pickView(width, height int) []string {
	t := m.theme
	says, style := "Compare two runs: b marks the one before, a the one after, Enter compares them.", t.Text
	switch {
	case m.err != nil:
		says, style = ui.CleanLine(m.err.Error()), t.Bad
	case m.asking():
		says, style = t.Running().Sign+" "+m.doing, t.Info
	case m.pick.both():
		says = "Enter compares before with after; x swaps them."
	case m.note != "":
		says, style = m.note, t.Warn
	case m.pick.read && len(m.pick.runs) == 0:
		says = "No runs yet: there is nothing to compare."
	case !m.pick.read:
		says, style = "Reading the runs …", t.Quiet
	}
	lines := []string{ui.Spaces(width)}
	for _, line := range ui.Wrap(says, width-4) {
		lines = append(lines, ui.Row(width, ui.Style{}, ui.S(style, "  "+line)))
	}
	lines = append(lines, ui.Spaces(width))
	rows := pickRows{&m.pick, m}
	if len(m.pick.runs) > 0 {
		lines = append(lines, rows.head(width))
	}
	m.pickTop = len(lines)
	return append(lines, m.pick.list.View(rows, width, max(height-len(lines), 0), true)...)
}
