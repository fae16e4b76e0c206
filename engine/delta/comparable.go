package delta

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"assay/engine/record"
	"assay/engine/stats"
)

const (
	// halfPaired is the share of all tasks that must be on both sides: under it, most of
	// what either run did stands outside the comparison.
	halfPaired = 0.5
	// answeredP is the p under which answered shares count as different. Stricter than
	// alpha because this test is made unasked in every report; convention.
	answeredP = 0.01
	// truncatedGap is a difference of the shares of replies cut at their length limit
	// that is warned of: a cut reply is mostly a failed one. Convention, untested.
	truncatedGap = 0.05
	// ceiling is from where on a rate leaves little to gain. Convention.
	ceiling = 0.9
	// unlabelledShare of the tasks without a stance is warned of. Convention.
	unlabelledShare = 0.1
)

// reasons are why the two runs cannot be compared at all; none means they can.
func (t *table) reasons(in *Input, plan *plan, paired, alone []int) []record.Warning {
	out := []record.Warning{}
	out = append(out, scorerReason(in, plan)...)
	out = append(out, t.markerReasons(plan)...)
	if all := len(paired) + len(alone); float64(len(paired)) < halfPaired*float64(all) {
		out = append(out, reason("tasks", "run after with --tasks "+in.Before.Run.ID, "only %d of %d tasks are on both sides", len(paired), all))
	}
	out = append(out, t.modelReasons(in, paired)...)
	for _, name := range conditionNames(in) {
		if b, a := in.Before.Conditions[name], in.After.Conditions[name]; b != a {
			out = append(out, reason("condition", "run both sides with one version of assay", "another %s: %s before, %s after", name, orNone(b), orNone(a)))
		}
	}
	return append(out, t.answeredReason(in, paired)...)
}

func reason(code, fix, format string, args ...any) record.Warning {
	return record.Warning{Code: code, Text: fmt.Sprintf(format, args...), Fix: fix}
}

// sentences are reasons with what to do about each.
func sentences(reasons []record.Warning) []string {
	out := make([]string, len(reasons))
	for i, r := range reasons {
		out[i] = r.Text + ": " + r.Fix
	}
	return out
}

// scorerReason: one scorer version grades both sides, where the reward has a part.
func scorerReason(in *Input, plan *plan) []record.Warning {
	b, a := in.Before.Scorer, in.After.Scorer
	if b == a {
		return nil
	}
	if (b == "" || a == "") && plan.target != PassAt1 && plan.proxy != PassAt1 && !plan.guards[PassAt1] {
		return nil
	}
	if a == "" {
		return []record.Warning{reason("scorer", fmt.Sprintf("assay grade %s --judge %s", in.After.Run.ID, b), "before was graded by %s and after by nothing", b)}
	}
	return []record.Warning{reason("scorer", fmt.Sprintf("assay grade %s --judge %s", in.Before.Run.ID, a), "before was graded by %s and after by %s", orNone(b), a)}
}

// markerReasons name the markers that count and were made by other versions of their
// scorer on the two sides.
func (t *table) markerReasons(plan *plan) []record.Warning {
	var out []record.Warning
	for m, name := range t.metrics {
		if t.sameScorers(m) || name != plan.target && name != plan.proxy && !plan.guards[name] {
			continue
		}
		out = append(out, reason("marker", "assay grade both runs with one recipe", "marker %s was made by %s before and by %s after", name,
			listed(t.sides[before].scorers[m]), listed(t.sides[after].scorers[m])))
	}
	return out
}

// sameScorers is true where no version of the metric's scorer is on one side alone; a
// metric that a side lacks altogether is no contradiction.
func (t *table) sameScorers(metric int) bool {
	b, a := t.sides[before].scorers[metric], t.sides[after].scorers[metric]
	return len(b) == 0 || len(a) == 0 || maps.Equal(b, a)
}

// modelReasons: the same tasks must have been written and their users played by the
// same models.
func (t *table) modelReasons(in *Input, paired []int) []record.Warning {
	var out []record.Warning
	for _, c := range []struct {
		what          string
		before, after []string
	}{
		{"writer", t.sides[before].writer, t.sides[after].writer},
		{"user model", t.sides[before].user, t.sides[after].user},
	} {
		for _, task := range paired {
			if b, a := c.before[task], c.after[task]; b != a {
				out = append(out, reason("model", "run after with before's "+c.what+" and --tasks "+in.Before.Run.ID,
					"another %s: %s before, %s after (task %s)", c.what, orNone(b), orNone(a), t.tasks[task].Task.ID))
				break
			}
		}
	}
	return out
}

// answeredReason: what was lost must not differ between the sides by more than chance
// (sign flips over situations) and by more than eval runs differ.
func (t *table) answeredReason(in *Input, paired []int) []record.Warning {
	var gap units
	for _, task := range paired {
		b, a := t.sides[before].rows[task], t.sides[after].rows[task]
		gap.add(t.unit[task], a.answered()-b.answered())
	}
	if changed(gap.list) == 0 {
		return nil
	}
	p := stats.SignFlip((&pair{change: gap}).sums(), draws, record.Stream("delta", "sign flip", "answered"))
	if p >= answeredP {
		return nil
	}
	b, a := t.sides[before].rowsOf(paired), t.sides[after].rowsOf(paired)
	difference := stats.UnitMean(gap.list)
	noise, known := stats.NoiseBand(t.sides[before].answeredRuns(), t.sides[after].answeredRuns())
	if known && math.Abs(difference) <= noise.Band {
		return nil
	}
	return []record.Warning{reason("answered", "assay resume "+in.Before.Run.ID+", and "+in.After.Run.ID,
		"before answered %.1f%% of its rollouts, after %.1f%% (p %.2g); what was lost is not missing at random", 100*b.answered(), 100*a.answered(), p)}
}

func (c rowCount) answered() float64 {
	if c.done+c.lost == 0 {
		return 1
	}
	return float64(c.done) / float64(c.done+c.lost)
}

func (c rowCount) gradedShare() float64 {
	if c.done == 0 {
		return 1
	}
	return float64(c.graded) / float64(c.done)
}

func conditionNames(in *Input) []string {
	names := map[string]bool{}
	for name := range in.Before.Conditions {
		names[name] = true
	}
	for name := range in.After.Conditions {
		names[name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func listed(set map[string]bool) string {
	return orNone(strings.Join(slices.Sorted(maps.Keys(set)), ", "))
}

// temperatures are the distinct temperatures of the kept sampling settings.
func temperatures(sampling map[string]bool) string {
	set := map[string]bool{}
	for raw := range sampling {
		var s struct {
			Temperature *float64 `json:"temperature"`
		}
		if json.Unmarshal([]byte(raw), &s) == nil && s.Temperature != nil {
			set[fmt.Sprintf("%g", *s.Temperature)] = true
		}
	}
	return listed(set)
}
