package cover

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// grower adds rows until every valid tuple is covered: each time the best of
// some candidate rows, each begun at an uncovered tuple and filled column by
// column with the value that covers most (AETG, Cohen et al. 1997).
type grower struct {
	sp     *space
	solver *solver
	rng    *rand.Rand
	left   bitset // tuples still to cover
	todo   int

	// At strength 2, partners[l] are the literals that l must still meet.
	partners []bitset
	free     bitset // literals of the columns not yet set in the candidate
	held     bitset // literals of the candidate

	row     []int
	columns []int // the candidate's columns that are set, ascending
	order   []int
	gain    []int
}

// candidates is how many rows are tried for each one taken. Cohen et al. found
// little gain above 50 at strength 2; tuples grow with the strength, so that is
// divided to keep the time.
func candidates(strength int) int {
	switch strength {
	case 1, 2:
		return 30
	case 3:
		return 8
	}
	return 2
}

func newGrower(sp *space, s *solver, rng *rand.Rand) *grower {
	g := &grower{sp: sp, solver: s, rng: rng, left: slices.Clone(sp.valid), todo: sp.planned}
	g.row = make([]int, len(sp.sizes))
	g.order = make([]int, len(sp.sizes))
	g.gain = make([]int, slices.Max(sp.sizes))
	if sp.strength == 2 {
		g.pair()
	}
	return g
}

// pair fills the partners of every literal.
func (g *grower) pair() {
	n := g.solver.first[len(g.sp.sizes)]
	g.partners = make([]bitset, n)
	for i := range g.partners {
		g.partners[i] = newBitset(n)
	}
	g.free, g.held = newBitset(n), newBitset(n)
	for number := g.left.next(0); number >= 0; number = g.left.next(number + 1) {
		t := g.sp.tuple(number)
		a, b := g.literal(t[0]), g.literal(t[1])
		g.partners[a].set(b)
		g.partners[b].set(a)
	}
}

func (g *grower) literal(l Literal) int { return g.solver.first[l.Parameter] + l.Value }

// cover counts a row's tuples as covered.
func (g *grower) cover(row []int) {
	g.sp.eachOf(row, func(number int) {
		if !g.left.has(number) {
			return
		}
		g.left.clear(number)
		g.todo--
		if g.partners != nil {
			t := g.sp.tuple(number)
			a, b := g.literal(t[0]), g.literal(t[1])
			g.partners[a].clear(b)
			g.partners[b].clear(a)
		}
	})
}

// grow adds rows to the given ones until nothing is left.
func (g *grower) grow(ctx context.Context, rows [][]int) ([][]int, error) {
	best := make([]int, len(g.row))
	for g.todo > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		most := -1
		for range candidates(g.sp.strength) {
			if n := g.candidate(); n > most {
				most = n
				copy(best, g.row)
			}
		}
		g.cover(best)
		rows = append(rows, slices.Clone(best))
	}
	return rows, nil
}

// candidate fills g.row and counts the tuples that it would cover first.
func (g *grower) candidate() int {
	g.reset()
	mark := len(g.solver.trail)
	number := g.left.next(g.rng.IntN(g.sp.total))
	if number < 0 {
		number = g.left.next(0)
	}
	for _, l := range g.sp.tuple(number) {
		g.solver.assign(l.Parameter, l.Value) // the tuple is valid, so this cannot fail
		g.set(l.Parameter, l.Value)
	}
	covered := 1
	g.rng.Shuffle(len(g.order), func(i, j int) { g.order[i], g.order[j] = g.order[j], g.order[i] })
	for _, p := range g.order {
		if g.row[p] >= 0 {
			continue
		}
		v, n := g.choose(p)
		covered += n
		g.set(p, v)
	}
	g.solver.undo(mark)
	return covered
}

func (g *grower) reset() {
	for i := range g.row {
		g.row[i], g.order[i] = -1, i
	}
	g.columns = g.columns[:0]
	if g.partners != nil {
		clear(g.held)
		for i := range g.free {
			g.free[i] = ^uint64(0)
		}
	}
}

func (g *grower) set(p, v int) {
	g.row[p] = v
	i, _ := slices.BinarySearch(g.columns, p)
	g.columns = slices.Insert(g.columns, i, p)
	if g.partners != nil {
		for l := g.solver.first[p]; l < g.solver.first[p+1]; l++ {
			g.free.clear(l)
		}
		g.held.set(g.solver.first[p] + v)
	}
}

// choose is the value of p that covers most tuples with what is set; among equal
// ones that with most left to meet in the columns still free, then by chance.
// The row can be completed with it: the solver has taken it.
func (g *grower) choose(p int) (value, covers int) {
	n := g.sp.sizes[p]
	g.score(p)
	offset := g.rng.IntN(n)
	for {
		best := -1
		for i := range n {
			if v := (i + offset) % n; g.gain[v] >= 0 && (best < 0 || g.gain[v] > g.gain[best]) {
				best = v
			}
		}
		if g.solver.try(p, best) {
			return best, g.gain[best] >> gainShift
		}
		g.gain[best] = -1
	}
}

// gainShift keeps what a value covers above what it may cover later.
const gainShift = 20

func (g *grower) score(p int) {
	gain := g.gain[:g.sp.sizes[p]]
	if g.partners != nil {
		for v := range gain {
			now, later := 0, 0
			for i, w := range g.partners[g.solver.first[p]+v] {
				now += bits.OnesCount64(w & g.held[i])
				later += bits.OnesCount64(w & g.free[i])
			}
			gain[v] = now<<gainShift | later
		}
		return
	}
	clear(gain)
	g.sp.with(g.row, g.columns, p, func(first, stride int) {
		for v := range gain {
			if number := first + v*stride; g.left.has(number) {
				gain[v] += 1 << gainShift
			}
		}
	})
}
