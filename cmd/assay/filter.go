package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/engine/record"
)

// filter is a list of conditions, all of which a row must meet.
type filter []condition

type condition func(*record.Row) bool

func (f filter) match(r *record.Row) bool {
	for _, c := range f {
		if !c(r) {
			return false
		}
	}
	return true
}

// numbers and words are the members of a row that a filter may compare.
var (
	filterNumbers = map[string]func(*record.Row) (float64, bool){
		"reward": func(r *record.Row) (float64, bool) {
			if r.Reward == nil {
				return 0, false
			}
			return float64(*r.Reward), true
		},
		"k":     func(r *record.Row) (float64, bool) { return float64(r.RolloutIndex), true },
		"steps": func(r *record.Row) (float64, bool) { return float64(len(r.Steps)), true },
		"gold": func(r *record.Row) (float64, bool) {
			if r.GoldReward == nil {
				return 0, false
			}
			return *r.GoldReward, true
		},
		"eval_run": func(r *record.Row) (float64, bool) {
			if r.Lineage == nil || r.Lineage.EvalRun == nil {
				return 0, false
			}
			return float64(*r.Lineage.EvalRun), true
		},
	}
	filterWords = map[string]func(*record.Row) string{
		"status":        func(r *record.Row) string { return string(r.Status) },
		"cause":         func(r *record.Row) string { return string(r.Cause) },
		"task_id":       func(r *record.Row) string { return r.TaskID },
		"situation_id":  func(r *record.Row) string { return r.SituationID },
		"rollout_id":    func(r *record.Row) string { return r.RolloutID },
		"arm":           func(r *record.Row) string { return r.Arm },
		"ended_by":      func(r *record.Row) string { return r.EndedBy },
		"finish_reason": func(r *record.Row) string { return string(r.FinishReason) },
		"failure_class": func(r *record.Row) string { return r.FailureClass },
		"judge_status":  func(r *record.Row) string { return string(r.JudgeStatus) },
		"held_out":      func(r *record.Row) string { return strconv.FormatBool(r.HeldOut != nil && *r.HeldOut) },
		"fault": func(r *record.Row) string {
			for _, f := range r.Faults { // a task has one
				return f.Mode
			}
			return ""
		},
	}
)

// parseFilter reads conditions between spaces: name=value, name!=value, number
// comparisons, tool:NAME, marker:NAME<1 and "words in the texts".
func parseFilter(line string) (filter, error) {
	var f filter
	for rest := strings.TrimSpace(line); rest != ""; {
		var term string
		var quoted bool
		if term, rest, quoted = cutTerm(rest); quoted {
			f = append(f, containsText(term))
			continue
		}
		c, err := parseCondition(term)
		if err != nil {
			return nil, err
		}
		f = append(f, c)
	}
	return f, nil
}

// cutTerm takes one term off the front: a text in quotes, or up to a space.
func cutTerm(s string) (term, rest string, quoted bool) {
	if s[0] == '"' {
		if end := strings.IndexByte(s[1:], '"'); end >= 0 {
			return s[1 : 1+end], strings.TrimSpace(s[end+2:]), true
		}
		return s[1:], "", true
	}
	term, rest, _ = strings.Cut(s, " ")
	return term, strings.TrimSpace(rest), false
}

func parseCondition(term string) (condition, error) {
	if tool, ok := strings.CutPrefix(term, "tool:"); ok {
		return func(r *record.Row) bool {
			return slices.ContainsFunc(r.Steps, func(s record.Step) bool { return s.Kind == record.StepTool && s.Tool == tool })
		}, nil
	}
	at := strings.IndexAny(term, "!=<>")
	if at <= 0 {
		return nil, badCondition(term, "it has no = and no name before it")
	}
	name, rest := term[:at], term[at:]
	op := rest[:1]
	if len(rest) > 1 && rest[1] == '=' {
		op = rest[:2]
	}
	value := strings.Trim(rest[len(op):], `"`)
	if marker, ok := strings.CutPrefix(name, "marker:"); ok {
		return compareNumber(term, op, value, func(r *record.Row) (float64, bool) {
			if m := r.Markers[marker]; m != nil {
				return float64(*m), true
			}
			return 0, false
		})
	}
	if number, ok := filterNumbers[name]; ok {
		return compareNumber(term, op, value, number)
	}
	word, ok := filterWords[name]
	if !ok && slices.Contains(record.AxisNames(), name) {
		word, ok = func(r *record.Row) string { return r.Axes[name] }, true
	}
	switch {
	case !ok:
		return nil, badCondition(term, name+" is no field that rows can be kept by")
	case op == "=":
		return func(r *record.Row) bool { return word(r) == value }, nil
	case op == "!=":
		return func(r *record.Row) bool { return word(r) != value }, nil
	}
	return nil, badCondition(term, name+" is a word: only = and != apply")
}

func compareNumber(term, op, value string, number func(*record.Row) (float64, bool)) (condition, error) {
	if value == "null" && (op == "=" || op == "!=") {
		return func(r *record.Row) bool { _, ok := number(r); return ok == (op == "!=") }, nil
	}
	want, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return nil, badCondition(term, fmt.Sprintf("%q is no number", value))
	}
	holds, ok := map[string]func(a float64) bool{
		"=":  func(a float64) bool { return a == want },
		"!=": func(a float64) bool { return a != want },
		"<":  func(a float64) bool { return a < want },
		"<=": func(a float64) bool { return a <= want },
		">":  func(a float64) bool { return a > want },
		">=": func(a float64) bool { return a >= want },
	}[op]
	if !ok {
		return nil, badCondition(term, op+" is no comparison")
	}
	return func(r *record.Row) bool { n, ok := number(r); return ok && holds(n) }, nil
}

// containsText looks for words in all that was said, any case.
func containsText(words string) condition {
	want := strings.ToLower(words)
	return func(r *record.Row) bool {
		has := func(t record.Text) bool { return strings.Contains(strings.ToLower(string(t)), want) }
		if has(r.Prompt) || has(r.FinalText) || has(r.Reason) {
			return true
		}
		return slices.ContainsFunc(r.Steps, func(s record.Step) bool {
			return has(s.Text) || has(record.Text(s.Arguments)) || has(record.Text(s.Result))
		})
	}
}

func badCondition(term, why string) error {
	return record.Problemf("bad_filter", "see assay rows --help for the conditions", "cannot read %q in the filter: %s", term, why)
}
