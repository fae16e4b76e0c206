package ui

// Question is one kind of question that is answered away from the loop: at most
// one is on its way, the latest wish is asked next, and answers to older
// generations are dropped. The zero value has asked nothing.
type Question struct {
	gen   int
	busy  bool
	again bool
}

// Ask reports whether to ask now; if not, the wish is kept.
func (q *Question) Ask() (gen int, now bool) {
	if q.busy {
		q.again = true
		return 0, false
	}
	q.busy = true
	return q.gen, true
}

// Answered takes note of an answer: current says that it is not outdated, again
// that the question was asked anew meanwhile.
func (q *Question) Answered(gen int) (current, again bool) {
	q.busy = false
	again, q.again = q.again, false
	return gen == q.gen, again
}

// Drop makes what is on its way outdated.
func (q *Question) Drop() { q.gen++ }

// Busy reports whether an answer is awaited.
func (q *Question) Busy() bool { return q.busy }
