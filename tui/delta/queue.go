package delta

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/engine"
	"assay/engine/record"
	"assay/tui/report"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// Names of the queues, in the order of their tabs.
const (
	regressed = iota
	improved
	unstable
	queueCount
)

func queueName(n int) string {
	return [...]string{"Regressed", "Improved", "Unstable"}[n]
}

func queueSays(n int) string {
	return [...]string{
		"worse after than before, the farthest first; ≈ attempts at the task differ",
		"better after than before, the farthest first; ≈ attempts at the task differ",
		"attempts at one and the same task differ: repeated, it may come out otherwise",
	}[n]
}

// queues are the tasks behind one metric, or one slice of it.
type queues struct {
	metric    string
	kind      string
	lower     bool
	by, value string // the slice, "" for all
	tasks     engine.DeltaTasks
	at        int // index of the metric among the tasks'
	all       engine.DeltaQueues
	widest    int // cells that the longest side's verdicts take
	which     int
	lists     [queueCount]ui.List
	theme     ui.Theme
	gen       uint64
	seen      map[string]bool // rollouts whose verdicts were drawn
}

// newQueues sorts tasks by a metric and opens the first queue that is not empty.
func newQueues(t ui.Theme, tasks engine.DeltaTasks, m *engine.DeltaMetric, by, value string) *queues {
	q := &queues{metric: m.Name, kind: m.Kind, lower: m.LowerIsBetter, by: by, value: value, tasks: tasks, theme: t}
	if by != "" {
		q.tasks = tasks.In(by, value)
	}
	q.at = slices.Index(tasks.Metrics, m.Name)
	q.all, _ = q.tasks.Queues(m.Name, m.LowerIsBetter)
	for i := range q.tasks.Pairs {
		p := &q.tasks.Pairs[i]
		q.widest = max(q.widest, ui.Width(cellText(q.cells(p.Before))), ui.Width(cellText(q.cells(p.After))))
	}
	for q.which < unstable && len(q.moves(q.which)) == 0 {
		q.which++
	}
	return q
}

func (q *queues) moves(n int) []engine.DeltaMove {
	switch n {
	case regressed:
		return q.all.Regressed
	case improved:
		return q.all.Improved
	}
	return q.all.Unstable
}

// list is the list that is shown, here its tasks.
func (q *queues) list() *ui.List           { return &q.lists[q.which] }
func (q *queues) here() []engine.DeltaMove { return q.moves(q.which) }
func (q *queues) Len() int                 { return len(q.here()) }
func (q *queues) Version(i int) uint64     { return q.gen<<32 | uint64(q.which)<<28 | uint64(i) }
func (q *queues) other(by int)             { q.which = (q.which + by + queueCount) % queueCount }
func (q *queues) restyle(t ui.Theme)       { q.theme = t; q.gen++ }
func (q *queues) under() (engine.DeltaMove, bool) {
	if q.Len() == 0 {
		return engine.DeltaMove{}, false
	}
	return q.here()[min(q.list().Cursor(), q.Len()-1)], true
}

// goTo puts the cursor on a task, in whichever queue it stands first from the one
// that is shown.
func (q *queues) goTo(which int, taskID string) {
	q.which = max(min(which, queueCount-1), 0)
	for i, m := range q.here() {
		if m.Pair.Task.ID == taskID {
			q.list().Set(i, q.Len())
		}
	}
}

// tabs are the queues with how many tasks each has.
func (q *queues) tabs(width int) string {
	t := q.theme
	spans := []ui.Span{ui.S(t.Text, "  ")}
	for n := range queueCount {
		style := t.Quiet
		if n == q.which {
			style = t.Accent.With(ui.Bold | ui.Underline)
		}
		spans = append(spans, ui.S(style, queueName(n)), ui.S(t.Text, " "+ui.Count(len(q.moves(n)))+"   "))
	}
	rest := ui.Count(q.all.Same) + " the same"
	if q.all.Unmeasured > 0 {
		rest += ", " + ui.Count(q.all.Unmeasured) + " not measured on both sides"
	}
	return ui.Row(width, ui.Style{}, append(spans, ui.S(t.Quiet, rest))...)
}

func (q *queues) title() string {
	title := ui.CleanLine(q.metric)
	if q.by != "" {
		title += "  ·  " + ui.CleanLine(q.by) + " " + ui.CleanLine(q.value)
	}
	return title
}

// mostCells is how many verdicts of a side are drawn one by one; more are counted.
// Convention: as many as can be told apart at a glance.
const mostCells = 16

// cellsWidth is what a side's verdicts take.
func (q *queues) cellsWidth(width int) int { return max(min(q.widest, mostCells+4, (width-10)/3), 6) }

// head names the columns.
func (q *queues) head(width int) string {
	t, cells := q.theme, q.cellsWidth(width)
	return ui.Row(width, ui.Style{}, ui.S(t.Quiet, "  "+ui.PadLeft("change", 7)+"  "+ui.Pad("before", cells)+"  "+ui.Pad("after", cells)+"  task"))
}

// Draw draws a task: its change, both sides' verdicts, what was asked.
func (q *queues) Draw(i, width int, look ui.Look) string {
	t := q.theme
	base := t.Base(look)
	m := q.here()[i]
	lead := ui.S(base, "  ")
	if look == ui.Active {
		lead = ui.S(t.Accent, "▎ ")
	}
	cells := q.cellsWidth(width)
	spans := []ui.Span{lead, ui.S(q.changeStyle(m), ui.PadLeft(report.Change(q.kind, m.Change), 7)), ui.S(base, "  ")}
	for _, side := range []struct {
		attempts []engine.DeltaAttempt
		mean     float64
	}{{m.Pair.Before, m.Before}, {m.Pair.After, m.After}} {
		for i := range side.attempts {
			q.seen[side.attempts[i].RolloutID] = true
		}
		spans = append(append(spans, q.side(side.attempts, side.mean, cells)...), ui.S(base, "  "))
	}
	wobble := "  "
	if m.Unstable {
		wobble = "≈ "
	}
	return ui.Row(width, base, append(spans, ui.S(t.Warn, wobble), ui.S(t.Text, ui.Line(string(m.Pair.Task.Ask), width)))...)
}

func (q *queues) changeStyle(m engine.DeltaMove) ui.Style {
	switch change := m.Change; {
	case math.Abs(change) < 1e-9:
		return q.theme.Quiet
	case (change > 0) != q.lower:
		return q.theme.Good
	}
	return q.theme.Bad
}

// side is one side's verdicts in exactly width cells: one by one, eval runs apart, or
// where there is no room their mean and number.
func (q *queues) side(attempts []engine.DeltaAttempt, mean float64, width int) []ui.Span {
	spans := q.cells(attempts)
	if w := ui.Width(cellText(spans)); w <= width {
		return append(spans, ui.S(ui.Style{}, ui.Spaces(width-w)))
	}
	return []ui.Span{ui.S(q.theme.Text, ui.Pad(report.Value(q.kind, &mean)+fmt.Sprintf(" of %d", len(attempts)), width))}
}

func cellText(spans []ui.Span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// cells are the verdicts of one side's attempts.
func (q *queues) cells(attempts []engine.DeltaAttempt) []ui.Span {
	var spans []ui.Span
	for i := range attempts {
		if i > 0 && attempts[i].Key.EvalRun != attempts[i-1].Key.EvalRun {
			spans = append(spans, ui.S(ui.Style{}, " "))
		}
		m := q.mark(&attempts[i])
		spans = append(spans, ui.S(m.Style, m.Sign))
	}
	return spans
}

// mark is what one attempt came to under the metric.
func (q *queues) mark(a *engine.DeltaAttempt) ui.Mark {
	t := q.theme
	if q.metric == report.PassAt1 || a.Status != record.StatusDone {
		return transcript.MarkOf(t, a.Status, a.Reward, a.JudgeStatus != "", q.tasks.Threshold)
	}
	v := math.NaN()
	if q.at >= 0 {
		v = a.Values[q.at]
	}
	switch {
	case math.IsNaN(v):
		return ui.Mark{Sign: "·", Word: "does not apply", Style: t.Quiet}
	case q.kind == "number":
		return ui.Mark{Sign: report.Value(q.kind, &v) + " ", Word: report.Value(q.kind, &v), Style: t.Text}
	case v == 1 && !q.lower, v == 0 && q.lower:
		return ui.Mark{Sign: t.Pass().Sign, Word: report.Value(q.kind, &v), Style: t.Good}
	case v == 0, v == 1:
		return ui.Mark{Sign: t.Fail().Sign, Word: report.Value(q.kind, &v), Style: t.Bad}
	}
	return ui.Mark{Sign: t.Partly().Sign, Word: report.Value(q.kind, &v), Style: t.Warn}
}

// about says below the list what the task under the cursor is.
func (q *queues) about(width, rows int) []string {
	t := q.theme
	l := report.Lines{Theme: t, Width: width}
	m, ok := q.under()
	if !ok {
		l.Row(ui.S(t.Quiet, "no task in this queue"))
		return l.All
	}
	lines := max(rows-3, 1)
	ask := ui.Wrap(ui.Line(string(m.Pair.Task.Ask), lines*(width-4)), width-4)
	for _, line := range ask[:min(len(ask), lines)] {
		l.Row(ui.S(t.Text, line))
	}
	l.Row(ui.S(t.Quiet, ui.CleanLine(transcript.Situation(m.Pair.Task, m.Pair.HeldOut))))
	for _, side := range []struct {
		name     string
		attempts []engine.DeltaAttempt
		mean     float64
	}{{"before", m.Pair.Before, m.Before}, {"after", m.Pair.After, m.After}} {
		l.Row(ui.S(t.Quiet, ui.Pad(side.name, 8)), ui.S(t.Text, report.Value(q.kind, &side.mean)), ui.S(t.Quiet, " over "+ui.Plural(len(side.attempts), "attempt")+failures(side.attempts)))
	}
	return l.All
}

// failures are the failure classes and the losses of attempts, counted.
func failures(attempts []engine.DeltaAttempt) string {
	var names []string
	counts := map[string]int{}
	add := func(name string) {
		if counts[name]++; counts[name] == 1 {
			names = append(names, name)
		}
	}
	for i := range attempts {
		switch a := &attempts[i]; {
		case a.Status == record.StatusLost:
			add("lost: " + ui.CleanLine(string(a.Cause)))
		case a.FailureClass != "":
			add(ui.CleanLine(a.FailureClass))
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return counts[b] - counts[a] })
	var out strings.Builder
	for _, name := range names {
		fmt.Fprintf(&out, "  %s ×%d", name, counts[name])
	}
	return out.String()
}

// choose picks the two attempts that show a move best: those that differ the most in
// its direction, among equals the same key on both sides, then the first.
func (q *queues) choose(m engine.DeltaMove) (before, after int) {
	value := func(a *engine.DeltaAttempt) float64 {
		if q.at < 0 || math.IsNaN(a.Values[q.at]) {
			return math.Inf(-1)
		}
		return a.Values[q.at]
	}
	best := math.Inf(-1)
	for i := range m.Pair.Before {
		for j := range m.Pair.After {
			b, a := value(&m.Pair.Before[i]), value(&m.Pair.After[j])
			if math.IsInf(b, 0) || math.IsInf(a, 0) {
				continue
			}
			gap := math.Abs(a - b)
			if math.Abs(m.Change) > 1e-9 && (a-b)*m.Change < 0 {
				gap = -gap
			}
			same := m.Pair.Before[i].Key == m.Pair.After[j].Key
			sameBest := m.Pair.Before[before].Key == m.Pair.After[after].Key
			if gap > best || gap == best && same && !sameBest {
				best, before, after = gap, i, j
			}
		}
	}
	return before, after
}
