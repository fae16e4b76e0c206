package report

import (
	"assay/engine"
	"assay/engine/record"
	"assay/tui/ui"
)

// HeadlineStyle is how the one word looks.
func HeadlineStyle(t ui.Theme, r *engine.DeltaReport) ui.Style {
	switch {
	case r.OK:
		return t.Good.With(ui.Bold)
	case r.Headline == "FAIL":
		return t.Bad.With(ui.Bold)
	}
	return t.Warn.With(ui.Bold)
}

// Headline is the word, its sentence, and what it rests on.
func Headline(t ui.Theme, width int, r *engine.DeltaReport) []string {
	l := Lines{Theme: t, Width: width}
	l.Row(ui.S(HeadlineStyle(t, r), ui.CleanLine(string(r.Headline))))
	if r.Line != "" {
		l.Text(t.Text, r.Line)
	}
	l.Text(t.Quiet, Scope(r))
	return l.All
}

// Scope is which tasks a report rests on.
func Scope(r *engine.DeltaReport) string {
	text := "on held-out tasks"
	if r.Scope != "held_out" {
		text = "on all tasks, training tasks too"
	}
	text += "  ·  " + ui.Plural(r.Paired, "task") + " paired"
	if r.Units > 0 && r.Units != r.Paired {
		text += ", of " + ui.Plural(r.Units, "situation")
	}
	if r.Unpaired > 0 {
		text += ", " + ui.Count(r.Unpaired) + " on one side only"
	}
	if r.Trained > 0 {
		text += ", " + ui.Count(r.Trained) + " left out as trained on"
	}
	return text
}

// Causes are the reasons why the two runs cannot be compared. A report that was saved
// before reasons had their fixes apart has them in its sentences.
func Causes(r *engine.DeltaReport) []record.Warning {
	if len(r.Causes) > 0 {
		return r.Causes
	}
	var out []record.Warning
	for _, sentence := range r.NotComparable {
		out = append(out, record.Warning{Code: "not comparable", Text: sentence})
	}
	return out
}

// Page is a report whole, for reading.
func Page(t ui.Theme, width int, r *engine.DeltaReport) []string {
	l := Lines{Theme: t, Width: width}
	l.Gap()
	l.All = append(l.All, Headline(t, width, r)...)
	causes := Causes(r)
	for i := range causes {
		l.All = append(l.All, Cause(t, width, &causes[i], ui.Plain)...)
	}
	l.Gap()
	f := NewForest(t, width, r)
	l.All = append(l.All, f.Head())
	metrics := InOrder(r)
	for i := range metrics {
		l.All = append(l.All, f.Metric(&metrics[i], ui.Plain))
	}
	l.Gap()
	l.All = append(l.All, f.Legend()...)
	if len(r.Warnings) > 0 {
		l.Gap()
		l.Warnings(r.Warnings)
	}
	return l.All
}
