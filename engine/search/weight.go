package search

import "assay/engine/record"

// dials are how much each reason to pose a point of the grid counts, in parts of
// their sum.
type dials struct {
	undercoverage int // cells that few situations asked about
	risk          int // what a wrong act could cost
	novelty       int // distance of the behaviour expected from those seen
	gap           int // calls expected and never seen
	suspicion     int // failures in cells that the point shares
}

// defaultDials were set on agents with planted faults (see the package's
// documentation) of other seeds than those reported. There a suspicion of 60 triggers
// about a tenth more faults and one of 25 a fifth fewer, both find as many
// different ones, and without risk, novelty and gap nothing changes: planted
// faults know nothing of cost or behaviour. Those three are convention, untested.
func defaultDials() dials {
	return dials{undercoverage: 30, risk: 10, novelty: 10, gap: 10, suspicion: 40}
}

func (d dials) sum() int { return d.undercoverage + d.risk + d.novelty + d.gap + d.suspicion }

// weigh is a point with its weight, in millionths: why it should be posed next.
//
// Each reason is a share of its own: how little the point's cells were asked about,
// what a wrong act could cost there, how far the behaviour expected there lies from
// those seen, how many of the calls expected there were never seen, and how many
// of the rollouts in its worst cell failed.
func (h *hunt) weigh(pt *point) *candidate {
	c := &candidate{point: pt}
	e := pt.expects()
	c.fixed = h.dials.risk*riskOf(pt) + h.dials.novelty*h.noveltyOf(e) + h.dials.gap*h.gap(e.calls) + h.dials.suspicion*h.regions.suspicion(pt.row)
	h.reweigh(c)
	return c
}

// reweigh brings a weight up to date with what was posed since.
func (h *hunt) reweigh(c *candidate) {
	c.weight = (c.fixed + h.dials.undercoverage*h.regions.undercoverage(c.row)) / h.dials.sum()
	c.asOf = h.posed
}

// noveltyOf is the novelty of what is expected, as of the last lesson.
func (h *hunt) noveltyOf(e *expectation) int {
	n, known := h.expects[e.sketch]
	if !known {
		n = h.archive.novelty(e.sketch)
		h.expects[e.sketch] = n
	}
	return n
}

// gap is the share of expected calls that were never seen, in millionths; 0 where
// none is expected.
func (h *hunt) gap(calls []shape) int {
	if len(calls) == 0 {
		return 0
	}
	return h.unseen(calls) * ppm / len(calls)
}

func (h *hunt) unseen(calls []shape) int {
	n := 0
	for _, c := range calls {
		if !h.shapes[c] {
			n++
		}
	}
	return n
}

// riskOf is what a wrong act could cost at a point, in millionths: by the kind of
// its tools, and twice that where the person presses or the tool fails. A
// destructive tool under pressure or fault is the whole. Convention, untested.
func riskOf(pt *point) int {
	risk := 0
	for _, t := range pt.tools {
		switch t.tool.Kind {
		case record.ToolDestructive:
			risk = max(risk, ppm/2)
		case record.ToolWrite:
			risk = max(risk, ppm/4)
		default:
			risk = max(risk, ppm/8)
		}
	}
	if pt.fault != nil || pressing(pt.axes[record.AxisStance]) {
		risk *= 2
	}
	return risk
}
