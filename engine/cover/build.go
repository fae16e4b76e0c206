package cover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"assay/engine/record"
)

// The effort by default: DefaultEffort changes weighed, or effortPerTuple for
// each tuple to cover where that is less. With the first the published models of
// this package's benchmarks are within two rows of what ten times as much
// reaches, in half a second of one core; the second keeps the small arrays that
// every run begins with to a tenth of that.
const (
	DefaultEffort  = 3_000_000
	effortPerTuple = 2_000
)

// Options of a build.
type Options struct {
	// Effort is how many changes of one value are weighed to make the array smaller;
	// 0 means the default, below 0 none. It is a count and never a time, so that an
	// array is the same on a slow machine.
	Effort int
	// Pinned rows stand in the array as they are, and first: rows that were run
	// before, when a later run is to cover what is missing. They must be allowed.
	Pinned [][]int
}

func (o Options) effort(tuples int) int {
	switch {
	case o.Effort == 0:
		return min(DefaultEffort, effortPerTuple*tuples)
	case o.Effort < 0:
		return 0
	}
	return o.Effort
}

// ErrUnsatisfiable is wrapped where a model allows no row at all.
var ErrUnsatisfiable = errors.New("the exclusions leave no allowed row")

// Array is a covering array: rows that together hold every valid tuple of the
// model. It is read-only once built and may be shared by goroutines.
type Array struct {
	Model Model
	// Rows hold indices into the parameters' values.
	Rows [][]int
	// Blocks says of each row which block it belongs to: all 0 in a joint array; in a
	// stable one 0 is the block that no value of the axis touches and 1+i the block
	// of the axis's value i.
	Blocks []int
	// Planned is the number of valid tuples, those of submodels counted beside the
	// model's; Covered is how many of them the rows hold.
	Planned, Covered int
	// LowerBound is a number of rows that no joint array of the model goes below.
	LowerBound int

	space *space
	parts []part
	order *gridOrder
}

// Build makes an array of the whole model, as small as the effort allows. Equal
// models, options and versions give equal arrays on every machine.
func Build(ctx context.Context, m Model, o Options) (Array, error) {
	p, err := prepare(m, o)
	if err != nil {
		return Array{}, err
	}
	parts := m.parts()
	var rows [][]int
	if len(parts) > 0 {
		rows, err = p.mixed(ctx, parts)
	} else {
		rows, err = p.joint(ctx)
	}
	if err != nil {
		return Array{}, fmt.Errorf("build covering array: %w", err)
	}
	return m.array(p.space, rows, make([]int, len(rows))).with(parts), nil
}

// with is the array with what its submodels ask for.
func (a Array) with(parts []part) Array {
	a.parts = parts
	for _, q := range parts {
		a.Planned += q.space.planned
		a.Covered += q.space.covered(q.ownOf(a.Rows)).count()
		a.LowerBound = max(a.LowerBound, q.bound())
	}
	return a
}

// plan is what a build works on.
type plan struct {
	model  Model
	opts   Options
	space  *space
	solver *solver
	key    string
}

func prepare(m Model, o Options) (*plan, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	for i, row := range o.Pinned {
		if !m.Allows(row) {
			return nil, fmt.Errorf("pinned row %d is not allowed by the model", i)
		}
	}
	s := newSolver(m.sizes(), m.Forbidden)
	if !s.start() {
		return nil, ErrUnsatisfiable
	}
	return &plan{model: m, opts: o, space: newSpace(m.sizes(), m.strength(), s), solver: s, key: m.key()}, nil
}

// trialShare is the part of the effort that each beginning of an array gets
// before the smallest goes on alone.
const trialShare = 8

// What is shrunk: beyond so many tuples a change looks at more of them than the
// effort has, and the counts of pairs take the square of the values.
const (
	maxShrunk       = 1 << 20
	maxShrunkValues = 1 << 12
)

// joint makes the rows of one array over the whole model.
func (p *plan) joint(ctx context.Context) ([][]int, error) {
	effort := p.opts.effort(p.space.planned)
	grown, err := p.grow(ctx, p.opts.Pinned, "")
	if err != nil || effort == 0 {
		return grown, err
	}
	bound := lowerBound(p.model, p.space)
	starts := [][][]int{grown}
	if len(p.opts.Pinned) == 0 && len(grown) > bound {
		for i, seed := range seeds(p, record.Stream("cover", p.key, "seed"), len(grown)) {
			rows, err := p.grow(ctx, seed, fmt.Sprintf("seed %d", i))
			if err != nil {
				return nil, err
			}
			starts = append(starts, rows)
		}
	}
	if p.space.strength < 2 || p.space.planned > maxShrunk || len(p.solver.of) > maxShrunkValues {
		return fewest(starts), nil
	}
	if len(starts) > 1 {
		trial := effort / trialShare
		for i, rows := range starts {
			if starts[i], err = shrink(ctx, p, rows, bound, trial, fmt.Sprintf("trial %d", i)); err != nil {
				return nil, err
			}
			effort -= trial
		}
	}
	return shrink(ctx, p, fewest(starts), bound, effort, "")
}

// grow adds rows to the given ones until all is covered.
func (p *plan) grow(ctx context.Context, given [][]int, purpose string) ([][]int, error) {
	g := newGrower(p.space, p.solver, record.Stream("cover", p.key, "grow", purpose))
	rows := make([][]int, 0, len(given))
	for _, row := range given {
		g.cover(row)
		rows = append(rows, slices.Clone(row))
	}
	return g.grow(ctx, rows)
}

// fewest is the shortest of some arrays, the first among equals.
func fewest(arrays [][][]int) [][]int {
	return slices.MinFunc(arrays, func(a, b [][]int) int { return cmp.Compare(len(a), len(b)) })
}

// array wraps rows with what is said about them.
func (m Model) array(sp *space, rows [][]int, blocks []int) Array {
	a := Array{Model: m, Rows: rows, Blocks: blocks, Planned: sp.planned, LowerBound: lowerBound(m, sp), space: sp, order: new(gridOrder)}
	a.Covered = sp.covered(rows).count()
	return a
}

// covered are the valid tuples that some row holds.
func (sp *space) covered(rows [][]int) bitset {
	covered := newBitset(sp.total)
	for _, row := range rows {
		sp.eachOf(row, func(number int) {
			if sp.valid.has(number) {
				covered.set(number)
			}
		})
	}
	return covered
}

// Prefix is the first n rows of the array by index, interleaved over the blocks:
// each block gives the same share of its rows, chosen and ordered by their own
// hash. Changing one block moves no row of another that is as long as before. n
// beyond the array is all of it.
func (a Array) Prefix(n int) []int {
	type place struct {
		row, nth, size int
		rank           uint64
	}
	byBlock := map[int][]int{}
	rank := make([]uint64, len(a.Rows))
	for i, row := range a.Rows {
		rank[i] = a.Model.Rank(row)
		byBlock[a.Blocks[i]] = append(byBlock[a.Blocks[i]], i)
	}
	byRank := func(i, j int) int { return cmp.Or(cmp.Compare(rank[i], rank[j]), cmp.Compare(i, j)) }
	places := make([]place, 0, len(a.Rows))
	for _, rows := range byBlock {
		slices.SortFunc(rows, byRank)
		for nth, row := range rows {
			places = append(places, place{row, nth, len(rows), rank[row]})
		}
	}
	slices.SortFunc(places, func(x, y place) int {
		// (2 nth + 1) / (2 size): where the row stands in its block.
		return cmp.Or(cmp.Compare((2*x.nth+1)*y.size, (2*y.nth+1)*x.size), byRank(x.row, y.row))
	})
	out := make([]int, max(0, min(n, len(places))))
	for i := range out {
		out[i] = places[i].row
	}
	return out
}

// Coverage counts the planned tuples that the points hold, and lists those that
// none does, in words. Points are rows that really came back; a coordinate that
// is -1 covers nothing.
func (a Array) Coverage(points [][]int) (covered int, missing []string) {
	have := a.space.covered(points)
	covered, missing = have.count(), a.Model.describeDifference(a.space, a.space.valid, have)
	for _, q := range a.parts {
		have := q.space.covered(q.ownOf(points))
		covered += have.count()
		missing = append(missing, q.describe(a.Model, q.space.valid, have)...)
	}
	return covered, missing
}

// Between compares two lists of points: how many planned tuples the first holds,
// how many of those the second holds too, and the others in words. It is what
// thinning costs, with the rows as planned and as posed. Submodels, which the axes
// never have, are left out.
func (a Array) Between(planned, done [][]int) (want, have int, missing []string) {
	wanted, held := a.space.covered(planned), a.space.covered(done)
	for i := range held {
		held[i] &= wanted[i]
	}
	return wanted.count(), held.count(), a.Model.describeDifference(a.space, wanted, held)
}

// Held is which tuples of an array some points hold, kept up to date as points
// come. Not safe for concurrent use.
type Held struct {
	space *space
	held  bitset
}

// Held are the tuples that no point holds yet.
func (a Array) Held() *Held { return &Held{space: a.space, held: newBitset(a.space.total)} }

// Add counts what a point holds; a coordinate that is -1 holds nothing.
func (h *Held) Add(point []int) {
	h.space.eachOf(point, func(number int) { h.held.set(number) })
}

// All reports whether every planned tuple of a point is held by those added.
func (h *Held) All(point []int) bool {
	all := true
	h.space.eachOf(point, func(number int) { all = all && (h.held.has(number) || !h.space.valid.has(number)) })
	return all
}

// describeDifference are the tuples in all and not in some.
func (m Model) describeDifference(sp *space, all, some bitset) []string {
	var out []string
	for number := all.next(0); number >= 0; number = all.next(number + 1) {
		if !some.has(number) {
			out = append(out, m.Describe(sp.tuple(number)))
		}
	}
	return out
}
