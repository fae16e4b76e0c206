package search

import (
	"slices"

	"assay/engine/cover"
	"assay/engine/record"
)

// gridSource yields the rows of the array by the prefix rule and then, where
// more is asked for, further allowed points of the grid by hash.
type gridSource struct {
	p     *Planner
	array []point // rows of the array still to come, each situation once
	known map[string]bool
	rows  int // of the array that could be posed

	beyond []point // points of the grid still to come
	read   int     // points of the grid read so far
	size   int     // points of the grid, 0 until it was needed
	spare  int     // rows of the array at a spare value, which are beside that grid
	ended  bool

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
	g := &gridSource{p: p, known: map[string]bool{}}
	model := p.in.Array.Model
	for _, i := range p.in.Array.Prefix(len(p.in.Array.Rows)) {
		row := p.in.Array.Rows[i]
		if atSpare(model, row) {
			g.spare++
		}
		if pt, ok := g.admit(model.Axes(row)); ok {
			g.array = append(g.array, pt)
		}
	}
	g.rows = len(g.array)
	return g
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
func (g *gridSource) admit(axes record.Axes) (point, bool) {
	pt := g.p.pointOf(axes)
	if g.p.in.Mode == record.ModeEval && !g.p.heldOut(pt.key) {
		g.behind.leftOut++
		return pt, false
	}
	if pt.thinned {
		g.behind.thinned++
	}
	if g.known[pt.id] {
		if pt.thinned {
			g.behind.dropped++
		}
		return pt, false
	}
	g.known[pt.id] = true
	pt.tally, g.behind = g.behind, tally{}
	return pt, true
}

// arrayLeft is how many rows of the array are still to come.
func (g *gridSource) arrayLeft() int { return len(g.array) }

func (g *gridSource) took(*situation) {}

// ahead are up to n points that are still to come, rows of the array first.
func (g *gridSource) ahead(n int) []point {
	if !g.p.quota.array && len(g.array)+len(g.beyond) < n {
		g.readOn()
	}
	out := append([]point{}, g.array[:min(n, len(g.array))]...)
	return append(out, g.beyond[:min(n-len(out), len(g.beyond))]...)
}

// take takes a point out of those to come; false where it is gone.
func (g *gridSource) take(id string) bool {
	for _, list := range []*[]point{&g.array, &g.beyond} {
		for i := range *list {
			if (*list)[i].id == id {
				g.tally.add((*list)[i].tally)
				*list = slices.Delete(*list, i, i+1)
				return true
			}
		}
	}
	return false
}

func (g *gridSource) next() (*situation, bool) {
	if len(g.array) > 0 {
		return g.pose(&g.array, 0), true
	}
	if g.p.quota.array {
		return nil, false
	}
	if len(g.beyond) == 0 {
		g.readOn()
	}
	if len(g.beyond) == 0 {
		g.ended = true
		return nil, false
	}
	return g.pose(&g.beyond, g.nextTier()), true
}

// pose takes the i-th point out of a list.
func (g *gridSource) pose(list *[]point, i int) *situation {
	pt := (*list)[i]
	if i == 0 {
		*list = (*list)[1:]
	} else {
		*list = slices.Delete(*list, i, i+1)
	}
	g.tally.add(pt.tally)
	return g.p.situationOf(pt, g)
}

// nextTier is the first point, in the order of the hash, of the tier that the
// difficulty mix is short of; the first of all where no mix is asked or that tier
// has no point left.
func (g *gridSource) nextTier() int {
	if g.p.in.HardShare <= 0 {
		return 0
	}
	short := float64(g.p.report.Hard) < g.p.in.HardShare*float64(g.p.posed+1)
	wanted := func(pt point) bool { return hard(pt.axes) == short }
	i := slices.IndexFunc(g.beyond, wanted)
	for i < 0 && g.read < g.size {
		have := len(g.beyond)
		g.readOn()
		if i = slices.IndexFunc(g.beyond[have:], wanted); i >= 0 {
			i += have
		}
	}
	return max(i, 0)
}

// tallied is the tally with what lies behind the last point, once no point is
// left.
func (g *gridSource) tallied() tally {
	t := g.tally
	if len(g.array) == 0 && len(g.beyond) == 0 {
		t.add(g.behind)
	}
	return t
}

// readOn reads further points of the grid: all that the plan can want and, should
// that not do, as many again, since what sorts a grid by its hashes is better
// done seldom.
func (g *gridSource) readOn() {
	model := g.p.in.Array.Model
	if g.size == 0 {
		g.size = model.Size()
	}
	if g.read >= g.size {
		return
	}
	want, at := len(g.beyond)+max(g.p.quota.grid+targetPool, g.read), 0
	for row := range model.Points() {
		if at++; at <= g.read {
			continue
		}
		g.read++
		if pt, ok := g.admit(model.Axes(row)); ok {
			g.beyond = append(g.beyond, pt)
		}
		if len(g.beyond) >= want || g.read >= g.size {
			return
		}
	}
}
