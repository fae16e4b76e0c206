package cover

// field is the finite field of q elements, as tables. Elements are 0 to q-1, of
// which 0 and 1 are the neutral ones.
type field struct {
	q        int
	add, mul [][]int
}

// primePower is the prime and the exponent that make q; false where q is no
// power of a prime.
func primePower(q int) (prime, exponent int, ok bool) {
	for prime = 2; prime <= q; prime++ {
		if q%prime != 0 {
			continue
		}
		for q%prime == 0 {
			q /= prime
			exponent++
		}
		return prime, exponent, q == 1
	}
	return 0, 0, false
}

// newField is the field of q elements, q a prime power: polynomials over the
// integers modulo the prime, taken modulo the first irreducible one of the right
// degree. Element e stands for the polynomial whose coefficients are e's digits.
func newField(q int) field {
	p, n, _ := primePower(q)
	modulus := digits(q, p, n+1) // x^n
	for n > 1 && reducible(modulus, p) {
		modulus = digits(number(modulus, p)+1, p, n+1)
	}
	f := field{q: q, add: make([][]int, q), mul: make([][]int, q)}
	for a := range q {
		f.add[a], f.mul[a] = make([]int, q), make([]int, q)
		x := digits(a, p, n)
		for b := range q {
			y := digits(b, p, n)
			sum, product := make([]int, n), make([]int, 2*n-1)
			for i := range n {
				sum[i] = (x[i] + y[i]) % p
				for j := range n {
					product[i+j] = (product[i+j] + x[i]*y[j]) % p
				}
			}
			f.add[a][b] = number(sum, p)
			f.mul[a][b] = number(remainder(product, modulus, p), p)
		}
	}
	return f
}

// digits are the n lowest digits of e in base p, the lowest first.
func digits(e, p, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = e % p
		e /= p
	}
	return out
}

// number is what digits are the digits of.
func number(digits []int, p int) int {
	e := 0
	for i := len(digits) - 1; i >= 0; i-- {
		e = e*p + digits[i]
	}
	return e
}

// reducible reports whether a monic polynomial has a monic factor of lower
// degree, by trying them all.
func reducible(m []int, p int) bool {
	for degree := 1; 2*degree < len(m); degree++ {
		first := number(append(make([]int, degree), 1), p) // x^degree
		for e := first; e < 2*first; e++ {
			if number(remainder(m, digits(e, p, degree+1), p), p) == 0 {
				return true
			}
		}
	}
	return false
}

// remainder is a polynomial modulo a monic one, over the integers modulo p.
func remainder(a, monic []int, p int) []int {
	rest := append([]int(nil), a...)
	degree := len(monic) - 1
	for i := len(rest) - 1; i >= degree; i-- {
		lead := rest[i]
		for j := range monic {
			rest[i-degree+j] = (rest[i-degree+j] + (p-lead)*monic[j]) % p
		}
	}
	return rest[:min(degree, len(rest))]
}

// orthogonal is an array of q^t rows and q+1 columns in which any t columns hold
// every t-tuple exactly once (Bush 1952): a row for every polynomial of degree
// below t, its values at the field's elements and its leading coefficient. At
// strength 3 over a field of even size the coefficient before it is a column too.
func (f field) orthogonal(t int) [][]int {
	rows := 1
	for range t {
		rows *= f.q
	}
	out := make([][]int, rows)
	for i := range out {
		coefficients := digits(i, f.q, t)
		row := make([]int, f.q+1)
		for x := range f.q {
			value := 0
			for j := t - 1; j >= 0; j-- {
				value = f.add[f.mul[value][x]][coefficients[j]]
			}
			row[x] = value
		}
		row[f.q] = coefficients[t-1]
		if t == 3 && f.q%2 == 0 {
			row = append(row, coefficients[1])
		}
		out[i] = row
	}
	return out
}
