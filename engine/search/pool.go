package search

import "container/heap"

// pool is points still to come, in their order, and by tier.
type pool struct {
	points []*point
	tiers  [2]tierPool // not hard, hard; all in the first where no mix is wanted
}

// tierPool is the points of one tier, in their order. Each place in that order is
// one turn: that of a held-out point poses it, so that what is held out does not
// depend on what was found; that of another one poses the heaviest of those that
// may teach, or without steering the point itself.
type tierPool struct {
	of     *pool
	hard   bool
	points []*point
	left   int      // points that are not gone
	fresh  int      // of those, points that no earlier run posed
	turn   int      // places before it had their turn
	late   []*point // that let their turn pass, since an earlier run posed them
	heavy  candidates
	ranked int // points before it are in heavy, or gone
	epoch  int // of the hunt, that heavy goes by
}

func (l *pool) left() int { return l.tiers[0].left + l.tiers[1].left }

// tier is the pool of one tier: the only one where no mix is wanted.
func (l *pool) tier(hard bool) *tierPool {
	if hard {
		return &l.tiers[1]
	}
	return &l.tiers[0]
}

func (l *pool) add(pt *point, mixed bool) {
	t := l.tier(mixed && pt.hard)
	t.of, t.hard = l, mixed && pt.hard
	pt.tier, pt.order = t, len(l.points)
	l.points = append(l.points, pt)
	t.points = append(t.points, pt)
	t.left++
	if !pt.past {
		t.fresh++
	}
}

// next is the tier whose turn it is: the wanted one, or the other where the wanted
// one is empty or has only what an earlier run posed; nil where both are empty.
func (l *pool) next(hard bool) *tierPool {
	wanted, other := l.tier(hard), l.tier(!hard)
	switch {
	case l.left() == 0:
		return nil
	case wanted.left == 0, wanted.fresh == 0 && other.fresh > 0:
		return other
	}
	return wanted
}

// remove takes a point out.
func (t *tierPool) remove(pt *point) {
	pt.gone = true
	t.leave(pt)
}

// leave counts a point that goes, out of all or to another pool.
func (t *tierPool) leave(pt *point) {
	t.left--
	if !pt.past {
		t.fresh--
	}
}

// deal is the point whose turn it is, nil where none is left. What an earlier run
// posed waits for the rest.
func (t *tierPool) deal(steered bool, h *hunt) *point {
	for t.turn < len(t.points) {
		pt := t.points[t.turn]
		t.turn++
		switch {
		case !pt.heldOut && steered:
			if best := t.heaviest(h); best != nil && (!best.past || t.fresh == 0) {
				return best.point
			}
		case pt.gone, pt.tier != t:
		case pt.past && t.fresh > 0:
			t.late = append(t.late, pt)
		default:
			return pt
		}
	}
	for len(t.late) > 0 {
		pt := t.late[0]
		t.late = t.late[1:]
		if !pt.gone && pt.tier == t {
			return pt
		}
	}
	if steered {
		if best := t.heaviest(h); best != nil {
			return best.point
		}
	}
	return nil
}

// rankedAhead is how many points are weighed at a time: a hundred times what a
// batch takes, and still quick to weigh anew after each. Convention, untested.
const rankedAhead = 4096

// heaviest is the point of most weight among those of the tier that may teach, nil
// where none is left. Until more is learnt a weight only falls as points are
// posed, so one that is looked at again and is still the greatest is the greatest
// of all (Minoux 1978).
func (t *tierPool) heaviest(h *hunt) *candidate {
	if t.epoch != h.epoch {
		t.heavy, t.ranked, t.epoch = t.heavy[:0], 0, h.epoch
	}
	for ; t.ranked < len(t.points) && len(t.heavy) < rankedAhead; t.ranked++ {
		if pt := t.points[t.ranked]; !pt.gone && !pt.heldOut && pt.tier == t {
			heap.Push(&t.heavy, h.weigh(pt))
		}
	}
	for len(t.heavy) > 0 {
		best := t.heavy[0]
		switch {
		case best.gone, best.tier != t:
			heap.Pop(&t.heavy)
		case best.asOf == h.posed:
			return best
		default:
			h.reweigh(best)
			heap.Fix(&t.heavy, 0)
		}
	}
	return nil
}

// candidate is a point with its weight.
type candidate struct {
	*point
	fixed  int // the part of the weight that stays until more is learnt
	weight int
	asOf   int // situations posed when it was weighed
}

// outweighs says whether a goes before b, equals aside: what an earlier run has
// posed comes after all that it has not.
func (a *candidate) outweighs(b *candidate) bool {
	if a.past != b.past {
		return b.past
	}
	return a.weight > b.weight
}

// candidates is a heap, the heaviest first; of equals that which stands first in
// its pool.
type candidates []*candidate

func (c candidates) Len() int { return len(c) }

func (c candidates) Less(i, j int) bool {
	return c[i].outweighs(c[j]) || !c[j].outweighs(c[i]) && c[i].order < c[j].order
}

func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }

// Push is heap.Interface's.
func (c *candidates) Push(x any) { *c = append(*c, x.(*candidate)) }

// Pop is heap.Interface's.
func (c *candidates) Pop() any {
	last := len(*c) - 1
	x := (*c)[last]
	*c = (*c)[:last]
	return x
}
