package delta

import (
	"fmt"

	"assay/engine"
	"assay/tui/report"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// task is one task of a queue with two of its rollouts side by side.
type task struct {
	move          engine.DeltaMove
	before, after int // which attempts
	doc           *transcript.Pair
	scroll        ui.Scroll
	placed        bool // the window was put where the two part
	side          transcript.Side
}

// attempts are those of the side in focus, and which of them is shown.
func (k *task) attempts() (list []engine.DeltaAttempt, at *int) {
	if k.side == transcript.Left {
		return k.move.Pair.Before, &k.before
	}
	return k.move.Pair.After, &k.after
}

// sibling goes to the next attempt of the side in focus, and reports whether there is
// one.
func (k *task) sibling(by int) bool {
	list, at := k.attempts()
	if next := *at + by; next >= 0 && next < len(list) {
		*at = next
		return true
	}
	return false
}

// place puts the window where the two part, with what comes before it in sight.
func (k *task) place(rows int) {
	at, ok := k.doc.Parting()
	if !ok {
		return
	}
	k.scroll.To(k.doc, k.doc.Len()-1)
	k.scroll.To(k.doc, at)
	k.scroll.Wheel(k.doc, -rows/3)
}

// taskTop are the lines above the two transcripts.
const taskTop = 3

// taskView draws the two transcripts in height lines.
func (m *Model) taskView(width, height int) []string {
	t, k, q := m.theme, m.task, m.queues
	position := fmt.Sprintf("%d of %d", q.list().Cursor()+1, q.Len())
	lines := []string{ui.Sides(width, ui.Style{},
		[]ui.Span{ui.S(t.Text, "  "), ui.S(q.changeStyle(k.move), signed(q, k.move.Change)), ui.S(t.Text, "  "+ui.Line(string(k.move.Pair.Task.Ask), width))},
		[]ui.Span{ui.S(t.Quiet, queueName(q.which)+" "+position+" ")})}
	switch {
	case k.doc == nil:
		lines = append(lines, ui.Row(width, ui.Style{}, ui.S(t.Quiet, "  Reading both …")))
	default:
		lines = append(lines, ui.Row(width, ui.Style{}, ui.S(t.Text, "  "+k.doc.Says("before", "after"))))
	}
	left, right, folded := (width-3)/2, width-3-(width-3)/2, width < ui.MinSplit
	if folded {
		name, list, at := "Before", k.move.Pair.Before, k.before
		if k.side == transcript.Right {
			name, list, at = "After", k.move.Pair.After, k.after
		}
		lines = append(lines, m.sideTitle(width, name, list, at, true))
	} else {
		lines = append(lines, m.sideTitle(left, "Before", k.move.Pair.Before, k.before, k.side == transcript.Left)+t.Line.Render(" ┬ ")+
			m.sideTitle(right, "After", k.move.Pair.After, k.after, k.side == transcript.Right))
	}
	rows := max(height-taskTop, 0)
	if k.doc == nil {
		return lines
	}
	at := k.scroll.Cursor()
	if folded {
		at = k.doc.Alone(k.side, at)
	} else {
		at = k.doc.Both(at)
	}
	if at != k.scroll.Cursor() {
		k.scroll.To(k.doc, at)
	}
	body := k.scroll.View(k.doc, width, rows, true)
	if !k.placed {
		k.placed = true
		k.place(rows)
		body = k.scroll.View(k.doc, width, rows, true)
	}
	return append(lines, body...)
}

func signed(q *queues, change float64) string {
	if change == 0 {
		return "±0"
	}
	return report.Change(q.kind, change)
}

// sideTitle says which attempt of a side is shown and what it came to.
func (m *Model) sideTitle(width int, name string, list []engine.DeltaAttempt, at int, focused bool) string {
	if at >= len(list) {
		return ui.Rule(m.theme, width, name, focused)
	}
	a := &list[at]
	mark := m.queues.mark(a)
	title := fmt.Sprintf("%s  attempt %d of %d", name, at+1, len(list))
	if a.Key.EvalRun > 0 {
		title += fmt.Sprintf(", eval run %d", a.Key.EvalRun+1)
	}
	return ui.Rule(m.theme, width, title, focused, ui.S(mark.Style, mark.Sign+" "+mark.Word))
}
