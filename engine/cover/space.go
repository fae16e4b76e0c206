package cover

import (
	"math"
	"math/bits"
	"slices"
)

// space numbers the t-tuples of a model and knows which of them can be covered.
// The tuples of one set of columns are numbered in a row, values in mixed radix;
// the sets of columns in the combinatorial number system (Lehmer 1964), so that
// a tuple's number is found without a table of strings.
type space struct {
	sizes    []int
	strength int
	choose   [][]int // choose[n][r], the binomial coefficient
	offset   []int   // number of the first tuple of each set of columns
	total    int
	valid    bitset
	planned  int
}

type bitset []uint64

func newBitset(n int) bitset    { return make(bitset, (n+63)/64) }
func (b bitset) has(i int) bool { return b[i>>6]>>(i&63)&1 == 1 }
func (b bitset) set(i int)      { b[i>>6] |= 1 << (i & 63) }
func (b bitset) clear(i int)    { b[i>>6] &^= 1 << (i & 63) }
func (b bitset) count() (n int) {
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// next is the first set bit at or after from; -1 where there is none.
func (b bitset) next(from int) int {
	for w := from >> 6; w < len(b); w++ {
		word := b[w]
		if w == from>>6 {
			word &= ^uint64(0) << (from & 63)
		}
		if word != 0 {
			return w<<6 + bits.TrailingZeros64(word)
		}
	}
	return -1
}

// tuplesOf counts the tuples of t columns, stopping above maxTuples.
func tuplesOf(sizes []int, t int) int {
	// sums[r] is the elementary symmetric polynomial of degree r of the sizes.
	sums := make([]int, t+1)
	sums[0] = 1
	for _, n := range sizes {
		for r := t; r > 0; r-- {
			if sums[r-1] > math.MaxInt32 || n > math.MaxInt32 {
				return math.MaxInt
			}
			sums[r] += sums[r-1] * n
		}
	}
	return sums[t]
}

func newSpace(sizes []int, strength int, s *solver) *space {
	sp := &space{sizes: sizes, strength: strength, choose: binomials(len(sizes), strength)}
	sp.offset = make([]int, sp.choose[len(sizes)][strength])
	sp.eachColumns(func(rank int, columns []int) {
		n := 1
		for _, c := range columns {
			n *= sizes[c]
		}
		sp.offset[rank] = n
	})
	for rank, n := range sp.offset {
		sp.offset[rank] = sp.total
		sp.total += n
	}
	sp.valid = newBitset(sp.total)
	sp.eachColumns(func(rank int, columns []int) { sp.markValid(rank, columns, s) })
	sp.planned = sp.valid.count()
	return sp
}

// binomials are the binomial coefficients up to n over r.
func binomials(n, r int) [][]int {
	choose := make([][]int, n+1)
	for i := range choose {
		choose[i] = make([]int, r+1)
		choose[i][0] = 1
		for j := 1; i > 0 && j <= r; j++ {
			choose[i][j] = choose[i-1][j-1] + choose[i-1][j]
		}
	}
	return choose
}

// eachColumns calls f for every set of columns in the order of their ranks.
func (sp *space) eachColumns(f func(rank int, columns []int)) {
	columns := make([]int, sp.strength)
	for i := range columns {
		columns[i] = i
	}
	for rank := 0; ; rank++ {
		f(rank, columns)
		i := 0
		for i < len(columns)-1 && columns[i]+1 == columns[i+1] {
			columns[i] = i
			i++
		}
		if i == len(columns)-1 && columns[i]+1 == len(sp.sizes) {
			return
		}
		columns[i]++
	}
}

func (sp *space) markValid(rank int, columns []int, s *solver) {
	tuple := make(Tuple, len(columns))
	for i, c := range columns {
		tuple[i] = Literal{Parameter: c}
	}
	for number := sp.offset[rank]; ; number++ {
		if s.valid(tuple) {
			sp.valid.set(number)
		}
		i := len(tuple) - 1
		for i >= 0 && tuple[i].Value == sp.sizes[columns[i]]-1 {
			tuple[i].Value = 0
			i--
		}
		if i < 0 {
			return
		}
		tuple[i].Value++
	}
}

// tuple is the tuple of that number.
func (sp *space) tuple(number int) Tuple {
	rank, found := slices.BinarySearch(sp.offset, number)
	if !found {
		rank--
	}
	t := make(Tuple, sp.strength)
	left := rank
	for i := sp.strength - 1; i >= 0; i-- {
		c := i
		for c+1 < len(sp.choose) && sp.choose[c+1][i+1] <= left {
			c++
		}
		left -= sp.choose[c][i+1]
		t[i].Parameter = c
	}
	value := number - sp.offset[rank]
	for i := sp.strength - 1; i >= 0; i-- {
		n := sp.sizes[t[i].Parameter]
		t[i].Value = value % n
		value /= n
	}
	return t
}

// eachOf calls f with the number of every tuple that a row holds. Columns whose
// value is -1 or not to be covered are passed over.
func (sp *space) eachOf(row []int, f func(number int)) {
	usable := make([]int, 0, len(row))
	for c, v := range row {
		if v >= 0 && v < sp.sizes[c] {
			usable = append(usable, c)
		}
	}
	sp.walk(row, usable, 0, 0, 0, f)
}

func (sp *space) walk(row, columns []int, depth, rank, value int, f func(int)) {
	if depth == sp.strength {
		f(sp.offset[rank] + value)
		return
	}
	for i, c := range columns {
		if len(columns)-i < sp.strength-depth {
			return
		}
		sp.walk(row, columns[i+1:], depth+1, rank+sp.choose[c][depth+1], value*sp.sizes[c]+row[c], f)
	}
}

// with calls f for every set of t-1 of the given columns (ascending, without p)
// joined with p: the tuple that has p at value v is number first + v*stride. It
// is the inner loop of the generator at strengths above two.
func (sp *space) with(row, columns []int, p int, f func(first, stride int)) {
	sp.join(row, columns, p, 0, 0, 0, 0, f)
}

// join extends a partial set of columns; stride is 0 until p is in it.
func (sp *space) join(row, columns []int, p, depth, rank, value, stride int, f func(first, stride int)) {
	if depth == sp.strength {
		f(sp.offset[rank]+value, stride)
		return
	}
	if stride > 0 {
		for i, c := range columns {
			sp.join(row, columns[i+1:], p, depth+1, rank+sp.choose[c][depth+1], value*sp.sizes[c]+row[c], stride*sp.sizes[c], f)
		}
		return
	}
	at, _ := slices.BinarySearch(columns, p)
	if depth+1 < sp.strength { // one place is p's own
		for i, c := range columns[:at] {
			sp.join(row, columns[i+1:], p, depth+1, rank+sp.choose[c][depth+1], value*sp.sizes[c]+row[c], 0, f)
		}
	}
	sp.join(row, columns[at:], p, depth+1, rank+sp.choose[p][depth+1], value*sp.sizes[p], 1, f)
}
