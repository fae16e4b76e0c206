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
func (t *table) reasons(in *Input, plan *plan, paired, alone []int) []string {
	out := []string{}
	if r := scorerReason(in, plan); r != "" {
		out = append(out, r)
	}
	out = append(out, t.markerReasons(plan)...)
	if all := len(paired) + len(alone); float64(len(paired)) < halfPaired*float64(all) {
		out = append(out, fmt.Sprintf("only %d of %d tasks are on both sides: run after with --tasks %s", len(paired), all, in.Before.Run.ID))
	}
	out = append(out, t.modelReasons(paired)...)
	for _, name := range conditionNames(in) {
		if b, a := in.Before.Conditions[name], in.After.Conditions[name]; b != a {
			out = append(out, fmt.Sprintf("another %s: %s before, %s after", name, orNone(b), orNone(a)))
		}
	}
	if r := t.answeredReason(paired); r != "" {
		out = append(out, r)
	}
	return out
}

// scorerReason: one scorer version grades both sides, where the reward has a part.
func scorerReason(in *Input, plan *plan) string {
	b, a := in.Before.Scorer, in.After.Scorer
	if b == a {
		return ""
	}
	if (b == "" || a == "") && plan.target != PassAt1 && plan.proxy != PassAt1 && !plan.guards[PassAt1] {
		return ""
	}
	if a == "" {
		return fmt.Sprintf("before was graded by %s and after by nothing: assay grade %s --judge %s", b, in.After.Run.ID, b)
	}
	return fmt.Sprintf("before was graded by %s and after by %s: assay grade %s --judge %s", orNone(b), a, in.Before.Run.ID, a)
}

// markerReasons name the markers that count and were made by other versions of their
// scorer on the two sides.
func (t *table) markerReasons(plan *plan) []string {
	var out []string
	for m, name := range t.metrics {
		if t.sameScorers(m) || name != plan.target && name != plan.proxy && !plan.guards[name] {
			continue
		}
		out = append(out, fmt.Sprintf("marker %s was made by %s before and by %s after: assay grade both runs with one recipe",
			name, listed(t.sides[before].scorers[m]), listed(t.sides[after].scorers[m])))
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
func (t *table) modelReasons(paired []int) []string {
	var out []string
	for _, c := range []struct {
		what          string
		before, after []string
	}{
		{"writer", t.sides[before].writer, t.sides[after].writer},
		{"user model", t.sides[before].user, t.sides[after].user},
	} {
		for _, task := range paired {
			if b, a := c.before[task], c.after[task]; b != a {
				out = append(out, fmt.Sprintf("another %s: %s before, %s after (task %s)", c.what, orNone(b), orNone(a), t.tasks[task].Task.ID))
				break
			}
		}
	}
	return out
}

// answeredReason: what was lost must not differ between the sides by more than chance
// (sign flips over situations) and by more than eval runs differ.
func (t *table) answeredReason(paired []int) string {
	var gap units
	for _, task := range paired {
		b, a := t.sides[before].rows[task], t.sides[after].rows[task]
		gap.add(t.unit[task], a.answered()-b.answered())
	}
	if changed(gap.list) == 0 {
		return ""
	}
	p := stats.SignFlip((&pair{change: gap}).sums(), draws, record.Stream("delta", "sign flip", "answered"))
	if p >= answeredP {
		return ""
	}
	b, a := t.sides[before].rowsOf(paired), t.sides[after].rowsOf(paired)
	difference := stats.UnitMean(gap.list)
	noise, known := stats.NoiseBand(t.sides[before].answeredRuns(), t.sides[after].answeredRuns())
	if known && math.Abs(difference) <= noise.Band {
		return ""
	}
	return fmt.Sprintf("before answered %.1f%% of its rollouts, after %.1f%% (p %.2g): what was lost is not missing at random; assay resume both",
		100*b.answered(), 100*a.answered(), p)
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
