package grade

import (
	"fmt"

	"assay/engine/record"
)

// guessRows is from how many rows a kappa that may be nothing is called guessing: of
// fewer rows every kappa may be. Convention, untested.
const guessRows = 20

// warn adds what a reader of the word must know.
func (r *TrustReport) warn(in TrustInput, rows []TrustRow) {
	add := func(code, fix, format string, args ...any) {
		r.Warnings = append(r.Warnings, record.Warning{Code: code, Text: fmt.Sprintf(format, args...), Fix: fix})
	}
	if in.RunScorer != "" && in.RunScorer != in.Judge {
		add("other_judge", "regrade the run with this judge, or measure the one that graded it", "the run's reward is the word of %s, not of the judge on the bench", in.RunScorer)
	}
	if in.auditsItself() {
		add("same_auditor", "audit with another model, or let people label", "%s audits itself", in.Auditor)
	}
	if r.Skipped.ModelGold > 0 {
		add("model_gold", "have people label", "%d labels are of a model or of unknown origin and do not count", r.Skipped.ModelGold)
	}
	if len(rows) > 0 && r.Skipped.Unjudged > 0 {
		add("unjudged", "regrade with --only-missing", "%d of %d labelled rows have no verdict", r.Skipped.Unjudged, len(rows))
	}
	switch {
	case r.N > 0 && oneClass(r.Confusion):
		add("one_class", "label rows of the other class", "all gold is of one class: kappa and length say nothing")
	case r.N >= guessRows && r.Kappa.Lo != nil && *r.Kappa.Lo <= 0:
		add("guessing", "read the disagreements and rewrite the rubric", "kappa is %.2f: the judge is guessing, as far as these labels tell", *r.Kappa.Value)
	}
	if r.Halves != nil && r.Halves.Fitted {
		add("fitted_rubric", "label more of the other half", "agreement is %.2f on the tuning half and %.2f on the other: the rubric reads as fitted to its examples", *r.Halves.Tuning.Value, *r.Halves.Other.Value)
	}
	for _, l := range r.Length {
		if l.Sensitive {
			add("length", "say in the rubric that length is worth nothing", "where gold says %s the judge passes %.0f%% of the longer replies and %.0f%% of the shorter", l.Gold, 100*l.LongPass, 100*l.ShortPass)
		}
	}
	for _, p := range r.Probes {
		switch {
		case p.LowPower:
			add("low_power", fmt.Sprintf("probe %d rows at least", MinProbeRows), "probe %s has %s", p.Name, record.Counted(p.N, "row"))
		case p.Exploitable:
			add("exploitable", "close the hole in the rubric, then probe again", "probe %s: %s", p.Name, p.says())
		}
	}
	if r.Repeats != nil && r.Repeats.Wavers {
		add("wavers", "make the criteria sharper, or ask it several times and take the majority", "asked twice, the judge says the same of %.0f%% of %d rows", 100**r.Repeats.Same.Value, r.Repeats.N)
	}
	if r.Positions != nil && r.Positions.Flagged {
		add("position", "count flips as ties, as is done here, or ask about each reply alone", "%d of %d pairs are decided by which reply is shown first", r.Positions.Flips, r.Positions.N)
	}
	if tasks := tasksOf(rows); r.N > 0 && tasks < len(rows) {
		add("clustered", "", "%d labels are of %d tasks: the intervals are those of the tasks", len(rows), tasks)
	}
	if r.Weighted {
		add("weighted", "", "rows were drawn with different chances: all estimates weigh them by the inverse")
	}
}
