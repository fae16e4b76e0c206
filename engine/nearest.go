package engine

import (
	"slices"
	"strings"
)

// nearest is the known name that is closest to what was written, "" where none
// is near: at most a third of its letters may differ (convention, untested).
func nearest(written string, known []string) string {
	best, bestDistance := "", len(written)
	for _, name := range known {
		d := editDistance(strings.ToLower(written), strings.ToLower(name))
		if d < bestDistance || d == bestDistance && best != "" && name < best {
			best, bestDistance = name, d
		}
	}
	if bestDistance > max(1, len(written)/3) {
		return ""
	}
	return best
}

// editDistance counts insertions, deletions, substitutions and swaps of
// neighbours (optimal string alignment).
func editDistance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
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
		before, last = last, row
	}
	return last[len(b)]
}

// didYouMean is " (did you mean x?)", or the list of what there is.
func didYouMean(written string, known []string) string {
	if n := nearest(written, known); n != "" {
		return "; did you mean " + n + "?"
	}
	sorted := slices.Sorted(slices.Values(known))
	return "; known are " + strings.Join(sorted, ", ")
}
