package axes

import (
	"fmt"

	"assay/engine/record"
)

// Suggest is ` (did you mean "x"?)` for the candidate nearest to a misspelt
// word, or "" where none is near.
func Suggest(word string, candidates []string) string {
	if near := record.Nearest(word, candidates); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}
