package engine

import (
	"cmp"
	"slices"
	"strings"

	"assay/engine/stats"
)

// SuspectLevel is the false-discovery rate of [Suspects], approximately: of ten that are
// named about one is expected to be chance. Convention.
const SuspectLevel = 0.10

// leastSuspects is in how many situations a combination must have been tried to be
// tested: of fewer not even all failing would say much.
const leastSuspects = 3

// SuspectUnit is one situation with its value of each field, and whether it fails, as
// at least half of its graded rollouts do. Situations are the units because the
// attempts at one say much the same.
type SuspectUnit struct {
	Values []string
	Failed bool
}

// Suspect is a combination of two or three values that goes with failure beyond what
// each part of it explains.
type Suspect struct {
	Fields []string // in the order of the fields asked about
	Values []string
	Failed int // situations that fail, of Units
	Units  int
	// Beside is the largest share that fails where one of its values is left out: of a
	// pair among those with one value and not the other, of a triple among those with
	// two and not the third.
	Beside float64
	P, Q   float64
}

// Suspects looks through all pairs and triples of values, and gives those with a
// false-discovery rate of [SuspectLevel] or less, the surest first, and how many
// were tested. The rate is approximate: it is proven for tests that are independent or
// lean the same way, and combinations that share a value can lean against each other.
// In noise the largest p of a combination is cautious enough that the level holds by
// simulation; the bound for any dependence (Benjamini and Yekutieli 2001, theorem 1.3)
// would ask about five times as much of each of fifty. A combination is tested against each of its parts by Fisher's exact
// test, one-sided; all of them must say that it is the worse, so its p is the largest
// (an intersection-union test: Berger 1982). Two values that each add their own failures
// are such a combination too: together they are worse than either. What no situation tells apart from one of
// its parts is not tested. A value that is "" is none.
func Suspects(fields []string, units []SuspectUnit) (found []Suspect, tested int) {
	s := suspicion{fields: fields, tally: map[string]tried{}}
	for i := range units {
		s.add(&units[i])
	}
	var all []Suspect
	for _, key := range s.order {
		if suspect, ok := s.test(key); ok {
			all = append(all, suspect)
		}
	}
	ps := make([]float64, len(all))
	for i := range all {
		ps[i] = all[i].P
	}
	for i, q := range stats.FalseDiscovery(ps) {
		if all[i].Q = q; q <= SuspectLevel {
			found = append(found, all[i])
		}
	}
	slices.SortStableFunc(found, func(a, b Suspect) int {
		return cmp.Or(cmp.Compare(a.Q, b.Q), cmp.Compare(a.P, b.P), cmp.Compare(b.excess(), a.excess()))
	})
	return found, len(all)
}

func (s *Suspect) excess() float64 { return float64(s.Failed)/float64(s.Units) - s.Beside }

type tried struct{ units, failed int }

// suspicion counts combinations of one to three values. The key of one is the value of
// each field, "" for any.
type suspicion struct {
	fields []string
	tally  map[string]tried
	order  []string // keys of pairs and triples, in the order in which they came
}

// apart stands between values of a key: no axis has it in a value.
const apart = "\x00"

func (s *suspicion) add(u *SuspectUnit) {
	n := len(s.fields)
	for i := range n {
		s.count(u, i)
		for j := i + 1; j < n; j++ {
			s.count(u, i, j)
			for k := j + 1; k < n; k++ {
				s.count(u, i, j, k)
			}
		}
	}
}

func (s *suspicion) count(u *SuspectUnit, at ...int) {
	parts := make([]string, len(s.fields))
	for _, i := range at {
		if u.Values[i] == "" {
			return
		}
		parts[i] = u.Values[i]
	}
	key := strings.Join(parts, apart)
	t, ok := s.tally[key]
	if !ok && len(at) > 1 {
		s.order = append(s.order, key)
	}
	t.units++
	if u.Failed {
		t.failed++
	}
	s.tally[key] = t
}

// test compares a combination with each of its parts; ok is false where it cannot be
// told apart from one, or was hardly tried.
func (s *suspicion) test(key string) (suspect Suspect, ok bool) {
	cell := s.tally[key]
	if cell.units < leastSuspects {
		return suspect, false
	}
	parts := strings.Split(key, apart)
	suspect.Failed, suspect.Units = cell.failed, cell.units
	for i, value := range parts {
		if value == "" {
			continue
		}
		suspect.Fields, suspect.Values = append(suspect.Fields, s.fields[i]), append(suspect.Values, value)
		without := slices.Clone(parts)
		without[i] = ""
		rest := s.tally[strings.Join(without, apart)]
		rest.units, rest.failed = rest.units-cell.units, rest.failed-cell.failed
		if rest.units == 0 {
			return suspect, false
		}
		suspect.P = max(suspect.P, stats.FisherGreater(cell.failed, cell.units, rest.failed, rest.units))
		suspect.Beside = max(suspect.Beside, float64(rest.failed)/float64(rest.units))
	}
	return suspect, true
}
