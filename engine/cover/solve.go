package cover

// solver answers whether some values can be completed to an allowed row. It
// assigns and takes back values with propagation: where all but one value of a
// forbidden tuple stand in the row, the last is blocked, and a parameter left
// with one value takes it. Not safe for concurrent use.
type solver struct {
	sizes     []int
	first     []int // first literal of each parameter; literal = first + value
	forbidden []Tuple
	of        [][]int32 // literal to the forbidden tuples that hold it
	touching  [][]int32 // parameter to the forbidden tuples with a value of it
	bound     []int     // the parameters in some forbidden tuple, ascending

	value   []int   // assigned value, -1 for none
	blocked []int32 // literal to the number of reasons it may not be taken
	open    []int   // parameter to its values not blocked
	held    []int32 // tuple to its literals assigned so
	dead    []int32 // tuple to its parameters assigned otherwise
	trail   []step
	queue   []Literal
	memo    map[[MaxStrength]int32]bool
}

// step is one entry of the trail: an assignment, or a blocking (block true).
type step struct {
	literal int32
	param   int32
	block   bool
}

// newSolver is a solver over the first sizes[i] values of each parameter.
// Forbidden tuples with a value beyond them can never be held and are left out.
func newSolver(sizes []int, forbidden []Tuple) *solver {
	s := &solver{sizes: sizes, first: make([]int, len(sizes)+1), memo: map[[MaxStrength]int32]bool{}}
	for i, n := range sizes {
		s.first[i+1] = s.first[i] + n
	}
	s.of = make([][]int32, s.first[len(sizes)])
	s.touching = make([][]int32, len(sizes))
	for _, t := range forbidden {
		s.add(t)
	}
	for i := range sizes {
		if len(s.touching[i]) > 0 {
			s.bound = append(s.bound, i)
		}
	}
	s.value = make([]int, len(sizes))
	s.open = make([]int, len(sizes))
	for i := range sizes {
		s.value[i], s.open[i] = -1, sizes[i]
	}
	s.blocked = make([]int32, len(s.of))
	s.held = make([]int32, len(s.forbidden))
	s.dead = make([]int32, len(s.forbidden))
	return s
}

func (s *solver) add(t Tuple) {
	for _, l := range t {
		if l.Value >= s.sizes[l.Parameter] {
			return
		}
	}
	id := int32(len(s.forbidden))
	s.forbidden = append(s.forbidden, t)
	for _, l := range t {
		s.of[s.first[l.Parameter]+l.Value] = append(s.of[s.first[l.Parameter]+l.Value], id)
		s.touching[l.Parameter] = append(s.touching[l.Parameter], id)
	}
}

// start blocks what single-value tuples forbid, for good, and reports whether
// any row is allowed. It is called once, before anything else.
func (s *solver) start() bool {
	for _, t := range s.forbidden {
		if len(t) == 1 && !s.block(t[0]) {
			return false
		}
	}
	return s.propagate() && s.completable()
}

// assign takes a value and all that follows from it; false where that leads to a
// contradiction. Either way the caller takes it back with undo(mark).
func (s *solver) assign(param, value int) bool {
	s.queue = append(s.queue[:0], Literal{param, value})
	return s.propagate()
}

func (s *solver) propagate() bool {
	for len(s.queue) > 0 {
		l := s.queue[len(s.queue)-1]
		s.queue = s.queue[:len(s.queue)-1]
		if s.value[l.Parameter] == l.Value {
			continue
		}
		if s.value[l.Parameter] >= 0 || s.blocked[s.first[l.Parameter]+l.Value] > 0 {
			s.queue = s.queue[:0]
			return false
		}
		if !s.take(l) {
			s.queue = s.queue[:0]
			return false
		}
	}
	return true
}

// take assigns one literal and blocks what it makes impossible.
func (s *solver) take(l Literal) bool {
	lit := s.first[l.Parameter] + l.Value
	s.value[l.Parameter] = l.Value
	s.trail = append(s.trail, step{literal: int32(lit), param: int32(l.Parameter)})
	for _, id := range s.touching[l.Parameter] {
		s.dead[id]++
	}
	for _, id := range s.of[lit] {
		s.dead[id]--
		s.held[id]++
	}
	for _, id := range s.of[lit] {
		t := s.forbidden[id]
		if s.dead[id] > 0 || int(s.held[id]) < len(t)-1 {
			continue
		}
		if int(s.held[id]) == len(t) {
			return false
		}
		for _, rest := range t {
			if s.value[rest.Parameter] < 0 && !s.block(rest) {
				return false
			}
		}
	}
	return true
}

// block forbids one literal for now and queues a value that is left alone.
func (s *solver) block(l Literal) bool {
	lit := s.first[l.Parameter] + l.Value
	s.blocked[lit]++
	s.trail = append(s.trail, step{literal: int32(lit), param: int32(l.Parameter), block: true})
	if s.blocked[lit] > 1 {
		return true
	}
	s.open[l.Parameter]--
	switch s.open[l.Parameter] {
	case 0:
		return false
	case 1:
		for v := range s.sizes[l.Parameter] {
			if s.blocked[s.first[l.Parameter]+v] == 0 {
				s.queue = append(s.queue, Literal{l.Parameter, v})
				return true
			}
		}
	}
	return true
}

// undo takes back everything since the trail had that length.
func (s *solver) undo(mark int) {
	for len(s.trail) > mark {
		last := s.trail[len(s.trail)-1]
		s.trail = s.trail[:len(s.trail)-1]
		if last.block {
			if s.blocked[last.literal]--; s.blocked[last.literal] == 0 {
				s.open[last.param]++
			}
			continue
		}
		s.value[last.param] = -1
		for _, id := range s.of[last.literal] {
			s.dead[id]++
			s.held[id]--
		}
		for _, id := range s.touching[last.param] {
			s.dead[id]--
		}
	}
	s.queue = s.queue[:0]
}

// completable reports whether the present assignment extends to an allowed row.
func (s *solver) completable() bool {
	mark := len(s.trail)
	ok := s.search()
	s.undo(mark)
	return ok
}

// search assigns every parameter that a constraint touches, the tightest first;
// false leaves the assignment as it was found.
func (s *solver) search() bool {
	pick := -1
	for _, p := range s.bound {
		if s.value[p] < 0 && (pick < 0 || s.open[p] < s.open[pick]) {
			pick = p
		}
	}
	if pick < 0 {
		return true
	}
	for v := range s.sizes[pick] {
		if s.blocked[s.first[pick]+v] > 0 {
			continue
		}
		mark := len(s.trail)
		if s.assign(pick, v) && s.search() {
			return true
		}
		s.undo(mark)
	}
	return false
}

// try assigns a value if the row can still be completed then; false leaves the
// assignment as it was.
func (s *solver) try(param, value int) bool {
	if s.value[param] == value {
		return true
	}
	if s.value[param] >= 0 || s.blocked[s.first[param]+value] > 0 {
		return false
	}
	mark := len(s.trail)
	if s.assign(param, value) && (len(s.touching[param]) == 0 || s.completable()) {
		return true
	}
	s.undo(mark)
	return false
}

// valid reports whether some allowed row holds the values. It remembers answers,
// which are asked for once per tuple but depend only on the constrained values.
func (s *solver) valid(t Tuple) bool {
	var key [MaxStrength]int32
	n := 0
	for _, l := range t {
		if len(s.touching[l.Parameter]) > 0 {
			key[n] = int32(s.first[l.Parameter]+l.Value) + 1
			n++
		}
	}
	if n == 0 {
		return true
	}
	if ok, known := s.memo[key]; known {
		return ok
	}
	mark := len(s.trail)
	ok := true
	for _, l := range t {
		if len(s.touching[l.Parameter]) > 0 && !s.assign(l.Parameter, l.Value) {
			ok = false
			break
		}
	}
	ok = ok && s.search()
	s.undo(mark)
	s.memo[key] = ok
	return ok
}
