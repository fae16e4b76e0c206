package record

import "strings"

// Nearest is the known word that is closest to what was written, whatever the
// case, or "" where none is near. Closeness counts insertions, deletions,
// substitutions and swaps of neighbours (optimal string alignment, after Damerau
// 1964); a word of which more than half the letters would have to change is not
// near (convention, untested). Of two as close the first stands.
func Nearest(written string, known []string) string {
	word := []rune(strings.ToLower(written))
	best, limit := "", max(1, len(word)/2)+1
	for _, candidate := range known {
		if d := alignment(word, []rune(strings.ToLower(candidate))); d < limit {
			best, limit = candidate, d
		}
	}
	return best
}

// alignment is the optimal string alignment distance of two words.
func alignment(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
