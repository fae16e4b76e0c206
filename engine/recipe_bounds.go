package engine

import (
	"fmt"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"

	"assay/engine/record"
)

// Bounds on the text of a recipe.yaml. The YAML parser calls itself for every
// level, and a stack that overflows ends the process without a word; its time grows
// faster than the text. Convention, untested: a recipe by hand is a few KiB and six
// levels deep, and schemas written into it are some dozens of levels at most.
const (
	maxRecipeBytes = 1 << 20
	maxRecipeDepth = 100
)

// boundRecipe refuses a text that is too large or too deeply nested to parse.
func boundRecipe(text []byte) error {
	if len(text) > maxRecipeBytes {
		return &record.Problem{Code: "bad_recipe", Message: fmt.Sprintf("the recipe has %d bytes, over %d", len(text), maxRecipeBytes),
			Where: RecipeFile, Fix: "move long texts and schemas into files beside it, and name those"}
	}
	if t := tooDeep(lexer.Tokenize(string(text))); t != nil {
		return &record.Problem{Code: "bad_recipe", Message: fmt.Sprintf("the recipe is nested more than %d levels deep here", maxRecipeDepth),
			Where: fmt.Sprintf("%s:%d:%d", RecipeFile, t.Position.Line, t.Position.Column), Fix: "write it flatter"}
	}
	return nil
}

// tooDeep is the first token deeper than [maxRecipeDepth], nil where none is: by the
// brackets that are open, and by the columns at which blocks begin.
func tooDeep(tokens token.Tokens) *token.Token {
	brackets := 0
	var blocks []int // columns, growing
	line, begins := 0, true
	for _, t := range tokens {
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			brackets++
		case token.MappingEndType, token.SequenceEndType:
			brackets = max(0, brackets-1)
		}
		if begins || t.Position.Line != line {
			for len(blocks) > 0 && blocks[len(blocks)-1] >= t.Position.Column {
				blocks = blocks[:len(blocks)-1]
			}
			blocks = append(blocks, t.Position.Column)
		}
		line = t.Position.Line
		begins = t.Type == token.SequenceEntryType || t.Type == token.MappingKeyType // "- - a" begins two blocks in one line
		if brackets+len(blocks) > maxRecipeDepth {
			return t
		}
	}
	return nil
}
