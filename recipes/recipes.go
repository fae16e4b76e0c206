// Package recipes holds what a person runs first: folders with a recipe.yaml, a
// README and what they need, numbered by what they teach, embedded in the
// binary. It imports nothing of the project; who runs a recipe writes it to a
// folder first, since commands need one to run in.
package recipes

import (
	"embed"
	"io/fs"
	"path"
)

//go:embed 01-simulate
var files embed.FS

// Recipe is one embedded recipe.
type Recipe struct {
	Name  string   // the last part of Path
	Title string   // one line, for a list
	Path  string   // its folder in [FS]
	Needs []string // programs that must be on the PATH
}

// List gives the recipes in the order in which they teach.
func List() []Recipe {
	return []Recipe{
		{Name: "bring-your-own-agent", Path: "01-simulate/bring-your-own-agent", Needs: []string{"go"},
			Title: "an on-call agent of your own, as a Go program: all eight steps"},
		{Name: "seeded-agent", Path: "01-simulate/seeded-agent",
			Title: "a builtin agent that misbehaves on a known share; needs nothing else"},
		{Name: "before-and-after", Path: "02-measure/before-and-after",
			Title: "two versions of a policy: one number up, a guarded one down"},
	}
}

// Find gives the recipe of that name or path.
func Find(name string) (Recipe, bool) {
	for _, r := range List() {
		if r.Name == name || r.Path == path.Clean(name) {
			return r, true
		}
	}
	return Recipe{}, false
}

// FS holds the recipes' folders.
func FS() fs.FS { return files }
