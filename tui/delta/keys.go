package delta

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/tui/report"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// IDs of the screen's own actions.
const (
	doBefore   = "mark-before"
	doAfter    = "mark-after"
	doMark     = "mark"
	doSwap     = "swap"
	doTarget   = "make-target"
	doGuard    = "guard"
	doLower    = "lower-is-better"
	doScope    = "all-tasks"
	doAgain    = "compare-again"
	doWrite    = "write-report"
	doNextTask = "next-task"
	doPrevTask = "previous-task"
	doNextDiff = "next-difference"
	doPrevDiff = "previous-difference"
	doParting  = "parting"
)

// Actions are what can be done now.
func (m *Model) Actions() []ui.Action {
	switch m.level {
	case levelReport:
		return m.reportActions()
	case levelTasks:
		return m.queueActions()
	case levelTask:
		return m.taskActions()
	}
	out := ui.Moves()
	if m.pick.under() != nil {
		enter, help := "its delta", "Open the delta that was saved with the run's story"
		if m.pick.both() {
			enter, help = "compare", "Compare the two runs that are marked"
		}
		out = append(out, ui.Reserve(ui.Open, enter, help, 1), ui.Reserve(ui.Copy, "", "Copy the run's id", 0),
			ui.Action{ID: doBefore, Keys: []string{"b"}, Name: "before", Help: "Mark the run as the one before", Footer: 2},
			ui.Action{ID: doAfter, Keys: []string{"a"}, Name: "after", Help: "Mark the run as the one after", Footer: 3},
			ui.Action{ID: doMark, Keys: []string{"space"}, Name: "mark", Help: "Mark the run as what is missing: before, then after", Footer: 4})
	}
	if m.pick.both() {
		out = append(out, ui.Action{ID: doSwap, Keys: []string{"x"}, Name: "swap", Help: "Swap before and after", Footer: 5})
	}
	return append(out, ui.Reserve(ui.Back, "back", "Stop what is being compared; go back to the report, or to the runs", 6))
}

func (m *Model) reportActions() []ui.Action {
	out := append(ui.Moves(), ui.Reserve(ui.Back, "runs", "Choose two other runs; stops what is being compared", 8),
		ui.Reserve(ui.Copy, "", "Copy the line under the cursor", 0),
		ui.Action{ID: doWrite, Keys: []string{"o"}, Name: "write", Help: "Write the report beside the database, as a page, Markdown and JSON", Footer: 2},
		ui.Action{ID: doScope, Keys: []string{"A"}, Name: "all tasks", Help: "Compare on all tasks or on the held-out ones alone"},
		ui.Action{ID: doAgain, Keys: []string{"r"}, Name: "again", Help: "Compare the two runs again, as they are now", Footer: 7})
	switch b := m.sheet.under(); {
	case b.metric != nil:
		out = append(out, ui.Reserve(ui.Open, "tasks", "Open the metric's tasks: what regressed, improved, is unstable", 1),
			ui.Action{ID: doTarget, Keys: []string{"t"}, Name: "target", Help: "Make the metric the target, and compare again", Footer: 3},
			ui.Action{ID: doGuard, Keys: []string{"m"}, Name: "guard", Help: "Have the metric guarded or not, that it must not regress, and compare again", Footer: 4},
			ui.Action{ID: doLower, Keys: []string{"i"}, Name: "lower is better", Help: "Say whether less of the metric is better, and compare again", Footer: 5})
	case b.slice != nil:
		out = append(out, ui.Reserve(ui.Open, "tasks", "Open the slice's tasks: what regressed, improved, is unstable", 1))
	case b.part == partRules:
		out = append(out, ui.Reserve(ui.Open, "unfold", "Show or fold the questions that lead to the headline", 1))
	}
	if len(m.history) > 0 {
		out = append(out, ui.Reserve(ui.Undo, "undo", "Go back to the report before this one", 6))
	}
	return out
}

func (m *Model) queueActions() []ui.Action {
	out := append(ui.Moves(), ui.Reserve(ui.Back, "report", "Go back to the report", 4))
	if m.queues == nil {
		return out
	}
	return append(out, ui.Reserve(ui.Open, "side by side", "Set two attempts of the task side by side", 1),
		ui.Reserve(ui.NextPane, "queue", "Go to the next queue: regressed, improved, unstable", 2), ui.Reserve(ui.PrevPane, "", "Go to the queue before", 0),
		ui.Reserve(ui.Right, "", "Go to the next queue", 0), ui.Reserve(ui.Left, "", "Go to the queue before", 0),
		ui.Reserve(ui.Copy, "", "Copy the task's id", 3))
}

func (m *Model) taskActions() []ui.Action {
	return append(ui.Moves(), ui.Reserve(ui.Open, "unfold", "Show the arguments and results of a tool call, on both sides", 1),
		ui.Reserve(ui.NextPane, "side", "Go to the other side", 2), ui.Reserve(ui.PrevPane, "", "Go to the other side", 0),
		ui.Reserve(ui.Right, "attempt", "Show the next attempt of the side in focus", 3), ui.Reserve(ui.Left, "", "Show the attempt before of the side in focus", 0),
		ui.Reserve(ui.Copy, "", "Copy what the row says on the side in focus", 0),
		ui.Action{ID: doNextDiff, Keys: []string{"]"}, Name: "difference", Help: "Go to the next step that is not the same", Footer: 4},
		ui.Action{ID: doPrevDiff, Keys: []string{"["}, Name: "difference back", Help: "Go to the step before that is not the same"},
		ui.Action{ID: doParting, Keys: []string{"p"}, Name: "parting", Help: "Go to the step where the two part", Footer: 5},
		ui.Action{ID: doNextTask, Keys: []string{"}"}, Name: "next task", Help: "Go to the next task of the queue", Footer: 6},
		ui.Action{ID: doPrevTask, Keys: []string{"{"}, Name: "task before", Help: "Go to the task before in the queue"},
		ui.Reserve(ui.Back, "tasks", "Go back to the tasks", 7))
}

// Do does an action.
func (m *Model) Do(id string) tea.Cmd {
	switch m.level {
	case levelReport:
		return m.doReport(id)
	case levelTasks:
		return m.doTasks(id)
	case levelTask:
		return m.doTask(id)
	}
	return m.doPick(id)
}

func (m *Model) doPick(id string) tea.Cmd {
	if m.pick.list.Move(id, len(m.pick.runs)) {
		return nil
	}
	m.note = ""
	switch id {
	case doBefore, doAfter:
		m.pick.mark(id == doBefore)
	case doMark:
		m.pick.next()
	case doSwap:
		m.pick.swap()
	case ui.Open:
		if m.pick.both() {
			return m.compare(m.pick.before, m.pick.after, nil)
		}
		if r := m.pick.under(); r != nil {
			return m.openStory(r.ID)
		}
	case ui.Copy:
		if r := m.pick.under(); r != nil {
			return tea.Batch(tea.SetClipboard(r.ID), ui.Toast("Copied the run's id"))
		}
	case ui.Back:
		switch {
		case m.asking():
			m.giveUp()
		case m.sheet != nil:
			m.level = levelReport
		default:
			return ui.Go(ui.ScreenRuns, ui.Visit{})
		}
	}
	return nil
}

// giveUp drops the report that is on its way.
func (m *Model) giveUp() {
	m.story.Drop()
	m.reports.Drop()
	m.want, m.restoring = nil, nil
}

func (m *Model) doReport(id string) tea.Cmd {
	switch id {
	case ui.Up, ui.Down, ui.Top, ui.Bottom, ui.PageUp, ui.PageDown:
		m.sheet.move(id)
	case ui.Open:
		return m.openUnder()
	case ui.Copy:
		return m.copyLine()
	case ui.Undo:
		if n := len(m.history); n > 0 {
			was := m.history[n-1]
			m.history = m.history[:n-1]
			m.giveUp()
			return m.show(was)
		}
	case ui.Back:
		if m.asking() {
			m.giveUp()
			return ui.Toast("Stopped comparing")
		}
		m.level = levelPick
		m.pick.goTo(m.report().After)
		return m.readRuns()
	case doWrite:
		m.writing++
		return write(m.opts.Dir, m.report().DeltaReport)
	case doAgain:
		return m.ask(m.asked())
	case doScope, doTarget, doGuard, doLower:
		return m.askOtherwise(id)
	}
	return nil
}

// asked is the question that the report answers, or the one that is on its way.
func (m *Model) asked() engine.DeltaOptions {
	if m.want != nil {
		return *m.want
	}
	return m.report().asked
}

func (m *Model) ask(o engine.DeltaOptions) tea.Cmd {
	m.want = &o
	return m.compare(m.report().Before, m.report().After, &o)
}

// askOtherwise changes the question by the metric under the cursor and asks it.
func (m *Model) askOtherwise(id string) tea.Cmd {
	o := m.asked()
	o.MustNotRegress, o.LowerIsBetter = slices.Clone(o.MustNotRegress), slices.Clone(o.LowerIsBetter)
	metric := m.sheet.under().metric
	switch {
	case id == doScope:
		o.AllTasks = !o.AllTasks
	case metric == nil:
		return nil
	case id == doTarget:
		o.Target = metric.Name
	case id == doGuard:
		o.MustNotRegress = toggled(o.MustNotRegress, metric.Name)
	case id == doLower:
		o.LowerIsBetter = toggled(o.LowerIsBetter, metric.Name)
	}
	return m.ask(o)
}

func toggled(names []string, name string) []string {
	if at := slices.Index(names, name); at >= 0 {
		return slices.Delete(names, at, at+1)
	}
	return append(names, name)
}

func (m *Model) openUnder() tea.Cmd {
	switch b := m.sheet.under(); {
	case b.metric != nil:
		return m.openTasks(opening{metric: b.metric.Name})
	case b.slice != nil:
		return m.openTasks(opening{m.report().Target, b.slice.By, b.slice.Value})
	}
	m.sheet.toggle()
	return nil
}

func (m *Model) copyLine() tea.Cmd {
	r, b := m.report(), m.sheet.under()
	text, what := string(r.Headline)+"\n"+r.Line, "the headline"
	switch {
	case b.metric != nil:
		text, what = b.metric.Name+" "+report.Value(b.metric.Kind, b.metric.Before)+" -> "+report.Value(b.metric.Kind, b.metric.After)+" "+string(b.metric.Verdict), "the metric"
	case b.slice != nil:
		text, what = b.slice.By+" "+b.slice.Value+" "+report.Value("", b.slice.Before)+" -> "+report.Value("", b.slice.After), "the slice"
	case b.warning != nil:
		text, what = b.warning.Text+"\n"+b.warning.Fix, "the warning"
	}
	return tea.Batch(tea.SetClipboard(text), ui.Toast("Copied "+what))
}

func (m *Model) doTasks(id string) tea.Cmd {
	q := m.queues
	if id == ui.Back {
		m.level, m.opening = levelReport, nil
		return nil
	}
	if q == nil || q.list().Move(id, q.Len()) {
		return nil
	}
	switch id {
	case ui.NextPane, ui.Right:
		q.other(1)
	case ui.PrevPane, ui.Left:
		q.other(-1)
	case ui.Open:
		return m.openTask()
	case ui.Copy:
		if move, ok := q.under(); ok {
			return tea.Batch(tea.SetClipboard(move.Pair.Task.ID), ui.Toast("Copied the task's id"))
		}
	}
	return nil
}

func (m *Model) doTask(id string) tea.Cmd {
	k := m.task
	switch id {
	case ui.Back:
		m.level = levelTasks
		m.pairRead.Drop()
		return nil
	case ui.NextPane, ui.PrevPane:
		k.side = 1 - k.side
		return nil
	case ui.Right, ui.Left:
		by := 1
		if id == ui.Left {
			by = -1
		}
		if k.sibling(by) {
			return m.readTask()
		}
		return nil
	case doNextTask, doPrevTask:
		move := ui.Down
		if id == doPrevTask {
			move = ui.Up
		}
		was := m.queues.list().Cursor()
		m.queues.list().Move(move, m.queues.Len())
		if m.queues.list().Cursor() == was {
			return ui.Toast("That was the " + map[string]string{ui.Down: "last", ui.Up: "first"}[move] + " of this queue")
		}
		return m.openTask()
	}
	if k.doc == nil || k.scroll.Move(id, k.doc) {
		return nil
	}
	switch id {
	case ui.Open:
		if at, ok := k.doc.Toggle(k.scroll.Cursor()); ok {
			k.scroll.To(k.doc, at)
		}
	case doNextDiff, doPrevDiff:
		by := 1
		if id == doPrevDiff {
			by = -1
		}
		at, ok := k.doc.Difference(k.scroll.Cursor(), by)
		if !ok {
			return ui.Toast("No other step differs in that direction")
		}
		k.scroll.To(k.doc, at)
	case doParting:
		k.placed = false // where it is drawn
	case ui.Copy:
		text := k.doc.TextOf(k.scroll.Cursor(), k.side)
		name := "before"
		if k.side == transcript.Right {
			name = "after"
		}
		return tea.Batch(tea.SetClipboard(text), ui.Toast(fmt.Sprintf("Copied %s, as it was said %s", ui.Plural(len(text), "byte"), name)))
	}
	return nil
}

// wheelLines is how far a notch of the wheel goes. Convention.
const wheelLines = 3

func (m *Model) wheel(msg tea.MouseWheelMsg) tea.Cmd {
	by := wheelLines
	switch msg.Button {
	case tea.MouseWheelUp:
		by = -by
	case tea.MouseWheelDown:
	default:
		return nil
	}
	switch m.level {
	case levelReport:
		m.sheet.scroll.Wheel(m.sheet, by)
	case levelTasks:
		if q := m.queues; q != nil {
			q.list().Set(q.list().Cursor()+by, q.Len())
		}
	case levelTask:
		if k := m.task; k.doc != nil {
			k.scroll.Wheel(k.doc, by)
		}
	default:
		m.pick.list.Set(m.pick.list.Cursor()+by, len(m.pick.runs))
	}
	return nil
}

// click puts the cursor where it was clicked; on what the cursor is on already it does
// what Enter does.
func (m *Model) click(msg tea.MouseClickMsg) tea.Cmd {
	if msg.Button != tea.MouseLeft {
		return nil
	}
	switch m.level {
	case levelReport:
		was := m.sheet.scroll.Cursor()
		if at := m.sheet.scroll.Click(m.sheet, msg.Y); at >= 0 && at == was {
			return m.openUnder()
		}
	case levelTasks:
		if q := m.queues; q != nil {
			return m.clickList(q.list(), q.Len(), msg.Y-tasksTop)
		}
	case levelTask:
		return m.clickTask(msg)
	default:
		return m.clickList(&m.pick.list, len(m.pick.runs), msg.Y-m.pickTop)
	}
	return nil
}

func (m *Model) clickList(list *ui.List, n, line int) tea.Cmd {
	row := list.Row(line)
	if line < 0 || row >= n {
		return nil
	}
	if row == list.Cursor() {
		return m.Do(ui.Open)
	}
	list.Set(row, n)
	return nil
}

func (m *Model) clickTask(msg tea.MouseClickMsg) tea.Cmd {
	k := m.task
	if k.doc == nil || msg.Y < taskTop {
		return nil
	}
	if m.width >= ui.MinSplit {
		k.side = transcript.Left
		if msg.X > m.width/2 {
			k.side = transcript.Right
		}
	}
	was := k.scroll.Cursor()
	if at := k.scroll.Click(k.doc, msg.Y-taskTop); at >= 0 && at == was {
		return m.Do(ui.Open)
	}
	return nil
}
