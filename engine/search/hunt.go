package search

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"assay/engine/record"
)

// hunt is the feedback: what was seen, and what it makes the next batches aim at.
// Held-out tasks teach it nothing.
type hunt struct {
	p      *Planner
	poses  map[string]pose // by task id
	credit []int           // of each arm, for the turns
	// pending are the outcomes of batches that were observed and not learnt from, of
	// which learnt is the first: what a batch came to must not reach the plan sooner
	// on a fast machine.
	pending [][]record.Outcome
	learnt  int

	signatures map[string]int // rollouts that showed it
	saturation Saturation
	shapes     map[shape]bool
	cells      map[cell]bool
	archive    *archive
	regions    *regions
	dials      dials
	from       int            // the batch from which on what is known moves the grid
	asked      int            // novelties, of this batch
	posed      int            // situations of the grid
	epoch      int            // moves with each lesson, and is 1 before the first
	expects    map[sketch]int // the novelty of what is expected, as of the last lesson

	targets *targetSource
	mutants *mutantSource
}

// pose is a task that was posed and where it came from.
type pose struct {
	task    *record.Task
	arm     string
	key     string
	heldOut bool
	row     []int
}

// cell is a pair of values of two axes.
type cell struct{ axisA, valueA, axisB, valueB string }

func newHunt(p *Planner) *hunt {
	h := &hunt{
		p: p, poses: map[string]pose{}, credit: make([]int, len(p.arms.list)),
		signatures: map[string]int{}, shapes: map[shape]bool{}, cells: map[cell]bool{}, archive: newArchive(),
		regions: newRegions(p.in.Array.Model), dials: defaultDials(), epoch: 1, expects: map[sketch]int{},
	}
	if p.in.Mode != record.ModeExplore && len(p.in.Aim) == 0 {
		h.from = 2 // the rows of a set to train on are those of the prefix, until something was learnt
	}
	h.take(p.in.Aim)
	h.targets = &targetSource{h: h}
	h.mutants = &mutantSource{h: h, index: map[string]*parent{}, aims: map[string]int{}}
	return h
}

func (h *hunt) pose(s *situation, task *record.Task) {
	h.poses[task.ID] = pose{task: task, arm: s.arm, key: s.key, heldOut: s.heldOut, row: s.row}
}

// learnUpTo learns from the batches up to and including b, and aims anew.
func (h *hunt) learnUpTo(b int) {
	if b < h.learnt {
		return
	}
	for h.learnt <= b && len(h.pending) > 0 {
		h.observe(h.pending[0])
		h.pending[0] = nil
		h.pending = h.pending[1:]
		h.learnt++
	}
	h.epoch++
	clear(h.expects)
	h.targets.aim()
	h.mutants.aim()
}

// noveltiesPerBatch is of how many parents of a batch the novelty is asked: several
// times what the next batch can rewrite (8% of 512), and a bound on what learning
// costs once the archive is large. Convention, untested.
const noveltiesPerBatch = 256

// observe learns from the outcomes of one batch, in their order.
func (h *hunt) observe(outcomes []record.Outcome) {
	yields := map[string]yield{}
	h.asked = 0
	for i := range outcomes {
		o := &outcomes[i]
		posed, ok := h.poses[o.Rollout.Key.TaskID]
		if !ok || posed.heldOut || o.Rollout.Status != record.StatusDone {
			continue
		}
		y := yields[posed.arm]
		y.rollouts++
		y.news += h.learn(posed, o)
		yields[posed.arm] = y
	}
	h.p.arms.move(yields)
}

// learn takes one outcome in and counts what was new in it.
func (h *hunt) learn(posed pose, o *record.Outcome) (news int) {
	if sig := o.Rollout.Behavior; sig != "" && h.saturation.saw(h.signatures, sig) {
		news++
	}
	names := record.AxisNames()
	for i, a := range names {
		for _, b := range names[i+1:] {
			va, okA := posed.task.Axes[a]
			vb, okB := posed.task.Axes[b]
			c := cell{a, va, b, vb}
			if okA && okB && !h.cells[c] {
				h.cells[c] = true
				news++
			}
		}
	}
	shapes := shapesOf(&o.Rollout)
	for _, s := range shapes {
		h.shapes[s] = true
	}
	behaviour, aim := sketchOf(shapes, o.Rollout.EndedBy), aimOf(o, h.p.in.PassThreshold)
	if posed.row != nil {
		failures := 0
		if aim == aimFailure {
			failures = 1
		}
		h.regions.learn(posed.row, 1, failures)
	}
	if aim != "" && h.mutants.wants(posed, aim) {
		candidate := parent{pose: posed, aim: aim}
		if h.asked < noveltiesPerBatch {
			candidate.novelty = h.archive.novelty(behaviour)
			h.asked++
		}
		h.mutants.offer(candidate)
	}
	h.archive.add(behaviour)
	return news
}

// Aims of a mutation.
const (
	aimFailure    = "graded_failure"
	aimWorldFault = "world_fault"
)

// aimOf is what makes an outcome worth going near: it failed, by its reward or by
// any one criterion, or a fault of the world struck.
func aimOf(o *record.Outcome, threshold float64) string {
	if reward := o.Reward(); reward != nil && *reward < threshold {
		return aimFailure
	}
	if o.Judgment != nil {
		for _, c := range o.Judgment.Criteria {
			if c.Score != nil && *c.Score < 1 {
				return aimFailure
			}
		}
	}
	for i := range o.Rollout.Steps {
		if o.Rollout.Steps[i].Fault != "" {
			return aimWorldFault
		}
	}
	return ""
}

// turn is the arm that is due, by the shares as they stand: the one with the most
// credit, the first of equals. The arms beside the grid stand back where rows of
// the array that could all be posed would otherwise be left out.
func (h *hunt) turn(left int) string {
	best := 0
	for i, arm := range h.p.arms.list {
		h.credit[i] += arm.weight
		if h.credit[i] > h.credit[best] {
			best = i
		}
	}
	h.credit[best] -= ppm
	name := h.p.arms.list[best].name
	switch {
	case h.p.quota.grid >= h.p.grid.rows && left <= h.p.grid.arrayLeft():
		return record.ArmStructured
	case name == record.ArmOpenEnded && h.p.in.Situations == 0 && h.p.open.taken >= h.p.quota.open:
		return record.ArmStructured
	}
	return name
}

func (h *hunt) state() json.RawMessage {
	raw, err := record.Marshal(struct {
		Signatures int            `json:"signatures"`
		Shapes     int            `json:"shapes"`
		Cells      int            `json:"cells"`
		Behaviors  int            `json:"behaviors"`
		NewPPM     int            `json:"new_behavior_ppm"` // chance that the next rollout shows a new behaviour
		Aims       map[string]int `json:"mutations_by_aim"`
		Suspects   []Suspect      `json:"suspects,omitempty"`
	}{len(h.signatures), len(h.shapes), len(h.cells), len(h.archive.sketches), h.saturation.New(), h.mutants.aims, h.regions.suspects(suspectsKept)})
	if err != nil {
		panic(fmt.Sprintf("search: state of the hunt: %v", err)) // plain data always marshals
	}
	return raw
}

// targetPool is how many points of the grid a batch's targets are chosen from:
// enough that each tool meets each fault among them. Convention, untested.
const targetPool = 1024

// targetSource poses points that are there to bring about tool calls not seen
// yet.
type targetSource struct {
	h     *hunt
	queue []*point
}

// aim ranks the points still to come by how many unseen calls each would bring
// about, then by the novelty of the behaviour expected there.
func (t *targetSource) aim() {
	type target struct {
		pt              *point
		unseen, novelty int
	}
	var all []target
	t.h.p.grid.ahead(targetPool, func(pt *point) {
		e := pt.expects()
		if unseen := t.h.unseen(e.calls); unseen > 0 {
			all = append(all, target{pt, unseen, t.h.noveltyOf(e)})
		}
	})
	slices.SortStableFunc(all, func(a, b target) int {
		return cmp.Or(cmp.Compare(b.unseen, a.unseen), cmp.Compare(b.novelty, a.novelty))
	})
	t.queue = t.queue[:0]
	for _, c := range all {
		t.queue = append(t.queue, c.pt)
	}
}

func (t *targetSource) next() (*situation, bool) {
	for len(t.queue) > 0 {
		pt := t.queue[0]
		t.queue = t.queue[1:]
		if t.h.p.grid.take(pt) {
			s := t.h.p.situationOf(pt, t)
			s.arm = record.ArmBehaviorTargeted
			return s, true
		}
	}
	return nil, false
}

func (t *targetSource) took(*situation) {}
