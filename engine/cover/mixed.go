package cover

import (
	"context"
	"fmt"
	"slices"

	"assay/engine/record"
)

// Submodel is parameters of which more values must meet than of the others: every
// tuple of Strength values of theirs is covered too, beside those of the model.
type Submodel struct {
	Parameters []int `json:"parameters"` // ascending
	Strength   int   `json:"strength"`   // 1 to MaxStrength, at most the number of parameters
}

func (m Model) checkSubmodel(sub Submodel) error {
	var sizes []int
	for i, p := range sub.Parameters {
		if p < 0 || p >= len(m.Parameters) || i > 0 && p <= sub.Parameters[i-1] {
			return fmt.Errorf("submodel %v: want different parameters of the model, ascending", sub.Parameters)
		}
		sizes = append(sizes, m.Parameters[p].planned())
	}
	switch {
	case sub.Strength < 1 || sub.Strength > MaxStrength:
		return fmt.Errorf("a submodel of strength %d: want 1 to %d", sub.Strength, MaxStrength)
	case sub.Strength > len(sizes):
		return fmt.Errorf("a submodel of strength %d has %d parameters; give it at least %d", sub.Strength, len(sizes), sub.Strength)
	case tuplesOf(sizes, sub.Strength) > maxTuples:
		return fmt.Errorf("a submodel of strength %d over %d parameters means more than %d tuples; lower the strength or drop values", sub.Strength, len(sizes), maxTuples)
	}
	return nil
}

// part is one submodel as it is built: the model with the submodel's parameters in
// front, over which alone its space goes. What its solver answers is for the whole.
type part struct {
	order  []int // its parameters, then the others
	space  *space
	solver *solver
}

// parts are the submodels that ask for more than the model does, the strongest
// first: what is hardest to place is placed while all is free.
func (m Model) parts() []part {
	subs := slices.Clone(m.Submodels)
	slices.SortStableFunc(subs, func(a, b Submodel) int { return b.Strength - a.Strength })
	var out []part
	for _, sub := range subs {
		if sub.Strength <= m.strength() {
			continue
		}
		order := slices.Clone(sub.Parameters)
		for i := range m.Parameters {
			if !slices.Contains(sub.Parameters, i) {
				order = append(order, i)
			}
		}
		at := make([]int, len(order))
		sizes := make([]int, len(order))
		for to, from := range order {
			at[from], sizes[to] = to, m.Parameters[from].planned()
		}
		forbidden := make([]Tuple, len(m.Forbidden))
		for i, t := range m.Forbidden {
			for _, l := range t {
				forbidden[i] = append(forbidden[i], Literal{at[l.Parameter], l.Value})
			}
			slices.SortFunc(forbidden[i], func(a, b Literal) int { return a.Parameter - b.Parameter })
		}
		s := newSolver(sizes, forbidden)
		s.start() // the whole model was found to have a row
		out = append(out, part{order, newSpace(sizes[:len(sub.Parameters)], sub.Strength, s), s})
	}
	return out
}

// own is a row's values of the part's columns.
func (q part) own(row []int) []int {
	out := make([]int, len(q.space.sizes))
	for i := range out {
		out[i] = row[q.order[i]]
	}
	return out
}

func (q part) ownOf(rows [][]int) [][]int {
	out := make([][]int, len(rows))
	for i, row := range rows {
		out[i] = q.own(row)
	}
	return out
}

// bound is the most tuples of one set of columns, each of which takes a row.
func (q part) bound() int {
	most := 0
	for rank, from := range q.space.offset {
		to := q.space.total
		if rank+1 < len(q.space.offset) {
			to = q.space.offset[rank+1]
		}
		n := 0
		for number := from; number < to; number++ {
			if q.space.valid.has(number) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// describe are the part's tuples in all and not in some, in words.
func (q part) describe(m Model, all, some bitset) []string {
	front := Model{Parameters: make([]Parameter, len(q.space.sizes))}
	for i := range front.Parameters {
		front.Parameters[i] = m.Parameters[q.order[i]]
	}
	return front.describeDifference(q.space, all, some)
}

// mixed makes the rows of an array with submodels: those of each submodel first,
// which leave the other parameters open, then what they leave to the model's own
// strength. Greedy, and without the search that makes other arrays small.
func (p *plan) mixed(ctx context.Context, parts []part) ([][]int, error) {
	var rows [][]int
	for _, row := range p.opts.Pinned {
		rows = append(rows, slices.Clone(row))
	}
	for i, q := range parts {
		g := newGrower(q.space, q.solver, record.Stream("cover", p.key, "submodel", i))
		for _, row := range rows {
			inOrder := make([]int, len(row))
			for to, from := range q.order {
				inOrder[to] = row[from]
			}
			for c, v := range g.fill(inOrder) {
				row[q.order[c]] = v
			}
		}
		added, err := g.grow(ctx, nil)
		if err != nil {
			return nil, err
		}
		for _, values := range added {
			row := make([]int, len(q.order))
			for i := range row {
				row[i] = -1
			}
			for c, v := range values {
				row[q.order[c]] = v
			}
			rows = append(rows, row)
		}
	}
	g := newGrower(p.space, p.solver, record.Stream("cover", p.key, "grow", "mixed"))
	for _, row := range rows {
		copy(row, g.fill(row))
	}
	rows, err := g.grow(ctx, rows)
	if err != nil {
		return nil, err
	}
	return p.needed(rows, parts), nil
}

// fill completes the space's columns of a row of which some values stand, and
// counts what it covers.
func (g *grower) fill(row []int) []int {
	g.reset()
	mark := len(g.solver.trail)
	for c, v := range row {
		if v < 0 {
			continue
		}
		g.solver.assign(c, v) // the values were chosen so that a row has them all
		if c < len(g.row) {
			g.set(c, v)
		}
	}
	g.rng.Shuffle(len(g.order), func(i, j int) { g.order[i], g.order[j] = g.order[j], g.order[i] })
	for _, c := range g.order {
		if g.row[c] < 0 {
			v, _ := g.choose(c)
			g.set(c, v)
		}
	}
	g.solver.undo(mark)
	g.cover(g.row)
	return g.row
}

// needed is the rows without those of which every tuple stands in another, the
// last looked at first, since the first were made when most was open.
func (p *plan) needed(rows [][]int, parts []part) [][]int {
	type count struct {
		space *space
		of    func(row []int) []int
		rows  []int32
	}
	counts := []count{{p.space, func(row []int) []int { return row }, make([]int32, p.space.total)}}
	for _, q := range parts {
		counts = append(counts, count{q.space, q.own, make([]int32, q.space.total)})
	}
	add := func(row []int, n int32) (alone bool) {
		for _, c := range counts {
			c.space.eachOf(c.of(row), func(number int) {
				alone = alone || c.rows[number] == 1 && c.space.valid.has(number)
				c.rows[number] += n
			})
		}
		return alone
	}
	for _, row := range rows {
		add(row, 1)
	}
	var out [][]int
	for i := len(rows) - 1; i >= 0; i-- {
		if add(rows[i], -1) || i < len(p.opts.Pinned) {
			add(rows[i], 1)
			out = append(out, rows[i])
		}
	}
	slices.Reverse(out)
	return out
}
