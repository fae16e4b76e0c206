package explore

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"assay/engine/stats"
	"assay/store"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// length is how many rows the view has.
func (m *Model) length() int {
	switch m.view {
	case viewTasks:
		return len(m.tasks)
	case viewGroups:
		return len(m.groups)
	case viewMap:
		return 0
	}
	return len(m.rows)
}

func (m *Model) list() *ui.List { return &m.lists[m.view] }

// rowUnderCursor is the rollout under the cursor of the list of rollouts, 0 for
// none.
func (m *Model) rowUnderCursor() store.Row {
	if at := m.lists[viewRollouts].Cursor(); at < len(m.rows) {
		return m.rows[at]
	}
	return 0
}

func (m *Model) taskUnderCursor() string {
	if at := m.lists[viewTasks].Cursor(); at < len(m.tasks) {
		return m.tasks[at].TaskID
	}
	return ""
}

// head is what the row under the cursor shows, nil where it is not read or none.
func (m *Model) head() *store.RolloutHead {
	if m.view != viewRollouts && m.view != viewTasks || m.length() == 0 {
		return nil
	}
	return m.heads[m.view].head(m.list().Cursor())
}

// rolloutRows are the rows of the list of rollouts.
type rolloutRows struct{ m *Model }

func (r rolloutRows) Len() int { return len(r.m.rows) }

func (r rolloutRows) Version(i int) uint64 {
	h := r.m.heads[viewRollouts].head(i)
	if h == nil {
		return 0
	}
	v := hashOf(h.ID) &^ 1
	if r.m.chosen[r.m.rows[i]] {
		v |= 1
	}
	return v
}

// sawRows takes note of the verdicts of the rows in sight.
func (m *Model) sawRows() {
	list := *m.list()
	from, to := list.Window(m.length(), max(m.height, 1))
	for i := from; i < to; i++ {
		switch {
		case m.view == viewTasks:
			m.tasked[m.tasks[i].TaskID] = true
		case m.heads[viewRollouts].head(i) != nil:
			m.sawVerdict(m.heads[viewRollouts].head(i))
		}
	}
}

// sawVerdict takes note of a verdict that is drawn.
func (m *Model) sawVerdict(h *store.RolloutHead) {
	if h.JudgeStatus != "" {
		m.seen[h.ID] = true
	}
}

func hashOf(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

func (r rolloutRows) Draw(i, width int, look ui.Look) string {
	t := r.m.theme
	h := r.m.heads[viewRollouts].head(i)
	if h == nil {
		return ui.Row(width, t.Base(look), transcript.Cursor(t, look), ui.S(t.Quiet, "…"))
	}
	return transcript.DrawHead(t, h, width, look, r.m.threshold(), r.m.chosen[r.m.rows[i]])
}

// taskRows are the tasks with their verdicts as cells.
type taskRows struct{ m *Model }

func (r taskRows) Len() int { return len(r.m.tasks) }

func (r taskRows) Version(i int) uint64 {
	task := &r.m.tasks[i]
	v := hashOf(task.TaskID + task.Cells)
	if r.m.heads[viewTasks].head(i) == nil {
		v = ^v
	}
	if i == r.m.lists[viewTasks].Cursor() {
		v ^= uint64(r.m.detail.cell+1) << 32
	}
	return v
}

// cellsWidth is the room for the cells of a task: so many attempts are as many as
// most runs make; of more the ones around the cursor are shown.
const cellsWidth = 16

func (r taskRows) Draw(i, width int, look ui.Look) string {
	t := r.m.theme
	base := t.Base(look)
	task := &r.m.tasks[i]
	left := []ui.Span{transcript.Cursor(t, look)}
	left = append(left, r.cells(task, look, min(cellsWidth, max(width/3, 4)))...)
	rate := ui.S(t.Quiet, ui.PadLeft(fmt.Sprintf(" %d/%d ", task.Passed, task.Graded), 7))
	h := r.m.heads[viewTasks].head(i)
	if h == nil {
		return ui.Sides(width, base, append(left, ui.S(t.Quiet, "…")), []ui.Span{rate})
	}
	if h.Fault != nil {
		left = append(left, ui.S(t.Fault, "⚑ "))
	}
	left = append(left, ui.S(t.Text, ui.Line(string(h.Ask), width)))
	right := []ui.Span{rate}
	if width >= 90 {
		held := ui.Spaces(8)
		if h.HeldOut {
			held = "held out"
		}
		right = []ui.Span{ui.S(t.Quiet, "  "+ui.Pad(ui.Line(h.Axes["stance"], 13), 13)+" "+held+" "), rate}
	}
	return ui.Sides(width, base, left, right)
}

// cells draws a task's verdicts, the one under the cursor in reverse.
func (r taskRows) cells(task *store.TaskRow, look ui.Look, room int) []ui.Span {
	t := r.m.theme
	cells := []rune(task.Cells)
	first := 0
	if look != ui.Plain && len(cells) > room {
		first = max(min(r.m.detail.cell-room/2, len(cells)-room), 0)
	}
	var spans []ui.Span
	used := 0
	for i := first; i < len(cells) && used < room; i++ {
		mark := cellMark(t, cells[i])
		style := mark.Style
		if look != ui.Plain && i == min(r.m.detail.cell, len(cells)-1) {
			style = style.With(ui.Reverse)
		}
		spans = append(spans, ui.S(style, mark.Sign))
		used++
	}
	widest := min(r.m.widestCells(), room)
	return append(spans, ui.S(ui.Style{}, ui.Spaces(widest-used+1)))
}

// widestCells is the number of attempts of the tasks in sight.
func (m *Model) widestCells() int {
	widest := 0
	list := m.lists[viewTasks]
	from, to := list.Window(len(m.tasks), max(m.height, 1))
	for i := from; i < to; i++ {
		widest = max(widest, len(m.tasks[i].Cells))
	}
	return widest
}

func cellMark(t ui.Theme, code rune) ui.Mark {
	switch code {
	case store.CellPass:
		return t.Pass()
	case store.CellPartial:
		return t.Partly()
	case store.CellFail:
		return t.Fail()
	case store.CellUnjudged:
		return t.Unjudged()
	case store.CellLost:
		return t.Lost()
	case store.CellAborted:
		return t.Aborted()
	}
	return t.Finished()
}

// groupRows are the groups with their failure rates.
type groupRows struct{ m *Model }

func (r groupRows) Len() int             { return len(r.m.groups) }
func (r groupRows) Version(i int) uint64 { return r.m.gen<<20 | uint64(i) }

func (r groupRows) Draw(i, width int, look ui.Look) string {
	t := r.m.theme
	base := t.Base(look)
	g := &r.m.groups[i]
	in := failureRate(*g)
	bar := max(min(width/5, 30), 8)
	right := []ui.Span{ui.S(t.Text, "  ")}
	if width >= 60 {
		right = append(right, ui.IntervalBar(t, t.Bad, bar, in)...)
	}
	right = append(right, ui.S(t.Strong, ui.PadLeft(ui.Share(in.Value), 5)))
	if width >= 80 {
		right = append(right, ui.S(t.Quiet, " "+ui.Pad(in.Bounds(), 12)))
	}
	right = append(right, ui.S(t.Text, ui.PadLeft(fmt.Sprintf("%d/%d", g.Failed(), g.Graded), 11)))
	if width >= 100 {
		right = append(right, ui.S(t.Quiet, ui.PadLeft(ui.Plural(g.Tasks, "task"), 13)))
		lost := ""
		if g.Lost > 0 {
			lost = "! " + ui.Count(g.Lost) + " lost"
		}
		right = append(right, ui.S(t.Warn, ui.PadLeft(lost, 11)))
	}
	left := []ui.Span{transcript.Cursor(t, look), ui.S(t.Text, " "+valueText(g.Values[0], width))}
	return ui.Sides(width, base, left, append(right, ui.S(base, " ")))
}

// valueText is the value of a field for people.
func valueText(value string, width int) string {
	if value == "" {
		return "(none)"
	}
	return ui.Line(value, width)
}

// failureRate is the share of the graded rollouts that did not pass, with Wilson's
// interval at 95% over the tasks: the attempts at one task say much the same, so
// the interval counts them as one.
func failureRate(g store.Tally) ui.Interval {
	if g.Graded == 0 {
		return ui.Interval{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}
	}
	share := float64(g.Failed()) / float64(g.Graded)
	lo, hi := stats.WilsonShare(share, float64(min(g.Tasks, g.Graded)), stats.NormalQuantile(0.975))
	return ui.Interval{Value: share, Lo: lo, Hi: hi}
}

// sorts are the fields that a view can be sorted by, "" the order in which rows
// came.
func (m *Model) sorts() []string {
	switch m.view {
	case viewRollouts:
		return []string{"", "reward", "failure_class", "calls", "steps", "seconds", "tokens", "cause"}
	case viewTasks:
		return []string{"", "verdict", "tool", "rule", "stance", "fault"}
	}
	return nil
}

func (m *Model) nextSort() {
	all := m.sorts()
	at := slices.Index(all, m.sort)
	m.sort, m.falling = all[(at+1)%len(all)], false
}
