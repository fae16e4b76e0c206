package search

import (
	"slices"
	"strings"
	"unicode"

	"assay/engine/record"
)

// nearShare is how much of their word pairs two asks of one kind must share to
// be near-duplicates: at four fifths they differ in a phrase. Convention,
// untested.
const nearShare = 0.8

// seenTasks knows what was posed: equal tasks are one task, and of asks that read
// alike in worlds that are alike the later one is dropped.
type seenTasks struct {
	ids map[string]int // of each task, in asks
	// asks are those that were posed, each with its word pairs in order; byPair
	// finds those that share one of the pairs that a near-duplicate must share.
	asks   []seenAsk
	byPair map[uint64][]int
}

type seenAsk struct {
	situation, setting string
	pairs              []uint64
}

func newSeenTasks() seenTasks {
	return seenTasks{ids: map[string]int{}, byPair: map[uint64][]int{}}
}

func (s *seenTasks) equal(t *record.Task) bool {
	_, seen := s.ids[t.ID]
	return seen
}

// near says whether a task of another situation in a like setting reads nearly
// the same.
func (s *seenTasks) near(t *record.Task) bool {
	ask := askOf(t)
	for _, pair := range ask.prefix() {
		for _, i := range s.byPair[pair] {
			other := &s.asks[i]
			if other.situation != ask.situation && other.setting == ask.setting && jaccard(ask.pairs, other.pairs) >= nearShare {
				return true
			}
		}
	}
	return false
}

func (s *seenTasks) add(t *record.Task) {
	s.ids[t.ID] = len(s.asks)
	ask := askOf(t)
	for _, pair := range ask.prefix() {
		s.byPair[pair] = append(s.byPair[pair], len(s.asks))
	}
	s.asks = append(s.asks, ask)
}

// forget takes back a task whose words were replaced before anybody saw them.
func (s *seenTasks) forget(t *record.Task) {
	s.asks[s.ids[t.ID]].pairs = nil // like nothing
	delete(s.ids, t.ID)
}

// prefix is the part of the ordered pairs of which two sets as alike as nearShare
// must share one (the prefix filter of Chaudhuri, Ganti and Kaushik, 2006).
func (a *seenAsk) prefix() []uint64 {
	n := len(a.pairs)
	return a.pairs[:n-int(nearShare*float64(n)+0.999999)+min(n, 1)]
}

// askOf is a task as near-duplicates see it: ids and numbers are one to it, and
// what the world does to the ask is its setting.
func askOf(t *record.Task) seenAsk {
	ask := seenAsk{situation: t.SituationID, setting: t.Origin}
	if t.Axes != nil {
		ask.setting = t.Axes[record.AxisTool] + "\x00" + t.Axes[record.AxisWorldState] + "\x00" + t.Axes[record.AxisToolCondition]
	}
	words := strings.FieldsFunc(strings.ToLower(string(t.Ask)), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '-' && c != '_' && c != '\''
	})
	previous := ""
	for _, w := range words {
		if strings.ContainsFunc(w, unicode.IsDigit) {
			w = "#"
		}
		ask.pairs = append(ask.pairs, pairHash(previous, w))
		previous = w
	}
	slices.Sort(ask.pairs)
	ask.pairs = slices.Compact(ask.pairs)
	return ask
}

// pairHash is FNV-1a over two words: the same on every machine.
func pairHash(a, b string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for _, s := range [2]string{a, b} {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * prime
		}
		h = (h ^ 0xff) * prime
	}
	return h
}

// jaccard is the share of the union that two sorted sets have in common.
func jaccard(a, b []uint64) float64 {
	common, i, j := 0, 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			common, i, j = common+1, i+1, j+1
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	union := len(a) + len(b) - common
	if union == 0 {
		return 0
	}
	return float64(common) / float64(union)
}
