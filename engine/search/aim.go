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
