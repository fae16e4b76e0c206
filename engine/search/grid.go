package search

import "assay/engine/record"

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
	ended  bool

	thinnedRows    int // rows that lost their fault
	thinnedDropped int // of those, onto a clean point that is planned anyway
	leftOut        int // rows not held out, in eval
}

func newGridSource(p *Planner) *gridSource {
	g := &gridSource{p: p, known: map[string]bool{}}
	model := p.in.Array.Model
	for _, i := range p.in.Array.Prefix(len(p.in.Array.Rows)) {
		if pt, ok := g.admit(model.Axes(p.in.Array.Rows[i])); ok {
			g.array = append(g.array, pt)
		}
	}
	g.rows = len(g.array)
	return g
}

// admit thins a row and says whether it is to be posed: once, and in eval only
// where it is held out.
func (g *gridSource) admit(axes record.Axes) (point, bool) {
	pt := g.p.pointOf(axes)
	if g.p.in.Mode == record.ModeEval && !g.p.heldOut(pt.key) {
		g.leftOut++
		return pt, false
	}
	if pt.thinned {
		g.thinnedRows++
	}
	if g.known[pt.id] {
		if pt.thinned {
			g.thinnedDropped++
		}
		return pt, false
	}
	g.known[pt.id] = true
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
				*list = append((*list)[:i:i], (*list)[i+1:]...)
				return true
			}
		}
	}
	return false
}

func (g *gridSource) next() (*situation, bool) {
	if len(g.array) > 0 {
		pt := g.array[0]
		g.array = g.array[1:]
		return g.p.situationOf(pt, g), true
	}
	if g.p.quota.array || g.ended {
		return nil, false
	}
	if len(g.beyond) == 0 {
		g.readOn()
	}
	if len(g.beyond) == 0 {
		g.ended = true
		return nil, false
	}
	pt := g.beyond[0]
	g.beyond = g.beyond[1:]
	return g.p.situationOf(pt, g), true
}

// readOn reads further points of the grid: as many as are still wanted, since
// what sorts a grid by its hashes is better done once.
func (g *gridSource) readOn() {
	model := g.p.in.Array.Model
	if g.size == 0 {
		g.size = model.Size()
	}
	if g.read >= g.size {
		return
	}
	want, at := max(g.p.quota.grid, 64), 0
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
