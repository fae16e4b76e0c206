package search

import (
	"slices"

	"assay/engine/cover"
	"assay/engine/record"
)

// gridSource yields the rows of the array by the prefix rule and then, where
// more is asked for, further allowed points of the grid by hash; of both, hard
// ones and others in the wanted mix. Where the search steers, the points that may
// teach it change places: the heaviest comes first. Held-out ones keep theirs.
type gridSource struct {
	p      *Planner
	array  pool // rows of the array still to come, each situation once
	beyond pool // points of the grid still to come
	known  map[string]bool
	rows   int // of the array that could be posed
	// held are the tuples that were asked about, in mode explore at the default
	// size; nil else. released is how many rows went to beyond by it.
	held     *cover.Held
	released int
	mix      mix

	read  int // points of the grid read so far
	size  int // points of the grid, 0 until it was needed
	spare int // rows of the array at a spare value, which are beside that grid
	ended bool

	tally  tally // of the rows that the plan has come past
	behind tally // of the rows read since the last that was admitted
}

// tally counts what became of rows that were not posed as they stand.
type tally struct {
	thinned int // lost their fault
	dropped int // of those, onto a clean point that is planned anyway
	leftOut int // not held out, in eval
}

func (t *tally) add(o tally) {
	t.thinned, t.dropped, t.leftOut = t.thinned+o.thinned, t.dropped+o.dropped, t.leftOut+o.leftOut
}

func newGridSource(p *Planner) *gridSource {
	g := &gridSource{p: p, known: map[string]bool{}, mix: mixOf(p.in.HardShare)}
	if p.in.Mode == record.ModeExplore && p.in.Situations == 0 {
		g.held = p.in.Array.Held()
	}
	model := p.in.Array.Model
	for _, i := range p.in.Array.Prefix(len(p.in.Array.Rows)) {
		row := p.in.Array.Rows[i]
		if atSpare(model, row) {
			g.spare++
		}
		if pt, ok := g.admit(model.Axes(g.filled(row))); ok {
			g.array.add(pt, g.mix.share >= 0)
		}
	}
	g.rows = g.array.left()
	return g
}

// filled is a row at a spare value as mode explore poses it: at a planned value
// instead. A stable array's first block touches no clause so that no edit of one
// moves it, for pairing with another version; a run that looks for failures is
// paired with none, and the same row at a clause holds all tuples that it held and
// more. Of the values the first by hash is taken whose point is allowed, new, and
// not held out: what is held out stays as every mode poses it.
func (g *gridSource) filled(row []int) []int {
	model := g.p.in.Array.Model
	if g.held == nil || !atSpare(model, row) || g.p.heldOut(pointKey(model.Axes(row))) {
		return row
	}
	best, bestRank := row, uint64(0)
	for i, q := range model.Parameters {
		planned := len(q.Values) - q.Spare
		if row[i] < planned {
			continue
		}
		for v := range planned {
			other := slices.Clone(row)
			other[i] = v
			rank := model.Rank(other)
			if (&best[0] == &row[0] || rank < bestRank) && model.Allows(other) && !g.p.heldOut(pointKey(model.Axes(other))) {
				best, bestRank = other, rank
			}
		}
	}
	return best
}

// release moves the rows that ask about nothing new from the array to the points
// beyond it: each of their tuples stands in a situation that was posed. A stable
// array is a third longer than a joint one, and its blocks repeat pairs; where
// failures are to be found fast, those places are better the search's. They stay
// points like others, and no tuple is lost. Held-out rows keep their places, so
// that what is held out does not depend on what was found.
func (g *gridSource) release() {
	if g.held == nil {
		return
	}
	for _, pt := range g.array.points {
		if !pt.gone && !pt.heldOut && pt.tier.of == &g.array && g.held.All(pt.row) {
			pt.tier.leave(pt)
			g.beyond.add(pt, g.mix.share >= 0)
			g.released++
		}
	}
}

// atSpare says whether a row holds a value that its model plans nothing for, as
// the rows of a stable array's first block do.
func atSpare(m cover.Model, row []int) bool {
	for i, p := range m.Parameters {
		if row[i] >= len(p.Values)-p.Spare {
			return true
		}
	}
	return false
}

// admit thins a row and says whether it is to be posed: once, and in eval only
// where it is held out.
func (g *gridSource) admit(axes record.Axes) (*point, bool) {
	pt := g.p.pointOf(axes)
	if g.p.in.Mode == record.ModeEval && !pt.heldOut {
		g.behind.leftOut++
		return nil, false
	}
	if pt.thinned {
		g.behind.thinned++
	}
	if g.known[pt.id] {
		if pt.thinned {
			g.behind.dropped++
		}
		return nil, false
	}
	g.known[pt.id] = true
	pt.tally, g.behind = g.behind, tally{}
	return &pt, true
}

// arrayLeft is how many rows of the array are still to come.
func (g *gridSource) arrayLeft() int { return g.array.left() }

func (g *gridSource) took(*situation) {}

// posed notes what a situation asks about, whichever arm it is of.
func (g *gridSource) posed(row []int) {
	if g.held != nil {
		g.held.Add(row)
	}
}

// ahead calls yield with up to n points that are still to come, may teach and are
// new, rows of the array first.
func (g *gridSource) ahead(n int, yield func(*point)) {
	if !g.p.quota.array && g.array.left()+g.beyond.left() < n {
		g.readOn()
	}
	for _, list := range []*pool{&g.array, &g.beyond} {
		for _, pt := range list.points {
			if n == 0 {
				return
			}
			if !pt.gone && !pt.heldOut && !pt.past {
				yield(pt)
				n--
			}
		}
	}
}

// take takes a point out of those to come; false where it is gone.
func (g *gridSource) take(pt *point) bool {
	if pt.gone {
		return false
	}
	pt.tier.remove(pt)
	g.tally.add(pt.tally)
	g.mix.deal(pt.hard)
	return true
}

func (g *gridSource) next() (*situation, bool) {
	list := &g.array
	if list.left() == 0 && !g.p.quota.array {
		list = &g.beyond
		g.readFor(g.mix.wantsHard())
	}
	tier := list.next(g.mix.wantsHard())
	if tier == nil {
		g.ended = list == &g.beyond
		return nil, false
	}
	steered := g.p.steers()
	if list == &g.array && steered && g.p.roams() {
		tier = g.heavier(tier)
	}
	pt := tier.deal(steered, g.p.hunt)
	g.take(pt)
	return g.p.situationOf(pt, g), true
}

// heavier is the tier of the array, or the same tier of the grid beyond it where
// that has the heavier point.
func (g *gridSource) heavier(tier *tierPool) *tierPool {
	g.readFor(tier.hard)
	other := g.beyond.tier(tier.hard)
	mine, theirs := tier.heaviest(g.p.hunt), other.heaviest(g.p.hunt)
	if mine != nil && theirs != nil && theirs.outweighs(mine) {
		return other
	}
	return tier
}

// readFor reads on until a tier has a point beyond the array or the grid ends.
func (g *gridSource) readFor(hard bool) {
	for g.beyond.tier(hard).left == 0 && g.readOn() {
		if g.mix.share < 0 {
			return // one tier is all
		}
	}
}

// tallied is the tally with what lies behind the last point, once no point is
// left.
func (g *gridSource) tallied() tally {
	t := g.tally
	if g.array.left() == 0 && g.beyond.left() == 0 {
		t.add(g.behind)
	}
	return t
}

// readOn reads further points of the grid: all that the plan can want and, should
// that not do, as many again, since what sorts a grid by its hashes is better
// done seldom. False where the grid has no more.
func (g *gridSource) readOn() bool {
	model := g.p.in.Array.Model
	if g.size == 0 {
		g.size = model.Size()
	}
	if g.read >= g.size {
		return false
	}
	want := g.beyond.left() + max(g.p.quota.grid+targetPool, g.read)
	for row := range g.p.in.Array.Points(g.read) {
		g.read++
		if pt, ok := g.admit(model.Axes(row)); ok && (g.held == nil || !pt.heldOut) {
			g.beyond.add(pt, g.mix.share >= 0)
		}
		if g.beyond.left() >= want || g.read >= g.size {
			break
		}
	}
	return true
}
