package cover

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// maxField is the largest field whose orthogonal arrays are tried: of 64
// elements at strength 2 they have 4,096 rows.
const maxField = 64

// seeds are beginnings of an array made from orthogonal arrays over finite
// fields, one for each distinct number of values among the columns: the array's
// columns are dealt to the widest parameters first and again from the start when
// they run out, symbols that a parameter has no value for are drawn. They cover
// most of what there is with no waste; the rest is grown and shrunk. Only those
// with fewer rows than limit.
func seeds(p *plan, rng *rand.Rand, limit int) [][][]int {
	order := make([]int, len(p.space.sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.space.sizes[b], p.space.sizes[a]) })
	var out [][][]int
	last := 0
	for _, c := range order {
		q := nextField(p.space.sizes[c])
		if q == last || q > maxField || power(q, p.space.strength) >= limit {
			continue
		}
		last = q
		out = append(out, p.seed(newField(q).orthogonal(p.space.strength), order, rng))
	}
	return out
}

func nextField(size int) int {
	q := max(size, 2)
	for {
		if _, _, ok := primePower(q); ok {
			return q
		}
		q++
	}
}

func power(q, t int) int {
	n := 1
	for range t {
		n *= q
	}
	return n
}

// seed makes rows of the orthogonal array's: each value taken where the
// constraints allow it, else the next that they do.
func (p *plan) seed(orthogonal [][]int, order []int, rng *rand.Rand) [][]int {
	rows := make([][]int, 0, len(orthogonal))
	mark := len(p.solver.trail)
	for _, from := range orthogonal {
		for i, c := range order {
			v, n := from[i%len(from)], p.space.sizes[c]
			if v >= n {
				v = rng.IntN(n)
			}
			for !p.solver.try(c, v) {
				v = (v + 1) % n
			}
		}
		rows = append(rows, slices.Clone(p.solver.value))
		p.solver.undo(mark)
	}
	return rows
}
