package engine

import (
	"slices"
	"strings"

	"assay/engine/record"
)

// didYouMean is "; did you mean x?", or the list of what there is.
func didYouMean(written string, known []string) string {
	sorted := slices.Sorted(slices.Values(known))
	if near := record.Nearest(written, sorted); near != "" {
		return "; did you mean " + near + "?"
	}
	return "; known are " + strings.Join(sorted, ", ")
}
