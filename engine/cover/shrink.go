package cover

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"slices"

	"assay/engine/record"
)

// shrinker makes a pairwise array smaller. It takes out the row that is missed
// least and searches for changes of single values that cover what it held: a
// tabu search over whole arrays (Nurmela 2004), here with constraints. Each
// change is weighed with a few words of bits: which of the row's literals would
// meet a partner for the first time, and which lose their only meeting.
type shrinker struct {
	solver *solver
	rng    *rand.Rand
	width  int // words in a set of literals
	pinned int // rows at the start that stay as they are

	columnOf []int      // literal to its column
	rows     [][]int    // literals, one a column
	held     [][]uint64 // row to its literals
	holders  [][]uint64 // literal to the rows that hold it, pinned ones left out
	count    []uint16   // literal x literal: rows that hold both
	never    []uint64   // literal: the literals it meets in no row
	once     []uint64   // literal: those it meets in exactly one
	open     []int32    // uncovered valid pairs, as a*n+b with a < b
	place    []int32    // pair to its place in open, -1 where it is covered

	tabu   [][]int // row, column: the move until which its value stays
	moves  int
	spent  int
	effort int
}

// tenure is the longest time, in moves, that a changed value stays. Nurmela used
// lists of one to ten moves; of 1, 2, 3, 4, 5, 6, 10, 30 and 100, three and four
// gave the smallest arrays of this package's benchmarks.
const tenure = 3

// shrink is rows with as many taken out as the effort finds a way to do without.
func shrink(ctx context.Context, p *plan, rows [][]int, bound, effort int, purpose string) ([][]int, error) {
	s := newShrinker(p, rows, record.Stream("cover", p.key, "shrink", purpose))
	s.effort = effort
	for len(s.rows) > max(bound, s.pinned) && s.spent < s.effort {
		s.remove(s.leastMissed())
		done, err := s.search(ctx)
		if err != nil {
			return nil, err
		}
		if !done {
			break
		}
		rows = s.export()
	}
	return rows, nil
}

func newShrinker(p *plan, rows [][]int, rng *rand.Rand) *shrinker {
	n := p.solver.first[len(p.space.sizes)]
	s := &shrinker{
		solver: p.solver, rng: rng, width: (n + 63) / 64,
		pinned: len(p.opts.Pinned),
		count:  make([]uint16, n*n), place: make([]int32, n*n),
		columnOf: make([]int, n), holders: make([][]uint64, n),
	}
	for column, first := range p.solver.first[:len(p.space.sizes)] {
		for v := range p.space.sizes[column] {
			s.columnOf[first+v] = column
		}
	}
	for l := range s.holders {
		s.holders[l] = newBitset(len(rows))
	}
	s.never, s.once = make([]uint64, n*s.width), make([]uint64, n*s.width)
	for i := range s.place {
		s.place[i] = -1
	}
	for number := p.space.valid.next(0); number >= 0; number = p.space.valid.next(number + 1) {
		t := p.space.tuple(number)
		a, b := s.literal(t[0]), s.literal(t[1])
		bitset(s.never[a*s.width:]).set(b)
		bitset(s.never[b*s.width:]).set(a)
		s.uncover(s.pair(a, b))
	}
	for _, row := range rows {
		s.insert(row)
	}
	return s
}

func (s *shrinker) literal(l Literal) int { return s.solver.first[l.Parameter] + l.Value }

// insert adds a row of values.
func (s *shrinker) insert(row []int) {
	literals, held := make([]int, len(row)), make([]uint64, s.width)
	for p, v := range row {
		literals[p] = s.solver.first[p] + v
		bitset(held).set(literals[p])
	}
	if r := len(s.rows); r >= s.pinned {
		for _, l := range literals {
			bitset(s.holders[l]).set(r)
		}
	}
	s.rows, s.held, s.tabu = append(s.rows, literals), append(s.held, held), append(s.tabu, make([]int, len(row)))
	s.each(literals, s.meet)
}

// remove takes a row out; the last takes its place.
func (s *shrinker) remove(r int) {
	s.each(s.rows[r], s.part)
	last := len(s.rows) - 1
	for _, l := range s.rows[r] {
		bitset(s.holders[l]).clear(r)
	}
	if r != last {
		for _, l := range s.rows[last] {
			bitset(s.holders[l]).clear(last)
			bitset(s.holders[l]).set(r)
		}
	}
	s.rows[r], s.held[r], s.tabu[r] = s.rows[last], s.held[last], s.tabu[last]
	s.rows, s.held, s.tabu = s.rows[:last], s.held[:last], s.tabu[:last]
}

// leastMissed is the row, pinned ones apart, that alone holds the fewest pairs.
func (s *shrinker) leastMissed() int {
	best, fewest := -1, 0
	for r := s.pinned; r < len(s.rows); r++ {
		alone := 0
		for _, a := range s.rows[r] {
			alone += overlap(s.once[a*s.width:], s.held[r])
		}
		if best < 0 || alone < fewest {
			best, fewest = r, alone
		}
	}
	return best
}

// overlap counts what b and the beginning of a have in common.
func overlap(a, b []uint64) (n int) {
	a = a[:len(b)]
	for i, w := range b {
		n += bits.OnesCount64(a[i] & w)
	}
	return n
}

// meet counts one more row with both literals.
func (s *shrinker) meet(a, b int) {
	pair := s.pair(a, b)
	s.count[pair]++
	switch s.count[pair] {
	case 1:
		s.flip(s.never, a, b)
		s.flip(s.once, a, b)
		s.close(pair)
	case 2:
		s.flip(s.once, a, b)
	}
}

// part counts one row less with both literals.
func (s *shrinker) part(a, b int) {
	pair := s.pair(a, b)
	s.count[pair]--
	switch s.count[pair] {
	case 0:
		s.flip(s.never, a, b)
		s.flip(s.once, a, b)
		s.uncover(pair)
	case 1:
		s.flip(s.once, a, b)
	}
}

// pair is the number of an unordered pair of literals.
func (s *shrinker) pair(a, b int) int {
	if a > b {
		a, b = b, a
	}
	return a*len(s.columnOf) + b
}

func (s *shrinker) flip(sets []uint64, a, b int) {
	sets[a*s.width+b>>6] ^= 1 << (b & 63)
	sets[b*s.width+a>>6] ^= 1 << (a & 63)
}

func (s *shrinker) uncover(pair int) {
	s.place[pair] = int32(len(s.open))
	s.open = append(s.open, int32(pair))
}

func (s *shrinker) close(pair int) {
	at, last := s.place[pair], s.open[len(s.open)-1]
	s.open[at], s.place[last] = last, at
	s.open, s.place[pair] = s.open[:len(s.open)-1], -1
}

// change is one value of one row that would be another.
type change struct {
	row, column, literal int
}

// search changes values until every pair is covered; false where the effort is
// spent first.
func (s *shrinker) search(ctx context.Context) (bool, error) {
	fewest := len(s.open)
	for len(s.open) > 0 {
		if s.moves&1023 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		if s.spent >= s.effort {
			return false, nil
		}
		s.moves++
		s.spent++
		pair := int(s.open[s.rng.IntN(len(s.open))])
		a, b := pair/len(s.columnOf), pair%len(s.columnOf)
		if c, ok := s.best(a, b, fewest); ok {
			s.apply(c)
		} else {
			s.force(a, b)
		}
		fewest = min(fewest, len(s.open))
	}
	return true, nil
}

// best is the change of one value that covers the pair at the least loss, by
// chance among equals; a value changed lately stays, unless the change leaves
// fewer pairs open than there ever were. No row holds both literals, so those
// that hold one are weighed with the other.
func (s *shrinker) best(a, b, fewest int) (change, bool) {
	var found change
	least, equals := 0, 0
	for word, withA := range s.holders[a] {
		for either := withA | s.holders[b][word]; either != 0; either &= either - 1 {
			bit := bits.TrailingZeros64(either)
			c := change{row: word<<6 + bit, literal: a}
			if withA>>bit&1 == 1 {
				c.literal = b
			}
			c.column = s.columnOf[c.literal]
			if !s.allows(c) {
				continue
			}
			s.spent++
			loss := s.loss(c)
			if s.tabu[c.row][c.column] > s.moves && len(s.open)+loss >= fewest {
				continue
			}
			switch {
			case equals == 0 || loss < least:
				found, least, equals = c, loss, 1
			case loss == least:
				if equals++; s.rng.IntN(equals) == 0 {
					found = c
				}
			}
		}
	}
	return found, equals > 0
}

// loss is how many more pairs would be open after the change.
func (s *shrinker) loss(c change) (loss int) {
	held := s.held[c.row]
	once := s.once[s.rows[c.row][c.column]*s.width:][:len(held)]
	never := s.never[c.literal*s.width:][:len(held)]
	for i, w := range held {
		loss += bits.OnesCount64(once[i]&w) - bits.OnesCount64(never[i]&w)
	}
	return loss
}

// allows reports whether the row is still allowed with the change.
func (s *shrinker) allows(c change) bool {
	for _, id := range s.solver.of[c.literal] {
		hit := true
		for _, l := range s.solver.forbidden[id] {
			if l.Parameter != c.column && !bitset(s.held[c.row]).has(s.literal(l)) {
				hit = false
				break
			}
		}
		if hit {
			return false
		}
	}
	return true
}

func (s *shrinker) apply(c change) {
	row, held := s.rows[c.row], s.held[c.row]
	old := row[c.column]
	for p, other := range row {
		if p != c.column {
			s.part(old, other)
			s.meet(c.literal, other)
		}
	}
	row[c.column] = c.literal
	bitset(held).clear(old)
	bitset(held).set(c.literal)
	bitset(s.holders[old]).clear(c.row)
	bitset(s.holders[c.literal]).set(c.row)
	s.tabu[c.row][c.column] = s.moves + 1 + s.rng.IntN(tenure)
}

// force makes some row hold the pair where no single allowed change does,
// keeping as many of its other values as the constraints let it.
func (s *shrinker) force(a, b int) {
	r := s.pinned + s.rng.IntN(len(s.rows)-s.pinned)
	row := s.rows[r]
	mark := len(s.solver.trail)
	for _, l := range []int{a, b} {
		p := s.columnOf[l]
		s.solver.assign(p, l-s.solver.first[p]) // the pair is valid, so this cannot fail
	}
	for _, p := range s.rng.Perm(len(row)) {
		for i, n := 0, s.solver.sizes[p]; i < n; i++ {
			if s.solver.try(p, (row[p]-s.solver.first[p]+i)%n) {
				break
			}
		}
	}
	want := slices.Clone(s.solver.value)
	s.solver.undo(mark)
	// All at once: on the way from one allowed row to another lie rows that are not.
	s.each(row, s.part)
	for p, v := range want {
		bitset(s.held[r]).clear(row[p])
		bitset(s.holders[row[p]]).clear(r)
		row[p] = s.solver.first[p] + v
		bitset(s.held[r]).set(row[p])
		bitset(s.holders[row[p]]).set(r)
	}
	s.each(row, s.meet)
}

// each calls f with every pair of a row.
func (s *shrinker) each(row []int, f func(a, b int)) {
	for i, a := range row {
		for _, b := range row[i+1:] {
			f(a, b)
		}
	}
}

// export is the rows as values.
func (s *shrinker) export() [][]int {
	out := make([][]int, len(s.rows))
	for r, row := range s.rows {
		out[r] = make([]int, len(row))
		for p, l := range row {
			out[r][p] = l - s.solver.first[p]
		}
	}
	return out
}
