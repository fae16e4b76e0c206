package delta

import (
	"fmt"
	"strings"

	"assay/tui/report"
	"assay/tui/ui"
)

// tasksTop are the lines above the list of tasks.
const tasksTop = 4

// View draws the screen.
func (m *Model) View(width, height int) []string {
	m.width, m.height = width, max(height, 1)
	var lines []string
	switch m.level {
	case levelReport:
		lines = m.reportView(width, height)
	case levelTasks:
		lines = m.tasksView(width, height)
	case levelTask:
		lines = m.taskView(width, height)
	default:
		lines = m.pickView(width, height)
	}
	for len(lines) < height {
		lines = append(lines, ui.Spaces(width))
	}
	return lines[:height]
}

// aboutRows are the lines below a report or a list that say more of what is under the
// cursor, their rule among them.
func aboutRows(height, most int) int {
	switch {
	case height < 12:
		return 0
	case height < 18:
		return 3
	}
	return most
}

func (m *Model) reportView(width, height int) []string {
	about := aboutRows(height, 4)
	lines := m.sheet.scroll.View(m.sheet, width, max(height-about, 1), true)
	if about == 0 {
		return lines
	}
	title := ""
	if !m.sheet.scroll.AtBottom(m.sheet) {
		title = "more below ↓"
	}
	lines = append(lines, ui.Rule(m.theme, width, title, false))
	return append(lines, m.aboutLine(width, about-1)...)
}

// aboutLine is the line under the cursor in words and whole.
func (m *Model) aboutLine(width, rows int) []string {
	t := m.theme
	l := report.Lines{Theme: t, Width: width}
	switch b := m.sheet.under(); {
	case m.asking():
		l.Row(ui.S(t.Info, t.Running().Sign+" "+m.doing))
	case m.stale:
		l.Row(ui.S(t.Warn, "! the runs went on since: r compares them again"))
	case b.metric != nil:
		mt := b.metric
		mark := report.VerdictMark(t, string(mt.Verdict))
		l.Row(ui.S(t.Strong, ui.CleanLine(mt.Name)), ui.S(mark.Style, "  "+mark.Sign+" "+mark.Word), ui.S(t.Text, "  "+report.Value(mt.Kind, mt.Before)+" → "+report.Value(mt.Kind, mt.After)+"  "+change(mt.Kind, mt.Delta, mt.Lo, mt.Hi)))
		says := []string{"p " + report.PValue(mt.P) + ", Holm " + report.PValue(mt.PHolm), fmt.Sprintf("%d of %s changed", mt.Changed, ui.Plural(mt.Units, "situation"))}
		if mt.Band != nil {
			says = append(says, "noise ±"+report.Value(mt.Kind, mt.Band))
		}
		if mt.CouldMiss != nil && mt.Guard {
			says = append(says, "a turn for the worse of up to "+report.Value(mt.Kind, mt.CouldMiss)+" is not excluded")
		}
		l.Row(ui.S(t.Quiet, strings.Join(says, "  ·  ")))
		l.Row(ui.S(t.Quiet, "Enter: its "+ui.Plural(mt.Paired, "task")+", as what regressed, improved and is unstable"))
	case b.slice != nil:
		s := b.slice
		l.Row(ui.S(t.Strong, ui.CleanLine(s.By)+" "+ui.CleanLine(s.Value)), ui.S(t.Text, "  "+report.Value("", s.Before)+" → "+report.Value("", s.After)+"  "+change("", s.Delta, s.Lo, s.Hi)))
		if s.LowN {
			l.Row(ui.S(t.Warn, "too few situations to read an interval of"))
		}
		l.Row(ui.S(t.Quiet, "Enter: its "+ui.Plural(s.Paired, "task")))
	case b.part == partRules:
		l.Row(ui.S(t.Quiet, "Enter shows or folds the questions that lead to the headline"))
	case b.warning != nil && b.warning.Fix != "":
		l.Text(t.Quiet, "What to do: "+b.warning.Fix)
	}
	return l.All[:min(len(l.All), rows)]
}

// change is a difference with its interval.
func change(kind string, delta, lo, hi *float64) string {
	in := ui.NewInterval(delta, lo, hi)
	text := report.Change(kind, in.Value)
	if in.HasBounds() {
		text += " [" + report.Change(kind, in.Lo) + ", " + report.Change(kind, in.Hi) + "]"
	}
	return text
}

func (m *Model) tasksView(width, height int) []string {
	t, q := m.theme, m.queues
	if q == nil {
		return []string{ui.Spaces(width), ui.Row(width, ui.Style{}, ui.S(t.Info, "  "+t.Running().Sign+" Reading the tasks of both runs …"))}
	}
	lines := []string{ui.Rule(t, width, q.title(), true, ui.S(t.Quiet, m.counted())), q.tabs(width),
		ui.Row(width, ui.Style{}, ui.S(t.Quiet, "  "+queueSays(q.which))), q.head(width)}
	about := aboutRows(height, 6)
	rows := max(height-len(lines)-about, 0)
	lines = append(lines, q.list().View(q, width, rows, true)...)
	if about == 0 {
		return lines
	}
	lines = append(lines, ui.Rule(t, width, "", false))
	more := q.about(width, about-1)
	return append(lines, more[:min(len(more), about-1)]...)
}

// counted says how many tasks there are, and how many the report had where that was
// another number: the runs went on, or tasks went into a training file since.
func (m *Model) counted() string {
	n := len(m.queues.tasks.Pairs)
	if m.queues.by == "" && n != m.report().Paired {
		return fmt.Sprintf("%s, %d in the report", ui.Plural(n, "task"), m.report().Paired)
	}
	return ui.Plural(n, "task")
}

// Where says what the screen shows.
func (m *Model) Where() string {
	if m.level == levelPick || m.sheet == nil {
		return "choose two runs"
	}
	r := m.report()
	where := ui.CleanLine(r.recipe) + "  ·  " + ui.CleanLine(r.Before) + " → " + ui.CleanLine(r.After)
	if m.level >= levelTasks && m.queues != nil {
		where = ui.CleanLine(r.recipe) + "  ·  " + m.queues.title()
	}
	return where
}

// Status is the headline.
func (m *Model) Status() []ui.Span {
	if m.asking() {
		return []ui.Span{ui.S(m.theme.Info, m.theme.Running().Sign+" comparing")}
	}
	if m.sheet == nil || m.level == levelPick {
		return nil
	}
	return []ui.Span{ui.S(report.HeadlineStyle(m.theme, &m.report().DeltaReport), ui.CleanLine(string(m.report().Headline)))}
}
