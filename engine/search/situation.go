package search

import (
	"slices"

	"assay/engine/record"
)

// situation is one point or ask on its way to being posed.
type situation struct {
	from    source
	arm     string
	id      string
	key     string // of its coordinates, or of its first ancestor: what decides the holdout
	heldOut bool
	axes    record.Axes
	row     []int  // of the model; nil for an ask beside the grid
	hard    bool   // of the hard tier; only points of the grid have one
	aim     string // of a mutation
	// task writes one phrasing of it in the template's words; the brief is what
	// another writer would write it by, nil where none is to.
	task func(phrasing int) (*record.Task, *Brief)
}

// source yields situations one after the other.
type source interface {
	next() (*situation, bool)
	// took is told of each situation that was posed.
	took(*situation)
}

// pointKey is the identity of coordinates without the tool condition: what
// decides the holdout, so that a point and its faulted twins stay together.
func pointKey(axes record.Axes) string {
	bare := make(record.Axes, len(axes))
	for name, value := range axes {
		if name != record.AxisToolCondition {
			bare[name] = value
		}
	}
	return record.Identity("coordinates", bare)
}

// point is a row of the grid as it is posed: its fault kept or thinned.
type point struct {
	axes    record.Axes
	fault   *record.Fault
	tools   []*toolSense
	key     string // of the coordinates without tool_condition
	id      string
	row     []int // of the model
	heldOut bool
	hard    bool
	past    bool  // an earlier run posed it
	thinned bool  // it lost its fault and is posed as the clean point
	tally   tally // of this row, and of those before it that are not posed

	expected *expectation // nil until it is asked for

	tier  *tierPool // that it waits in
	order int       // its place in its pool
	gone  bool      // out of it
}

// pointOf decides a row's fault: kept where hash(coordinates, "fault") lies below
// the fault rate. A row that loses it is the clean point, with that point's id.
func (p *Planner) pointOf(axes record.Axes) point {
	pt := point{axes: axes, key: pointKey(axes)}
	pt.tools = p.toolsOf(axes[record.AxisTool], pt.key)
	condition, varies := axes[record.AxisToolCondition]
	if varies && condition != record.ConditionSuccess {
		coordinates := record.Identity("coordinates", axes)
		if len(pt.tools) > 0 && record.Under(p.in.FaultRate, coordinates, "fault") {
			faulty := pt.tools[record.Rank(coordinates, "fault tool")%uint64(len(pt.tools))]
			pt.fault = &record.Fault{Tool: faulty.tool.Name, Condition: condition}
		} else {
			pt.axes = clean(axes)
			pt.thinned = true
		}
	}
	pt.id = record.SituationID(pt.axes, pt.fault)
	pt.row, pt.heldOut, pt.hard = p.in.Array.Model.Point(pt.axes), p.heldOut(pt.key), p.tiers.hard(pt.axes)
	pt.past = p.past[pt.id]
	return pt
}

func clean(axes record.Axes) record.Axes {
	out := make(record.Axes, len(axes))
	for name, value := range axes {
		out[name] = value
	}
	out[record.AxisToolCondition] = record.ConditionSuccess
	return out
}

// toolsOf are the tools that an ask at these coordinates needs: none for an
// unrelated one, two for multi_tool, by the hash of the coordinates. Two tools
// that take the same reference are preferred; reading comes before writing, as in
// life.
func (p *Planner) toolsOf(value, key string) []*toolSense {
	if value != record.ToolMulti {
		if tool := p.book.byName[value]; tool != nil {
			return []*toolSense{tool}
		}
		return nil
	}
	first := p.lowest(key, func(*toolSense) bool { return true })
	if first == nil {
		return nil
	}
	second := p.lowest(key, func(t *toolSense) bool { return t != first && sameReference(t, first) })
	if second == nil || record.Under(0.4, key, "any pair") {
		second = p.lowest(key, func(t *toolSense) bool { return t != first })
	}
	if second == nil {
		return []*toolSense{first}
	}
	pair := []*toolSense{first, second}
	slices.SortStableFunc(pair, func(a, b *toolSense) int { return order(a.writes()) - order(b.writes()) })
	return pair
}

func order(writes bool) int {
	if writes {
		return 1
	}
	return 0
}

func (p *Planner) lowest(key string, fits func(*toolSense) bool) *toolSense {
	var best *toolSense
	var bestRank uint64
	for i := range p.book.tools {
		tool := &p.book.tools[i]
		if !fits(tool) {
			continue
		}
		if rank := record.Rank(key, "tool", tool.tool.Name); best == nil || rank < bestRank {
			best, bestRank = tool, rank
		}
	}
	return best
}

func sameReference(a, b *toolSense) bool {
	return a.primary >= 0 && b.primary >= 0 && a.args[a.primary].name == b.args[b.primary].name
}

// situationOf is a point on its way to being posed. Which of the two grid arms it
// belongs to is dealt by its own hash; so is its texture, and alone by that, so
// that a situation reads the same under any weights.
func (p *Planner) situationOf(pt *point, from source) *situation {
	s := &situation{from: from, id: pt.id, key: pt.key, axes: pt.axes, row: pt.row, heldOut: pt.heldOut, hard: pt.hard}
	deal := record.Rank(pt.id, "arm") % ppm
	s.arm = record.ArmStructured
	if deal >= uint64(p.arms.structuredShare()) {
		s.arm = record.ArmLLMGuided
	}
	texture := deal >= ppm/2
	s.task = func(phrasing int) (*record.Task, *Brief) {
		scene := p.book.sceneOf(record.Stream("wording", p.in.Seed, pt.id, "scene"), pt.axes, pt.tools)
		brief := &Brief{situation: pt.id, phrasing: phrasing, scene: scene, texture: texture}
		draft := p.template.draft(brief)
		task := &record.Task{
			SituationID: pt.id, Origin: record.OriginGrid, Axes: pt.axes, Fault: pt.fault, World: p.book.world(scene),
			Ask: draft.Ask, User: *draft.User, Tools: p.in.Tools, Writer: templateName,
		}
		task.IdentifyUnder(p.tools)
		return task, brief
	}
	return s
}
