package engine

import (
	"fmt"
	"strings"
	"testing"
)

// A parser that calls itself for every level overflows its stack, which ends the
// process: no test could catch it, so the text is refused before.
func TestRecipeThatIsTooDeepOrTooLargeIsRefusedBeforeItIsParsed(t *testing.T) {
	var blocks strings.Builder
	for i := range 150 {
		fmt.Fprintf(&blocks, "%sa:\n", strings.Repeat(" ", i))
	}
	for name, c := range map[string]struct{ text, says string }{
		"lists":    {"name: " + strings.Repeat("[", 100_000), "nested more than 100 levels"},
		"mappings": {"name: " + strings.Repeat("{a: ", 50_000), "nested more than 100 levels"},
		"entries":  {"cut:\n" + strings.Repeat("- ", 50_000) + "sft\n", "nested more than 100 levels"},
		"keys":     {strings.Repeat("? ", 50_000) + "a\n", "nested more than 100 levels"},
		"blocks":   {blocks.String(), "nested more than 100 levels"},
		"size":     {"name: x\n# " + strings.Repeat("x", maxRecipeBytes), "over 1048576"},
	} {
		if _, err := ParseRecipe([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.says)
		}
	}
}

func TestRecipeDepthCountsNoBracketsInTexts(t *testing.T) {
	text := "name: x\nsystem_prompt: |\n" + strings.Repeat("  ((( [[[ {{{ - - - ? ?\n", 200) + "simulate: {seeds: [\"" + strings.Repeat("[{", 200) + "\"]}\n"
	if err := boundRecipe([]byte(text)); err != nil {
		t.Error(err)
	}
}
