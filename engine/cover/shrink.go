package cover

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"slices"

	"assay/engine/record"
)

// tenure is the longest time, in moves, that a changed value stays. Nurmela used
// lists of one to ten moves; of 1, 2, 3, 4, 5, 6, 10, 30 and 100, two to four gave
// the smallest arrays of this package's benchmarks.
const tenure = 3

// shrinker makes an array smaller. It takes out the row that is missed least and
// searches for changes of single values that cover what it held: a tabu search
// over whole arrays (Nurmela 2004), here with constraints and at any strength.
type shrinker struct {
	solver *solver
	rng    *rand.Rand
	tally  tally
	pinned int // rows at the start that stay as they are

	rows    [][]int
	held    []bitset   // row to its literals
	holders [][]uint64 // literal to the rows that hold it, pinned ones left out
	tabu    [][]int    // row, column: the move until which its value stays

	moves  int
	spent  int
	effort int
	weight int // what weighing one change counts
}

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
		rows = rows[:0]
		for _, row := range s.rows {
			rows = append(rows, slices.Clone(row))
		}
	}
	return rows, nil
}

func newShrinker(p *plan, rows [][]int, rng *rand.Rand) *shrinker {
	s := &shrinker{solver: p.solver, rng: rng, pinned: len(p.opts.Pinned), weight: p.weight()}
	first := p.solver.first[:len(p.space.sizes)]
	var columnOf []int
	for column, n := range p.space.sizes {
		for range n {
			columnOf = append(columnOf, column)
			s.holders = append(s.holders, newBitset(len(rows)))
		}
	}
	if p.space.strength == 2 {
		s.tally = newPairTally(p.space, first, columnOf)
	} else {
		s.tally = newTupleTally(p.space)
	}
	for _, row := range rows {
		s.insert(slices.Clone(row))
	}
	return s
}

// setsPerWord is how many sets of columns are looked at in the time that a change
// takes at strength 2, where it is a few words of bits. Measured.
const setsPerWord = 8

// weight is what weighing one change counts against the effort, so that equal
// efforts are about equal work at any strength.
func (p *plan) weight() int {
	if p.space.strength == 2 {
		return 1
	}
	return 1 + p.space.choose[len(p.space.sizes)-1][p.space.strength-1]/setsPerWord
}

func (s *shrinker) literal(l Literal) int { return s.solver.first[l.Parameter] + l.Value }

func (s *shrinker) insert(row []int) {
	r, held := len(s.rows), newBitset(len(s.holders))
	for c, v := range row {
		held.set(s.literal(Literal{c, v}))
		if r >= s.pinned {
			bitset(s.holders[s.literal(Literal{c, v})]).set(r)
		}
	}
	s.rows, s.held, s.tabu = append(s.rows, row), append(s.held, held), append(s.tabu, make([]int, len(row)))
	s.tally.insert(row)
}

// remove takes a row out; the last takes its place.
func (s *shrinker) remove(r int) {
	s.tally.remove(s.rows[r])
	last := len(s.rows) - 1
	for c, v := range s.rows[r] {
		bitset(s.holders[s.literal(Literal{c, v})]).clear(r)
	}
	if r != last {
		for c, v := range s.rows[last] {
			holders := bitset(s.holders[s.literal(Literal{c, v})])
			holders.clear(last)
			holders.set(r)
		}
	}
	s.rows[r], s.held[r], s.tabu[r] = s.rows[last], s.held[last], s.tabu[last]
	s.rows, s.held, s.tabu = s.rows[:last], s.held[:last], s.tabu[:last]
}

// leastMissed is the row, pinned ones apart, that alone holds the fewest tuples.
func (s *shrinker) leastMissed() int {
	best, fewest := -1, 0
	for r := s.pinned; r < len(s.rows); r++ {
		if alone := s.tally.alone(s.rows[r], s.held[r]); best < 0 || alone < fewest {
			best, fewest = r, alone
		}
	}
	return best
}

// search changes values until every tuple is covered; false where the effort is
// spent first.
func (s *shrinker) search(ctx context.Context) (bool, error) {
	fewest := s.tally.left()
	for s.tally.left() > 0 {
		if s.moves&1023 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		if s.spent >= s.effort {
			return false, nil
		}
		s.moves++
		s.spent++
		tuple := s.tally.pick(s.rng)
		if c, ok := s.best(tuple, fewest); ok {
			s.apply(c)
		} else {
			s.force(tuple)
		}
		fewest = min(fewest, s.tally.left())
	}
	return true, nil
}

// best is the change of one value that covers the tuple at the least loss, by
// chance among equals; a value changed lately stays, unless the change leaves
// fewer tuples than there ever were. No row holds the tuple, so the rows that
// hold all of it but one literal are weighed with that one.
func (s *shrinker) best(tuple Tuple, fewest int) (change, bool) {
	var found change
	least, equals := 0, 0
	for missing, l := range tuple {
		for word := range s.holders[0] {
			for rows := s.holdOthers(tuple, missing, word); rows != 0; rows &= rows - 1 {
				c := change{word<<6 + bits.TrailingZeros64(rows), l.Parameter, l.Value}
				if !s.allows(c) {
					continue
				}
				s.spent += s.weight
				loss := s.tally.loss(s.rows[c.row], s.held[c.row], c)
				if s.tabu[c.row][c.column] > s.moves && s.tally.left()+loss >= fewest {
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
	}
	return found, equals > 0
}

// holdOthers are 64 rows' bits: those that hold every literal but one.
func (s *shrinker) holdOthers(tuple Tuple, missing, word int) uint64 {
	rows := ^uint64(0)
	for i, l := range tuple {
		if i != missing {
			rows &= s.holders[s.literal(l)][word]
		}
	}
	return rows
}

// allows reports whether the row is still allowed with the change.
func (s *shrinker) allows(c change) bool {
	for _, id := range s.solver.of[s.literal(Literal{c.column, c.value})] {
		hit := true
		for _, l := range s.solver.forbidden[id] {
			if l.Parameter != c.column && s.rows[c.row][l.Parameter] != l.Value {
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
	s.tally.change(s.rows[c.row], c)
	s.put(c)
	s.tabu[c.row][c.column] = s.moves + 1 + s.rng.IntN(tenure)
}

// put writes a value and keeps the bits that say who holds what.
func (s *shrinker) put(c change) {
	from, to := s.literal(Literal{c.column, s.rows[c.row][c.column]}), s.literal(Literal{c.column, c.value})
	s.rows[c.row][c.column] = c.value
	s.held[c.row].clear(from)
	s.held[c.row].set(to)
	bitset(s.holders[from]).clear(c.row)
	bitset(s.holders[to]).set(c.row)
}

// force makes some row hold the tuple where no single allowed change does,
// keeping as many of its other values as the constraints let it.
func (s *shrinker) force(tuple Tuple) {
	r := s.pinned + s.rng.IntN(len(s.rows)-s.pinned)
	row := s.rows[r]
	mark := len(s.solver.trail)
	for _, l := range tuple {
		s.solver.assign(l.Parameter, l.Value) // the tuple is valid, so this cannot fail
	}
	for _, p := range s.rng.Perm(len(row)) {
		for i, n := 0, s.solver.sizes[p]; i < n; i++ {
			if s.solver.try(p, (row[p]+i)%n) {
				break
			}
		}
	}
	want := slices.Clone(s.solver.value)
	s.solver.undo(mark)
	// All at once: on the way from one allowed row to another lie rows that are not.
	s.tally.remove(row)
	for p, v := range want {
		s.put(change{r, p, v})
	}
	s.tally.insert(row)
}
