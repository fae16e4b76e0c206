package transcript

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/engine/record"
	"assay/tui/ui"
)

// factSeparator stands between two facts.
const factSeparator = "  "

// Facts is a line about a task: which attempt this is, its place on the axes, its
// fault.
func Facts(t *record.Task, heldOut bool, key record.Key) string {
	attempt := fmt.Sprintf("attempt %d", key.K+1)
	if key.EvalRun > 0 {
		attempt += fmt.Sprintf(" of eval run %d", key.EvalRun+1)
	}
	return strings.TrimSuffix(attempt+factSeparator+Situation(t, heldOut), factSeparator)
}

// Situation is a task's place on the axes, and its fault.
func Situation(t *record.Task, heldOut bool) string {
	var parts []string
	if heldOut {
		parts = append(parts, "held out")
	}
	for _, axis := range record.AxisNames() {
		if v := t.Axes[axis]; v != "" && v != record.Unspecified {
			parts = append(parts, axis+"="+v)
		}
	}
	if t.Fault != nil {
		parts = append(parts, "fault="+t.Fault.Condition+" on "+t.Fault.Tool)
	}
	return strings.Join(parts, factSeparator)
}

// MarkOf is how a finished rollout stands under a pass threshold. reward is nil
// where there is none.
func MarkOf(t ui.Theme, status record.Status, reward *float64, graded bool, threshold float64) ui.Mark {
	switch {
	case status == record.StatusLost:
		return t.Lost()
	case status == record.StatusAborted:
		return t.Aborted()
	case status == record.StatusRunning, status == record.StatusPlanned:
		return t.Running()
	case reward != nil && *reward >= threshold:
		return t.Pass()
	case reward != nil && *reward > 0:
		return t.Partly()
	case reward != nil:
		return t.Fail()
	case graded:
		return t.Unjudged()
	}
	return t.Finished()
}

// flagsOf is what markers hold against single steps.
func flagsOf(s *record.Sample) map[int][]string {
	var flags map[int][]string
	for _, m := range s.Markers {
		if m.Status != record.MarkerOK || m.Value == nil || *m.Value != 0 {
			continue
		}
		for _, e := range m.Evidence {
			name := e.Rule
			if name == "" {
				name = m.Name
			}
			if flags == nil {
				flags = map[int][]string{}
			}
			if name = ui.CleanLine(name); !slices.Contains(flags[e.Step], name) {
				flags[e.Step] = append(flags[e.Step], name)
			}
		}
	}
	return flags
}

// finish adds what stands behind the steps of a rollout that has ended.
func (d *Doc) finish(s *record.Sample, threshold float64) {
	t := d.theme
	r := &s.Rollout
	if r.Status == record.StatusDone {
		d.addTail(item{kind: kindAgent, step: -1, slices: ui.Slices(string(r.FinalText))})
	}
	if note := endNote(r); note != "" {
		d.addTail(item{kind: kindNote, mark: t.Finished(), title: note})
	}
	switch r.Status {
	case record.StatusLost:
		d.addTail(item{kind: kindHeading, title: "Lost"})
		d.addTail(item{kind: kindVerdict, mark: t.Lost(), title: "put down to " + ui.CleanLine(string(r.Cause)), slices: ui.Slices(string(r.Error))})
		return
	case record.StatusAborted:
		d.addTail(item{kind: kindHeading, title: "Aborted"})
		return
	}
	if s.Judgment == nil && len(s.Markers) == 0 {
		return
	}
	d.addTail(item{kind: kindHeading, title: "Verdict"})
	if j := s.Judgment; j != nil {
		d.judgment(j, threshold)
	}
	d.markers(s.Markers)
}

func endNote(r *record.Rollout) string {
	switch r.EndedBy {
	case record.EndedByUserLeft:
		return "the user ran out of patience and left"
	case record.EndedByTurnLimit:
		return "the turn limit was reached"
	}
	if r.FinishReason == record.FinishLength {
		return "the last reply was cut off by its length limit"
	}
	return ""
}

func (d *Doc) judgment(j *record.Judgment, threshold float64) {
	t := d.theme
	var reward *float64
	title := "no verdict: " + ui.CleanLine(string(j.Status))
	if j.Status == record.JudgeOK && j.Reward != nil {
		reward = j.Reward
		title = "reward " + number(*reward)
	}
	if j.FailureClass != "" {
		title += "  " + ui.CleanLine(j.FailureClass)
	}
	title += "  by " + ui.CleanLine(scorerName(j.Scorer))
	it := item{kind: kindVerdict, mark: MarkOf(t, record.StatusDone, reward, true, threshold), title: title}
	if j.Reason != "" {
		it.slices = ui.Slices(string(j.Reason))
	}
	d.addTail(it)
	for _, c := range j.Criteria {
		mark := t.Unjudged()
		if c.Score != nil {
			mark = MarkOf(t, record.StatusDone, c.Score, true, 1)
		}
		name := ui.CleanLine(c.Name)
		if c.Hard {
			name += " (hard)"
		}
		it := item{kind: kindMarker, mark: mark, title: name}
		if c.Reason != "" {
			it.slices = ui.Slices(string(c.Reason))
		}
		d.addTail(it)
	}
}

// markers lists the named numbers: what went wrong first, what does not apply
// only counted.
func (d *Doc) markers(markers []record.Marker) {
	t := d.theme
	sorted := slices.Clone(markers)
	value := func(m record.Marker) float64 {
		if m.Status != record.MarkerOK || m.Value == nil {
			return math.Inf(1)
		}
		return *m.Value
	}
	slices.SortStableFunc(sorted, func(a, b record.Marker) int {
		switch va, vb := value(a), value(b); {
		case va < vb:
			return -1
		case va > vb:
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	var silent []string
	for _, m := range sorted {
		switch {
		case m.Status == record.MarkerError:
			d.addTail(item{kind: kindMarker, mark: t.Unjudged(), title: ui.CleanLine(m.Name) + "  error", slices: ui.Slices(string(m.Note))})
		case m.Status != record.MarkerOK || m.Value == nil:
			silent = append(silent, ui.CleanLine(m.Name))
		default:
			it := item{kind: kindMarker, mark: markerMark(t, *m.Value), title: ui.CleanLine(m.Name) + "  " + number(*m.Value)}
			if note := evidence(m); note != "" {
				it.slices = ui.Slices(note)
			}
			d.addTail(it)
		}
	}
	if len(silent) > 0 {
		d.addTail(item{kind: kindNote, mark: t.Finished(), title: "does not apply: " + strings.Join(silent, ", ")})
	}
}

// markerMark judges only what lies between 0 and 1: other numbers have no good
// side that is known here.
func markerMark(t ui.Theme, v float64) ui.Mark {
	switch {
	case v == 1:
		return t.Pass()
	case v == 0:
		return t.Fail()
	case v > 0 && v < 1:
		return t.Partly()
	}
	return t.Finished()
}

func evidence(m record.Marker) string {
	var parts []string
	for _, e := range m.Evidence {
		where := fmt.Sprintf("step %d", e.Step+1)
		if e.Step < 0 {
			where = "the final reply"
		}
		if e.Rule != "" {
			where = e.Rule + " at " + where
		}
		if e.Fragment != "" {
			where += ": " + string(e.Fragment)
		}
		parts = append(parts, where)
	}
	if m.Note != "" {
		parts = append(parts, string(m.Note))
	}
	return strings.Join(parts, "\n")
}

// scorerName is the readable part of a scorer's id.
func scorerName(id string) string {
	name, _, _ := strings.Cut(id, "@")
	return name
}

func number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e6 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
