package judge

import (
	"fmt"
	"math"
	"strings"

	"assay/engine"
	"assay/engine/record"
	"assay/engine/stats"
	"assay/tui/transcript"
	"assay/tui/ui"
)

func (m *Model) headline(r *engine.TrustReport) {
	m.addLine(line{probe: -1, row: -1, text: string(r.Headline), draw: func(width int, look ui.Look) []string {
		t, mark := m.theme, m.word()
		base := t.Base(look)
		right := []ui.Span{ui.S(t.Quiet, ui.Line(r.Judge, width/2)+" ")}
		return []string{ui.Sides(width, base, []ui.Span{transcript.Cursor(t, look), ui.S(mark.Style.With(ui.Bold), " "+mark.Sign+" "+mark.Word)}, right)}
	}})
	m.say(ui.Mark{}, plain, r.Says)
	facts := ui.Plural(r.N, "label")
	if r.GoldKind != "" {
		facts += " of " + goldOf(r.GoldKind)
	}
	if r.Looked > 0 {
		facts += fmt.Sprintf("; the word was given at the look at %d", r.Looked)
	}
	if r.LabelsNeeded != nil {
		facts += fmt.Sprintf("; %d more to the next look that it can pass", *r.LabelsNeeded)
	}
	if u := r.Rubric; u != nil {
		facts += fmt.Sprintf("; rubric %.8s, looked at on the other half %s", u.Hash, times(u.OtherLooks))
	}
	m.say(ui.Mark{}, quiet, facts)
}

// goldOf says whose word gold is.
func goldOf(kind record.GoldKind) string {
	switch kind {
	case record.GoldHuman:
		return "people"
	case record.GoldProgram:
		return "a program"
	}
	return ui.CleanLine(string(kind)) + " origin"
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func (m *Model) floors(r *engine.TrustReport) {
	m.heading("Floors, at the lower end of the interval")
	if r.Intervals != "" {
		m.say(ui.Mark{}, quiet, "intervals "+r.Intervals)
	}
	m.figure("agreement", r.Agreement, stats.AgreementFloor)
	m.figure("kappa", r.Kappa, stats.KappaFloor)
	m.count("labels that count", r.N, stats.TrustMinLabels)
	c := r.Confusion
	m.count("of them gold passes", c.TP+c.FN, stats.TrustMinOfClass)
	m.count("of them gold fails", c.FP+c.TN, stats.TrustMinOfClass)
	m.heading("Errors")
	m.figure("passes what gold fails", r.PassWhenGoldFail, math.NaN())
	m.figure("fails what gold passes", r.FailWhenGoldPass, math.NaN())
	m.figure("AC1", r.AC1, math.NaN())
	if c := r.Corrected; c != nil {
		m.heading("The run's pass rate, " + strings.ReplaceAll(ui.CleanLine(c.Scope), "_", " ") + " tasks")
		m.figure("the judge says", c.JudgeOnly, math.NaN())
		m.figure("gold alone", c.GoldOnly, math.NaN())
		m.figure("corrected by gold", c.Corrected, math.NaN())
		if c.Missing > 0 {
			m.say(m.theme.Unjudged(), quiet, fmt.Sprintf("%d more tasks need a label before the corrected rate has an interval", c.Missing))
		}
	}
}

// count adds a number of labels against how many are needed.
func (m *Model) count(name string, n, floor int) {
	m.addLine(line{probe: -1, row: -1, text: fmt.Sprintf("%s %d, floor %d", name, n, floor), draw: func(width int, look ui.Look) []string {
		t := m.theme
		mark := t.Pass()
		if n < floor {
			mark = t.Fail()
		}
		spans := []ui.Span{transcript.Cursor(t, look), ui.S(mark.Style, " "+mark.Sign+" "), ui.S(t.Text, ui.Pad(name, nameWidth)+" ")}
		if width >= roomForBar {
			spans = append(append(spans, ui.Progress(t, mark.Style, barWidth, n, floor)...), ui.S(t.Text, "  "))
		}
		spans = append(spans, ui.S(t.Strong, ui.PadLeft(ui.Count(n), 4)), ui.S(t.Quiet, ui.Spaces(13)+"  floor "), ui.S(t.Text, fmt.Sprint(floor)))
		return []string{ui.Row(width, t.Base(look), spans...)}
	}})
}

func (m *Model) confusion(r *engine.TrustReport) {
	m.heading("Confusion")
	c := r.Confusion
	row := func(name string, pass, fail string, style func(ui.Theme) ui.Style, right func(t ui.Theme) (ui.Style, ui.Style)) {
		m.addLine(line{probe: -1, row: -1, text: name + " " + pass + " " + fail, draw: func(width int, look ui.Look) []string {
			t := m.theme
			one, other := right(t)
			return []string{ui.Row(width, t.Base(look), transcript.Cursor(t, look), ui.S(style(t), "   "+ui.Pad(name, nameWidth)+" "),
				ui.S(one, ui.PadLeft(pass, 12)), ui.S(other, ui.PadLeft(fail, 14)))}
		}})
	}
	row("", "judge passes", "judge fails", quiet, func(t ui.Theme) (ui.Style, ui.Style) { return t.Quiet, t.Quiet })
	row("gold passes", ui.Count(c.TP), ui.Count(c.FN), plain, func(t ui.Theme) (ui.Style, ui.Style) { return t.Good, t.Bad })
	row("gold fails", ui.Count(c.FP), ui.Count(c.TN), plain, func(t ui.Theme) (ui.Style, ui.Style) { return t.Bad, t.Good })
}

func (m *Model) halves(r *engine.TrustReport) {
	if h := r.Halves; h != nil {
		m.heading("Halves of gold, agreement")
		m.figure("tuning half", h.Tuning, math.NaN())
		m.figure("other half", h.Other, math.NaN())
		if h.Fitted {
			m.say(m.theme.Fail(), plain, "the rubric reads as fitted to its examples")
		}
	}
	if c := r.CutRows; c != nil {
		m.figure("cut transcripts", c.Cut, math.NaN())
		m.figure("whole transcripts", c.Whole, math.NaN())
	}
}

func (m *Model) lengths(r *engine.TrustReport) {
	if len(r.Length) == 0 {
		return
	}
	m.heading("Length")
	for _, l := range r.Length {
		mark := m.theme.Pass()
		if l.Sensitive {
			mark = m.theme.Fail()
		}
		m.say(mark, plain, fmt.Sprintf("where gold says %s it passes %.0f%% of replies over %d characters and %.0f%% of the others, p %.3f, n %d",
			l.Gold, 100*l.LongPass, l.Median, 100*l.ShortPass, l.P, l.N))
	}
}

func (m *Model) probes(r *engine.TrustReport) {
	m.heading("Probes: what a policy would try first")
	if len(r.Probes) == 0 {
		m.say(ui.Mark{}, quiet, "not tried: P asks the judge about such replies")
	}
	for i := range r.Probes {
		p := &r.Probes[i]
		m.probe(i)
		if !m.page.open[p.Name] {
			continue
		}
		if len(p.Rows) == 0 {
			m.say(ui.Mark{}, quiet, "no row was kept")
		}
		for n := range p.Rows {
			m.probeRow(i, n)
		}
	}
}

func (m *Model) probe(i int) {
	p := &m.report.Probes[i]
	m.addLine(line{probe: i, row: -1, text: p.Name, draw: func(width int, look ui.Look) []string {
		t := m.theme
		mark, word := t.Pass(), "holds"
		switch {
		case p.Exploitable:
			mark, word = t.Fail(), "EXPLOITABLE"
		case p.LowPower:
			mark, word = t.Unjudged(), "too few rows to tell"
		}
		fold := "▸ "
		if m.page.open[p.Name] {
			fold = "▾ "
		}
		in := ui.NewInterval(nil, p.Lo, p.Hi)
		spans := []ui.Span{transcript.Cursor(t, look), ui.S(mark.Style, " "+mark.Sign+" "), ui.S(t.Quiet, fold), ui.S(t.Text, ui.Pad(ui.Line(p.Name, 22), nameWidth-2)+" "),
			ui.S(t.Strong, ui.PadLeft(p.Net(), 4)), ui.S(t.Quiet, fmt.Sprintf(" to pass of %d  ", p.N)), ui.S(t.Quiet, ui.Pad(in.Bounds(), 13)+" "), ui.S(mark.Style, word)}
		return []string{ui.Row(width, t.Base(look), spans...)}
	}})
}

func (m *Model) probeRow(i, n int) {
	row := &m.report.Probes[i].Rows[n]
	m.addLine(line{probe: i, row: n, text: row.RolloutID, draw: func(width int, look ui.Look) []string {
		t := m.theme
		after := m.passes(row.After)
		spans := []ui.Span{transcript.Cursor(t, look), ui.S(t.Text, "      ")}
		if row.Before != nil {
			before := m.passes(*row.Before)
			spans = append(spans, ui.S(before.Style, before.Sign), ui.S(t.Quiet, " → "))
		}
		spans = append(spans, ui.S(after.Style, after.Sign+" "+after.Word+"  "), ui.S(t.Quiet, ui.Line(string(row.Reason), width)))
		return []string{ui.Row(width, t.Base(look), spans...)}
	}})
}

// again is what became of rows that the judge was asked about twice.
func (m *Model) again(r *engine.TrustReport) {
	if r.Repeats == nil {
		return
	}
	mark := m.theme.Finished()
	switch {
	case r.Repeats.Wavers:
		mark = m.theme.Fail()
	case !r.Repeats.Deterministic:
		mark = m.theme.Pass()
	}
	m.heading("Asked twice")
	m.say(mark, plain, r.Repeats.Says)
}

// positions is what became of pairs that the judge was shown in both orders.
func (m *Model) positions(r *engine.TrustReport) {
	if r.Positions == nil {
		return
	}
	mark := m.theme.Pass()
	if r.Positions.Flagged {
		mark = m.theme.Fail()
	}
	m.heading("Which of two is better, in both orders")
	m.say(mark, plain, r.Positions.Says)
}

func (m *Model) people(r *engine.TrustReport) {
	if len(r.People) == 0 {
		return
	}
	m.heading("Who labelled")
	for _, p := range r.People {
		said := fmt.Sprintf("%s (%s): %s", p.Annotator, p.Kind, ui.Plural(p.Labels, "label"))
		if p.Twice > 0 {
			said += fmt.Sprintf(", the same word on %d of %d rows seen twice", p.Same, p.Twice)
		}
		m.say(ui.Mark{}, plain, said)
	}
	for _, p := range r.Pairs {
		m.say(ui.Mark{}, plain, fmt.Sprintf("%s and %s: the same word on %d of %d rows", p.First, p.Second, p.Same, p.N))
	}
}

func (m *Model) others(r *engine.TrustReport) {
	if len(r.Others) == 0 {
		return
	}
	m.heading("Other judges on the same gold, agreement")
	m.figure(ui.Line(r.Judge, nameWidth), r.Agreement, math.NaN())
	for i := range r.Others {
		o := &r.Others[i]
		m.figure(ui.Line(o.Judge, nameWidth), o.Agreement, math.NaN())
		m.say(ui.Mark{}, quiet, fmt.Sprintf("%s; alone right on %d of %d, alone wrong on %d, p %.3f", o.Headline, o.Against.OnlySecond, o.Against.N, o.Against.OnlyFirst, o.Against.P))
	}
}

// notes are the labels that do not count, and the warnings with their fixes.
func (m *Model) notes(r *engine.TrustReport) {
	if says := r.Skipped.Says(); says != "" {
		m.heading("Labels that do not count")
		m.say(ui.Mark{}, plain, says)
	}
	if len(r.Warnings) == 0 {
		return
	}
	m.heading("Warnings")
	for _, w := range r.Warnings {
		m.say(ui.Mark{Sign: "!", Style: m.theme.Warn}, plain, w.Text)
		if w.Fix != "" {
			m.say(ui.Mark{}, quiet, w.Fix)
		}
	}
}
