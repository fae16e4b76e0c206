package cut

import (
	"slices"
	"strings"
	"unicode"

	"assay/engine/record"
)

// conductMarker is the name under which conduct rules report.
const conductMarker = "conduct"

// junkRules are the conduct rules after which a rollout teaches nothing but noise:
// whatever its grade, it is no attempt at the task.
var junkRules = []string{"empty_reply", "infrastructure_stub", "degenerate_output", "leaked_harness"}

// junk finds rollouts that are no attempt: no word said, or a conduct rule says so.
func junk(c *candidate) string {
	if !strings.ContainsFunc(string(c.sample.Rollout.FinalText), wordy) {
		return "the reply holds no word"
	}
	for i := range c.sample.Markers {
		m := &c.sample.Markers[i]
		if m.Name != conductMarker || m.Status != record.MarkerOK {
			continue
		}
		for _, e := range m.Evidence {
			if slices.Contains(junkRules, e.Rule) {
				return "conduct: " + e.Rule
			}
		}
	}
	return ""
}

func wordy(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
