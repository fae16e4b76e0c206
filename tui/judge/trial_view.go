package judge

import (
	"fmt"

	"assay/engine"
	"assay/engine/stats"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// trialTop is how many lines stand above the rows of a trial.
const trialTop = 4

// trialView is the rubric that is tried: what it comes to, and row by row what it
// changed.
func (m *Model) trialView(width, height int, focused bool) []string {
	t, tr := m.theme, m.trial
	lines := []string{ui.Rule(t, width, "A rubric, tried on the tuning half of gold", focused, ui.S(t.Quiet, ui.Plural(len(tr.rows), "row")))}
	for _, spans := range m.trialSays() {
		lines = append(lines, ui.Row(width, ui.Style{}, append([]ui.Span{ui.S(t.Text, "  ")}, spans...)...))
	}
	lines = lines[:min(len(lines), height)]
	rows := height - len(lines)
	from, to := tr.list.Window(len(tr.rows), max(rows, 0))
	for i := from; i < to; i++ {
		m.seen[tr.rows[i].RolloutID] = true
	}
	return append(lines, tr.list.View(triedRows{m}, width, rows, focused)...)
}

// trialSays are the three lines above the rows: the flips, the test, what is next.
func (m *Model) trialSays() [][]ui.Span {
	t, tr := m.theme, m.trial
	right, wrong, n := 0, 0, 0
	for i := range tr.rows {
		if tr.rows[i].Diagnostic {
			continue
		}
		switch flipOf(&tr.rows[i]) {
		case flipRight:
			right++
		case flipWrong:
			wrong++
		case flipUnjudged:
			continue
		}
		n++
	}
	flips := []ui.Span{ui.S(t.Good, t.Pass().Sign), ui.S(t.Strong, fmt.Sprintf(" %d", right)), ui.S(t.Text, " to right   "),
		ui.S(t.Bad, t.Fail().Sign), ui.S(t.Strong, fmt.Sprintf(" %d", wrong)), ui.S(t.Text, " to wrong"), ui.S(t.Quiet, fmt.Sprintf("   of %d that both judged", n))}
	if tr.result == nil {
		return [][]ui.Span{flips, {ui.S(t.Info, t.Running().Sign+" the judge is at it; nothing is saved")}, {ui.S(t.Quiet, "X drops it")}}
	}
	test := ui.S(t.Text, fmt.Sprintf("exact McNemar p %.3f", stats.McNemarExact(right, wrong)))
	next := ui.S(t.Quiet, "K keeps it, E goes on writing, X drops it")
	switch {
	case tr.kept:
		next = ui.S(t.Good, t.Pass().Sign+" kept as a version; R regrades by it")
	case tr.saving:
		next = ui.S(t.Info, t.Running().Sign+" being saved")
	}
	return [][]ui.Span{flips, {test, ui.S(t.Quiet, "   the other half is unread")}, {next}}
}

// triedRows are the rows of a trial.
type triedRows struct{ m *Model }

func (r triedRows) Len() int           { return len(r.m.trial.rows) }
func (r triedRows) Version(int) uint64 { return r.m.trial.gen }

func (r triedRows) Draw(i, width int, look ui.Look) string {
	m := r.m
	t, row := m.theme, &m.trial.rows[i]
	word, style := flipWord(t, row)
	spans := []ui.Span{transcript.Cursor(t, look), ui.S(t.Quiet, "gold ")}
	spans = append(spans, m.verdictSpan(&row.Gold), ui.S(t.Quiet, "  judge "), m.verdictSpan(row.Before), ui.S(t.Quiet, " → "), m.verdictSpan(row.After), ui.S(style, "  "+ui.Pad(word, 9)), ui.S(t.Text, " "+ui.Line(m.trial.asks[row.RolloutID], width)))
	return ui.Row(width, t.Base(look), spans...)
}

func (m *Model) verdictSpan(pass *bool) ui.Span {
	mark := m.theme.Unjudged()
	if pass != nil {
		mark = m.passes(*pass)
	}
	return ui.S(mark.Style, mark.Sign)
}

func flipWord(t ui.Theme, row *engine.TrialRow) (string, ui.Style) {
	switch flipOf(row) {
	case flipRight:
		return "to right", t.Good
	case flipWrong:
		return "to WRONG", t.Bad
	case flipUnjudged:
		return "unjudged", t.Warn
	}
	return "", t.Quiet
}

// triedRow is what is said above the transcript of a row.
func (m *Model) triedRow(row *engine.TrialRow) []para {
	said := func(pass *bool) string {
		if pass == nil {
			return "no verdict"
		}
		return word(*pass)
	}
	title := fmt.Sprintf("gold says %s; the rubric of now: %s, the new one: %s", word(row.Gold), said(row.Before), said(row.After))
	if row.Diagnostic {
		title += "  picked rather than drawn: in no number"
	}
	mark := ui.Theme.Unjudged
	if row.After != nil {
		mark = passOrFail(*row.After == row.Gold)
	}
	return []para{{title: title, mark: mark}, {title: "the judge's reason by the new rubric", mark: ui.Theme.Finished, text: string(row.Reason)}, {title: "the rollout", mark: ui.Theme.Finished}}
}
