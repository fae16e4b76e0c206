package delta

import (
	"cmp"
	"maps"
	"slices"

	"assay/engine/record"
	"assay/engine/stats"
)

// sliceMin is under how many situations a slice is low: with fewer than six, not even
// all of them changing one way gives a two-sided p under 0.05.
const sliceMin = 6

// unlabelledValue is the slice of the tasks that do not have the field.
const unlabelledValue = "unlabelled"

// sliceFields are the fields of a task that a report can be sliced by.
var sliceFields = map[string]func(*record.Posed) string{
	record.AxisTool:          axis(record.AxisTool),
	record.AxisRule:          axis(record.AxisRule),
	record.AxisStance:        axis(record.AxisStance),
	record.AxisWorldState:    axis(record.AxisWorldState),
	record.AxisToolCondition: axis(record.AxisToolCondition),
	record.AxisHistory:       axis(record.AxisHistory),
	"fault": func(p *record.Posed) string {
		if p.Task.Fault == nil {
			return "none"
		}
		return p.Task.Fault.Condition
	},
	"arm":    func(p *record.Posed) string { return p.Arm },
	"origin": func(p *record.Posed) string { return p.Task.Origin },
	"writer": func(p *record.Posed) string { return p.Task.Writer },
}

// SliceFields lists the fields that a report can be sliced by.
func SliceFields() []string { return slices.Sorted(maps.Keys(sliceFields)) }

func axis(name string) func(*record.Posed) string {
	return func(p *record.Posed) string { return p.Task.Axes[name] }
}

// slicesOf cuts the target by each field: fields in their order, the weakest slice of
// each first. A field of one value says nothing and is left out; tasks without the
// field are the slice unlabelled.
func (t *table) slicesOf(at int, tasks []int, plan *plan) []Slice {
	out := []Slice{}
	for _, by := range plan.by {
		groups := map[string][]int{}
		for _, task := range tasks {
			value := sliceFields[by](t.tasks[task])
			groups[value] = append(groups[value], task)
		}
		if len(groups) < 2 {
			continue
		}
		var cut []Slice
		for _, value := range slices.Sorted(maps.Keys(groups)) {
			cut = append(cut, t.slice(at, by, value, groups[value]))
		}
		weakest(cut, plan.good(plan.target))
		out = append(out, cut...)
	}
	return out
}

func (t *table) slice(at int, by, value string, tasks []int) Slice {
	p := t.pairUp(at, tasks)
	s := Slice{By: by, Value: value, Paired: len(p.tasks), LowN: len(p.change.list) < sliceMin}
	if s.Value == "" {
		s.Value = unlabelledValue
	}
	if s.Paired == 0 {
		return s
	}
	b, a, d := stats.Mean(p.before), stats.Mean(p.after), settled(stats.UnitMean(p.change.list))
	s.Before, s.After, s.Delta = &b, &a, &d
	if s.LowN || p.constant() {
		return s
	}
	s.Lo, s.Hi = p.interval(t.kind(at), t.metrics[at], by, value)
	return s
}

// weakest sorts slices by what they came to after, the worst first, those that were
// not measured last.
func weakest(cut []Slice, good float64) {
	slices.SortStableFunc(cut, func(a, b Slice) int {
		switch {
		case a.After == nil || b.After == nil:
			return cmp.Compare(boolRank(a.After == nil), boolRank(b.After == nil))
		case *a.After != *b.After:
			return cmp.Compare(good**a.After, good**b.After)
		}
		return cmp.Compare(good**a.Delta, good**b.Delta)
	})
}

func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}
