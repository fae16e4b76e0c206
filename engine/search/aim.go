package search

import (
	"fmt"

	"assay/engine/record"
)

// Trace is what an earlier run, or an imported log, says of one place: a situation
// of the grid, or as many of its coordinates as could be read from a transcript.
type Trace struct {
	// SituationID is the situation that the earlier run posed; "" where the trace is
	// of another kind of ask.
	SituationID string      `json:"situation_id,omitempty"`
	Axes        record.Axes `json:"axes"`
	Rollouts    int         `json:"rollouts"`
	Failures    int         `json:"failures"`
}

// AimReport is what a run took from the traces that it was aimed by.
type AimReport struct {
	Traces   int `json:"traces"`
	Past     int `json:"past"`     // situations that the earlier run posed, which come last
	Failures int `json:"failures"` // on the axes of this grid
	Off      int `json:"off"`      // traces with no coordinate of this grid
}

// pastOf are the situations that the traces' run has posed already.
func pastOf(traces []Trace) map[string]bool {
	past := map[string]bool{}
	for _, t := range traces {
		if t.SituationID != "" {
			past[t.SituationID] = true
		}
	}
	return past
}

// take takes the traces in: where the earlier run has asked, and where it failed.
func (h *hunt) take(traces []Trace) {
	for _, t := range traces {
		row := h.regions.model.Point(t.Axes)
		h.regions.learn(row, t.Rollouts, t.Failures)
		if t.SituationID != "" {
			h.regions.pose(row)
		}
	}
}

// aimReport counts what the traces say of this grid.
func (p *Planner) aimReport() AimReport {
	a := AimReport{Traces: len(p.in.Aim)}
	for _, t := range p.in.Aim {
		on := false
		for _, v := range p.in.Array.Model.Point(t.Axes) {
			on = on || v >= 0
		}
		switch {
		case !on:
			a.Off++
			continue
		case t.SituationID != "":
			a.Past++
		}
		a.Failures += t.Failures
	}
	return a
}

// warning says what aiming does to the run's numbers.
func (a AimReport) warning(mode record.Mode) (w record.Warning, ok bool) {
	switch {
	case a.Traces == 0:
		return w, false
	case a.Off == a.Traces:
		return record.Warning{Code: "aim_off", Text: fmt.Sprintf("none of the %d traces that the run is aimed by has a coordinate of this grid: the aim changes nothing", a.Traces),
			Fix: "aim at a run of a recipe with the same tools, or at a log that calls them"}, true
	case mode == record.ModeEval:
		return record.Warning{Code: "aimed", Text: fmt.Sprintf("%d situations that the run is aimed by come last; its failures move nothing in mode eval, where nothing is searched", a.Past)}, true
	}
	return record.Warning{Code: "aimed", Text: fmt.Sprintf("aimed: %d situations posed before come last, and %d failures draw the plan to their region, so that the training tasks are harder than the grid", a.Past, a.Failures),
		Fix: "read rates on held-out tasks: no failure moves those"}, true
}

// Traces gathers what the rollouts of a run say, place by place, in the order of
// their coming. The zero value is empty.
type Traces struct {
	list  []Trace
	place map[string]int // of each situation or coordinates, in list
}

// List is what was gathered.
func (t *Traces) List() []Trace { return t.list }

// Add takes in one done rollout of a run whose passes begin at threshold. mentioned
// are the tools that its ask speaks of.
//
// A held-out task says only that it was posed: how it went is for measuring. An
// imported log is held out whole and never posed by a search, so its rollouts
// tell all they can. A rollout whose task has no coordinates is placed by the
// tools that it called, each with what came of it, or by those mentioned.
func (t *Traces) Add(s *record.Sample, threshold float64, mentioned []string) {
	task := s.Task
	measured := s.HeldOut && task.Origin != record.OriginImported
	switch {
	case len(task.Axes) > 0 && task.Origin != record.OriginMutated:
		one := Trace{SituationID: task.SituationID, Axes: task.Axes}
		if measured {
			t.add(one)
			return
		}
		t.add(counted(one, s, threshold))
	case measured || task.Origin == record.OriginMutated: // its parent is there
	default:
		for _, axes := range placesOf(&s.Rollout, mentioned) {
			t.add(counted(Trace{Axes: axes}, s, threshold))
		}
	}
}

func counted(t Trace, s *record.Sample, threshold float64) Trace {
	t.Rollouts = 1
	if aimOf(&s.Outcome, threshold) == aimFailure {
		t.Failures = 1
	}
	return t
}

func (t *Traces) add(one Trace) {
	key := one.SituationID
	if key == "" {
		key = record.Identity("coordinates", one.Axes)
	}
	at, known := t.place[key]
	if !known {
		if t.place == nil {
			t.place = map[string]int{}
		}
		t.place[key] = len(t.list)
		t.list = append(t.list, one)
		return
	}
	t.list[at].Rollouts += one.Rollouts
	t.list[at].Failures += one.Failures
}

// placesOf are the coordinates that a transcript shows, each once.
func placesOf(r *record.Rollout, mentioned []string) []record.Axes {
	var out []record.Axes
	seen := map[string]bool{}
	add := func(axes record.Axes) {
		if id := record.Identity("coordinates", axes); !seen[id] {
			seen[id] = true
			out = append(out, axes)
		}
	}
	for _, c := range shapesOf(r) {
		add(c.axes())
	}
	if len(out) == 0 {
		for _, tool := range mentioned {
			add(record.Axes{record.AxisTool: tool})
		}
	}
	return out
}

// axes are the coordinates that a call shows: its tool, and the condition or the
// state of the world that its outcome is the mark of.
func (c shape) axes() record.Axes {
	axes := record.Axes{record.AxisTool: c.tool}
	switch c.outcome {
	case record.ErrNotFound:
		axes[record.AxisWorldState] = record.EntityMissing
	case record.ErrAlreadyDone:
		axes[record.AxisWorldState] = record.EntityActedOn
	case record.ErrAmbiguous:
		axes[record.AxisWorldState] = record.EntityDuplicate
	case record.ConditionTimeout, record.ConditionMalformed, record.ConditionStale, record.ConditionPermissionDenied:
		axes[record.AxisToolCondition] = c.outcome
	}
	return axes
}
