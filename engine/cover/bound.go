package cover

import "slices"

// lowerBound is a number of rows that no array of the model goes below: the
// largest of what these say.
//
//   - The valid tuples of one set of columns need a row each.
//   - k free columns of two values need N rows with C(N-1, ceil(N/2)) >= k
//     (Kleitman and Spencer 1973, Katona 1973); more values need no fewer.
//   - v squared rows hold all pairs of at most v+1 free columns of v values
//     (Bush 1952), so more columns need a row more.
//   - At strength t the rows with one value of the widest free column form an
//     array of strength t-1 over the rest.
func lowerBound(m Model, sp *space) int {
	bound := 1
	sp.eachColumns(func(rank int, columns []int) {
		end := sp.total
		if rank+1 < len(sp.offset) {
			end = sp.offset[rank+1]
		}
		n := 0
		for number := sp.valid.next(sp.offset[rank]); number >= 0 && number < end; number = sp.valid.next(number + 1) {
			n++
		}
		bound = max(bound, n)
	})
	return max(bound, freeBound(freeSizes(m), sp.strength))
}

// freeSizes are the sizes of the columns that no constraint touches, largest
// first.
func freeSizes(m Model) []int {
	touched := make([]bool, len(m.Parameters))
	for _, t := range m.Forbidden {
		for _, l := range t {
			touched[l.Parameter] = true
		}
	}
	var sizes []int
	for i, n := range m.sizes() {
		if !touched[i] && n > 1 {
			sizes = append(sizes, n)
		}
	}
	slices.SortFunc(sizes, func(a, b int) int { return b - a })
	return sizes
}

func freeBound(sizes []int, strength int) int {
	if len(sizes) < strength || strength < 1 {
		return 1
	}
	if strength == 1 {
		return sizes[0]
	}
	if strength > 2 {
		return sizes[0] * freeBound(sizes[1:], strength-1)
	}
	bound := max(sizes[0]*sizes[1], binaryBound(len(sizes)))
	for i, v := range sizes {
		if i+1 >= v+2 { // i+1 columns have v values or more
			return max(bound, v*v+1)
		}
	}
	return bound
}

// binaryBound is the fewest rows that cover all pairs of k columns of two values.
func binaryBound(k int) int {
	if k < 2 {
		return 2
	}
	for n := 4; ; n++ {
		// C(n-1, ceil(n/2)) = C(n-1, floor(n/2)-1), stopped before it overflows.
		columns := 1
		for i := 1; i < n/2 && columns < k; i++ {
			columns = columns * (n - i) / i
		}
		if columns >= k {
			return n
		}
	}
}
