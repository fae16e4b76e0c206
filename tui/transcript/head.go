package transcript

import (
	"fmt"

	"assay/engine/record"
	"assay/store"
	"assay/tui/ui"
)

// DrawHead is a finished rollout as a row of a list. chosen says that it is among
// those picked out.
func DrawHead(t ui.Theme, h *store.RolloutHead, width int, look ui.Look, threshold float64, chosen bool) string {
	base := t.Base(look)
	mark := MarkOf(t, h.Status, h.Reward, h.JudgeStatus != "", threshold)
	left := []ui.Span{Cursor(t, look), ui.S(mark.Style, mark.Sign+" ")}
	if chosen {
		left = append(left, ui.S(t.Accent, "● "))
	}
	if h.Fault != nil {
		left = append(left, ui.S(t.Fault, "⚑ "))
	}
	left = append(left, ui.S(t.Text, ui.Line(string(h.Ask), width)))
	return ui.Sides(width, base, left, headFacts(t, h, mark, width))
}

// Cursor is the cell before a row of a list.
func Cursor(t ui.Theme, look ui.Look) ui.Span {
	if look == ui.Active {
		return ui.S(t.Accent, "▎")
	}
	return ui.S(t.Base(look), " ")
}

// headFacts is what stands at the right of a finished rollout, as much as there
// is room for.
func headFacts(t ui.Theme, h *store.RolloutHead, mark ui.Mark, width int) []ui.Span {
	word := mark.Word
	switch {
	case h.Status == record.StatusLost && h.Cause != "":
		word = "lost: " + ui.Line(string(h.Cause), width)
	case h.FailureClass != "" && mark.Sign != t.Pass().Sign:
		word = ui.Line(h.FailureClass, width)
	}
	if width < 56 && h.Status == record.StatusLost && h.Cause != "" {
		word = ui.Line(string(h.Cause), width) // the mark says lost
	}
	word = ui.Cut(word, max(width/3, 10))
	calls := fmt.Sprintf("%d calls", h.Calls)
	if h.Calls == 1 {
		calls = "1 call"
	}
	switch {
	case width < 30:
		return nil
	case width < 56:
		attempt := ui.S(t.Quiet, fmt.Sprintf(" %d ", h.Key.K+1))
		if mark.Sign == t.Pass().Sign {
			return []ui.Span{attempt} // the mark says it, and the task needs the room
		}
		return []ui.Span{ui.S(mark.Style, " "+word), attempt}
	case width < 90:
		return []ui.Span{ui.S(t.Quiet, "  "+ui.PadLeft(calls, 8)+"  "), ui.S(mark.Style, ui.Pad(word, 18)), ui.S(t.Quiet, fmt.Sprintf(" %d ", h.Key.K+1))}
	}
	held := "        "
	if h.HeldOut {
		held = "held out"
	}
	return []ui.Span{
		ui.S(t.Quiet, "  "+ui.Pad(ui.Line(h.Axes[record.AxisStance], 13), 13)+" "+held+" "+ui.PadLeft(calls, 8)+"  "),
		ui.S(mark.Style, ui.Pad(word, 18)), ui.S(t.Quiet, fmt.Sprintf(" %d ", h.Key.K+1)),
	}
}
