package cover

import (
	"math/bits"
	"math/rand/v2"
)

// tally counts how many rows hold each tuple, and weighs changes of one value.
type tally interface {
	// left is how many valid tuples no row holds; pick is one of them by chance.
	left() int
	pick(rng *rand.Rand) Tuple
	// insert and remove count a whole row.
	insert(row []int)
	remove(row []int)
	// alone is how many tuples only this row holds; a pair may count twice, as long
	// as it does in every row.
	alone(row []int, held bitset) int
	// loss is how many more tuples would be left after the change.
	loss(row []int, held bitset, c change) int
	change(row []int, c change)
}

// change is one value of one row that would be another.
type change struct {
	row, column, value int
}

// openSet is a set of numbers with a draw by chance.
type openSet struct {
	list  []int32
	place []int32 // number to its place in list, -1 where it is not in the set
}

func newOpenSet(n int) openSet {
	s := openSet{place: make([]int32, n)}
	for i := range s.place {
		s.place[i] = -1
	}
	return s
}

func (s *openSet) add(number int) {
	s.place[number] = int32(len(s.list))
	s.list = append(s.list, int32(number))
}

func (s *openSet) drop(number int) {
	at, last := s.place[number], s.list[len(s.list)-1]
	s.list[at], s.place[last] = last, at
	s.list, s.place[number] = s.list[:len(s.list)-1], -1
}

// pairTally is a tally at strength 2. A change is weighed by a few words of bits:
// which of the row's literals would meet a partner for the first time, and which
// lose their only meeting.
type pairTally struct {
	first    []int
	columnOf []int
	width    int      // words in a set of literals
	count    []uint16 // pair a*n+b, a < b
	never    []uint64 // literal: the literals it meets in no row
	once     []uint64 // literal: those it meets in exactly one
	open     openSet
}

func newPairTally(sp *space, first, columnOf []int) *pairTally {
	n := len(columnOf)
	t := &pairTally{first: first, columnOf: columnOf, width: (n + 63) / 64, count: make([]uint16, n*n), open: newOpenSet(n * n)}
	t.never, t.once = make([]uint64, n*t.width), make([]uint64, n*t.width)
	for number := sp.valid.next(0); number >= 0; number = sp.valid.next(number + 1) {
		pair := sp.tuple(number)
		a, b := first[pair[0].Parameter]+pair[0].Value, first[pair[1].Parameter]+pair[1].Value
		t.flip(t.never, a, b)
		t.open.add(a*n + b)
	}
	return t
}

func (t *pairTally) left() int { return len(t.open.list) }

func (t *pairTally) pick(rng *rand.Rand) Tuple {
	pair := int(t.open.list[rng.IntN(len(t.open.list))])
	a, b := pair/len(t.columnOf), pair%len(t.columnOf)
	return Tuple{t.literal(a), t.literal(b)}
}

func (t *pairTally) literal(l int) Literal {
	c := t.columnOf[l]
	return Literal{c, l - t.first[c]}
}

func (t *pairTally) insert(row []int) { t.each(row, t.meet) }
func (t *pairTally) remove(row []int) { t.each(row, t.part) }

func (t *pairTally) each(row []int, f func(a, b int)) {
	for i, v := range row {
		for j := i + 1; j < len(row); j++ {
			f(t.first[i]+v, t.first[j]+row[j])
		}
	}
}

// meet counts one more row with both literals, a < b.
func (t *pairTally) meet(a, b int) {
	pair := a*len(t.columnOf) + b
	t.count[pair]++
	switch t.count[pair] {
	case 1:
		t.flip(t.never, a, b)
		t.flip(t.once, a, b)
		t.open.drop(pair)
	case 2:
		t.flip(t.once, a, b)
	}
}

// part counts one row less with both literals, a < b.
func (t *pairTally) part(a, b int) {
	pair := a*len(t.columnOf) + b
	t.count[pair]--
	switch t.count[pair] {
	case 0:
		t.flip(t.never, a, b)
		t.flip(t.once, a, b)
		t.open.add(pair)
	case 1:
		t.flip(t.once, a, b)
	}
}

func (t *pairTally) flip(sets []uint64, a, b int) {
	sets[a*t.width+b>>6] ^= 1 << (b & 63)
	sets[b*t.width+a>>6] ^= 1 << (a & 63)
}

func (t *pairTally) alone(row []int, held bitset) (n int) {
	for c, v := range row {
		once := t.once[(t.first[c]+v)*t.width:][:len(held)]
		for i, w := range held {
			n += bits.OnesCount64(once[i] & w)
		}
	}
	return n
}

func (t *pairTally) loss(row []int, held bitset, c change) (loss int) {
	once := t.once[(t.first[c.column]+row[c.column])*t.width:][:len(held)]
	never := t.never[(t.first[c.column]+c.value)*t.width:][:len(held)]
	for i, w := range held {
		loss += bits.OnesCount64(once[i]&w) - bits.OnesCount64(never[i]&w)
	}
	return loss
}

func (t *pairTally) change(row []int, c change) {
	from, to := t.first[c.column]+row[c.column], t.first[c.column]+c.value
	for p, v := range row[:c.column] {
		t.part(t.first[p]+v, from)
		t.meet(t.first[p]+v, to)
	}
	for p := c.column + 1; p < len(row); p++ {
		t.part(from, t.first[p]+row[p])
		t.meet(to, t.first[p]+row[p])
	}
}

// tupleTally is a tally at any strength, by the numbers of the tuples.
type tupleTally struct {
	sp     *space
	others [][]int // column to all but itself
	count  []uint16
	open   openSet
}

func newTupleTally(sp *space) *tupleTally {
	t := &tupleTally{sp: sp, count: make([]uint16, sp.total), open: newOpenSet(sp.total)}
	for number := sp.valid.next(0); number >= 0; number = sp.valid.next(number + 1) {
		t.open.add(number)
	}
	for p := range sp.sizes {
		var others []int
		for c := range sp.sizes {
			if c != p {
				others = append(others, c)
			}
		}
		t.others = append(t.others, others)
	}
	return t
}

func (t *tupleTally) left() int { return len(t.open.list) }

func (t *tupleTally) pick(rng *rand.Rand) Tuple {
	return t.sp.tuple(int(t.open.list[rng.IntN(len(t.open.list))]))
}

func (t *tupleTally) insert(row []int) { t.sp.eachOf(row, t.meet) }
func (t *tupleTally) remove(row []int) { t.sp.eachOf(row, t.part) }

func (t *tupleTally) meet(number int) {
	if t.count[number]++; t.count[number] == 1 {
		t.open.drop(number)
	}
}

func (t *tupleTally) part(number int) {
	if t.count[number]--; t.count[number] == 0 {
		t.open.add(number)
	}
}

func (t *tupleTally) alone(row []int, _ bitset) (n int) {
	t.sp.eachOf(row, func(number int) {
		if t.count[number] == 1 {
			n++
		}
	})
	return n
}

func (t *tupleTally) loss(row []int, _ bitset, c change) (loss int) {
	from := row[c.column]
	t.sp.with(row, t.others[c.column], c.column, func(first, stride int) {
		if t.count[first+from*stride] == 1 {
			loss++
		}
		if t.count[first+c.value*stride] == 0 {
			loss--
		}
	})
	return loss
}

func (t *tupleTally) change(row []int, c change) {
	from := row[c.column]
	t.sp.with(row, t.others[c.column], c.column, func(first, stride int) {
		t.part(first + from*stride)
		t.meet(first + c.value*stride)
	})
}
