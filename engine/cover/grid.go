package cover

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"sync"

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
func (m Model) Points() iter.Seq[[]int] { return m.pointsFrom(0, new(gridOrder)) }

// Points are the model's points from the n-th on. Their order is found once for
// an array, however many ask for it; several goroutines may.
func (a Array) Points(n int) iter.Seq[[]int] { return a.Model.pointsFrom(n, a.order) }

// gridOrder is the order of a grid's points, once it was asked for.
type gridOrder struct {
	once  sync.Once
	codes []uint32 // points in mixed radix, in the order of their hash
}

func (m Model) pointsFrom(n int, order *gridOrder) iter.Seq[[]int] {
	sizes, cells := m.sizes(), 1
	for _, size := range sizes {
		cells = times(cells, size)
	}
	if cells > sortedGrid {
		return func(yield func([]int) bool) {
			at := 0
			for row := range m.drawn {
				if at++; at > n && !yield(row) {
					return
				}
			}
		}
	}
	return func(yield func([]int) bool) {
		order.once.Do(func() { order.codes = m.byRank(sizes) })
		for _, code := range order.codes[min(n, len(order.codes)):] {
			row := make([]int, len(sizes))
			decode(code, sizes, row)
			if !yield(row) {
				return
			}
		}
	}
}

// byRank are the codes of the allowed points in the order of their hash. Codes
// ascend as the rows do, which is what decides between equal hashes.
func (m Model) byRank(sizes []int) []uint32 {
	type point struct {
		rank uint64
		code uint32
	}
	var points []point
	row := make([]int, len(sizes))
	for code := uint32(0); ; code++ {
		if m.Allows(row) {
			points = append(points, point{m.Rank(row), code})
		}
		i := len(row) - 1
		for i >= 0 && row[i] == sizes[i]-1 {
			row[i] = 0
			i--
		}
		if i < 0 {
			break
		}
		row[i]++
	}
	slices.SortFunc(points, func(a, b point) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.code, b.code))
	})
	codes := make([]uint32, len(points))
	for i, p := range points {
		codes[i] = p.code
	}
	return codes
}

// decode writes the row that a code in mixed radix stands for.
func decode(code uint32, sizes, row []int) {
	for i := len(sizes) - 1; i >= 0; i-- {
		row[i] = int(code) % sizes[i]
		code /= uint32(sizes[i])
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
