package cover

import (
	"fmt"
	"math/bits"
	"testing"
)

// The laws of a field, checked on all elements.
func TestFieldIsAField(t *testing.T) {
	for _, q := range []int{2, 3, 4, 5, 7, 8, 9, 11, 16, 25, 27} {
		f := newField(q)
		for a := range q {
			if f.add[a][0] != a || f.mul[a][1] != a || f.mul[a][0] != 0 {
				t.Fatalf("GF(%d): 0 or 1 is not neutral for %d", q, a)
			}
			sums, products := map[int]bool{}, map[int]bool{}
			for b := range q {
				sums[f.add[a][b]], products[f.mul[a][b]] = true, true
				if f.add[a][b] != f.add[b][a] || f.mul[a][b] != f.mul[b][a] {
					t.Fatalf("GF(%d): %d and %d do not commute", q, a, b)
				}
				for c := range q {
					if f.mul[a][f.add[b][c]] != f.add[f.mul[a][b]][f.mul[a][c]] || f.mul[a][f.mul[b][c]] != f.mul[f.mul[a][b]][c] {
						t.Fatalf("GF(%d): %d, %d, %d break distributivity or associativity", q, a, b, c)
					}
				}
			}
			if len(sums) != q || a > 0 && len(products) != q {
				t.Fatalf("GF(%d): %d has no inverse", q, a)
			}
		}
	}
}

func TestOrthogonalArrays(t *testing.T) {
	for _, c := range []struct{ q, strength, columns int }{{2, 2, 3}, {3, 2, 4}, {4, 2, 5}, {9, 2, 10}, {11, 2, 12}, {3, 3, 4}, {4, 3, 6}, {8, 3, 10}, {3, 4, 4}} {
		t.Run(fmt.Sprintf("%d^%d strength %d", c.q, c.columns, c.strength), func(t *testing.T) {
			rows := newField(c.q).orthogonal(c.strength)
			if len(rows) != power(c.q, c.strength) || len(rows[0]) != c.columns {
				t.Fatalf("%d rows of %d columns", len(rows), len(rows[0]))
			}
			for mask := 1; mask < 1<<c.columns; mask++ {
				if bits.OnesCount(uint(mask)) != c.strength {
					continue
				}
				seen := map[int]bool{}
				for _, row := range rows {
					key := 0
					for i, v := range row {
						if mask>>i&1 == 1 {
							key = key*c.q + v
						}
					}
					seen[key] = true
				}
				if len(seen) != len(rows) {
					t.Fatalf("columns %b hold %d of %d tuples", mask, len(seen), len(rows))
				}
			}
		})
	}
}

func TestPrimePower(t *testing.T) {
	want := map[int]bool{2: true, 3: true, 4: true, 5: true, 7: true, 8: true, 9: true, 11: true, 13: true, 16: true}
	for q := range 17 {
		if _, _, ok := primePower(q); ok != want[q] {
			t.Errorf("primePower(%d) says %v", q, ok)
		}
	}
}
