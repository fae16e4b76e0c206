package cover

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"assay/engine/record"
)

// sortedGrid is the most points that are sorted by their hash: a million points
// take a second. A larger grid is drawn from, which no run comes to the end of.
const sortedGrid = 1 << 20

// Size is the number of allowed points over the planned values, math.MaxInt
// where it is more. Constraints over so many parameters that their part of the
// grid has more than a million points are counted as if they allowed all.
func (m Model) Size() int {
	s := newSolver(m.sizes(), m.Forbidden)
	if !s.start() {
		return 0
	}
	size, bound := 1, 1
	for p, n := range s.sizes {
		if len(s.touching[p]) > 0 {
			bound = times(bound, n)
			continue
		}
		size = times(size, n)
	}
	if bound > sortedGrid {
		return times(size, bound)
	}
	return times(size, s.count(0))
}

func times(a, b int) int {
	if b != 0 && a > math.MaxInt/b {
		return math.MaxInt
	}
	return a * b
}

// count is the number of ways to complete the bound parameters from the i-th on.
func (s *solver) count(i int) int {
	for i < len(s.bound) && s.value[s.bound[i]] >= 0 {
		i++
	}
	if i == len(s.bound) {
		return 1
	}
	n, p := 0, s.bound[i]
	for v := range s.sizes[p] {
		mark := len(s.trail)
		if s.blocked[s.first[p]+v] == 0 && s.assign(p, v) {
			n += s.count(i + 1)
		}
		s.undo(mark)
	}
	return n
}

// Points are the allowed points in the order of their hash, each once: what is
// posed beyond the array. Of a grid above a million points they are drawn one by
// one, without end.
func (m Model) Points() iter.Seq[[]int] {
	cells := 1
	for _, n := range m.sizes() {
		cells = times(cells, n)
	}
	if cells > sortedGrid {
		return m.drawn
	}
	return func(yield func([]int) bool) {
		type point struct {
			row  []int
			rank uint64
		}
		var points []point
		for row := range m.all {
			points = append(points, point{row, m.Rank(row)})
		}
		slices.SortFunc(points, func(a, b point) int {
			return cmp.Or(cmp.Compare(a.rank, b.rank), slices.Compare(a.row, b.row))
		})
		for _, p := range points {
			if !yield(p.row) {
				return
			}
		}
	}
}

// all calls yield with every allowed point.
func (m Model) all(yield func([]int) bool) {
	sizes := m.sizes()
	row := make([]int, len(sizes))
	for {
		if m.Allows(row) && !yield(slices.Clone(row)) {
			return
		}
		i := len(row) - 1
		for i >= 0 && row[i] == sizes[i]-1 {
			row[i] = 0
			i--
		}
		if i < 0 {
			return
		}
		row[i]++
	}
}

// drawn calls yield with points from a stream of the model's own. A draw is
// completed to an allowed point value by value, so that no constraint, however
// tight, keeps it from ending.
func (m Model) drawn(yield func([]int) bool) {
	s := newSolver(m.sizes(), m.Forbidden)
	if !s.start() {
		return
	}
	mark := len(s.trail)
	rng := record.Stream("cover", m.key(), "points")
	seen := map[uint64]bool{}
	for {
		order := rng.Perm(len(s.sizes))
		for _, p := range order {
			offset := rng.IntN(s.sizes[p])
			for i := range s.sizes[p] {
				if s.try(p, (offset+i)%s.sizes[p]) {
					break
				}
			}
		}
		row := slices.Clone(s.value)
		s.undo(mark)
		if rank := m.Rank(row); !seen[rank] {
			seen[rank] = true
			if !yield(row) {
				return
			}
		}
	}
}
