package axes

import (
	"fmt"
	"strings"
)

// Suggest is ` (did you mean "x"?)` for the candidate nearest to a misspelt
// word, or "" where none is near.
func Suggest(word string, candidates []string) string {
	best, at := len(word)/2+1, -1
	for i, c := range candidates {
		if d := distance(strings.ToLower(word), strings.ToLower(c)); d < best {
			best, at = d, i
		}
	}
	if at < 0 {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", candidates[at])
}

// distance is the number of single-rune edits between two words (Levenshtein
// 1966).
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(x); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(y); j++ {
			change := diagonal
			if x[i-1] != y[j-1] {
				change++
			}
			diagonal = row[j]
			row[j] = min(change, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(y)]
}
